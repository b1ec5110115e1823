"""How busy a server is, measured at each beat over the last few (`engine/nodes/work.py`)."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from operator import sub
from typing import NamedTuple, final

from widerow.clock import Clock
from widerow.commit.committer import Committer
from widerow.engine.engine import Engine
from widerow.engine.nodes.work import NodeWork, WorstLag, worst_lags
from widerow.engine.tablestore.plug import TABLESTORE
from widerow.limits import WORK_SAMPLES
from widerow.server.admission import Admission
from widerow.server.metrics import PAGES_ACTION, Metrics, latency_ms, resident_bytes

__all__ = ["WorkMeter"]


class _Sample(NamedTuple):
    """Counters at one beat; requests for pages of the console are not among them."""

    at_ns: int
    cpu_seconds: float
    requests: Sequence[int]
    commits: Sequence[int]


@final
class WorkMeter:
    """Measures a server. On the loop's thread."""

    def __init__(
        self,
        engine: Engine,
        committer: Committer,
        admission: Admission,
        metrics: Metrics,
        clock: Clock,
    ) -> None:
        """The first beat tells no rates."""
        self._engine = engine
        self._committer = committer
        self._admission = admission
        self._metrics = metrics
        self._clock = clock
        self._samples: deque[_Sample] = deque(maxlen=WORK_SAMPLES + 1)

    def measure(self) -> NodeWork:
        """The work since the first of the last `WORK_SAMPLES` beats."""
        now = self._sample()
        self._samples.append(now)
        first = self._samples[0]
        seconds = (now.at_ns - first.at_ns) / 1e9
        return NodeWork(
            _p99_ms(first.requests, now.requests),
            _p99_ms(first.commits, now.commits),
            (now.cpu_seconds - first.cpu_seconds) / seconds if seconds > 0 else None,
            self._admission.requests_in_flight,
            self._committer.waiting,
            self._admission.connections,
            resident_bytes() or None,
            (*worst_lags(self._engine.lags_by_kind()), *self._search_lag()),
        )

    def _sample(self) -> _Sample:
        actions = self._metrics.actions.copy()
        actions.pop(PAGES_ACTION, None)
        commits = self._metrics.commit_seconds.buckets
        requests = [each.seconds.buckets for each in actions.values()] or [[0] * len(commits)]
        return _Sample(
            self._clock.monotonic_ns(),
            time.process_time(),
            [sum(counts) for counts in zip(*requests, strict=True)],
            tuple(commits),
        )

    def _search_lag(self) -> Iterator[WorstLag]:
        """The search index with the most rows that this server has still to take, if there is one.

        Each server has search indexes of its own.
        """
        tables = self._engine.operations(TABLESTORE)
        if not tables.has_search():
            return
        waiting = {name: numbers["waiting"] for name, numbers in tables.search.statistics().items()}
        for place in sorted(waiting, key=lambda each: -waiting[each])[:1]:
            yield WorstLag("search index", *place, rows=waiting[place])


def _p99_ms(before: Sequence[int], after: Sequence[int]) -> float | None:
    """What 99 of 100 of the durations counted in between did not exceed; None without any."""
    between = list(map(sub, after, before))
    return latency_ms(between, 0.99) if any(between) else None
