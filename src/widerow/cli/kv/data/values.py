"""Values, keys and tables as commands on rows name them (cli §6)."""

from collections.abc import Mapping
from typing import Any, Final

from widerow.cli.kv.faults import CommandFault
from widerow.cli.kv.session import Session
from widerow.errors import InvalidRequest
from widerow.model.typed.json_rows import dumps, value_to_json
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TypedTable
from widerow.model.typed.texts import value_from_text
from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import TypedValue
from widerow.nosql import Table

__all__ = ["counted", "key_json", "read_value", "table_of"]

_NUMERIC: Final = frozenset((Kind.INTEGER, Kind.LONG, Kind.FLOAT, Kind.DOUBLE, Kind.NUMBER))


def table_of(session: Session, name: str, namespace: str | None = None) -> Table:
    """The table of that name. Raises `CommandFault` if there is none."""
    table = session.store.find_table(session.qualified(name, namespace))
    if table is None:
        raise CommandFault(f"Table not found: {name}")
    return table


def read_value(text: str, kind: FieldType, name: str) -> TypedValue:
    """The value that `text` writes down. Raises `CommandFault` or `InvalidRequest`."""
    try:
        return value_from_text(text, kind, name)
    except InvalidRequest as error:
        if kind.kind in _NUMERIC and error.rule is TypedRule.VALUE_ILLEGAL:
            message = f"Invalid {kind.kind.value.lower()} value: {text}"
            raise CommandFault(message) from error
        raise


def key_json(table: TypedTable, row: Mapping[str, Any]) -> str:
    """The primary key of a row as JSON, in the key's order. Names are as declared."""
    document = {
        table.fields[index].name: value_to_json(
            row[table.fields[index].name], table.fields[index].type
        )
        for index in table.key_positions
        if table.fields[index].name in row
    }
    return dumps(document)


def counted(number: int, noun: str) -> str:
    """`0 row`, `1 row`, `2 rows`: as the vendor counts."""
    return f"{number} {noun}" if number < 2 else f"{number} {noun}s"
