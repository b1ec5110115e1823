"""Delays answers of writes until the indexes of their tables have caught up (`Plan.pace`).

The rows are durable, and their client is answered a little later: so clients of a table write no
faster than its search indexes take rows, and its entries follow. No other client waits, and no
thread. The more answers wait, the less often they are looked at, so that the looks take a few
hundredths of the loop's time at most.
"""

from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple, Protocol

from widerow.engine.plan import Pace
from widerow.limits import ANSWER_PACE_LOOK_SECONDS, ANSWER_PACE_LOOK_SECONDS_EACH
from widerow.server.metrics import PacedCounts

__all__ = ["PacedAnswers"]


class _Timer(Protocol):
    def when_passed(self, seconds: float, work: Callable[[], None]) -> None: ...


class _Held(NamedTuple):
    until: float
    pace: Pace
    tell: Callable[[], None]


class PacedAnswers:
    """The answers that wait. On the loop's thread."""

    def __init__(self, timer: _Timer, told: Callable[[], None], counts: PacedCounts) -> None:
        """`timer`: the loop's. `told` is called after some `tell`s were called together."""
        self._timer = timer
        self._told = told
        self._counts = counts
        self._held: deque[_Held] = deque()

    def hold(self, pace: Pace, tell: Callable[[], None]) -> None:
        """Call `tell` once `pace` waits for nothing more, or after its seconds."""
        if not self._held:
            self._look_later(1)
        self._held.append(_Held(monotonic() + pace.seconds, pace, tell))
        self._counts.held = len(self._held)
        self._counts.held_total += 1

    def _look(self) -> None:
        now = monotonic()
        held, self._held = self._held, deque()
        ready = []
        for each in held:
            if now < each.until and each.pace.waits():
                self._held.append(each)
            else:
                ready.append(each)
        self._counts.held = len(self._held)
        if self._held:
            self._look_later(len(self._held))
        for each in ready:
            each.tell()
        self._told()

    def _look_later(self, count: int) -> None:
        pause = max(ANSWER_PACE_LOOK_SECONDS, count * ANSWER_PACE_LOOK_SECONDS_EACH)
        self._timer.when_passed(pause, self._look)
