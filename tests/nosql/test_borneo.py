"""The vendor's driver for Python, unchanged: the product tables of the guide's pages, from a
table's creation over a restart of the server to its end (nosql-wire, model, ddl)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import borneo
import pytest

from widerow.system import SystemClock
from widerow.testing.server import WiderowServer

LIMITS: Final = (50, 50, 1)
PRODUCTS: Final = """
    CREATE TABLE myProducts (
        productName STRING, productType STRING, productClass STRING,
        color ENUM(blue, green, red), size ENUM(small, medium, large), inventoryCount INTEGER,
        PRIMARY KEY(SHARD(productType, productName), productClass))"""
STOCK: Final = "CREATE TABLE myProducts.stock (shelf INTEGER, kept LONG, PRIMARY KEY(shelf))"
HATS: Final = [
    ("bowler", "felt", "blue", "large", 3),
    ("bowler", "wool", "green", "small", 0),
    ("brim", "felt", "red", "medium", 7),
    ("cap", "cotton", "red", "small", None),
]


class Anybody(borneo.AuthorizationProvider):  # type: ignore[misc]  # the driver has no types
    """What a program written for the vendor's cloud simulator has."""

    def get_authorization_string(self, request: object = None) -> str:
        del request
        return "Bearer anybody"

    def close(self) -> None:
        pass


@contextmanager
def connected(endpoint: str) -> Iterator[Any]:
    """A handle of the driver to a server."""
    config = borneo.NoSQLHandleConfig(endpoint, Anybody())
    config.set_consistency(borneo.Consistency.ABSOLUTE).set_logger(None)
    handle = borneo.NoSQLHandle(config)
    try:
        yield handle
    finally:
        handle.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WiderowServer]:
    with WiderowServer(tmp_path / "data", clock=SystemClock()) as started:
        yield started


def run(handle: Any, statement: str, *, limits: bool = False) -> list[int]:  # noqa: ANN401  # no types
    """Run a definition statement; the state answered at once, and the last one."""
    request = borneo.TableRequest().set_statement(statement)
    if limits:
        request.set_table_limits(borneo.TableLimits(*LIMITS))
    result = handle.table_request(request)
    first = result.get_state()
    result.wait_for_completion(handle, 20_000, 50)
    return [first, result.get_state()]


def hat(
    name: str, kind: str, color: str | None, size: str | None, count: int | None
) -> dict[str, Any]:
    return {
        "productName": name,
        "productType": "hat",
        "productClass": kind,
        "color": color,
        "size": size,
        "inventoryCount": count,
    }


def key(name: str, kind: str) -> dict[str, str]:
    return {"productType": "hat", "productName": name, "productClass": kind}


def put(handle: Any, row: dict[str, Any], **options: Any) -> Any:  # noqa: ANN401  # no types
    request = borneo.PutRequest().set_table_name("myProducts").set_value(row)
    for name, value in options.items():
        getattr(request, f"set_{name}")(value)
    return handle.put(request)


def get(handle: Any, name: str, kind: str) -> Any:  # noqa: ANN401  # no types
    request = borneo.GetRequest().set_table_name("myProducts").set_key(key(name, kind))
    return handle.get(request)


def queried(handle: Any, statement: str, *, limit: int = 0, **variables: Any) -> list[Any]:  # noqa: ANN401  # no types
    """All rows of a query, page by page; `variables` by their names without the dollar."""
    prepared = handle.prepare(borneo.PrepareRequest().set_statement(statement))
    made = prepared.get_prepared_statement()
    for name, value in variables.items():
        made.set_variable(f"${name}", value)
    request = borneo.QueryRequest().set_prepared_statement(made)
    if limit:
        request.set_limit(limit)
    rows: list[Any] = []
    while True:
        page = handle.query(request).get_results()
        assert not limit or len(page) <= limit
        rows += [dict(row) for row in page]
        if request.is_done():
            return rows


def test_the_whole_life_of_the_product_tables(server: WiderowServer) -> None:
    states = borneo.State
    with connected(server.endpoint) as handle:
        assert run(handle, PRODUCTS, limits=True) == [states.CREATING, states.ACTIVE]
        assert run(handle, STOCK) == [states.CREATING, states.ACTIVE]
        for each in HATS:
            assert put(handle, hat(*each)).get_version() is not None
        create_index = "CREATE INDEX byCount ON myProducts(inventoryCount)"
        assert run(handle, create_index) == [states.UPDATING, states.ACTIVE]
        change_rows(handle)
    server.stop()
    server.start()
    with connected(server.endpoint) as handle:
        read_rows(handle)
        write_together(handle)
        delete_rows(handle)
        with pytest.raises(borneo.IllegalArgumentException, match="referenced by child tables"):
            run(handle, "DROP TABLE myProducts")
        assert run(handle, "DROP TABLE myProducts.stock") == [states.DROPPING, states.DROPPED]
        assert run(handle, "DROP TABLE myProducts") == [states.DROPPING, states.DROPPED]
        with pytest.raises(borneo.TableNotFoundException, match="myProducts"):
            get(handle, "brim", "felt")


def change_rows(handle: Any) -> None:  # noqa: ANN401  # no types
    """Conditions, versions, the former row, time to live (nosql-wire §4.2, §4.3)."""
    options = borneo.PutOption
    absent = put(handle, hat("cap", "cotton", "red", "small", 1), option=options.IF_ABSENT)
    assert absent.get_version() is None
    found = get(handle, "cap", "cotton")
    assert dict(found.get_value()) == hat(*HATS[3])
    assert (found.get_read_kb(), found.get_read_units()) == (1, 2)
    row = hat("cap", "cotton", "blue", "small", 2)
    changed = put(handle, row, match_version=found.get_version())
    assert changed.get_version() is not None
    stale = put(handle, row, match_version=found.get_version(), return_row=True)
    assert stale.get_version() is None
    assert stale.get_existing_version().get_bytes() == changed.get_version().get_bytes()
    assert dict(stale.get_existing_value()) == row
    put(handle, row, ttl=borneo.TimeToLive.of_days(3))
    assert get(handle, "cap", "cotton").get_expiration_time() % 86_400_000 == 0
    with pytest.raises(borneo.IllegalArgumentException, match="There is no field with name price"):
        put(handle, {**row, "price": 5}, exact_match=True)
    with pytest.raises(borneo.IllegalArgumentException, match="Invalid enumeration value 'pink'"):
        put(handle, {**row, "color": "pink"})
    request = borneo.DeleteRequest().set_table_name("myProducts").set_key(key("cap", "none"))
    assert not handle.delete(request).get_success()


def read_rows(handle: Any) -> None:  # noqa: ANN401  # no types
    """What was written is there after the restart, by key and by SQL."""
    assert dict(get(handle, "cap", "cotton").get_value()) == hat(
        "cap", "cotton", "blue", "small", 2
    )
    listed = handle.list_tables(borneo.ListTablesRequest()).get_tables()
    assert listed == ["myProducts.stock", "myProducts"]
    table = handle.get_table(borneo.GetTableRequest().set_table_name("MYPRODUCTS"))
    assert table.get_state() == borneo.State.ACTIVE
    assert table.get_table_limits().get_read_units() == LIMITS[0]
    index = handle.get_indexes(borneo.GetIndexesRequest().set_table_name("myProducts"))
    assert [each.get_index_name() for each in index.get_indexes()] == ["byCount"]
    counted = (
        "DECLARE $least INTEGER; SELECT productName, inventoryCount FROM myProducts "
        "WHERE inventoryCount >= $least ORDER BY inventoryCount DESC"
    )
    assert [tuple(row.values()) for row in queried(handle, counted, least=2)] == [
        ("brim", 7),
        ("bowler", 3),
        ("cap", 2),
    ]
    pages = queried(handle, "SELECT * FROM myProducts ORDER BY productType, productName", limit=1)
    assert [row["productName"] for row in pages] == ["bowler", "bowler", "brim", "cap"]
    sums = "SELECT color, count(*) AS n FROM myProducts GROUP BY color"
    assert {row["color"]: row["n"] for row in queried(handle, sums)} == {
        "blue": 2,
        "green": 1,
        "red": 1,
    }
    changed = (
        "UPDATE myProducts SET inventoryCount = inventoryCount + 1 WHERE productType = 'hat' "
        "AND productName = 'brim' AND productClass = 'felt'"
    )
    assert queried(handle, changed) == [{"NumRowsUpdated": 1}]
    assert get(handle, "brim", "felt").get_value()["inventoryCount"] == 8


def putting(table: str, row: dict[str, Any]) -> Any:  # noqa: ANN401  # no types
    return borneo.PutRequest().set_table_name(table).set_value(row)


def together(*requests: Any) -> Any:  # noqa: ANN401  # no types
    """Writes of which all are undone where one does not succeed."""
    made = borneo.WriteMultipleRequest()
    for each in requests:
        made.add(each, abort_if_unsuccessful=True)
    return made


def write_together(handle: Any) -> None:  # noqa: ANN401  # no types
    """Rows of one shard key, of a table and its child: all of them, or none (model §7)."""
    where = {"productType": "hat", "productName": "brim", "productClass": "felt"}
    stock = [{**where, "shelf": shelf, "kept": 10 * shelf} for shelf in (1, 2)]
    stocked = [putting("myProducts.stock", row) for row in stock]
    both = together(putting("myProducts", hat("brim", "felt", None, None, 30)), *stocked)
    assert handle.write_multiple(both).get_success()
    first = borneo.DeleteRequest().set_table_name("myProducts.stock")
    absent = putting("myProducts.stock", stock[1]).set_option(borneo.PutOption.IF_ABSENT)
    aborted = together(first.set_key({**where, "shelf": 1}), absent)
    result = handle.write_multiple(aborted)
    assert not result.get_success()
    assert result.get_failed_operation_index() == 1
    joined = queried(
        handle,
        "SELECT p.inventoryCount AS all, s.kept AS kept FROM NESTED TABLES "
        "(myProducts p descendants (myProducts.stock s)) WHERE p.productName = 'brim'",
    )
    assert sorted(row["kept"] for row in joined) == [10, 20]
    assert {row["all"] for row in joined} == {30}
    rows = [hat(name, "felt", None, None, 1) for name in ("brim", "cap")]
    strangers = together(*[putting("myProducts", row) for row in rows])
    with pytest.raises(borneo.IllegalArgumentException, match="does not match the shard key"):
        handle.write_multiple(strangers)


def delete_rows(handle: Any) -> None:  # noqa: ANN401  # no types
    """Rows of a partial key, in batches (nosql-wire §4.4); the key must hold the shard key."""

    def asked(given: dict[str, str]) -> Any:  # noqa: ANN401  # no types
        return borneo.MultiDeleteRequest().set_table_name("myProducts").set_key(given)

    with pytest.raises(borneo.IllegalArgumentException, match="complete major path"):
        handle.multi_delete(asked({"productType": "hat"}))
    request = asked({"productType": "hat", "productName": "bowler"}).set_max_write_kb(1)
    deleted, batches = 0, 0
    while True:
        result = handle.multi_delete(request)
        deleted, batches = deleted + result.get_num_deletions(), batches + 1
        if result.get_continuation_key() is None:
            break
        request.set_continuation_key(result.get_continuation_key())
    assert deleted == 2
    assert batches > 1
    assert get(handle, "bowler", "felt").get_value() is None
    assert get(handle, "brim", "felt").get_value() is not None


def test_a_query_of_many_rows_comes_in_pages_in_the_order_of_an_index(
    server: WiderowServer,
) -> None:
    """Each page goes on where the last one ended; no row comes twice or is missing."""
    with connected(server.endpoint) as handle:
        run(handle, "CREATE TABLE t (id INTEGER, n INTEGER, PRIMARY KEY(id))", limits=True)
        run(handle, "CREATE INDEX byN ON t(n)")
        for number in range(120):
            handle.put(putting("t", {"id": number, "n": number * 7 % 120}))
        rows = queried(handle, "SELECT n FROM t ORDER BY n", limit=25)
        assert [row["n"] for row in rows] == list(range(120))
