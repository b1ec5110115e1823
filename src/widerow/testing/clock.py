"""A clock that tests move, and repeatable random bytes."""

import hashlib

from widerow.server.dev.clock import MovableClock
from widerow.system import SystemClock

__all__ = ["FakeClock", "FakeEntropy"]


class FakeClock(MovableClock):
    """A clock that stands still until it is moved. Starts at 2016-07-19 16:00:00 UTC by default.

    Its monotonic clock starts at 0; `advance` moves it, `set` does not. After `run`, both run with
    the machine's clocks.
    """

    def __init__(self, now_ms: int = 1_468_944_000_000) -> None:
        """Start at `now_ms` milliseconds since 1970."""
        super().__init__(SystemClock())
        self.stand_at(now_ms * 1000)


class FakeEntropy:
    """Random-looking bytes, the same on every run with one seed."""

    def __init__(self, seed: int = 0) -> None:
        """Start the sequence of `seed`."""
        self._seed = seed
        self._drawn = 0

    def token_bytes(self, size: int) -> bytes:
        """`size` bytes of the sequence."""
        self._drawn += 1
        return hashlib.shake_128(f"{self._seed}:{self._drawn}".encode()).digest(size)
