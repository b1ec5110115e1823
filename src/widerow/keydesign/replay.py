"""Replays a load against the rules that split and merge partitions, on a number of nodes.

The load is a sample of rows, compressed into a short time, or the history that a server recorded.
Splits and merges are decided by the rules that are handed in, which are the server's own; which
node serves a partition is decided by `placement.py`. A load, rules and a seed always give one
replay.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from widerow.keydesign.placement import Placement

__all__ = [
    "STEPS",
    "KeyLoad",
    "PartitionRules",
    "Replay",
    "ReplayDecision",
    "ReplayScript",
    "ReplayStep",
    "replay",
]

STEPS: Final = 60
"""Steps that a replay is shown in."""

Told = Callable[[int], None]


class KeyLoad(NamedTuple):
    """Work on one key at one moment; `rows` and `size` are the growth of its data."""

    second: float
    key: bytes
    read_units: int
    write_units: int
    rows: int = 0
    size: int = 0


class ReplayDecision(NamedTuple):
    """A decision of the rules: split, merge or report, and why."""

    what: str
    words: str


class PartitionRules(Protocol):
    """The partitions of one table and the rules that change them."""

    @property
    def bounds(self) -> Sequence[bytes]:
        """Where the second and later partitions begin."""
        ...

    def note(self, load: KeyLoad) -> None:
        """Count some load."""
        ...

    def decide(self, second: float) -> Sequence[ReplayDecision]:
        """Let this second pass, and return the changes that the rules make."""
        ...


@dataclass(frozen=True, slots=True)
class ReplayScript:
    """The loads to replay, in order of time, and how long the replay is.

    `pieces` are keys that cut the range of keys for the picture, with equally much load between
    them where keys allow.
    """

    loads: Sequence[KeyLoad]
    seconds: float
    pieces: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """The measures of one interval; loads are in units per second."""

    start: float
    seconds: float
    bounds: tuple[bytes, ...]
    nodes: tuple[float, ...]
    pieces: tuple[float, ...]
    splits: int
    merges: int
    moves: int

    @property
    def units(self) -> float:
        """The load of all nodes."""
        return sum(self.nodes)

    @property
    def skew(self) -> float:
        """The busiest node's load divided by the mean: from 1 to the number of nodes."""
        return max(self.nodes) * len(self.nodes) / self.units if self.units else 1.0

    def document(self) -> dict[str, Any]:
        """The step for JSON."""
        return {
            "start_seconds": round(self.start, 3),
            "seconds": round(self.seconds, 3),
            "partitions": len(self.bounds) + 1,
            "units_per_second": round(self.units, 3),
            "nodes": [round(node, 3) for node in self.nodes],
            "skew": round(self.skew, 4),
            "splits": self.splits,
            "merges": self.merges,
            "moves": self.moves,
        }


@dataclass(frozen=True, slots=True)
class Replay:
    """The whole run: its steps, and every decision with its second."""

    steps: tuple[ReplayStep, ...]
    decisions: tuple[tuple[float, ReplayDecision], ...]
    pieces: tuple[bytes, ...]

    @property
    def mean_skew(self) -> float:
        """The skew of the whole run, each step weighted by its load."""
        return _mean_skew(self.steps)

    @property
    def settled_skew(self) -> float:
        """Skew over the second half, when the first splits and moves are done."""
        return _mean_skew(self.steps[len(self.steps) // 2 :])

    @property
    def reports(self) -> list[str]:
        """The reports of load that the rules could not divide, each once."""
        said = (each.words for _, each in self.decisions if each.what == "report")
        return list(dict.fromkeys(said))

    def count(self, what: str) -> int:
        """The number of splits, merges or moves in the whole run."""
        return sum(int(getattr(step, what)) for step in self.steps)


def _mean_skew(steps: Sequence[ReplayStep]) -> float:
    units = sum(step.units for step in steps)
    return sum(step.skew * step.units for step in steps) / units if units else 1.0


def replay(
    script: ReplayScript, rules: PartitionRules, nodes: int, seed: int = 0, told: Told | None = None
) -> Replay:
    """Play a script; `told` is called with the number of loads played.

    The rules are asked once a second, as on a server. Raises: `ValueError` without a node.
    """
    run = _Run(script, rules, Placement(nodes, rules.bounds, seed))
    for number in range(STEPS):
        run.step(number)
        if told:
            told(run.behind)
    return Replay(tuple(run.steps), tuple(run.decisions), script.pieces)


class _Run:
    """The state of a replay."""

    def __init__(self, script: ReplayScript, rules: PartitionRules, placement: Placement) -> None:
        self.script = script
        self.rules = rules
        self.placement = placement
        self.steps: list[ReplayStep] = []
        self.decisions: list[tuple[float, ReplayDecision]] = []
        self.behind = 0
        self.second = 0.0

    def step(self, number: int) -> None:
        """Play one step and record it; its move takes effect in the next one."""
        length = self.script.seconds / STEPS
        keys: Counter[bytes] = Counter()
        before = len(self.decisions)
        end = (number + 1) * length
        while self.second < end:
            self.second = min(self.second + 1, end)
            self._note(keys)
            made = self.rules.decide(self.second)
            self.decisions += [(self.second, each) for each in made]
        bounds = tuple(self.rules.bounds)
        self.placement.follow(bounds)
        load = _by_start(keys, bounds, length)
        nodes = tuple(self.placement.loads(load))
        kinds = Counter(each.what for _, each in self.decisions[before:])
        self.steps.append(
            ReplayStep(
                start=number * length,
                seconds=length,
                bounds=bounds,
                nodes=nodes,
                pieces=_by_piece(keys, self.script.pieces, length),
                splits=kinds["split"],
                merges=kinds["merge"],
                moves=self.placement.balance(load) is not None,
            )
        )

    def _note(self, keys: Counter[bytes]) -> None:
        """Hand the rules the loads before this second."""
        loads = self.script.loads
        while self.behind < len(loads) and loads[self.behind].second < self.second:
            load = loads[self.behind]
            self.rules.note(load)
            keys[load.key] += load.read_units + load.write_units
            self.behind += 1


def _by_start(
    keys: Mapping[bytes, int], bounds: Sequence[bytes], seconds: float
) -> dict[bytes, float]:
    """The units per second of each partition, by its lower bound."""
    starts = [b"", *bounds]
    found = dict.fromkeys(starts, 0.0)
    for key, units in keys.items():
        found[starts[bisect_right(starts, key) - 1]] += units / seconds
    return found


def _by_piece(
    keys: Mapping[bytes, int], pieces: Sequence[bytes], seconds: float
) -> tuple[float, ...]:
    found = [0.0] * (len(pieces) + 1)
    for key, units in keys.items():
        found[bisect_right(pieces, key)] += units / seconds
    return tuple(found)
