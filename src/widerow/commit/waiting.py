"""The plans of a group commit: taking them from the line, ending them and telling their callers.

These are the committer's steps for each single plan. Compiled, because a group has about a hundred
plans and each of them may be one row.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, final

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
"""Called with the answer of a plan, or with its error. Must not raise."""

_NO_PLAN: Final[Plan[Any]] = Plan((), list)


@final
class Waiting:
    """A plan that is to be committed, the function to call when it has ended, and how it ended.

    `done` is None if the caller reads the end itself; `error` is None if the plan has an answer.
    When the plan has ended, its reference is dropped, because a plan holds a whole row. Until then,
    `unacknowledged` are its durable writes that not every server has acknowledged.
    """

    __slots__ = ("answer", "done", "ended", "error", "plan", "unacknowledged")

    def __init__(self, plan: Plan[Any], done: Done | None) -> None:
        """`done` is called when `plan` has ended."""
        self.plan = plan
        self.done = done
        self.ended = False
        self.answer: Any = None
        self.error: Exception | None = None
        self.unacknowledged: list[Write[Any]] = []

    def poll(self) -> bool:
        """Ask which writes were acknowledged since; whether the plan has ended.

        May read the store.
        """
        if self.unacknowledged:
            self.unacknowledged = [
                write for write in self.unacknowledged if not write.is_acknowledged()
            ]
            self.ended = not self.unacknowledged
        return self.ended

    def end(self) -> "End":
        """The answer of the plan and its error; one of them is None."""
        assert self.ended, "a plan has an end once its group has been committed"
        return self.answer, self.error


Post = Callable[[Sequence[Waiting]], None]
"""Passes ended plans to the thread of their callers. Called on the thread of the group."""


@final
class GroupLoad:
    """The size of a group, for `place_of`."""

    __slots__ = ("alone", "size", "writes")

    def __init__(self, writes: int, size: int, *, alone: bool) -> None:
        """`alone`: a plan needs a group of its own."""
        self.writes = writes
        self.size = size
        self.alone = alone


def load_of(group: Sequence[Waiting]) -> GroupLoad:
    """The total size of these plans."""
    writes, size, alone = 0, 0, False
    for waiting in group:
        plan = waiting.plan
        writes += len(plan.writes)
        size += plan.size
        alone = alone or plan.alone
    return GroupLoad(writes, size, alone=alone)


def next_group(line: deque[Waiting]) -> list[Waiting]:
    """Take the first group from a line; an empty list if the line is empty.

    It ends at `GROUP_WRITES_MAX` writes or `GROUP_BYTES_MAX` bytes, and a plan that needs a
    group of its own gets one. Other threads may add plans to the line during the call; none may
    take plans from it.
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
    """Give each plan its outcomes; return those that must be committed again with a new plan.

    Plans with `unacknowledged` writes have not ended yet.
    """
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
        if plan.alone and waiting.error is None:
            waiting.unacknowledged = [write for write in plan.writes if not write.is_acknowledged()]
        waiting.ended = not waiting.unacknowledged
        waiting.plan = _NO_PLAN
    return again


def refuse_group(group: Sequence[Waiting], error: Exception) -> None:
    """End a group that the store refused as a whole."""
    for waiting in group:
        waiting.error = error
        waiting.ended = True
        waiting.plan = _NO_PLAN


def tell_group(group: Sequence[Waiting]) -> None:
    """Call `done` of each plan that has one, on the calling thread."""
    for waiting in group:
        done = waiting.done
        if done is not None:
            done(waiting.answer, waiting.error)
