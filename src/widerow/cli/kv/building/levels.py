"""What build mode makes: a table, changes of a table, or a nested type inside either (cli §3).

A level takes fields and, in the end, hands what was made to whoever began it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

from widerow.cli.kv.faults import ArgumentFault, CommandFault
from widerow.cli.kv.session import Session, Staged
from widerow.errors import InvalidRequest
from widerow.model.typed.builder import TableBuilder, checked_field
from widerow.model.typed.evolve import TableEvolver
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.schema_json import document_text, field_document, schema_json
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import Field, FieldType, Kind, array_of, map_of, record_of

__all__ = [
    "CollectionLevel",
    "CreateLevel",
    "EvolveLevel",
    "Level",
    "RecordLevel",
    "create_level",
    "current",
]


class Level(ABC):
    """Something in the making. `collection` is what errors call it if its fields have no names."""

    collection: str = ""

    @abstractmethod
    def add(self, field: Field) -> None:
        """Take a field. Raises `InvalidRequest` or a fault."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Take a field back. Raises `InvalidRequest` or a fault."""

    @abstractmethod
    def shown(self, *, original: bool) -> str:
        """The definition so far, or as it was before the changes."""

    @abstractmethod
    def finish(self, session: Session) -> str | None:
        """Hand over what was made and say so. Raises as `add`; then nothing was handed over."""


class CreateLevel(Level):
    """A new table; `full_name` is what it is staged by."""

    def __init__(self, full_name: str, builder: TableBuilder) -> None:
        """Begin with what the builder has."""
        self.full_name = full_name
        self.builder = builder

    def add(self, field: Field) -> None:
        """Declare a column."""
        self.builder.add_field(
            field.name,
            field.type,
            nullable=field.nullable,
            default=field.default,
            comment=field.comment,
        )

    def remove(self, name: str) -> None:
        """Take a column back."""
        self.builder.remove_field(name)

    def shown(self, *, original: bool) -> str:
        """The columns and keys declared so far."""
        if original:
            raise ArgumentFault("-original can only be used with table evolve")
        builder = self.builder
        table = TypedTable(
            name=builder.name,
            fields=tuple(builder.fields),
            primary_key=tuple(builder.key),
            shard_key=tuple(builder.shard),
            namespace=builder.namespace,
            parent=builder.parent.name if builder.parent else None,
            comment=builder.description,
        )
        return schema_json(table)

    def finish(self, session: Session) -> str:
        """Stage the table."""
        for name in (*self.builder.key, *self.builder.shard):
            if self.builder.field(name) is None:
                raise CommandFault(f"Key field has not been created in table: {name}")
        session.staged[self.full_name] = Staged(self.builder.build())
        return f"Table {self.full_name} built."

    def check(self) -> None:
        """Whether the definition is one so far, which the shell asks after each command."""
        self.builder.check_fields()


class EvolveLevel(Level):
    """Changes of a table."""

    def __init__(self, full_name: str, table: TypedTable) -> None:
        """Begin with the table as it is."""
        self.full_name = full_name
        self.evolver = TableEvolver(table)

    def add(self, field: Field) -> None:
        """Add a column."""
        self.evolver.add_field(
            field.name,
            field.type,
            nullable=field.nullable,
            default=field.default,
            comment=field.comment,
        )

    def remove(self, name: str) -> None:
        """Remove a column."""
        self.evolver.remove_field(name)

    def shown(self, *, original: bool) -> str:
        """The table with its changes, or as it is."""
        return schema_json(self.evolver.before if original else self.evolver.table)

    def finish(self, session: Session) -> str:
        """Stage the changed table."""
        session.staged[self.full_name] = Staged(self.evolver.build(), self.evolver.before)
        return f"Table {self.full_name} built."


Give = Callable[[Field], None]


class _Nested(Level):
    """A nested type; `give` takes the field that is made of it."""

    def __init__(self, name: str, description: str | None, give: Give) -> None:
        """Begin with nothing."""
        self.name = name
        self.description = description
        self.give = give

    @abstractmethod
    def type(self) -> FieldType:
        """The type as far as it is known. Raises a fault if there is none yet."""

    def shown(self, *, original: bool) -> str:
        """The field so far."""
        if original:
            raise ArgumentFault("-original can only be used with table evolve")
        field = Field(self.name or "element", self.type(), comment=self.description)
        return document_text(field_document(field))

    def finish(self, session: Session) -> str | None:  # noqa: ARG002  # the level above is told
        """Hand the field over."""
        self.give(Field(self.name, self.type(), comment=self.description))
        return None


class CollectionLevel(_Nested):
    """An array or a map: one element, without a name."""

    def __init__(self, kind: Kind, name: str, description: str | None, give: Give) -> None:
        """Begin with nothing."""
        super().__init__(name, description, give)
        self.collection = kind.value.capitalize()
        self._make = array_of if kind is Kind.ARRAY else map_of
        self._element: FieldType | None = None

    def add(self, field: Field) -> None:
        """Say what the elements are."""
        if self._element is not None:
            raise CommandFault("Field for collection is already defined")
        self._element = field.type

    def remove(self, name: str) -> None:
        """Elements have no names to be removed by."""
        raise InvalidRequest(TypedRule.EVOLVE_NO_FIELD, field=name)

    def type(self) -> FieldType:
        """The array or map."""
        if self._element is None:
            raise CommandFault(f"{self.collection} has no field and cannot be built")
        return self._make(self._element)


class RecordLevel(_Nested):
    """A record: fields with names."""

    def __init__(self, name: str, description: str | None, give: Give) -> None:
        """Begin with nothing."""
        super().__init__(name, description, give)
        self._fields: list[Field] = []

    def add(self, field: Field) -> None:
        """Declare a field of the record."""
        checked = checked_field(field)
        if not checked.nullable and checked.default is None:
            raise InvalidRequest(TypedRule.NOT_NULL_WITHOUT_DEFAULT, field=checked.name)
        record_of(*self._fields, checked)  # refuses a name in use
        self._fields.append(checked)

    def remove(self, name: str) -> None:
        """Take a field back."""
        held = record_of(*self._fields).field(name)
        if held is None:
            raise InvalidRequest(TypedRule.EVOLVE_NO_FIELD, field=name)
        self._fields = [field for field in self._fields if field.name != held.name]

    def type(self) -> FieldType:
        """The record."""
        if not self._fields:
            raise CommandFault("Record has no fields and cannot be built")
        return record_of(*self._fields)


def current(session: Session) -> Level:
    """What the innermost mode makes."""
    level = session.mode.level
    assert isinstance(level, Level)
    return level


def create_level(session: Session) -> CreateLevel:
    """The new table that the innermost mode makes; its commands are in that mode only."""
    level = session.mode.level
    assert isinstance(level, CreateLevel)
    return level
