"""`widerow kv` as a process: arguments, standard input, exit codes, the lock, a terminal."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.forked import ForkedServer, run_forked

from widerow import nosql

WIDEROW = (sys.executable, "-c", "from widerow.cli.main import run_program; run_program()", "kv")
SCRIPTS = Path(__file__).resolve().parents[3] / "examples" / "kv"
WAIT_SECONDS = 30.0  # for a prompt; it takes a third of one


def kv(*arguments: str, cwd: Path, typed: str = "") -> subprocess.CompletedProcess[str]:
    return run_forked("kv", *arguments, cwd=cwd, typed=typed)


def test_a_script_makes_a_store_that_later_commands_find(tmp_path: Path) -> None:
    made = kv(
        "--path", "data", "--create", "load", "-file", str(SCRIPTS / "products.kv"), cwd=tmp_path
    )
    assert made.stderr == "widerow kv: made a new store in data\n"
    assert made.stdout == (
        "Table myProducts built.\n"
        "Executed plan 1, waiting for completion...\nPlan 1 ended successfully\n\n"
    )
    assert made.returncode == 0
    shown = kv("--path", "data", "show", "tables", cwd=tmp_path)
    assert (shown.stdout, shown.stderr) == ("Tables in all namespaces: \n\tmyProducts\n\t\n", "")


@pytest.mark.parametrize("there", ["nothing", "an empty directory", "other files"])
def test_a_mistyped_directory_does_not_become_a_store(tmp_path: Path, there: str) -> None:
    """docs/guide/nosql.md: a new store is made only where `--create` asks for one."""
    if there != "nothing":
        (tmp_path / "dta").mkdir()
    if there == "other files":
        (tmp_path / "dta" / "letter.txt").write_text("dear all")
    before = sorted(tmp_path.rglob("*"))
    done = kv("--path", "dta", "show", "tables", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("widerow kv: there is no store at dta (")
    assert "--create" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_create_makes_a_store_but_not_the_directories_above_it(tmp_path: Path) -> None:
    done = kv("--path", "no/where", "--create", "show", "tables", cwd=tmp_path)
    assert done.returncode == 1
    assert "there is no directory no;" in done.stderr
    assert not list(tmp_path.iterdir())


# cli §1: exit codes of a single command
COMMANDS = [
    (["table", "list"], "No tables available.\n", 0),
    (["table list; show plans"], "No tables available.\nThere are no plans.\n", 0),
    (["put", "table", "-name", "x", "-json", "{}"], None, 1),
    (["nosuch", "thing"], None, 64),
    (["load", "-file"], None, 64),
    (["load", "-file", "nosuch"], "Failed to load file: nosuch\n", 65),
]


@pytest.mark.parametrize(("words", "text", "code"), COMMANDS)
def test_a_single_command(tmp_path: Path, words: list[str], text: str | None, code: int) -> None:
    done = kv("--create", "--path", "data", *words, cwd=tmp_path)
    assert done.returncode == code
    assert text is None or done.stdout == text


def test_statements_of_flags_run_until_one_fails(tmp_path: Path) -> None:
    start = ("--path", "data", "--create")
    made = kv(*start, "-e", "CREATE TABLE t (k INTEGER, PRIMARY KEY(k))", cwd=tmp_path)
    assert (made.stdout, made.returncode) == ("Statement completed successfully\n", 0)
    statements = ("UPSERT INTO t VALUES (1)", "SELECT nosuch FROM t", "UPSERT INTO t VALUES (2)")
    flags = [word for each in statements for word in ("--execute", each)]
    done = kv(*start, *flags, cwd=tmp_path)
    assert "No table in the FROM clause has a column named nosuch" in done.stdout
    assert done.returncode == 1
    shown = kv(*start, "--json", "-e", "SELECT * FROM t", cwd=tmp_path)
    document = json.loads(shown.stdout)
    assert (document["command"], document["code"]) == ("execute SELECT * FROM t", 0)
    assert (document["output"], document["answer"]) == ("1 row returned\n", [{"k": 1}])
    shown = kv(*start, "--json", cwd=tmp_path, typed="show tables\nnosuch\ntimer on\n")
    documents = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [each.get("answer") for each in documents] == [["t"], None, None]


def test_a_script_of_a_flag_runs_until_a_command_fails(tmp_path: Path) -> None:
    (tmp_path / "two.kv").write_text("table list\nnosuch\nshow plans\n")
    done = kv("--path", "data", "--create", "-f", "two.kv", cwd=tmp_path)
    assert done.stdout.startswith("No tables available.\nCould not find command: nosuch\n")
    assert "There are no plans." not in done.stdout
    assert done.returncode == 64
    both = kv("--path", "data", "-f", "two.kv", "-e", "SHOW TABLES", cwd=tmp_path)
    assert (both.returncode, both.stdout) == (2, "")
    assert "give a command, statements by --execute, or a --file" in both.stderr


def test_standard_input_is_a_script_without_prompts(tmp_path: Path) -> None:
    typed = "table list\nnosuch\nshow plans\n"
    done = kv("--path", "data", "--create", cwd=tmp_path, typed=typed)
    assert done.stdout.startswith("No tables available.\nCould not find command: nosuch\n")
    assert done.stdout.endswith("There are no plans.\n")
    assert done.returncode == 64


def test_a_server_that_holds_the_store_is_named_as_the_reason(tmp_path: Path) -> None:
    path = str(tmp_path / "data")
    with ForkedServer("--path", path):
        refused = kv("--path", path, "show", "tables", cwd=tmp_path)
        typed = kv("--path", path, cwd=tmp_path, typed="show tables\n")
    assert refused.stdout == typed.stdout == ""
    assert refused.returncode == typed.returncode == 1
    assert refused.stderr == typed.stderr
    assert f"{path} is in use by another process" in refused.stderr
    assert "widerow serve" in refused.stderr
    assert "stop it first" in refused.stderr
    assert kv("--path", path, "show", "tables", cwd=tmp_path).returncode == 0


def test_a_store_is_free_once_its_server_is_killed(tmp_path: Path) -> None:
    path = str(tmp_path / "data")
    with ForkedServer("--path", path) as server:
        server.kill()
        shown = kv("--path", path, "show", "tables", cwd=tmp_path)
    assert (shown.stdout, shown.returncode) == ("No table found.\n", 0)


def test_another_shell_that_holds_the_store_is_the_same(tmp_path: Path) -> None:
    with nosql.open(tmp_path / "data", housekeeping=False):
        refused = kv("--path", "data", "show", "tables", cwd=tmp_path)
    assert refused.returncode == 1
    assert "nothing was opened or changed" in refused.stderr


@pytest.mark.parametrize("path", ["rocksdb:", "postgres:x", "memory:x"])
def test_a_path_that_is_none_is_refused(tmp_path: Path, path: str) -> None:
    done = kv("--path", path, "show", "tables", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("widerow kv: ")
    assert "Traceback" not in done.stderr


def test_help_shows_how_to_call_it(tmp_path: Path) -> None:
    done = kv("--help", cwd=tmp_path)
    assert done.returncode == 0
    for part in ("--path", "--endpoint", "show tables", "-f create", "64"):
        assert part in done.stdout


def test_a_reader_who_has_enough_is_no_error_worth_telling(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*WIDEROW, "--path", "data", "--create", "help"]
    done = subprocess.run(  # noqa: S603  # our own command
        command, cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert done.stderr == "widerow kv: made a new store in data\n"
    assert done.returncode == 1


class Terminal:
    """A shell at the other end of a terminal of 20 lines."""

    def __init__(self, master: int) -> None:
        self.master = master
        self.seen = ""

    def expect(self, text: str) -> str:
        """What was written up to and with `text`."""
        while text not in self.seen:
            ready = select.select([self.master], [], [], WAIT_SECONDS)[0]
            assert ready, f"no {text!r} in {self.seen!r}"
            self.seen += os.read(self.master, 4096).decode().replace("\r", "")
        found, _, self.seen = self.seen.partition(text)
        return found + text

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def interrupt(self, process: subprocess.Popen[bytes]) -> None:
        """Interrupt the shell's reading of a line, as often as a person would.

        Python forgets to look at a signal that arrives while readline takes a key, until the next.
        """
        for _ in range(round(WAIT_SECONDS)):
            process.send_signal(signal.SIGINT)
            if select.select([self.master], [], [], 1)[0]:
                return


@contextmanager
def terminal(tmp_path: Path) -> Iterator[tuple[Terminal, subprocess.Popen[bytes]]]:
    master, slave = pty.openpty()
    settings = os.environ | {
        "TERM": "dumb",
        "LINES": "20",
        "COLUMNS": "200",
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    process = subprocess.Popen(  # noqa: S603  # our own command
        [*WIDEROW, "--path", "data", "--create"],
        cwd=tmp_path,
        env=settings,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Terminal(master), process
    finally:
        process.kill()
        process.wait()
        os.close(master)


def test_a_conversation_at_a_terminal(tmp_path: Path) -> None:
    with terminal(tmp_path) as (screen, process):
        screen.expect("made a new store in data\n")
        screen.expect("kv-> ")
        screen.type("tab\t create -name users\n")  # completed to `table`
        screen.expect("users-> ")
        screen.type("add-field -name id\n")
        screen.expect("     -> ")
        screen.type("-type STRING;\n")
        screen.expect("users-> ")
        screen.type("primary-key -field id\n")
        screen.expect("users-> ")
        screen.type("exit\n")
        assert "Table users built.\n" in screen.expect("kv-> ")
        screen.type("plan add-table -name users -wait\n")
        assert "Plan 1 ended successfully\n\n" in screen.expect("kv-> ")
        screen.type("\x04")
        assert process.wait(WAIT_SECONDS) == 0
    history = (tmp_path / "state" / "widerow" / "kv-history").read_text()
    assert "plan add-table -name users -wait" in history
    with terminal(tmp_path) as (screen, process):  # an earlier shell's lines are there again
        screen.expect("kv-> ")
        screen.type("\x10\n")  # the line before
        assert "plan add-table -name users -wait" in screen.expect("kv-> ")
        screen.type("exit\n")
        assert process.wait(WAIT_SECONDS) == 0


def test_an_interrupt_forgets_the_line_and_long_results_wait(tmp_path: Path) -> None:
    path = tmp_path / "data"
    with nosql.open(path, housekeeping=False) as store:
        builder = nosql.TableBuilder("t").add_field("n", nosql.INTEGER).primary_key("n")
        store.create_table(builder.build()).put_many({"n": number} for number in range(50))
    with terminal(tmp_path) as (screen, process):
        screen.expect("kv-> ")
        screen.type("show tab")
        screen.expect("show tab")
        screen.interrupt(process)
        screen.expect("^C\n")
        screen.expect("kv-> ")
        screen.type("get table -name t\n")
        assert screen.expect("--More--(1~19)").count('{"n":') == 19
        screen.type("\n")
        screen.expect("--More--(20~38)")
        screen.type("q\n")
        assert "38 rows returned" in screen.expect("kv-> ")
        screen.type("quit\n")
        assert process.wait(WAIT_SECONDS) == 0
