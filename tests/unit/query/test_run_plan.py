"""Operators against plain Python: the rows they give, NULL, budgets."""

import operator
from collections.abc import Iterator
from functools import cmp_to_key
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.query import aggregates as a
from widerow.query.budget import QueryBudget, QueryLimits, QueryResource, QueryStopped
from widerow.query.execute import run_plan
from widerow.query.expression import (
    And,
    Branch,
    Choice,
    Constant,
    Expression,
    FunctionCall,
    InputColumn,
    IsNull,
    Not,
    Or,
    vector_of,
)
from widerow.query.plan import (
    Aggregate,
    AggregateCall,
    Distinct,
    Join,
    JoinKind,
    Limit,
    Operator,
    Order,
    Project,
    RowFilter,
    Scan,
    Sort,
)
from widerow.query.relation import Chunk, RelationColumn, chunks_of

Row = tuple[Any, ...]
VALUES = st.none() | st.integers(-2, 2)
TABLES = st.lists(st.tuples(VALUES, VALUES), max_size=12)
COLUMNS = (RelationColumn("a", None), RelationColumn("b", None))
A, B = InputColumn(0), InputColumn(1)
PLENTY = QueryLimits(10**6, 10**9, 10**6, 10**9)


def budget(limits: QueryLimits = PLENTY) -> QueryBudget:
    return QueryBudget(limits, lambda: 0)


def scan(name: str = "t") -> Scan:
    return Scan(name, COLUMNS)


def run(plan: Operator, *tables: list[Row], used: QueryBudget | None = None) -> list[Row]:
    """The rows of a plan over tables t, u, …, which come in chunks of three rows."""
    counted = used or budget()

    def rows(source: Scan) -> Iterator[Chunk]:
        table = tables["tu".index(source.source)]
        for first in range(0, len(table), 3):
            (chunk,) = chunks_of(table[first : first + 3], 2)
            counted.read(chunk.rows, 10 * chunk.rows)
            yield chunk

    found: list[Row] = []
    for chunk in run_plan(plan, rows, counted):
        assert all(len(values) == chunk.rows for values in chunk.columns)
        found += zip(*chunk.columns, strict=True) if chunk.columns else [()] * chunk.rows
    return found


def less(one: Expression, other: Expression) -> FunctionCall:
    return FunctionCall("<", operator.lt, (one, other))


# --- expressions -----------------------------------------------------------------------------

TRUTHS = [True, False, None]


@pytest.mark.parametrize("left", TRUTHS)
@pytest.mark.parametrize("right", TRUTHS)
def test_conditions_follow_three_valued_logic(*, left: bool | None, right: bool | None) -> None:
    chunk = Chunk(1, ([left], [right]))
    both = False if False in (left, right) else None if None in (left, right) else True
    one = True if True in (left, right) else None if None in (left, right) else False
    assert list(vector_of(And((A, B)))(chunk)) == [both]
    assert list(vector_of(Or((A, B)))(chunk)) == [one]
    assert list(vector_of(Not(A))(chunk)) == [None if left is None else not left]


def test_what_does_not_matter_is_not_evaluated() -> None:
    def fail(value: int) -> bool:
        if value == 0:
            raise AssertionError("evaluated")
        return value > 1

    chunk = Chunk(3, ([0, 1, 2], [None, None, None]))
    is_zero = FunctionCall("=", operator.eq, (A, Constant(0)))
    checked = FunctionCall("f", fail, (A,))
    assert list(vector_of(Or((is_zero, checked)))(chunk)) == [True, False, True]
    assert list(vector_of(And((Not(is_zero), checked)))(chunk)) == [False, False, True]
    choice = Choice((Branch(is_zero, Constant("zero")),), checked)
    assert list(vector_of(choice)(chunk)) == ["zero", False, True]


def test_a_strict_function_of_null_is_null_and_a_constant_keeps_its_place() -> None:
    chunk = Chunk(2, ([5, None], [2, 1]))
    minus = operator.sub
    assert list(vector_of(FunctionCall("-", minus, (A, Constant(3))))(chunk)) == [2, None]
    assert list(vector_of(FunctionCall("-", minus, (Constant(3), A)))(chunk)) == [-2, None]
    assert list(vector_of(FunctionCall("-", minus, (A, B)))(chunk)) == [3, None]
    assert list(vector_of(FunctionCall("-", minus, (A, Constant(None))))(chunk)) == [None, None]
    pair = FunctionCall("pair", lambda *given: given, (A, B, A), strict=False)
    assert list(vector_of(pair)(chunk)) == [(5, 2, 5), (None, 1, None)]


# --- rows ------------------------------------------------------------------------------------


@given(TABLES)
def test_a_filter_keeps_rows_for_which_the_condition_is_true(table: list[Row]) -> None:
    kept = [(x, y) for x, y in table if x is not None and y is not None and x < y and x != 0]
    different = FunctionCall("!=", operator.ne, (A, Constant(0)))
    assert run(RowFilter(scan(), And((less(A, B), different))), table) == kept


@given(TABLES, st.none() | st.integers(0, 13), st.integers(0, 13))
def test_a_limit_cuts_rows_out(table: list[Row], count: int | None, offset: int) -> None:
    end = None if count is None else offset + count
    assert run(Limit(scan(), count, offset), table) == table[offset:end]


@given(TABLES)
def test_distinct_rows_come_once(table: list[Row]) -> None:
    assert run(Distinct(scan()), table) == list(dict.fromkeys(table))


@given(TABLES, st.tuples(st.booleans(), st.booleans()), st.none() | st.integers(0, 5))
def test_a_sort_puts_null_first_upwards_and_last_downwards(
    table: list[Row], down: tuple[bool, bool], first: int | None
) -> None:
    def compare(one: Row, other: Row) -> int:
        for x, y, turned in zip(one, other, down, strict=True):
            left, right = (x is not None, x or 0), (y is not None, y or 0)
            if left != right:
                return (1 if left > right else -1) * (-1 if turned else 1)
        return 0

    orders = (Order(A, down[0]), Order(B, down[1]))
    wanted = sorted(table, key=cmp_to_key(compare))[:first]
    assert run(Sort(scan(), orders, first), table) == wanted


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_null_may_be_put_at_either_end(*, down: bool, last: bool) -> None:
    table = [(1, 0), (None, 0), (2, 0)]
    numbers = [2, 1] if down else [1, 2]
    wanted = [*numbers, None] if last else [None, *numbers]
    assert [x for x, _ in run(Sort(scan(), (Order(A, down, last),)), table)] == wanted


@given(TABLES)
def test_groups_come_in_the_order_of_their_first_rows(table: list[Row]) -> None:
    calls = (
        AggregateCall("count", Constant(1), a.CountRows),
        AggregateCall("count", B, a.Count),
        AggregateCall("sum", B, lambda: a.Sum(int)),
        AggregateCall("mean", B, a.Mean),
        AggregateCall("max", B, lambda: a.Best(operator.gt)),
        AggregateCall("first", B, a.First),
        AggregateCall("count", B, a.Count, distinct=True),
    )
    columns = tuple(RelationColumn("", None) for _ in range(1 + len(calls)))
    groups: dict[Any, list[Any]] = {}
    for x, y in table:
        groups.setdefault(x, []).append(y)
    wanted = []
    for key, ys in groups.items():
        known = [y for y in ys if y is not None]
        mean = sum(known) / len(known) if known else None
        wanted.append(
            (
                *(key, len(ys), len(known), sum(known) if known else None, mean),
                *(max(known, default=None), ys[0], len(set(known))),
            )
        )
    assert run(Aggregate(scan(), (A,), calls, columns), table) == wanted


def test_without_keys_no_rows_are_one_group() -> None:
    calls = (
        AggregateCall("count", Constant(1), a.CountRows),
        AggregateCall("sum", A, lambda: a.Sum(int)),
        AggregateCall("all", A, lambda: a.Collected(tuple)),
        AggregateCall("variance", A, lambda: a.Moments(lambda count, squares: squares / count)),
    )
    columns = tuple(RelationColumn("", None) for _ in calls)
    assert run(Aggregate(scan(), (), calls, columns), []) == [(0, None, None, None)]
    table = [(2, 0), (None, 0), (4, 0)]
    assert run(Aggregate(scan(), (), calls, columns), table) == [(3, 6, (2, 4), 1.0)]


@given(left=TABLES, right=TABLES, kind=st.sampled_from(JoinKind), keyed=st.booleans())
def test_a_join_pairs_rows_with_equal_keys(
    left: list[Row], right: list[Row], kind: JoinKind, *, keyed: bool
) -> None:
    keys = (A,) if keyed else ()
    plan = Join(scan("t"), scan("u"), kind, keys, keys, less(InputColumn(1), InputColumn(3)))
    wanted: list[Row] = []
    for one in left:
        partners = [
            other
            for other in right
            if (not keyed or (one[0] is not None and one[0] == other[0]))
            and None not in (one[1], other[1])
            and one[1] < other[1]
        ]
        wanted += [one + other for other in partners]
        if not partners and kind is JoinKind.LEFT:
            wanted.append((*one, None, None))
    found = run(plan, left, right)
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))


# --- budgets ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "resource"),
    [
        (QueryLimits(5, 10**9, 10**6, 10**9), QueryResource.ROWS_READ),
        (QueryLimits(10**6, 50, 10**6, 10**9), QueryResource.BYTES_READ),
        (QueryLimits(10**6, 10**9, 10, 10**9), QueryResource.VALUES_HELD),
    ],
)
def test_a_query_stops_where_it_has_used_what_it_may(
    limits: QueryLimits, resource: QueryResource
) -> None:
    table: list[Row] = [(n, n) for n in range(9)]
    with pytest.raises(QueryStopped) as stopped:
        run(Sort(scan(), (Order(A),)), table, used=budget(limits))
    assert stopped.value.resource is resource


def test_a_query_stops_when_its_time_is_over() -> None:
    times = iter([0, 1_000_000, 3_000_000, 3_000_000])
    late = QueryBudget(QueryLimits(99, 999, 99, 2_000_000), lambda: next(times))
    with pytest.raises(QueryStopped, match="2 seconds"):
        run(scan(), [(n, n) for n in range(9)], used=late)


def test_the_first_rows_of_a_sort_hold_no_more_than_their_part() -> None:
    table: list[Row] = [(n % 97, n) for n in range(30_000)]
    few = budget(QueryLimits(10**6, 10**9, 4 * 4096, 10**9))
    assert run(Sort(scan(), (Order(A), Order(B)), 3), table, used=few) == [
        (0, 0),
        (0, 97),
        (0, 194),
    ]


def test_a_projection_and_is_null() -> None:
    columns = (RelationColumn("x", None),)
    assert run(Project(scan(), (IsNull(A),), columns), [(None, 1), (2, 2)]) == [(True,), (False,)]
