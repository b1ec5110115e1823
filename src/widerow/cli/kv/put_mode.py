"""Put mode: the commands between `put table` and `exit`, which put a row together (cli §6).

`PUT_COMMANDS`, at the end, is the table of these commands. A level takes values. When it is
finished it hands them to `put table`, or to the level around it.
"""

from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from widerow.cli.kv.command import Command, missing_argument
from widerow.cli.kv.faults import ArgumentFault, CommandFault, UnreadableFault
from widerow.cli.kv.help import HELP
from widerow.cli.kv.session import Level, Mode, Session
from widerow.cli.kv.values import read_value
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.errors import InvalidRequest
from widerow.model.typed.coerce import coerce
from widerow.model.typed.json_rows import dumps, value_to_json
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.types import Field, FieldType, Kind

__all__ = ["PUT_COMMANDS", "ArrayLevel", "NamedLevel", "ValueLevel", "named_field"]

# From a name that was typed to the declared name and the type; None if there is no such field.
Find = Callable[[str], tuple[str, FieldType] | None]
# Takes the values of a finished level and returns the text to print.
Done = Callable[[Session, dict[str, Any]], str | None]


class ValueLevel(Level):
    """The values of a row, a record, a map or an array."""

    @abstractmethod
    def type_of(self, name: str | None) -> FieldType:
        """The type of the value called `name`, or of an element.

        Raises: `ArgumentFault` or `InvalidRequest` if there is no such value.
        """

    @abstractmethod
    def add(self, name: str | None, value: Any) -> None:  # noqa: ANN401  # a value of the type of `name`
        """Set the value called `name`, or append an element."""

    @abstractmethod
    def shown(self) -> str:
        """The values so far as JSON."""


class NamedLevel(ValueLevel):
    """A row, a record or a map: values with names. `done` takes them."""

    def __init__(self, find: Find, done: Done) -> None:
        """Start without values."""
        self._find = find
        self._done = done
        self._values: dict[str, Any] = {}

    def type_of(self, name: str | None) -> FieldType:
        """The type of the field."""
        return self._found(name)[1]

    def add(self, name: str | None, value: Any) -> None:  # noqa: ANN401  # a value of the type of `name`
        """Set the field."""
        self._values[self._found(name)[0]] = value

    def shown(self) -> str:
        """The fields so far."""
        document = {
            name: value_to_json(value, self.type_of(name)) for name, value in self._values.items()
        }
        return dumps(document, pretty=True)

    def finish(self, session: Session) -> str | None:
        """Hand the fields to `done`."""
        return self._done(session, self._values)

    def _found(self, name: str | None) -> tuple[str, FieldType]:
        if name is None:
            raise ArgumentFault("-field is needed here")
        found = self._find(name)
        if found is None:
            raise InvalidRequest(TypedRule.NO_FIELD, field=name)
        return found


class ArrayLevel(ValueLevel):
    """An array: values of one type, without names. `done` takes them."""

    def __init__(self, element: FieldType, done: Callable[[list[Any]], None]) -> None:
        """Start without elements."""
        self._element = element
        self._done = done
        self._values: list[Any] = []

    def type_of(self, name: str | None) -> FieldType:
        """The type of the elements."""
        if name is not None:
            raise ArgumentFault("-field cannot be used in an array")
        return self._element

    def add(self, name: str | None, value: Any) -> None:  # noqa: ANN401  # a value of the type of `name`
        """Append an element."""
        self.type_of(name)
        self._values.append(value)

    def shown(self) -> str:
        """The elements so far."""
        return dumps([value_to_json(value, self._element) for value in self._values], pretty=True)

    def finish(self, session: Session) -> None:  # noqa: ARG002  # `done` takes the result
        """Hand the elements to `done`."""
        self._done(self._values)


def _value_level(session: Session) -> ValueLevel:
    """The level of the innermost mode, which is part of put mode."""
    level = session.mode.level
    assert isinstance(level, ValueLevel)
    return level


def named_field(field: Field | None) -> tuple[str, FieldType] | None:
    """The declared name and the type of a field that was looked up; None if there is none."""
    return None if field is None else (field.name, field.type)


def _nested_level(kind: FieldType, name: str, give: Callable[[Any], None]) -> ValueLevel:
    """The level of a nested value; `give` takes the value when it is finished.

    Raises: `CommandFault` for a type that is not nested.
    """

    def made(value: Any) -> None:  # noqa: ANN401  # a document of type `kind`
        give(coerce(value, kind, name))  # fills in the fields of a record that were left out

    if kind.kind is Kind.RECORD:
        return NamedLevel(
            lambda field: named_field(kind.field(field)), lambda _, values: made(values)
        )
    element = kind.element
    if element is not None and kind.kind is Kind.MAP:
        return NamedLevel(lambda key: (key, element), lambda _, values: made(values))
    if element is not None:
        return ArrayLevel(element, made)
    raise CommandFault(f"{kind.kind.value} is not a nested type; use add-value")


def _add_nested_value(kind: Kind) -> Command:
    """The command that begins a value of a nested type: a mode inside the mode."""
    word = kind.value.lower()

    def begin(session: Session, given: Arguments) -> None:
        outer, name = _value_level(session), given.get("-field")
        wanted = outer.type_of(name)
        if wanted.kind is not kind:
            raise CommandFault(f"{name or 'The element'} is not of type {kind.value}")

        def give(value: Any) -> None:  # noqa: ANN401  # a value of type `kind`
            outer.add(name, value)

        level = _nested_level(wanted, name or word, give)
        session.modes.append(Mode(name or word, session.mode.commands, level))

    return Command(
        name=f"add-{word}-value",
        shortest=5,
        description=f"Begins a value of type {kind.value}; exit sets it, cancel does not.",
        run=begin,
        flags=(ShellFlag("-field", "column"),),
    )


_SOURCES: Final = ("-value", "-null-value", "-file")


def _check_add_value(_: Session, given: Arguments) -> None:
    sources = [flag for flag in _SOURCES if given.has(flag)]
    if not sources:
        raise missing_argument(" | ".join(_SOURCES), "add-value")
    if len(sources) > 1:
        raise ArgumentFault(f"{sources[0]} and {sources[1]} cannot be used together")


def _add_value(session: Session, given: Arguments) -> None:
    level, name = _value_level(session), given.get("-field")
    level.add(name, _value(given, level.type_of(name), name or "element"))


def _value(given: Arguments, kind: FieldType, name: str) -> Any:  # noqa: ANN401  # of type `kind`
    if given.has("-null-value"):
        return None
    text, file = given.get("-value"), given.get("-file")
    if text is not None:
        return read_value(text, kind, name)
    assert file is not None
    try:
        data = Path(file).read_bytes()
        if kind.kind in (Kind.BINARY, Kind.FIXED_BINARY):
            return data
        return read_value(data.decode(), kind, name)
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFault(f"Failed to load file: {file}") from error


_ADD_VALUE: Final = Command(
    name="add-value",
    shortest=5,
    description="Sets a field; in an array it appends an element, without -field.",
    run=_add_value,
    flags=(
        ShellFlag("-field", "column"),
        ShellFlag("-value", "value"),
        ShellFlag("-null-value"),
        ShellFlag("-file", "path"),
    ),
    check=_check_add_value,
)


def _show(session: Session, _: Arguments) -> str:
    return _value_level(session).shown()


def _cancel(session: Session, _: Arguments) -> None:
    session.modes.pop()


def _exit(session: Session, _: Arguments) -> str | None:
    return session.finish_mode()


PUT_COMMANDS: Final = (
    _add_nested_value(Kind.ARRAY),
    _add_nested_value(Kind.MAP),
    _add_nested_value(Kind.RECORD),
    _ADD_VALUE,
    Command("cancel", "Leaves this level and forgets its values.", _cancel, shortest=4),
    Command("exit", "Leaves this level; at the row's own it is written.", _exit, shortest=2),
    HELP,
    Command("show", "Shows the values so far.", _show, shortest=2),
)
