"""From a SELECT to a plan: tables, conditions, groups, order (sql §4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from sqlglot import exp

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest
from widerow.limits import SQL_DEPTH_MAX, SQL_TABLES_MAX
from widerow.model.tablestore.mapping import MappedColumn
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.timeseries.points import POINT_TIME_COLUMN
from widerow.model.timeseries.series import TAGS_COLUMN
from widerow.query.access import KeyComparator, KeyComparison
from widerow.query.expression import And, Expression, InputColumn, columns_read, moved
from widerow.query.plan import Join, JoinKind, Operator, Project, RowFilter, Rows, Scan
from widerow.query.relation import Chunk, RelationColumn
from widerow.wire.tablestore.operations.sql.bind import (
    SCORE_COLUMN,
    Binder,
    comparable,
    unsupported,
)
from widerow.wire.tablestore.operations.sql.kinds import KIND_OF, SqlKind, TypedExpression
from widerow.wire.tablestore.operations.sql.listing import plan_list
from widerow.wire.tablestore.operations.sql.scope import NamedColumn, NameScope
from widerow.wire.tablestore.operations.sql.search_access import SearchWanted, serving_index
from widerow.wire.tablestore.operations.sql.search_conditions import functions_in
from widerow.wire.tablestore.operations.sql.series_access import series_scan, tag_in, tags_like
from widerow.wire.tablestore.operations.sql.series_tables import SeriesMapping
from widerow.wire.tablestore.operations.sql.tables import (
    AccessWanted,
    SeenTable,
    TableScan,
    best_access,
    find_seen_table,
)

__all__ = ["PlannedQuery", "Planner", "ResultColumn"]


class ResultColumn(NamedTuple):
    """A column of a result."""

    name: str
    kind: SqlKind


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """A plan, and the columns that it gives."""

    plan: Operator
    columns: tuple[ResultColumn, ...]


class _Piece(NamedTuple):
    """Something behind FROM: a table that is seen, or a query whose plan is made.

    `hint`: the indexes behind USE INDEX; None: there is none.
    """

    columns: tuple[NamedColumn, ...]
    seen: SeenTable | None
    needed: tuple[MappedColumn, ...]
    made: Operator | None
    hint: tuple[str, ...] | None = None


class _Source(NamedTuple):
    """What is read, its columns, whether rows come as they are wanted, and conditions for them."""

    plan: Operator
    scope: NameScope
    ordered: bool
    rest: Sequence[exp.Expr]


class _Joined(NamedTuple):
    """A piece as a statement joins it to those before."""

    piece: _Piece
    side: str  # "", LEFT or RIGHT
    on: exp.Expr | None
    using: tuple[str, ...]


_REFUSED: Final = {
    "with_": "WITH",
    "windows": "window functions",
    "locks": "FOR UPDATE",
    "into": "INTO",
    "qualify": "QUALIFY",
    "laterals": "LATERAL",
    "sample": "TABLESAMPLE",
    "distribute": "DISTRIBUTE",
    "cluster": "CLUSTER",
    "connect": "CONNECT",
}


class Planner:
    """Plans the queries of one statement, those inside it too."""

    def __init__(
        self,
        engine: TablestoreEngine,
        instance: str,
        now_us: int,
        values_of: Callable[[PlannedQuery], list[Any]],
        *,
        search: bool = True,
    ) -> None:
        """`values_of`: runs a query of one column at once, for IN and for single values.

        `search`: whether search indexes serve statements that do not ask for them.
        """
        self._search = search
        self._engine = engine
        self._instance = instance
        self._now_us = now_us
        self._run = values_of
        self._tables = 0
        self._depth = 0

    def _draw(self) -> float:
        return int.from_bytes(self._engine.core.entropy.token_bytes(6)) / 2**48

    def plan(self, tree: exp.Select, headers: Sequence[str] | None = None) -> PlannedQuery:
        """The plan of a query. Raises `InvalidRequest`, `NotFound` and `Unsupported`.

        `headers`: the text of each item of its list; None: as sqlglot writes them.
        """
        self._depth += 1
        if self._depth > SQL_DEPTH_MAX:
            raise InvalidRequest(TablestoreRule.SQL_DEPTH)
        try:
            return self._plan(tree, headers)
        finally:
            self._depth -= 1

    def _plan(self, tree: exp.Select, headers: Sequence[str] | None) -> PlannedQuery:
        for argument, what in _REFUSED.items():
            if tree.args.get(argument):
                raise unsupported(what)
        conjuncts = _conjuncts(tree.args["where"].this) if tree.args.get("where") else []
        below, scope, ordered, rest = self._from(tree, conjuncts)
        if rest:
            binder = self._binder(scope)
            parts = [binder.condition(each, "where clause") for each in rest]
            below = RowFilter(below, parts[0] if len(parts) == 1 else And(tuple(parts)))
        plan = plan_list(tree, headers, scope, below, self._binder, ordered)
        return PlannedQuery(plan, tuple([ResultColumn(*column) for column in plan.columns]))

    def _binder(
        self, scope: NameScope, known: Callable[[exp.Expr], TypedExpression | None] = lambda _: None
    ) -> Binder:
        return Binder(scope, self._now_us, self._values_of, self._draw, known)

    def _values_of(self, node: exp.Expr) -> tuple[list[Any], SqlKind]:
        """The values of a query inside an expression, which names none of the tables outside."""
        if not isinstance(node, exp.Select):
            raise unsupported("this query inside an expression")
        query = self.plan(node)
        if len(query.columns) != 1:
            raise InvalidRequest(TablestoreRule.SQL_SUBQUERY_COLUMNS)
        return self._run(query), query.columns[0].kind

    # --- tables --------------------------------------------------------------------------------

    def _from(self, tree: exp.Select, conjuncts: Sequence[exp.Expr]) -> _Source:
        """What a query reads."""
        first = tree.args.get("from_")
        if first is None:
            return _Source(Rows((), Chunk(1, ())), NameScope(()), ordered=False, rest=conjuncts)
        wanted = _names_used(tree)
        pieces = [_Joined(self._piece(first.this, wanted), "", None, ())]
        pieces += [self._joined(each, wanted) for each in tree.args.get("joins") or ()]
        names = [each.piece.columns[0].table.lower() for each in pieces if each.piece.columns]
        if len(set(names)) < len(names):
            raise InvalidRequest(TablestoreRule.SQL_TABLE_TWICE)
        if len(pieces) == 1:
            return self._alone(tree, pieces[0].piece, conjuncts)
        scope = NameScope([column for each in pieces for column in each.piece.columns])
        found = [each for each in map(partial(self._comparison, scope), conjuncts) if each]
        tags = [each for node in conjuncts for each in self._tag_comparisons(scope, node)]
        plan, joined = self._all_joined(pieces, (found, tags), conjuncts)
        return _Source(plan, joined, ordered=False, rest=conjuncts)

    def _piece(self, node: exp.Expr, wanted: frozenset[str] | None) -> _Piece:
        self._tables += 1
        if self._tables > SQL_TABLES_MAX:
            raise InvalidRequest(TablestoreRule.SQL_TABLES, limit=SQL_TABLES_MAX)
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select):
            if not node.alias:
                raise InvalidRequest(TablestoreRule.SQL_ALIAS_MISSING)
            query = self.plan(node.this)
            columns = tuple([NamedColumn(node.alias, *column) for column in query.columns])
            return _Piece(columns, None, (), query.plan)
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise unsupported("this kind of table")
        seen = find_seen_table(self._engine, self._instance, node.name)
        needed = tuple(
            [c for c in seen.mapping.columns if wanted is None or c.name.lower() in wanted]
        )
        if not needed:
            needed = seen.mapping.columns[:1]
        alias = node.alias or seen.name
        columns = tuple([NamedColumn(alias, c.name, KIND_OF[c.type]) for c in needed])
        return _Piece(columns, seen, needed, None, _hint(node, seen))

    def _joined(self, node: exp.Join, wanted: frozenset[str] | None) -> _Joined:
        if node.args.get("method") or node.side == "FULL" or node.kind not in _JOIN_KINDS:
            raise unsupported("joins other than INNER, LEFT, RIGHT and CROSS")
        using = tuple([each.name for each in node.args.get("using") or ()])
        piece = self._piece(node.this, wanted)
        return _Joined(piece, node.side or "", node.args.get("on"), using)

    def _alone(self, tree: exp.Select, piece: _Piece, conjuncts: Sequence[exp.Expr]) -> _Source:
        """One table: read in the order that is asked for, if its key or an index has it."""
        scope = NameScope(piece.columns)
        if piece.seen is None:
            assert piece.made is not None
            return _Source(piece.made, scope, ordered=False, rest=conjuncts)
        if piece.seen.series is not None:
            return self._of_series(tree, piece, piece.seen.series, conjuncts)
        functions = frozenset(functions_in(tree))
        plain = [each for each in conjuncts if not functions or not functions_in(each)]
        # Nothing that a mapping of a search index has is read by ranges of a key.
        candidates = plain if piece.seen.search is None else []
        compared = [(node, self._comparison(scope, node)) for node in candidates]
        found = [(node, each[0]) for node, each in compared if each is not None]
        comparisons = [each for _, each in found]
        order = _plain_order(tree)
        limited = [name for name, _ in order] if tree.args.get("limit") is not None else []
        present = {each.column.lower() for each in comparisons} | _not_null(conjuncts)
        access = AccessWanted(piece.hint, limited, frozenset(present))
        scanned, ranges = best_access(piece.seen, comparisons, piece.needed, access)
        alone = not functions and (ranges.points or not self._search)
        alias = piece.columns[0].table
        searched = serving_index(
            SearchWanted(
                *(piece.seen, alias, piece.needed, conjuncts, piece.hint, order, functions, alone)
            )
        )
        if searched is not None:
            scope = _with_score(piece.columns) if searched.scan.scored else scope
            scan = Scan(
                searched.scan, tuple([RelationColumn(c.name, c.kind) for c in scope.columns])
            )
            return _Source(scan, scope, searched.ordered, searched.rest)
        free = [column.name.lower() for column in scanned.key_columns[ranges.equal :]]
        columns = [name for name, _ in order]
        descending = {down for _, down in order}
        ordered = bool(order) and columns == free[: len(order)] and len(descending) == 1
        if ordered and descending == {True}:
            ranges = ranges.reversed()
        table = piece.seen.table
        key = {column.name for column in scanned.key_columns[: ranges.exact]}
        piece, conjuncts = _without_answered(tree, piece, conjuncts, found, key)
        table_scan = TableScan(table, scanned, ranges, piece.needed)
        scope = NameScope(piece.columns)
        return _Source(Scan(table_scan, _plan_columns(piece)), scope, ordered, conjuncts)

    def _of_series(
        self,
        tree: exp.Select,
        piece: _Piece,
        mapping: SeriesMapping,
        conjuncts: Sequence[exp.Expr],
    ) -> _Source:
        """One timeseries table: the points of one series come in the order of their times."""
        scope = NameScope(piece.columns)
        found = filter(None, map(partial(self._comparison, scope), conjuncts))
        tags = [each for node in conjuncts for each, _ in self._tag_comparisons(scope, node)]
        scan = series_scan(mapping, piece.needed, [each for each, _ in found], tags)
        order = _plain_order(tree)
        of_times = [name for name, _ in order] == [POINT_TIME_COLUMN]
        ordered = of_times and scan.series is not None and len(scan.series) <= 1
        if ordered and order[0][1]:
            scan = replace(scan, reverse=True)
        return _Source(Scan(scan, _plan_columns(piece)), scope, ordered, conjuncts)

    def _tag_comparisons(self, scope: NameScope, node: exp.Expr) -> "list[_Placed]":
        """What a condition says of tags, each as of a column of its name, and the place of `_tags`.

        It compares `tag_value_at(_tags, 'name')`, or asks what `_tags` is like.
        """
        if isinstance(node, exp.Like) and isinstance(node.this, exp.Column):
            liked = self._comparison(scope, exp.EQ(this=node.this, expression=node.expression))
            if liked is None or liked[0].column != TAGS_COLUMN or node.args.get("negate"):
                return []
            return [(each, liked[1]) for each in tags_like(str(liked[0].value))]
        for argument in ("this", "expression"):
            call = node.args.get(argument)
            name = tag_in(call) if isinstance(call, exp.Expr) else None
            if call is not None and name is not None:
                compared = node.copy()
                compared.set(argument, call.expressions[0].copy())
                found = self._comparison(scope, compared)
                return [] if found is None else [(found[0]._replace(column=name), found[1])]
        return []

    def _operator(
        self, piece: _Piece, comparisons: Sequence[KeyComparison], tags: Sequence[KeyComparison]
    ) -> Operator:
        if piece.seen is None:
            assert piece.made is not None
            return piece.made
        if piece.seen.series is not None:
            scanned_series = series_scan(piece.seen.series, piece.needed, comparisons, tags)
            return Scan(scanned_series, _plan_columns(piece))
        if piece.seen.search is not None:
            every = SearchWanted(
                piece.seen, "", piece.needed, (), None, (), frozenset(), alone=False
            )
            searched = serving_index(every)
            assert searched is not None
            return Scan(searched.scan, _plan_columns(piece))
        present = frozenset([each.column.lower() for each in comparisons])
        access = AccessWanted(piece.hint, present=present)
        scanned, ranges = best_access(piece.seen, comparisons, piece.needed, access)
        scan = TableScan(piece.seen.table, scanned, ranges, piece.needed)
        return Scan(scan, _plan_columns(piece))

    def _all_joined(
        self,
        pieces: Sequence[_Joined],
        found: "tuple[Sequence[_Placed], Sequence[_Placed]]",
        conjuncts: Sequence[exp.Expr],
    ) -> tuple[Operator, NameScope]:
        """Pieces joined from left to right. `found`: comparisons of columns, and of tags."""
        below: Operator | None = None
        scope = NameScope(())
        for joined in pieces:
            first = len(scope.columns)
            end = first + len(joined.piece.columns)
            own, tags = (
                [comparison for comparison, position in placed if first <= position < end]
                for placed in found
            )
            right = self._operator(joined.piece, own, tags)
            if below is None:
                below, scope = right, NameScope(joined.piece.columns)
                continue
            both = NameScope((*scope.columns, *joined.piece.columns), scope.hidden)
            candidates = list(conjuncts) if not joined.side else []
            below, scope = self._join(below, right, joined, (scope, both), candidates)
        assert below is not None
        return below, scope

    def _join(
        self,
        left: Operator,
        right: Operator,
        joined: _Joined,
        scopes: tuple[NameScope, NameScope],
        candidates: list[exp.Expr],
    ) -> tuple[Operator, NameScope]:
        """One join. `candidates`: conditions of WHERE, whose equalities may serve as keys."""
        before, both = scopes
        width = len(before.columns)
        binder = self._binder(both)
        keys: list[tuple[Expression, Expression]] = []
        rest: list[Expression] = []
        hidden = set(before.hidden)
        for name in joined.using:
            one = before.find(name, "", "from clause")
            other = NameScope(joined.piece.columns).find(name, "", "from clause")
            keys.append(_equal_keys(one, other))
            positions = (
                each.position for each in (other.expression,) if isinstance(each, InputColumn)
            )
            hidden.update(width + position for position in positions)
        for each in _conjuncts(joined.on) if joined.on is not None else ():
            pair = self._key_pair(each, both, width, "on clause")
            if pair is None:
                rest.append(binder.condition(each, "on clause"))
            else:
                keys.append(pair)
        for each in candidates:
            pair = self._key_pair(each, both, width, "where clause", only_if_known=True)
            if pair is not None:
                keys.append(pair)
        condition = None if not rest else rest[0] if len(rest) == 1 else And(tuple(rest))
        sides = tuple([one for one, _ in keys]), tuple([other for _, other in keys])
        scope = NameScope(both.columns, frozenset(hidden))
        if joined.side == "RIGHT":
            return _right_join(left, right, sides, condition), scope
        kind = JoinKind.LEFT if joined.side == "LEFT" else JoinKind.INNER
        return Join(left, right, kind, *sides, condition), scope

    def _key_pair(
        self,
        node: exp.Expr,
        scope: NameScope,
        width: int,
        clause: str,
        *,
        only_if_known: bool = False,
    ) -> tuple[Expression, Expression] | None:
        """The two sides of an equality of which each is of one side of the join, if it is one."""
        if not isinstance(node, exp.EQ):
            return None
        if only_if_known and not all(_is_plain(each) for each in (node.this, node.expression)):
            return None
        try:
            sides = [
                self._binder(scope).bind(each, clause) for each in (node.this, node.expression)
            ]
        except InvalidRequest:
            if only_if_known:
                return None  # names a table that is joined later
            raise
        reads = [set(columns_read(each.expression)) for each in sides]
        if not reads[0] or not reads[1]:
            return None
        if max(reads[1]) < width <= min(reads[0]):
            sides.reverse()
            reads.reverse()
        if not max(reads[0]) < width <= min(reads[1]):
            return None
        own = moved(sides[1].expression, lambda position: InputColumn(position - width))
        return _equal_keys(sides[0], TypedExpression(own, sides[1].kind))

    def _comparison(self, scope: NameScope, node: exp.Expr) -> tuple[KeyComparison, int] | None:
        """A condition that compares a column with values of its kind, and the column's place."""
        parts = _COMPARED.get(type(node))
        if parts is None:
            return None
        column, comparator, values = parts(node)
        if not isinstance(column, exp.Column):
            return None
        bound = self._binder(scope).bind(column, "where clause")
        if not isinstance(bound.expression, InputColumn):
            return None
        typed = [
            self._binder(scope).bind(each, "where clause") for each in values if _is_simple(each)
        ]
        if len(typed) < len(values) or any(
            not each.constant or each.kind is not bound.kind for each in typed
        ):
            return None
        given = [each.value for each in typed]
        name = scope.columns[bound.expression.position].name
        value = given if comparator is KeyComparator.ONE_OF else given[0]
        if comparator is KeyComparator.BEGINS:
            value = _prefix(str(value))
            if not value:
                return None
        return KeyComparison(name, comparator, value), bound.expression.position


_Placed = tuple[KeyComparison, int]
"""A comparison, and the place of its column."""

_JOIN_KINDS: Final = frozenset(("", "INNER", "CROSS", "OUTER"))


def _not_null(conjuncts: Sequence[exp.Expr]) -> set[str]:
    """The columns that conditions say are there, in lower case, of a query of one table."""
    found = set()
    for each in conjuncts:
        inner = each.this if isinstance(each, exp.Not) else None
        inner = inner.unnest() if isinstance(inner, exp.Paren) else inner
        is_null = isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null)
        if inner is not None and is_null and isinstance(inner.this, exp.Column):
            found.add(inner.this.name.lower())
    return found


def _without_answered(
    tree: exp.Select,
    piece: _Piece,
    conjuncts: Sequence[exp.Expr],
    found: Sequence[tuple[exp.Expr, KeyComparison]],
    key: set[str],
) -> tuple[_Piece, Sequence[exp.Expr]]:
    """A piece and conditions without those that the ranges that are read answer.

    `found`: the conditions that compare columns with values. `key`: columns whose comparisons hold
    for all rows of the ranges. What only such conditions name is not read.
    """
    answered = [
        node
        for node, each in found
        if each.column in key and each.comparator is not KeyComparator.BEGINS
    ]
    if not answered:
        return piece, conjuncts
    gone = set(map(id, answered))
    rest = [each for each in conjuncts if id(each) not in gone]
    if _names_used(tree) is None:
        return piece, rest
    inside = {id(column) for node in answered for column in node.find_all(exp.Column)}
    names = {each.name.lower() for each in tree.find_all(exp.Column) if id(each) not in inside}
    needed = tuple([each for each in piece.needed if each.name.lower() in names])
    columns = tuple([each for each in piece.columns if each.name.lower() in names])
    return piece._replace(needed=needed, columns=columns), rest


def _hint(node: exp.Table, seen: SeenTable) -> tuple[str, ...] | None:
    """The indexes behind USE INDEX; None: it is not there.

    Raises `InvalidRequest` and `Unsupported`.
    """
    hints = node.args.get("hints")
    if not hints:
        return None
    if len(hints) > 1 or not isinstance(hints[0], exp.IndexTableHint):
        raise unsupported("more than one index hint")
    if str(hints[0].this).upper() != "USE" or hints[0].args.get("target"):
        raise unsupported("index hints other than USE INDEX")
    names = tuple([each.name for each in hints[0].expressions])
    known = {each.name.lower() for each in seen.indexes}
    known |= {each.name.lower() for each in seen.table.search}
    for name in names:
        if name.lower() not in known:
            raise InvalidRequest(
                TablestoreRule.SQL_INDEX_UNKNOWN, index=name, table=seen.table.name
            )
    return names


def _with_score(columns: tuple[NamedColumn, ...]) -> NameScope:
    """The columns, and behind them the score that SCORE() stands for."""
    score = NamedColumn(columns[0].table, SCORE_COLUMN, SqlKind.DOUBLE)
    return NameScope((*columns, score), frozenset((len(columns),)))


def _plan_columns(piece: _Piece) -> tuple[RelationColumn, ...]:
    return tuple([RelationColumn(column.name, column.kind) for column in piece.columns])


def _equal_keys(one: TypedExpression, other: TypedExpression) -> tuple[Expression, Expression]:
    left, right, _ = comparable(one, other)
    return left.expression, right.expression


def _right_join(
    left: Operator,
    right: Operator,
    sides: tuple[tuple[Expression, ...], tuple[Expression, ...]],
    condition: Expression | None,
) -> Operator:
    """A left join with the sides changed, and the columns put back in their order."""
    first, second = len(left.columns), len(right.columns)

    def place(position: int) -> Expression:
        return InputColumn(position + second if position < first else position - first)

    turned = None if condition is None else moved(condition, place)
    joined = Join(right, left, JoinKind.LEFT, sides[1], sides[0], turned)
    fields = tuple([place(position) for position in range(first + second)])
    return Project(joined, fields, (*left.columns, *right.columns))


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """The conditions that AND puts together."""
    inner = node.unnest() if isinstance(node, exp.Paren) else node
    if isinstance(inner, exp.Between):
        low, high = inner.args["low"], inner.args["high"]
        return [exp.GTE(this=inner.this, expression=low), exp.LTE(this=inner.this, expression=high)]
    if not isinstance(inner, exp.And):
        return [inner]
    return [each for part in inner.flatten() for each in _conjuncts(part)]


def _names_used(tree: exp.Select) -> frozenset[str] | None:
    """The names of columns, in lower case, that a query reads anywhere; None: all of them."""
    for star in tree.find_all(exp.Star):
        if not isinstance(star.parent, exp.Anonymous):
            return None
    using = [each for join in tree.find_all(exp.Join) for each in join.args.get("using") or ()]
    names = [each.name for each in (*tree.find_all(exp.Column), *using)]
    return frozenset(name.lower() for name in names)


def _is_plain(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column)


def _is_simple(node: exp.Expr) -> bool:
    """Whether an expression is a value that stands in the statement."""
    inner = node.this if isinstance(node, exp.Neg) else node
    return isinstance(inner, exp.Literal | exp.HexString | exp.Boolean)


def _plain_order(tree: exp.Select) -> list[tuple[str, bool]]:
    """ORDER BY of plain columns, in lower case, and whether down; empty where it has others.

    Of a query without groups whose rows are not counted once.
    """
    order = tree.args.get("order")
    if order is None or tree.args.get("group") or tree.args.get("distinct"):
        return []
    if any(isinstance(each, exp.Alias) for each in tree.expressions):
        return []
    found = []
    for each in order.expressions:
        if not isinstance(each.this, exp.Column):
            return []
        found.append((each.this.name.lower(), bool(each.args.get("desc"))))
    return found


def _two(comparator: KeyComparator, turned: KeyComparator) -> Callable[[Any], Any]:
    def parts(node: exp.Binary) -> tuple[exp.Expr, KeyComparator, list[exp.Expr]]:
        if isinstance(node.this, exp.Column):
            return node.this, comparator, [node.expression]
        return node.expression, turned, [node.this]

    return parts


def _parts_of_in(node: exp.In) -> tuple[exp.Expr, KeyComparator, list[exp.Expr]]:
    values = list(node.expressions)
    return (node.this if values else node), KeyComparator.ONE_OF, values


def _parts_of_like(node: exp.Like) -> tuple[exp.Expr, KeyComparator, list[exp.Expr]]:
    whole = node.this if not node.args.get("negate") else node
    return whole, KeyComparator.BEGINS, [node.expression]


def _prefix(pattern: str) -> str:
    """What every text begins with that is like the pattern."""
    kept = []
    letters = iter(pattern)
    for letter in letters:
        if letter in "%_":
            break
        kept.append(next(letters, letter) if letter == "\\" else letter)
    return "".join(kept)


_COMPARED: Final[dict[type, Callable[[Any], Any]]] = {
    exp.EQ: _two(KeyComparator.EQUAL, KeyComparator.EQUAL),
    exp.LT: _two(KeyComparator.LESS, KeyComparator.GREATER),
    exp.LTE: _two(KeyComparator.AT_MOST, KeyComparator.AT_LEAST),
    exp.GT: _two(KeyComparator.GREATER, KeyComparator.LESS),
    exp.GTE: _two(KeyComparator.AT_LEAST, KeyComparator.AT_MOST),
    exp.In: _parts_of_in,
    exp.Like: _parts_of_like,
}
