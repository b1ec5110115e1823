"""The state of a run of the simulation: pending requests, counted events, and the summary."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from tests.support.scripts import Ask, ScriptKey

from widerow.errors import Conflict, Rule, WiderowError
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import KeyInput

__all__ = [
    "SOMETIMES",
    "Letter",
    "PendingAsk",
    "RangeScan",
    "SeedResult",
    "Violation",
    "is_lock",
    "missing_events",
    "summary",
    "tells_lock",
]

SOMETIMES: Final = (
    "a group of eight or more",
    "a condition lost its race",
    "an atomic batch was refused",
    "a torn tail was dropped",
    "the power went inside a commit",
    "the power went while opening",
    "an open outcome turned out done",
    "an open outcome turned out undone",
    "a sync failed",
    "the disk was full",
    "room ended inside a commit",
    "a read came during a sync",
    "a read came while no writes were taken",
    "a row expired during a scan",
    "expired rows were removed",
    "the clock went back a day",
    "a version was held up by the clock",
    "a request was lost",
    "a reply was lost",
    "a request came twice",
    "a request came after a restart",
    "a table was dropped",
    "a write met a dropped table",
    "rows of a dropped table were removed",
    "an index entry was moved",
    "records of a stream were trimmed",
    "a transaction was committed",
    "a transaction was aborted",
    "a transaction ran out of time",
    "a transaction was open at a crash",
    "a write met the lock of a transaction",
    "an open commit turned out done",
    "an open commit turned out undone",
)

_LOCKS: Final = frozenset({Rule.KEY_LOCKED, TablestoreRule.TRANSACTION_BUSY})


class Violation(AssertionError):
    """A promise that must hold at every moment was broken."""


class Letter(NamedTuple):
    """A request on its way. `restarts`: how often the store had been restarted when it was sent."""

    client: int
    ask: Ask
    restarts: int


@dataclass(slots=True)
class PendingAsk:
    """A write that the committer has taken.

    `begun_ms`: when its bodies were run. `locked`: whether a transaction held its key when it was
    planned or run, and for a commit whether an earlier commit holds its transaction; None where it
    is unknown. `late`: the time of its transaction was over by then. `refusal`: the error that a
    body raised.
    """

    number: int
    client: int
    ask: Ask
    locked: bool | None
    begun_ms: int | None = None
    late: bool = False
    refusal: WiderowError | None = None

    @property
    def met_lock(self) -> bool:
        """Whether the write met a lock; where that is unknown, by the error that a body raised."""
        return is_lock(self.refusal) if self.locked is None else self.locked


def is_lock(error: Exception | None) -> bool:
    """Whether a lock of a transaction, or a commit that holds the transaction, was the refusal."""
    return isinstance(error, Conflict) and error.rule in _LOCKS


class RangeScan(NamedTuple):
    """A range that is read page by page.

    `awaited`: the rows after the last page when it was read.
    """

    table: str
    start: dict[str, KeyInput]
    backward: bool
    awaited: frozenset[ScriptKey]


@dataclass(slots=True)
class SeedResult:
    """The result of one seed."""

    seed: int
    trace: str = ""
    operations: int = 0
    acknowledged: int = 0
    open_outcomes: int = 0
    crashes: int = 0
    saw: Counter[str] = field(default_factory=Counter)
    violation: str = ""


def tells_lock(answer: Any) -> bool:  # noqa: ANN401  # what any plan answers
    """Whether the answer of a batch says of a row that a transaction holds its key."""
    return isinstance(answer, list) and any(is_lock(row.error) for row in answer[0])


def missing_events(results: Sequence[SeedResult]) -> list[str]:
    """The events of `SOMETIMES` that happened in no run."""
    saw = sum((result.saw for result in results), Counter[str]())
    return [what for what in SOMETIMES if not saw[what]]


def summary(results: Sequence[SeedResult], seconds: float) -> dict[str, Any]:
    """The JSON line of a run."""
    saw = sum((result.saw for result in results), Counter[str]())
    failed = [result.seed for result in results if result.violation]
    return {
        "check": "simulation",
        "seed": failed[0] if failed else results[0].seed,
        "volume": len(results),
        "operations": sum(result.operations for result in results),
        "acks": sum(result.acknowledged for result in results),
        "indeterminate": sum(result.open_outcomes for result in results),
        "crashes": sum(result.crashes for result in results),
        "violations": len(failed),
        "never_seen": missing_events(results),
        "sometimes": {what: saw[what] for what in SOMETIMES},
        "seconds": round(seconds, 1),
    }
