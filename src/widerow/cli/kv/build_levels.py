"""What build mode puts together: a table, changes of a table, or a nested type in either (cli §3).

A level takes fields. When it is finished it hands the result to the session or to the level around
it. `build_mode` has the commands that work on levels.
"""

from abc import abstractmethod
from collections.abc import Callable

from widerow.cli.kv.faults import ArgumentFault, CommandFault
from widerow.cli.kv.session import Level, Session, Staged
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
    "FieldLevel",
    "RecordLevel",
    "create_level",
    "field_level",
]

_NOT_EVOLVED = "-original can only be used with table evolve"


class FieldLevel(Level):
    """A definition that is made of fields.

    `collection` is `Array` or `Map` where the field is the type of the elements and has no name.
    """

    collection: str = ""

    @abstractmethod
    def add(self, field: Field) -> None:
        """Add a field. Raises `InvalidRequest` or a fault."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a field. Raises `InvalidRequest` or a fault."""

    @abstractmethod
    def shown(self, *, original: bool) -> str:
        """The definition so far as JSON; with `original` the table before its changes."""


class _TableLevel(FieldLevel):
    """A table or its changes; `full_name` is the name by which the session keeps the result."""

    def __init__(self, full_name: str, target: TableBuilder | TableEvolver) -> None:
        """Start with the columns that `target` has."""
        self.full_name = full_name
        self._target = target

    def add(self, field: Field) -> None:
        """Add a column."""
        self._target.add_field(
            field.name,
            field.type,
            nullable=field.nullable,
            default=field.default,
            comment=field.comment,
        )

    def remove(self, name: str) -> None:
        """Remove a column."""
        self._target.remove_field(name)

    def _stage(self, session: Session, staged: Staged) -> str:
        session.staged[self.full_name] = staged
        return f"Table {self.full_name} built."


class CreateLevel(_TableLevel):
    """A new table."""

    def __init__(self, full_name: str, builder: TableBuilder) -> None:
        super().__init__(full_name, builder)
        self.builder = builder

    def shown(self, *, original: bool) -> str:
        """The columns and keys so far."""
        if original:
            raise ArgumentFault(_NOT_EVOLVED)
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
        """Keep the table in the session for `plan add-table`."""
        for name in (*self.builder.key, *self.builder.shard):
            if self.builder.field(name) is None:
                raise CommandFault(f"Key field has not been created in table: {name}")
        return self._stage(session, Staged(self.builder.build()))

    def check(self) -> None:
        """Check the columns so far, as the shell does after each command. Raises as `add`."""
        self.builder.check_fields()


class EvolveLevel(_TableLevel):
    """Changes of a table in the store."""

    def __init__(self, full_name: str, table: TypedTable) -> None:
        self._evolver = TableEvolver(table)
        super().__init__(full_name, self._evolver)

    def shown(self, *, original: bool) -> str:
        """The table with its changes, or the table before them."""
        return schema_json(self._evolver.before if original else self._evolver.table)

    def finish(self, session: Session) -> str:
        """Keep the changed table in the session for `plan evolve-table`."""
        return self._stage(session, Staged(self._evolver.build(), self._evolver.before))


Give = Callable[[Field], None]


class _NestedLevel(FieldLevel):
    """A field with a nested type; `give` hands it to the level around this one."""

    def __init__(self, name: str, description: str | None, give: Give) -> None:
        """Start without any field inside."""
        self.name = name
        self.description = description
        self.give = give

    @abstractmethod
    def type(self) -> FieldType:
        """The type as far as it is defined. Raises `CommandFault` if it has no field yet."""

    def shown(self, *, original: bool) -> str:
        """The field so far."""
        if original:
            raise ArgumentFault(_NOT_EVOLVED)
        field = Field(self.name or "element", self.type(), comment=self.description)
        return document_text(field_document(field))

    def finish(self, session: Session) -> None:  # noqa: ARG002  # `give` takes the result
        """Hand the field to the level around this one."""
        self.give(Field(self.name, self.type(), comment=self.description))


class CollectionLevel(_NestedLevel):
    """An array or a map: one field without a name, the type of the elements."""

    def __init__(self, kind: Kind, name: str, description: str | None, give: Give) -> None:
        """Start without a type of the elements; `kind` is `Kind.ARRAY` or `Kind.MAP`."""
        super().__init__(name, description, give)
        self.collection = kind.value.capitalize()
        self._make = array_of if kind is Kind.ARRAY else map_of
        self._element: FieldType | None = None

    def add(self, field: Field) -> None:
        """Set the type of the elements."""
        if self._element is not None:
            raise CommandFault("Field for collection is already defined")
        self._element = field.type

    def remove(self, name: str) -> None:
        """Refuse: elements have no names."""
        raise InvalidRequest(TypedRule.EVOLVE_NO_FIELD, field=name)

    def type(self) -> FieldType:
        """The array or map."""
        if self._element is None:
            raise CommandFault(f"{self.collection} has no field and cannot be built")
        return self._make(self._element)


class RecordLevel(_NestedLevel):
    """A record: fields with names."""

    def __init__(self, name: str, description: str | None, give: Give) -> None:
        """Start without any field."""
        super().__init__(name, description, give)
        self._fields: list[Field] = []

    def add(self, field: Field) -> None:
        """Add a field to the record."""
        checked = checked_field(field)
        if not checked.nullable and checked.default is None:
            raise InvalidRequest(TypedRule.NOT_NULL_WITHOUT_DEFAULT, field=checked.name)
        record_of(*self._fields, checked)  # raises for a name that another field has
        self._fields.append(checked)

    def remove(self, name: str) -> None:
        """Remove a field of the record."""
        held = record_of(*self._fields).field(name)
        if held is None:
            raise InvalidRequest(TypedRule.EVOLVE_NO_FIELD, field=name)
        self._fields = [field for field in self._fields if field.name != held.name]

    def type(self) -> FieldType:
        """The record."""
        if not self._fields:
            raise CommandFault("Record has no fields and cannot be built")
        return record_of(*self._fields)


def field_level(session: Session) -> FieldLevel:
    """The level of the innermost mode, which is part of build mode."""
    level = session.mode.level
    assert isinstance(level, FieldLevel)
    return level


def create_level(session: Session) -> CreateLevel:
    """The new table of the innermost mode, which `table create` began."""
    level = session.mode.level
    assert isinstance(level, CreateLevel)
    return level
