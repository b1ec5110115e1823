"""Running a SELECT: a page of its rows, and where the next one begins (ddl §3; nosql-wire §6).

Rows stream where the order of the scan is the order of the result. Other orders and distinct rows
are made of one pass over all rows for each page, in memory for two pages; groups are held whole,
within a bound.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Context
from typing import Any, NamedTuple, final

from widerow.engine.between import Between
from widerow.engine.budget import Budget
from widerow.engine.typed.engine import TypedEngine
from widerow.errors import InvalidRequest
from widerow.limits import NOSQL_PAGE_BYTES_MAX
from widerow.wire.nosql.nson import EncodedValue
from widerow.wire.nosql.sql.aggregates import Holder, SqlAggregation, accumulator
from widerow.wire.nosql.sql.covered import KeyCovered
from widerow.wire.nosql.sql.items import SentRow
from widerow.wire.nosql.sql.lexis import TextPlace
from widerow.wire.nosql.sql.loops import Expr, Loop, Looping
from widerow.wire.nosql.sql.order_keys import SortWay, group_key, is_atomic, sort_key
from widerow.wire.nosql.sql.ordered_page import OrderedPage, OrderedRow
from widerow.wire.nosql.sql.resume import QUERY_START, QueryResume
from widerow.wire.nosql.sql.statement_rules import StatementRule

__all__ = [
    "PageBounds",
    "PageOfRows",
    "SelectPlan",
    "Sorting",
    "SqlAggregateCall",
    "SqlGrouping",
    "is_true",
    "select_page",
]


class Sorting(NamedTuple):
    """One expression of ORDER BY."""

    expression: Expr
    way: SortWay


class SqlAggregateCall(NamedTuple):
    """An aggregate function of a query, and the slot of the frame that its value is put in."""

    slot: int
    name: str
    argument: Expr | None
    distinct: bool = False
    symbols: tuple[str, ...] = ()


class SqlGrouping(NamedTuple):
    """What rows are grouped by, each with the slot its value is put in, and what is counted.

    `places`: where the former stand in the statement.
    """

    expressions: tuple[tuple[int, Expr], ...]
    aggregates: tuple[SqlAggregateCall, ...]
    places: tuple[TextPlace, ...]


@dataclass(frozen=True, slots=True)
class SelectPlan:
    """A SELECT, ready to run.

    `streams`: the loops give rows in the order of the result. `row` makes a result row of a frame;
    `outputs` are its expressions, for DISTINCT.
    """

    loops: tuple[Loop, ...]
    where: Expr | None
    row: Callable[[Any], SentRow]
    outputs: tuple[Expr, ...] = ()
    grouping: SqlGrouping | None = None
    distinct: bool = False
    sorting: tuple[Sorting, ...] = ()
    streams: bool = True
    covered: KeyCovered | None = None

    def condition(self, frame: Any) -> Expr | None:  # noqa: ANN401  # the frame of expressions
        """WHERE for the values of a run: without what its ranges fulfil. None is always true."""
        if self.covered is None or not self.covered.holds(frame):
            return self.where
        return self.covered.rest


class PageBounds(NamedTuple):
    """How much a page may hold: rows (0: any number), kilobytes read (0: the most).

    `limit`: of the whole statement, None without; `offset`: rows in front that are left out.
    `budget`: what the page may read, a step a record; None: until it is full.
    """

    rows: int = 0
    read_kb: int = 0
    limit: int | None = None
    offset: int = 0
    budget: Budget | None = None


class PageOfRows(NamedTuple):
    """A page; `resume`: where the next one begins, None: this is the last. `kb`: was read."""

    rows: list[SentRow]
    resume: QueryResume | None
    kb: int


def select_page(
    plan: SelectPlan,
    engine: TypedEngine,
    frame: Any,  # noqa: ANN401  # the frame of expressions
    bounds: PageBounds,
    resume: QueryResume,
    context: Context,
    between: Between,
) -> PageOfRows:
    """The rows of a page.

    Raises `InvalidRequest` for what expressions refuse and for bounds, `TooLong` for the budget.
    """
    if bounds.limit is not None and resume.returned >= bounds.limit:
        return PageOfRows([], None, 0)
    looping = Looping(engine, frame, plan.loops, between, bounds.budget)
    run = _Run(plan, plan.condition(frame), looping, frame)
    if plan.streams:
        return _streamed(run, bounds, resume)
    rows_max = _rows_wanted(bounds, resume) + bounds.offset - resume.skipped
    page = OrderedPage(resume.position, rows_max, NOSQL_PAGE_BYTES_MAX)
    if plan.grouping is None:
        _fill(run, page)
    else:
        groups = _grouped(run, plan.grouping, context)
        _fill_groups(plan, plan.grouping, frame, groups, page)
    return _cut(page, bounds, resume, run.looping.counted_kb)


@final
class _Run:
    """A plan that is run: `where` is what is left of WHERE for the values of this run."""

    __slots__ = ("frame", "looping", "plan", "where")

    def __init__(self, plan: SelectPlan, where: Expr | None, looping: Looping, frame: Any) -> None:  # noqa: ANN401  # the frame of expressions
        self.plan = plan
        self.where = where
        self.looping = looping
        self.frame = frame

    def true_places(self) -> Iterator[None]:
        """Every place at which WHERE is true, as the frame stands at it."""
        for is_place in self.looping.places(QUERY_START):
            if is_place and (self.where is None or is_true(self.where, self.frame)):
                yield


def _rows_wanted(bounds: PageBounds, resume: QueryResume) -> int:
    most = bounds.rows or NOSQL_PAGE_BYTES_MAX
    return most if bounds.limit is None else min(most, bounds.limit - resume.returned)


def _streamed(run: _Run, bounds: PageBounds, resume: QueryResume) -> PageOfRows:
    rows: list[SentRow] = []
    skipped, returned, size = resume.skipped, resume.returned, 0
    wanted, limit, offset = _rows_wanted(bounds, resume), bounds.limit, bounds.offset
    where, make, looping, frame = run.where, run.plan.row, run.looping, run.frame
    read_max = min(bounds.read_kb or _PAGE_KB, _PAGE_KB)
    for is_place in looping.places(resume):
        if is_place and (where is None or is_true(where, frame)):
            if skipped < offset:
                skipped += 1
            else:
                row = make(frame)
                rows.append(row)
                size += _size(row)
                returned += 1
        if returned == limit:
            break
        full = len(rows) == wanted or size > NOSQL_PAGE_BYTES_MAX or looping.kb > read_max
        if full and looping.position:
            following = QueryResume(skipped, returned, looping.position, looping.within)
            return PageOfRows(rows, following, looping.counted_kb)
    return PageOfRows(rows, None, looping.counted_kb)


_PAGE_KB = NOSQL_PAGE_BYTES_MAX // 1024


def _fill(run: _Run, page: OrderedPage) -> None:
    plan, looping, frame = run.plan, run.looping, run.frame
    for _ in run.true_places():
        head = _order_key(plan.sorting, frame)
        if plan.distinct:
            items = [expression.evaluate(frame) for expression in plan.outputs]
            if not all(items):
                continue
            tail = b"".join([group_key(each) for each in items])
        else:
            tail = looping.position + (looping.within + 1).to_bytes(8, "big")
        key = head + tail
        if page.wants(key):
            row = plan.row(frame)
            page.take(OrderedRow(key, row, _size(row) + len(key)))


def _order_key(sorting: Sequence[Sorting], frame: Any) -> bytes:  # noqa: ANN401  # the frame of expressions
    parts: list[bytes] = []
    for expression, way in sorting:
        items = expression.evaluate(frame)
        if len(items) > 1 or (items and not is_atomic(items[0])):
            raise InvalidRequest(StatementRule.SORT_ATOMIC)
        parts.append(sort_key(items, way))
    return b"".join(parts)


class _Group(NamedTuple):
    values: list[Sequence[Any]]
    aggregates: list[SqlAggregation]


def _fill_groups(
    plan: SelectPlan,
    grouping: SqlGrouping,
    frame: Any,  # noqa: ANN401  # the frame of expressions
    groups: dict[bytes, _Group],
    page: OrderedPage,
) -> None:
    for key, group in groups.items():
        for (slot, _), items in zip(grouping.expressions, group.values, strict=True):
            frame.items[slot] = items
        for call, aggregate in zip(grouping.aggregates, group.aggregates, strict=True):
            frame.items[call.slot] = [aggregate.result()]
        whole = _order_key(plan.sorting, frame) + key + b"\x01"
        if page.wants(whole):
            row = plan.row(frame)
            page.take(OrderedRow(whole, row, _size(row) + len(whole)))


def _grouped(run: _Run, grouping: SqlGrouping, context: Context) -> dict[bytes, _Group]:
    """All groups by their keys; rows with EMPTY to group by are in none."""
    frame = run.frame
    holder = Holder()
    groups: dict[bytes, _Group] = {}
    if not grouping.expressions:
        groups[b""] = _Group([], _accumulators(grouping, context, holder))
    for _ in run.true_places():
        values = [expression.evaluate(frame) for _, expression in grouping.expressions]
        for items, place in zip(values, grouping.places, strict=True):
            if len(items) > 1:
                raise InvalidRequest(
                    StatementRule.SEVERAL_ITEMS, line=place.line, column=place.column
                )
        if not all(values):
            continue
        key = b"".join([group_key(items) for items in values])
        group = groups.get(key)
        if group is None:
            holder.hold(len(values) + len(grouping.aggregates) + 1)
            group = groups[key] = _Group(values, _accumulators(grouping, context, holder))
        for call, aggregate in zip(grouping.aggregates, group.aggregates, strict=True):
            aggregate.add(() if call.argument is None else call.argument.evaluate(frame))
    return groups


def _accumulators(grouping: SqlGrouping, context: Context, holder: Holder) -> list[SqlAggregation]:
    return [
        accumulator(
            call.name,
            distinct=call.distinct,
            star=call.argument is None,
            symbols=call.symbols,
            context=context,
            holder=holder,
        )
        for call in grouping.aggregates
    ]


def _cut(page: OrderedPage, bounds: PageBounds, resume: QueryResume, kb: int) -> PageOfRows:
    """The rows of a page without those of OFFSET, and where the next one begins."""
    rows, more = page.rows()
    leave = min(len(rows), bounds.offset - resume.skipped)
    kept = [row.row for row in rows[leave:]]
    done = resume.returned + len(kept)
    if more is None or done == bounds.limit:
        return PageOfRows(kept, None, kb)
    following = replace(
        resume, skipped=resume.skipped + leave, returned=done, position=rows[-1].key
    )
    return PageOfRows(kept, following, kb)


def is_true(condition: Expr, frame: Any) -> bool:  # noqa: ANN401  # the frame of expressions
    """Whether a condition is true, and not false, NULL or EMPTY."""
    items = condition.evaluate(frame)
    return len(items) == 1 and items[0] is True


def _size(value: Any) -> int:  # noqa: ANN401  # any value of a query
    """About how many bytes a value takes on the wire."""
    if isinstance(value, EncodedValue):
        return len(value.data)
    if isinstance(value, str | bytes):
        return len(value) + 4
    if isinstance(value, dict):
        return 12 + sum([len(name) + _size(each) for name, each in value.items()])
    if isinstance(value, list):
        return 12 + sum(map(_size, value))
    return 9
