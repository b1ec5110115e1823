"""Runs a statement and makes its answer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, Final, NamedTuple

from widerow.auth.keyring import Permission
from widerow.engine.between import Between, never_ends
from widerow.engine.budget import Budget
from widerow.engine.capacity import units
from widerow.engine.plan import Plan, failing
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, Exhausted, InvalidRequest, NotFound, TooLong
from widerow.limits import (
    SQL_BYTES_READ_MAX,
    SQL_ROWS_READ_MAX,
    SQL_SECONDS_MAX,
    SQL_VALUES_HELD_MAX,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.query.budget import QueryBudget, QueryLimits, QueryResource, QueryStopped
from widerow.query.execute import run_plan
from widerow.query.relation import Chunk, Values
from widerow.wire.tablestore.operations.sql.changes import (
    Changed,
    delete_rows,
    insert_rows,
    update_rows,
)
from widerow.wire.tablestore.operations.sql.describing import (
    Listing,
    list_columns,
    list_measured,
    list_operators,
    show_columns,
    show_index,
    show_tables,
)
from widerow.wire.tablestore.operations.sql.mappings import (
    alter_mapping,
    create_mapping,
    drop_mappings,
)
from widerow.wire.tablestore.operations.sql.paging import (
    groups_by_index,
    groups_given,
    is_paged,
    paged,
    token_of,
)
from widerow.wire.tablestore.operations.sql.prepared import PreparedQueries, shape_of
from widerow.wire.tablestore.operations.sql.rows import RowReader
from widerow.wire.tablestore.operations.sql.select import PlannedQuery, Planner
from widerow.wire.tablestore.operations.sql.syntax import (
    AlterMapping,
    CreateMapping,
    Delete,
    Describe,
    DropMapping,
    Explain,
    Insert,
    Select,
    ShowColumns,
    ShowIndex,
    ShowTables,
    SqlStatement,
    Update,
    first_word,
    named_databases,
    read_statement,
)
from widerow.wire.tablestore.operations.sql.tables import find_seen_table

__all__ = [
    "GroupPage",
    "Result",
    "StatementType",
    "StatementUnits",
    "permission_of",
    "run_short",
    "run_statement",
]

_LIMITS: Final = QueryLimits(
    SQL_ROWS_READ_MAX, SQL_BYTES_READ_MAX, SQL_VALUES_HELD_MAX, SQL_SECONDS_MAX * 1_000_000
)
_STOPPED: Final = {
    QueryResource.ROWS_READ: TablestoreRule.SQL_ROWS_READ,
    QueryResource.DOCUMENTS_READ: TablestoreRule.SQL_DOCUMENTS_READ,
    QueryResource.BYTES_READ: TablestoreRule.SQL_BYTES_READ,
    QueryResource.VALUES_HELD: TablestoreRule.SQL_VALUES_HELD,
    QueryResource.TIME: TablestoreRule.SQL_TIME,
}
_PREPARED: Final = PreparedQueries()


class StatementType(IntEnum):
    """The numbers of statements in answers (sql §2.4)."""

    SELECT = 1
    CREATE_TABLE = 2
    SHOW = 3
    DESCRIBE = 4
    DROP_MAPPING = 5
    ALTER = 6
    INSERT = 7
    UPDATE = 8
    DELETE = 9


class StatementUnits(NamedTuple):
    """The capacity units of one table or index. `search`: of that search index of the table.

    `metas`: of the metas of a timeseries table.
    """

    table: str
    read: int
    write: int
    search: str = ""
    metas: bool = False

    @property
    def place(self) -> str:
        """What was read or written, in words."""
        if self.search:
            return f"search index {self.search} of table {self.table}"
        return f"metas of table {self.table}" if self.metas else self.table


class Result(NamedTuple):
    """What a statement gives. `table`: its rows; None: it has none. `affected`: changed rows.

    `token`: with which the statement is sent again for its next page; "": there is none.
    """

    type: StatementType
    table: Listing | None = None
    consumed: tuple[StatementUnits, ...] = ()
    affected: int | None = None
    token: str = ""


class GroupPage(NamedTuple):
    """Which page of its groups a client wants: the one behind `token`; "": the first."""

    token: str = ""


_WRITES: Final = ("INSERT", "REPLACE", "UPDATE", "DELETE")
_MANAGES: Final = ("CREATE", "ALTER", "DROP")
_PERMISSIONS: Final = {
    **dict.fromkeys(_WRITES, Permission.WRITE),
    **dict.fromkeys(_MANAGES, Permission.MANAGE),
}


_NEEDED: Final = {
    **dict.fromkeys((Insert, Update, Delete), Permission.WRITE),
    **dict.fromkeys((CreateMapping, AlterMapping, DropMapping), Permission.MANAGE),
}


def permission_of(text: str) -> Permission:
    """What a statement needs, by the word that it begins with."""
    return _PERMISSIONS.get(first_word(text), Permission.READ)


def run_statement(
    engine: TablestoreEngine,
    instance: str,
    text: str,
    between: Between = never_ends,
    page: GroupPage | None = None,
) -> Result | Plan[Result]:
    """The result of a statement, or the plan of its change. Raises errors of `widerow.errors`.

    `between` is called with every chunk of rows, and may end the statement. `page`: the page that
    is wanted; None: the client takes no pages, and gets the first one.
    """
    shape = None if page is not None and page.token else shape_of(text)
    state = engine.core.catalog.seen()
    known = shape and _PREPARED.find(state, instance, shape)
    if known:
        return _Run(engine, instance, between).answer(known)
    statement = read_statement(text)
    if permission_of(text) is not _NEEDED.get(type(statement), Permission.READ):
        # What stands before the statement was read in two ways, and the sender checked by one.
        raise InvalidRequest(TablestoreRule.SQL_SYNTAX, near=text[:40])
    _check_databases(statement, instance)
    if isinstance(statement, Select | Explain):
        run = _Run(engine, instance, between)
        if isinstance(statement, Explain):
            return run.explained(statement)
        found = run.result(statement) if page is None else run.page(statement, text, page.token)
        if shape and run.query and run.is_kept and engine.core.catalog.seen() is state:
            _PREPARED.keep(state, instance, shape, statement.tree, run.query)
        return found
    if page is not None and page.token:
        raise InvalidRequest(TablestoreRule.SQL_TOKEN)
    runner: Callable[..., Result | Plan[Result]] = _RUNNERS[type(statement)]
    return runner(engine, instance, statement)


def run_short(engine: TablestoreEngine, instance: str, text: str, budget: Budget) -> Result | None:
    """The result of a query whose plan is kept and reads few rows; None for any other text.

    Raises `TooLong` where they are more than the budget.
    """
    shape = shape_of(text)
    if shape is None:
        return None
    state = engine.core.catalog.seen()
    known = _PREPARED.find_short(state, instance, shape)
    if known is None:
        return None
    try:
        return _Run(engine, instance, on_loop=budget).answer(known)
    except TooLong:
        _PREPARED.note_long(state, instance, shape)
        raise


def _check_databases(statement: SqlStatement, instance: str) -> None:
    """Raise `NotFound` where a statement names another database than its instance."""
    for each in named_databases(statement):
        if each.lower() != instance.lower():
            raise NotFound(TablestoreRule.SQL_DATABASE_UNKNOWN, database=each)


def _show_tables(engine: TablestoreEngine, instance: str, statement: ShowTables) -> Result:
    return Result(StatementType.SHOW, show_tables(engine, instance, statement.pattern))


def _show_columns(engine: TablestoreEngine, instance: str, statement: ShowColumns) -> Result:
    seen = find_seen_table(engine, instance, statement.table)
    found = show_columns(seen, statement.pattern, full=statement.full)
    return Result(StatementType.SHOW, found)


def _show_index(engine: TablestoreEngine, instance: str, statement: ShowIndex) -> Result:
    return Result(
        StatementType.SHOW, show_index(find_seen_table(engine, instance, statement.table))
    )


def _describe(engine: TablestoreEngine, instance: str, statement: Describe) -> Result:
    found = find_seen_table(engine, instance, statement.table)
    return Result(StatementType.DESCRIBE, list_columns(found))


def _create(
    engine: TablestoreEngine, instance: str, statement: CreateMapping
) -> Result | Plan[Result]:
    plan = create_mapping(engine, instance, statement)
    made = Result(StatementType.CREATE_TABLE)
    return made if plan is None else plan.answering(lambda _: made)


def _alter(engine: TablestoreEngine, instance: str, statement: AlterMapping) -> Plan[Result]:
    plan = alter_mapping(engine, instance, statement)
    return plan.answering(lambda _: Result(StatementType.ALTER))


def _drop(engine: TablestoreEngine, instance: str, statement: DropMapping) -> Result | Plan[Result]:
    plans = drop_mappings(engine, instance, statement)
    dropped = Result(StatementType.DROP_MAPPING)
    if not plans:
        return dropped
    writes = tuple([write for plan in plans for write in plan.writes])
    return Plan(writes, failing).answering(lambda _: dropped)


def _changes(
    kind: StatementType, plan: Callable[[TablestoreEngine, str, Any], Plan[Changed]]
) -> Callable[[TablestoreEngine, str, Any], Plan[Result]]:
    def answer(changed: Changed) -> Result:
        consumed = StatementUnits(changed.table, changed.read_units, changed.write_units)
        return Result(kind, None, (consumed,), changed.rows)

    def run(engine: TablestoreEngine, instance: str, statement: Any) -> Plan[Result]:  # noqa: ANN401  # of the kind
        return plan(engine, instance, statement).answering(answer)

    return run


_RUNNERS: Final[dict[type, Callable[..., Result | Plan[Result]]]] = {
    ShowTables: _show_tables,
    ShowIndex: _show_index,
    ShowColumns: _show_columns,
    Describe: _describe,
    CreateMapping: _create,
    AlterMapping: _alter,
    DropMapping: _drop,
    Insert: _changes(StatementType.INSERT, insert_rows),
    Update: _changes(StatementType.UPDATE, update_rows),
    Delete: _changes(StatementType.DELETE, delete_rows),
}


@contextmanager
def _telling_stops() -> Iterator[None]:
    """Raise the end of a budget as the error that clients know."""
    try:
        yield
    except QueryStopped as stopped:
        raise Exhausted(_STOPPED[stopped.resource], limit=stopped.limit) from stopped


class _Run:
    """One SELECT, with the queries inside it.

    `query`: its plan, once it was answered; `is_kept`: whether the plan is good for another time.
    """

    def __init__(
        self,
        engine: TablestoreEngine,
        instance: str,
        between: Between = never_ends,
        on_loop: Budget | None = None,
    ) -> None:
        clock = engine.core.clock
        self._engine = engine
        self._budget = QueryBudget(_LIMITS, clock.now_us, between)
        self._reader = RowReader(engine, self._budget, on_loop)
        self._instance = instance
        self.query: PlannedQuery | None = None
        self.is_kept = True

    def planned(self, select: Select, *, search: bool = True) -> PlannedQuery:
        """The plan; `search`: search indexes serve statements that do not ask for them."""
        now_us = self._engine.core.clock.now_us()
        planner = Planner(self._engine, self._instance, now_us, self._values, search=search)
        return planner.plan(select.tree, select.headers)

    def explained(self, statement: Explain) -> Result:
        """The plan in words. Queries inside it are run, since the plan may depend on them.

        Where it is to be measured the query is run too: its rows are read and not answered.
        """
        if not statement.measured:
            with _telling_stops():
                query = self.planned(statement.select)
            return Result(StatementType.SELECT, list_operators(self._engine, query.plan))
        found = self.result(statement.select)
        assert self.query is not None, "a query that was answered has a plan"
        units = [f"read capacity units of {each.place}: {each.read:,}" for each in found.consumed]
        lines = list_measured(self.query.plan, self._reader.rows_of, units)
        return found._replace(table=lines)

    def page(self, select: Select, text: str, token: str) -> Result:
        """A page of the groups of a query; all rows of a query that has none."""
        position = groups_given(text, token) if token else 0
        with _telling_stops():
            comes_in_pages = is_paged(select.tree) and groups_by_index(self.planned(select).plan)
        if not comes_in_pages:
            if token:
                raise InvalidRequest(TablestoreRule.SQL_TOKEN)
            return self.result(select)
        tree, size = paged(select.tree, position)
        found = self.result(Select(tree, select.headers))
        table = found.table
        if table is None or table.rows <= size:
            return found
        kept = Listing(table.columns, tuple([each[:size] for each in table.values]), size)
        return found._replace(table=kept, token=token_of(text, position + size))

    def result(self, select: Select) -> Result:
        """The rows of the query."""
        with _telling_stops():
            try:
                self.query = self.planned(select)
                return self._answer(self.query)
            except Conflict as error:
                if error.rule is not TablestoreRule.SEARCH_INDEX_BUILDING:
                    raise
                # A table answers while an index is built, unless the statement asks for the index.
                self._reader = RowReader(self._engine, self._budget)
                self.query = self.planned(select, search=False)
                self.is_kept = False
                return self._answer(self.query)

    def answer(self, query: PlannedQuery) -> Result:
        """The rows of a plan."""
        with _telling_stops():
            return self._answer(query)

    def _answer(self, query: PlannedQuery) -> Result:
        values, rows = self._all(query)
        read = self._reader.bytes.items()
        consumed = tuple([StatementUnits(name, max(1, units(size)), 0) for name, size in read])
        for (table, index), size in self._reader.search_bytes.items():
            consumed = (*consumed, StatementUnits(table, max(1, units(size)), 0, index))
        for name, size in self._reader.meta_bytes.items():
            consumed = (*consumed, StatementUnits(name, max(1, units(size)), 0, metas=True))
        return Result(StatementType.SELECT, Listing(query.columns, values, rows), consumed)

    def _all(self, query: PlannedQuery) -> tuple[tuple[Values, ...], int]:
        """The values of each column, all of them in memory."""
        self._reader.begin(query.plan)
        chunks: list[Chunk] = []
        for chunk in run_plan(query.plan, self._reader, self._budget):
            self._budget.hold(chunk.rows * len(query.columns))
            chunks.append(chunk)
        if len(chunks) == 1:
            return chunks[0].columns, chunks[0].rows
        columns: list[list[Any]] = [[] for _ in query.columns]
        while chunks:
            for held, values in zip(columns, chunks.pop(0).columns, strict=True):
                held.extend(values)
        return tuple(columns), len(columns[0])

    def _values(self, query: PlannedQuery) -> list[Any]:
        values, _ = self._all(query)
        return list(values[0])
