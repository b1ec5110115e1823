"""Every command answers with JSON where `--json` is given (docs/guide/shell.md, For programs).

A new command is in `CASES`, or in `NO_DOCUMENT` with a reason; the tests name one that is not.
"""

import io
import json
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import pytest
import tablestore as ts

from widerow.cli.main import app, run_program
from widerow.testing.server import WiderowServer

NO_DOCUMENT: Final = {
    "man": "its answer is a page for man",
    "completion": "its answer is a script for a shell",
}


class Case(NamedTuple):
    """Words of a command, and its exit code. `lines`: it answers with a document on each line."""

    words: str
    code: int = 0
    lines: bool = False


BEFORE: Final = (
    Case("ping"),
    Case("version"),
    Case("compat"),
    Case("env"),
    Case("nodes"),
    Case("table create cards k:string n:integer --stream 24"),
    Case("table create cards k:string n:integer --if-not-exists"),
    Case("table create gone k:string"),
    Case("table drop gone --yes"),
    Case("table drop gone --yes --if-exists"),
    Case("table list"),
    Case("table show cards"),
    Case("table update cards --max-versions 3"),
    Case("row put cards c-1 7 amount=250 title=tea"),
    Case("""row put cards '{"k": "c-1", "n": 8, "amount": 1.5}'"""),
    Case("row put cards c-1 7 amount=1 --if-not-exists", 1),
    Case("row put cards --input @rows.jsonl"),
    Case("row put cards --input @bad.jsonl", 1),
    Case("row update cards c-1 7 --increment visits=1"),
    Case("row delete cards c-1 8"),
    Case("row get cards c-1 7"),
    Case("row get cards c-1 99", 1),
    Case("row scan cards"),
    Case("row count cards"),
    Case("import cards --input @rows.csv"),
    Case("export cards --output @out.parquet"),
    Case("archive cards --before 2020-01-01 --output @cold.parquet"),
    Case("partitions cards"),
    Case("indexes cards"),
    Case("tunnels cards"),
    Case("tail cards --from start --once", lines=True),
    Case("search query cards find title:tea"),
    Case("""search why cards find '["c-1",7]' title:tea"""),
    Case("search list"),
    Case("search show cards find"),
    Case("sql 'CREATE TABLE cards (k VARCHAR, n BIGINT, PRIMARY KEY(k, n))'", lines=True),
    Case("sql 'SELECT k FROM cards'", lines=True),
    Case("ts list", lines=True),
    Case("profile add shop --endpoint http://127.0.0.1:1 --access-key-id a --access-key-secret b"),
    Case("profile list"),
    Case("profile use shop"),
    Case("profile remove shop"),
    Case("keys splice --input @rows.csv --columns k,n", lines=True),
    Case("keys splice --input @rows.csv --columns k,n --output @spliced.csv"),
    Case("keys hash --input @rows.csv --columns k,n --hash md5 --dry-run"),
    Case("keys parse --columns k,n a,1"),
    Case("credentials api-key notebook --file @keys.toml"),
    Case("credentials temporary-key owner --file @keys.toml --expires-in 15m"),
    Case("credentials list --file @keys.toml"),
    Case("credentials revoke notebook --file @keys.toml"),
    Case("simulate --nodes 2 --input @rows.csv --column k"),
    Case("advise keys --input @rows.csv --columns k"),
    Case("advise ttl cards"),
    Case("dev clock show"),
    Case("dev clock freeze"),
    Case("dev clock set 2030-01-01T00:00:00Z"),
    Case("dev clock advance 1h"),
    Case("dev clock run"),
    Case("dev faults add --error OTSServerBusy --action PutRow"),
    Case("dev faults list"),
    Case("dev faults remove"),
    Case("dev keep one"),
    Case("dev reset one"),
)
AFTER: Final = (
    Case("proxy replay @recording --memory"),
    Case("advise cost --recording @recording"),
    Case("doctor --path @store"),
    Case("backup @copy --path @store"),
    Case("restore @copy --path @restored"),
    Case("kv --path @store show tables", lines=True),
)
CASES: Final = (*BEFORE, *AFTER)
FAILING: Final = (
    Case("table show nobody", 2),
    Case("row get nobody c-1", 2),
    Case("sql --csv 'SELECT 1'", 2),
    Case("row scan cards --output csv", 2),
    Case("search query cards find --output jsonl", 2),
    Case("doctor --path @absent", 2),
    Case("kv --path @absent show tables", 1),
    Case("serve --port many", 2),
    Case("nonsense", 2),
)


def leaves(
    node: click.Command = app, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    """Every command that can be run, by its path."""
    context = click.Context(node)
    if isinstance(node, click.Group):
        for name in node.list_commands(context):
            inner = node.get_command(context, name)
            assert inner is not None
            yield from leaves(inner, (*path, name))
        if node.callback is None:
            return
    yield " ".join(path), node


def test_every_command_takes_json_and_is_in_the_table() -> None:
    takes = {
        path for path, each in leaves() if any(param.name == "as_json" for param in each.params)
    }
    known = {path for path, _ in leaves()}
    assert known - takes == set(NO_DOCUMENT), "these commands lack --json"
    words = [f"{each.words} " for each in CASES]
    tried = {path for path in takes if any(each.startswith(f"{path} ") for each in words)}
    assert takes - tried == {"serve"}, "these commands are in no case of this table"


class Place(NamedTuple):
    """Where cases run: a folder for their files, and how the program is called in this process."""

    files: Path
    program: Callable[[list[str]], tuple[int, str, str]]

    def run(self, case: Case) -> tuple[str, str]:
        """What the case leaves on stdout and stderr; `--json` follows the command's name."""
        words = shlex.split(case.words.replace("@", f"{self.files}/"))
        depth = max(
            (len(path.split()) for path, _ in leaves() if f"{case.words} ".startswith(f"{path} ")),
            default=1,
        )
        code, out, err = self.program([*words[:depth], "--json", *words[depth:]])
        assert code == case.code, (case.words, out, err)
        return out, err


@pytest.fixture
def place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Place:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("WIDEROW_INSTANCE", "shop")

    def program(words: list[str]) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["widerow", *words])
        with pytest.raises(SystemExit) as ended:
            run_program()
        return (int(ended.value.code or 0), *capsys.readouterr())

    return Place(tmp_path, program)


def check_answer(case: Case, out: str) -> None:
    """Standard output is one document, or one on each line; and ends with a line's end."""
    assert out.endswith("\n"), case.words
    documents = out.splitlines() if case.lines else [out]
    for each in documents:
        try:
            json.loads(each)
        except ValueError as error:
            raise AssertionError(f"{case.words} printed {each!r}") from error


@contextmanager
def endless(*words: str) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """A command that runs until a signal: what it says when it is ready, and then at its end."""
    process = subprocess.Popen(  # noqa: S603  # our own command
        [sys.executable, "-m", "widerow", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    rest: list[str] = []
    try:
        yield json.loads(process.stdout.readline()), rest
        process.send_signal(signal.SIGTERM)
        rest += process.communicate(timeout=30)[0].splitlines()
    finally:
        process.kill()
        process.communicate()


def prepare(files: Path) -> None:
    rows = [{"k": f"c-{number}", "n": number} for number in range(20)]
    (files / "rows.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    (files / "bad.jsonl").write_text('{"k": 1}\n')
    (files / "rows.csv").write_text("k,n\n" + "".join(f"{e['k']},{e['n']}\n" for e in rows))
    (files / "keys.toml").write_text("[[key]]\nid = 'owner'\nsecret = 'canary'\n")
    (files / "keys.toml").chmod(0o600)


def make_index(endpoint: str) -> None:
    client: Any = ts.OTSClient(endpoint, "widerow", "widerow", "shop")
    fields = [ts.FieldSchema("title", ts.FieldType.TEXT)]
    client.create_search_index("cards", "find", ts.SearchIndexMeta(fields))


def test_every_command_answers_with_one_document_or_one_on_each_line(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(place.files)
    store = ("--path", str(place.files / "store"), "--log-level", "error")
    with endless("serve", "--port", "0", "--dev", "--json", *store) as (ready, rest):
        record = ("--mode", "record", "--recording", str(place.files / "recording"))
        upstream = ("--upstream", ready["endpoint"])
        with endless("proxy", "--json", "--port", "0", *record, *upstream) as (proxy, ended):
            monkeypatch.setenv("WIDEROW_ENDPOINT", proxy["endpoint"])
            place.run(Case("table create other k:string"))
        assert json.loads(*ended)["recorded"] >= 1
        monkeypatch.setenv("WIDEROW_ENDPOINT", ready["endpoint"])
        for case in BEFORE:
            check_answer(case, place.run(case)[0])
            if case.words.startswith("table update"):
                make_index(ready["endpoint"])
    assert rest == []
    monkeypatch.delenv("WIDEROW_ENDPOINT")
    for case in AFTER:
        check_answer(case, place.run(case)[0])


def test_a_command_that_fails_answers_with_a_document_on_standard_error(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WiderowServer(instance="shop") as server:
        monkeypatch.setenv("WIDEROW_ENDPOINT", server.endpoint)
        for path, _ in leaves():
            if path in ("kv", "ts", *NO_DOCUMENT):
                continue  # what stands behind the first two is for their shells
            code, out, err = place.program([*path.split(), "--json", "--no-such-flag"])
            assert (code, out) == (2, ""), path
            assert "--no-such-flag" in json.loads(err)["error"]["message"], path
        for case in FAILING:
            out, err = place.run(case)
            assert out == "", case
            assert json.loads(err)["error"]["message"], case


def test_each_command_of_a_shell_answers_on_a_line_of_its_own(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/guide/shell.md, For programs: `answer` is there where a command prints JSON."""
    script = "show tables -json\nno such thing\nshow tables\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(script))
    words = ["kv", "--json", "--create", "--path", str(place.files / "store")]
    code, out, _ = place.program(words)
    asked, wrong, shown = map(json.loads, out.splitlines())
    assert code == wrong["code"] != 0
    assert (asked["command"], asked["code"]) == ("show tables -json", 0)
    assert asked["answer"] == json.loads(asked["output"])
    assert "answer" not in shown
    assert shown["output"] == "No table found.\n"
    assert "Could not find command: no" in wrong["output"]
