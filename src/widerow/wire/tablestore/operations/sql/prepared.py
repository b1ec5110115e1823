"""Plans of plain queries, kept by their texts without the values that columns are equal to.

Kept are queries of one table by a whole primary key or index key, each condition `column = value`,
and queries without values such as an ordered page; neither has functions, groups or joins. Their
plans depend on nothing but the text and the catalogue, and values stand in them as they are
written: `keep` takes no plan that binding its own values does not give again. A plan is valid for
the state of the catalogue that it was made on, and for no other.
"""

import re
from dataclasses import replace
from typing import Any, Final, NamedTuple

from sqlglot import exp

from widerow.engine.catalog.state import CatalogState
from widerow.engine.scan import Bound, RowAccess
from widerow.limits import LENGTHY_RANGE_ROWS
from widerow.query.access import KeyRanges
from widerow.query.expression import And, Constant, FunctionCall
from widerow.query.plan import Limit, Operator, Project, RowFilter, Scan, Sort
from widerow.wire.tablestore.operations.sql.bind import WITHOUT_PARENTHESES
from widerow.wire.tablestore.operations.sql.rows import limit_of
from widerow.wire.tablestore.operations.sql.select import PlannedQuery
from widerow.wire.tablestore.operations.sql.tables import TableScan

__all__ = ["PreparedQueries", "StatementShape", "shape_of"]

TEXT_MAX: Final = 2048
PLANS_MAX: Final = 256

_VALUE: Final = re.compile(
    r"(=[ \t\r\n]*)(?:'([^'\"\\]*)'(?![ \t\r\n]*')|([0-9]{1,18})(?=[ \t\r\n);]|\Z))"
)
_NOT_PLAIN: Final = re.compile(r"['\"`\\#]|--|/\*")
_PARTS: Final = (exp.Select, exp.From, exp.Table, exp.Identifier, exp.Column, exp.Star, exp.Alias)
_CONDITIONS: Final = (exp.Where, exp.And, exp.EQ, exp.Literal, exp.Paren, exp.Is, exp.Not, exp.Null)
_ENDS: Final = (exp.Order, exp.Ordered, exp.Limit, exp.Offset)
_PLAIN: Final = frozenset((*_PARTS, *_CONDITIONS, *_ENDS))


class StatementShape(NamedTuple):
    """The text of a query with marks in the places of its values, and the values."""

    text: str
    values: tuple[str | int, ...]


class _Kept(NamedTuple):
    """A plan, and the places of its values.

    `key`: of each column of the key that it reads; `rest`: of each condition on other columns.
    `short`: it reads few rows.
    """

    query: PlannedQuery
    key: tuple[int, ...]
    rest: tuple[int, ...]
    short: bool


def shape_of(text: str) -> StatementShape | None:
    """The shape of a SELECT; None where it has quotes or comments besides its values.

    What a value ends with is where the words of a statement end too: no escape, no suffix.
    """
    if len(text) > TEXT_MAX or text[:6].upper() != "SELECT" or "\0" in text:
        return None
    values: list[str | int] = []

    def mark(found: re.Match[str]) -> str:
        number: str | None = found[3]
        values.append(found[2] if number is None else int(number))
        return f"{found[1]}\0{'s' if number is None else 'n'}"

    marked = _VALUE.sub(mark, text)
    return None if _NOT_PLAIN.search(marked) else StatementShape(marked, tuple(values))


class PreparedQueries:
    """Plans made on one state of a catalogue, so many at most; any thread may call."""

    def __init__(self) -> None:
        self._of: tuple[CatalogState | None, dict[tuple[str, str], _Kept]] = (None, {})

    def find(
        self, state: CatalogState, instance: str, shape: StatementShape
    ) -> PlannedQuery | None:
        """The plan of a query with its values; None where none is kept."""
        of, plans = self._of
        kept = plans.get((instance, shape.text)) if of is state else None
        return None if kept is None else _bound(kept, shape.values)

    def find_short(
        self, state: CatalogState, instance: str, shape: StatementShape
    ) -> PlannedQuery | None:
        """As `find`, where the plan reads one row, or a page of rows in the order of a key."""
        of, plans = self._of
        kept = plans.get((instance, shape.text)) if of is state else None
        return _bound(kept, shape.values) if kept is not None and kept.short else None

    def note_long(self, state: CatalogState, instance: str, shape: StatementShape) -> None:
        """Note that a plan has read much: a page that its conditions leave little of, or a row."""
        of, plans = self._of
        kept = plans.get((instance, shape.text)) if of is state else None
        if kept is not None and not kept.key:  # other rows may be small
            plans[instance, shape.text] = kept._replace(short=False)

    def keep(
        self,
        state: CatalogState,
        instance: str,
        shape: StatementShape,
        tree: exp.Select,
        query: PlannedQuery,
    ) -> None:
        """Keep the plan of a query, if it is a plain one; `tree`: what it was made of."""
        kept = _kept(shape, tree, query)
        if kept is None or _bound(kept, shape.values) != query:
            return
        of, plans = self._of
        if of is not state or len(plans) >= PLANS_MAX:
            plans = {}
            self._of = (state, plans)
        plans[instance, shape.text] = kept


def _kept(shape: StatementShape, tree: exp.Select, query: PlannedQuery) -> _Kept | None:
    """The plan with the places of its values; None where it is not plain."""
    scan, compared = _read_by(query.plan)
    if scan is None or not all(map(_is_plain, tree.walk())):
        return None
    names = [each.this.name.lower() for each in tree.find_all(exp.EQ, bfs=False)]
    if not shape.values:
        limit = limit_of(query.plan)
        short = limit is not None and limit <= LENGTHY_RANGE_ROWS
        return None if names else _Kept(query, (), (), short)
    key = [column.name.lower() for column in scan.scanned.key_columns]
    rest = tuple([place for place, name in enumerate(names) if name not in key])
    if not len(shape.values) == len(set(names)) == len(names) or len(rest) != compared:
        return None  # not every value is that of a condition
    if not scan.ranges.points or not set(key) <= set(names):
        return None
    return _Kept(query, tuple([names.index(name) for name in key]), rest, short=True)


def _is_plain(node: exp.Expr) -> bool:
    """Whether what a part of a query means depends on no value, moment or other query."""
    match node:
        case exp.EQ():
            return isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Literal)
        case exp.Column():
            return node.name.upper() not in WITHOUT_PARENTHESES
        case exp.Table():
            return not node.db
        case _:
            return type(node) in _PLAIN


def _read_by(plan: Operator) -> tuple[TableScan | None, int | None]:
    """The table that a plan reads, None for a plan of another form; and how many conditions it has.

    None where a condition is no equality, which has no place for a value.
    """
    compared: int | None = 0
    while isinstance(plan, Project | Limit | Sort | RowFilter):
        if isinstance(plan, RowFilter):
            parts = _parts(plan)
            equal = all(isinstance(each, FunctionCall) and each.name == "=" for each in parts)
            compared = len(parts) if equal else None
        plan = plan.below
    source = plan.source if isinstance(plan, Scan) else None
    return (source, compared) if isinstance(source, TableScan) else (None, 0)


def _parts(plan: RowFilter) -> tuple[Any, ...]:
    return plan.condition.parts if isinstance(plan.condition, And) else (plan.condition,)


def _bound(kept: _Kept, values: tuple[str | int, ...]) -> PlannedQuery:
    """The plan with these values in their places."""
    if not values:
        return kept.query
    plan = _with_values(kept.query.plan, kept, values)
    return PlannedQuery(plan, kept.query.columns)


def _with_values(plan: Any, kept: _Kept, values: tuple[str | int, ...]) -> Any:  # noqa: ANN401  # an operator over a scan, or it
    if isinstance(plan, Scan):
        source: TableScan = plan.source
        ranges = source.ranges
        (access,) = ranges.accesses
        point = Bound(tuple([values[place] for place in kept.key]))
        accesses = (RowAccess(access.index, point, point, access.reverse),)
        found = KeyRanges(accesses, ranges.equal, ranges.matched, ranges.points, ranges.exact)
        return Scan(TableScan(source.table, source.scanned, found, source.columns), plan.columns)
    below = _with_values(plan.below, kept, values)
    if isinstance(plan, Project):
        return Project(below, plan.expressions, plan.columns)
    if not isinstance(plan, RowFilter):
        return replace(plan, below=below)
    parts = zip(_parts(plan), [values[place] for place in kept.rest], strict=True)
    changed = [
        replace(each, arguments=(each.arguments[0], Constant(value))) for each, value in parts
    ]
    return RowFilter(below, changed[0] if len(changed) == 1 else And(tuple(changed)))
