"""`plan evolve-table`: make the changes of a table that were built (cli §4)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.plans.run import PLAN_FLAGS, begin
from widerow.cli.kv.session import Session
from widerow.model.typed.plans import PlanKind, TablePlan

__all__ = ["EVOLVE_TABLE"]


def _evolve_table(session: Session, given: Arguments) -> str:
    name = session.qualified(given.need("-name"), given.get("-namespace"))
    staged = session.staged.get(name)
    if staged is None or staged.before is None:
        raise ArgumentFault(
            f"table {name} is not yet built, please run command 'table evolve' to build it first."
        )
    plan = TablePlan(0, PlanKind.EVOLVE_TABLE, name, definition=staged.table)
    return begin(session, given, plan, lambda: session.staged.pop(name))


EVOLVE_TABLE: Final = Command(
    name="evolve-table",
    shortest=8,
    description="Makes the changes that table evolve built. Rows show defaults for new columns.",
    run=_evolve_table,
    flags=(
        Flag("-name", "table-name", required=True),
        Flag("-namespace", "namespace"),
        *PLAN_FLAGS,
    ),
    strange="Invalid argument",
)
