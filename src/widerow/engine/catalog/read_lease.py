"""The read lease: until when a node may use the catalogue as it has read it.

Compiled, because every request over a shared store asks for it.
"""

from typing import final

from widerow.clock import Clock

__all__ = ["ReadLease"]


@final
class ReadLease:
    """A lease on the catalogue that was read: while it holds, no request has to read the epoch.

    Any thread may ask; one extends it. The monotonic clock stands still while a machine is
    suspended, and the time of day does not: so the lease ends as soon as either clock has passed
    its end.
    """

    __slots__ = ("_clock", "_until_ns", "_until_us")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until_ns = 0
        self._until_us = 0

    def holds(self) -> bool:
        """Whether the published catalogue has every change that was answered to a client."""
        clock = self._clock
        return clock.monotonic_ns() < self._until_ns and clock.now_us() < self._until_us

    def extend(self, until_ns: int, until_us: int) -> None:
        """Let the lease hold until both times have passed."""
        self._until_ns = until_ns
        self._until_us = until_us

    def end(self) -> None:
        """End the lease: the catalogue has changed. Requests read the epoch until the next look."""
        self._until_ns = 0
