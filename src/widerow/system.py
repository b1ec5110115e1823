"""The real clock, entropy and processors. No other module asks the system for these values."""

import os
import secrets
from time import monotonic_ns, time_ns
from typing import Final

__all__ = ["SystemClock", "SystemEntropy", "processors"]

# Compiled, a global name of the module is found without a look-up.
_monotonic_ns: Final = monotonic_ns
_time_ns: Final = time_ns


class SystemClock:
    """The machine's clocks."""

    def now_us(self) -> int:
        """Microseconds since 1970-01-01 UTC by the machine's clock, which may be wrong."""
        return _time_ns() // 1000

    def monotonic_ns(self) -> int:
        """Nanoseconds that never go backwards; for durations only."""
        return _monotonic_ns()


class SystemEntropy:
    """The operating system's source of unpredictable bytes."""

    def token_bytes(self, size: int) -> bytes:
        """`size` unpredictable bytes."""
        return secrets.token_bytes(size)


def processors() -> int:
    """How many processors this process may use; all of them if the system does not say."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # outside Linux
        return os.cpu_count() or 1
