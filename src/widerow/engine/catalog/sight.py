"""Until when a node may go by the catalogue as it has read it, without asking for its epoch.

Compiled, because every request over a shared store asks for it.
"""

from typing import final

from widerow.clock import Clock

__all__ = ["Sight"]


@final
class Sight:
    """A moment of the monotonic clock. Any thread may ask; one extends it."""

    __slots__ = ("_clock", "_until_ns")

    def __init__(self, clock: Clock) -> None:
        """Over: nothing is known."""
        self._clock = clock
        self._until_ns = 0

    def holds(self) -> bool:
        """Whether what was read last is what every change that was answered has left."""
        return self._clock.monotonic_ns() < self._until_ns

    def extend(self, until_ns: int) -> None:
        """It holds until then."""
        self._until_ns = until_ns

    def end(self) -> None:
        """Something newer was met: the epoch is asked for until the next look."""
        self._until_ns = 0
