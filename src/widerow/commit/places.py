"""Where a group of plans is committed: on the loop, on its caller's thread, or on the writer's.

One rule, `place_of`, decides by the caller, the size of the group, whether it must be committed
alone, whether other plans wait, and how long recent groups waited for the disk. The numbers are in
`limits.py`, their measurements in docs/internals/performance.md.

Compiled, because it is called in every turn of the loop that has a write.
"""

from enum import Enum
from typing import Final, final

from mypy_extensions import i64

from widerow.limits import (
    ALONE_WAIT_NS_MAX,
    LOOP_GROUP_BYTES_MAX,
    LOOP_GROUP_WRITES_MAX,
    LOOP_WAIT_NS_MAX,
)

__all__ = ["Caller", "DiskWait", "Place", "place_of"]


class Caller(Enum):
    """The kind of thread that submits a plan, and what it may commit."""

    LOOP = "the loop, in one of its turns: must not be held up for long"
    REQUEST = "a request's thread that has just made a large plan: may commit it"
    BLOCKED = "a thread that waits for the plan's end and does nothing else: may commit anything"
    ELSEWHERE = "a thread or task that has other things to do: commits nothing"


class Place(Enum):
    """Which thread commits a group."""

    LOOP = "the loop's, when its turn ends"
    CALLER = "the one that asks"
    WRITER = "the writer's thread, or another thread that commits the plans in the line"


_LOOP: Final = Caller.LOOP
_REQUEST: Final = Caller.REQUEST
_BLOCKED: Final = Caller.BLOCKED
_ON_LOOP: Final = Place.LOOP
_ON_CALLER: Final = Place.CALLER
_ON_WRITER: Final = Place.WRITER


def place_of(
    caller: Caller,
    writes: int,
    size: int,
    *,
    alone: bool,
    others_wait: bool,
    usual_wait_ns: int,
) -> Place:
    """The thread that commits a group of `writes` writes with about `size` bytes.

    `alone`: a plan in it wants a group of its own. `others_wait`: the line is not empty.
    `usual_wait_ns`: for the disk, lately (`DiskWait`).

    * On the loop if the commit is quicker than a change of threads: a small group, an empty line
      and a quick disk. (Computing needs the interpreter's lock on either thread.)
    * On the thread of a request that has made a large plan, as long as a shared sync would save
      less than it costs: the data of the plan is still in the caches of that processor.
    * On a thread that waits for the plan in any case, always.
    * Everything else on the writer's thread, where plans that arrive during a sync share the next.
    """
    if caller is _LOOP:
        small = writes <= LOOP_GROUP_WRITES_MAX and size <= LOOP_GROUP_BYTES_MAX and not alone
        if small and not others_wait and usual_wait_ns <= LOOP_WAIT_NS_MAX:
            return _ON_LOOP
        return _ON_WRITER
    if caller is _REQUEST:
        return _ON_CALLER if usual_wait_ns <= ALONE_WAIT_NS_MAX else _ON_WRITER
    return _ON_CALLER if caller is _BLOCKED else _ON_WRITER


_COUNTED_NS_MAX: Final = 2 * LOOP_WAIT_NS_MAX  # longer waits are counted as this long


@final
class DiskWait:
    """How long a group waited for the disk lately: one moving average, `usual_ns`.

    The store measures the waits (`Store.durable_ns`). The thread that waited may have to wait for
    the interpreter's lock too, before it can look at the clock. So short waits count more than long
    ones: only a slow disk makes every wait long.
    """

    __slots__ = ("usual_ns",)

    def __init__(self) -> None:
        """The disk counts as quick until a wait is noted."""
        self.usual_ns = 0

    def note(self, waited_ns: i64) -> None:
        """Add the wait of one group to the average."""
        counted: i64 = min(waited_ns, _COUNTED_NS_MAX)
        longer: i64 = counted - self.usual_ns
        self.usual_ns += longer // 8 if longer > 0 else longer // 2
