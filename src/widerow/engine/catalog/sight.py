"""Until when a node may go by the catalogue as it has read it, without asking for its epoch.

Compiled, because every request over a shared store asks for it.
"""

from typing import final

from widerow.clock import Clock

__all__ = ["Sight"]


@final
class Sight:
    """A moment of the monotonic clock. Any thread may ask; one extends it.

    The monotonic clock stands still while a machine is suspended, and the time of day has gone on
    when it wakes: so the sight is over as soon as either clock has passed it.
    """

    __slots__ = ("_clock", "_until_ns", "_until_us")

    def __init__(self, clock: Clock) -> None:
        """Over: nothing is known."""
        self._clock = clock
        self._until_ns = 0
        self._until_us = 0

    def holds(self) -> bool:
        """Whether what was read last is what every change that was answered has left."""
        clock = self._clock
        return clock.monotonic_ns() < self._until_ns and clock.now_us() < self._until_us

    def extend(self, until_ns: int, until_us: int) -> None:
        """It holds until then, by both clocks."""
        self._until_ns = until_ns
        self._until_us = until_us

    def end(self) -> None:
        """Something newer was met: the epoch is asked for until the next look."""
        self._until_ns = 0
