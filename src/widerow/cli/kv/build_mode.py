"""Build mode: the commands between `table create` or `table evolve` and `exit` (cli §3).

`EVOLVE_COMMANDS` and `CREATE_COMMANDS`, at the end, are the tables of these commands. The types
and default values of `add-field` are in `add_field`.
"""

from typing import Final

from widerow.cli.kv.add_field import ADD_FIELD
from widerow.cli.kv.build_levels import CollectionLevel, RecordLevel, create_level, field_level
from widerow.cli.kv.command import Command, missing_argument
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.help import HELP
from widerow.cli.kv.session import Mode, Session
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.model.typed.types import Kind

__all__ = ["CREATE_COMMANDS", "EVOLVE_COMMANDS"]

# The commands of the mode around a nested type that are understood inside the type as well.
_INSIDE: Final = frozenset(
    (
        *("add-array-field", "add-field", "add-map-field", "add-record-field", "remove-field"),
        *("cancel", "exit", "help", "show"),
    )
)


def _add_nested_field(kind: Kind) -> Command:
    """The command that begins a field of a nested type: a mode inside the mode."""
    name = f"add-{kind.value.lower()}-field"

    def check(session: Session, given: Arguments) -> None:
        collection = field_level(session).collection
        if not collection and not given.has("-name"):
            raise missing_argument("-name", name)
        if collection and given.has("-name"):
            raise ArgumentFault(f"-name is not allowed for the type field of {collection}")

    def begin(session: Session, given: Arguments) -> None:
        outer = field_level(session)
        field, description = given.get("-name") or "", given.get("-desc")
        level = (
            RecordLevel(field, description, outer.add)
            if kind is Kind.RECORD
            else CollectionLevel(kind, field, description, outer.add)
        )
        inside = [each for each in session.mode.commands if each.name in _INSIDE]
        session.modes.append(Mode(field or outer.collection.lower(), inside, level))

    return Command(
        name=name,
        shortest=5,
        description=f"Begins a field of type {kind.value}; exit adds it, cancel does not.",
        run=begin,
        flags=(ShellFlag("-name", "field-name"), ShellFlag("-desc", "description")),
        check=check,
    )


def _remove_field(session: Session, given: Arguments) -> None:
    field_level(session).remove(given.need("-name"))


_REMOVE_FIELD: Final = Command(
    name="remove-field",
    shortest=4,
    description="Removes a field.",
    run=_remove_field,
    flags=(ShellFlag("-name", "field-name", required=True),),
)


def _primary_key(session: Session, given: Arguments) -> None:
    builder = create_level(session).builder
    builder.primary_key(*builder.key, *given.all("-field"))


_KEY_FIELDS: Final = ShellFlag("-field", "field-name", required=True, repeated=True)
_PRIMARY_KEY: Final = Command(
    name="primary-key",
    shortest=4,
    description="Declares columns of the primary key, in their order.",
    run=_primary_key,
    flags=(_KEY_FIELDS,),
)


def _shard_key(session: Session, given: Arguments) -> None:
    builder = create_level(session).builder
    builder.shard_key(*builder.shard, *given.all("-field"))


_SHARD_KEY: Final = Command(
    name="shard-key",
    shortest=4,
    description=(
        "Declares columns of the shard key: the first columns of the primary key, in its order.\n"
        "Rows with equal shard keys are stored together. Without it, all of the primary key."
    ),
    run=_shard_key,
    flags=(_KEY_FIELDS,),
)


def _set_description(session: Session, given: Arguments) -> None:
    create_level(session).builder.comment(given.need("-desc"))


_SET_DESCRIPTION: Final = Command(
    name="set-description",
    shortest=5,
    description="Sets the description of the table.",
    run=_set_description,
    flags=(ShellFlag("-desc", "description", required=True),),
)


def _show(session: Session, given: Arguments) -> str:
    return field_level(session).shown(original=given.has("-original"))


_SHOW: Final = Command(
    name="show",
    shortest=2,
    description="Shows the definition so far; with -original the table before its evolution.",
    run=_show,
    flags=(ShellFlag("-original"),),
)


def _cancel(session: Session, _: Arguments) -> None:
    session.modes.pop()


_CANCEL: Final = Command(
    name="cancel",
    shortest=4,
    description="Leaves this level of the mode and forgets what was built in it.",
    run=_cancel,
)


def _exit(session: Session, _: Arguments) -> str | None:
    return session.finish_mode()


_EXIT: Final = Command(
    name="exit",
    shortest=2,
    description="Checks what was built, keeps it, and leaves this level of the mode.",
    run=_exit,
)

EVOLVE_COMMANDS: Final = (
    _add_nested_field(Kind.ARRAY),
    ADD_FIELD,
    _add_nested_field(Kind.MAP),
    _add_nested_field(Kind.RECORD),
    _CANCEL,
    _EXIT,
    HELP,
    _REMOVE_FIELD,
    _SHOW,
)
CREATE_COMMANDS: Final = (*EVOLVE_COMMANDS, _PRIMARY_KEY, _SET_DESCRIPTION, _SHARD_KEY)
