"""INSERT, UPDATE and DELETE: each becomes row operations of one partition key value (sql §12)."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from sqlglot import exp

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, InvalidRequest, Unsupported
from widerow.limits import BATCH_WRITE_ROWS_MAX, INT64_MAX
from widerow.model.tablestore.answers import RowOutcome
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.mapping import MappedColumn, SqlType
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.tablestore.row import (
    CellChange,
    CellOperation,
    Modification,
    PrimaryKey,
    RowChange,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import KeyValue
from widerow.rows.cells import body_size, cell_body
from widerow.wire.tablestore.operations.sql.bind import Binder
from widerow.wire.tablestore.operations.sql.kinds import KIND_OF, SqlKind, as_number
from widerow.wire.tablestore.operations.sql.scope import NameScope
from widerow.wire.tablestore.operations.sql.syntax import Delete, Insert, Update
from widerow.wire.tablestore.operations.sql.tables import SeenTable, find_seen_table

__all__ = ["Changed", "delete_rows", "insert_rows", "update_rows"]


class Changed(NamedTuple):
    """What a statement changed: a table, how many rows, and the capacity units of both kinds."""

    table: str
    rows: int
    read_units: int
    write_units: int


_DIFFERENT_KEYS: Final = "`{}` on different partition keys is not supported"
_CONSTANTS: Final = "point update only supports constant and self-increment assignments"
_INTEGERS: Final = "point update only supports integer type self increment"


def _refused(detail: str) -> Unsupported:
    return Unsupported(TablestoreRule.SQL_CHANGE, detail=detail)


# --- INSERT ----------------------------------------------------------------------------------


def insert_rows(engine: TablestoreEngine, instance: str, statement: Insert) -> Plan[Changed]:
    """The rows of an INSERT: all are written, or none. Raises `InvalidRequest`, `Unsupported`.

    The plan also raises `Conflict`: `InvalidRequest` for a row that is there already.
    """
    tree = statement.tree
    target, names = _target(tree)
    seen = _table(engine, instance, target)
    values = tree.expression
    if not isinstance(values, exp.Values):
        raise _refused("insert without values is not supported")
    columns = _columns(seen, names)
    if len(values.expressions) > BATCH_WRITE_ROWS_MAX:
        raise InvalidRequest(TablestoreRule.SQL_INSERT_ROWS, limit=BATCH_WRITE_ROWS_MAX)
    rows = [_row(columns, node) for node in values.expressions]
    keys = [_key(seen, row) for row in rows]
    if len({key[0][1] for key in keys}) > 1:
        raise _refused(_DIFFERENT_KEYS.format(statement.variant or "insert into"))
    if statement.variant:
        raise InvalidRequest(TablestoreRule.TRANSACTIONS_DISABLED)
    if seen.table.auto_increment is not None:
        raise _refused("insert into a table with an auto-increment column is not supported")
    condition = Condition(RowExpectation.EXPECT_NOT_EXIST)
    key_names = {column.name for column in seen.table.key_columns}
    changes = [
        _change(seen, Modification.PUT, key, list(_puts(row, key_names)), condition)
        for key, row in zip(keys, rows, strict=True)
    ]
    batch = BatchWrite((TableWrite(seen.table.name, tuple(changes)),), atomic=True)

    def answer(outcomes: list[list[RowOutcome]]) -> Changed:
        return _changed(seen, [outcome for rows in outcomes for outcome in rows])

    return engine.rows.batch_write_row(instance, batch).answering(answer)


def _target(tree: exp.Insert) -> tuple[str, list[str] | None]:
    into = tree.this
    if isinstance(into, exp.Schema):
        return into.this.name, [each.name for each in into.expressions]
    return into.name, None


def _columns(seen: SeenTable, names: list[str] | None) -> list[MappedColumn]:
    """The columns that values are given for: those named, or all of the mapping."""
    if names is None:
        return list(seen.mapping.columns)
    known = {column.name.lower(): column for column in seen.mapping.columns}
    for name in names:
        if name.lower() not in known:
            raise InvalidRequest(
                TablestoreRule.SQL_COLUMN_UNKNOWN, column=name, clause="field list"
            )
    if len({name.lower() for name in names}) < len(names):
        raise InvalidRequest(TablestoreRule.SQL_MAPPING, reason="a column is named twice")
    return [known[name.lower()] for name in names]


def _row(columns: Sequence[MappedColumn], node: exp.Expr) -> dict[str, tuple[MappedColumn, Any]]:
    given = node.expressions
    if len(given) != len(columns):
        raise InvalidRequest(TablestoreRule.SQL_VALUE_COUNT)
    return {c.name: (c, _constant(c, each)) for c, each in zip(columns, given, strict=True)}


def _puts(row: dict[str, tuple[MappedColumn, Any]], key: set[str]) -> Iterator[CellChange]:
    for name, (_, value) in row.items():
        if name not in key and value is not None:
            yield _put(name, value)


def _changed(seen: SeenTable, outcomes: Sequence[RowOutcome]) -> Changed:
    """What the written rows come to. Raises the first error of a row, in the words of SQL."""
    read = write = 0
    for outcome in outcomes:
        if isinstance(outcome.error, Conflict) and outcome.error.rule in _NOT_AS_EXPECTED:
            raise InvalidRequest(TablestoreRule.SQL_DUPLICATE) from outcome.error
        if outcome.error is not None:
            raise outcome.error
        assert outcome.written is not None
        read += outcome.written.read_units
        write += outcome.written.write_units
    return Changed(seen.table.name, len(outcomes), read, write)


_NOT_AS_EXPECTED: Final = frozenset((TablestoreRule.ROW_EXISTS, TablestoreRule.ROW_ABSENT))

# --- UPDATE and DELETE -----------------------------------------------------------------------


def update_rows(engine: TablestoreEngine, instance: str, statement: Update) -> Plan[Changed]:
    """The row of an UPDATE, if it is there. Raises as `insert_rows`."""
    tree = statement.tree
    _check_clauses(tree, "update")
    seen = _table(engine, instance, tree.this.name)
    key = _key_of_where(seen, tree.args.get("where"))
    cells = [_assigned(seen, each) for each in tree.expressions]
    if len({cell.name for cell in cells}) < len(cells):
        raise InvalidRequest(TablestoreRule.SQL_MAPPING, reason="a column is named twice")
    return _one_row(engine, instance, seen, Modification.UPDATE, key, cells)


def delete_rows(engine: TablestoreEngine, instance: str, statement: Delete) -> Plan[Changed]:
    """The row of a DELETE, if it is there. Raises as `insert_rows`."""
    tree = statement.tree
    _check_clauses(tree, "delete")
    seen = _table(engine, instance, tree.this.name)
    key = _key_of_where(seen, tree.args.get("where"))
    return _one_row(engine, instance, seen, Modification.DELETE, key, [])


def _check_clauses(tree: exp.Update | exp.Delete, what: str) -> None:
    if tree.args.get("limit") is not None:
        raise _refused(f"limit in {what} statement is not supported")
    for clause in ("order", "with_", "from_", "using", "tables", "returning"):
        if tree.args.get(clause):
            raise _refused(f"{clause.rstrip('_')} in {what} statement is not supported")
    if not isinstance(tree.this, exp.Table) or tree.this.args.get("joins"):
        raise _refused(f"joins in {what} statement are not supported")


def _one_row(
    engine: TablestoreEngine,
    instance: str,
    seen: SeenTable,
    modification: Modification,
    key: tuple[tuple[str, KeyValue], ...],
    cells: list[CellChange],
) -> Plan[Changed]:
    """A change of one row, which is none where the row is absent."""
    condition = Condition(RowExpectation.EXPECT_EXIST)
    change = _change(seen, modification, key, cells, condition)
    batch = BatchWrite((TableWrite(seen.table.name, (change,)),))

    def answer(outcomes: list[list[RowOutcome]]) -> Changed:
        [[outcome]] = outcomes
        if isinstance(outcome.error, Conflict) and outcome.error.rule in _NOT_AS_EXPECTED:
            return Changed(seen.table.name, 0, 1, 0)
        return _changed(seen, [outcome])

    return engine.rows.batch_write_row(instance, batch).answering(answer)


def _key_of_where(seen: SeenTable, where: exp.Where | None) -> tuple[tuple[str, KeyValue], ...]:
    """The whole key that WHERE names, column by column. Raises for any other condition."""
    found: dict[str, Any] = {}
    columns = {column.name.lower(): column for column in seen.mapping.columns}
    key_names = [column.name for column in seen.table.key_columns]
    for node in where.this.flatten() if where is not None and _is_and(where) else _only(where):
        inner = node.unnest()
        column = columns.get(inner.this.name.lower()) if isinstance(inner, exp.EQ) else None
        if column is None or not isinstance(inner.this, exp.Column) or column.name in found:
            raise InvalidRequest(TablestoreRule.SQL_POINT_CHANGE)
        if column.name not in key_names:
            raise InvalidRequest(TablestoreRule.SQL_POINT_CHANGE)
        found[column.name] = _constant(column, inner.expression)
    if set(found) != set(key_names):
        raise InvalidRequest(TablestoreRule.SQL_POINT_CHANGE)
    return _key(seen, {name: (columns[name.lower()], value) for name, value in found.items()})


def _is_and(where: exp.Where) -> bool:
    return isinstance(where.this, exp.And)


def _only(where: exp.Where | None) -> list[exp.Expr]:
    return [] if where is None else [where.this]


def _assigned(seen: SeenTable, node: exp.Expr) -> CellChange:
    """The change of a cell that an assignment of SET means."""
    if not isinstance(node, exp.EQ) or not isinstance(node.this, exp.Column):
        raise _refused(_CONSTANTS)
    [column] = _columns(seen, [node.this.name])
    if any(column.name == each.name for each in seen.table.key_columns):
        raise InvalidRequest(TablestoreRule.SQL_MAPPING, reason="a primary key column is set")
    value = node.expression
    if isinstance(value, exp.Add | exp.Sub):
        return _incremented(column, value)
    if not _is_constant(value):
        raise _refused(_CONSTANTS)
    constant = _constant(column, value)
    if constant is None:
        return CellChange(CellOperation.DELETE_ALL_VERSIONS, column.name, None, len(column.name))
    return _put(column.name, constant)


def _incremented(column: MappedColumn, node: exp.Binary) -> CellChange:
    own = isinstance(node.this, exp.Column) and node.this.name.lower() == column.name.lower()
    if not own or not _is_constant(node.expression) or column.type in _TEXTS:
        raise _refused(_CONSTANTS)
    amount = as_number(_binder().bind(node.expression))
    if column.type is not SqlType.BIGINT or amount.kind is not SqlKind.LONG:
        raise _refused(_INTEGERS)
    by = amount.value
    body, crc = cell_body(column.name, -by if isinstance(node, exp.Sub) else by)
    return CellChange(CellOperation.INCREMENT, column.name, None, body_size(body), body, crc)


_TEXTS: Final = frozenset(
    (SqlType.VARCHAR, SqlType.MEDIUMTEXT, SqlType.VARBINARY, SqlType.MEDIUMBLOB)
)

# --- values ----------------------------------------------------------------------------------


def _binder() -> Binder:
    """Binds values that name no column."""

    def no_query(_node: exp.Expr) -> tuple[list[Any], SqlKind]:
        raise _refused(_CONSTANTS)

    return Binder(NameScope(()), 0, no_query, lambda: 0.0)


def _is_constant(node: exp.Expr) -> bool:
    inner = node.this if isinstance(node, exp.Neg) else node
    return isinstance(inner, exp.Literal | exp.HexString | exp.Boolean | exp.Null)


def _constant(column: MappedColumn, node: exp.Expr) -> Any:  # noqa: ANN401  # of the column's type
    """The value of a literal for a column. Raises `InvalidRequest` where its type is another."""
    if not _is_constant(node):
        raise _refused(_CONSTANTS)
    typed = _binder().bind(node)
    value = typed.value
    wanted = KIND_OF[column.type]
    if value is None:
        return None
    if wanted is SqlKind.BOOL and value in (0, 1) and typed.kind in (SqlKind.LONG, SqlKind.BOOL):
        return bool(value)
    if wanted is SqlKind.DOUBLE and typed.kind is SqlKind.LONG and not typed.is_condition:
        return float(value)
    if typed.kind is not wanted or typed.is_condition:
        raise InvalidRequest(TablestoreRule.SQL_VALUE_TYPE, column=column.name)
    return value


def _key(
    seen: SeenTable, row: dict[str, tuple[MappedColumn, Any]]
) -> tuple[tuple[str, KeyValue], ...]:
    found = []
    for column in seen.table.key_columns:
        value = row[column.name][1] if column.name in row else None
        if value is None:
            raise InvalidRequest(TablestoreRule.SQL_KEY_NULL, column=column.name)
        if value == INT64_MAX:
            raise InvalidRequest(TablestoreRule.SQL_KEY_LARGEST)
        found.append((column.name, value))
    return tuple(found)


def _put(name: str, value: Any) -> CellChange:  # noqa: ANN401  # of a cell
    body, crc = cell_body(name, value)
    return CellChange(CellOperation.PUT, name, None, body_size(body), body, crc)


def _change(
    seen: SeenTable,
    modification: Modification,
    key: tuple[tuple[str, KeyValue], ...],
    cells: list[CellChange],
    condition: Condition,
) -> RowChange:
    return RowChange(seen.table.name, modification, PrimaryKey(key), tuple(cells), condition)


def _table(engine: TablestoreEngine, instance: str, name: str) -> SeenTable:
    seen = find_seen_table(engine, instance, name)
    if seen.series is not None:
        raise _refused("points are put with PutTimeseriesData; SQL changes no timeseries tables")
    if seen.table.index_of:
        raise _refused("changes of index tables are not supported")
    if seen.search is not None:
        raise _refused("changes of mappings of search indexes are not supported")
    return seen
