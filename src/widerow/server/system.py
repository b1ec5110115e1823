"""The real clock and the real entropy. Nothing else in widerow asks the system for either."""

import secrets
from time import monotonic_ns, time_ns

__all__ = ["SystemClock", "SystemEntropy"]


class SystemClock:
    """The machine's clocks."""

    def now_us(self) -> int:
        """Microseconds since 1970-01-01 UTC, as the machine believes."""
        return time_ns() // 1000

    def monotonic_ns(self) -> int:
        """Nanoseconds that never go backwards; for durations only."""
        return monotonic_ns()


class SystemEntropy:
    """The operating system's source of unpredictable bytes."""

    def token_bytes(self, size: int) -> bytes:
        """`size` bytes that nobody can guess."""
        return secrets.token_bytes(size)
