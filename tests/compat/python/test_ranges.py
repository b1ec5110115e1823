"""Ranges through the SDK (semantics §5.6, §19 rows 5 to 7)."""

import pytest
from tablestore import (
    INF_MAX,
    INF_MIN,
    BatchWriteRowRequest,
    CapacityUnit,
    ComparatorType,
    Condition,
    Direction,
    OTSClient,
    OTSServiceError,
    PutRowItem,
    ReservedThroughput,
    Row,
    RowExistenceExpectation,
    SingleColumnCondition,
    TableInBatchWriteRowItem,
    TableMeta,
    TableOptions,
)

from widerow.system import SystemClock

Key = list[tuple[str, object]]
Numbers = list[tuple[str, int]]
IGNORE = Condition(RowExistenceExpectation.IGNORE)
LOWEST: Key = [("card", INF_MIN), ("order", INF_MIN)]
HIGHEST: Key = [("card", INF_MAX), ("order", INF_MAX)]
ROWS = [(card, order) for card in ("a100", "a1001", "b") for order in (-5, 0, 7)]


def create(ots: OTSClient, **options: int) -> None:
    meta = TableMeta("t", [("card", "STRING"), ("order", "INTEGER")])
    ots.create_table(meta, TableOptions(**options), ReservedThroughput(CapacityUnit(0, 0)))


def key(card: object, order: object) -> Key:
    return [("card", card), ("order", order)]


@pytest.fixture
def table(ots: OTSClient) -> OTSClient:
    """A client of an instance with a table `t` of nine rows."""
    create(ots)
    for card, order in reversed(ROWS):
        ots.put_row("t", Row(key(card, order), [("c", order)]), IGNORE)
    return ots


def found(rows: list[Row]) -> Numbers:
    return [(row.primary_key[0][1], row.primary_key[1][1]) for row in rows]


def refusal(caught: pytest.ExceptionInfo[OTSServiceError]) -> tuple[int, str, str]:
    error = caught.value
    return error.get_http_status(), error.get_error_code(), error.get_error_message()


def test_rows_come_in_the_order_of_their_keys(table: OTSClient) -> None:
    consumed, following, rows, _ = table.get_range("t", Direction.FORWARD, LOWEST, HIGHEST)
    assert found(rows) == ROWS
    assert following is None
    assert (consumed.read, consumed.write) == (1, 0)
    _, following, rows, _ = table.get_range("t", Direction.BACKWARD, HIGHEST, LOWEST)
    assert found(rows) == ROWS[::-1]
    assert following is None


def test_the_start_is_inclusive_and_the_end_exclusive(table: OTSClient) -> None:
    start, end = key("a100", 0), key("b", 0)
    rows = table.get_range("t", Direction.FORWARD, start, end)[2]
    assert found(rows) == ROWS[1:7]
    rows = table.get_range("t", Direction.BACKWARD, end, start)[2]
    assert found(rows) == ROWS[7:1:-1]


def test_one_partition_key_value_is_a_range(table: OTSClient) -> None:
    start, end = key("a100", INF_MIN), key("a100", INF_MAX)
    assert found(table.get_range("t", Direction.FORWARD, start, end)[2]) == ROWS[:3]
    assert found(table.get_range("t", Direction.BACKWARD, end, start)[2]) == ROWS[2::-1]


@pytest.mark.parametrize("direction", [Direction.FORWARD, Direction.BACKWARD])
@pytest.mark.parametrize("limit", [1, 2, 3, 4, 9, 10])
def test_pages_follow_one_another(table: OTSClient, direction: str, limit: int) -> None:
    forward = direction == Direction.FORWARD
    following, end = (LOWEST, HIGHEST) if forward else (HIGHEST, LOWEST)
    seen: Numbers = []
    pages = 0
    while following:
        _, following, rows, _ = table.get_range("t", direction, following, end, limit=limit)
        assert len(rows) <= limit
        seen += found(rows)
        pages += 1
    assert seen == (ROWS if forward else ROWS[::-1])
    assert pages == -(-len(ROWS) // limit)  # a page that ends the range names no next key


def test_the_next_key_is_the_next_row(table: OTSClient) -> None:
    _, following, _, _ = table.get_range("t", Direction.FORWARD, LOWEST, HIGHEST, limit=4)
    assert [tuple(column) for column in following] == key(*ROWS[4])


def test_the_iterator_of_the_sdk_reads_everything(plain: OTSClient) -> None:
    create(plain)
    for card, order in ROWS:
        plain.put_row("t", Row(key(card, order), [("c", 1)]), IGNORE)
    counter = CapacityUnit(0, 0)
    rows = plain.xget_range("t", Direction.FORWARD, LOWEST, HIGHEST, counter, count=7)
    assert found(list(rows)) == ROWS[:7]
    assert counter.read == 1


def test_an_empty_range_is_no_error(table: OTSClient) -> None:
    start, end = key("c", INF_MIN), key("d", INF_MAX)
    consumed, following, rows, _ = table.get_range("t", Direction.FORWARD, start, end)
    assert (consumed.read, following, rows) == (1, None, [])


def test_columns_are_chosen(table: OTSClient) -> None:
    table.update_row("t", Row(key("b", 7), {"PUT": [("d", 1)]}), IGNORE)
    arguments = ("t", Direction.FORWARD, LOWEST, HIGHEST)
    assert found(table.get_range(*arguments, ["d"])[2]) == [("b", 7)]
    assert table.get_range(*arguments, ["blah"])[2] == []
    rows = table.get_range(*arguments, ["d", "order"])[2]
    assert found(rows) == ROWS
    assert [len(row.attribute_columns) for row in rows] == [0] * 8 + [1]


BAD_RANGES = [
    (Direction.FORWARD, key("a", 1), key("a", 1), "Begin key must less than end key in FORWARD"),
    (Direction.FORWARD, HIGHEST, LOWEST, "Begin key must less than end key in FORWARD"),
    (Direction.BACKWARD, key("a", 1), key("a", 1), "Begin key must more than end key in BACKWARD"),
    (Direction.BACKWARD, LOWEST, HIGHEST, "Begin key must more than end key in BACKWARD"),
]


@pytest.mark.parametrize(("direction", "start", "end", "message"), BAD_RANGES)
def test_ranges_in_the_wrong_direction_are_refused(
    table: OTSClient, direction: str, start: Key, end: Key, message: str
) -> None:
    with pytest.raises(OTSServiceError) as caught:
        table.get_range("t", direction, start, end)
    assert refusal(caught) == (400, "OTSParameterInvalid", message)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_positive(table: OTSClient, limit: int) -> None:
    with pytest.raises(OTSServiceError) as caught:
        table.get_range("t", Direction.FORWARD, LOWEST, HIGHEST, limit=limit)
    assert refusal(caught) == (400, "OTSParameterInvalid", "The limit must be greater than 0.")


def test_bounds_are_held_against_the_schema(table: OTSClient) -> None:
    cases = [
        (LOWEST[:1], HIGHEST[:1], "Validate PK size fail. Input: 1, Meta: 2."),
        (
            [("n", INF_MIN), ("order", INF_MIN)],
            HIGHEST,
            "Validate PK name fail. Input: n, Meta: card.",
        ),
        (
            key(1, INF_MIN),
            HIGHEST,
            "Validate PK type fail. Input: VT_INTEGER, Meta: VT_STRING.",
        ),
    ]
    for start, end, message in cases:
        with pytest.raises(OTSServiceError) as caught:
            table.get_range("t", Direction.FORWARD, start, end)
        assert refusal(caught) == (400, "OTSInvalidPK", message)


@pytest.mark.parametrize(("columns", "versions"), [(128, 2), (2, 128)])
def test_many_columns_and_versions_come_whole(ots: OTSClient, columns: int, versions: int) -> None:
    create(ots, max_version=versions)
    now = SystemClock().now_us() // 1000
    names = [f"c{n:03}" for n in range(columns)]
    cells = [(name, n, now - n) for name in names for n in range(versions)]
    ots.put_row("t", Row(key("a", 1), cells), IGNORE)
    _, _, rows, _ = ots.get_range("t", Direction.FORWARD, LOWEST, HIGHEST, max_version=versions)
    assert [tuple(cell) for cell in rows[0].attribute_columns] == cells


def test_consumption_is_summed_before_it_is_rounded(ots: OTSClient) -> None:
    create(ots)
    row = [(name, "x" * 4096) for name in ("a", "b", "c")]
    ots.put_row("t", Row(key("a", 1), row), IGNORE)
    assert ots.get_range("t", Direction.FORWARD, LOWEST, HIGHEST)[0].read == 4
    ots.put_row("t", Row(key("a", 2), row), IGNORE)
    assert (
        ots.get_range("t", Direction.FORWARD, LOWEST, HIGHEST)[0].read == 7
    )  # semantics §9: not 8


def load(ots: OTSClient, count: int) -> None:
    for first in range(0, count, 200):
        items = [
            PutRowItem(Row(key("a", n), [("n", n)]), IGNORE) for n in range(first, first + 200)
        ]
        request = BatchWriteRowRequest()
        request.add(TableInBatchWriteRowItem("t", items))
        assert ots.batch_write_row(request).is_all_succeed()


def test_ten_thousand_scanned_rows_are_two_pages(plain: OTSClient) -> None:
    create(plain)
    load(plain, 10_000)
    for kept in (0, 1, 4999, 5000, 5001, 10_000):
        condition = SingleColumnCondition("n", kept, ComparatorType.LESS_THAN)
        for direction in (Direction.FORWARD, Direction.BACKWARD):
            start, end = (LOWEST, HIGHEST) if direction == Direction.FORWARD else (HIGHEST, LOWEST)
            _, middle, first, _ = plain.get_range(
                "t", direction, start, end, column_filter=condition
            )
            _, last, second, _ = plain.get_range(
                "t", direction, middle, end, column_filter=condition
            )
            assert last is None
            numbers = [order for _, order in found([*first, *second])]
            expected = list(range(kept))
            assert numbers == (expected if direction == Direction.FORWARD else expected[::-1])
