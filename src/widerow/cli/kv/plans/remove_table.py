"""`plan remove-table`: remove a table and its rows (cli §4)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.plans.run import PLAN_FLAGS, begin
from widerow.cli.kv.session import Session
from widerow.model.typed.plans import PlanKind, TablePlan

__all__ = ["REMOVE_TABLE"]


def _check(_: Session, given: Arguments) -> None:
    if given.has("-keep-data"):
        raise ArgumentFault("-keep-data is no longer supported")


def _remove_table(session: Session, given: Arguments) -> str:
    name = session.qualified(given.need("-name"), given.get("-namespace"))
    return begin(session, given, TablePlan(0, PlanKind.REMOVE_TABLE, name))


REMOVE_TABLE: Final = Command(
    name="remove-table",
    shortest=8,
    description="Removes a table, its indexes and its rows.",
    run=_remove_table,
    flags=(
        Flag("-name", "table-name", required=True),
        Flag("-namespace", "namespace"),
        Flag("-keep-data"),
        *PLAN_FLAGS,
    ),
    check=_check,
    strange="Invalid argument",
)
