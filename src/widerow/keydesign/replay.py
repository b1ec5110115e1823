"""A load replayed against the rules that split and merge partitions, on so many nodes.

The load is a sample of rows, compressed into a time in which rules can be watched at work, or the
history that a server recorded. Splits and merges are decided by the rules that are handed in, which
are the server's own; which node serves a partition is decided by `placement.py`. The same load,
rules and seed give the same replay.
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
    """Some work on one key at one moment; `rows` and `size` are by how much its data grew."""

    second: float
    key: bytes
    read_units: int
    write_units: int
    rows: int = 0
    size: int = 0


class ReplayDecision(NamedTuple):
    """What the rules decided: split, merge or report, and why."""

    what: str
    words: str


class PartitionRules(Protocol):
    """The partitions of one table and the rules they change by."""

    @property
    def bounds(self) -> Sequence[bytes]:
        """Where the second and later partitions begin."""
        ...

    def note(self, load: KeyLoad) -> None:
        """Take some load into account."""
        ...

    def decide(self, second: float) -> Sequence[ReplayDecision]:
        """Let so much time pass, and change what the rules say is to be changed."""
        ...


@dataclass(frozen=True, slots=True)
class ReplayScript:
    """What is replayed: loads in order of time, for so long.

    `pieces` are keys that cut the range of keys for the picture, with equally much load between
    them where keys allow.
    """

    loads: Sequence[KeyLoad]
    seconds: float
    pieces: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """What one interval was like; loads are in units per second."""

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
        """Load of all nodes."""
        return sum(self.nodes)

    @property
    def skew(self) -> float:
        """The busiest node's load in means of all nodes: 1 is even, their number is the worst."""
        return max(self.nodes) * len(self.nodes) / self.units if self.units else 1.0

    def document(self) -> dict[str, Any]:
        """All of it as JSON takes it."""
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
        """Skew over the whole run, each step by its load."""
        return _mean_skew(self.steps)

    @property
    def settled_skew(self) -> float:
        """Skew over the second half, when the first splits and moves are done."""
        return _mean_skew(self.steps[len(self.steps) // 2 :])

    @property
    def reports(self) -> list[str]:
        """What the rules could not cure, each once."""
        said = (each.words for _, each in self.decisions if each.what == "report")
        return list(dict.fromkeys(said))

    def count(self, what: str) -> int:
        """Splits, merges or moves of the whole run."""
        return sum(int(getattr(step, what)) for step in self.steps)


def _mean_skew(steps: Sequence[ReplayStep]) -> float:
    units = sum(step.units for step in steps)
    return sum(step.skew * step.units for step in steps) / units if units else 1.0


def replay(
    script: ReplayScript, rules: PartitionRules, nodes: int, seed: int = 0, told: Told | None = None
) -> Replay:
    """Play a script; `told` hears how many of its loads are behind.

    The rules are asked once a second, as on a server. Raises: `ValueError` for no node.
    """
    run = _Run(script, rules, Placement(nodes, rules.bounds, seed))
    for number in range(STEPS):
        run.step(number)
        if told:
            told(run.behind)
    return Replay(tuple(run.steps), tuple(run.decisions), script.pieces)


class _Run:
    """A replay under way."""

    def __init__(self, script: ReplayScript, rules: PartitionRules, placement: Placement) -> None:
        self.script = script
        self.rules = rules
        self.placement = placement
        self.steps: list[ReplayStep] = []
        self.decisions: list[tuple[float, ReplayDecision]] = []
        self.behind = 0
        self.second = 0.0

    def step(self, number: int) -> None:
        """Play one step and write it down; the move that it calls for comes after it."""
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
        """Hand the rules what comes before this second."""
        loads = self.script.loads
        while self.behind < len(loads) and loads[self.behind].second < self.second:
            load = loads[self.behind]
            self.rules.note(load)
            keys[load.key] += load.read_units + load.write_units
            self.behind += 1


def _by_start(
    keys: Mapping[bytes, int], bounds: Sequence[bytes], seconds: float
) -> dict[bytes, float]:
    """Units per second of each partition, by where it starts."""
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
