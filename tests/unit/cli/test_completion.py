"""`widerow completion`: what Tab offers in shells (docs/guide/shell.md). And errors, as printed."""

import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.http import Sender, Wire
from tests.support.requests import create_table_request

from widerow.cli import main
from widerow.testing import WiderowServer

BINARY = Path(sys.executable).with_name("widerow")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(shell: str) -> None:
    done = CliRunner().invoke(main.app, ["completion", shell])
    assert done.exit_code == 0
    assert f"_WIDEROW_COMPLETE={shell}_complete" in done.stdout


def test_another_shell_has_none() -> None:
    done = CliRunner().invoke(main.app, ["completion", "tcsh"])
    assert done.exit_code == 2
    assert "tcsh is none of bash, zsh, fish" in done.output


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash on this machine")
@pytest.mark.skipif(not BINARY.exists(), reason="widerow is not installed beside this Python")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["widerow", "ta"], {"table", "tail"}),
        (["widerow", "row", "sc"], {"scan"}),
        (["widerow", "row", "scan", "--rev"], {"--reverse"}),
    ],
)
def test_bash_is_offered_commands_and_flags(words: list[str], offered: set[str]) -> None:
    script = f"""
        source <(widerow completion bash)
        COMP_WORDS=({" ".join(words)})
        COMP_CWORD={len(words) - 1}
        _widerow_completion widerow
        echo "${{COMPREPLY[@]}}"
    """
    found = subprocess.run(  # noqa: S603  # our own script
        ["bash", "-c", script],  # noqa: S607  # the one of the path
        env={**os.environ, "PATH": f"{BINARY.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(found.stdout.split()) == offered


needs_widerow = pytest.mark.skipif(
    not BINARY.exists(), reason="widerow is not installed beside this Python"
)


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        shutil.which(shell) is None, reason=f"there is no {shell} on this machine"
    )


def environment(home: Path, **variables: str) -> dict[str, str]:
    """A person's, with nothing in their home."""
    path = {"PATH": f"{BINARY.parent}:{os.environ['PATH']}"}
    kept = {name: value for name, value in os.environ.items() if "WIDEROW_" not in name}
    homes = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "ZDOTDIR": str(home)}
    return kept | path | homes | {"TERM": "dumb"} | variables


def script_of(shell: str, home: Path) -> str:
    return subprocess.run(  # noqa: S603  # our own program
        [BINARY, "completion", shell],
        env=environment(home),
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@needs("fish")
@needs_widerow
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("widerow ta", {"table", "tail"}),
        ("widerow row sc", {"scan"}),
        ("widerow row scan cards --rev", {"--reverse"}),
        ("widerow completion z", {"zsh"}),
    ],
)
def test_fish_is_offered_commands_and_flags(line: str, offered: set[str], tmp_path: Path) -> None:
    """As it is installed: a file in fish's folder for completions."""
    folder = tmp_path / "fish" / "completions"
    folder.mkdir(parents=True)
    (folder / "widerow.fish").write_text(script_of("fish", tmp_path))
    found = subprocess.run(  # noqa: S603  # our own words
        ["fish", "-c", f"complete -C '{line}'"],  # noqa: S607  # the one of the path
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert {each.partition("\t")[0] for each in found.stdout.splitlines()} == offered


class Terminal:
    """A shell at a terminal: what is typed, and what it has shown since."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def type_until(self, keys: str, expected: str) -> None:
        """Type, and wait for a text, whatever moves the cursor left out; 20 s at most."""
        os.write(self._descriptor, keys.encode())
        seen = ""
        while expected not in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x1f]", "", seen):
            ready, _, _ = select.select([self._descriptor], [], [], 20)
            assert ready, f"{keys!r} did not show {expected!r} but {seen!r}"
            seen += os.read(self._descriptor, 65536).decode(errors="replace")


@contextmanager
def zsh(home: Path) -> Iterator[Terminal]:
    pid, descriptor = pty.fork()
    if pid == 0:
        os.execvpe("zsh", ["zsh", "-i"], environment(home))  # noqa: S606, S607  # the one of the path
    try:
        yield Terminal(descriptor)
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(descriptor)


@needs("zsh")
@needs_widerow
@pytest.mark.parametrize("way", ["fpath", "source"])
def test_zsh_completes_from_the_first_tab_on(way: str, tmp_path: Path) -> None:
    """By both ways of the guide: a file in a folder of `fpath`, or the script in ~/.zshrc."""
    (tmp_path / "zfunc").mkdir()
    (tmp_path / "zfunc" / "_widerow").write_text(script_of("zsh", tmp_path))
    begin = "autoload -U compinit; compinit -u -D\n"
    lines = {
        "fpath": f"fpath=({tmp_path}/zfunc $fpath)\n{begin}",
        "source": f"{begin}source <(widerow completion zsh)\n",
    }
    (tmp_path / ".zshrc").write_text(
        lines[way] + "unsetopt prompt_sp zle_bracketed_paste\nPS1='ready> '\n"
    )
    with zsh(tmp_path) as terminal:
        terminal.type_until("", "ready> ")
        terminal.type_until("widerow ro\t", "widerow row ")
        terminal.type_until("sc\t", "scan ")
        terminal.type_until("cards --rev\t", "--reverse ")


def offered_by_bash(words: str, home: Path) -> set[str]:
    """What the program offers for the last of these words, asked as the script of bash asks."""
    given = environment(
        home,
        _WIDEROW_COMPLETE="bash_complete",
        COMP_WORDS=words,
        COMP_CWORD=str(words.count(" ")),
    )
    done = subprocess.run(  # noqa: S603  # our own program
        [BINARY], env=given, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return {line.partition(",")[2] for line in done.stdout.splitlines() if line}


@needs_widerow
def test_tables_of_the_server_are_offered(tmp_path: Path) -> None:
    with WiderowServer(instance="shop") as server:
        with Wire(server.endpoint) as wire:
            for name in ("cards", "carts", "orders"):
                body = create_table_request(name).SerializeToString()
                assert wire.ask(Sender(instance="shop").request("CreateTable", body)).status == 200
        at = f"--endpoint {server.endpoint} --instance shop"
        assert offered_by_bash(f"widerow row scan {at} ca", tmp_path) == {"cards", "carts"}
        assert offered_by_bash(f"widerow table drop {at} o", tmp_path) == {"orders"}
        assert offered_by_bash(f"widerow tail {at} x", tmp_path) == set()


@needs_widerow
@pytest.mark.timeout(20)  # the client's own patience is longer
def test_nothing_is_offered_where_no_server_answers_and_nobody_waits(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        at = f"--endpoint http://127.0.0.1:{port}"
        assert offered_by_bash(f"widerow row scan {at} ca", tmp_path) == set()
    assert offered_by_bash(f"widerow row scan {at} ca", tmp_path) == set()
    assert offered_by_bash("widerow row scan --endpoint nowhere ca", tmp_path) == set()


@needs_widerow
def test_profiles_are_offered(tmp_path: Path) -> None:
    for name in ("shop", "store", "cloud"):
        subprocess.run(  # noqa: S603  # our own program
            [BINARY, "profile", "add", name, "--instance", name],
            env=environment(tmp_path),
            check=True,
            capture_output=True,
        )
    assert offered_by_bash("widerow profile use s", tmp_path) == {"shop", "store"}
    assert offered_by_bash("widerow row get --profile cl", tmp_path) == {"cloud"}


def test_an_error_of_a_server_is_one_line_with_the_request(
    widerow_server: WiderowServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(
        sys,
        "argv",
        ["widerow", "table", "create", "#", "a:int", "--endpoint", widerow_server.endpoint],
    )
    with pytest.raises(SystemExit) as ended:
        main.run_program()
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("widerow: OTSParameterInvalid: Invalid table name: '#'. (")
    assert " [request " in told
    assert told.count("\n") == 1
