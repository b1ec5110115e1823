"""Time and chance, as interfaces only.

The real ones live in `server/system.py`, the fake ones in `testing/clock.py`.
"""

from typing import Protocol

__all__ = ["Clock", "Entropy"]


class Clock(Protocol):
    """Where time comes from. Nothing below the server reads a clock of its own."""

    def now_us(self) -> int:
        """Microseconds since 1970-01-01 UTC. May jump in either direction."""
        ...

    def monotonic_ns(self) -> int:
        """Nanoseconds of a clock that never goes backwards; for durations only."""
        ...


class Entropy(Protocol):
    """Where unpredictable bytes come from."""

    def token_bytes(self, size: int) -> bytes:
        """`size` bytes that nobody can guess."""
        ...
