"""A clock that tests set: it runs at any distance from another clock, or stands still."""

import threading
from typing import NamedTuple

from widerow.clock import Clock

__all__ = ["MovableClock"]


class _Setting(NamedTuple):
    """While the clock runs: what is added to its base. While it stands still: its times."""

    running: bool
    wall_us: int
    monotonic_ns: int


class MovableClock:
    """Both clocks of an engine, moved together. Any thread may read and move it."""

    def __init__(self, base: Clock, *, running: bool = True) -> None:
        """Begin at the time of `base`, running or standing still."""
        self._base = base
        self._moving = threading.Lock()
        self._setting = _Setting(True, 0, 0)  # noqa: FBT003  # in the order of the fields
        if not running:
            self.freeze()

    def now_us(self) -> int:
        """Microseconds since 1970-01-01 UTC."""
        setting = self._setting
        return setting.wall_us + (self._base.now_us() if setting.running else 0)

    def monotonic_ns(self) -> int:
        """Nanoseconds that never go backwards; `set` does not move them."""
        setting = self._setting
        return setting.monotonic_ns + (self._base.monotonic_ns() if setting.running else 0)

    @property
    def running(self) -> bool:
        """Whether the clock runs."""
        return self._setting.running

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass; negative values turn the wall clock back."""
        with self._moving:
            running, wall_us, monotonic_ns = self._setting
            passed = max(0, round(seconds * 1_000_000_000))
            self._setting = _Setting(
                running, wall_us + round(seconds * 1_000_000), monotonic_ns + passed
            )

    def set(self, now_ms: int) -> None:
        """Set the wall clock to `now_ms` milliseconds since 1970."""
        with self._moving:
            base_us = self._base.now_us() if self._setting.running else 0
            self._setting = self._setting._replace(wall_us=now_ms * 1000 - base_us)

    def freeze(self) -> None:
        """Stand still from now on. Does nothing if the clock stands still already."""
        with self._moving:
            if self._setting.running:
                self._setting = _Setting(False, self.now_us(), self.monotonic_ns())  # noqa: FBT003  # in the order of the fields

    def stand_at(self, now_us: int, monotonic_ns: int = 0) -> None:
        """Stand still at these times; the monotonic one may go back, which no server may see."""
        with self._moving:
            self._setting = _Setting(False, now_us, monotonic_ns)  # noqa: FBT003  # in the order of the fields

    def run(self) -> None:
        """Run again from the present times. Does nothing if the clock runs already."""
        with self._moving:
            if not self._setting.running:
                wall_us = self._setting.wall_us - self._base.now_us()
                monotonic_ns = self._setting.monotonic_ns - self._base.monotonic_ns()
                self._setting = _Setting(True, wall_us, monotonic_ns)  # noqa: FBT003  # in the order of the fields
