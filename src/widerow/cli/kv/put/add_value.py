"""`add-value` in put mode: set a field, or append to an array (cli §6)."""

from pathlib import Path
from typing import Any, Final

from widerow.cli.kv.command import Arguments, Command, Flag, missing
from widerow.cli.kv.data.values import read_value
from widerow.cli.kv.faults import ArgumentFault, UnreadableFault
from widerow.cli.kv.put.levels import current
from widerow.cli.kv.session import Session
from widerow.model.typed.types import FieldType, Kind

__all__ = ["ADD_VALUE"]

_SOURCES: Final = ("-value", "-null-value", "-file")


def _check(_: Session, given: Arguments) -> None:
    sources = [flag for flag in _SOURCES if given.has(flag)]
    if not sources:
        raise missing(" | ".join(_SOURCES), "add-value")
    if len(sources) > 1:
        raise ArgumentFault(f"{sources[0]} and {sources[1]} cannot be used together")


def _add_value(session: Session, given: Arguments) -> None:
    level, name = current(session), given.get("-field")
    level.add(name, _value(given, level.type_of(name), name or "element"))


def _value(given: Arguments, kind: FieldType, name: str) -> Any:  # noqa: ANN401  # of that type
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


ADD_VALUE: Final = Command(
    name="add-value",
    shortest=5,
    description="Sets a field; in an array it appends an element, without -field.",
    run=_add_value,
    flags=(
        Flag("-field", "column"),
        Flag("-value", "value"),
        Flag("-null-value"),
        Flag("-file", "path"),
    ),
    check=_check,
)
