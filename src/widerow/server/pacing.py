"""Answers that wait until what follows their writes has followed (`Plan.pace`).

The rows are durable, and whoever wrote them is told a little later: so the clients of a table that
is searched write no faster than its indexes take rows, and a search finds little left to take.
Nobody else waits, and no thread does.
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
    """The answers that wait now. On the loop's thread."""

    def __init__(self, timer: _Timer, told: Callable[[], None]) -> None:
        """`timer`: the loop's; `told` is called when some were told together."""
        self._timer = timer
        self._told = told
        self._held: deque[_Held] = deque()

    def hold(self, pace: Callable[[], bool], tell: Callable[[], None]) -> None:
        """Call `tell` once `pace` says no, and after `JOURNAL_PACE_SECONDS_MAX` in any case."""
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
