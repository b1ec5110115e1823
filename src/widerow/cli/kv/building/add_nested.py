"""`add-array-field`, `add-map-field`, `add-record-field`: a mode inside the mode (cli §3)."""

from collections.abc import Callable
from typing import Final

from widerow.cli.kv.building.levels import CollectionLevel, Level, RecordLevel, current
from widerow.cli.kv.command import Arguments, Command, Flag, missing
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.session import Mode, Session
from widerow.model.typed.types import Field, Kind

__all__ = ["ADD_ARRAY_FIELD", "ADD_MAP_FIELD", "ADD_RECORD_FIELD"]

# What is understood inside a nested type: of the commands around it, these.
_INSIDE: Final = frozenset(
    (
        *("add-array-field", "add-field", "add-map-field", "add-record-field", "remove-field"),
        *("cancel", "exit", "help", "show"),
    )
)


def _command(kind: Kind) -> Command:
    name = f"add-{kind.value.lower()}-field"

    def check(session: Session, given: Arguments) -> None:
        collection = current(session).collection
        if not collection and not given.has("-name"):
            raise missing("-name", name)
        if collection and given.has("-name"):
            raise ArgumentFault(f"-name is not allowed for the type field of {collection}")

    def begin(session: Session, given: Arguments) -> None:
        outer = current(session)
        called = given.get("-name") or ""
        level = _level(kind, called, given.get("-desc"), outer.add)
        inside = [each for each in session.mode.commands if each.name in _INSIDE]
        session.modes.append(Mode(called or outer.collection.lower(), inside, level))

    return Command(
        name=name,
        shortest=5,
        description=f"Begins a field of type {kind.value}; exit adds it, cancel does not.",
        run=begin,
        flags=(Flag("-name", "field-name"), Flag("-desc", "description")),
        check=check,
    )


def _level(kind: Kind, name: str, description: str | None, give: Callable[[Field], None]) -> Level:
    if kind is Kind.RECORD:
        return RecordLevel(name, description, give)
    return CollectionLevel(kind, name, description, give)


ADD_ARRAY_FIELD: Final = _command(Kind.ARRAY)
ADD_MAP_FIELD: Final = _command(Kind.MAP)
ADD_RECORD_FIELD: Final = _command(Kind.RECORD)
