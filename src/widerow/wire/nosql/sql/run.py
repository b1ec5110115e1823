"""Preparing and running statements of SQL: what the dialect's queries call (nosql-wire §6).

    prepared = prepare_statement("SELECT * FROM users WHERE id = ?", tables)
    page = run_prepared(prepared, engine, {"#1": 7}, QueryRun(…))

Everything is done here: sorting, grouping and joining too, so drivers never get a plan to run.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context
from typing import Any, Final, NamedTuple

from widerow.engine.between import Between, never_ends
from widerow.engine.budget import Budget
from widerow.engine.plan import Plan
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.tables import TypedTables
from widerow.errors import InvalidRequest, NotFound
from widerow.model.typed.names import in_namespace
from widerow.wire.nosql.convert import column_value
from widerow.wire.nosql.nson import EmptyValue, Long, TimestampText
from widerow.wire.nosql.sql import syntax
from widerow.wire.nosql.sql.access_path import AccessPath
from widerow.wire.nosql.sql.bind_select import BoundSelect, Find, bind_select, fault_at
from widerow.wire.nosql.sql.bind_writes import BoundWrite, bind_delete, bind_insert, bind_update
from widerow.wire.nosql.sql.casts import cast_item, field_type
from widerow.wire.nosql.sql.delete_run import DeletedPage, DeletePlan, delete_page
from widerow.wire.nosql.sql.insert_run import InsertedRow, InsertPlan, insert_row
from widerow.wire.nosql.sql.items import LongInt, SentRow, is_number, item_of
from widerow.wire.nosql.sql.lexis import TextPlace
from widerow.wire.nosql.sql.parse import parse_statement
from widerow.wire.nosql.sql.results import OutputColumn, result_row, schema_text
from widerow.wire.nosql.sql.resume import (
    QueryResume,
    read_resume,
    resume_bytes,
    statement_mark,
)
from widerow.wire.nosql.sql.scope import SqlFrame, SqlScope
from widerow.wire.nosql.sql.select_run import PageBounds, select_page
from widerow.wire.nosql.sql.short import steps_of_row
from widerow.wire.nosql.sql.statement_rules import StatementRule
from widerow.wire.nosql.sql.texts import item_type_name, text_of
from widerow.wire.nosql.sql.update_run import UpdatedRows, UpdatePlan, run_update

__all__ = ["Prepared", "QueryPage", "QueryRun", "prepare_statement", "run_prepared"]

SELECT, UPDATE, INSERT, DELETE = 5, 6, 18, 19


class QueryRun(NamedTuple):
    """How a statement is to be run.

    `limit`: rows of a page, 0: any number. `read_kb`: kilobytes read for a page, 0: the most.
    `absolute`: reads cost twice. `context`: how a NUMBER is rounded. `random`: random bytes.
    `between` is called between the steps of the work. `budget`: what a query may read, a step a
    record; None: a page.
    """

    now_us: int
    continuation: bytes
    limit: int
    read_kb: int
    absolute: bool
    context: Context
    random: Callable[[int], bytes]
    between: Between = never_ends
    budget: Budget | None = None


class QueryPage(NamedTuple):
    """Rows as values of NSON, and where the next page begins (b"": this is the last).

    Kilobytes and units are those of this page, without what preparing costs.
    """

    rows: list[SentRow]
    continuation: bytes
    read_kb: int
    read_units: int
    write_kb: int = 0


@dataclass(frozen=True)
class Prepared:
    """A statement that was read, bound to its tables and planned. It may be run many times.

    `operation`: its number on the wire. `variables`: external ones, in the order that `#1` counts.
    `readers`: of the values of its variables. `mark`: of its continuation keys.
    `loop_steps`: steps of a budget that each of its rows takes on the server's loop; 0: it runs on
    a thread.
    """

    text: str
    table: str
    operation: int
    bound: BoundSelect | BoundWrite
    scope: SqlScope
    variables: tuple[tuple[str, syntax.TypeNode], ...]
    readers: Mapping[str, Callable[[Any], Any]]
    mark: bytes
    loop_steps: int = 0

    @property
    def writes(self) -> bool:
        """Whether it is an INSERT, UPSERT, UPDATE or DELETE."""
        return self.operation != SELECT

    @property
    def advanced(self) -> bool:
        """Whether the vendor's driver would run a part of it (nosql-wire §6)."""
        return self.bound.advanced

    @property
    def forms(self) -> tuple[TableForm, ...]:
        """The tables as they were when it was prepared."""
        return tuple(table.form for table in self.scope.tables)

    def schema(self) -> str:
        """The type of its result rows, as JSON."""
        outputs = self.bound.outputs
        if outputs is not None:
            return schema_text(outputs.columns, outputs.name)
        name = _COUNTED[self.operation]
        kind = syntax.TypeNode("LONG" if self.operation == DELETE else "INTEGER")
        document = json.loads(schema_text([OutputColumn(name, kind, nullable=False)], None))
        document["fields"][0]["default"] = 1
        return json.dumps(document)

    def plan(self) -> str:
        """How it reaches its rows, as JSON."""
        return json.dumps({"query plan": [_shown(path) for path in self.bound.paths]}, indent=2)


_COUNTED: Final = {
    INSERT: "NumRowsInserted",
    UPDATE: "NumRowsUpdated",
    DELETE: "numRowsDeleted",
}


def _shown(path: AccessPath) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "iterator kind": "TABLE",
        "target table": path.form.table.name,
        "row order": "reverse" if path.reverse else "forward",
    }
    if path.nothing:
        return {**shown, "condition": "never true"}
    conditions = [[each.operator for each in column] for column in path.conditions]
    return {**shown, "index used": path.name, "conditions of leading columns": conditions}


# --- preparing -----------------------------------------------------------------------------------


def prepare_statement(text: str, tables: TypedTables, namespace: str | None = None) -> Prepared:
    """Read a statement and plan it. Raises `InvalidRequest`, and `NotFound` for its table.

    `namespace`: of the tables that are named without one; None where there are no namespaces.
    """
    statement = parse_statement(text)
    scope = SqlScope()
    declared = [(name, kind) for name, kind, _ in statement.declared]
    marks = range(len(declared), statement.parameters)
    declared += [(f"$${number}", syntax.TypeNode("ANY")) for number in marks]
    scope.externals = dict(declared)
    operation, bound = _bound(statement, _finding(tables, namespace), scope)
    return Prepared(
        text,
        scope.tables[0].name,
        operation,
        bound,
        scope,
        tuple(declared),
        {name: _reader(name, kind) for name, kind in declared},
        statement_mark(text),
        steps_of_row(statement, bound),
    )


def _finding(tables: TypedTables, namespace: str | None) -> Find:
    """How the tables of a statement are found."""
    if namespace is None:
        return tables.get_qualified

    def find(name: str) -> TableForm | None:
        form = tables.get_qualified(in_namespace(name, namespace))
        if form is None and ":" in name:
            raise NotFound(StatementRule.TABLE_NOT_FOUND, table=name[:300])
        return form

    return find


def _bound(
    statement: syntax.NosqlStatement, find: Find, scope: SqlScope
) -> tuple[int, BoundSelect | BoundWrite]:
    if isinstance(statement, syntax.SelectStatement):
        return SELECT, bind_select(statement, find, scope)
    if isinstance(statement, syntax.InsertStatement):
        return INSERT, bind_insert(statement, find, scope)
    if isinstance(statement, syntax.UpdateStatement):
        return UPDATE, bind_update(statement, find, scope)
    assert isinstance(statement, syntax.DeleteStatement)
    return DELETE, bind_delete(statement, find, scope)


# --- variables -----------------------------------------------------------------------------------


def _variables(prepared: Prepared, given: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """The items of the external variables. Raises `InvalidRequest`."""
    readers = prepared.readers
    names = list(readers)
    bound: dict[str, Sequence[Any]] = {}
    for name, value in given.items():
        named = name
        if name.startswith("#") and name[1:].isdigit():
            position = int(name[1:])
            if not 1 <= position <= len(names):
                raise InvalidRequest(StatementRule.VARIABLE_POSITION, position=position)
            named = names[position - 1]
        read = readers.get(named)
        if read is None:
            raise InvalidRequest(StatementRule.VARIABLE_UNKNOWN, name=name[:100])
        bound[named] = (read(value),)
    if names and not bound:
        raise InvalidRequest(StatementRule.VARIABLES_UNBOUND)
    for name in names:
        if name not in bound:
            raise InvalidRequest(StatementRule.VARIABLE_UNBOUND, name=name)
    return bound


def _reader(name: str, kind: syntax.TypeNode) -> Callable[[Any], Any]:
    """How a value that a client bound is read as an item of the declared type."""
    declared = None if kind.name.startswith("ANY") else field_type(kind)
    if declared is None:
        return _item
    convert = item_of(declared)

    def read(value: Any) -> Any:  # noqa: ANN401  # values of NSON
        try:
            converted = column_value(value, declared)
        except InvalidRequest as error:
            raise InvalidRequest(
                StatementRule.VARIABLE_VALUE, name=name, text=str(error)
            ) from error
        return converted if converted is None or convert is None else convert(converted)

    return read


def _item(value: Any) -> Any:  # noqa: ANN401  # values of NSON
    if isinstance(value, Long):
        return LongInt(value.value)
    if isinstance(value, TimestampText):
        return cast_item(value.text, syntax.TypeNode("TIMESTAMP", size=9), TextPlace())
    if isinstance(value, EmptyValue):
        return None
    if isinstance(value, Mapping):
        return {name: _item(each) for name, each in value.items()}
    return [_item(each) for each in value] if isinstance(value, list) else value


# --- running -------------------------------------------------------------------------------------


def run_prepared(
    prepared: Prepared, engine: TypedEngine, variables: Mapping[str, Any], asked: QueryRun
) -> QueryPage | Plan[QueryPage]:
    """A page of a query's rows, or what a statement that writes plans; its answer is a page.

    A statement whose table was changed since is prepared again. Raises `InvalidRequest`,
    `NotFound`, `Unsupported`, `TooLong` where the budget is too small; a plan also what the writes
    of the engine raise.
    """
    if any(engine.tables.by_id(form.id) is not form for form in prepared.forms):
        prepared = prepare_statement(prepared.text, engine.tables)
    given = _variables(prepared, variables)
    mark = prepared.mark
    resume = read_resume(mark, asked.continuation)

    def frame() -> SqlFrame:
        return SqlFrame(prepared.scope, given, asked.now_us, asked.context, asked.random)

    bound = prepared.bound
    if isinstance(bound, BoundSelect):
        return _select(bound, engine, frame(), asked, (resume, mark))
    if isinstance(bound.plan, InsertPlan):
        plan = insert_row(bound.plan, engine, frame())
        return plan.answering(lambda done: _inserted(done, returning=bound.outputs is not None))
    if isinstance(bound.plan, UpdatePlan):
        updated = run_update(bound.plan, engine, frame)
        returning = bound.outputs is not None
        if isinstance(updated, UpdatedRows):
            return _updated(updated, returning=returning)
        return updated.answering(lambda done: _updated(done, returning=returning))
    return _delete(bound.plan, engine, frame, (resume, mark), asked.between)


_Resumed = tuple[QueryResume, bytes]


def _select(
    bound: BoundSelect, engine: TypedEngine, frame: SqlFrame, asked: QueryRun, resumed: _Resumed
) -> QueryPage:
    resume, mark = resumed
    limit = _count(bound.limit, frame, bound.limit_place, "Limit")
    offset = _count(bound.offset, frame, bound.offset_place, "Offset") or 0
    bounds = PageBounds(asked.limit, asked.read_kb, limit, offset, asked.budget)
    page = select_page(bound.plan, engine, frame, bounds, resume, asked.context, asked.between)
    rows = [result_row(row) for row in page.rows]
    following = b"" if page.resume is None else resume_bytes(mark, page.resume)
    return QueryPage(rows, following, page.kb, page.kb * (2 if asked.absolute else 1))


def _count(compiled: Any, frame: SqlFrame, place: TextPlace, clause: str) -> int | None:  # noqa: ANN401  # compiled
    if compiled is None:
        return None
    items = compiled.evaluate(frame)
    item = items[0] if items else None
    if not is_number(item) or not isinstance(item, int):
        raise fault_at(
            StatementRule.COUNT_TYPE,
            place,
            value="null" if item is None else text_of(item)[:100],
            type=item_type_name(item),
        )
    if item < 0:
        raise fault_at(StatementRule.NEGATIVE, place, clause=clause)
    return int(item)


def _inserted(done: InsertedRow, *, returning: bool) -> QueryPage:
    rows = [] if done.row is None else [result_row(done.row)]
    if not returning:
        rows = [{"NumRowsInserted": int(done.inserted)}]
    return QueryPage(rows, b"", done.read_kb, 2 * done.read_kb, done.write_kb)


def _updated(done: UpdatedRows, *, returning: bool) -> QueryPage:
    rows = [result_row(row) for row in done.rows]
    if not returning:
        rows = [{"NumRowsUpdated": done.changed}]
    return QueryPage(rows, b"", done.read_kb, 2 * done.read_kb, done.write_kb)


def _delete(
    plan: DeletePlan,
    engine: TypedEngine,
    frame: Callable[[], SqlFrame],
    resumed: _Resumed,
    between: Between,
) -> QueryPage | Plan[QueryPage]:
    resume, mark = resumed

    def page(done: DeletedPage) -> QueryPage:
        total = resume.counted + done.changed
        following = b""
        if done.resume is not None:
            following = resume_bytes(
                mark, QueryResume(0, 0, done.resume.position, done.resume.within, total)
            )
        rows = [result_row(row) for row in done.rows]
        if plan.row is None and not following:
            rows = [{"numRowsDeleted": Long(total)}]
        return QueryPage(rows, following, done.read_kb, 2 * done.read_kb, done.write_kb)

    done = delete_page(plan, engine, frame, resume, between)
    return page(done) if isinstance(done, DeletedPage) else done.answering(page)
