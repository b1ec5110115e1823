"""Bounds of what the server holds: connections, requests, bytes of bodies and unread answers.

Beyond a bound the answer is 503 at once: no queue grows. All calls come from the loop's thread, so
plain integers do.
"""

from widerow.errors import Exhausted, Rule
from widerow.limits import (
    BYTES_IN_FLIGHT_MAX,
    CONNECTIONS_MAX,
    DESCRIPTORS_FOR_FILES,
    REFUSALS_MAX,
    REQUESTS_IN_FLIGHT_MAX,
    UNSENT_BYTES_MAX,
    WORKER_BYTES_MIN,
)

__all__ = ["Admission"]


class Admission:
    """Counts connections, requests and bytes that are held, and refuses what exceeds a bound."""

    __slots__ = (
        "bytes_in_flight",
        "bytes_max",
        "connections",
        "connections_made",
        "connections_max",
        "parting",
        "refusals_max",
        "refused",
        "requests_in_flight",
        "requests_max",
        "stopping",
        "unsent_bytes",
        "unsent_max",
    )

    def __init__(
        self,
        connections_max: int = CONNECTIONS_MAX,
        requests_max: int = REQUESTS_IN_FLIGHT_MAX,
        bytes_max: int = BYTES_IN_FLIGHT_MAX,
    ) -> None:
        self.connections_max = connections_max
        self.refusals_max = REFUSALS_MAX
        self.requests_max = requests_max
        self.bytes_max = bytes_max
        self.connections = 0
        self.connections_made = 0  # all that were ever open
        self.requests_in_flight = 0
        self.bytes_in_flight = 0
        self.unsent_bytes = 0
        self.unsent_max = UNSENT_BYTES_MAX
        self.refused = 0
        self.parting = False  # each answer is the last of its connection
        self.stopping = False

    def stop(self) -> None:
        """Refuse new connections and requests from now on."""
        self.parting = self.stopping = True

    def share(self, processes: int) -> None:
        """Have a part of the memory for bodies and answers, where so many processes share it."""
        self.bytes_max = max(WORKER_BYTES_MIN, self.bytes_max // processes)
        self.unsent_max = max(WORKER_BYTES_MIN, self.unsent_max // processes)

    def fit(self, descriptors: int) -> None:
        """Lower the bound of connections to what `descriptors` file descriptors allow.

        Files come first: a store that cannot open one more takes no more writes. They get 1024
        descriptors, or three quarters where there are few; connections get the rest, and as many
        again, of what the files do not need at once, are told that they are too many.
        """
        files = min(DESCRIPTORS_FOR_FILES, descriptors * 3 // 4)
        self.connections_max = min(self.connections_max, max(1, descriptors - files))
        self.refusals_max = min(self.refusals_max, self.connections_max)

    def connect(self) -> None:
        """Count a new connection. Raises: `Exhausted` if it is to be refused with an answer."""
        self.connections += 1
        self.connections_made += 1
        if self.stopping:
            raise Exhausted(Rule.SERVER_STOPPING)

    def is_crowded(self) -> bool:
        """Whether there are more connections than are served."""
        return self.connections > self.connections_max

    def is_overcrowded(self) -> bool:
        """Whether there are more connections than are served and refused."""
        return self.connections > self.connections_max + self.refusals_max

    def refuse_connection(self) -> None:
        """Raise `Exhausted` for a connection above the bound."""
        self._refuse("connections")

    def disconnect(self) -> None:
        """Count a closed connection."""
        self.connections -= 1

    def enter(self, *, behind: bool = False) -> None:
        """Count a new request. Raises `Exhausted` if it is refused; then it is not counted.

        `behind`: another request of its connection is not answered yet. Such requests get only half
        of the room, so that a few clients that send many and read no answers take no room from the
        others.
        """
        if self.stopping:
            self.refused += 1
            raise Exhausted(Rule.SERVER_STOPPING)
        room = self.requests_max // 2 if behind else self.requests_max
        if self.requests_in_flight >= room:
            self._refuse("requests in flight")
        self.requests_in_flight += 1

    def hold(self, size: int) -> None:
        """Count `size` more bytes of a body. Raises `Exhausted`; then they are not counted."""
        if self.bytes_in_flight + size > self.bytes_max:
            self._refuse("bytes in flight")
        self.bytes_in_flight += size

    def leave(self, size: int) -> None:
        """Count the end of a request, and of the `size` bytes of its body."""
        self.requests_in_flight -= 1
        self.bytes_in_flight -= size

    def owe(self, size: int) -> bool:
        """Count bytes of answers that wait for a slow reader. False: the sum exceeds its bound."""
        self.unsent_bytes += size
        return not self.is_owing_too_much()

    def is_owing_too_much(self) -> bool:
        """Whether bytes of answers that wait for slow readers exceed their bound."""
        return self.unsent_bytes > self.unsent_max

    def settle(self, size: int) -> None:
        """Take `size` bytes off the sum of waiting answers."""
        self.unsent_bytes -= size

    def _refuse(self, what: str) -> None:
        self.refused += 1
        raise Exhausted(Rule.SERVER_BUSY, bound=what)
