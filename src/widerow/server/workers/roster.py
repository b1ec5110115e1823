"""The rules by which workers are started, replaced and ended. No input or output, no clock.

A supervisor tells what happens (`ready`, `ended`, `beat`, `tick`, …) with the time in seconds of a
monotonic clock, and asks after each event what is to be done (`due`). The rules:

* The first worker starts alone: it makes the store ready, and what is wrong with a setting is said
  once. The others start when it is ready. Until all are, the end of one is the end of all.
* Later a worker that ends is replaced: at once if it had served for a while, else after a pause
  that doubles. Many quick deaths in a row end the whole, unless a worker serves that has been there
  for longer.
* A restart of all replaces one after the other: the new one is ready before the former one drains.
  One that cannot start leaves the former one in place and ends the restart.
* One that says nothing for a while is given no new connections, and later it is killed. Silence is
  counted in ticks of the supervisor, so that a machine that slept has killed nobody.
"""

from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import Final, NamedTuple, final

from widerow.limits import (
    WORKER_HUNG_SECONDS,
    WORKER_PAUSE_SECONDS,
    WORKER_PAUSE_SECONDS_MAX,
    WORKER_QUICK_DEATHS_MAX,
    WORKER_QUICK_SECONDS,
    WORKER_SILENT_SECONDS,
    WORKER_START_SECONDS_MAX,
    WORKER_STOP_SECONDS_MAX,
    WORKER_TICK_SECONDS,
)

__all__ = ["Phase", "Roster", "Step", "StepKind", "Worker"]

_SILENT_TICKS: Final = round(WORKER_SILENT_SECONDS / WORKER_TICK_SECONDS)
_HUNG_TICKS: Final = round(WORKER_HUNG_SECONDS / WORKER_TICK_SECONDS)


class Phase(Enum):
    """How far a worker is: it starts, takes connections, or drains."""

    STARTING = "starts"
    SERVING = "serves"
    LEAVING = "drains"


class StepKind(Enum):
    """What a supervisor has to do."""

    START = "start"
    DRAIN = "drain"
    KILL = "kill"


class Step(NamedTuple):
    """One thing to do, with the worker `id`, which has the place `number`; why, if not obvious."""

    kind: StepKind
    id: int
    number: int
    why: str = ""


@final
@dataclass
class Worker:
    """One process.

    `ready_at`: when it took its first connections; `silent`: ticks without a beat; `drains_at`:
    when it was told to drain; `killed`: whether it was told by a kill.
    """

    id: int
    number: int
    started_at: float
    phase: Phase = Phase.STARTING
    ready_at: float = inf
    silent: int = 0
    drains_at: float = inf
    killed: bool = False

    def is_steady(self, now: float) -> bool:
        """Whether it has served for a while."""
        return self.phase is Phase.SERVING and now - self.ready_at >= WORKER_QUICK_SECONDS


@dataclass
class _Place:
    """One of the places that workers take: quick deaths in a row, and when to try again."""

    deaths: int = 0
    retry_at: float = -inf


@final
class Roster:
    """The workers of one server. `failure`: why the whole has to end."""

    def __init__(self, count: int) -> None:
        """Nobody has started yet; `count` places are to be taken."""
        self.workers: dict[int, Worker] = {}
        self.failure: str | None = None
        self._places = {number: _Place() for number in range(1, count + 1)}
        self._last_id = 0
        self._opened = False
        self._stopping = False
        self._restart_before = -inf  # workers that started earlier are to be replaced
        self._deaths = 0  # quick ones in a row, of all places

    # --- what happens ------------------------------------------------------------------------

    @property
    def opened(self) -> bool:
        """Whether all workers were ready once."""
        return self._opened

    @property
    def restarting(self) -> bool:
        """Whether a restart of all is under way."""
        return any(self._is_old(each) for each in self.workers.values())

    def ready(self, worker_id: int, now: float) -> bool:
        """A worker can take connections; False: it is to drain already."""
        worker = self.workers[worker_id]
        if worker.phase is not Phase.STARTING:
            return False
        worker.phase, worker.ready_at = Phase.SERVING, now
        serving = {each.number for each in self._in(Phase.SERVING)}
        self._opened = self._opened or serving == self._places.keys()
        return True

    def beat(self, worker_id: int) -> None:
        """A worker has said that it is there."""
        self.workers[worker_id].silent = 0

    def leaves(self, worker_id: int) -> None:
        """A worker was asked by somebody else to end: it drains, and another takes its place."""
        self.workers[worker_id].phase = Phase.LEAVING

    def tick(self, now: float) -> None:
        """`WORKER_TICK_SECONDS` of the supervisor have passed."""
        for worker in self._in(Phase.SERVING):
            worker.silent += 1
            place = self._places[worker.number]
            if worker.is_steady(now) and place.deaths:
                place.deaths = self._deaths = 0

    def ended(self, worker_id: int, now: float, reason: str) -> float | None:
        """A process is gone, `reason` says how. In how many seconds it is replaced, None: never."""
        worker = self.workers.pop(worker_id)
        if self._stopping or worker.phase is Phase.LEAVING:
            return None
        if not self._opened:
            self._fail(reason)
            return None
        if any(each.number == worker.number for each in self._in(Phase.SERVING)):
            self._restart_before = -inf  # the former one stays
            return None
        place = self._places[worker.number]
        pause = 0.0
        if now - worker.ready_at < WORKER_QUICK_SECONDS:
            pause = min(WORKER_PAUSE_SECONDS * 2.0**place.deaths, WORKER_PAUSE_SECONDS_MAX)
            place.deaths += 1
            self._deaths += 1
            self._give_up(now, reason)
        place.retry_at = now + pause
        return pause

    def restart(self, now: float) -> None:
        """Replace all workers that have started by now, and wait for no pause."""
        self._restart_before = now
        for place in self._places.values():
            place.retry_at = -inf

    def stop(self) -> None:
        """End all, and start none any more."""
        self._stopping = True
        for worker in self.workers.values():
            worker.phase = Phase.LEAVING

    # --- what to do --------------------------------------------------------------------------

    def due(self, now: float) -> list[Step]:
        """What is to be done now. Each step is given once."""
        steps = self._kills(now)
        if not self._stopping:
            self._retire()
            steps += self._starts(now)
        for worker in self._in(Phase.LEAVING):
            if worker.drains_at == inf:
                worker.drains_at = now
                steps.append(Step(StepKind.DRAIN, worker.id, worker.number))
        return steps

    def offered(self) -> list[int]:
        """The workers that are to be given connections: those that are not silent, or all."""
        serving = self._in(Phase.SERVING)
        return [each.id for each in serving if each.silent < _SILENT_TICKS] or [
            each.id for each in serving
        ]

    def _kills(self, now: float) -> list[Step]:
        kills = []
        for worker in self.workers.values():
            why = ""
            if (
                worker.phase is Phase.STARTING
                and now - worker.started_at > WORKER_START_SECONDS_MAX
            ):
                why = f"it was not ready within {WORKER_START_SECONDS_MAX} s"
            elif worker.phase is Phase.SERVING and worker.silent >= _HUNG_TICKS:
                why = f"it has said nothing for {WORKER_HUNG_SECONDS} s"
            elif worker.phase is Phase.LEAVING and now - worker.drains_at > WORKER_STOP_SECONDS_MAX:
                why = f"it has not ended within {WORKER_STOP_SECONDS_MAX} s"
            if why and not worker.killed:
                worker.killed = True
                kills.append(Step(StepKind.KILL, worker.id, worker.number, why))
        return kills

    def _starts(self, now: float) -> list[Step]:
        starts = []
        present = {each.number for each in self.workers.values() if each.phase is not Phase.LEAVING}
        is_first = not self._opened and not self._in(Phase.SERVING)
        for number, place in self._places.items():
            if number not in present and place.retry_at <= now and (not is_first or number == 1):
                starts.append(self._start(number, now))
        if not starts and not self._in(Phase.STARTING) and not self._in(Phase.LEAVING):
            old = [each for each in self._in(Phase.SERVING) if self._is_old(each)]
            starts += [self._start(each.number, now) for each in old[:1]]
        return starts

    def _start(self, number: int, now: float) -> Step:
        self._last_id += 1
        self.workers[self._last_id] = Worker(self._last_id, number, now)
        return Step(StepKind.START, self._last_id, number)

    def _retire(self) -> None:
        """Let former workers drain whose successors serve."""
        newest = {each.number: each.id for each in self._in(Phase.SERVING)}
        for worker in self._in(Phase.SERVING):
            if worker.id != newest[worker.number]:
                worker.phase = Phase.LEAVING

    def _give_up(self, now: float, reason: str) -> None:
        steady = any(each.is_steady(now) for each in self.workers.values())
        if self._deaths >= WORKER_QUICK_DEATHS_MAX and not steady:
            self._fail(
                f"{self._deaths} workers in a row ended within {WORKER_QUICK_SECONDS} s of their "
                f"start, the last one so: {reason}"
            )

    def _fail(self, reason: str) -> None:
        self.failure = reason
        self.stop()

    def _is_old(self, worker: Worker) -> bool:
        return worker.phase is not Phase.LEAVING and worker.started_at < self._restart_before

    def _in(self, phase: Phase) -> list[Worker]:
        """The workers of a phase, in the order in which they started."""
        return [each for each in self.workers.values() if each.phase is phase]
