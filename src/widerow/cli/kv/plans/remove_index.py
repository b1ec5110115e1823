"""`plan remove-index`: remove an index (cli §4)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.plans.run import PLAN_FLAGS, begin
from widerow.cli.kv.session import Session
from widerow.model.typed.plans import PlanKind, TablePlan
from widerow.model.typed.table import Index

__all__ = ["REMOVE_INDEX"]


def _remove_index(session: Session, given: Arguments) -> str:
    table = session.qualified(given.need("-table"), given.get("-namespace"))
    index = Index(given.need("-name"), ())
    return begin(session, given, TablePlan(0, PlanKind.REMOVE_INDEX, table, index=index))


REMOVE_INDEX: Final = Command(
    name="remove-index",
    shortest=8,
    description="Removes an index from a table.",
    run=_remove_index,
    flags=(
        Flag("-name", "index-name", required=True),
        Flag("-table", "table-name", required=True),
        Flag("-namespace", "namespace"),
        *PLAN_FLAGS,
    ),
    strange="Invalid argument",
)
