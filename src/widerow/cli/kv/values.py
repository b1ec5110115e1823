"""Tables and values that arguments name, and keys and numbers as answers show them (cli §6)."""

from collections.abc import Mapping
from typing import Any, Final

from widerow.cli.kv.faults import CommandFault
from widerow.cli.kv.session import Session, ShellTable
from widerow.errors import InvalidRequest
from widerow.model.typed.json_rows import dumps, value_to_json
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TypedTable
from widerow.model.typed.texts import value_from_text
from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import TypedValue

__all__ = ["NUMERIC_KINDS", "counted", "key_json", "read_value", "table_of"]

NUMERIC_KINDS: Final = frozenset((Kind.INTEGER, Kind.LONG, Kind.FLOAT, Kind.DOUBLE, Kind.NUMBER))


def table_of(session: Session, name: str, namespace: str | None = None) -> ShellTable:
    """The table called `name` in the store. Raises `CommandFault` if there is none."""
    table = session.store.find_table(session.qualified(name, namespace))
    if table is None:
        raise CommandFault(f"Table not found: {name}")
    return table


def read_value(text: str, kind: FieldType, name: str) -> TypedValue:
    """The value of type `kind` that `text` stands for; `name` is the field, for messages.

    Raises: `CommandFault` if it is not a number where a number is needed; `InvalidRequest`.
    """
    try:
        return value_from_text(text, kind, name)
    except InvalidRequest as error:
        if kind.kind in NUMERIC_KINDS and error.rule is TypedRule.VALUE_ILLEGAL:
            message = f"Invalid {kind.kind.value.lower()} value: {text}"
            raise CommandFault(message) from error
        raise


def key_json(table: TypedTable, row: Mapping[str, Any]) -> str:
    """The primary key of a row as JSON, with the declared names, in the order of the key.

    Columns that `row` lacks are left out.
    """
    fields = [table.fields[position] for position in table.key_positions]
    document = {
        field.name: value_to_json(row[field.name], field.type)
        for field in fields
        if field.name in row
    }
    return dumps(document)


def counted(number: int, noun: str) -> str:
    """The number with its noun in the vendor's way: `0 row`, `1 row`, `2 rows`."""
    return f"{number} {noun}" if number < 2 else f"{number} {noun}s"
