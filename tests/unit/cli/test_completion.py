"""`widerow completion`: what Tab offers in shells (docs/guide/shell.md). And errors, as printed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from widerow.cli import main
from widerow.testing import WiderowServer

BINARY = Path(sys.executable).with_name("widerow")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(shell: str) -> None:
    done = CliRunner().invoke(main.app, ["completion", shell])
    assert done.exit_code == 0
    assert f"_WIDEROW_COMPLETE=complete_{shell}" in done.stdout


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
        main.main()
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("widerow: OTSParameterInvalid: Invalid table name: '#'. (")
    assert " [request " in told
    assert told.count("\n") == 1
