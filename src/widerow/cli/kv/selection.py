"""Which rows a command is about (cli §6): the key, or the part of it, that its flags name.

The flags are -field with -value, -start or -end; -json; -index; -ancestor and -child.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from widerow.cli.kv.command import missing_argument, refuse_both
from widerow.cli.kv.faults import ArgumentFault, CommandFault
from widerow.cli.kv.session import Session, ShellTable
from widerow.cli.kv.values import read_value
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.model.typed.index_paths import index_paths
from widerow.model.typed.names import folded
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import FieldType
from widerow.nosql import Direction, FieldRange, Row

__all__ = [
    "FIELD_FLAGS",
    "INDEX_FLAGS",
    "KEY_FLAGS",
    "KeySelection",
    "check_fields",
    "select_by_flags",
]

FIELD_FLAGS: Final = (
    ShellFlag("-field", "column", repeated=True),
    ShellFlag("-value", "value", repeated=True),
    ShellFlag("-start", "value"),
    ShellFlag("-end", "value"),
)
INDEX_FLAGS: Final = (ShellFlag("-index", "index-name"), ShellFlag("-null-value", repeated=True))
KEY_FLAGS: Final = (
    *FIELD_FLAGS,
    ShellFlag("-ancestor", "table-name", repeated=True),
    ShellFlag("-child", "table-name", repeated=True),
    ShellFlag("-json", "key"),
)


@dataclass(frozen=True, slots=True)
class KeySelection:
    """The rows of a table whose keys begin with the columns of `key`.

    `field_range` bounds the column after those. With `index` the key is a key of that index, and
    the rows come in its order. Rows of the tables `ancestors` and `children` are included.
    """

    table: ShellTable
    definition: TypedTable
    key: Mapping[str, Any]
    field_range: FieldRange | None = None
    ancestors: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    index: str = ""

    @property
    def one_row(self) -> bool:
        """Whether the selection is one whole primary key, without rows of other tables."""
        whole = len(self.key) == len(self.definition.primary_key) and not self.index
        return whole and self.field_range is None and not self.ancestors and not self.children

    @property
    def one_shard(self) -> bool:
        """Whether the key names the whole shard key, so that all rows are in one shard."""
        named = {folded(name) for name in self.key}
        return all(folded(name) in named for name in self.definition.shard_key)

    def rows(self) -> Iterator[Row]:
        """The rows in the order of the primary key, or of the index."""
        if self.index:
            return self.table.index_iterator(
                self.index,
                self.key,
                field_range=self.field_range,
                direction=Direction.FORWARD,
                children=self.children,
            )
        return self.table.table_iterator(
            self.key,
            field_range=self.field_range,
            direction=Direction.FORWARD,
            ancestors=self.ancestors,
            children=self.children,
        )


@dataclass(slots=True)
class _KeyField:
    """A -field with the flags that follow it."""

    name: str
    value: str | None = None
    start: str | None = None
    end: str | None = None
    null: bool = False

    @property
    def ranged(self) -> bool:
        """Whether it has -start or -end."""
        return self.start is not None or self.end is not None

    def take(self, flag: str, value: str) -> None:
        """Set what `flag` says of the field; if a flag is given twice, its last value counts."""
        if flag == "-value":
            self.value = value
        elif flag == "-null-value":
            self.null = True
        elif flag == "-start":
            self.start = value
        else:
            self.end = value


def check_fields(command: str, given: Arguments) -> None:
    """Refuse flags of the selection that cannot be used together, and a -field without value."""
    refuse_both(given, "-json", "-field")
    if given.has("-null-value") and not given.has("-index"):
        raise ArgumentFault("-null-value can only be used with -index: keys have no NULL")
    refuse_both(given, "-json", "-index")
    refuse_both(given, "-ancestor", "-index")
    for each in _fields(command, given):
        given_values = (each.value is not None) + each.null + each.ranged
        if given_values == 0:
            raise missing_argument("-value | -start | -end", command)
        if given_values > 1:
            raise ArgumentFault("-value and -start or -end cannot be used for one field")


def select_by_flags(session: Session, table: ShellTable, given: Arguments) -> KeySelection:
    """The rows that the flags name. Raises a fault for a column that is not in the key."""
    definition = table.definition
    columns = _columns(definition, given.get("-index"))
    key: dict[str, Any] = {}
    field_range: FieldRange | None = None
    document = given.get("-json")
    if document is not None:
        key = dict(table.key_from_json(document))
    for each in _fields(definition.name, given):
        if folded(each.name) not in columns:
            key_kind = "index" if given.has("-index") else "primary"
            raise CommandFault(f"Not a valid {key_kind} key field: {each.name}")
        name, kind = columns[folded(each.name)]
        if each.ranged:
            start, end = (
                None if text is None else read_value(text, kind, name)
                for text in (each.start, each.end)
            )
            field_range = FieldRange(name, start=start, end=end)
        else:
            key[name] = None if each.value is None else read_value(each.value, kind, name)
    return KeySelection(
        table,
        definition,
        key,
        field_range,
        tuple(session.qualified(name) for name in given.all("-ancestor")),
        tuple(session.qualified(name) for name in given.all("-child")),
        given.get("-index") or "",
    )


def _columns(definition: TypedTable, index: str | None) -> dict[str, tuple[str, FieldType]]:
    """Names and types of the columns of the primary key or of an index, by their folded names."""
    if index is None:
        fields = [definition.fields[position] for position in definition.key_positions]
        return {folded(field.name): (field.name, field.type) for field in fields}
    found = definition.index(index)
    if found is None:
        raise CommandFault(f"Index does not exist: {index} on table: {definition.qualified}")
    return {folded(path.text): (path.text, path.type) for path in index_paths(definition, found)}


def _fields(command: str, given: Arguments) -> list[_KeyField]:
    """The -field flags in the order typed, each with the flags that follow it."""
    found: list[_KeyField] = []
    for flag, value in given.pairs:
        if flag == "-field":
            found.append(_KeyField(value))
        elif flag in ("-value", "-null-value", "-start", "-end"):
            if not found:
                raise missing_argument("-field", command)
            found[-1].take(flag, value)
    return found
