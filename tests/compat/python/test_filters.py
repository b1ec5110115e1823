"""Filters and column conditions through the SDK (semantics §4.1, §5.3; §19 row 8)."""

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tablestore import (
    INF_MAX,
    INF_MIN,
    BatchWriteRowRequest,
    CapacityUnit,
    CastType,
    ColumnCondition,
    ComparatorType,
    CompositeColumnCondition,
    Condition,
    Direction,
    LogicalOperator,
    OTSClient,
    OTSServiceError,
    PutRowItem,
    RegexRule,
    ReservedThroughput,
    Row,
    RowExistenceExpectation,
    SingleColumnCondition,
    SingleColumnRegexCondition,
    TableInBatchWriteRowItem,
    TableMeta,
    TableOptions,
)
from tablestore.encoder import OTSProtoBufferEncoder
from tablestore.protobuf import table_store_filter_pb2 as messages

from widerow.system import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable

IGNORE = Condition(RowExistenceExpectation.IGNORE)
AND, OR, NOT = LogicalOperator.AND, LogicalOperator.OR, LogicalOperator.NOT
EQUAL, NOT_EQUAL = ComparatorType.EQUAL, ComparatorType.NOT_EQUAL
LESS, LESS_EQUAL = ComparatorType.LESS_THAN, ComparatorType.LESS_EQUAL
GREATER, GREATER_EQUAL = ComparatorType.GREATER_THAN, ComparatorType.GREATER_EQUAL


def create(ots: OTSClient, **options: int) -> None:
    none = ReservedThroughput(CapacityUnit(0, 0))
    ots.create_table(TableMeta("t", [("pk", "INTEGER")]), TableOptions(**options), none)


def write(ots: OTSClient, rows: list[dict[str, object]]) -> None:
    """Put rows whose keys are their places in the list."""
    request = BatchWriteRowRequest()
    items = [PutRowItem(Row([("pk", n)], list(row.items())), IGNORE) for n, row in enumerate(rows)]
    request.add(TableInBatchWriteRowItem("t", items))
    assert ots.batch_write_row(request).is_all_succeed()


def kept(ots: OTSClient, condition: ColumnCondition, **options: object) -> list[int]:
    """The keys of the rows that pass."""
    low, high = [("pk", INF_MIN)], [("pk", INF_MAX)]
    options = {"column_filter": condition} | options
    _, _, rows, _ = ots.get_range("t", Direction.FORWARD, low, high, **options)
    return [row.primary_key[0][1] for row in rows]


def all_of(operator: LogicalOperator, *conditions: ColumnCondition) -> CompositeColumnCondition:
    composite = CompositeColumnCondition(operator)
    for condition in conditions:
        composite.add_sub_condition(condition)
    return composite


def refusal(caught: pytest.ExceptionInfo[OTSServiceError]) -> tuple[int, str, str]:
    error = caught.value
    return error.get_http_status(), error.get_error_code(), error.get_error_message()


ORDERED: dict[str, list[object]] = {
    "integer": [-(2**63), 0, 2**63 - 1],
    "double": [-1.5, 0.0, 1e300],
    "string": ["", "a", "é"],
    "binary": [bytearray(b""), bytearray(b"\x00"), bytearray(b"\xff")],
    "boolean": [False, True],
}
# Which of smaller, equal and larger values pass.
COMPARATORS = {
    EQUAL: (False, True, False),
    NOT_EQUAL: (True, False, True),
    LESS: (True, False, False),
    LESS_EQUAL: (True, True, False),
    GREATER: (False, False, True),
    GREATER_EQUAL: (False, True, True),
}


@pytest.mark.parametrize("kind", ORDERED)
def test_every_comparator_works_on_every_type(ots: OTSClient, kind: str) -> None:
    create(ots)
    values = ORDERED[kind]
    write(ots, [{"c": value} for value in values])
    for comparator, (smaller, equal, larger) in COMPARATORS.items():
        for place, value in enumerate(values):
            expected = [
                n
                for n in range(len(values))
                if (smaller if n < place else equal if n == place else larger)
            ]
            assert kept(ots, SingleColumnCondition("c", value, comparator)) == expected


def test_values_of_different_types_are_never_equal(ots: OTSClient) -> None:
    create(ots)
    values = ["1", 1, 1.0, True, bytearray(b"1")]
    write(ots, [{"c": value} for value in values])
    for place, value in enumerate(values):
        assert kept(ots, SingleColumnCondition("c", value, EQUAL)) == [place]


def test_conditions_are_combined(ots: OTSClient) -> None:
    create(ots)
    write(ots, [{"a": n % 3, "b": n // 3} for n in range(9)])
    low_a = SingleColumnCondition("a", 1, LESS_EQUAL)
    zero_b = SingleColumnCondition("b", 0, EQUAL)
    assert kept(ots, all_of(AND, low_a, zero_b)) == [0, 1]
    assert kept(ots, all_of(OR, low_a, zero_b)) == [0, 1, 2, 3, 4, 6, 7]
    assert kept(ots, all_of(NOT, zero_b)) == [3, 4, 5, 6, 7, 8]
    nested = all_of(AND, all_of(NOT, all_of(OR, low_a, zero_b)), low_a)
    assert kept(ots, nested) == []
    assert kept(ots, all_of(NOT, all_of(AND, low_a, all_of(NOT, zero_b)))) == [0, 1, 2, 5, 8]


def test_missing_columns_pass_or_not(ots: OTSClient) -> None:
    create(ots)
    write(ots, [{"exists": 0} for _ in range(3)])
    for exists_passes in (True, False):
        exists = SingleColumnCondition("exists", 0, EQUAL, exists_passes)
        for missing_passes in (True, False):
            missing = SingleColumnCondition("missing", 0, EQUAL, missing_passes)
            expected = [0, 1, 2] if missing_passes else []
            assert kept(ots, all_of(AND, exists, missing)) == expected


def test_a_filter_sees_the_columns_that_are_read(ots: OTSClient) -> None:
    create(ots)
    write(ots, [{"a": 1, "b": 1}])
    b_is_two = SingleColumnCondition("b", 2, EQUAL)
    assert kept(ots, b_is_two) == []
    assert kept(ots, b_is_two, columns_to_get=["a"]) == [0]  # not read is missing


def test_a_filter_looks_at_one_version_or_at_all(ots: OTSClient) -> None:
    create(ots, max_version=10)
    now = SystemClock().now_us() // 1000
    ots.put_row("t", Row([("pk", 0)], [("c", n, now + n) for n in range(10)]), IGNORE)
    cases = [(1, EQUAL, True, []), (1, EQUAL, False, [0]), (3, GREATER, False, [0])]
    for value, comparator, latest, expected in cases:
        condition = SingleColumnCondition("c", value, comparator, True, latest)  # noqa: FBT003  # by place
        assert kept(ots, condition, max_version=10) == expected


def test_a_row_that_does_not_pass_is_none(ots: OTSClient) -> None:
    create(ots)
    write(ots, [{"c": 1}])
    condition = SingleColumnCondition("c", 2, EQUAL)
    consumed, row, _ = ots.get_row("t", [("pk", 0)], column_filter=condition)
    assert (row, consumed.read) == (None, 1)


def test_part_of_a_text_is_compared_as_a_number(ots: OTSClient) -> None:
    create(ots)
    texts: list[dict[str, object]] = [{"c": text} for text in ("t1-7", "t1-70", "t2-x", "8")]
    write(ots, [*texts, {"d": "t1-7"}])
    number = RegexRule("t1-([0-9]+)", CastType.VT_INTEGER)
    assert kept(ots, SingleColumnRegexCondition("c", GREATER, 7, number)) == [1]
    assert kept(ots, SingleColumnRegexCondition("c", LESS_EQUAL, 70, number)) == [0, 1]
    assert kept(ots, SingleColumnRegexCondition("c", ComparatorType.EXIST)) == [0, 1, 2, 3]
    assert kept(ots, SingleColumnRegexCondition("c", ComparatorType.NOT_EXIST)) == [4]


def test_a_filter_has_at_most_32_nodes(ots: OTSClient) -> None:
    create(ots)
    write(ots, [{"c": 1}])
    leaves = [SingleColumnCondition("c", n, EQUAL) for n in range(32)]
    chain = reduce(lambda inner, _: all_of(NOT, inner), range(100), leaves[0])
    assert kept(ots, all_of(OR, *leaves[:31])) == [0]
    for condition in (all_of(OR, *leaves), chain):
        with pytest.raises(OTSServiceError) as caught:
            kept(ots, condition)
        message = "The count of filter exceeds the max: 32."
        assert refusal(caught) == (400, "OTSParameterInvalid", message)


def test_operators_need_their_number_of_operands(ots: OTSClient) -> None:
    create(ots)
    leaf = SingleColumnCondition("c", 1, EQUAL)
    not_message = "Invalid NOT operator: the number of sub-filters must be 1."
    message = "Invalid AND/OR operator: the number of sub-filters must be more than 1."
    cases = [
        (all_of(NOT, leaf, leaf), not_message),
        (all_of(AND, leaf), message),
        (all_of(OR, leaf), message),
    ]
    for condition, expected in cases:
        with pytest.raises(OTSServiceError) as caught:
            kept(ots, condition)
        assert refusal(caught) == (400, "OTSParameterInvalid", expected)


# --- conditions of writes (semantics §4.1) --------------------------------------------------------


def test_a_write_happens_only_if_its_condition_holds(ots: OTSClient) -> None:
    create(ots)
    key = [("pk", 0)]
    write(ots, [{"stock": 3}])
    enough = SingleColumnCondition("stock", 0, GREATER)
    held = Condition(RowExistenceExpectation.EXPECT_EXIST, enough)
    for _ in range(3):
        ots.update_row("t", Row(key, {"INCREMENT": [("stock", -1)]}), held)
    actions: list[Callable[[], object]] = [
        lambda: ots.update_row("t", Row(key, {"INCREMENT": [("stock", -1)]}), held),
        lambda: ots.put_row("t", Row(key, [("stock", 9)]), held),
        lambda: ots.delete_row("t", Row(key), held),
    ]
    for action in actions:
        with pytest.raises(OTSServiceError) as caught:
            action()
        assert refusal(caught) == (403, "OTSConditionCheckFail", "Condition check failed.")
    row = ots.get_row("t", key)[1]
    assert [(name, value) for name, value, _ in row.attribute_columns] == [("stock", 0)]


@pytest.mark.parametrize("passes", [True, False])
def test_on_an_absent_row_every_column_is_missing(ots: OTSClient, passes: bool) -> None:  # noqa: FBT001  # a case
    create(ots)
    free = SingleColumnCondition("price", 0, EQUAL, passes)
    condition = Condition(RowExistenceExpectation.EXPECT_NOT_EXIST, free)
    row = Row([("pk", 0)], [("price", 0)])
    if passes:
        ots.put_row("t", row, condition)  # a second one meets a row
    with pytest.raises(OTSServiceError) as caught:
        ots.put_row("t", row, condition)
    assert refusal(caught)[:2] == (403, "OTSConditionCheckFail")


# --- pages of columns (semantics §5.3) ------------------------------------------------------------


class Columns(NamedTuple):
    """A page of the columns of every row: the vendor's other SDKs can ask for it."""

    offset: int
    limit: int


@pytest.fixture
def _pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK has the message of the filter and no class for it: teach its encoder."""
    encode = OTSProtoBufferEncoder._make_column_condition

    def encode_too(self: OTSProtoBufferEncoder, proto: messages.Filter, wanted: object) -> None:
        if not isinstance(wanted, Columns):
            encode(self, proto, wanted)
            return
        page = messages.ColumnPaginationFilter(offset=wanted.offset, limit=wanted.limit)
        proto.type = messages.FT_COLUMN_PAGINATION
        proto.filter = page.SerializeToString()

    monkeypatch.setattr(OTSProtoBufferEncoder, "_make_column_condition", encode_too)


@pytest.mark.usefixtures("_pages")
def test_columns_are_read_in_pages(ots: OTSClient) -> None:
    create(ots)
    write(ots, [{f"c{n}": n for n in range(5)}, {"a": 1}])
    for offset, limit in ((0, 2), (2, 2), (4, 2), (0, 9)):
        row = ots.get_row("t", [("pk", 0)], column_filter=Columns(offset, limit))[1]
        names = [name for name, _, _ in row.attribute_columns]
        assert names == [f"c{n}" for n in range(5)][offset : offset + limit]
    for page, message in (
        (Columns(-1, 1), "Offset in ColumnPaginationFilter must be greater than or equal to 0."),
        (Columns(0, 0), "Limit in ColumnPaginationFilter must be greater than 0."),
    ):
        with pytest.raises(OTSServiceError) as caught:
            ots.get_row("t", [("pk", 0)], column_filter=page)
        assert refusal(caught) == (400, "OTSParameterInvalid", message)
