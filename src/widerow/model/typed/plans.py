"""Plans: changes of tables that administrators begin, wait for, and look up later (cli §4)."""

from dataclasses import dataclass
from enum import Enum

from widerow.model.typed.table import Index, TypedTable

__all__ = ["PlanKind", "PlanState", "TablePlan"]


class PlanKind(Enum):
    """The kind of a plan; the value is the name of a plan that was given none."""

    ADD_TABLE = "Add Table"
    EVOLVE_TABLE = "Evolve Table"
    REMOVE_TABLE = "Remove Table"
    ADD_INDEX = "Add Index"
    REMOVE_INDEX = "Remove Index"


class PlanState(Enum):
    """The progress of a plan; the value is the text that is shown.

    A plan that is `RUNNING` in no process was cut off: it is `INTERRUPTED` and may be run again.
    """

    PENDING = "APPROVED"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    ERROR = "ERROR"
    INTERRUPTED = "INTERRUPTED"
    CANCELED = "CANCELED"


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One plan. Times are in microseconds since 1970, 0 for what has not happened yet.

    `table` is the full name of the table it is about. `definition` is what ADD_TABLE and
    EVOLVE_TABLE make, `index` what ADD_INDEX makes; REMOVE_INDEX has its name only. `attempts`
    counts how often it was run, `error` says why it failed.
    """

    id: int
    kind: PlanKind
    table: str
    name: str = ""
    state: PlanState = PlanState.PENDING
    definition: TypedTable | None = None
    index: Index | None = None
    attempts: int = 0
    created_us: int = 0
    started_us: int = 0
    ended_us: int = 0
    error: str = ""

    @property
    def shown_name(self) -> str:
        """The name of the plan in lists."""
        return self.name or f"{self.kind.value} {self.table}"
