"""The real clock and the real entropy. Nothing else in widerow asks the system for either."""

import secrets
from time import monotonic_ns, thread_time_ns, time_ns
from typing import Final

__all__ = ["SystemClock", "SystemEntropy"]

# Compiled, a name of the module's own is found without looking it up.
_monotonic_ns: Final = monotonic_ns
_thread_time_ns: Final = thread_time_ns
_time_ns: Final = time_ns


class SystemClock:
    """The machine's clocks."""

    def now_us(self) -> int:
        """Microseconds since 1970-01-01 UTC, as the machine believes."""
        return _time_ns() // 1000

    def monotonic_ns(self) -> int:
        """Nanoseconds that never go backwards; for durations only."""
        return _monotonic_ns()

    def thread_ns(self) -> int:
        """Nanoseconds for which the calling thread had a processor."""
        return _thread_time_ns()


class SystemEntropy:
    """The operating system's source of unpredictable bytes."""

    def token_bytes(self, size: int) -> bytes:
        """`size` bytes that nobody can guess."""
        return secrets.token_bytes(size)
