"""Statements of SQL, asked of an endpoint: the message, and the rows of its FlatBuffer (sql §9)."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from flatbuffers import number_types as numbers
from flatbuffers.table import Table

from widerow.client.connection import Client
from widerow.wire.tablestore import sql_messages as m
from widerow.wire.tablestore.operations.bodies import text

__all__ = ["StatementAnswer", "StatementCost", "ask_statement"]

_FLAT_BUFFERS: Final = 2


class StatementCost(NamedTuple):
    """The capacity units of a table or an index that a statement used.

    `search`: the name of a search index of the table; "": it is the table, or a secondary index.
    """

    table: str
    read: int
    write: int
    search: str = ""


class StatementAnswer(NamedTuple):
    """What a statement gave. `columns` is None where it has no rows; `affected`: changed rows."""

    columns: tuple[str, ...] | None
    rows: list[tuple[Any, ...]]
    affected: int | None
    costs: tuple[StatementCost, ...]


def ask_statement(client: Client, statement: str) -> StatementAnswer:
    """The answer to a statement; dates and times come as texts. Raises: `RequestFailed`."""
    asked = m.SQLQueryRequest(query=statement, version=_FLAT_BUFFERS)
    found = client.call("SQLQuery", asked, m.SQLQueryResponse)
    columns, rows = _decoded(found.rows) if found.HasField("rows") else (None, [])
    costs = tuple(
        [
            StatementCost(
                text(each.table_name),
                each.consumed.capacity_unit.read,
                each.consumed.capacity_unit.write,
            )
            for each in found.consumes
        ]
    ) + tuple(
        [
            StatementCost(
                text(each.table_name),
                each.consumed.capacity_unit.read,
                each.consumed.capacity_unit.write,
                text(each.index_name),
            )
            for each in found.search_consumes
        ]
    )
    affected = found.affected_rows if found.HasField("affected_rows") else None
    return StatementAnswer(columns, rows, affected, costs)


def _slot(number: int) -> int:
    """Where the table of a FlatBuffer's fields has the field of this number."""
    return 4 + 2 * number


def _decoded(data: bytes) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    root = Table(data, numbers.UOffsetTFlags.py_type(int.from_bytes(data[:4], "little")))
    tables = _tables(root, 0)
    names = tuple([_string(column, 0) for column in tables])
    values = [_values(column) for column in tables]
    return names, list(zip(*values, strict=True))


def _tables(table: Table, number: int) -> list[Table]:
    """The tables of a vector of them."""
    offset = table.Offset(_slot(number))
    if not offset:
        return []
    start = table.Vector(offset)
    return [
        Table(table.Bytes, table.Indirect(start + 4 * each))
        for each in range(table.VectorLen(offset))
    ]


def _string(table: Table, number: int) -> str:
    offset = table.Offset(_slot(number))
    return bytes(table.String(offset + table.Pos)).decode() if offset else ""


def _values(column: Table) -> list[Any]:
    """The values of a column: those of the one vector that it has, None where they are null."""
    inside = column.Offset(_slot(2))
    found = Table(column.Bytes, column.Indirect(inside + column.Pos))
    nulls = _flags(found, 0)
    for number, read in _VECTORS:
        if found.Offset(_slot(number)):
            values = read(found, number)
            return [None if null else value for null, value in zip(nulls, values, strict=True)]
    return [None] * len(nulls)


def _scalars(flags: Any) -> Callable[[Table, int], list[Any]]:  # noqa: ANN401  # flatbuffers has no types
    def read(table: Table, number: int) -> list[Any]:
        offset = table.Offset(_slot(number))
        if not offset:
            return []
        start, size = table.Vector(offset), flags.bytewidth
        return [table.Get(flags, start + size * n) for n in range(table.VectorLen(offset))]

    return read


_flags: Final = _scalars(numbers.BoolFlags)


def _strings(table: Table, number: int) -> list[Any]:
    offset = table.Offset(_slot(number))
    start = table.Vector(offset)
    places = range(start, start + 4 * table.VectorLen(offset), 4)
    return [bytes(table.String(place)).decode() for place in places]


def _binaries(table: Table, number: int) -> list[Any]:
    found = []
    for each in _tables(table, number):
        offset = each.Offset(_slot(0))
        start = each.Vector(offset) if offset else 0
        found.append(bytes(each.Bytes[start : start + each.VectorLen(offset)]) if offset else b"")
    return found


_VECTORS: Final = (
    (1, _scalars(numbers.Int64Flags)),
    (2, _flags),
    (3, _scalars(numbers.Float64Flags)),
    (4, _strings),
    (5, _binaries),
)
