"""What requests are carried out with: the engine, the committer, clock, chance and counts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from widerow.clock import Clock, Entropy
from widerow.commit.places import Caller
from widerow.commit.waiting import Done
from widerow.engine.engine import Engine
from widerow.errors import StorageFailure
from widerow.server.metrics import Metrics

if TYPE_CHECKING:
    from widerow.engine.ends import End
    from widerow.engine.plan import Plan

__all__ = ["Commits", "Service"]


class Commits(Protocol):
    """The part of a `Committer` that dispatching uses."""

    def submit(self, plan: "Plan[Any]", done: Done | None, caller: Caller) -> "End | None":
        """Commit `plan`: its end, or None if `done` will be called with it."""
        ...

    def flush(self) -> None:
        """End the loop's turn: commit the plans that it submitted."""
        ...

    def report(self, error: StorageFailure) -> None:
        """Note that the store refused a request outside of a commit."""
        ...


@dataclass(frozen=True, slots=True)
class Service:
    """What requests are carried out with."""

    engine: Engine
    committer: Commits
    clock: Clock
    entropy: Entropy
    metrics: Metrics
