"""What a query makes of its rows: groups, the list, DISTINCT, ORDER BY, LIMIT (sql §4).

Kept apart from `select.py`, which finds the rows. The list, HAVING and ORDER BY may name aliases of
the list; with groups, every part of them that is neither an aggregate nor a key is taken of a
group's first row, as MySQL does without ONLY_FULL_GROUP_BY.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from sqlglot import exp

from widerow.errors import InvalidRequest
from widerow.limits import SQL_COLUMNS_MAX
from widerow.model.tablestore.rules import TablestoreRule
from widerow.query.aggregates import CountRows
from widerow.query.expression import Constant, Expression, InputColumn
from widerow.query.plan import (
    Aggregate,
    AggregateCall,
    Distinct,
    Limit,
    Operator,
    Order,
    Project,
    RowFilter,
    Scan,
    Sort,
)
from widerow.query.relation import RelationColumn
from widerow.wire.tablestore.operations.sql.bind import Binder, unsupported
from widerow.wire.tablestore.operations.sql.documents import SearchScan
from widerow.wire.tablestore.operations.sql.functions.aggregates import AGGREGATES, collected_text
from widerow.wire.tablestore.operations.sql.kinds import SqlKind, TypedExpression, as_truth
from widerow.wire.tablestore.operations.sql.scope import NameScope

__all__ = ["Item", "MakeBinder", "limits_of", "plan_list"]

MakeBinder = Callable[[NameScope, Callable[[exp.Expr], TypedExpression | None]], Binder]


class Item(NamedTuple):
    """An item of the list: its header, its alias (empty: none), its expression."""

    header: str
    alias: str
    node: exp.Expr


def plan_list(
    tree: exp.Select,
    headers: Sequence[str] | None,
    scope: NameScope,
    below: Operator,
    binder: MakeBinder,
    ordered: bool,  # noqa: FBT001  # whether rows come in the order of ORDER BY already
) -> Operator:
    """The plan of a query over its rows. Raises `InvalidRequest` and `Unsupported`."""
    return _List(tree, headers, scope, binder).over(below, ordered=ordered)


class _List:
    """One query's list, and what refers to it."""

    def __init__(
        self,
        tree: exp.Select,
        headers: Sequence[str] | None,
        scope: NameScope,
        binder: MakeBinder,
    ) -> None:
        self._tree = tree
        self._scope = scope
        self._make_binder = binder
        self._items = list(_items(tree, headers, scope))
        if len(self._items) > SQL_COLUMNS_MAX:
            raise InvalidRequest(TablestoreRule.SQL_COLUMNS, limit=SQL_COLUMNS_MAX)
        self._aliases = {item.alias.lower(): item.node for item in self._items if item.alias}
        self._groups = _Groups()
        self._binder = binder(scope, lambda _: None)

    def over(self, below: Operator, *, ordered: bool) -> Operator:
        """The plan over these rows."""
        group, having = self._tree.args.get("group"), self._tree.args.get("having")
        order = self._tree.args.get("order")
        grouped = group is not None or any(map(_has_aggregate, self._parts()))
        if grouped:
            self._begin_groups(group)
        bound = [self._binder.bind(item.node, "field list") for item in self._items]
        conditions = []
        if having is not None:
            node = _with_aliases(having.this, self._aliases)
            conditions.append(as_truth(self._binder.bind(node, "having clause")))
        orders = [] if order is None or ordered else self._orders(order, bound)
        if grouped:
            below = self._groups.operator(below)
        for condition in conditions:
            below = RowFilter(below, condition)
        return self._ended(below, bound, orders)

    def _parts(self) -> list[exp.Expr]:
        """The expressions that may have aggregates in them."""
        arguments = (self._tree.args.get("having"), self._tree.args.get("order"))
        return [*(item.node for item in self._items), *(each for each in arguments if each)]

    def _begin_groups(self, group: exp.Group | None) -> None:
        for argument in ("rollup", "cube", "grouping_sets"):
            if group is not None and group.args.get(argument):
                raise unsupported("GROUP BY with ROLLUP")
        plain = self._make_binder(self._scope, lambda _: None)
        for each in () if group is None else group.expressions:
            node = self._key(each)
            self._groups.add_key(node, plain.bind(node, "group statement"))
        groups = self._groups
        groups.binder = plain
        self._binder = self._make_binder(self._scope, groups.known)

    def _key(self, node: exp.Expr) -> exp.Expr:
        """What a key stands for: a position of the list, a column, an alias or an expression."""
        item = self._at_position(node, "group statement")
        if item is not None:
            return item.node
        if isinstance(node, exp.Column) and not node.table:
            named = self._aliases.get(node.name.lower())
            known = any(c.name.lower() == node.name.lower() for c in self._scope.columns)
            if named is not None and not known:
                return named
        return node

    def _at_position(self, node: exp.Expr, clause: str) -> Item | None:
        if not isinstance(node, exp.Literal) or node.is_string or not node.name.isdigit():
            return None
        position = int(node.name)
        if not 1 <= position <= len(self._items):
            raise InvalidRequest(TablestoreRule.SQL_COLUMN_UNKNOWN, column=node.name, clause=clause)
        return self._items[position - 1]

    def _orders(
        self, order: exp.Order, bound: Sequence[TypedExpression]
    ) -> list[tuple[TypedExpression, bool]]:
        found = []
        for each in order.expressions:
            node, down = each.this, bool(each.args.get("desc"))
            item = self._at_position(node, "order clause")
            if item is not None:
                found.append((bound[self._items.index(item)], down))
                continue
            named = _with_aliases(node, self._aliases)
            found.append((self._binder.bind(named, "order clause"), down))
        return found

    def _ended(
        self,
        below: Operator,
        bound: Sequence[TypedExpression],
        orders: Sequence[tuple[TypedExpression, bool]],
    ) -> Operator:
        """The list, each row once if asked, in order, and how many of them."""
        columns = tuple(
            [RelationColumn(i.header, b.kind) for i, b in zip(self._items, bound, strict=True)]
        )
        shown = [typed.expression for typed in bound]
        keys = [self._sort_key(typed, shown) for typed, _ in orders]
        distinct = self._tree.args.get("distinct") is not None
        hidden = [each for each in keys if each >= len(columns)]
        if distinct and hidden:
            raise unsupported("ORDER BY of what DISTINCT leaves out")
        wide = (*columns, *[RelationColumn("", SqlKind.NULL)] * (len(shown) - len(columns)))
        below = Project(below, tuple(shown), wide)
        if distinct:
            below = Distinct(below)
        count, offset = limits_of(self._tree)
        if orders:
            first = None if count is None else count + offset
            by = [Order(InputColumn(k), down) for k, (_, down) in zip(keys, orders, strict=True)]
            below = Sort(below, tuple(by), first)
        if count is not None or offset:
            below = Limit(below, count, offset)
        if hidden:
            visible = tuple([InputColumn(position) for position in range(len(columns))])
            below = Project(below, visible, columns)
        return below

    @staticmethod
    def _sort_key(typed: TypedExpression, shown: list[Expression]) -> int:
        """Where an expression stands in the list, or behind it, where it is added."""
        if typed.expression not in shown:
            shown.append(typed.expression)
        return shown.index(typed.expression)


class _Groups:
    """Keys and aggregates of a query with groups: they become the columns of its rows."""

    def __init__(self) -> None:
        self.binder: Binder | None = None  # over the rows that are grouped
        self._keys: list[tuple[exp.Expr, TypedExpression]] = []
        self._calls: list[tuple[exp.Expr, AggregateCall, SqlKind]] = []

    def add_key(self, node: exp.Expr, typed: TypedExpression) -> None:
        """A key."""
        self._keys.append((node, typed))

    def known(self, node: exp.Expr) -> TypedExpression | None:
        """The column that an expression is of a group's row: key, aggregate or first value."""
        for position, (key, typed) in enumerate(self._keys):
            if key == node:
                return TypedExpression(InputColumn(position), typed.kind, typed.is_condition)
        if _is_aggregate(node):
            return self._of(node, self._call)
        if isinstance(node, exp.Column):
            return self._of(node, self._first)
        return None

    def _of(
        self, node: exp.Expr, make: Callable[[exp.Expr], tuple[AggregateCall, SqlKind]]
    ) -> TypedExpression:
        for number, (known, _, kind) in enumerate(self._calls):
            if known == node:
                return TypedExpression(InputColumn(len(self._keys) + number), kind)
        call, kind = make(node)
        self._calls.append((node, call, kind))
        return TypedExpression(InputColumn(len(self._keys) + len(self._calls) - 1), kind)

    def _first(self, node: exp.Expr) -> tuple[AggregateCall, SqlKind]:
        assert self.binder is not None
        typed = self.binder.bind(node)
        start = AGGREGATES["ANY_VALUE"].start
        return AggregateCall("ANY_VALUE", typed.expression, start), typed.kind

    def _call(self, node: exp.Expr) -> tuple[AggregateCall, SqlKind]:
        assert self.binder is not None
        name, arguments, separator = _call_parts(node)
        if name == "COUNT" and len(arguments) == 1 and isinstance(arguments[0], exp.Star):
            return AggregateCall("COUNT", Constant(1), CountRows), SqlKind.LONG
        distinct = len(arguments) == 1 and isinstance(arguments[0], exp.Distinct)
        if distinct:
            arguments = arguments[0].expressions
        if len(arguments) != 1:
            raise unsupported(f"{name} of several columns")
        if _has_aggregate(arguments[0]):
            raise InvalidRequest(TablestoreRule.SQL_AGGREGATE_PLACE)
        function = AGGREGATES[name] if separator is None else collected_text(separator)
        taken = function.take(self.binder.bind(arguments[0]))
        kind = taken.kind if function.kind is None else function.kind
        return AggregateCall(name, taken.expression, function.start, distinct), kind

    def operator(self, below: Operator) -> Operator:
        """The groups of these rows."""
        columns = [RelationColumn("", typed.kind) for _, typed in self._keys]
        columns += [RelationColumn(call.name, kind) for _, call, kind in self._calls]
        keys = tuple([typed.expression for _, typed in self._keys])
        plain = (*keys, *[call.argument for _, call, _ in self._calls])
        source = below.source if isinstance(below, Scan) else None
        only_plain = all(isinstance(each, InputColumn | Constant) for each in plain)
        if isinstance(source, SearchScan) and only_plain:
            # The index makes the groups: its documents are not rows that are read.
            below = Scan(replace(source, counted=False), below.columns)
        return Aggregate(below, keys, tuple([call for _, call, _ in self._calls]), tuple(columns))


def _call_parts(node: exp.Expr) -> tuple[str, list[exp.Expr], str | None]:
    """Name and arguments of an aggregate; of GROUP_CONCAT also what stands between its texts."""
    if not isinstance(node, exp.GroupConcat):
        return node.name.upper(), list(node.expressions), None
    if isinstance(node.this, exp.Order):
        raise unsupported("GROUP_CONCAT with ORDER BY")
    separator = node.args.get("separator")
    return "GROUP_CONCAT", [node.this], "," if separator is None else separator.name


def _is_aggregate(node: exp.Expr) -> bool:
    return isinstance(node, exp.GroupConcat) or (
        isinstance(node, exp.Anonymous) and node.name.upper() in AGGREGATES
    )


def _has_aggregate(node: exp.Expr) -> bool:
    """Whether there is an aggregate in an expression, outside of queries in it."""
    if isinstance(node, exp.Column):  # most are
        return False
    inside = node.walk(prune=lambda each: isinstance(each, exp.Select))
    return any(_is_aggregate(each) for each in inside)


def _with_aliases(node: exp.Expr, aliases: dict[str, exp.Expr]) -> exp.Expr:
    """The expression with what its aliases stand for; not inside aggregates."""
    if isinstance(node, exp.Column) and not node.table:
        return aliases.get(node.name.lower(), node)
    if _is_aggregate(node) or not aliases:
        return node

    def replaced(each: exp.Expr) -> exp.Expr:
        known = isinstance(each, exp.Column) and not each.table
        return aliases.get(each.name.lower(), each) if known else each

    return node.copy().transform(replaced)


def _items(tree: exp.Select, headers: Sequence[str] | None, scope: NameScope) -> list[Item]:
    """The items of the list, with what `*` stands for."""
    found = []
    for position, node in enumerate(tree.expressions):
        star = _star_of(node)
        if star is not None:
            found += [Item(name, "", _column(name, table)) for name, table in scope.all(star)]
            continue
        alias = node.alias if isinstance(node, exp.Alias) else ""
        inner = node.this if isinstance(node, exp.Alias) else node
        if alias or isinstance(inner, exp.Column):
            header = alias or inner.name
        elif headers is not None and position < len(headers):
            header = headers[position]
        else:
            header = inner.sql(dialect="mysql")
        found.append(Item(header, alias, inner))
    return found


def _star_of(node: exp.Expr) -> str | None:
    """The table whose columns are all asked for; empty: those of every table; None: no star."""
    if isinstance(node, exp.Star):
        return ""
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
        return node.table
    return None


def _column(name: str, table: str) -> exp.Column:
    qualifier = exp.to_identifier(table, quoted=True) if table else None
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=qualifier)


def limits_of(tree: exp.Select) -> tuple[int | None, int]:
    """LIMIT (None: there is none) and OFFSET of a query. Raises `InvalidRequest`."""
    limit, offset = tree.args.get("limit"), tree.args.get("offset")
    if isinstance(limit, exp.Fetch):
        raise unsupported("FETCH")
    count = None if limit is None else _whole_number(limit.expression)
    return count, 0 if offset is None else _whole_number(offset.expression)


_LIMIT_MAX: Final = 2**63 - 1


def _whole_number(node: exp.Expr | None) -> int:
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
        return min(int(node.name), _LIMIT_MAX)
    raise InvalidRequest(TablestoreRule.SQL_LIMIT)
