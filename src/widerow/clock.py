"""Time and chance, as interfaces only.

The real implementations are in `system.py`, the fake ones in `testing/clock.py`.
"""

from typing import Protocol

__all__ = ["Clock", "Entropy"]


class Clock(Protocol):
    """The source of time. The engine and what is below it read no clock of their own."""

    def now_us(self) -> int:
        """Microseconds since 1970-01-01 UTC. May jump in either direction."""
        ...

    def monotonic_ns(self) -> int:
        """Nanoseconds of a clock that never goes backwards; for durations only."""
        ...


class Entropy(Protocol):
    """The source of unpredictable bytes."""

    def token_bytes(self, size: int) -> bytes:
        """`size` bytes that nobody can guess."""
        ...
