"""Statements of SQL on their page (docs/operating/console.md#sql, docs/spec/tablestore-sql.md)."""

import json
import re

import pytest
from tests.console.conftest import Answered, Asker, Json
from tests.console.stocked import CARDS, INSTANCE

from widerow.console.sql_page import error_place
from widerow.errors import InvalidRequest
from widerow.model.tablestore.rules import TablestoreRule


@pytest.fixture(scope="module", autouse=True)
def mapped(asker: Asker) -> None:
    """The columns that statements of these tests name."""
    made = ask(
        asker,
        f"CREATE TABLE {CARDS} (CardID VARCHAR(1024), OrderNumber BIGINT, amount BIGINT, "
        "city MEDIUMTEXT, paid BOOL, PRIMARY KEY (CardID, OrderNumber))",
    )
    assert made.status == 200, made.text


def ask(asker: Asker, statement: str, do: str = "run", path: str = "sql") -> Answered:
    form = {"instance": INSTANCE, "statement": statement, "do": do}
    return asker.post(path, {**form, "csrf": asker.token("sql")})


def result(asker: Asker, statement: str) -> Json:
    return ask(asker, statement, path="sql.json").document


def test_the_rows_stand_beside_the_plan_and_what_it_cost(asker: Asker) -> None:
    text = (
        f"SELECT OrderNumber, city, paid FROM {CARDS} WHERE CardID = 'c-0003' AND OrderNumber < 30"
    )
    found = result(asker, text)
    rows = [[cell["value"] for cell in row] for row in found["result"]["rows"]]
    assert rows[0][:2] == [3, "Lima"]
    assert [row[0] for row in rows] == [3, 15, 27]
    assert [(each["name"], each["type"]) for each in found["result"]["columns"]] == [
        ("OrderNumber", "LONG"),
        ("city", "STRING"),
        ("paid", "BOOLEAN"),
    ]
    assert any("ranges of the key by CardID, OrderNumber" in line for line in found["plan"])
    assert found["result"]["costs"] == [
        {"table": CARDS, "read": 1, "write": 0, "search": "", "metas": False}
    ]
    assert found["result"]["ms"] > 0
    page = ask(asker, text).text
    assert "Rows 1 to 3 of 3" in page
    assert "1 read unit" in page
    assert '<th class="n">OrderNumber<span class="type">long</span></th>' in page


def test_a_plan_is_shown_without_running_the_statement(asker: Asker) -> None:
    page = ask(asker, f"-- all\nSELECT count(*) FROM {CARDS}", "explain").text
    assert f"table {CARDS}: all rows" in page
    assert "No rows" not in page
    refused = ask(asker, "SHOW TABLES", "explain")
    assert (refused.status, "Only a SELECT has a plan." in refused.text) == (400, True)


@pytest.mark.parametrize(
    "statement", ["SHOW TABLES", f"DESCRIBE {CARDS}", f"SHOW INDEX IN {CARDS}"]
)
def test_what_describes_tables_is_a_grid_too(asker: Asker, statement: str) -> None:
    found = result(asker, statement)
    assert len(found["result"]["rows"]) >= 1
    assert found["plan"] == []


def test_empty_values_dates_and_binary_values_are_shown(asker: Asker) -> None:
    where = "WHERE CardID = 'c-0000' AND OrderNumber = 0"
    text = f"SELECT NULL, date('2026-11-26'), photo FROM {CARDS} {where}"
    ask(asker, f"ALTER TABLE {CARDS} ADD COLUMN photo MEDIUMBLOB")
    row = result(asker, text)["result"]["rows"][0]
    assert [cell["value"] for cell in row] == [None, "2026-11-26", bytes(range(12)).hex()]
    assert '<span class="soft">NULL</span>' in ask(asker, text).text


def test_a_change_tells_how_many_rows_it_changed(asker: Asker) -> None:
    where = "WHERE CardID = 'sql' AND OrderNumber = 1"
    page = ask(
        asker, f"INSERT INTO {CARDS} (CardID, OrderNumber, amount) VALUES ('sql', 1, 5)"
    ).text
    assert "1 row changed." in page
    found = result(asker, f"SELECT amount FROM {CARDS} {where}")["result"]["rows"]
    assert found[0][0]["value"] == 5
    assert "1 row changed." in ask(asker, f"DELETE FROM {CARDS} {where}").text


def test_rows_are_downloaded_in_every_form(asker: Asker) -> None:
    text = f"SELECT OrderNumber AS n, city FROM {CARDS} WHERE CardID = 'c-0005' ORDER BY n LIMIT 1"
    sent = ask(asker, text, "json")
    assert json.loads(sent.text) == [{"n": 5, "city": "Hangzhou"}]
    assert sent.headers["content-disposition"] == 'attachment; filename="rows.json"'
    assert ask(asker, text, "csv").text == '"n","city"\n5,"Hangzhou"\n'
    refused = ask(asker, f"DELETE FROM {CARDS} WHERE CardID = 'c-0005' AND OrderNumber = 5", "json")
    assert refused.status == 400
    assert json.loads(ask(asker, text, "jsonl").text)["n"] == 5  # nothing was deleted


@pytest.mark.parametrize(
    ("statement", "line", "column"),
    [
        ("SELECT a b c FROM t", 1, 12),
        ("SELECT *\n  FROM cards\n  WHERE a = = 3", 3, 13),
        ("SELECT\n a,\n  FROM  t  WHERE", 3, 12),
    ],
)
def test_an_error_of_syntax_tells_its_place(
    asker: Asker, statement: str, line: int, column: int
) -> None:
    page = ask(asker, statement)
    assert page.status == 400
    assert f"Line {line}, column {column}" in page.text
    assert f"\n{' ' * (column - 1)}<b>^</b>" in page.text
    kept = re.search(r'<textarea name="statement"[^>]*>\n(.*?)</textarea>', page.text, re.DOTALL)
    assert kept is not None
    assert kept[1] == statement


def test_a_place_that_the_error_does_not_tell_is_not_guessed() -> None:
    unknown = InvalidRequest(TablestoreRule.SQL_COLUMN_UNKNOWN, column="a")
    elsewhere = InvalidRequest(TablestoreRule.SQL_SYNTAX, near="not there")
    assert error_place("SELECT a FROM t", unknown) is None
    assert error_place("SELECT a FROM t", elsewhere) is None


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("", "There is no statement."),
        ("SELECT * FROM absent", "absent"),
        (f"SELECT nothing FROM {CARDS}", "nothing"),
        ("SELECT 1; SELECT 2", "OTS"),
    ],
)
def test_what_cannot_be_run_is_told_beside_the_statement(
    asker: Asker, statement: str, told: str
) -> None:
    page = ask(asker, statement)
    assert 400 <= page.status < 500
    assert told in page.text
    assert page.text.count('role="alert"') == 1


def test_the_bounds_are_those_of_sqlquery(asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    from widerow.query.budget import QueryLimits  # noqa: PLC0415  # only here

    run = "widerow.wire.tablestore.operations.sql.run._LIMITS"
    monkeypatch.setattr(run, QueryLimits(20, 1_000_000, 1_000, 1_000_000))
    page = ask(asker, f"SELECT count(*) FROM {CARDS}")
    assert page.status == 403  # the status of the service
    assert "20" in page.text


def test_a_link_fills_the_form_and_runs_nothing(asker: Asker) -> None:
    page = asker.get("sql", instance=INSTANCE, statement=f"DELETE FROM {CARDS}")
    assert page.status == 200
    assert f"DELETE FROM {CARDS}</textarea>" in page.text
    assert "Done" not in page.text
    table = asker.get("table", instance=INSTANCE, table=CARDS).text
    assert "/console/sql?instance=campus&amp;statement=SELECT" in table
