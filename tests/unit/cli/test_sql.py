"""`widerow sql`: statements, scripts and forms of answers (docs/guide/sql.md)."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from widerow.cli.main import app
from widerow.cli.sql import SqlLines
from widerow.testing.server import WiderowServer

Run = Callable[..., Result]
CREATE = (
    "CREATE TABLE t (k VARCHAR(1024), n BIGINT, d DOUBLE, f BOOL, x MEDIUMBLOB, PRIMARY KEY (k))"
)
INSERT = "INSERT INTO t VALUES ('a', 1, 0.5, TRUE, X'00FF')"


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Runs the command against a server whose table `t` has one row."""
    runner = CliRunner()
    with WiderowServer() as server:

        def ask(*words: str, **more: str) -> Result:
            return runner.invoke(app, ["sql", "--endpoint", server.endpoint, *words], **more)  # type: ignore[arg-type]  # click's own

        flags = ["--endpoint", server.endpoint]
        made = runner.invoke(app, ["table", "create", "t", "k:string", *flags])
        assert made.exit_code == 0, made.output
        assert ask(f"{CREATE}; {INSERT}").output == "OK\nOK, 1 row changed\n"
        yield ask


def test_rows_are_shown_as_a_table_as_json_and_as_csv(run: Run) -> None:
    shown = run("SELECT * FROM t").output
    for word in ("┃ k ┃", "│ a │", "0.5", "true", "X'00ff'"):
        assert word in shown
    row = {"k": "a", "n": 1, "d": 0.5, "f": True, "x": "X'00ff'"}
    assert json.loads(run("--json", "SELECT * FROM t").output) == row
    assert run("--csv", "SELECT k, n, NULL AS z FROM t").output == "k,n,z\na,1,\n"
    assert run("--json", "DELETE FROM t WHERE k = 'b'").output == '{"affected": 0}\n'


def test_times_and_units_are_shown_where_asked(run: Run) -> None:
    last = run("--timing", "SELECT n FROM t").output.splitlines()[-1]
    assert last.startswith("1 row in ")
    assert last.endswith("; t: 1 read, 0 write units")


def test_scripts_run_to_their_end_and_tell_what_failed(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "s.sql"
    script.write_text("SELECT 'a;b'\n AS x;\nselec 1;\nSELECT 2 AS y", encoding="utf-8")
    found = run("--csv", "-f", str(script))
    assert (found.exit_code, found.stdout) == (1, "x\na;b\ny\n2\n")
    assert "SELEC statements" in found.stderr
    assert run("--csv", input="SELECT 1 AS a; SELECT 2\nAS b;").stdout == "a\n1\nb\n2\n"


def test_a_refused_statement_is_a_document_where_documents_are_asked_for(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--json", "SELECT 1 AS x; SELECT * FROM missing")
    monkeypatch.setattr(sys, "argv", ["widerow", "sql", *words])
    found = run(*words)
    assert (found.exit_code, found.stdout) == (1, '{"x": 1}\n')
    error = json.loads(found.stderr)["error"]
    assert error["code"] == "OTSParameterInvalid"
    assert "missing" in error["message"]
    assert error["request"]


def test_what_cannot_be_run_is_refused(run: Run, tmp_path: Path) -> None:
    for words in (
        ("-f", str(tmp_path / "none"), "SELECT 1"),
        ("-f", str(tmp_path / "none")),
        ("--json", "--csv", "SELECT 1"),
    ):
        assert run(*words).exception is not None


def test_a_statement_ends_with_a_semicolon_outside_of_quotes() -> None:
    lines = SqlLines()
    assert lines.take("SELECT 1; SELECT ';") == ["SELECT 1"]
    assert lines.pending
    assert lines.take("' ; ; x") == [" SELECT ';\n' "]
    assert lines.end() == ["x"]
    assert (lines.pending, lines.end()) == (False, [])
