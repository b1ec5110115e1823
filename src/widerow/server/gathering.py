"""Group commit on the loop: the writes of one turn together, without a hand-over where it is quick.

A turn of the loop reads every connection that has something to say. What they ask to be written is
gathered until the turn ends and then committed at once, on the loop, as long as commits are quick;
what a client sends meanwhile is read in the next turn and shares the next sync. Larger groups, and
all of them on a slow disk, go to the writer thread, so that those who read need not wait
(`Committer.commit_here` says which).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from widerow.errors import StorageFailure, WiderowError
from widerow.server.committer import Committer
from widerow.server.waiting import Done, End, Waiting

if TYPE_CHECKING:
    from widerow.engine.plan import Plan

__all__ = ["Gathering"]


class Gathering:
    """What waits for the end of the loop's turn. Lives on the loop's thread."""

    def __init__(self, committer: Committer, soon: Callable[[Callable[[], None]], object]) -> None:
        """`soon` has a function called when the loop's turn ends."""
        self._committer = committer
        self._soon = soon
        self._plans: list[Waiting] = []

    def submit(self, plan: "Plan[Any]", done: Done) -> None:
        """Commit `plan` with whatever else comes in this turn; `done` gets its answer or error."""
        self._plans.append(Waiting(plan, done))
        if len(self._plans) == 1:
            self._soon(self._turn)

    def flush(self) -> None:
        """Commit what was gathered now; what the turn's end then finds is what came later."""
        if self._plans:
            self._turn()

    def commit_alone(self, plan: "Plan[Any]") -> End | None:
        """`Committer.commit_alone`, from another thread."""
        return self._committer.commit_alone(plan)

    def report(self, error: StorageFailure) -> None:
        """The store refused a write elsewhere."""
        self._committer.report(error)

    def _turn(self) -> None:
        plans, self._plans = self._plans, []
        if not plans:
            return
        if self._committer.commit_here(plans):
            return
        try:
            self._committer.submit_all(plans)
        except WiderowError as error:  # the server is stopping
            for each in plans:
                each.done(None, error)
