"""Runs a plan: each operator is a generator of chunks over those below it.

Memory: a chunk for each operator, and what sorts, groups, distinct rows and the right sides of
joins hold, which the budget counts. Time: linear in the rows read and paired, and for a sort in
n log n of its rows.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, repeat
from typing import Any, Final

from widerow.query.budget import QueryBudget
from widerow.query.expression import And, InputColumn, Vector, vector_of
from widerow.query.plan import (
    Aggregate,
    Distinct,
    Join,
    JoinKind,
    Limit,
    Operator,
    Order,
    Project,
    RowFilter,
    Rows,
    Scan,
    Sort,
)
from widerow.query.relation import CHUNK_ROWS, Chunk, Values, both_sides, chunks_of, taken

__all__ = ["ReadRows", "run_plan"]

ReadRows = Callable[[Scan], Iterator[Chunk]]
"""Reads the rows of a scan, and tells the budget how many."""


def run_plan(plan: Operator, rows: ReadRows, budget: QueryBudget) -> Iterator[Chunk]:
    """The rows of a plan. Raises `QueryStopped`, and the errors of `rows` and of expressions."""
    if isinstance(plan, Scan):
        return _checked(rows(plan), budget)
    return _RUNNERS[type(plan)](plan, lambda below: run_plan(below, rows, budget), budget)


_Below = Callable[[Operator], Iterator[Chunk]]


def _checked(chunks: Iterator[Chunk], budget: QueryBudget) -> Iterator[Chunk]:
    for chunk in chunks:
        budget.check()
        yield chunk


def _rows(plan: Rows, _below: _Below, _budget: QueryBudget) -> Iterator[Chunk]:
    return iter((plan.chunk,))


def _filter(plan: RowFilter, below: _Below, _budget: QueryBudget) -> Iterator[Chunk]:
    condition = plan.condition
    parts = condition.parts if isinstance(condition, And) else (condition,)
    tests = [vector_of(each) for each in parts]
    for chunk in below(plan.below):
        kept = chunk
        for test in tests:
            truths = test(kept)
            kept = taken(kept, [row for row, truth in enumerate(truths) if truth is True])
            if not kept.rows:
                break
        if kept.rows:
            yield kept


def _project(plan: Project, below: _Below, _budget: QueryBudget) -> Iterator[Chunk]:
    places = [each.position for each in plan.expressions if isinstance(each, InputColumn)]
    if len(places) == len(plan.expressions):
        for chunk in below(plan.below):
            yield Chunk(chunk.rows, tuple([chunk.columns[place] for place in places]))
        return
    vectors = [vector_of(each) for each in plan.expressions]
    for chunk in below(plan.below):
        yield Chunk(chunk.rows, tuple([vector(chunk) for vector in vectors]))


def _limit(plan: Limit, below: _Below, _budget: QueryBudget) -> Iterator[Chunk]:
    skipped, left = plan.offset, plan.count
    if left == 0:
        return
    for chunk in below(plan.below):
        first = min(skipped, chunk.rows)
        skipped -= first
        last = chunk.rows if left is None else min(chunk.rows, first + left)
        if first < last:
            yield taken(chunk, range(first, last))
        if left is not None:
            left -= last - first
            if left <= 0:
                return


def _distinct(plan: Distinct, below: _Below, budget: QueryBudget) -> Iterator[Chunk]:
    seen: set[tuple[Any, ...]] = set()
    for chunk in below(plan.below):
        fresh = []
        for row, values in enumerate(_tuples(chunk.columns, chunk.rows)):
            if values not in seen:
                seen.add(values)
                fresh.append(row)
        budget.hold(len(fresh) * max(1, len(chunk.columns)))
        if fresh:
            yield taken(chunk, fresh)


def _tuples(columns: tuple[Values, ...], rows: int) -> Iterator[tuple[Any, ...]]:
    return zip(*columns, strict=True) if columns else repeat((), rows)


# --- sorts -----------------------------------------------------------------------------------


def _sort(plan: Sort, below: _Below, budget: QueryBudget) -> Iterator[Chunk]:
    keys = [vector_of(order.by) for order in plan.orders]
    width = len(plan.columns)
    held: list[tuple[Any, ...]] = []  # the keys of a row, then its values
    for chunk in below(plan.below):
        columns = (*[vector(chunk) for vector in keys], *chunk.columns)
        before = len(held)
        held += _tuples(columns, chunk.rows)
        budget.hold((len(held) - before) * len(columns))
        if plan.first is not None and len(held) > 2 * plan.first + CHUNK_ROWS:
            surplus = len(held) - plan.first
            _order(held, plan.orders)
            del held[plan.first :]
            budget.hold(-surplus * len(columns))
    _order(held, plan.orders)
    if plan.first is not None:
        del held[plan.first :]
    rows = (row[len(keys) :] for row in held)
    yield from chunks_of(rows, width)
    budget.hold(-len(held) * (width + len(keys)))


def _order(rows: list[tuple[Any, ...]], orders: tuple[Order, ...]) -> None:
    """Sort by the last key first: a sort leaves rows with equal keys in the order they had."""
    for position in reversed(range(len(orders))):
        order = orders[position]
        high = order.nulls_last is not None and order.nulls_last is not order.descending
        rows.sort(key=partial(_sort_key, position, high), reverse=order.descending)


def _sort_key(position: int, null_high: bool, row: tuple[Any, ...]) -> tuple[bool, Any]:  # noqa: FBT001  # a rank
    """A value's rank: NULL is above all values, or below."""
    value = row[position]
    return (null_high, 0) if value is None else (not null_high, value)


# --- groups ----------------------------------------------------------------------------------


def _aggregate(plan: Aggregate, below: _Below, budget: QueryBudget) -> Iterator[Chunk]:
    keys = [vector_of(each) for each in plan.keys]
    arguments = [vector_of(each.argument) for each in plan.calls]
    states = [each.start() for each in plan.calls]
    seen: list[set[tuple[int, Any]] | None] = [set() if c.distinct else None for c in plan.calls]
    numbers: dict[Any, int] = {}
    for chunk in below(plan.below):
        known = len(numbers)
        groups = _numbered(numbers, [vector(chunk) for vector in keys], chunk.rows)
        budget.hold((len(numbers) - known) * (len(keys) + len(states)))
        for argument, state, met in zip(arguments, states, seen, strict=True):
            if met is None:
                state.add(groups, argument(chunk))
            else:
                before = len(met)
                state.add(*_not_met(met, groups, argument(chunk)))
                budget.hold(len(met) - before)
    count = len(numbers) if keys else 1
    columns = _key_columns(list(numbers), len(keys))
    results = tuple([state.results(count) for state in states])
    yield from _divided(Chunk(count, columns + results))


def _numbered(numbers: dict[Any, int], keys: list[Values], rows: int) -> list[int]:
    """The number of each row's group; new groups get the next ones. One key is not wrapped."""
    if not keys:
        return [0] * rows
    values = keys[0] if len(keys) == 1 else zip(*keys, strict=True)
    return [numbers.setdefault(each, len(numbers)) for each in values]


def _key_columns(keys: list[Any], width: int) -> tuple[Values, ...]:
    if width <= 1:
        return (keys,) * width
    return tuple(zip(*keys, strict=True)) if keys else ((),) * width


def _not_met(
    met: set[tuple[int, Any]], groups: list[int], values: Values
) -> tuple[list[int], list[Any]]:
    """The rows whose value is new to their group."""
    fresh: list[tuple[int, Any]] = []
    for pair in zip(groups, values, strict=True):
        if pair not in met:
            met.add(pair)
            fresh.append(pair)
    return [group for group, _ in fresh], [value for _, value in fresh]


def _divided(chunk: Chunk) -> Iterator[Chunk]:
    for first in range(0, chunk.rows, CHUNK_ROWS):
        last = min(chunk.rows, first + CHUNK_ROWS)
        yield Chunk(last - first, tuple([values[first:last] for values in chunk.columns]))


# --- joins -----------------------------------------------------------------------------------


def _join(plan: Join, below: _Below, budget: QueryBudget) -> Iterator[Chunk]:
    right = _held(below(plan.right), len(plan.right.columns), budget)
    partners = _by_key(_join_keys([vector_of(each) for each in plan.right_keys], right))
    keys = [vector_of(each) for each in plan.left_keys]
    holds = None if plan.condition is None else vector_of(plan.condition)
    keeps_alone = plan.kind is JoinKind.LEFT
    for chunk in below(plan.left):
        met = set[int]()
        for lefts, rights in _pairs(_join_keys(keys, chunk), partners):
            budget.check()
            found = both_sides(_at(chunk, lefts), _at(right, rights))
            kept = lefts
            if holds is not None:
                truths = [row for row, truth in enumerate(holds(found)) if truth is True]
                kept, found = [lefts[row] for row in truths], taken(found, truths)
            if keeps_alone:
                met.update(kept)
            if found.rows:
                yield found
        if keeps_alone and len(met) < chunk.rows:
            alone = [row for row in range(chunk.rows) if row not in met]
            empty = tuple([[None] * len(alone) for _ in right.columns])
            yield both_sides(taken(chunk, alone), Chunk(len(alone), empty))


def _join_keys(keys: list[Vector], chunk: Chunk) -> Iterable[Any]:
    """The key of each row; None where a part of it is NULL. A key of one part is not wrapped."""
    if len(keys) == 1:
        return keys[0](chunk)
    rows = _tuples(tuple([vector(chunk) for vector in keys]), chunk.rows)
    return (None if None in key else key for key in rows)


def _at(chunk: Chunk, rows: list[int]) -> Chunk:
    """Rows at these positions, each as often as it is named."""
    return Chunk(len(rows), tuple([[values[row] for row in rows] for values in chunk.columns]))


def _held(chunks: Iterator[Chunk], width: int, budget: QueryBudget) -> Chunk:
    parts = []
    for chunk in chunks:
        budget.hold(chunk.rows * max(1, width))
        parts.append(chunk)
    columns = [list(chain.from_iterable(part.columns[i] for part in parts)) for i in range(width)]
    return Chunk(sum(part.rows for part in parts), tuple(columns))


def _by_key(keys: Iterable[Any]) -> dict[Any, list[int]]:
    """The positions of the rows of each key that is not None."""
    found: dict[Any, list[int]] = {}
    for row, key in enumerate(keys):
        if key is not None:
            rows = found.get(key)
            if rows is None:
                found[key] = [row]
            else:
                rows.append(row)
    return found


def _pairs(
    wanted: Iterable[Any], partners: dict[Any, list[int]]
) -> Iterator[tuple[list[int], list[int]]]:
    """Rows of the left side, and for each of them a partner; some thousand pairs at a time."""
    lefts: list[int] = []
    rights: list[int] = []
    for left, key in enumerate(wanted):
        found = partners.get(key, ()) if key is not None else ()
        for first in range(0, len(found), CHUNK_ROWS):
            some = found[first : first + CHUNK_ROWS]
            lefts += repeat(left, len(some))
            rights += some
            if len(lefts) >= CHUNK_ROWS:
                yield lefts, rights
                lefts, rights = [], []
    if lefts:
        yield lefts, rights


_RUNNERS: Final[dict[type, Callable[[Any, _Below, QueryBudget], Iterator[Chunk]]]] = {
    Rows: _rows,
    RowFilter: _filter,
    Project: _project,
    Aggregate: _aggregate,
    Sort: _sort,
    Distinct: _distinct,
    Limit: _limit,
    Join: _join,
}
