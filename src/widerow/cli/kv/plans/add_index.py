"""`plan add-index`: index a table (cli §4)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.plans.run import PLAN_FLAGS, begin
from widerow.cli.kv.session import Session
from widerow.model.typed.plans import PlanKind, TablePlan
from widerow.model.typed.table import Index, IndexField

__all__ = ["ADD_INDEX"]


def _add_index(session: Session, given: Arguments) -> str:
    table = session.qualified(given.need("-table"), given.get("-namespace"))
    index = Index(
        given.need("-name"),
        tuple(IndexField(path) for path in given.all("-field")),
        comment=given.get("-desc"),
    )
    return begin(session, given, TablePlan(0, PlanKind.ADD_INDEX, table, index=index))


ADD_INDEX: Final = Command(
    name="add-index",
    shortest=5,
    description="Adds an index to a table; rows that are there are put into it.",
    run=_add_index,
    flags=(
        Flag("-name", "index-name", required=True),
        Flag("-table", "table-name", required=True),
        Flag("-field", "path", required=True, repeated=True),
        Flag("-namespace", "namespace"),
        Flag("-desc", "description"),
        *PLAN_FLAGS,
    ),
    strange="Invalid argument",
)
