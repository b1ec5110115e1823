"""Statements of SQL on the page of a typed table (docs/operating/console.md#sql, ddl §2)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest
from tests.console import stocked
from tests.console.conftest import Answered, Asker, Json

from widerow.console import query_page
from widerow.engine.typed.plug import TYPED as TYPED_PLUG
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.types import LONG
from widerow.testing.server import WiderowServer

TYPED: Final = {"instance": "sysdefault", "table": "students", "model": "nosql"}
PATH: Final = f"query?{urlencode(TYPED)}"


def ask(asker: Asker, statement: str, do: str = "run", **more: str) -> Answered:
    form = {"statement": statement, "do": do, **more}
    return asker.post(PATH, {**form, "csrf": asker.token(PATH)})


def result(asker: Asker, statement: str, **more: str) -> Json:
    path = PATH.replace("query?", "query.json?")
    form = {"statement": statement, "do": "run", **more}
    return asker.post(path, {**form, "csrf": asker.token(PATH)}).document


def values(found: Json) -> list[list[object]]:
    return [[cell["value"] for cell in row] for row in found["result"]["rows"]]


def test_a_typed_table_leads_to_its_page_of_statements(asker: Asker) -> None:
    rows = asker.get("rows", **TYPED).text
    assert re.search(r'href="/console/query\?[^"]*table=students[^"]*">SQL</a>', rows)
    page = asker.get("query", **TYPED).text
    assert "SELECT * FROM students LIMIT 25</textarea>" in page
    assert '<span class="mono">credits</span>' in page
    assert "Plan</h2>" not in page  # nothing was run


def test_rows_stand_beside_the_plan_and_the_units(asker: Asker) -> None:
    text = "SELECT id, name, id / 2.0 AS half FROM students WHERE id BETWEEN 1 AND 2 ORDER BY id"
    found = result(asker, text)
    assert [row[::2] for row in values(found)] == [[1, 0.5], [2, 1.0]]
    columns = found["result"]["columns"]
    assert [(each["name"], each["number"]) for each in columns] == [
        ("id", True),
        ("name", False),
        ("half", True),
    ]
    assert found["plan"] == ["table students: primary index, forward", "  column 1 of it: >=, <="]
    assert found["result"]["read_units"] > 0
    page = ask(asker, text).text
    assert "Rows 1 to 2 of 2" in page
    assert re.search(r"ms, \d+ read units", page)
    assert '<th class="n">id<span class="type">long</span></th>' in page
    assert f"{text.replace('<', '&lt;')}</textarea>" in page


def test_a_plan_is_shown_without_running_the_statement(asker: Asker) -> None:
    page = ask(asker, "DELETE FROM students WHERE id = 1", "explain").text
    assert "table students: primary index, forward" in page
    assert values(result(asker, "SELECT id FROM students WHERE id = 1")) == [[1]]


def test_values_of_every_kind_are_shown(asker: Asker) -> None:
    row = result(
        asker,
        "SELECT NULL AS a, '' AS b, true AS c, CAST(1.50 AS NUMBER) AS d, [1, {'k': null}] AS e, "
        "CAST('2024-01-02' AS TIMESTAMP(0)) AS f, CAST('AAEC' AS BINARY) AS g, "
        "CAST('12345678901234567890.5' AS NUMBER) AS h FROM students WHERE id = 1",
    )
    assert values(row) == [
        [
            *(None, "", True, 1.5, '[1,{"k":null}]', "2024-01-02T00:00:00Z", "AAEC"),
            "12345678901234567890.5",
        ]
    ]


def test_a_change_tells_its_rows_and_its_units(asker: Asker) -> None:
    page = ask(asker, "UPSERT INTO students (id, name) VALUES (900, 'Zoe')").text
    assert "NumRowsInserted" in page
    assert "write unit" in page
    assert "Download</summary>" not in page  # it would run again
    assert values(result(asker, "DELETE FROM students WHERE id = 900 RETURNING name")) == [["Zoe"]]


def test_long_results_go_on_page_by_page(asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_page, "CONSOLE_SQL_ROWS_MAX", 3)
    text = "SELECT id FROM students WHERE id >= 0 ORDER BY id"
    first = result(asker, text)
    assert values(first) == [[0], [1], [2]]
    assert first["result"]["place"] == {"first": 1, "last": 3, "of": None, "exact": True}
    page = ask(asker, text).text
    assert "Next rows</button>" in page
    assert f'name="after" value="{first["after"]}"' in page
    following = result(asker, text, after=first["after"], seen="3")
    assert values(following) == [[3]]
    assert following["result"]["place"] == {"first": 4, "last": 4, "of": 4, "exact": True}
    assert following["after"] == ""
    assert len(json.loads(ask(asker, text, "json").text)) == 4  # a file has all of them
    for after in ("zz", "00"):
        assert ask(asker, text, after=after).status == 400


def test_a_statement_that_runs_too_long_is_given_up(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_page, "CONSOLE_QUERY_SECONDS_MAX", 0)
    items = "[1, 2, 3, 4, 5, 6, 7, 8][]"
    text = f"SELECT count(*) FROM students s, {items} $a, {items} $b, {items} $c WHERE s.id = 1"
    answer = ask(asker, text)
    assert (answer.status, "was given up" in answer.text) == (503, True)


def test_rows_are_downloaded_in_every_form(asker: Asker) -> None:
    text = "SELECT id, name FROM students WHERE id = 2"
    assert json.loads(ask(asker, text, "json").text) == [{"id": 2, "name": "Chen"}]
    assert ask(asker, text, "csv").text == '"id","name"\n2,"Chen"\n'
    refused = ask(asker, "DELETE FROM students WHERE id = 2", "json")
    assert refused.status == 400
    assert json.loads(ask(asker, text, "jsonl").text)["name"] == "Chen"  # nothing was deleted


ERRORS: Final = [
    ("SELECT * FORM students", 400, "mismatched input", (1, 10)),
    ("SELECT id,\n  nosuch FROM students", 400, "has a column named nosuch", (2, 3)),
    ("SELECT 1/0 FROM students", 400, "by zero", (1, 8)),
    ("SELECT * FROM nosuch", 404, "Table not found: nosuch", None),
    ("DROP TABLE students", 400, "DDL statements", None),
    ("  ", 400, "There is no statement", None),
    ("SELECT $x FROM students", 400, "x", (1, 8)),
    (f"SELECT {'1 + ' * 30_000} 1 FROM students", 400, "characters", None),
]


@pytest.mark.parametrize(("statement", "status", "words", "place"), ERRORS)
def test_an_error_stands_beside_the_statement(
    asker: Asker, statement: str, status: int, words: str, place: tuple[int, int] | None
) -> None:
    answer = ask(asker, statement)
    assert (answer.status, words in answer.text) == (status, True), answer.text[-2000:]
    assert 'aria-invalid="true"' in answer.text
    assert "StatementRule" not in answer.text
    shown = re.findall(r"Line (\d+), column (\d+)", answer.text)
    assert shown == ([] if place is None else [tuple(map(str, place))])


def test_what_is_typed_is_no_markup(asker: Asker) -> None:
    for statement in ("SELECT '</textarea><b>' FROM students", "<script>alert(1)</script>"):
        page = ask(asker, statement).text
        assert "<script>alert" not in page
        assert "</textarea><b>" not in page


# --- who may ask ----------------------------------------------------------------------------------

KEYS: Final = """
[[key]]
id = "all"
secret = "secret"
[[key]]
id = "reader"
secret = "secret"
permissions = ["read"]
[[key]]
id = "shop"
secret = "secret"
instances = ["shop"]
"""


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[WiderowServer]:
    keys = tmp_path / "keys.toml"
    keys.write_text(KEYS, encoding="utf-8")
    keys.chmod(0o600)
    with WiderowServer(settings={"credentials": str(keys)}) as server:
        yield server


def test_a_statement_needs_its_permission_and_the_namespaces_of_its_tables(
    closed: WiderowServer,
) -> None:
    """A key that may only read does not write; one of another namespace does not look."""
    for name, namespace in (("students", ""), ("shop:goods", "shop")):
        make_table(closed, name, namespace)
    reader, shop = signed_in(closed, "reader"), signed_in(closed, "shop")
    assert ask(reader, "SELECT * FROM students").status == 200
    for statement in ("UPSERT INTO students VALUES (1)", "DELETE FROM students"):
        assert ask(reader, statement).status == 403
    assert shop.get("query", **TYPED).status == 403
    path = "query?" + urlencode({"instance": "shop", "table": "goods", "model": "nosql"})
    for statement, status in (
        ("SELECT * FROM shop:goods", 200),
        ("SELECT * FROM students", 403),
        ("DELETE FROM students", 403),
        ("SELECT * FROM shop:goods", 200),
    ):
        form = {"statement": statement, "do": "run", "csrf": shop.token(path)}
        assert shop.post(path, form).status == status, statement


def make_table(server: WiderowServer, name: str, namespace: str) -> None:
    engine = stocked.engine_of(server)
    typed = engine.core.operations(TYPED_PLUG)
    if namespace:
        engine.core.run(typed.create_namespace(namespace))
    builder = TableBuilder(name.rpartition(":")[2], namespace=namespace)
    engine.core.run(typed.create_table(builder.add_field("id", LONG).primary_key("id").build()))


def signed_in(server: WiderowServer, identity: str) -> Asker:
    asker = Asker(server.endpoint)
    page = asker.get("sign-in")
    asker.cookie = page.headers["set-cookie"].partition(";")[0]
    csrf = page.text.partition('name="csrf" value="')[2].partition('"')[0]
    answer = asker.post("sign-in", {"id": identity, "secret": "secret", "csrf": csrf})
    assert answer.status == 303, answer.text
    asker.cookie = answer.headers["set-cookie"].partition(";")[0]
    return asker
