"""How far indexes, streams and journals are behind their tables: metrics, and lines of the log."""

import asyncio
import logging
from collections.abc import Iterator
from typing import Final, NamedTuple, final

from widerow.clock import Clock
from widerow.engine.engine import Engine
from widerow.engine.lag import Lag
from widerow.limits import LAG_TOLD_SECONDS
from widerow.server.metrics import family
from widerow.server.scrapes import NamesShown

__all__ = ["LagWatch", "lag_lines"]

_log = logging.getLogger("widerow.lags")

SERIES_MAX: Final = 50  # those furthest behind have series of their own
_LOOK_SECONDS: Final = 1.0
_REPEAT_NS: Final = 300 * 1_000_000_000  # between two lines about the same index


class _Kind(NamedTuple):
    """What follows tables: names of its metrics and of their label, and what the log says."""

    metric: str
    label: str
    text: str
    is_behind: str
    follows: str


_INDEXES: Final = _Kind(
    "index_lag_seconds",
    "index",
    "Global indexes: everything that is older is in them, as far as this server knows.",
    "a global index is behind its table",
    "a global index follows its table again",
)
_LOGS: Final = _Kind(
    "stream_lag_seconds",
    "log",
    "Streams and journals: every change that is older is in them, as far as this server knows.",
    "a stream or journal is behind its table",
    "a stream or journal follows its table again",
)


def _lags(engine: Engine) -> tuple[tuple[_Kind, list[Lag]], ...]:
    return (_INDEXES, engine.index_lags()), (_LOGS, engine.log_lags())


def lag_lines(engine: Engine, shown: NamesShown) -> Iterator[str]:
    """The lags that this server knows: those of `shown` tables by name, and the largest of all."""
    for kind, lags in _lags(engine):
        lags.sort(key=_seconds, reverse=True)
        yield from family(kind.metric, "gauge", kind.text)
        for each in [lag for lag in lags if shown(lag.table)][:SERIES_MAX]:
            labels = f'table="{each.table}",{kind.label}="{each.name}"'
            yield f"widerow_{kind.metric}{{{labels}}} {each.seconds:.3f}"
        yield from family(f"{kind.metric}_max", "gauge", "The largest of all of them.")
        yield f"widerow_{kind.metric}_max {lags[0].seconds if lags else 0:.3f}"


def _seconds(lag: Lag) -> float:
    return lag.seconds


@final
class LagWatch:
    """Tells in the log which are far behind, and which follow again. On the loop's thread."""

    def __init__(self, engine: Engine, clock: Clock, held_back: float) -> None:
        """`held_back`: so many seconds global indexes are behind on purpose."""
        self._engine = engine
        self._clock = clock
        self._bound = LAG_TOLD_SECONDS + held_back
        self._told: dict[tuple[str, str, str], int] = {}  # when each was told to be behind

    async def run(self) -> None:
        """Look once a second until cancelled."""
        while True:
            self.look()
            await asyncio.sleep(_LOOK_SECONDS)

    def look(self) -> None:
        """Tell of each that is above the bound, then every five minutes, and when it is no more.

        Of one that was dropped, or that this server knows no more, nothing is told.
        """
        told, self._told = self._told, {}
        for kind, lags in _lags(self._engine):
            for lag in lags:
                name = kind.metric, lag.table, lag.name
                facts = {"table": lag.table, kind.label: lag.name, "seconds": round(lag.seconds, 1)}
                if lag.seconds >= self._bound:
                    self._told[name] = self._tell(kind.is_behind, facts, told.get(name))
                elif name in told:
                    _log.warning(kind.follows, extra={"facts": facts})

    def _tell(self, words: str, facts: dict[str, object], told_ns: int | None) -> int:
        """Write a line unless there was one lately; when the last one was written."""
        now_ns = self._clock.monotonic_ns()
        if told_ns is not None and now_ns - told_ns < _REPEAT_NS:
            return told_ns
        _log.warning(words, extra={"facts": facts})
        return now_ns
