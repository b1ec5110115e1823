"""Plans on their way through a group commit: who waits, what became of each, and telling it.

What the committer does for each plan of a group. Compiled, because a group has a hundred of them
and each is a row.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

from mypy_extensions import mypyc_attr

from widerow.limits import LOOP_GROUP_BYTES_MAX, LOOP_GROUP_WRITES_MAX
from widerow.storage.group import Outcome, Write

if TYPE_CHECKING:
    from queue import SimpleQueue

    from widerow.engine.plan import Plan

__all__ = [
    "Committed",
    "Direct",
    "Done",
    "End",
    "Post",
    "Waiting",
    "call_each",
    "ends_of",
    "is_quick",
    "refusals",
    "tell_direct",
    "writes_of",
]

Done = Callable[[Any, Exception | None], None]
"""Takes a plan's answer, or the error instead of it."""

End = tuple[Any, Exception | None]
"""How a plan ended: what `Done` takes."""


@mypyc_attr(acyclic=True)
@final
class Waiting:
    """A plan that is to be committed, and whom to tell."""

    __slots__ = ("done", "plan")

    def __init__(self, plan: "Plan[Any]", done: Done) -> None:
        """`done` waits for `plan`."""
        self.plan = plan
        self.done = done


@mypyc_attr(acyclic=True)
@final
class Committed:
    """A plan's end: whom to tell, and what."""

    __slots__ = ("answer", "done", "error")

    def __init__(
        self,
        done: Done,
        answer: Any,  # noqa: ANN401  # whatever the plan returns
        error: Exception | None,
    ) -> None:
        """`error` is None where there is an answer."""
        self.done = done
        self.answer = answer
        self.error = error


Post = Callable[[list[Committed]], None]
"""Carries the ends of a group's plans to where they are awaited. Called on the group's thread."""


@final
class Direct:
    """The `done` of a caller that waits on a queue of its own, whatever the loop does."""

    __slots__ = ("_ends",)

    def __init__(self, ends: "SimpleQueue[End]") -> None:
        """What is told goes into `ends`."""
        self._ends = ends

    def __call__(self, answer: Any, error: Exception | None) -> None:  # noqa: ANN401  # any plan's
        """Hand over the answer, or the error."""
        self._ends.put((answer, error))


def is_quick(group: Sequence[Waiting]) -> bool:
    """Whether a group is small enough for the loop, and none of its plans wants one of its own."""
    writes, size = 0, 0
    for waiting in group:
        plan = waiting.plan
        if plan.alone:
            return False
        writes += len(plan.writes)
        size += plan.size
    return writes <= LOOP_GROUP_WRITES_MAX and size <= LOOP_GROUP_BYTES_MAX


def writes_of(group: Sequence[Waiting]) -> list[Write[Any]]:
    """The writes of all plans, in order."""
    writes: list[Write[Any]] = []
    for waiting in group:
        writes.extend(waiting.plan.writes)
    return writes


def ends_of(group: Sequence[Waiting], outcomes: list[Outcome[Any]]) -> list[Committed]:
    """What each plan makes of its share of the outcomes."""
    ends: list[Committed] = []
    offset = 0
    for waiting in group:
        plan, done = waiting.plan, waiting.done
        stop = offset + len(plan.writes)
        try:
            ends.append(Committed(done, plan.finish(outcomes[offset:stop]), None))
        except Exception as error:  # noqa: BLE001  # it is this plan's answer
            ends.append(Committed(done, None, error))
        offset = stop
    return ends


def refusals(group: Sequence[Waiting], error: Exception) -> list[Committed]:
    """The ends of a group that the store refused as a whole."""
    return [Committed(waiting.done, None, error) for waiting in group]


def tell_direct(ends: Sequence[Committed]) -> list[Committed]:
    """Tell those who wait on queues of their own; the others."""
    others: list[Committed] = []
    for end in ends:
        if isinstance(end.done, Direct):
            end.done(end.answer, end.error)
        else:
            others.append(end)
    return others


def call_each(ends: list[Committed]) -> None:
    """Tell everyone, on the thread this is called on."""
    for end in ends:
        end.done(end.answer, end.error)
