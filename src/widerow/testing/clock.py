"""A clock that tests move, and chance that repeats."""

import hashlib

__all__ = ["FakeClock", "FakeEntropy"]


class FakeClock:
    """Stands still until it is told otherwise. Starts at 2016-07-19 16:00:00 UTC by default."""

    def __init__(self, now_ms: int = 1_468_944_000_000) -> None:
        """Start at `now_ms` milliseconds since 1970."""
        self._now_us = now_ms * 1000
        self._monotonic_ns = 0

    def now_us(self) -> int:
        """Microseconds since 1970-01-01 UTC."""
        return self._now_us

    def monotonic_ns(self) -> int:
        """Nanoseconds since this clock was made; `advance` moves it, `set` does not."""
        return self._monotonic_ns

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass; negative values turn the wall clock back."""
        self._now_us += round(seconds * 1_000_000)
        self._monotonic_ns += max(0, round(seconds * 1_000_000_000))

    def set(self, now_ms: int) -> None:
        """Set the wall clock to `now_ms` milliseconds since 1970."""
        self._now_us = now_ms * 1000


class FakeEntropy:
    """The same unpredictable-looking bytes on every run of one seed."""

    def __init__(self, seed: int = 0) -> None:
        """Start the sequence of `seed`."""
        self._seed = seed
        self._drawn = 0

    def token_bytes(self, size: int) -> bytes:
        """`size` bytes of the sequence."""
        self._drawn += 1
        return hashlib.shake_128(f"{self._seed}:{self._drawn}".encode()).digest(size)
