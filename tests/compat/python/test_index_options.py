"""What a server may be told of indexes, and what they cost (change §A7, §A8)."""

from collections.abc import Iterator

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
    SecondaryIndexMeta,
    TableMeta,
    TableOptions,
)

from widerow.testing.server import WiderowServer

BY_STATE = SecondaryIndexMeta("by_state", ["state"], ["note"])


@pytest.fixture
def keeping() -> Iterator[OTSClient]:
    with WiderowServer(settings={"keep_indexed_tables": True}) as server:
        yield server.client()


def create(ots: OTSClient, name: str, *indexes: SecondaryIndexMeta) -> None:
    meta = TableMeta(name, [("k", "STRING")], [("state", "STRING"), ("note", "STRING")])
    nothing = ReservedThroughput(CapacityUnit(0, 0))
    ots.create_table(meta, TableOptions(), nothing, list(indexes))


def test_a_server_may_keep_tables_that_have_indexes(keeping: OTSClient) -> None:
    # change §A7: the service's documents want indexes dropped first
    create(keeping, "orders", BY_STATE)
    with pytest.raises(OTSServiceError) as caught:
        keeping.delete_table("orders")
    error = caught.value
    assert (error.get_http_status(), error.get_error_code()) == (400, "OTSParameterInvalid")
    told = "Table 'orders' has index 'by_state', delete its indexes first."
    assert error.get_error_message() == told
    keeping.put_row("orders", Row([("k", "a")], [("state", "open")]))
    keeping.delete_secondary_index("orders", "by_state")
    keeping.delete_table("orders")
    assert list(keeping.list_table()) == []


def test_others_delete_the_indexes_too(ots: OTSClient) -> None:  # change §A7: what clients do
    create(ots, "orders", BY_STATE)
    ots.delete_table("orders")
    create(ots, "by_state")  # its name is free


def test_a_write_says_what_it_would_say_without_indexes(ots: OTSClient) -> None:  # change §A8
    create(ots, "plain")
    create(ots, "indexed", BY_STATE)
    ignore = Condition(RowExistenceExpectation.IGNORE)
    key = [("k", "a")]
    for note in ("x" * 9000, "y"):  # new, then over a row that has an entry of three units
        cells = [("state", "open"), ("note", note)]
        told = [ots.put_row(name, Row(key, cells))[0] for name in ("plain", "indexed")]
        assert (told[0].read, told[0].write) == (told[1].read, told[1].write)
    change = Row(key, {"put": [("state", "shut")]})
    told = [ots.update_row(name, change, ignore)[0] for name in ("plain", "indexed")]
    assert (told[0].read, told[0].write) == (told[1].read, told[1].write)


def test_a_read_of_an_index_costs_what_its_entries_weigh(ots: OTSClient) -> None:  # change §A8
    create(ots, "orders", BY_STATE)
    ots.put_row("orders", Row([("k", "a")], [("state", "s"), ("note", "x" * 9000), ("big", "z")]))
    low, high = ([("state", end), ("k", end)] for end in (INF_MIN, INF_MAX))
    consumed, _, rows, _ = ots.get_range("by_state", Direction.FORWARD, low, high)
    assert len(rows) == 1
    assert (consumed.read, consumed.write) == (3, 0)
