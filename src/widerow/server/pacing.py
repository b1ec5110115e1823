"""Delays answers of writes until search indexes have caught up (`Plan.pace`).

The rows are durable, and their client is answered a little later: so clients of a searched table
write no faster than its indexes take rows, and a search finds few rows left to take. No other
client waits, and no thread.
"""

from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple, Protocol

from widerow.limits import JOURNAL_PACE_LOOK_SECONDS, JOURNAL_PACE_SECONDS_MAX

__all__ = ["PacedAnswers"]


class _Timer(Protocol):
    def when_passed(self, seconds: float, work: Callable[[], None]) -> None: ...


class _Held(NamedTuple):
    until: float
    pace: Callable[[], bool]
    tell: Callable[[], None]


class PacedAnswers:
    """The answers that wait. On the loop's thread."""

    def __init__(self, timer: _Timer, told: Callable[[], None]) -> None:
        """`timer`: the loop's. `told` is called after some `tell`s were called together."""
        self._timer = timer
        self._told = told
        self._held: deque[_Held] = deque()

    def hold(self, pace: Callable[[], bool], tell: Callable[[], None]) -> None:
        """Call `tell` once `pace` is false, or after `JOURNAL_PACE_SECONDS_MAX`."""
        if not self._held:
            self._timer.when_passed(JOURNAL_PACE_LOOK_SECONDS, self._look)
        self._held.append(_Held(monotonic() + JOURNAL_PACE_SECONDS_MAX, pace, tell))

    def _look(self) -> None:
        now = monotonic()
        held, self._held = self._held, deque()
        ready = []
        for each in held:
            if now < each.until and each.pace():
                self._held.append(each)
            else:
                ready.append(each)
        if self._held:
            self._timer.when_passed(JOURNAL_PACE_LOOK_SECONDS, self._look)
        for each in ready:
            each.tell()
        self._told()
