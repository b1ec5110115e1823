"""Secondary indexes through the SDK (change §A9, the rows of P; change §A2 to §A7)."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tablestore import (
    INF_MAX,
    INF_MIN,
    CapacityUnit,
    Condition,
    Direction,
    OTSClient,
    OTSServiceError,
    ReservedThroughput,
    Row,
    RowExistenceExpectation,
    TableMeta,
    TableOptions,
)
from tablestore.metadata import (
    BatchWriteRowRequest,
    PutRowItem,
    SecondaryIndexMeta,
    SecondaryIndexType,
    TableInBatchWriteRowItem,
)

from widerow.testing.server import WiderowServer

NONE = ReservedThroughput(CapacityUnit(0, 0))
KEY = [("gid", "INTEGER"), ("uid", "STRING")]
DEFINED = [("s", "STRING"), ("i", "INTEGER"), ("b", "BINARY"), ("d", "DOUBLE"), ("t", "BOOLEAN")]
GLOBAL = SecondaryIndexMeta("by_s", ["s", "gid"], ["i", "d"])
LOCAL = SecondaryIndexMeta("by_i", ["gid", "i"], ["s"], SecondaryIndexType.LOCAL_INDEX)
LAG_S = 1
PATIENCE_S = 30
Cells = list[tuple[str, Any]]


def refusal(action: Callable[[], object]) -> tuple[int, str, str]:
    with pytest.raises(OTSServiceError) as caught:
        action()
    error: Any = caught.value
    return error.get_http_status(), error.get_error_code(), error.get_error_message()


def invalid(text: str) -> tuple[int, str, str]:
    return 400, "OTSParameterInvalid", text


def create(ots: OTSClient, *indexes: SecondaryIndexMeta, **options: Any) -> None:  # noqa: ANN401  # the SDK's
    ots.create_table(TableMeta("t", KEY, DEFINED), TableOptions(**options), NONE, list(indexes))


def put(ots: OTSClient, gid: int, uid: str, **columns: Any) -> None:  # noqa: ANN401  # of any type
    ots.put_row("t", Row([("gid", gid), ("uid", uid)], list(columns.items())))


def scanned(ots: OTSClient, index: str, *names: str) -> list[tuple[Cells, Cells]]:
    low, high = [(name, INF_MIN) for name in names], [(name, INF_MAX) for name in names]
    _, following, rows, _ = ots.get_range(index, Direction.FORWARD, low, high)
    assert following is None
    _, _, back, _ = ots.get_range(index, Direction.BACKWARD, high, low)
    found = [(row.primary_key, [cell[:2] for cell in row.attribute_columns]) for row in rows]
    assert [row.primary_key for row in reversed(back)] == [key for key, _ in found]
    return found


def names(ots: OTSClient) -> list[str]:
    return [index.index_name for index in ots.describe_table("t").secondary_indexes]


def test_describe_table_lists_indexes_as_they_were_given(ots: OTSClient) -> None:
    create(ots, GLOBAL)
    ots.create_secondary_index("t", LOCAL, include_base_data=False)
    found = ots.describe_table("t").secondary_indexes
    assert [
        (each.index_name, each.primary_key_names, each.defined_column_names, each.index_type)
        for each in found
    ] == [
        ("by_s", ["s", "gid"], ["i", "d"], SecondaryIndexType.GLOBAL_INDEX),
        ("by_i", ["gid", "i"], ["s"], SecondaryIndexType.LOCAL_INDEX),
    ]
    ots.delete_secondary_index("t", "by_s")
    assert names(ots) == ["by_i"]
    ots.delete_secondary_index("t", "by_i")
    assert names(ots) == []


def test_an_index_is_described_as_a_table_and_not_listed(ots: OTSClient) -> None:
    create(ots, GLOBAL, LOCAL)
    meta = ots.describe_table("by_s").table_meta
    assert meta.schema_of_primary_key == [("s", "STRING"), ("gid", "INTEGER"), ("uid", "STRING")]
    assert meta.defined_columns == [("i", "INTEGER"), ("d", "DOUBLE")]
    assert ots.list_table() == ("t",) or list(ots.list_table()) == ["t"]


def test_entries_move_with_their_rows(ots: OTSClient) -> None:
    create(ots, GLOBAL, LOCAL)
    put(ots, 1, "a", s="x", i=7, d=0.5, free="f")
    by_s, by_i = ("s", "gid", "uid"), ("gid", "i", "uid")
    key = [("s", "x"), ("gid", 1), ("uid", "a")]
    assert scanned(ots, "by_s", *by_s) == [(key, [("d", 0.5), ("i", 7)])]
    assert scanned(ots, "by_i", *by_i) == [([("gid", 1), ("i", 7), ("uid", "a")], [("s", "x")])]
    _, row, _ = ots.get_row("by_s", key)
    assert row.primary_key == key

    change = Row([("gid", 1), ("uid", "a")], {"PUT": [("s", "y")]})
    ots.update_row("t", change, Condition(RowExistenceExpectation.IGNORE))
    moved = [("s", "y"), ("gid", 1), ("uid", "a")]
    assert scanned(ots, "by_s", *by_s) == [(moved, [("d", 0.5), ("i", 7)])]

    change = Row([("gid", 1), ("uid", "a")], {"DELETE_ALL": ["i"]})
    ots.update_row("t", change, Condition(RowExistenceExpectation.IGNORE))
    assert scanned(ots, "by_i", *by_i) == []
    assert scanned(ots, "by_s", *by_s) == [(moved, [("d", 0.5)])]

    ots.delete_row("t", Row([("gid", 1), ("uid", "a")]), None)
    assert scanned(ots, "by_s", *by_s) == []


def test_counts_are_checked_before_anything_is_looked_up(ots: OTSClient) -> None:
    # change §A2: text 2 is wanted for a table that does not exist
    five = SecondaryIndexMeta("x", ["gid", "uid", "s", "i", "b"], [])
    none = SecondaryIndexMeta("x", [], [])
    many = SecondaryIndexMeta("x", ["s"], [f"c{n}" for n in range(33)])
    text = "The number of primary key columns must be in range: [1, 4] in index."
    for asked in (five, none):
        action = lambda asked=asked: ots.create_secondary_index("t", asked, include_base_data=True)  # noqa: E731  # bound to each
        assert refusal(action) == invalid(text)
    text = "The number of attribute columns must be in range: [0, 32] in index."
    assert refusal(
        lambda: ots.create_secondary_index("t", many, include_base_data=True)
    ) == invalid(text)
    six = [SecondaryIndexMeta(f"i{n}", ["s"], []) for n in range(6)]
    text = "Number of index per table exceeds the quota:5."
    assert refusal(lambda: create(ots, *six)) == invalid(text)
    create(ots)
    for index in six[:5]:
        ots.create_secondary_index("t", index, include_base_data=False)
    assert refusal(
        lambda: ots.create_secondary_index("t", six[5], include_base_data=False)
    ) == invalid(text)
    assert names(ots) == [f"i{n}" for n in range(5)]
    ots.delete_table("t")
    assert not list(ots.list_table())


def test_a_name_is_one_of_tables_and_indexes(ots: OTSClient) -> None:
    create(ots, GLOBAL)
    taken = (409, "OTSObjectAlreadyExist", "Requested table already exists.")
    assert (
        refusal(lambda: ots.create_secondary_index("t", GLOBAL, include_base_data=False)) == taken
    )
    same = SecondaryIndexMeta("t", ["s"], [])
    assert refusal(lambda: ots.create_secondary_index("t", same, include_base_data=False)) == taken
    other = TableMeta("by_s", KEY, DEFINED)
    assert refusal(lambda: ots.create_table(other, TableOptions(), NONE)) == taken
    missing = (404, "OTSObjectNotExist", "Requested table does not exist.")
    assert refusal(lambda: ots.delete_secondary_index("t", "nothing")) == missing
    assert refusal(lambda: ots.delete_secondary_index("nothing", "by_s")) == missing


def test_an_index_is_not_written_nor_changed(ots: OTSClient) -> None:
    create(ots, GLOBAL)
    row = Row([("s", "x"), ("gid", 1), ("uid", "a")], [("i", 1)])
    text = "Can't write index table directly."
    assert refusal(lambda: ots.put_row("by_s", row)) == invalid(text)
    batch = BatchWriteRowRequest()
    batch.add(TableInBatchWriteRowItem("by_s", [PutRowItem(row, None)]))
    good = Row([("gid", 1), ("uid", "a")], [("s", "x")])
    batch.add(TableInBatchWriteRowItem("t", [PutRowItem(good, None)]))
    answer = ots.batch_write_row(batch)
    assert [each.is_ok for each in answer.get_put_by_table("by_s")] == [False]
    assert answer.get_put_by_table("by_s")[0].error_message == text
    assert [each.is_ok for each in answer.get_put_by_table("t")] == [True]
    for action in (
        lambda: ots.delete_table("by_s"),
        lambda: ots.update_table("by_s", TableOptions(max_version=1)),
        lambda: ots.create_secondary_index(
            "by_s", SecondaryIndexMeta("x", ["s"], []), include_base_data=False
        ),
    ):
        assert refusal(action) == invalid("Not supported on index table: 'by_s'.")


def test_values_that_an_index_cannot_hold_are_refused(ots: OTSClient) -> None:
    create(ots, GLOBAL)
    text = "Invalid column type for column s expect VT_STRING actual VT_INTEGER"
    assert refusal(lambda: put(ots, 1, "a", s=1)) == invalid(text)
    text = "Invalid column type for column i expect VT_INTEGER actual VT_BLOB"
    assert refusal(lambda: put(ots, 1, "a", i=bytearray(b"x"))) == invalid(text)
    text = (
        "The length of primary key column: 's' exceeds the MaxLength:1024 with CurrentLength:1025."
    )
    assert refusal(lambda: put(ots, 1, "a", s="x" * 1025)) == invalid(text)
    dated = Row([("gid", 1), ("uid", "a")], [("free", 1, 1_700_000_000_000)])
    status, code, _ = refusal(lambda: ots.put_row("t", dated))
    assert (status, code) == (400, "OTSParameterInvalid")
    put(ots, 1, "a", b=1, t="of another type, in columns that no index names")


def test_options_of_a_table_with_indexes(ots: OTSClient) -> None:
    assert refusal(lambda: create(ots, GLOBAL, max_version=2))[:2] == (400, "OTSParameterInvalid")
    create(ots, GLOBAL)
    for options in (TableOptions(max_version=2), TableOptions(time_to_live=86_400)):
        status, code, _ = refusal(lambda options=options: ots.update_table("t", options))  # type: ignore[misc]  # bound now
        assert (status, code) == (400, "OTSParameterInvalid")


@pytest.fixture
def lagging(monkeypatch: pytest.MonkeyPatch) -> Iterator[WiderowServer]:
    """A server that keeps indexes back until a test moves its clock, and then soon looks."""
    monkeypatch.setattr("widerow.housekeeping.routines.HOUSEKEEPING_SECONDS", 0.01)
    with WiderowServer(settings={"index_lag": LAG_S}) as server:
        yield server


def test_an_index_being_built_says_so(lagging: WiderowServer) -> None:
    # change §A6: one client compares the whole text of the first
    ots: OTSClient = lagging.client()
    create(ots)
    put(ots, 1, "a", s="x", i=7)
    ots.create_secondary_index("t", GLOBAL, include_base_data=True)
    ots.create_secondary_index("t", LOCAL, include_base_data=True)
    key = [("s", "x"), ("gid", 1), ("uid", "a")]
    assert refusal(lambda: ots.get_row("by_s", key))[1:] == (
        "OTSTableNotReady",
        "Disallow read index table in building base state",
    )
    key = [("gid", 1), ("i", 7), ("uid", "a")]
    assert "Disallow read local index" in refusal(lambda: ots.get_row("by_i", key))[2]


def eventually(read: Callable[[], Any]) -> Any:  # noqa: ANN401  # whatever is read
    """What a read gives as soon as it gives something, as the SDK's own tests wait for it."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := read()) is None:
        if time.monotonic() >= deadline:
            raise TimeoutError("it did not become visible")
        threading.Event().wait(0.02)
    return found


def test_entries_of_global_indexes_come_late_where_the_server_says_so(
    lagging: WiderowServer,
) -> None:
    # change §A10: for programs that wrongly expect to read what they have written
    ots: OTSClient = lagging.client()
    create(ots, GLOBAL, LOCAL)
    put(ots, 1, "a", s="x", i=7)
    key = [("s", "x"), ("gid", 1), ("uid", "a")]
    assert ots.get_row("by_s", key)[1] is None
    _, local, _ = ots.get_row("by_i", [("gid", 1), ("i", 7), ("uid", "a")])
    assert local is not None  # local ones come with the row (change §A5)
    lagging.clock.advance(LAG_S)
    row = eventually(lambda: ots.get_row("by_s", key)[1])
    assert row.primary_key == key
    assert [cell[:2] for cell in row.attribute_columns] == [("i", 7)]


def test_an_index_that_answers_has_the_rows_of_its_build(lagging: WiderowServer) -> None:
    # change §A6: this client's own test asks until the read passes, and finds the row
    ots: OTSClient = lagging.client()
    create(ots)
    put(ots, 1, "a", s="x", i=7)
    ots.create_secondary_index("t", GLOBAL, include_base_data=True)

    def scan() -> list[tuple[Cells, Cells]] | None:
        try:
            return scanned(ots, "by_s", "s", "gid", "uid")
        except OTSServiceError as error:
            if error.get_error_code() != "OTSTableNotReady":
                raise
            return None

    def scan_later() -> list[tuple[Cells, Cells]] | None:
        lagging.clock.advance(LAG_S)
        return scan()

    if scan() is not None:
        pytest.fail("the index answers before the lag has passed")
    found = eventually(scan_later)
    assert len(found) == 1


def test_a_small_table_is_indexed_when_create_index_answers(ots: OTSClient) -> None:
    create(ots)
    put(ots, 1, "a", s="x", i=7)
    put(ots, 2, "b", i=7)
    ots.create_secondary_index("t", GLOBAL, include_base_data=True)
    _, row, _ = ots.get_row("by_s", [("s", "x"), ("gid", 1), ("uid", "a")])
    assert [cell[:2] for cell in row.attribute_columns] == [("i", 7)]
    assert len(scanned(ots, "by_s", "s", "gid", "uid")) == 1
