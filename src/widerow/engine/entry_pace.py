"""Makes writers wait whose tables' indexes are far behind, where entries follow their rows.

The server that applies intents (`entry_applier.py`) knows how far each index is behind its table.
By its beats it tells the others which tables are behind by more than a bound, and have more waiting
than one step takes (`nodes/record.py`). Every server holds back the answers to writers of these
tables, each for a bounded time, so that clients do not write faster than entries follow for long.
Writers of other tables do not wait.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, final

from widerow.clock import Clock
from widerow.engine.plan import Pace
from widerow.limits import ENTRY_PACE_LOOK_SECONDS, ENTRY_PACE_SECONDS_MAX

__all__ = ["EntryPace"]

_LOOK_NS: Final = round(ENTRY_PACE_LOOK_SECONDS * 1_000_000_000)


@final
class EntryPace:
    """Which tables are behind, as was last seen. Any thread may call."""

    def __init__(self, clock: Clock, behind: Callable[[], frozenset[int]]) -> None:
        """`behind`: the numbers of the tables that are, as far as this server knows."""
        self._clock = clock
        self._behind = behind
        self._known: frozenset[int] = frozenset()
        self._looked_ns: int | None = None

    def of(self, number: int) -> Pace | None:
        """What makes the answer to a writer of a table wait; None: nothing does.

        `number`: that under which the intents of the table stand.
        """
        if not self._is_behind(number):
            return None
        return Pace(partial(self._is_behind, number), ENTRY_PACE_SECONDS_MAX)

    def _is_behind(self, number: int) -> bool:
        now_ns = self._clock.monotonic_ns()
        if self._looked_ns is None or now_ns - self._looked_ns >= _LOOK_NS:
            self._looked_ns, self._known = now_ns, self._behind()
        return number in self._known
