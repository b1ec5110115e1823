"""The group `plan`: make plans, which change the store, and run or cancel them (cli §4).

A plan runs in the shell's own process and has ended when its command returns. With -wait only the
printed text differs. `plan_run` has the plans' work.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from widerow.cli.kv.command import Command, missing_argument, number_of, refuse_both
from widerow.cli.kv.faults import ArgumentFault, CommandFault
from widerow.cli.kv.plan_run import ENDED_STATES, begin, chosen, ended, resume
from widerow.cli.kv.session import Session
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.model.typed.plans import PlanKind, PlanState, TablePlan
from widerow.model.typed.table import Index, IndexField

__all__ = [
    "PLAN_ADD_INDEX",
    "PLAN_ADD_TABLE",
    "PLAN_CANCEL",
    "PLAN_CHOICE",
    "PLAN_EVOLVE_TABLE",
    "PLAN_EXECUTE",
    "PLAN_REMOVE_INDEX",
    "PLAN_REMOVE_TABLE",
    "PLAN_WAIT",
]

# The flags of every command that makes a plan (cli §4). -force changes nothing for plans on
# tables, neither in the vendor's shell nor here.
_PLAN_FLAGS: Final = (
    ShellFlag("-plan-name", "name"),
    ShellFlag("-wait"),
    ShellFlag("-noexecute"),
    ShellFlag("-force"),
)
_ON_TABLE: Final = (
    ShellFlag("-name", "table-name", required=True),
    ShellFlag("-namespace", "namespace"),
)
_ON_INDEX: Final = (
    ShellFlag("-name", "index-name", required=True),
    ShellFlag("-table", "table-name", required=True),
)
# The flags that name a plan that was made before.
PLAN_CHOICE: Final = (ShellFlag("-id", "number"), ShellFlag("-last"))


def _command(
    name: str,
    shortest: int,
    description: str,
    run: Callable[[Session, Arguments], str],
    flags: tuple[ShellFlag, ...],
    *,
    check: Callable[[Session, Arguments], None] | None = None,
) -> Command:
    """A command of this group, where the vendor calls an unknown argument invalid."""
    return Command(
        name, description, run, flags, shortest=shortest, check=check, unknown="Invalid argument"
    )


def _requires_choice(command: str) -> Callable[[Session, Arguments], None]:
    """The check that either -id or -last was given to `command`."""

    def check(_: Session, given: Arguments) -> None:
        if not given.has("-id") and not given.has("-last"):
            raise missing_argument("-id|-last", command)
        refuse_both(given, "-id", "-last")

    return check


def _table_name(session: Session, given: Arguments, flag: str = "-name") -> str:
    return session.qualified(given.need(flag), given.get("-namespace"))


def _begin_staged(
    session: Session, given: Arguments, kind: PlanKind, *, evolved: bool, unbuilt: str
) -> str:
    """Begin a plan of a table that was built. Raises `ArgumentFault` with the text `unbuilt`."""
    name = _table_name(session, given)
    staged = session.staged.get(name)
    if staged is None or (staged.before is not None) is not evolved:
        raise ArgumentFault(f"table {name} is not yet built, please run {unbuilt}")
    plan = TablePlan(0, kind, name, definition=staged.table)
    return begin(session, given, plan, lambda: session.staged.pop(name))


def _add_table(session: Session, given: Arguments) -> str:
    return _begin_staged(
        session,
        given,
        PlanKind.ADD_TABLE,
        evolved=False,
        unbuilt="the 'table create' command to build it first.",
    )


def _evolve_table(session: Session, given: Arguments) -> str:
    return _begin_staged(
        session,
        given,
        PlanKind.EVOLVE_TABLE,
        evolved=True,
        unbuilt="command 'table evolve' to build it first.",
    )


def _check_remove_table(_: Session, given: Arguments) -> None:
    if given.has("-keep-data"):
        raise ArgumentFault("-keep-data is no longer supported")


def _remove_table(session: Session, given: Arguments) -> str:
    plan = TablePlan(0, PlanKind.REMOVE_TABLE, _table_name(session, given))
    return begin(session, given, plan)


def _add_index(session: Session, given: Arguments) -> str:
    index = Index(
        given.need("-name"),
        tuple(IndexField(path) for path in given.all("-field")),
        comment=given.get("-desc"),
    )
    table = _table_name(session, given, "-table")
    return begin(session, given, TablePlan(0, PlanKind.ADD_INDEX, table, index=index))


def _remove_index(session: Session, given: Arguments) -> str:
    index = Index(given.need("-name"), ())
    table = _table_name(session, given, "-table")
    return begin(session, given, TablePlan(0, PlanKind.REMOVE_INDEX, table, index=index))


def _execute(session: Session, given: Arguments) -> str:
    return resume(session, chosen(session, given), wait=given.has("-wait"))


def _cancel(session: Session, given: Arguments) -> str:
    plan = chosen(session, given)
    if plan.state in ENDED_STATES:
        raise CommandFault(f"Plan {plan.id} is {plan.state.value} and cannot be canceled")
    session.store.save_plan(replace(plan, state=PlanState.CANCELED))
    return f"Plan {plan.id} was canceled"


def _wait(session: Session, given: Arguments) -> str:
    number_of(given, "-seconds")  # refuses what is not a number; no plan is running to wait for
    return ended(chosen(session, given))


PLAN_ADD_TABLE: Final = _command(
    "add-table",
    5,
    "Adds a table that table create built to the store.",
    _add_table,
    (*_ON_TABLE, *_PLAN_FLAGS),
)
PLAN_EVOLVE_TABLE: Final = _command(
    "evolve-table",
    8,
    "Makes the changes that table evolve built. Rows show defaults for new columns.",
    _evolve_table,
    (*_ON_TABLE, *_PLAN_FLAGS),
)
PLAN_REMOVE_TABLE: Final = _command(
    "remove-table",
    8,
    "Removes a table, its indexes and its rows.",
    _remove_table,
    (*_ON_TABLE, ShellFlag("-keep-data"), *_PLAN_FLAGS),
    check=_check_remove_table,
)
PLAN_ADD_INDEX: Final = _command(
    "add-index",
    5,
    "Adds an index to a table; rows that are there are put into it.",
    _add_index,
    (
        *_ON_INDEX,
        ShellFlag("-field", "path", required=True, repeated=True),
        ShellFlag("-namespace", "namespace"),
        ShellFlag("-desc", "description"),
        *_PLAN_FLAGS,
    ),
)
PLAN_REMOVE_INDEX: Final = _command(
    "remove-index",
    8,
    "Removes an index from a table.",
    _remove_index,
    (*_ON_INDEX, ShellFlag("-namespace", "namespace"), *_PLAN_FLAGS),
)
PLAN_EXECUTE: Final = _command(
    "execute",
    4,
    "Runs a plan that was not run yet, or was interrupted or failed.",
    _execute,
    (*PLAN_CHOICE, ShellFlag("-wait")),
    check=_requires_choice("execute"),
)
PLAN_CANCEL: Final = _command(
    "cancel",
    3,
    "Gives up a plan that was not run, or was interrupted or failed.",
    _cancel,
    PLAN_CHOICE,
    check=_requires_choice("cancel"),
)
PLAN_WAIT: Final = _command(
    "wait",
    3,
    (
        "Says how a plan ended. Plans run in the shell that makes them, so that there is never\n"
        "anything left to wait for, however many -seconds are allowed."
    ),
    _wait,
    (*PLAN_CHOICE, ShellFlag("-seconds", "seconds")),
    check=_requires_choice("wait"),
)
