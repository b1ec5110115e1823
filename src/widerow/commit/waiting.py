"""Plans on their way through a group commit: who waits, what became of each, and telling it.

What the committer does for each plan of a group. Compiled, because a group has a hundred of them
and each is a row.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, final

from mypy_extensions import mypyc_attr

from widerow.engine.ends import end_of
from widerow.engine.plan import Plan
from widerow.limits import GROUP_BYTES_MAX, GROUP_WRITES_MAX
from widerow.storage.group import Outcome, Write

if TYPE_CHECKING:
    from widerow.engine.ends import End

__all__ = [
    "Done",
    "GroupLoad",
    "Post",
    "Waiting",
    "end_group",
    "load_of",
    "next_group",
    "refuse_group",
    "tell_group",
    "writes_of",
]

Done = Callable[[Any, Exception | None], None]
"""Takes a plan's answer, or the error instead of it. Must not raise."""

_NO_PLAN: Final[Plan[Any]] = Plan((), list)


@mypyc_attr(acyclic=True)
@final
class Waiting:
    """A plan that is to be committed, whom to tell, and, once it has ended, what.

    `done` is None where the one who asked looks for itself, `error` where there is an answer. A
    plan that has ended is forgotten: it holds a row, and a hundred others wait beside it.
    """

    __slots__ = ("answer", "done", "ended", "error", "plan")

    def __init__(self, plan: Plan[Any], done: Done | None) -> None:
        """`done` waits for `plan`."""
        self.plan = plan
        self.done = done
        self.ended = False
        self.answer: Any = None
        self.error: Exception | None = None

    def end(self) -> "End":
        """How it ended."""
        assert self.ended, "a plan has an end once its group has been committed"
        return self.answer, self.error


Post = Callable[[Sequence[Waiting]], None]
"""Carries plans that have ended to where they are awaited. Called on the group's thread."""


@mypyc_attr(acyclic=True)
@final
class GroupLoad:
    """How much a group is, as `place_of` wants to know it."""

    __slots__ = ("alone", "size", "writes")

    def __init__(self, writes: int, size: int, *, alone: bool) -> None:
        """So many writes of about `size` bytes; `alone`: a plan wants a group of its own."""
        self.writes = writes
        self.size = size
        self.alone = alone


def load_of(group: Sequence[Waiting]) -> GroupLoad:
    """How much these plans are together."""
    writes, size, alone = 0, 0, False
    for waiting in group:
        plan = waiting.plan
        writes += len(plan.writes)
        size += plan.size
        alone = alone or plan.alone
    return GroupLoad(writes, size, alone=alone)


def next_group(line: deque[Waiting]) -> list[Waiting]:
    """Take the first group from a line; no plans if nobody stands in it.

    It ends at `GROUP_WRITES_MAX` writes or `GROUP_BYTES_MAX` bytes, and a plan that wants a group
    of its own has it. Others may join the line meanwhile, nobody else may take from it.
    """
    group: list[Waiting] = []
    writes, size = 0, 0
    while line:
        plan = line[0].plan
        writes += len(plan.writes)
        size += plan.size
        full = plan.alone or writes > GROUP_WRITES_MAX or size > GROUP_BYTES_MAX
        if full and group:
            break
        group.append(line.popleft())
        if full:
            break
    return group


def writes_of(group: Sequence[Waiting]) -> list[Write[Any]]:
    """The writes of all plans, in order."""
    writes: list[Write[Any]] = []
    for waiting in group:
        writes.extend(waiting.plan.writes)
    return writes


def end_group(group: Sequence[Waiting], outcomes: Sequence[Outcome[Any]]) -> list[Waiting]:
    """Let each plan make its answer of its share of the outcomes; who has another plan by now."""
    offset = 0
    again: list[Waiting] = []
    for waiting in group:
        plan = waiting.plan
        stop = offset + len(plan.writes)
        answer, waiting.error = end_of(plan, outcomes[offset:stop])
        offset = stop
        if isinstance(answer, Plan):
            waiting.plan = answer
            again.append(waiting)
            continue
        waiting.answer = answer
        waiting.ended = True
        waiting.plan = _NO_PLAN
    return again


def refuse_group(group: Sequence[Waiting], error: Exception) -> None:
    """End a group that the store refused as a whole."""
    for waiting in group:
        waiting.error = error
        waiting.ended = True
        waiting.plan = _NO_PLAN


def tell_group(group: Sequence[Waiting]) -> None:
    """Tell everyone who wants to be told, on the thread that this is called on."""
    for waiting in group:
        done = waiting.done
        if done is not None:
            done(waiting.answer, waiting.error)
