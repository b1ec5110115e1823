"""The commands as people type them: output, exit codes, one clear line when it does not work."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import pytest
from tests.support.forked import ForkedCommand, run_forked
from tests.support.http import Sender, Wire
from tests.support.requests import create_table_request

from widerow import __version__
from widerow.cli import doctor
from widerow.engine.check import Finding
from widerow.server.settings import DESCRIPTIONS
from widerow.storage.opener import open_store

AWAY = ("--store", "postgresql://127.0.0.1:9/none")


def run(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `widerow` with `arguments` to its end."""
    return run_forked(*arguments, cwd=cwd, environment=environment(variables))


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WIDEROW_")}
    return {**kept, "COLUMNS": "200", "TERM": "dumb", **variables}


class Process:
    """A running `widerow serve`."""

    def __init__(self, cwd: Path, *arguments: str, **variables: str) -> None:
        self.process = ForkedCommand(
            *("serve", "--port", "0", *arguments), cwd=cwd, environment=environment(variables)
        )
        self.ready = self._out().readline()
        self.endpoint = self.ready.partition("endpoint=")[2].partition(" ")[0]

    def _out(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """Signal it; exit code, what else was on stdout, stderr."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        return self.process.wait(), out, err


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    started: list[Process] = []
    yield started
    for each in started:
        each.process.kill()
        each.process.communicate()


# --- serve -------------------------------------------------------------------------------------


def test_serve_says_when_it_is_ready_and_ends_cleanly(
    processes: list[Process], tmp_path: Path
) -> None:
    process = Process(tmp_path, "--memory")
    processes.append(process)
    pid = process.process.pid
    assert process.ready == f"widerow ready endpoint={process.endpoint} store=memory: pid={pid}\n"
    with Wire(process.endpoint) as wire:
        assert wire.ask(Sender().request("ListTable")).status == 200
    code, out, err = process.end()
    assert (code, out) == (0, "")
    said = [line for line in err.splitlines() if line.startswith("widerow: ")]
    assert len(said) == 1
    assert "widerow/widerow" in said[0]


def test_the_log_says_start_with_settings_in_force_reload_and_stop(
    processes: list[Process], tmp_path: Path
) -> None:
    """docs/operating/configure.md, Log: the settings that differ, and what every start has."""
    keys = tmp_path / "keys.toml"
    keys.write_text("[[key]]\nid = 'a'\nsecret = 'canary'\n")
    keys.chmod(0o600)
    given = ("--path", "data", "--credentials", "keys.toml", "--index-lag", "0.5")
    process = Process(tmp_path, *given, "--log-format", "json", WIDEROW_CACHE_MB="8")
    processes.append(process)
    process.process.send_signal(signal.SIGHUP)
    logged = []
    assert process.process.stderr is not None
    for line in process.process.stderr:  # to its end
        assert "canary" not in line
        logged.append(json.loads(line))
        if logged[-1]["event"] == "files are read again":
            process.process.send_signal(signal.SIGTERM)
    assert process.end()[0] == 0
    told = {line.pop("event"): line for line in logged}
    assert list(told) == [
        "the server has started",
        "files are read again",
        "the server stops",
        "the server has stopped",
    ]
    for each in logged:
        assert (each.pop("level"), bool(each.pop("time"))) == ("info", True)
    assert told["the server has started"] == {
        "endpoint": process.endpoint,
        "pid": process.process.pid,
        "version": __version__,
        "data_format": 1,
        "store": "rocksdb:data",
        "port": 0,
        "credentials": "keys.toml",
        "index_lag": 0.5,
        "cache_mb": 8,
        "log_format": "json",
    }
    assert told["files are read again"] == {"credentials": "keys.toml"}
    assert told["the server stops"] == {"signal": "SIGTERM"}


def test_the_data_of_serve_is_on_disk(processes: list[Process], tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        process = Process(tmp_path, "--path", "data")
        processes.append(process)
        assert "store=rocksdb:data " in process.ready
        assert process.end(number)[0] == 0
    assert (tmp_path / "data").is_dir()


def test_with_credentials_nothing_is_said_of_a_default_pair(
    processes: list[Process], tmp_path: Path
) -> None:
    (tmp_path / "keys.toml").write_text("[[key]]\nid = 'a'\nsecret = 'canary'\n")
    (tmp_path / "keys.toml").chmod(0o600)
    process = Process(tmp_path, "--memory", "--credentials", "keys.toml")
    processes.append(process)
    with Wire(process.endpoint) as wire:
        assert wire.ask(Sender("a", "canary").request("ListTable")).status == 200
        assert wire.ask(Sender().request("ListTable")).status == 403
    code, out, err = process.end()
    assert (code, out) == (0, "")
    assert "default" not in err


def test_a_hang_up_makes_serve_read_its_keys_again(
    processes: list[Process], tmp_path: Path
) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text("[[key]]\nid = 'a'\nsecret = 'canary'\n")
    process = Process(tmp_path, "--memory", "--credentials", "keys.toml", "--log-level", "info")
    processes.append(process)
    with Wire(process.endpoint) as wire:
        assert wire.ask(Sender("a", "canary").request("ListTable")).status == 200
        keys.write_text("[[key]]\nid = 'b'\nsecret = 'canary'\n")
        process.process.send_signal(signal.SIGHUP)
        while wire.ask(Sender("a", "canary").request("ListTable")).status == 200:
            pass  # the test's own bound ends this
        assert wire.ask(Sender("b", "canary").request("ListTable")).status == 200
    code, _, told = process.end()
    assert code == 0
    assert told.count("access keys replaced keys=1") == 1
    assert "canary" not in told


def test_a_taken_port_is_one_line_and_exit_2(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run("serve", "--memory", "--port", port, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"widerow: cannot listen on 127.0.0.1 port {port}: it is in use")
    assert "--port 0" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_misspelled_variable_is_told_and_the_server_serves(
    tmp_path: Path, processes: list[Process]
) -> None:
    process = Process(tmp_path, "--memory", WIDEROW_PRT="1", WIDEROW_TEAM="blue")
    processes.append(process)
    assert process.endpoint
    code, _, told = process.end()
    assert code == 0
    assert told.count("a variable of the environment is not read") == 1
    assert 'variable=WIDEROW_PRT why="did you mean WIDEROW_PORT?"' in told


@pytest.mark.parametrize(
    ("arguments", "variables", "words"),
    [
        (("--credentials", "absent.toml"), {}, "cannot read credentials absent.toml"),
        (("--config", "absent.toml"), {}, "cannot read absent.toml"),
        (("--port", "many"), {}, "command line: port must be a number"),
        (("--store", "tape:1"), {}, "unknown kind of store"),
        ((), {"WIDEROW_PORT": "many"}, "environment: port must be a number"),
        ((), {"WIDEROW_PATH": "file/in/the/way"}, "(--path)"),
        (("--memory", "--workers", "2"), {}, "memory: is opened by one process alone"),
        (("--path", "data"), {"WIDEROW_WORKERS": "auto"}, "--store postgresql://"),
        (("--workers", "0"), {}, "workers must be a number from 1 to 64"),
        (("--workers", "many"), {}, "workers must be a number from 1 to 64"),
        ((*AWAY, "--workers", "2", "--dev"), {}, "leave workers or dev out"),
        ((*AWAY, "--workers", "2", "--credentials", "absent.toml"), {}, "cannot read credentials"),
    ],
)
def test_what_does_not_work_is_one_line_and_exit_2(
    tmp_path: Path, arguments: tuple[str, ...], variables: dict[str, str], words: str
) -> None:
    (tmp_path / "file").write_text("")
    done = run("serve", *arguments, cwd=tmp_path, **variables)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.startswith("widerow: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="takes another user's place: as root")
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("own", "the directory and its files must be writable by the user who serves"),
        ("own/new", "cannot create own/new: Permission denied; name a directory in which you may"),
    ],
)
def test_a_directory_of_somebody_else_is_one_line_and_exit_2(
    tmp_path: Path, path: str, words: str
) -> None:
    """The modules are loaded as root; only the user is another one."""
    (tmp_path / "own").mkdir(mode=0o755)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    script = (
        "import os, sys, widerow.cli.main, widerow.cli.serving, widerow.storage.rocksdb\n"
        "from widerow.cli.main import run_program\n"
        "os.setgid(12345); os.setuid(12345)\n"
        f"sys.argv = ['widerow', 'serve', '--port', '0', '--path', {path!r}]\n"
        "run_program()\n"
    )
    done = subprocess.run(  # noqa: S603  # our own words
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment({}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_directory_in_use_is_one_line_and_exit_2(
    processes: list[Process], tmp_path: Path
) -> None:
    processes.append(Process(tmp_path, "--path", "data"))
    for command in (("serve", "--port", "0"), ("doctor",)):
        done = run(*command, "--path", "data", cwd=tmp_path)
        assert done.returncode == 2
        assert "data" in done.stderr
        assert done.stderr.count("\n") == 1


# --- help, version, doctor ---------------------------------------------------------------------


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_every_setting_is_in_the_help_of_serve(help_of_serve: str, name: str) -> None:
    assert f"--{name.replace('_', '-')} " in help_of_serve
    assert f"WIDEROW_{name.upper()}" in help_of_serve


@pytest.fixture(scope="module")
def help_of_serve(tmp_path_factory: pytest.TempPathFactory) -> str:
    return run("serve", "--help", cwd=tmp_path_factory.mktemp("help")).stdout


def test_help_shows_examples(help_of_serve: str, tmp_path: Path) -> None:
    assert "widerow serve --memory --port 0" in help_of_serve
    assert "widerow doctor --path" in run("doctor", "--help", cwd=tmp_path).stdout
    commands = run("--help", cwd=tmp_path).stdout
    assert all(name in commands for name in ("serve", "doctor", "version"))


@pytest.mark.parametrize("arguments", [("--help",), ("serve", "--help"), ("serve", "--prot", "1")])
def test_the_module_is_the_command(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    command = run(*arguments, cwd=tmp_path)
    module = subprocess.run(  # noqa: S603  # our own command
        [sys.executable, "-m", "widerow", *arguments],
        cwd=tmp_path,
        env=environment({}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (module.returncode, module.stdout, module.stderr) == (
        command.returncode,
        command.stdout,
        command.stderr,
    )
    assert "Usage: widerow " in module.stdout + module.stderr


def test_an_unknown_flag_is_exit_2(tmp_path: Path) -> None:
    done = run("serve", "--prot", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert "--port" in done.stderr


def test_version_names_what_is_running(tmp_path: Path) -> None:
    facts = json.loads(run("version", "--json", cwd=tmp_path).stdout)
    assert facts["widerow"] == __version__
    assert facts["python"] == ".".join(map(str, sys.version_info[:3]))
    assert run("--version", cwd=tmp_path).stdout == f"widerow {__version__}\n"
    shown = run("version", cwd=tmp_path).stdout
    assert all(name in shown for name in facts)


def test_doctor_finds_a_clean_store_clean(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "data")):
        pass
    done = run("doctor", "--path", "data", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "as it must be" in done.stdout
    document = json.loads(run("doctor", "--path", "data", "--json", cwd=tmp_path).stdout)
    assert document == {"store": "rocksdb:data", "clean": True, "findings": [], "search": []}


def test_doctor_makes_no_store(tmp_path: Path) -> None:
    done = run("doctor", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no store at widerow-data" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_memory_cannot_be_examined(tmp_path: Path) -> None:
    assert run("doctor", "--store", "memory:", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("as_json", ["--json", ""])
def test_doctor_lists_what_it_finds(
    tmp_path: Path, as_json: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    with open_store(str(tmp_path / "data")) as store:
        # A row of a table that was never made.
        store.transact((b"\x10orphan",), lambda txn: txn.put(b"\x10orphan", b"?"))
    given = {"path": str(tmp_path / "data"), "as_json": bool(as_json), "digest": False}
    assert doctor.examine(given) == 1
    shown = capsys.readouterr().out
    if as_json:
        document = json.loads(shown)
        assert document["clean"] is False
        assert len(document["findings"]) >= 1
        assert set(document["findings"][0]) == {"table", "key", "problem"}
    else:
        assert "findings in" in shown


def test_a_note_of_damage_is_cleared_by_a_doctor_who_finds_none(tmp_path: Path) -> None:
    open_store(str(tmp_path / "data")).close()
    with open_store(str(tmp_path / "data")) as store:
        store.distrust("a record was wrong")
    done = run("serve", "--port", "0", "--path", "data", cwd=tmp_path)
    assert done.returncode == 2
    assert "a record was wrong" in done.stderr
    assert "--accept-damaged-store" in done.stderr
    assert run("doctor", "--path", "data", cwd=tmp_path).returncode == 0
    open_store(str(tmp_path / "data")).close()


def test_a_doctor_who_finds_damage_leaves_a_note_and_serving_takes_a_word(
    processes: list[Process], tmp_path: Path
) -> None:
    process = Process(tmp_path, "--path", "data")
    processes.append(process)
    with Wire(process.endpoint) as wire:
        wire.ask(Sender().request("CreateTable", create_table_request("t").SerializeToString()))
    process.end()
    stray = b"\x7estray"
    with open_store(str(tmp_path / "data")) as store:
        store.transact((stray,), lambda inside: inside.put(stray, b"v"))
    assert run("doctor", "--path", "data", cwd=tmp_path).returncode == 1
    assert run("serve", "--port", "0", "--path", "data", cwd=tmp_path).returncode == 2
    process = Process(tmp_path, "--path", "data", "--accept-damaged-store")
    processes.append(process)
    with Wire(process.endpoint) as wire:
        assert wire.ask(Sender().request("ListTable")).status == 200
    code, _, told = process.end()
    assert code == 0
    assert "damage in the store is accepted" in told


def test_what_doctor_shows_is_text_and_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    doctor._print_table("memory:", [Finding("[red]t", "[/]", "[bold]odd")])
    assert "[bold]odd" in capsys.readouterr().out
