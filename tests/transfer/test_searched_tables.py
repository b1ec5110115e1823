"""Tables with search indexes that are filled, backed up and restored as a whole (search §11.5).

Whatever way rows come into a table, what is found is what stands in it.
"""

import json
from pathlib import Path
from typing import Any

import tablestore as sdk
from click.testing import CliRunner
from tests.support.buffers import cell, row_buffer

from widerow.cli.main import app
from widerow.client.connection import Client, Endpoint
from widerow.system import SystemClock
from widerow.testing import WiderowServer
from widerow.wire.tablestore import messages as m

PUT, UPDATE, DELETE = 1, 2, 3  # OperationType (change §D1)
WORDS = ("green tea", "black tea", "a cup", "tea cup tea", "")


def searched(client: Any) -> None:  # noqa: ANN401  # the vendor's client
    """A table `items`, and an index `find` of it."""
    meta = sdk.TableMeta("items", [("k", "STRING"), ("n", "INTEGER")])
    client.create_table(meta, sdk.TableOptions(), sdk.ReservedThroughput(sdk.CapacityUnit(0, 0)))
    fields = [
        sdk.FieldSchema("title", sdk.FieldType.TEXT, index=True),
        sdk.FieldSchema("price", sdk.FieldType.LONG, index=True, enable_sort_and_agg=True),
        sdk.FieldSchema("tag", sdk.FieldType.KEYWORD, index=True, enable_sort_and_agg=True),
    ]
    client.create_search_index("items", "find", sdk.SearchIndexMeta(fields))


def columns(number: int) -> dict[str, Any]:
    return {"title": WORDS[number % 5], "price": number % 13, "tag": f"t{number % 7}"}


def put(client: Any, number: int, **more: Any) -> None:  # noqa: ANN401  # the vendor's, and any
    row = sdk.Row([("k", "row"), ("n", number)], [*{**columns(number), **more}.items()])
    client.put_row("items", row)


Rows = dict[int, dict[str, Any]]


def in_the_table(client: Any) -> Rows:  # noqa: ANN401  # the vendor's client
    found: Rows = {}
    start: Any = [("k", sdk.INF_MIN), ("n", sdk.INF_MIN)]
    end = [("k", sdk.INF_MAX), ("n", sdk.INF_MAX)]
    while start:
        _, start, rows, _ = client.get_range("items", "FORWARD", start, end, max_version=1)
        for row in rows:
            found[row.primary_key[1][1]] = {name: value for name, value, _ in row.attribute_columns}
    return found


def found(client: Any, query: Any) -> Rows:  # noqa: ANN401  # the vendor's
    """All rows that a query finds, page by page; the total says the same."""
    rows: Rows = {}
    token, total = None, -1
    while token is None or token:
        asked = sdk.SearchQuery(query, limit=50, get_total_count=True, next_token=token)
        every = sdk.ColumnsToGet(return_type=sdk.ColumnReturnType.ALL)
        answer = client.search("items", "find", asked, every)
        for key, attributes in answer.rows:
            rows[key[1][1]] = {name: value for name, value, *_ in attributes}
        token = answer.next_token
        total = answer.total_count
    assert total == len(rows)
    return rows


def assert_alike(client: Any) -> Rows:  # noqa: ANN401  # the vendor's client
    """Everything that is asked of the index is what the table says; the table's rows."""
    there = in_the_table(client)
    assert found(client, sdk.MatchAllQuery()) == there

    def where(name: str, test: Any) -> Rows:  # noqa: ANN401  # a function
        return {key: row for key, row in there.items() if name in row and test(row[name])}

    for tag in {row.get("tag", "none") for row in there.values()} | {"none"}:
        assert found(client, sdk.TermQuery("tag", tag)) == where("tag", lambda v, t=tag: v == t)
    for word in ("tea", "cup", "black"):
        expected = where("title", lambda v, w=word: w in v.split())
        assert found(client, sdk.MatchQuery("title", word)) == expected
    middle = sdk.RangeQuery("price", 4, 9, include_lower=True, include_upper=False)
    assert found(client, middle) == where("price", lambda v: 4 <= v < 9)
    return there


def command(*words: object, **settings: str) -> Any:  # noqa: ANN401  # JSON
    result = CliRunner().invoke(app, [str(each) for each in words], env=settings)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_rows_that_are_imported_are_found(tmp_path: Path) -> None:
    """New rows, and rows over those that are there, in parts of many."""
    with WiderowServer(tmp_path / "store", clock=SystemClock(), instance="shop") as server:
        client = server.client()
        searched(client)
        for number in range(0, 40, 2):
            put(client, number, tag="before")
        assert len(assert_alike(client)) == 20
        file = tmp_path / "rows.jsonl"
        given = {"WIDEROW_ENDPOINT": server.endpoint, "WIDEROW_INSTANCE": "shop"}
        command("export", "items", "--output", file, "--json", **given)
        for number in range(1, 300, 2):
            put(client, number)
        every = tmp_path / "every.jsonl"
        command("export", "items", "--output", every, "--json", **given)
        for number in range(100):
            client.delete_row("items", sdk.Row([("k", "row"), ("n", number)]))
        for number in range(150, 200):
            put(client, number, tag="later", title="black")
        assert_alike(client)
        command("import", "items", "--input", every, "--json", **given)
        there = assert_alike(client)
        assert {"before", "later"} <= {row["tag"] for row in there.values()}
        assert set(range(0, 40, 2)) | set(range(1, 300, 2)) <= set(there)


def test_rows_of_a_bulk_import_are_found(tmp_path: Path) -> None:
    """Whole rows, rows that change some columns, and rows that are deleted (change §D1)."""
    with WiderowServer(tmp_path / "store", clock=SystemClock(), instance="shop") as server:
        vendor = server.client()
        searched(vendor)
        for number in range(60):
            put(vendor, number)
        assert len(assert_alike(vendor)) == 60
        sent = []
        for number in range(30, 150):
            cells = [cell(*each) for each in columns(number + 1).items()]
            kind = PUT if number % 4 else UPDATE
            row = row_buffer((("k", "row"), ("n", number)), cells[: 3 if number % 4 else 1])
            sent.append(m.RowInBulkImportRequest(type=kind, row_change=row))
        for number in range(0, 30, 2):
            row = row_buffer((("k", "row"), ("n", number)), [], marker=True)
            sent.append(m.RowInBulkImportRequest(type=DELETE, row_change=row))
        request = m.BulkImportRequest(table_name="items", rows=sent)
        with Client(Endpoint(server.endpoint, "shop", "widerow", "widerow")) as client:
            answer = client.call("BulkImport", request, m.BulkImportResponse)
        assert [each.is_ok for each in answer.rows] == [True] * len(sent)
        there = assert_alike(vendor)
        assert set(there) == set(range(1, 30, 2)) | set(range(30, 150))
        assert there[31] == columns(32)
        assert there[32] == {**columns(32), "title": columns(33)["title"]}


def test_a_restored_store_finds_what_its_tables_hold(tmp_path: Path) -> None:
    """A backup has no files of indexes that count: they follow the table, or are built again."""
    with WiderowServer(tmp_path / "store", clock=SystemClock(), instance="shop") as server:
        client = server.client()
        searched(client)
        for number in range(200):
            put(client, number)
        assert len(assert_alike(client)) == 200
        for number in range(0, 200, 3):
            client.delete_row("items", sdk.Row([("k", "row"), ("n", number)]))
        kept = assert_alike(client)
    command("backup", tmp_path / "backup", "--path", tmp_path / "store", "--json")
    with WiderowServer(tmp_path / "store", clock=SystemClock(), instance="shop") as server:
        client = server.client()
        for number in range(0, 200, 2):
            put(client, number, tag="after")
        assert assert_alike(client) != kept
    command("restore", tmp_path / "backup", "--path", tmp_path / "again", "--json")
    with WiderowServer(tmp_path / "again", clock=SystemClock(), instance="shop") as server:
        client = server.client()
        assert assert_alike(client) == kept
        for number in range(250):
            put(client, number, tag="again")
        assert len(assert_alike(client)) == 250
