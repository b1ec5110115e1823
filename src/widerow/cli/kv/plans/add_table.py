"""`plan add-table`: add a table that was built to the store (cli §4)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.plans.run import PLAN_FLAGS, begin
from widerow.cli.kv.session import Session
from widerow.model.typed.plans import PlanKind, TablePlan

__all__ = ["ADD_TABLE"]


def _add_table(session: Session, given: Arguments) -> str:
    name = session.qualified(given.need("-name"), given.get("-namespace"))
    staged = session.staged.get(name)
    if staged is None or staged.before is not None:
        raise ArgumentFault(
            f"table {name} is not yet built, please run the 'table create' command to build it "
            "first."
        )
    plan = TablePlan(0, PlanKind.ADD_TABLE, name, definition=staged.table)
    return begin(session, given, plan, lambda: session.staged.pop(name))


ADD_TABLE: Final = Command(
    name="add-table",
    shortest=5,
    description="Adds a table that table create built to the store.",
    run=_add_table,
    flags=(
        Flag("-name", "table-name", required=True),
        Flag("-namespace", "namespace"),
        *PLAN_FLAGS,
    ),
    strange="Invalid argument",
)
