"""The founding page on the use of tables (page 003): its example, through the vendor's SDK.

Student cards: each purchase has a card, a seller, a device and an order number that the device
counts up. The page puts these into keys in four ways; each test is one of its statements, with its
own rows. (semantics §1.2)
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import md5
from typing import Any, Final

import pytest
from tablestore import (
    INF_MAX,
    INF_MIN,
    BatchWriteRowRequest,
    CapacityUnit,
    Direction,
    OTSClient,
    OTSServiceError,
    PutRowItem,
    ReservedThroughput,
    Row,
    TableInBatchWriteRowItem,
    TableMeta,
    TableOptions,
)
from tests.support.buffers import cell, row_buffer
from tests.support.http import Sender, Wire
from tests.support.requests import ANY

from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import messages as m

Key = tuple[int | str, ...]

PURCHASES: Final[tuple[tuple[int, str, int, int], ...]] = (
    (16, "a100", 66661, 200001),
    (54, "a100", 6777, 200003),
    (54, "a1001", 6777, 200004),
    (167, "a101", 283408, 200002),
)
"""Device, seller, card and order number, in the order of the page's first table."""

COLUMNS: Final = (
    ("DeviceID", "INTEGER"),
    ("SellerID", "STRING"),
    ("CardID", "INTEGER"),
    ("OrderNumber", "INTEGER"),
)
ORDERS: Final = (*PURCHASES, (66, "b304", 178994, 200005))
"""The rows of the page's table of order numbers."""


@pytest.fixture
def ots(widerow_server: WiderowServer) -> OTSClient:
    return widerow_server.client()


def create(ots: OTSClient, columns: Sequence[tuple[str, str]], name: str = "purchases") -> None:
    units = ReservedThroughput(CapacityUnit(0, 0))
    ots.create_table(TableMeta(name, list(columns)), TableOptions(), units)


def key_of(columns: Sequence[tuple[str, str]], values: Key) -> list[tuple[str, int | str]]:
    return [(name, value) for (name, _), value in zip(columns, values, strict=True)]


def shuffled(each: object) -> bytes:
    """Sorts things into an order that is not theirs, and the same on every run."""
    return md5(repr(each).encode(), usedforsecurity=False).digest()


def fill(ots: OTSClient, columns: Sequence[tuple[str, str]], keys: Iterable[Key]) -> None:
    """A table with a row for each key, written in another order than that of the keys."""
    create(ots, columns)
    for values in sorted(keys, key=shuffled):
        ots.put_row("purchases", Row(key_of(columns, values), [("amount", 1)]))


def scan(ots: OTSClient, start: list[tuple[str, Any]], end: list[tuple[str, Any]]) -> list[Key]:
    """The keys of a range, in the order they come."""
    _, following, rows, _ = ots.get_range("purchases", Direction.FORWARD, start, end)
    assert following is None
    return [tuple(value for _, value in row.primary_key) for row in rows]


def stored(ots: OTSClient, columns: Sequence[tuple[str, str]]) -> list[Key]:
    """Every key of the table, in its order."""
    start, end = ([(name, bound) for name, _ in columns] for bound in (INF_MIN, INF_MAX))
    return scan(ots, start, end)


SPLICED: Final = (("Combined", "STRING"), ("OrderNumber", "INTEGER"))


def spliced(connector: str, width: int = 0) -> list[tuple[str, int]]:
    """The page's purchases with device, seller and card in one text, in the original order."""
    return [
        (f"{device:0{width}}{connector}{seller}{connector}{card}", order)
        for device, seller, card, order in PURCHASES
    ]


# --- a well-designed primary key -----------------------------------------------------------------


def test_rows_are_sorted_by_their_primary_key(ots: OTSClient) -> None:
    fill(ots, COLUMNS, PURCHASES)
    assert stored(ots, COLUMNS) == list(PURCHASES)


@pytest.mark.parametrize("first", range(4))
def test_any_of_the_four_can_be_the_partition_key(ots: OTSClient, first: int) -> None:
    order = [first, *(number for number in range(4) if number != first)]
    columns = [COLUMNS[number] for number in order]
    keys = [tuple(purchase[number] for number in order) for purchase in PURCHASES]
    fill(ots, columns, keys)
    assert stored(ots, columns) == sorted(keys)


def test_partition_keys_are_independent(ots: OTSClient) -> None:
    """What happens to the rows of one does not touch those of another."""
    fill(ots, COLUMNS, PURCHASES)
    for device, seller, card, order in PURCHASES:
        if device == 54:
            key = key_of(COLUMNS, (device, seller, card, order))
            ots.delete_row("purchases", Row(key))
    assert stored(ots, COLUMNS) == [PURCHASES[0], PURCHASES[3]]


def test_one_order_number_of_two_devices_is_two_purchases(ots: OTSClient) -> None:
    both = [(16, "a100", 66661, 200001), (54, "a100", 66661, 200001)]
    fill(ots, COLUMNS, both)
    assert stored(ots, COLUMNS) == both


def test_a_purchase_can_be_read_as_soon_as_it_is_written(ots: OTSClient) -> None:
    create(ots, COLUMNS)
    for number in range(200001, 200051):
        key = key_of(COLUMNS, (16, "a100", 66661, number))
        ots.put_row("purchases", Row(key, [("amount", number)]))
        _, row, _ = ots.get_row("purchases", key)
        assert [column[:2] for column in row.attribute_columns] == [("amount", number)]


def test_new_orders_of_a_device_come_behind_its_older_ones(ots: OTSClient) -> None:
    keys = [(16, "a100", 66661, number) for number in (9, 10, 99, 100, 200001)]
    fill(ots, COLUMNS, keys)
    assert stored(ots, COLUMNS) == keys


# --- spliced partition keys ----------------------------------------------------------------------


def test_spliced_keys_sort_as_text(ots: OTSClient) -> None:
    """By bytes, and `:` is above the digits.

    The page prints 16 before 167, which its own words on the connector contradict; bytes are right.
    """
    fill(ots, SPLICED, spliced(":"))
    assert stored(ots, SPLICED) == [
        ("167:a101:283408", 200002),
        ("16:a100:66661", 200001),
        ("54:a1001:6777", 200004),
        ("54:a100:6777", 200003),
    ]


def test_splicing_gives_purchases_of_one_device_different_partition_keys(
    widerow_server: WiderowServer, ots: OTSClient
) -> None:
    """Before it, an atomic batch may change both; after it, none."""
    fill(ots, COLUMNS, PURCHASES)
    create(ots, SPLICED, "spliced")
    both = [number for number, purchase in enumerate(PURCHASES) if purchase[0] == 54]
    keys = [key_of(COLUMNS, PURCHASES[number]) for number in both]
    assert _atomic(widerow_server, "purchases", keys) == [True, True]
    keys = [key_of(SPLICED, spliced(":")[number]) for number in both]
    assert _atomic(widerow_server, "spliced", keys) == [False, False]


def _atomic(
    server: WiderowServer, table: str, keys: Iterable[list[tuple[str, int | str]]]
) -> list[bool]:
    """Which rows of an atomic batch were written. The SDK has no way to ask for one."""
    rows = [
        m.RowInBatchWriteRowRequest(
            type=1, row_change=row_buffer(key, [cell("amount", 2)]), condition=ANY
        )
        for key in keys
    ]
    tables = [m.TableInBatchWriteRowRequest(table_name=table, rows=rows)]
    body = m.BatchWriteRowRequest(tables=tables, is_atomic=True).SerializeToString()
    with Wire(server.endpoint) as wire:
        answer = wire.ask(Sender(instance=server.instance).request("BatchWriteRow", body))
    response = m.BatchWriteRowResponse.FromString(answer.body)
    return [row.is_ok for row in response.tables[0].rows]


def test_as_text_device_54_comes_behind_167_and_ranges_of_devices_break(ots: OTSClient) -> None:
    fill(ots, COLUMNS, PURCHASES)
    start, end = (
        [("DeviceID", device), *((name, INF_MIN) for name, _ in COLUMNS[1:])]
        for device in (15, 100)
    )
    assert scan(ots, start, end) == list(PURCHASES[:3])
    ots.delete_table("purchases")

    fill(ots, SPLICED, spliced(":"))
    found = [key[0] for key in stored(ots, SPLICED)]
    assert found.index("54:a100:6777") > found.index("167:a101:283408")
    start, end = ([("Combined", text), ("OrderNumber", INF_MIN)] for text in ("15", "100"))
    with pytest.raises(OTSServiceError) as caught:  # as texts, 15 is behind 100
        scan(ots, start, end)
    assert caught.value.get_error_message() == "Begin key must less than end key in FORWARD"


def test_zeros_in_front_bring_the_order_of_numbers_back(ots: OTSClient) -> None:
    fill(ots, SPLICED, spliced(":", width=6))
    assert stored(ots, SPLICED) == [
        ("000016:a100:66661", 200001),
        ("000054:a1001:6777", 200004),
        ("000054:a100:6777", 200003),
        ("000167:a101:283408", 200002),
    ]
    start, end = ([("Combined", text), ("OrderNumber", INF_MIN)] for text in ("000015", "000100"))
    assert [key[1] for key in scan(ots, start, end)] == [200001, 200004, 200003]


def test_a_small_connector_brings_the_original_order_back(ots: OTSClient) -> None:
    """`,` is below every digit and letter; with `:` a1001 came before a100."""
    fill(ots, SPLICED, spliced(",", width=6))
    assert stored(ots, SPLICED) == [
        ("000016,a100,66661", 200001),
        ("000054,a100,6777", 200003),
        ("000054,a1001,6777", 200004),
        ("000167,a101,283408", 200002),
    ]
    assert [key[1] for key in stored(ots, SPLICED)] == [order for *_, order in PURCHASES]


@pytest.mark.parametrize("connector", [",", "!", "-", ":", "_", "~"])
def test_a_connector_keeps_the_order_if_it_is_below_all_that_it_joins(
    ots: OTSClient, connector: str
) -> None:
    sellers = ["a", "a0", "a00", "aZ", "aa", "b", "b1"]
    columns = (("Combined", "STRING"),)
    fill(ots, columns, [(f"{seller}{connector}x",) for seller in sellers])
    order = [str(key[0]).removesuffix(f"{connector}x") for key in stored(ots, columns)]
    assert (order == sellers) is (connector < "0")


# --- hash prefixes -------------------------------------------------------------------------------

HASHED: Final = (
    ("HashOrderNumber", "STRING"),
    ("DeviceID", "INTEGER"),
    ("SellerID", "STRING"),
    ("CardID", "INTEGER"),
)


def hashed(order: int) -> str:
    """An order number behind the first digits of its hash, as the page has it.

    Its digits are those of the number and a line feed: what a shell's echo hands to md5sum.
    """
    return md5(b"%d\n" % order, usedforsecurity=False).hexdigest()[:4] + str(order)


HASHED_ORDERS: Final = [
    (hashed(order), device, seller, card) for device, seller, card, order in ORDERS
]


def test_hash_prefixes_scatter_consecutive_orders(ots: OTSClient) -> None:
    fill(ots, HASHED, HASHED_ORDERS)
    assert stored(ots, HASHED) == [
        ("2e38200004", 54, "a1001", 6777),
        ("a5a9200003", 54, "a100", 6777),
        ("c335200005", 66, "b304", 178994),
        ("db6e200002", 167, "a101", 283408),
        ("ddba200001", 16, "a100", 66661),
    ]


def test_a_purchase_is_found_by_computing_its_prefix_again(ots: OTSClient) -> None:
    fill(ots, HASHED, HASHED_ORDERS)
    for device, seller, card, order in ORDERS:
        key = key_of(HASHED, (hashed(order), device, seller, card))
        _, row, _ = ots.get_row("purchases", key)
        assert row.primary_key == key


def test_a_range_no_longer_holds_consecutive_orders(ots: OTSClient) -> None:
    columns = (("HashOrderNumber", "STRING"),)
    fill(ots, columns, [(hashed(order),) for order in range(200001, 200051)])
    wanted = {hashed(order) for order in range(200011, 200021)}
    first, last = min(wanted), max(wanted)
    found = {key[0] for key in scan(ots, [(columns[0][0], first)], [(columns[0][0], last)])}
    assert wanted - {last} < found  # the smallest range that has all ten has others too


# --- writing in parallel -------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["in order", "shuffled", "by several workers"])
def test_every_way_of_importing_makes_the_same_table(
    widerow_server: WiderowServer, ots: OTSClient, way: str
) -> None:
    create(ots, COLUMNS)
    keys = [(device, "a100", card, 1) for device in range(20) for card in range(10)]
    sets = [keys[start : start + 20] for start in range(0, len(keys), 20)]
    if way != "in order":
        sets.sort(key=shuffled)

    def load(part: Iterable[Key]) -> int:
        rows = [PutRowItem(Row(key_of(COLUMNS, key), [("amount", key[2])]), None) for key in part]
        batch = BatchWriteRowRequest()
        batch.add(TableInBatchWriteRowItem("purchases", rows))
        client = widerow_server.client()
        return len(client.batch_write_row(batch).get_put()[0])

    with ThreadPoolExecutor(4 if way == "by several workers" else 1) as workers:
        assert sum(workers.map(load, sets)) == len(keys)
    assert stored(ots, COLUMNS) == keys


# --- cold and hot data ---------------------------------------------------------------------------


def test_tables_of_each_month_have_their_own_throughput(
    widerow_server: WiderowServer, ots: OTSClient
) -> None:
    """High for the current month, read-mostly for past ones, low for old ones; all can change."""
    months = {"y2017m08": (5000, 5000), "y2017m07": (3000, 10), "y2016m07": (1, 1)}
    for name, units in months.items():
        reserved = ReservedThroughput(CapacityUnit(*units))
        ots.create_table(TableMeta(name, [("CardID", "INTEGER")]), TableOptions(), reserved)
    assert {name: _units(ots, name) for name in months} == months
    widerow_server.clock.advance(120)
    ots.update_table("y2017m08", None, ReservedThroughput(CapacityUnit(3000, 10)))
    assert _units(ots, "y2017m08") == (3000, 10)
    assert _units(ots, "y2017m07") == months["y2017m07"]


def _units(ots: OTSClient, table: str) -> tuple[int, int]:
    units = ots.describe_table(table).reserved_throughput_details.capacity_unit
    return units.read, units.write


def test_old_tables_are_exported_or_deleted(ots: OTSClient) -> None:
    fill(ots, COLUMNS, PURCHASES)
    exported = []
    start, end = ([(name, bound) for name, _ in COLUMNS] for bound in (INF_MIN, INF_MAX))
    following: list[tuple[str, object]] | None = start
    while following:
        page = ots.get_range("purchases", Direction.FORWARD, following, end, limit=3)
        _, following, rows, _ = page
        exported += [(row.primary_key, row.attribute_columns[0][:2]) for row in rows]
    assert exported == [(key_of(COLUMNS, key), ("amount", 1)) for key in PURCHASES]
    ots.delete_table("purchases")
    assert list(ots.list_table()) == []
