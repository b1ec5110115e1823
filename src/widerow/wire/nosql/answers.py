"""Rows and what stands around them in answers (nosql-wire §3, §4)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from librt.strings import BytesWriter

from widerow.engine.typed.stored import StoredRow
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import Kind
from widerow.wire.nosql.nson import (
    NSON_BINARY,
    NSON_INTEGER,
    NSON_LONG,
    NSON_MAP,
    NSON_NULL,
    EncodedValue,
    begin_container,
    end_container,
    put_binary,
    put_int,
    put_text,
    put_value,
)
from widerow.wire.nosql.row_copy import RowCopy
from widerow.wire.nosql.typed_values import EncodedColumn, encoded_member, json_member

__all__ = ["Cost", "RowColumns", "begun_message", "row_value", "stored_row"]

_COLUMNS_KEPT: Final = 1000  # tables whose columns are kept


@final
class Cost:
    """What a request consumed: read units, and kilobytes read and written (nosql-wire §4)."""

    __slots__ = ("read_kb", "read_units", "write_kb")

    def __init__(self, read_units: int = 0, read_kb: int = 0, write_kb: int = 0) -> None:
        self.read_units = read_units
        self.read_kb = read_kb
        self.write_kb = write_kb

    def encoded(self) -> EncodedValue:
        """The member of an answer that tells it."""
        out = BytesWriter()
        at = begin_container(out, NSON_MAP, 3)
        out.write(_READ_UNITS)
        put_int(out, self.read_units)
        out.write(_READ_KB)
        put_int(out, self.read_kb)
        out.write(_WRITE_KB)
        put_int(out, self.write_kb)
        end_container(out, at)
        return EncodedValue(out.getvalue())


_READ_UNITS: Final = encoded_member("ru", NSON_INTEGER)
_READ_KB: Final = encoded_member("rk", NSON_INTEGER)
_WRITE_KB: Final = encoded_member("wk", NSON_INTEGER)
_CREATED: Final = encoded_member("ct", NSON_LONG) + b"\x7f"  # 0, which says that it is not known
_MODIFIED: Final = encoded_member("md", NSON_LONG)
_EXPIRES: Final = encoded_member("xp", NSON_LONG)
_VERSION: Final = encoded_member("rv", NSON_BINARY)
_ROW: Final = encoded_member("l")


def begun_message(cost: Cost, *, tells_cost: bool) -> dict[str, Any]:
    """The first members of an answer that succeeded; a store of one's own tells no cost."""
    return {"e": 0, "c": cost.encoded()} if tells_cost else {"e": 0}


def row_value(row: StoredRow, *, by_name: bool = False) -> EncodedValue:
    """All columns of a row in their declared order, encoded by their types.

    Of a collection the key, and behind it what the document has. `by_name`: names inside JSON are
    sorted; else they are in the order in which they were written.
    """
    out = BytesWriter()
    _put_row(out, row, by_name=by_name)
    return EncodedValue(out.getvalue())


def _put_row(out: BytesWriter, row: StoredRow, *, by_name: bool) -> None:
    columns = _columns_of(row.table)
    if by_name:
        columns.put_values(out, row, _by_name(columns, row.values_in_order()))
    else:
        columns.put(out, row)


def _by_name(columns: "RowColumns", values: Sequence[Any]) -> Sequence[Any]:
    """The values of a row with the names inside JSON sorted."""
    return [
        _sorted(values[index]) if kind.kind is Kind.JSON else values[index]
        for index, (_, _, kind, _) in enumerate(columns.columns)
    ]


@final
class RowColumns:
    """The columns of a table as answers have them, and how whole rows are made of them."""

    __slots__ = ("_copy", "_uuids", "columns")

    def __init__(self, table: TypedTable, columns: Sequence[EncodedColumn]) -> None:
        """`columns`: those that are shown, in their declared order."""
        self.columns = columns
        self._copy = RowCopy(table, columns) if RowCopy.can_copy(table) else None
        self._uuids = tuple([at for at in table.key_positions if table.fields[at].type.uuid])

    def encoded(self, row: StoredRow) -> EncodedValue:
        """A row, encoded."""
        out = BytesWriter()
        self.put(out, row)
        return EncodedValue(out.getvalue())

    def put(self, out: BytesWriter, row: StoredRow) -> None:
        """Append a row: copied from its record, or else its values one by one."""
        copy = self._copy
        if copy is None or not copy.put(out, row.encoded_key, row.record):
            self.put_values(out, row, row.values_in_order())

    def put_asked(self, out: BytesWriter, row: StoredRow, key: Mapping[str, Any]) -> None:
        """Append the row of a key that was asked for, with its UUIDs as they stand there."""
        if not self._uuids:
            self.put(out, row)
            return
        values = [*row.values_in_order()]
        for at in self._uuids:
            values[at] = key[row.table.fields[at].name]
        self.put_values(out, row, values)

    def put_values(self, out: BytesWriter, row: StoredRow, values: Sequence[Any]) -> None:
        """Append a row with these values of its columns, and behind them what its document has."""
        document = row.document()
        at = begin_container(out, NSON_MAP, len(self.columns) + len(document))
        for index, (name, put, kind, text) in enumerate(self.columns):
            value = values[index]
            if text and type(value) is str:
                out.write(text)
                put_text(out, value)
                continue
            out.write(name)
            if value is None:
                out.append(NSON_NULL)
            else:
                put(out, value, kind)
        for field, value in document.items():
            put_text(out, field)
            put_value(out, json_member(value))
        end_container(out, at)


_COLUMNS: Final[dict[int, tuple[TypedTable, RowColumns]]] = {}


def _columns_of(table: TypedTable) -> RowColumns:
    """The columns of a row in their order, worked out once for a definition of a table."""
    known = _COLUMNS.get(table.id)
    if known is not None and known[0] is table:
        return known[1]
    columns = RowColumns(table, tuple([EncodedColumn.of(field) for field in table.shown_fields]))
    if len(_COLUMNS) >= _COLUMNS_KEPT:
        _COLUMNS.clear()
    _COLUMNS[table.id] = table, columns
    return columns


def _sorted(value: Any) -> Any:  # noqa: ANN401  # a document
    """A document with the names of its objects in order."""
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def stored_row(row: StoredRow, key: Mapping[str, Any]) -> EncodedValue:
    """A row with its times and its version, as GET of a key answers it.

    UUIDs of the key are in the case in which they were asked for, as the vendor's proxy has them.
    """
    out = BytesWriter()
    modified_ms, expires_ms = row.times_ms
    at = begin_container(out, NSON_MAP, 5)
    out.write(_CREATED + _MODIFIED)
    put_int(out, modified_ms)
    out.write(_EXPIRES)
    put_int(out, expires_ms)
    out.write(_VERSION)
    put_binary(out, row.version_bytes)
    out.write(_ROW)
    _columns_of(row.table).put_asked(out, row, key)
    end_container(out, at)
    return EncodedValue(out.getvalue())
