"""What all connections of one listener share: time, bounds, and the handler."""

from typing import TYPE_CHECKING, Protocol, final

from widerow.clock import Clock
from widerow.errors import WiderowError
from widerow.limits import (
    BODY_SECONDS_MAX,
    HEADER_SECONDS_MAX,
    IDLE_SECONDS_MAX,
    LINGER_SECONDS_MAX,
)
from widerow.server.admission import Admission
from widerow.server.headers import KeptHeaders
from widerow.server.message import Reply, Request, Response

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

__all__ = ["Handler", "Kept", "Shared", "Timeouts"]


class Handler(Protocol):
    """Turns requests into answers. Neither method raises."""

    def handle(self, request: Request, reply: Reply) -> Response | None:
        """Answer now, or return None and call `reply` later."""
        ...

    def refuse(self, error: WiderowError) -> Response:
        """The answer to bytes that are not HTTP."""
        ...


class Kept(Protocol):
    """A connection, as the listener and the sum of waiting answers see it.

    `deadline`: when it is to `expire`, in seconds of the monotonic clock. `since`: when
    it was accepted, in the same. `unsent`: bytes of its answers that wait for a slow reader.
    """

    deadline: float
    since: float
    unsent: int

    def expire(self) -> None:
        """Act on the passed deadline."""
        ...

    def close_if_idle(self) -> None:
        """End the connection unless it has a request in hand."""
        ...

    def is_flushed(self) -> bool:
        """Whether no part of an answer waits in this object."""
        ...

    def abort(self) -> None:
        """End the connection now."""
        ...

    def is_running(self) -> bool:
        """Whether a request of the connection is in hand."""
        ...

    def evict(self) -> None:
        """End the connection now, for lack of room; it is counted no more."""
        ...


@final
class Timeouts:
    """How many seconds a connection waits.

    For all headers of a request, for its body or a reader of an answer, for the next request, and
    for the client to close after the last answer.
    """

    __slots__ = ("body", "headers", "idle", "linger")

    def __init__(
        self,
        headers: float = HEADER_SECONDS_MAX,
        body: float = BODY_SECONDS_MAX,
        idle: float = IDLE_SECONDS_MAX,
        linger: float = LINGER_SECONDS_MAX,
    ) -> None:
        self.headers = headers
        self.body = body
        self.idle = idle
        self.linger = linger


@final
class Shared:
    """What one listener shares with its connections; the listener updates the time.

    `now`: seconds of the monotonic clock, and `date_line` the line of that name, both as they were
    when the listener last looked. `loop`: set before the first connection. `strangers`: the
    connections on which no POST has succeeded yet, so that nobody with a key is known to be there.
    """

    __slots__ = (
        "admission",
        "clock",
        "connections",
        "date_line",
        "handler",
        "headers",
        "loop",
        "now",
        "strangers",
        "timeouts",
    )

    def __init__(
        self,
        handler: Handler,
        admission: Admission,
        clock: Clock,
        timeouts: Timeouts,
        headers: KeptHeaders,
    ) -> None:
        self.headers = headers
        self.handler = handler
        self.admission = admission
        self.clock = clock
        self.timeouts = timeouts
        self.loop: AbstractEventLoop
        self.connections: set[Kept] = set()
        self.strangers: dict[Kept, None] = {}  # in the order in which they came
        self.now = 0.0
        self.date_line = b""

    def evict_stranger(self, seconds: float) -> bool:
        """End the first of the strangers that came so many seconds ago, and have nothing in hand.

        Whether there was one. So clients that say nothing, or half of something, or ask for pages
        only, take no room from others, however many they are.
        """
        for each in self.strangers:
            if each.since + seconds > self.now:
                return False
            if not each.is_running():
                each.evict()
                return True
        return False

    def relieve(self) -> None:
        """Cut off the slowest readers, until waiting answers are within their bound."""
        slow = [each for each in self.connections if each.unsent]
        slow.sort(key=_deadline, reverse=True)
        while slow and self.admission.is_owing_too_much():
            slow.pop().abort()
            self.admission.refused += 1


def _deadline(connection: Kept) -> float:
    return connection.deadline
