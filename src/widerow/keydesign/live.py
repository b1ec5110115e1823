"""A verdict on a table's partition key from the statistics of its server.

A server counts load by ranges of the key and knows the busiest values by their hashes. These
statistics show whether the key spreads its load, but not whether another column would: for other
columns, `widerow advise keys` reads rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from widerow.keydesign.advisor import APPENDED, BAD_SHARE, ROWS_MIN, Verdict
from widerow.keydesign.figures import decimal_size, percent
from widerow.keydesign.spread import hot_range_share

__all__ = ["LiveFinding", "judge_live"]

_KEYS_MAX: Final = 65_536  # to which the recorded load is assigned, for the hot range
# a server keeps some thirty bins for an interval; more ranges would show the bins' edges
_RANGES: Final = 16
_FAIR_SHARE: Final = 2 / _RANGES
_BAD_SHARE: Final = 4 / _RANGES


@dataclass(frozen=True, slots=True)
class LiveFinding:
    """The verdict on the partition key of a table that is in use; shares are parts of 1.

    `units` are capacity units in `seconds` of recorded load. `busiest` is the hash of the value
    with most load, `top_share` its share at this moment. `largest_bytes` is the largest partition's
    size: no value is larger.
    """

    table: str
    key: str
    verdict: Verdict
    reason: str
    units: int
    seconds: int
    partitions: int
    top_share: float
    busiest: str
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
    top = [
        (each["share"] * hottest["share"], hottest["hash"])
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
        partitions=len(partitions),
        top_share=top_share,
        busiest=busiest,
        hot_range_share=hot_range_share(_keys(history, units), _RANGES),
        appended_share=sum(each["share"] * each["append_share"] for each in partitions),
        largest_bytes=max(each["bytes"] for each in partitions),
        reports=tuple(
            f"{each['reason']} ({each['key_hash']}): {each['words']}; {each['remedy']}"
            for each in found["reports"]
        ),
    )
    verdict, reason = _judged(finding, largest_bytes)
    return replace(finding, verdict=verdict, reason=reason)


def _keys(history: Sequence[Mapping[str, Any]], units: int) -> list[str]:
    """The recorded load as keys in order of time, each repeated in proportion to its load."""
    scale = min(1.0, _KEYS_MAX / max(1, units))
    keys: list[str] = []
    for interval in history:
        for key, load in interval["bins"]:
            keys += [key] * round(load * scale)
    return keys


def _judged(found: LiveFinding, largest_bytes: int) -> tuple[Verdict, str]:
    if found.units < ROWS_MIN:
        return Verdict.UNCLEAR, (
            f"{found.units} capacity units say too little; use the table until it has {ROWS_MIN:,}"
        )
    if found.top_share > BAD_SHARE:
        return Verdict.BAD, (
            f"one value (hash {found.busiest}) has {percent(found.top_share)} of the load, and no "
            "split divides it; splice more columns into the key"
        )
    if found.appended_share > APPENDED:
        return Verdict.BAD, (
            f"{percent(found.appended_share)} of new rows lie beyond all others, so writes meet in "
            "one place; put a hash in front of the key"
        )
    if found.hot_range_share > _BAD_SHARE:
        return Verdict.BAD, (
            f"{percent(found.hot_range_share)} of the load of any time meets in one of {_RANGES} "
            "ranges, which moves; put a hash in front of the key"
        )
    if found.largest_bytes > largest_bytes and found.reports:
        return Verdict.TOO_LARGE, (
            f"a partition has {decimal_size(found.largest_bytes)} and cannot be divided; splice "
            "more columns into the key"
        )
    verdict = Verdict.FAIR if found.hot_range_share > _FAIR_SHARE else Verdict.GOOD
    return verdict, (
        f"the busiest of {_RANGES} ranges has {percent(found.hot_range_share)} of the load of any "
        f"time, the busiest value {percent(found.top_share)}"
    )
