"""Which rows a command is about: `-field`, `-start`, `-end`, `-ancestor`, `-child`, `-json`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from widerow.cli.kv.command import Arguments, Flag, missing
from widerow.cli.kv.data.values import read_value
from widerow.cli.kv.faults import ArgumentFault, CommandFault
from widerow.cli.kv.session import Session
from widerow.model.typed.names import folded
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import Field
from widerow.nosql import Direction, FieldRange, Row, Table

__all__ = ["FIELD_FLAGS", "KEY_FLAGS", "Selection", "check_fields", "select"]

FIELD_FLAGS: Final = (
    Flag("-field", "column", repeated=True),
    Flag("-value", "value", repeated=True),
    Flag("-start", "value"),
    Flag("-end", "value"),
)
KEY_FLAGS: Final = (
    *FIELD_FLAGS,
    Flag("-ancestor", "table-name", repeated=True),
    Flag("-child", "table-name", repeated=True),
    Flag("-json", "key"),
)


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows of a table: those whose key begins as `key`, within `field_range`."""

    table: Table
    definition: TypedTable
    key: Mapping[str, Any]
    field_range: FieldRange | None = None
    ancestors: tuple[str, ...] = ()
    children: tuple[str, ...] = ()

    @property
    def one_row(self) -> bool:
        """Whether it is the whole key of a row, and nothing beside it is wanted."""
        whole = len(self.key) == len(self.definition.primary_key)
        return whole and self.field_range is None and not self.ancestors and not self.children

    @property
    def one_shard(self) -> bool:
        """Whether all rows have one and the same shard key."""
        named = {folded(name) for name in self.key}
        return all(folded(name) in named for name in self.definition.shard_key)

    def rows(self) -> Iterator[Row]:
        """The rows in key order."""
        return self.table.table_iterator(
            self.key,
            field_range=self.field_range,
            direction=Direction.FORWARD,
            ancestors=self.ancestors,
            children=self.children,
        )


@dataclass(slots=True)
class _Given:
    """One -field and what was said of it."""

    name: str
    value: str | None = None
    start: str | None = None
    end: str | None = None


def check_fields(command: str, given: Arguments) -> None:
    """Refuse -value, -start and -end that belong to no -field, and a -field without any."""
    if given.has("-json") and given.has("-field"):
        raise ArgumentFault("-json and -field cannot be used together")
    for each in _fields(command, given):
        if each.value is None and each.start is None and each.end is None:
            raise missing("-value | -start | -end", command)
        if each.value is not None and (each.start is not None or each.end is not None):
            raise ArgumentFault("-value and -start or -end cannot be used for one field")


def select(session: Session, table: Table, given: Arguments) -> Selection:
    """The rows that the flags name. Raises a fault for a column that is not in the key."""
    definition = table.definition
    key: dict[str, Any] = {}
    field_range: FieldRange | None = None
    document = given.get("-json")
    if document is not None:
        key = dict(table.key_from_json(document))
    for each in _fields(definition.name, given):
        field = _key_field(definition, each.name)
        if each.value is not None:
            key[field.name] = read_value(each.value, field.type, field.name)
            continue
        start, end = (
            None if text is None else read_value(text, field.type, field.name)
            for text in (each.start, each.end)
        )
        field_range = FieldRange(field.name, start=start, end=end)
    return Selection(
        table,
        definition,
        key,
        field_range,
        tuple(session.qualified(name) for name in given.all("-ancestor")),
        tuple(session.qualified(name) for name in given.all("-child")),
    )


def _key_field(definition: TypedTable, name: str) -> Field:
    for index in definition.key_positions:
        if folded(definition.fields[index].name) == folded(name):
            return definition.fields[index]
    raise CommandFault(f"Not a valid primary key field: {name}")


def _fields(command: str, given: Arguments) -> list[_Given]:
    """The -field flags in their order, each with the flags that follow it."""
    found: list[_Given] = []
    for flag, value in given.pairs:
        if flag == "-field":
            found.append(_Given(value))
        elif flag in ("-value", "-start", "-end"):
            if not found:
                raise missing("-field", command)
            setattr(found[-1], flag[1:], value)
    return found
