"""A verdict on a table's partition key from the statistics of its server.

A server counts load by ranges of the key and knows the busiest values by their hashes. These
statistics show whether the key spreads its load, but not whether another column would: for other
columns, `widerow advise keys` reads rows.

The order of requests inside a recorded interval is not known, and one batch may be all the load of
a moment. So load is compared in stretches of whole intervals, each of which weighs the same and has
enough load that chance makes no range busy; with fewer than eight of them no key is judged by its
load.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from typing import Any, Final

from widerow.keydesign.advisor import APPENDED, BAD_SHARE, Verdict
from widerow.keydesign.figures import decimal_size, percent

__all__ = ["LiveFinding", "judge_live"]

_STRETCHES: Final = (8, 24)  # with fewer, a growing key or a batch is not told from others
_STRETCH_UNITS: Final = 512  # 32 for each range: with fewer, chance makes one busier than others
_STRETCH_BINS: Final = 64  # of that load, at so many keys, or
_STRETCH_SECONDS: Final = 60  # in so much time
# a server keeps some thirty bins for an interval; more ranges would show the bins' edges
_RANGES: Final = 16
_FAIR_SHARE: Final = 2 / _RANGES
_BAD_SHARE: Final = 4 / _RANGES


@dataclass(frozen=True, slots=True)
class LiveFinding:
    """The verdict on the partition key of a table that is in use; shares are parts of 1.

    `units` are capacity units in `seconds` of recorded load. `busiest` is the hash of the value
    with most load, `top_share` its share at this moment; `lasting_share` is the share that one
    value has of all `stretches` of the recorded load. `largest_bytes` is the largest partition's
    size: no value is larger.
    """

    table: str
    key: str
    verdict: Verdict
    reason: str
    units: int
    seconds: int
    stretches: int
    partitions: int
    top_share: float
    busiest: str
    lasting_share: float
    hot_range_share: float
    appended_share: float
    largest_bytes: int
    reports: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The finding for JSON."""
        return {**asdict(self), "verdict": self.verdict.value, "reports": list(self.reports)}


def judge_live(found: Mapping[str, Any], largest_bytes: int) -> LiveFinding:
    """Judge the document of `widerow partitions TABLE --history --json`.

    `largest_bytes` is the advised maximum for one value; the server's own rules report a larger
    partition that could not be split.
    """
    partitions, history = found["partitions"], found["history"]
    units = sum(round(load) for interval in history for _, load in interval["bins"])
    stretches = list(_stretches(history, units))
    top = [
        (each["share"] * hottest["share"], _key_words(hottest["key"]))
        for each in partitions
        for hottest in each["top_keys"][:1]
    ]
    top_share, busiest = max(top, default=(0.0, ""))
    finding = LiveFinding(
        table=f"{found['instance']}/{found['table']}",
        key=found["key"]["name"],
        verdict=Verdict.GOOD,
        reason="",
        units=units,
        seconds=sum(interval["seconds"] for interval in history),
        stretches=len(stretches),
        partitions=len(partitions),
        top_share=top_share,
        busiest=busiest,
        lasting_share=max(_mean(stretches).values(), default=0.0),
        hot_range_share=_hot_range_share(stretches),
        appended_share=sum(each["share"] * each["append_share"] for each in partitions),
        largest_bytes=max(each["bytes"] for each in partitions),
        reports=tuple(
            f"{each['reason']} ({_key_words(each['key'])}): {each['words']}; {each['remedy']}"
            for each in found["reports"]
        ),
    )
    verdict, _, reason = next(rule for rule in _RULES if rule[1](finding, largest_bytes))
    return replace(finding, verdict=verdict, reason=reason(finding))


def _key_words(key: Any) -> str:  # noqa: ANN401  # a value, or one for each column, by name
    return ", ".join(map(str, key.values())) if isinstance(key, Mapping) else str(key)


Stretch = Mapping[str, float]


def _stretches(history: Sequence[Mapping[str, Any]], units: int) -> Iterator[Stretch]:
    """The recorded load in the order of time: the shares of its keys in some whole intervals."""
    enough = max(_STRETCH_UNITS, units / _STRETCHES[1])
    loads: Counter[str] = Counter()
    bins = seconds = 0
    for interval in history:
        for key, load in interval["bins"]:
            loads[key] += load
        bins += len(interval["bins"])
        seconds += interval["seconds"]
        if loads.total() >= enough and (bins >= _STRETCH_BINS or seconds >= _STRETCH_SECONDS):
            yield {key: load / loads.total() for key, load in loads.items()}
            loads.clear()
            bins = seconds = 0


def _mean(stretches: Sequence[Stretch]) -> Counter[str]:
    """The share of each key of all stretches, however much load each of them had."""
    shares: Counter[str] = Counter()
    for stretch in stretches:
        for key, share in stretch.items():
            shares[key] += share / len(stretches)  # type: ignore[assignment]  # a share, no count
    return shares


def _hot_range_share(stretches: Sequence[Stretch]) -> float:
    """The share that the busiest range of keys has of a stretch, on average."""
    ordered = sorted(_mean(stretches).items())
    below = [0.0, *accumulate(share for _, share in ordered)]
    ranges = {int(start * _RANGES): key for (key, _), start in zip(ordered, below, strict=False)}
    starts = sorted(ranges.values())
    busiest = 0.0
    for stretch in stretches:
        loads = [0.0] * (len(starts) + 1)
        for key, share in stretch.items():
            loads[bisect_right(starts, key)] += share
        busiest += max(loads)
    return busiest / max(1, len(stretches))


def _is_shown(found: LiveFinding) -> bool:
    """Whether there is enough load to judge a key by it."""
    return found.stretches >= _STRETCHES[0]


def _too_large(found: LiveFinding, largest_bytes: int) -> bool:
    return found.largest_bytes > largest_bytes and bool(found.reports)


def _spread(found: LiveFinding) -> str:
    return (
        f"the busiest of {_RANGES} ranges has {percent(found.hot_range_share)} of the load of any "
        f"time, the busiest value {percent(found.top_share)}"
    )


_Rule = tuple[Verdict, Callable[[LiveFinding, int], bool], Callable[[LiveFinding], str]]

_RULES: Final[tuple[_Rule, ...]] = (
    (
        Verdict.UNCLEAR,
        lambda found, largest: not _is_shown(found) and not _too_large(found, largest),
        lambda found: (
            f"{found.units:,} capacity units in {found.seconds:,} seconds say too little: at least "
            f"{_STRETCHES[0]} stretches of time are compared, of ten seconds to a minute and "
            f"{_STRETCH_UNITS} units each, and there are {found.stretches}; use the table longer"
        ),
    ),
    (
        Verdict.BAD,
        lambda found, _: _is_shown(found) and min(found.top_share, found.lasting_share) > BAD_SHARE,
        lambda found: (
            f"one value (hash {found.busiest}) has {percent(found.top_share)} of the load, and no "
            "split divides it; splice more columns into the key"
        ),
    ),
    (
        Verdict.BAD,
        lambda found, _: (
            _is_shown(found)
            and found.appended_share > APPENDED
            and found.hot_range_share > _FAIR_SHARE
        ),
        lambda found: (
            f"{percent(found.appended_share)} of new rows lie beyond all others, so writes meet in "
            "one place; put a hash in front of the key"
        ),
    ),
    (
        Verdict.BAD,
        lambda found, _: _is_shown(found) and found.hot_range_share > _BAD_SHARE,
        lambda found: (
            f"{percent(found.hot_range_share)} of the load of any time meets in one of {_RANGES} "
            "ranges, which moves; put a hash in front of the key"
        ),
    ),
    (
        Verdict.TOO_LARGE,
        _too_large,
        lambda found: (
            f"a partition has {decimal_size(found.largest_bytes)} and cannot be divided; splice "
            "more columns into the key"
        ),
    ),
    (
        Verdict.FAIR,
        lambda found, _: found.hot_range_share > _FAIR_SHARE,
        _spread,
    ),
    (Verdict.GOOD, lambda *_: True, _spread),
)
"""The rules in order: the first that holds gives the verdict and its reason."""
