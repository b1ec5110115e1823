"""`add-map-value`, `add-array-value`, `add-record-value`: a value inside the row (cli §6)."""

from typing import Any, Final

from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.faults import CommandFault
from widerow.cli.kv.put.levels import current, inner_level
from widerow.cli.kv.session import Mode, Session
from widerow.model.typed.types import Kind

__all__ = ["ADD_ARRAY_VALUE", "ADD_MAP_VALUE", "ADD_RECORD_VALUE"]


def _command(kind: Kind) -> Command:
    word = kind.value.lower()

    def begin(session: Session, given: Arguments) -> None:
        outer, name = current(session), given.get("-field")
        wanted = outer.type_of(name)
        if wanted.kind is not kind:
            raise CommandFault(f"{name or 'The element'} is not of type {kind.value}")

        def give(value: Any) -> None:  # noqa: ANN401  # a value of that type
            outer.add(name, value)

        level = inner_level(wanted, name or word, give)
        session.modes.append(Mode(name or word, session.mode.commands, level))

    return Command(
        name=f"add-{word}-value",
        shortest=5,
        description=f"Begins a value of type {kind.value}; exit sets it, cancel does not.",
        run=begin,
        flags=(Flag("-field", "column"),),
    )


ADD_ARRAY_VALUE: Final = _command(Kind.ARRAY)
ADD_MAP_VALUE: Final = _command(Kind.MAP)
ADD_RECORD_VALUE: Final = _command(Kind.RECORD)
