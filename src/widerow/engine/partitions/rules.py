"""When partitions split and merge: every rule, in one place, from statistics alone.

    TOO_LARGE     more bytes than a partition should hold: split at the key that divides the bytes
    TOO_HOT       more load than a partition should carry, for long enough: split at the key that
                  divides the load
    UNEVEN        more than twice its share of a busy table, for long enough: the same
    COLD          two neighbours that together are far below all of that, for long enough: merge

    KEY_TOO_LARGE   one partition key value above the advice; it cannot be split
    KEY_TOO_HOT     one partition key value takes most of a hot partition's load
    KEYS_GROW       new keys are always the largest: a split moves the load to its right half, whole

A cut is always a partition key value that exists, never a place inside one. Two neighbours merge
below a quarter of what would split them, so that no load makes partitions come and go. Bounds that
CreateTable asked for stay. (semantics §1.2)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate, pairwise
from typing import Final

__all__ = [
    "REMEDIES",
    "Decision",
    "Merge",
    "PartitionFacts",
    "Reason",
    "Report",
    "Split",
    "Thresholds",
    "decide",
    "is_cold",
    "is_hot",
]

_GIB: Final = 1024**3
SHARES_MAX: Final = 2.0  # a partition may carry so many times its fair share
COLD_PART: Final = 0.25  # of what splits a partition: two neighbours below it together merge
SMALLER_HALF_MIN: Final = 0.05  # of the load or the bytes; a cut that moves less is not made
KEY_SHARE_MAX: Final = 0.5  # of a partition's load: "most of it"
APPEND_SHARE_MAX: Final = 0.8  # of new rows that lie above the largest key
SETTLE_SECONDS: Final = 10.0  # a new partition's load is an estimate for so long
CHANGES_MAX: Final = 8  # in one look at one table


class Reason(Enum):
    """The rules, by name."""

    TOO_LARGE = "too-large"
    TOO_HOT = "too-hot"
    UNEVEN = "uneven"
    COLD = "cold"
    KEY_TOO_LARGE = "key-too-large"
    KEY_TOO_HOT = "key-too-hot"
    KEYS_GROW = "keys-grow"


REMEDIES: Final = {
    Reason.KEY_TOO_LARGE: "splice more key columns into the partition key",
    Reason.KEY_TOO_HOT: "splice more key columns into the partition key, or cache this one",
    Reason.KEYS_GROW: "put a hash in front of the partition key",
}
"""What an application can do about what no split can."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The bounds at which partitions split and merge.

    `split_bytes`: the size of a partition; `split_units`: read and write units a second;
    `hot_seconds` and `cold_seconds`: how long a load must last; `key_bytes`: the advice for one
    partition key value; `partitions_max`: of one table.
    """

    split_bytes: int = 10 * _GIB
    split_units: float = 1000.0
    hot_seconds: float = 60.0
    cold_seconds: float = 600.0
    key_bytes: int = 10 * _GIB
    partitions_max: int = 256


@dataclass(frozen=True, slots=True)
class PartitionFacts:
    """What is known of one partition.

    Rates are units a second, decayed. `hot_seconds`, `cold_seconds`: for how long it has been so,
    `age_seconds`: since it was made. `pinned`: its lower bound was asked for. `append_share`: of
    new rows, those whose key was larger than any before. `load`: units by key (`histogram.py`),
    `sizes`: bytes by key, `top`: the heaviest keys and their shares of the partition's load.
    `largest`: the largest single partition key value that is known, and its bytes.
    """

    start: bytes
    stop: bytes | None
    size: int = 0
    rows: int = 0
    read_rate: float = 0.0
    write_rate: float = 0.0
    hot_seconds: float = 0.0
    cold_seconds: float = 0.0
    age_seconds: float = 0.0
    pinned: bool = False
    append_share: float = 0.0
    load: tuple[tuple[bytes, float], ...] = ()
    sizes: tuple[tuple[bytes, int], ...] = ()
    top: tuple[tuple[bytes, float], ...] = ()
    largest: tuple[bytes, int] | None = None

    @property
    def rate(self) -> float:
        """Read and write units a second."""
        return self.read_rate + self.write_rate


@dataclass(frozen=True, slots=True)
class Split:
    """The partition at `start` becomes two, the second from `at` on."""

    start: bytes
    at: bytes
    reason: Reason
    words: str


@dataclass(frozen=True, slots=True)
class Merge:
    """The partition at `start` becomes a part of the one before it."""

    start: bytes
    reason: Reason
    words: str


@dataclass(frozen=True, slots=True)
class Report:
    """No split helps the partition at `start`, because of this `key`."""

    start: bytes
    key: bytes
    reason: Reason
    words: str


Decision = Split | Merge | Report


def is_hot(rate: float, table_rate: float, partitions: int, thresholds: Thresholds) -> bool:
    """Whether a partition of this rate carries too much at this moment."""
    if rate >= thresholds.split_units:
        return True
    fair = table_rate / partitions
    enough = table_rate >= thresholds.split_units and rate >= thresholds.split_units / 2
    return enough and rate > SHARES_MAX * fair


def is_cold(rate: float, thresholds: Thresholds) -> bool:
    """Whether a partition of this rate is idle enough to merge with its neighbour."""
    return rate < thresholds.split_units * COLD_PART / 2


def decide(partitions: Sequence[PartitionFacts], thresholds: Thresholds) -> list[Decision]:
    """Reports about the partitions of a table, then at most eight changes of them.

    No two changes concern the same partition. Pure: the same facts give the same decisions.
    """
    decisions: list[Decision] = []
    for facts in partitions:
        decisions += _reports(facts, thresholds)
    room = max(0, min(CHANGES_MAX, thresholds.partitions_max - len(partitions)))
    splits = [found for facts in partitions if (found := _split(facts, thresholds))][:room]
    decisions += splits
    taken = {split.start for split in splits}
    decisions += _merges(partitions, taken, thresholds, CHANGES_MAX - len(splits))
    return decisions


def _settled_heat(facts: PartitionFacts, thresholds: Thresholds) -> bool:
    lasting = facts.hot_seconds >= thresholds.hot_seconds
    return lasting and facts.age_seconds >= min(SETTLE_SECONDS, thresholds.hot_seconds)


def _split(facts: PartitionFacts, thresholds: Thresholds) -> Split | None:
    if facts.size > thresholds.split_bytes:
        at = _dividing_key(facts.start, facts.sizes)
        if at is not None:
            words = f"{facts.size} bytes, more than {thresholds.split_bytes}"
            return Split(facts.start, at, Reason.TOO_LARGE, words)
    if not _settled_heat(facts, thresholds) or facts.append_share > APPEND_SHARE_MAX:
        return None
    at = _dividing_key(facts.start, facts.load)
    if at is None:
        return None
    words = f"{facts.rate:.0f} units a second for {facts.hot_seconds:.0f} s"
    if facts.rate >= thresholds.split_units:
        words += f", more than {thresholds.split_units:.0f}"
        return Split(facts.start, at, Reason.TOO_HOT, words)
    return Split(facts.start, at, Reason.UNEVEN, words + ", more than twice its share")


def _dividing_key(start: bytes, weights: Sequence[tuple[bytes, float]]) -> bytes | None:
    """The key above `start` that halves the weight best; None if every cut moves too little."""
    total = sum(weight for _, weight in weights)
    if total <= 0:
        return None
    below = accumulate((weight for _, weight in weights), initial=0.0)
    halves = [
        (min(before, total - before), key)
        for before, (key, _) in zip(below, weights, strict=False)
        if key > start
    ]
    if not halves:
        return None
    smaller, key = max(halves, key=lambda half: half[0])
    return key if smaller >= total * SMALLER_HALF_MIN else None


def _reports(facts: PartitionFacts, thresholds: Thresholds) -> Iterator[Report]:
    if facts.largest is not None and facts.largest[1] > thresholds.key_bytes:
        key, size = facts.largest
        words = f"{size} bytes under one key, more than {thresholds.key_bytes}"
        yield Report(facts.start, key, Reason.KEY_TOO_LARGE, words)
    if not _settled_heat(facts, thresholds):
        return
    if facts.append_share > APPEND_SHARE_MAX:
        key = facts.load[-1][0] if facts.load else facts.start
        words = f"{facts.append_share:.0%} of the new rows lie beyond all others"
        yield Report(facts.start, key, Reason.KEYS_GROW, words)
    elif facts.top and facts.top[0][1] > KEY_SHARE_MAX:
        key, share = facts.top[0]
        words = f"{share:.0%} of {facts.rate:.0f} units a second go to one key"
        yield Report(facts.start, key, Reason.KEY_TOO_HOT, words)


def _merges(
    partitions: Sequence[PartitionFacts], taken: set[bytes], thresholds: Thresholds, room: int
) -> list[Merge]:
    merges: list[Merge] = []
    busy = set(taken)
    for left, right in pairwise(partitions):
        if len(merges) >= room:
            break
        if left.start in busy or right.start in busy or not _belong(left, right, thresholds):
            continue
        words = f"{left.rate + right.rate:.1f} units a second over {left.size + right.size} bytes"
        merges.append(Merge(right.start, Reason.COLD, words))
        busy |= {left.start, right.start}
    return merges


def _belong(left: PartitionFacts, right: PartitionFacts, thresholds: Thresholds) -> bool:
    """Whether two neighbours should merge."""
    if right.pinned or left.size + right.size >= thresholds.split_bytes / 2:
        return False
    if left.rate + right.rate >= thresholds.split_units * COLD_PART:
        return False
    lasting = min(left.cold_seconds, right.cold_seconds) >= thresholds.cold_seconds
    return lasting and min(left.age_seconds, right.age_seconds) >= thresholds.cold_seconds
