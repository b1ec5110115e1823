"""Why a plan cannot be: the store's errors under the names of the vendor's exceptions (cli §4)."""

from collections.abc import Mapping
from typing import Final

from widerow.cli.kv.faults import PlanFault
from widerow.errors import AnyRule, Conflict, InvalidRequest, NotFound, Unsupported, WiderowError
from widerow.model.typed.rules import TypedRule

__all__ = ["no_table", "refusal"]

_RELEASE: Final = " (25.3.21)"  # of the shell whose texts these are; scripts compare whole lines
_KINDS: Final[Mapping[AnyRule, str]] = {
    TypedRule.TABLE_EXISTS: "TableAlreadyExistsException",
    TypedRule.INDEX_EXISTS: "IndexAlreadyExistsException",
    TypedRule.INDEX_MISSING: "IndexNotFoundException",
}
_OTHER: Final = "IllegalCommandException"


def refusal(error: WiderowError) -> PlanFault | None:
    """What the vendor says to a plan that meets this error; None for a failure of the store."""
    if not isinstance(error, (InvalidRequest, NotFound, Conflict, Unsupported)):
        return None
    if error.rule is TypedRule.TABLE_MISSING:
        return no_table(str(error.details["table"]))
    kind = _KINDS.get(error.rule)
    return PlanFault(_OTHER, str(error)) if kind is None else PlanFault(kind, f"{error}{_RELEASE}")


def no_table(name: str) -> PlanFault:
    """The plan names a table that the store does not have."""
    return PlanFault(_OTHER, f"Could not find table: {name}")
