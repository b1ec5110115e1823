"""Result rows as values of NSON, and the schema of a result as text (nosql-wire §2, §6)."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from librt.strings import BytesWriter

from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import JSON_NULL, Timestamp
from widerow.wire.nosql.answers import RowColumns
from widerow.wire.nosql.nson import EncodedValue, Long, TimestampText, put_value
from widerow.wire.nosql.sql import syntax
from widerow.wire.nosql.sql.items import LongInt, RecordItem, SentRow, StampItem, item_of
from widerow.wire.nosql.typed_values import EncodedColumn

__all__ = ["OutputColumn", "encoded_row_columns", "result_row", "schema_text"]


class OutputColumn(NamedTuple):
    """A column of a result. `kind`: None is ANY."""

    name: str
    kind: syntax.TypeNode | None
    nullable: bool
    many: bool = False


def result_row(row: SentRow) -> SentRow:
    """A row as it is sent: maps and objects with sorted names, records as declared."""
    if isinstance(row, EncodedValue):
        return row
    return {name: _value(value) for name, value in row.items()}


# Kinds whose values GET and queries send alike.
_ALIKE = frozenset(
    (
        *(Kind.INTEGER, Kind.LONG, Kind.FLOAT, Kind.DOUBLE, Kind.NUMBER),
        *(Kind.STRING, Kind.ENUM, Kind.BOOLEAN, Kind.BINARY, Kind.FIXED_BINARY),
    )
)


def encoded_row_columns(table: TypedTable) -> RowColumns:
    """What encodes whole rows of a table that is no collection, as `result_row` has them."""
    columns = tuple([EncodedColumn.of(field, _put_of(field.type)) for field in table.fields])
    return RowColumns(table, columns)


def _put_of(kind: FieldType) -> Callable[[BytesWriter, Any, FieldType], None] | None:
    if kind.kind in _ALIKE:
        return None
    convert = item_of(kind)

    def put(out: BytesWriter, value: Any, _: FieldType) -> None:  # noqa: ANN401  # a column's value
        put_value(out, _value(value if convert is None else convert(value)))

    return put


def _value(item: Any) -> Any:  # noqa: ANN401  # any item
    if isinstance(item, LongInt):
        return Long(int(item))
    if isinstance(item, Timestamp):
        digits = item.precision if isinstance(item, StampItem) else 9
        return TimestampText(_stamp(item.text(digits).removesuffix("Z")))
    if isinstance(item, RecordItem):
        return {name: _value(value) for name, value in item.items()}
    if isinstance(item, Mapping):
        return {name: _inside(item[name]) for name in sorted(item)}
    if isinstance(item, list):
        return [_inside(each) for each in item]
    return item


def _stamp(text: str) -> str:
    """Years before 0 with one digit less, as the vendor answers them."""
    return f"-{text[2:]}" if text.startswith("-0") else text


def _inside(value: Any) -> Any:  # noqa: ANN401  # any item
    return JSON_NULL if value is None else _value(value)


# --- schema --------------------------------------------------------------------------------------


def schema_text(columns: Sequence[OutputColumn], name: str | None) -> str:
    """The type of result rows as JSON, as drivers show it. `name`: of the table of whole rows."""
    document: dict[str, Any] = {} if name is None else {"name": name}
    document |= {"type": "RECORD", "fields": [_column(each) for each in columns]}
    return json.dumps(document)


def _column(column: OutputColumn) -> dict[str, Any]:
    kind = None if column.many else column.kind
    nullable = column.nullable
    shown = {"type": "ANY"} if kind is None else _type(kind)
    return {"name": column.name, **_first(shown), "nullable": nullable, **_rest(shown)}


def _first(shown: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": shown["type"]}


def _rest(shown: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in shown.items() if name != "type"}


_NAMES = {"ANYJSONATOMIC": "ANY_JSON_ATOMIC", "ANYATOMIC": "ANY_ATOMIC", "ANYRECORD": "ANY_RECORD"}


def _type(kind: syntax.TypeNode) -> dict[str, Any]:
    document: dict[str, Any] = {"type": _NAMES.get(kind.name, kind.name)}
    if kind.name == "BINARY" and kind.size is not None:
        return {"type": "FIXED_BINARY", "size": kind.size}
    if kind.name == "TIMESTAMP":
        document["precision"] = 9 if kind.size is None else kind.size
    if kind.symbols:
        document["symbols"] = list(kind.symbols)
    if kind.element is not None:
        document["collection"] = _type(kind.element)
    if kind.name == "RECORD":
        document["fields"] = [
            {"name": name, **_first(_type(each)), "nullable": each.nullable, **_rest(_type(each))}
            for name, each in kind.fields
        ]
    return document
