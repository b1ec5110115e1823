"""Typed tables behind a server: what `widerow.nosql` has for a store of this process.

Definitions are asked for whenever a table is, and read as statements of this process would be.
What the protocol has no request for raises `NotRemote`.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Event
from typing import Any, Final

from widerow.client.failures import Refused, RequestFailed
from widerow.client.nosql_connection import NosqlAsked, NosqlConnection
from widerow.client.nosql_definitions import KnownTables
from widerow.client.nosql_rows import (
    PathBound,
    RowQuery,
    columns_sent,
    received_row,
    row_query,
)
from widerow.engine.typed.ddl import StatementResult, definition_text, parse, statement_text
from widerow.engine.typed.ddl.result import DONE, NOT_REQUIRED
from widerow.engine.typed.ddl.statements import (
    AddField,
    AlterTableStatement,
    CreateIndexStatement,
    DropField,
)
from widerow.engine.typed.ddl.text import declared_column
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.stored import StoredRow
from widerow.engine.typed.write import WriteResult
from widerow.errors import Conflict, NotFound, WiderowError
from widerow.model.typed.index_paths import index_paths
from widerow.model.typed.json_rows import row_from_json
from widerow.model.typed.names import folded, split_name
from widerow.model.typed.plans import TablePlan
from widerow.model.typed.requests import (
    Direction,
    FieldRange,
    OperationKind,
    Version,
    WriteChoice,
)
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import Index, TypedTable
from widerow.nosql.operation import Operation, Operations, RowWrites
from widerow.wire.nosql.faults import TABLE_NOT_FOUND
from widerow.wire.nosql.operations.rows import WRITE_KINDS
from widerow.wire.nosql.requests import (
    DELETE_PART_CODE,
    GET_CODE,
    PREPARE_CODE,
    QUERY_CODE,
    TABLE_CHANGE_CODE,
    TABLE_CODE,
    TABLES_CODE,
)
from widerow.wire.nosql.sql.parse import writes_rows
from widerow.wire.nosql.typed_values import encoded_value

__all__ = ["NotRemote", "ServerStore", "ServerTable"]

_ABSOLUTE: Final = {"y": 0}  # reads see what was written before
_ON_DEMAND: Final = {"ru": 0, "wu": 0, "sg": 1024, "mo": 2}  # limits, which the protocol asks for
_ACTIVE, _DROPPED = 0, 2  # the states of a table that last
_PAUSES: Final = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # seconds; the last for all others
_READING: Final = frozenset((GET_CODE, PREPARE_CODE, TABLE_CODE, TABLES_CODE))
_TOGETHER: Final = 32  # writes that are on their way at once; they share syncs
_CODES: Final[Mapping[OperationKind, int]] = {kind: code for code, kind in WRITE_KINDS.items()}
_DELETES: Final = frozenset((OperationKind.DELETE, OperationKind.DELETE_IF_VERSION))


class NotRemote(WiderowError):
    """The protocol has no request for what is asked; the message says what to do instead."""


class ServerStore:
    """The typed tables of one server. For one thread; close it when done."""

    def __init__(self, connection: NosqlConnection) -> None:
        """Ask nothing yet."""
        self._connection = connection
        self._known = KnownTables()
        self._numbers = itertools.count(1)
        self._plans: dict[int, TablePlan] = {}

    def close(self) -> None:
        """Close the connection. Idempotent."""
        self._connection.close()

    def ask(self, code: int, payload: Mapping[str, Any], table: str = "") -> dict[str, Any]:
        """The answer to an operation (nosql-wire §3.1). Raises as `NosqlConnection.ask`."""
        reads = code in _READING or (code == QUERY_CODE and not writes_rows(payload["st"]))
        return self._connection.ask(code, payload, table, reads=reads)

    # --- tables ------------------------------------------------------------------------------

    def find_table(self, name: str) -> "ServerTable | None":
        """The table of that name, in any case, as it is now; None if there is none."""
        form = self._fetched(name)
        return None if form is None else ServerTable(self, form)

    def table(self, name: str) -> "ServerTable":
        """The table of that name. Raises `NotFound`."""
        found = self.find_table(name)
        if found is None:
            raise NotFound(TypedRule.TABLE_MISSING, table=name[:300])
        return found

    def tables(self) -> list["ServerTable"]:
        """Every table, parents before their children. Cost: a request for each."""
        names = sorted(self.ask(TABLES_CODE, {}).get("tb", ()))
        held = {folded(name) for name in names}
        for form in self._known.all():
            if folded(form.table.qualified) not in held:
                self._known.forget(form.table.qualified)
        for name in names:
            self._fetched(name)
        return [ServerTable(self, form) for form in self._known.all()]

    def namespaces(self) -> list[str]:
        """The namespaces that have tables; the protocol tells of no other."""
        self.tables()
        return self._known.namespaces()

    def _fetched(self, name: str) -> TableForm | None:
        """The definition of a table, brought up to the server's; None if there is none."""
        try:
            answer = self.ask(TABLE_CODE, {}, name)
        except Refused as refused:
            if refused.code != str(TABLE_NOT_FOUND):
                raise
            self._known.forget(name)
            return None
        parent = name.rpartition(".")[0]
        if parent and self._known.get_qualified(parent) is None:
            self._fetched(parent)
        return self._known.learn(name, answer)

    # --- definitions -------------------------------------------------------------------------

    def run_statement(
        self,
        statement: str,
        *,
        namespace: str = "",
        progress: Callable[[int], None] = lambda _: None,
    ) -> StatementResult:
        """Run a definition statement and wait until it has taken effect (nosql-wire §5.1).

        `namespace`: for names that have none. `progress` is not told anything: the protocol does
        not say how far an index is. Raises: `InvalidRequest` for what cannot be read; the refusals
        of the server.
        """
        del progress
        read: Any = parse(statement)
        kind = type(read).__name__
        if kind.startswith(("Show", "Describe")):
            self.tables()
            return self._known.shown(statement, namespace)
        if namespace and "Namespace" not in kind:
            member = "table" if "Index" in kind else "name"
            named = getattr(read, member)
            if ":" not in named:
                statement = statement_text(replace(read, **{member: f"{namespace}:{named}"}))
        asked: dict[str, Any] = {"st": statement}
        if kind == "CreateTableStatement" and "." not in split_name(read.name)[1]:
            asked["lm"] = _ON_DEMAND
        return DONE if self._changed(asked) else NOT_REQUIRED

    def _changed(self, asked: Mapping[str, Any]) -> bool:
        """Ask for a change and wait for its end. Returns whether there was something to do."""
        answer = self.ask(TABLE_CHANGE_CODE, asked)
        operation = answer.get("od")
        if operation is None:
            return False
        attempt = 0
        while answer.get("as") not in (_ACTIVE, _DROPPED):
            Event().wait(_PAUSES[min(attempt, len(_PAUSES) - 1)])
            attempt += 1
            try:
                answer = self.ask(TABLE_CODE, {"od": operation}, str(answer["n"]))
            except Refused as refused:
                if refused.code != str(TABLE_NOT_FOUND):
                    raise
                break  # a table that was dropped
        return True

    def create_table(self, definition: TypedTable) -> None:
        """Create what `TableBuilder.build` made. Raises `Conflict`; the refusals of the server."""
        if not self.run_statement(definition_text(definition)).executed:
            raise Conflict(TypedRule.TABLE_EXISTS, table=definition.name)

    def alter_table(self, changed: TypedTable) -> None:
        """Change a table to what `TableEvolver.build` made: columns that came and went.

        Raises: `NotFound`; `Conflict` if the table was changed since the evolver took it;
        `NotRemote` for changes inside a column; the refusals of the server.
        """
        before = self.table(changed.qualified).definition
        if (before.id, before.revision) != (changed.id, changed.revision):
            raise Conflict(TypedRule.EVOLVE_STALE, table=before.qualified)
        old = {field.number: field for field in before.fields}
        new = {field.number: field for field in changed.fields}
        if any(old[number] != new[number] for number in old.keys() & new.keys()):
            raise NotRemote(
                "fields inside a column are changed by a statement: execute 'ALTER TABLE …'"
            )
        changes = [DropField(old[number].name) for number in old if number not in new]
        added = [AddField(declared_column(new[number])) for number in new if number not in old]
        if changes or added:
            statement = AlterTableStatement(changed.qualified, (*changes, *added))
            self.run_statement(statement_text(statement))

    def drop_table(self, name: str) -> None:
        """Drop a table. Raises the refusals of the server."""
        self._changed({"st": f"DROP TABLE {name}"})

    def create_index(
        self, table: str, index: Index, *, progress: Callable[[int], None] = lambda _: None
    ) -> None:
        """Create an index and wait until it answers. Raises the refusals of the server."""
        made = CreateIndexStatement(index.name, table, index.fields, comment=index.comment)
        self.run_statement(statement_text(made), progress=progress)

    def drop_index(self, table: str, name: str) -> None:
        """Drop an index. Raises the refusals of the server."""
        self._changed({"st": f"DROP INDEX {name} ON {table}"})

    # --- plans: of this object alone, the protocol has none ------------------------------------

    def next_plan_id(self) -> int:
        """A number that counts up, from 1 on."""
        return next(self._numbers)

    def save_plan(self, plan: TablePlan) -> None:
        """Keep a plan, or its progress, until the store is closed."""
        self._plans[plan.id] = plan

    def plans(self) -> list[TablePlan]:
        """The plans that were saved, in the order of their numbers."""
        return [self._plans[number] for number in sorted(self._plans)]

    # --- rows --------------------------------------------------------------------------------

    def write_many(self, operations: Iterable[Operation]) -> list[WriteResult]:
        """Make many writes, each for itself and by a request of its own, several at a time.

        Writes of one row happen in their order, and so do those whose key the server makes.
        Raises: the error of the first that is refused; those in front of it have happened, of those
        behind it that were sent with it some may have.
        """
        results: list[WriteResult] = []
        together: list[tuple[TableForm, NosqlAsked]] = []
        keys: set[tuple[int, bytes]] = set()
        for operation in operations:
            form = operation.table.form
            try:
                place = (form.id, _key_sent(form, operation.choice.values))
                asked = _write_asked(form, operation.choice)
            except WiderowError:
                self._written(together)
                raise
            if place in keys or len(together) == _TOGETHER:
                results += self._written(together)
                together, keys = [], set()
            together.append((form, asked))
            keys.add(place)
        return results + self._written(together)

    def _written(self, together: Sequence[tuple[TableForm, NosqlAsked]]) -> list[WriteResult]:
        answers = self._connection.ask_together([asked for _, asked in together])
        results = []
        for (form, _), answer in zip(together, answers, strict=True):
            if isinstance(answer, RequestFailed):
                raise answer
            results.append(_write_result(form, answer))
        return results

    def write(self, form: TableForm, choice: WriteChoice) -> WriteResult:
        """Put or delete one row. Raises `InvalidRequest`; the refusals of the server."""
        return _write_result(form, self.ask(*_write_asked(form, choice)))

    def selected(self, form: TableForm, selection: RowQuery) -> Iterator[StoredRow]:
        """The rows of a statement `SELECT *`, page by page. Raises the refusals of the server."""
        asked: dict[str, Any] = {"qv": 4, "st": selection.statement, "co": _ABSOLUTE}
        asked["bv"] = list(selection.variables)
        while True:
            page = self.ask(QUERY_CODE, asked)
            yield from (received_row(form, row, {}) for row in page["qr"])
            if "ck" not in page:
                return
            asked["ck"] = page["ck"]


class ServerTable(RowWrites[WriteResult]):
    """A table of a server, as it was when it was asked for."""

    def __init__(self, store: ServerStore, form: TableForm) -> None:
        """The table that is known by this form."""
        self._store = store
        self.form = form

    @property
    def definition(self) -> TypedTable:
        """The definition as it was told."""
        return self.form.table

    @property
    def name(self) -> str:
        """The qualified name."""
        return self.definition.qualified

    def get(self, key: Mapping[str, Any]) -> StoredRow | None:
        """The row of a whole primary key, or None. Raises `InvalidRequest`."""
        self.form.complete(key)
        asked = {"k": columns_sent(self.form, key), "co": _ABSOLUTE}
        row = self._store.ask(GET_CODE, asked, self.name).get("r")
        return None if row is None else received_row(self.form, row["l"], row)

    def _write(self, choice: WriteChoice) -> WriteResult:
        return self._store.write(self.form, choice)

    def operation(self) -> Operations:
        """The writes of a single row, described for `write_many`."""
        return Operations(self, abort_if_unsuccessful=False)

    def table_iterator(
        self,
        key: Mapping[str, Any] | None = None,
        *,
        field_range: FieldRange | None = None,
        direction: Direction = Direction.UNORDERED,
        ancestors: Sequence[str] = (),
        children: Sequence[str] = (),
    ) -> Iterator[StoredRow]:
        """Rows of any partial key, in its order. Raises `InvalidRequest`, `NotRemote`."""
        _refuse_others(ancestors, children)
        table = self.definition
        values = self.form.leading(key or {})
        types = dict(zip(table.primary_key, table.key_types, strict=True))
        bounds = [
            PathBound(name, types[name], "=", value)
            for name, value in zip(table.primary_key, values, strict=False)
        ]
        if field_range is not None:
            named = next(each for each in types if folded(each) == folded(field_range.field))
            bounds += _range_bounds(named, types[named], field_range)
        reverse = direction is Direction.REVERSE
        selection = row_query(table, bounds, table.primary_key, reverse=reverse)
        return self._store.selected(self.form, selection)

    def index_iterator(
        self,
        name: str,
        key: Mapping[str, Any] | None = None,
        *,
        field_range: FieldRange | None = None,
        direction: Direction = Direction.UNORDERED,
        children: Sequence[str] = (),
    ) -> Iterator[StoredRow]:
        """Rows in the order of an index that has one entry a row. Raises as `table_iterator`."""
        _refuse_others((), children)
        table = self.definition
        index = table.index(name)
        if index is None:
            raise NotFound(TypedRule.INDEX_MISSING, index=name[:100], table=table.name)
        paths = index_paths(table, index)
        if any(path.split >= 0 or path.function is not None for path in paths):
            raise NotRemote(
                f"the entries of the index {index.name} are not rows, and the protocol has no "
                "request for them; use execute 'SELECT …', which may read by the index"
            )
        bounds = [
            PathBound(path.text, path.type, "=", value)
            for given, value in (key or {}).items()
            for path in paths
            if folded(path.text) == folded(given)
        ]
        if field_range is not None:
            ranged = next(each for each in paths if folded(each.text) == folded(field_range.field))
            bounds += _range_bounds(ranged.text, ranged.type, field_range)
        order = [path.text for path in paths]
        reverse = direction is Direction.REVERSE
        return self._store.selected(self.form, row_query(table, bounds, order, reverse=reverse))

    def multi_delete(
        self,
        key: Mapping[str, Any],
        *,
        field_range: FieldRange | None = None,
        ancestors: Sequence[str] = (),
        children: Sequence[str] = (),
    ) -> int:
        """Delete rows of one shard; returns how many. Up to 2 MB are one transaction.

        Raises: `InvalidRequest`, `NotRemote`; the refusals of the server.
        """
        _refuse_others(ancestors, children)
        asked: dict[str, Any] = {"k": columns_sent(self.form, key)}
        if field_range is not None:
            asked["rg"] = _range_sent(self.definition, field_range)
        count = 0
        while True:
            answer = self._store.ask(DELETE_PART_CODE, asked, self.name)
            count += int(answer["nd"])
            if "ck" not in answer:
                return count
            asked["ck"] = answer["ck"]

    def row_from_json(self, text: str | bytes, *, exact: bool = False) -> dict[str, Any]:
        """The columns of a JSON object; `exact`: it must have every column and no other."""
        return row_from_json(text, self.definition, exact=exact)

    def key_from_json(self, text: str | bytes, *, exact: bool = False) -> dict[str, Any]:
        """The key columns of a JSON object; `exact`: it must have all of them and no other."""
        return row_from_json(text, self.definition, exact=exact, key_only=True)


def _write_asked(form: TableForm, choice: WriteChoice) -> NosqlAsked:
    """The request of a write (nosql-wire §4.2, §4.3). Raises `InvalidRequest`."""
    is_delete = choice.kind in _DELETES
    asked: dict[str, Any] = {"rr": True}
    asked["k" if is_delete else "l"] = columns_sent(form, choice.values)
    if choice.version is not None:
        asked["rv"] = choice.version.to_bytes()
    if choice.ttl is not None:
        asked["tt"] = choice.ttl.text()
    if choice.update_ttl:
        asked["ut"] = True
    return NosqlAsked(_CODES[choice.kind], asked, form.table.qualified)


def _write_result(form: TableForm, answer: Mapping[str, Any]) -> WriteResult:
    before = answer.get("ri", {})
    return WriteResult(
        success=bool(answer.get("ss", "rv" in answer)),
        version=Version.from_bytes(answer["rv"]) if "rv" in answer else None,
        previous=received_row(form, before["el"], {"rv": before["ev"]}) if before else None,
        previous_version=Version.from_bytes(before["ev"]) if before else None,
    )


def _key_sent(form: TableForm, values: Mapping[str, Any]) -> bytes:
    """What tells the rows of a table apart; b"" where the server makes a part of the key."""
    given = {name.lower(): value for name, value in values.items()}
    key = [given.get(name.lower()) for name in form.table.primary_key]
    if None in key:
        return b""
    kinds = zip(form.table.primary_key, form.table.key_types, key, strict=True)
    return form.row_key([form.key_value(name, kind, value) for name, kind, value in kinds])[1]


def _refuse_others(ancestors: Sequence[str], children: Sequence[str]) -> None:
    if ancestors or children:
        raise NotRemote(
            "the protocol has no request for rows of several tables in the order of their keys: "
            "ask for those of each table, or use execute 'SELECT … FROM NESTED TABLES (…)'"
        )


def _range_bounds(path: str, kind: Any, given: FieldRange) -> list[PathBound]:  # noqa: ANN401  # a FieldType
    sides = (
        (">=" if given.start_inclusive else ">", given.start),
        ("<=" if given.end_inclusive else "<", given.end),
    )
    return [PathBound(path, kind, sign, value) for sign, value in sides if value is not None]


def _range_sent(table: TypedTable, given: FieldRange) -> dict[str, Any]:
    """A range of a key column as a member of a request (nosql-wire §4.4)."""
    field = table.field(given.field)
    assert field is not None, "it was looked up by whoever made the range"
    sent: dict[str, Any] = {"rp": field.name}
    for member, value, inclusive in (
        ("sr", given.start, given.start_inclusive),
        ("en", given.end, given.end_inclusive),
    ):
        if value is not None:
            sent[member] = {"in": inclusive, "l": encoded_value(value, field.type)}
    return sent
