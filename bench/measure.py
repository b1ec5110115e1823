"""One case: warm up, repeat, take the median of each figure."""

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Final

from bench.load import Load, Outcome, prepared
from bench.servers import Place, processor_seconds

WARM_UP_SECONDS: Final = 1.0
_MORE_TURNS: Final = {1: 0, 2: 4}  # than repeats, of so many cases that are compared
_MORE_TURNS_OF_MANY: Final = 2

Turn = Callable[[], tuple[Outcome, float]]
"""Sends for a while; what it saw, and microseconds of processor time for each request."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How long and how often. `rows`: in the table of most cases, which grows to `rows_large`."""

    seconds: float = 2.0
    repeats: int = 3
    rows: int = 100_000
    rows_large: int = 1_000_000
    quick: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What came out of a case; each figure is the median of its repeats.

    `cpu_us`: processor time of the server's process tree for one request. `rows`: rows in one
    request. `also`: figures that only this case has.
    """

    group: str
    name: str
    connections: int
    per_second: float
    p50_us: float
    p99_us: float
    cpu_us: float
    rows: int = 1
    generator: str = ""
    repeats: int = 1
    cpu_us_each: tuple[float, ...] = ()
    p50_us_each: tuple[float, ...] = ()
    also: dict[str, float] = field(default_factory=dict)

    @property
    def rows_per_cpu_second(self) -> float:
        """How many rows a second of the server's processor time is worth."""
        return self.rows / self.cpu_us * 1e6 if self.cpu_us else 0.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "rows_per_cpu_second": self.rows_per_cpu_second}


@dataclass(frozen=True, slots=True)
class Case:
    """What is sent, and how. `rows`: rows in one request."""

    group: str
    name: str
    requests: Sequence[bytes]
    connections: int
    rows: int = 1


def measure(place: Place, case: Case, settings: Settings) -> Result:
    """Run `case` against a server. Raises: `LoadFailed`."""
    return measure_in_turns([(place, case)], settings)[0]


def measure_in_turns(sides: Sequence[tuple[Place, Case]], settings: Settings) -> list[Result]:
    """`measure` of several cases whose runs take turns, for those that are compared.

    A virtual machine's speed changes within seconds, and then for all of them. What is compared
    has more turns than a case alone has repeats. Raises: `LoadFailed`.
    """
    with warm(sides, settings) as runs:
        seen = take_turns(runs, turns_of(len(sides), settings))
    return [combine(case, each) for (_, case), each in zip(sides, seen, strict=True)]


def turns_of(sides: int, settings: Settings) -> int:
    """How often each of so many sides runs; what has to be quick has no more turns than repeats."""
    if settings.quick:
        return settings.repeats
    return settings.repeats + _MORE_TURNS.get(sides, _MORE_TURNS_OF_MANY)


@contextmanager
def warm(sides: Sequence[tuple[Place, Case]], settings: Settings) -> Iterator[list[Turn]]:
    """Runs of these cases, each of them warmed up. Raises: `LoadFailed`."""
    with ExitStack() as files:
        runs: list[Turn] = []
        for place, case in sides:
            file = files.enter_context(prepared(case.requests))
            load = Load(place.endpoint, case.requests, file)
            load.warm_up(case.connections, WARM_UP_SECONDS)
            runs.append(partial(timed, place, load, case, settings))
        yield runs


def take_turns(runs: Sequence[Turn], turns: int) -> list[list[tuple[Outcome, float]]]:
    """What each of these saw in its turns. Raises: `LoadFailed`."""
    rounds = [[run() for run in runs] for _ in range(turns)]
    return [list(seen) for seen in zip(*rounds, strict=True)]


def timed(place: Place, load: Load, case: Case, settings: Settings) -> tuple[Outcome, float]:
    """One run, and microseconds of the server's processor time for each request of it."""
    before = processor_seconds(place.process)
    outcome = load.run(case.connections, settings.seconds)
    used = processor_seconds(place.process) - before
    return outcome, used / outcome.requests * 1e6


def combine(case: Case, runs: Sequence[tuple[Outcome, float]]) -> Result:
    """The medians of several runs."""
    outcomes = [outcome for outcome, _ in runs]
    return Result(
        group=case.group,
        name=case.name,
        connections=case.connections,
        per_second=statistics.median(each.requests / each.seconds for each in outcomes),
        p50_us=statistics.median(each.p50_us for each in outcomes),
        p99_us=statistics.median(each.p99_us for each in outcomes),
        cpu_us=statistics.median(cpu for _, cpu in runs),
        rows=case.rows,
        generator=outcomes[0].generator,
        repeats=len(runs),
        cpu_us_each=tuple(round(cpu, 1) for _, cpu in runs),
        p50_us_each=tuple(round(each.p50_us, 1) for each in outcomes),
    )


def times(each: Sequence[float], other_each: Sequence[float]) -> float:
    """The median of what each run took in terms of the other's in the same turn."""
    return statistics.median(own / other for own, other in zip(each, other_each, strict=True))


def percentile(values: Iterable[float], share: float) -> float:
    """The value below which `share` (0 to 1) of them lie, nearest rank. `values` is not empty."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
