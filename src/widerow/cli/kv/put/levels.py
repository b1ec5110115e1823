"""What the put mode makes: a row, and values inside it (cli §6)."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from widerow.cli.kv.faults import ArgumentFault, CommandFault
from widerow.cli.kv.session import Session
from widerow.errors import InvalidRequest
from widerow.model.typed.coerce import coerce
from widerow.model.typed.json_rows import dumps, value_to_json
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.types import Field, FieldType, Kind

__all__ = ["ArrayLevel", "MapLevel", "NamedLevel", "ValueLevel", "current", "inner_level", "named"]


class ValueLevel(ABC):
    """Values in the making, inside a row or at its top."""

    @abstractmethod
    def type_of(self, name: str | None) -> FieldType:
        """The type of the value that `name` means. Raises a fault if there can be none."""

    @abstractmethod
    def add(self, name: str | None, value: Any) -> None:  # noqa: ANN401  # a value of that type
        """Take a value."""

    @abstractmethod
    def shown(self) -> str:
        """The values so far as JSON."""

    @abstractmethod
    def finish(self, session: Session) -> str | None:
        """Hand over what was made, and say so."""


# The name as it is declared and its type, or None where there is no such field.
Find = Callable[[str], tuple[str, FieldType] | None]
Done = Callable[[Session, dict[str, Any]], str | None]


class NamedLevel(ValueLevel):
    """A row or a record: values by the names of fields. `done` takes them."""

    def __init__(self, find: Find, done: Done) -> None:
        """Begin with nothing."""
        self._find = find
        self._done = done
        self._values: dict[str, Any] = {}

    def type_of(self, name: str | None) -> FieldType:
        """The type of the field."""
        return self._found(name)[1]

    def add(self, name: str | None, value: Any) -> None:  # noqa: ANN401  # as above
        """Set the field."""
        self._values[self._found(name)[0]] = value

    def shown(self) -> str:
        """The fields so far."""
        document = {
            name: value_to_json(value, self.type_of(name)) for name, value in self._values.items()
        }
        return dumps(document, pretty=True)

    def finish(self, session: Session) -> str | None:
        """Hand the fields over."""
        return self._done(session, self._values)

    def _found(self, name: str | None) -> tuple[str, FieldType]:
        if name is None:
            raise ArgumentFault("-field is needed here")
        found = self._find(name)
        if found is None:
            raise InvalidRequest(TypedRule.NO_FIELD, field=name)
        return found


class MapLevel(NamedLevel):
    """A map: values of one type by any key."""

    def __init__(self, element: FieldType, done: Done) -> None:
        """Begin with nothing."""
        super().__init__(lambda name: (name, element), done)


class ArrayLevel(ValueLevel):
    """An array: values of one type, without names."""

    def __init__(self, element: FieldType, done: Callable[[list[Any]], None]) -> None:
        """Begin with nothing."""
        self._element = element
        self._done = done
        self._values: list[Any] = []

    def type_of(self, name: str | None) -> FieldType:
        """The type of the elements."""
        if name is not None:
            raise ArgumentFault("-field cannot be used in an array")
        return self._element

    def add(self, name: str | None, value: Any) -> None:  # noqa: ANN401  # as above
        """Append an element."""
        self.type_of(name)
        self._values.append(value)

    def shown(self) -> str:
        """The elements so far."""
        return dumps([value_to_json(value, self._element) for value in self._values], pretty=True)

    def finish(self, session: Session) -> None:  # noqa: ARG002  # the level above is told
        """Hand the elements over."""
        self._done(self._values)


def inner_level(kind: FieldType, name: str, give: Callable[[Any], None]) -> ValueLevel:
    """A level for a nested value; `give` takes it. Raises `CommandFault` for a plain type."""

    def made(value: Any) -> None:  # noqa: ANN401  # as above
        give(coerce(value, kind, name))  # fields of a record that were left out are filled in

    if kind.kind is Kind.RECORD:
        return NamedLevel(lambda field: named(kind.field(field)), lambda _, values: made(values))
    if kind.element is not None and kind.kind is Kind.MAP:
        return MapLevel(kind.element, lambda _, values: made(values))
    if kind.element is not None:
        return ArrayLevel(kind.element, made)
    raise CommandFault(f"{kind.kind.value} is not a nested type; use add-value")


def named(field: Field | None) -> tuple[str, FieldType] | None:
    """The declared name and the type of a field that was looked up."""
    return None if field is None else (field.name, field.type)


def current(session: Session) -> ValueLevel:
    """What the innermost mode makes."""
    level = session.mode.level
    assert isinstance(level, ValueLevel)
    return level
