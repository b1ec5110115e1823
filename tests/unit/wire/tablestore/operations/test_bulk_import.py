"""BulkImport from the bytes of the request to those of the answer (change §D1)."""

import pytest
from tests.support.answers import decode_row, plain
from tests.support.buffers import cell, row_buffer
from tests.support.changes import get
from tests.support.engines import open_tablestore
from tests.support.requests import KEY, create_table_request

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import AnyRule, InvalidRequest
from widerow.limits import BATCH_WRITE_ROWS_MAX
from widerow.model.tablestore.rules import TablestoreRule
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.table import OPERATIONS

bulk_import = OPERATIONS["BulkImport"]
create_table = OPERATIONS["CreateTable"]


@pytest.fixture
def engine() -> TablestoreEngine:
    """An engine with the table `T`, whose defined column `old` is an INTEGER."""
    made = open_tablestore(open_store("memory:"), FakeClock(), FakeEntropy())
    request = create_table.decode(create_table_request("T").SerializeToString())
    made.core.run(create_table.call(made, "i", request))
    return made


def changed(kind: int, row: bytes) -> m.RowInBulkImportRequest:
    return m.RowInBulkImportRequest(type=kind, row_change=row)


def imported(
    engine: TablestoreEngine, *rows: m.RowInBulkImportRequest, table: str = "T"
) -> m.BulkImportResponse:
    body = m.BulkImportRequest(table_name=table, rows=rows).SerializeToString()
    answer = engine.core.run(bulk_import.call(engine, "i", bulk_import.decode(body)))
    return m.BulkImportResponse.FromString(bulk_import.encode(answer))


def stored(engine: TablestoreEngine, number: int) -> object:
    return plain(decode_row(engine.rows.get_row("i", get("T", {"k": "a", "n": number})).row))


def test_rows_are_answered_in_order_and_count_bytes(engine: TablestoreEngine) -> None:
    """Names and values count, a delete its key only, capacity units nothing."""
    answer = imported(
        engine,
        changed(1, row_buffer(KEY, [cell("c", "value")])),
        changed(2, row_buffer(KEY, [cell("old", 7)])),
        changed(3, row_buffer((("k", "a"), ("n", 2)), marker=True)),
    )
    assert answer.table_name == "T"
    assert [row.is_ok for row in answer.rows] == [True] * 3
    key = len("k") + len("a") + len("n") + 8
    sizes = [row.consumed.capacity_data_size for row in answer.rows]
    assert [size.write_size for size in sizes] == [key + 6, key + 11, key]
    assert [(size.HasField("read_size"), size.read_size) for size in sizes] == [(True, 0)] * 3
    for row in answer.rows:
        units = row.consumed.capacity_unit
        assert units.HasField("read") and units.HasField("write")  # noqa: PT018  # one fact
        assert (units.read, units.write) == (0, 0)
    assert stored(engine, 1) == {"c": "value", "old": 7}


def test_versions_of_the_client_do_not_count(engine: TablestoreEngine) -> None:
    now = FakeClock().now_us() // 1000
    answer = imported(engine, changed(1, row_buffer(KEY, [cell("c", "value", version=now)])))
    assert answer.rows[0].consumed.capacity_data_size.write_size == 11 + 6


def test_a_row_fails_alone(engine: TablestoreEngine) -> None:
    answer = imported(
        engine,
        changed(1, row_buffer((("k", "a"),), [cell("c", 1)])),
        changed(1, row_buffer(KEY, [cell("free", b"x")])),
        changed(1, row_buffer((("k", "a"), ("n", 2)), [cell("old", b"x")])),
        changed(2, row_buffer((("k", "a"), ("n", 3)), [cell("old", 1.5)])),
        changed(2, row_buffer((("k", 1), ("n", 3)), [cell("old", b"")])),
    )
    assert [(row.is_ok, row.error.code, row.error.message) for row in answer.rows] == [
        (False, "OTSInvalidPK", "Validate PK size fail. Input: 1, Meta: 2."),
        (True, "", ""),
        (
            False,
            "OTSParameterInvalid",
            "Invalid column type for column old expect VT_INTEGER actual VT_BLOB",
        ),
        (
            False,
            "OTSParameterInvalid",
            "Invalid column type for column old expect VT_INTEGER actual VT_DOUBLE",
        ),
        (False, "OTSInvalidPK", "Validate PK type fail. Input: VT_INTEGER, Meta: VT_STRING."),
    ]
    assert not answer.rows[0].HasField("consumed")
    assert stored(engine, 1) == {"free": b"x"}
    assert stored(engine, 2) is None


def test_every_row_of_an_unknown_table_fails(engine: TablestoreEngine) -> None:
    row = changed(1, row_buffer(KEY, [cell("c", 1)]))
    answer = imported(engine, row, row, table="Nowhere")
    assert [(row.error.code, row.error.message) for row in answer.rows] == [
        ("OTSObjectNotExist", "Requested table does not exist.")
    ] * 2


@pytest.mark.parametrize(
    ("count", "rule"),
    [
        (0, TablestoreRule.BATCH_WRITE_TABLE_EMPTY),
        (BATCH_WRITE_ROWS_MAX + 1, TablestoreRule.BATCH_WRITE_COUNT),
    ],
)
def test_rows_are_counted_before_they_are_decoded(count: int, rule: AnyRule) -> None:
    rows = [changed(1, b"no row")] * count
    with pytest.raises(InvalidRequest) as refused:
        bulk_import.decode(m.BulkImportRequest(table_name="T", rows=rows).SerializeToString())
    assert refused.value.rule is rule


def test_the_largest_count_is_taken(engine: TablestoreEngine) -> None:
    rows = [
        changed(1, row_buffer((("k", "a"), ("n", number)), [cell("c", 1)]))
        for number in range(BATCH_WRITE_ROWS_MAX)
    ]
    assert all(row.is_ok for row in imported(engine, *rows).rows)
    assert stored(engine, BATCH_WRITE_ROWS_MAX - 1) == {"c": 1}
