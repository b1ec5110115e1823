"""Findings on the time to live and the versions of a table, from a sample of its rows.

Pure. Times to live are seconds, versions of cells milliseconds since 1970 (semantics §1.4, §1.6); a
mix-up of the two is noticed late. Each finding has a subject, the bytes of the sample that a change
would reclaim, their share of the sample, and the command that makes the change.
"""

import math
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

from widerow.advice.sampling import TableSample
from widerow.model.values import value_bytes
from widerow.rows.plain_values import Row, VersionedValue

__all__ = [
    "ExpiryAdvice",
    "ExpiryFinding",
    "TableOptionsSeen",
    "advise_expiry",
    "expiry_document",
    "time_unit",
]

_DAY_SECONDS: Final = 86_400
_DAY_MS: Final = _DAY_SECONDS * 1000
_VERSION_BYTES: Final = 8  # of the timestamp of each cell (semantics §9)
# a longer time to live may be meant in milliseconds
_LONG_TTL_SECONDS: Final = 5 * 365 * _DAY_SECONDS
_HOUR_MS: Final = 3_600_000  # a time to live in milliseconds is usually a multiple of an hour
_FIRST_SECOND: Final = 946_684_800  # the year 2000: numbers below it are rarely times
_LAST_SECOND: Final = 4_102_444_800  # the year 2100
_TIME_SHARE: Final = 0.9  # of a column's integers, for the column to hold times
_MIXED_SHARE: Final = 0.01  # of integers in a second unit, for the mix to be no accident
_SAME_SHARE: Final = 0.5  # of older versions that equal the newer one
_CONFIDENCE: Final = 1.96  # standard errors, for 95 of 100 samples
_MILLISECONDS: Final = "milliseconds"
_UNITS: Final = (("seconds", 1), (_MILLISECONDS, 1000), ("microseconds", 1_000_000))


class TableOptionsSeen(NamedTuple):
    """The options of DescribeTable: seconds that values live (-1: for ever), versions kept."""

    time_to_live: int
    max_versions: int


class _FindingKind(Enum):
    TTL_IN_MILLISECONDS = "time to live in milliseconds"
    VERSIONS_IN_SECONDS = "versions in another unit"
    MIXED_UNITS = "times in two units"
    TIME_COLUMN = "column of times"
    NEVER_EXPIRES = "never expires"
    VERSIONS_FOR_NOTHING = "versions for nothing"


class ExpiryFinding(NamedTuple):
    """One finding on a table.

    `bytes`: the bytes of the sample that the change would reclaim, and `share` of it, with `error`
    to either side in 95 of 100 samples (0 where the sample is the whole table). `options`: the
    flags of `widerow table update` that make the change; empty where the writing programs have to
    change.
    """

    kind: str
    text: str
    bytes: int = 0
    share: float = 0.0
    error: float = 0.0
    options: str = ""


class ExpiryAdvice(NamedTuple):
    """What was sampled, and the findings. `table_bytes`: None where it is unknown."""

    rows: int
    bytes: int
    places: int
    whole: bool
    table_bytes: int | None
    findings: tuple[ExpiryFinding, ...]

    def reclaimable(self, finding: ExpiryFinding) -> int | None:
        """Bytes of the whole table that a change would reclaim, estimated from the sample."""
        if self.whole:
            return finding.bytes
        return None if self.table_bytes is None else round(finding.share * self.table_bytes)


def time_unit(number: int) -> str:
    """The unit in which the number is a time between 2000 and 2100; empty where there is none."""
    for name, factor in _UNITS:
        if _FIRST_SECOND * factor <= number < _LAST_SECOND * factor:
            return name
    return ""


class _Place:
    """The bytes of the rows that were read at one place."""

    def __init__(self, rows: Sequence[Row], cutoff_ms: int) -> None:
        self.bytes = self.old = self.same = self.older = 0
        self.old_rows = self.versioned_rows = self.cells = self.off_versions = 0
        self.units: dict[str, Counter[str]] = {}
        for row in rows:
            self._add(row, cutoff_ms)

    def _add(self, row: Row, cutoff_ms: int) -> None:
        key = sum(len(name.encode()) + value_bytes(value) for name, value in row.key)
        size, old, before = key, 0, None
        newest = max((cell.version for cell in row.cells), default=cutoff_ms)
        for cell in row.cells:
            weight = len(cell.column.encode()) + value_bytes(cell.value) + _VERSION_BYTES
            size += weight
            self.cells += 1
            unit = time_unit(cell.version)
            self.off_versions += unit not in {_MILLISECONDS, ""}
            if unit == _MILLISECONDS and cell.version < cutoff_ms:
                old += weight
            if before is not None and before.column == cell.column:
                self.older += weight
                self.same += weight if _says_the_same(before, cell) else 0
            else:
                self._note_unit(cell)
            before = cell
        self.bytes += size
        if newest < cutoff_ms and time_unit(newest) == _MILLISECONDS:
            self.old_rows += 1
            old += key
        self.old += old
        self.versioned_rows += len({cell.column for cell in row.cells}) < len(row.cells)

    def _note_unit(self, cell: VersionedValue) -> None:
        if isinstance(cell.value, int) and not isinstance(cell.value, bool):
            self.units.setdefault(cell.column, Counter())[time_unit(cell.value)] += 1


def _says_the_same(newer: VersionedValue, older: VersionedValue) -> bool:
    return type(newer.value) is type(older.value) and newer.value == older.value


def advise_expiry(
    options: TableOptionsSeen,
    sample: TableSample,
    now_ms: int,
    old_days: int,
    version_reads: int | None = None,
) -> ExpiryAdvice:
    """Judge a sample.

    `old_days`: rows older than that are never read. `version_reads`: how many recorded reads of the
    table asked for older versions; None without a recording. Linear in the sample.
    """
    places = [_Place(rows, now_ms - old_days * _DAY_MS) for rows in sample.places]
    total = sum(each.bytes for each in places)
    rows = sum(1 for _ in sample.rows)
    findings = [
        *_of_ttl(options),
        *_of_versions(places),
        *_of_columns(places),
        *_of_age(options, places, rows, old_days, whole=sample.whole),
        *_of_copies(options, places, version_reads, whole=sample.whole),
    ]
    known = total if sample.whole else sample.table_bytes
    began = sum(1 for each in sample.places if each)
    return ExpiryAdvice(rows, total, began, sample.whole, known, tuple(findings))


def _of_ttl(options: TableOptionsSeen) -> list[ExpiryFinding]:
    ttl = options.time_to_live
    if ttl < _LONG_TTL_SECONDS or ttl % _HOUR_MS:
        return []
    seconds = ttl // 1000
    years, days = ttl / (365 * _DAY_SECONDS), seconds / _DAY_SECONDS
    return [
        ExpiryFinding(
            _FindingKind.TTL_IN_MILLISECONDS.value,
            f"the time to live of {ttl} seconds is {years:.0f} years; it is a whole number of "
            f"hours in milliseconds, {days:g} days, and may have been meant so",
            options=f"--ttl {max(seconds, _DAY_SECONDS)}",
        )
    ]


def _of_versions(places: Sequence[_Place]) -> list[ExpiryFinding]:
    cells, off = sum(each.cells for each in places), sum(each.off_versions for each in places)
    if not off or off < cells * _MIXED_SHARE:
        return []
    return [
        ExpiryFinding(
            _FindingKind.VERSIONS_IN_SECONDS.value,
            f"{off:,} of {cells:,} versions are times in seconds or microseconds, where "
            "milliseconds are expected: such values expire at once, or in thousands of years; "
            "change the writers",
        )
    ]


def _of_columns(places: Sequence[_Place]) -> list[ExpiryFinding]:
    columns: dict[str, Counter[str]] = {}
    for place in places:
        for name, units in place.units.items():
            columns.setdefault(name, Counter()).update(units)
    found = []
    for name, units in sorted(columns.items()):
        numbers = units.total()
        timed = {unit: count for unit, count in units.items() if unit}
        if sum(timed.values()) < numbers * _TIME_SHARE:
            continue
        mixed = [unit for unit, count in timed.items() if count >= numbers * _MIXED_SHARE]
        told = " and ".join(f"{timed[unit]:,} in {unit}" for unit in sorted(mixed))
        if len(mixed) > 1:
            text = f"the times in column {name} have two units: {told}; change the writers"
            found.append(ExpiryFinding(_FindingKind.MIXED_UNITS.value, text))
        else:
            text = f"column {name} holds times in {mixed[0]}; versions and times to live do not"
            found.append(ExpiryFinding(_FindingKind.TIME_COLUMN.value, f"{text} follow it"))
    return found


def _of_age(
    options: TableOptionsSeen, places: Sequence[_Place], rows: int, old_days: int, *, whole: bool
) -> list[ExpiryFinding]:
    old = sum(each.old for each in places)
    if options.time_to_live != -1 or not old:
        return []
    old_rows = sum(each.old_rows for each in places)
    share, error = _share([(each.bytes, each.old) for each in places], whole=whole)
    return [
        ExpiryFinding(
            _FindingKind.NEVER_EXPIRES.value,
            f"nothing expires, and {old_rows:,} of {rows:,} rows were not written for {old_days} "
            "days; if nobody needs them, let them expire",
            old,
            share,
            error,
            f"--ttl {old_days}d",
        )
    ]


def _of_copies(
    options: TableOptionsSeen,
    places: Sequence[_Place],
    version_reads: int | None,
    *,
    whole: bool,
) -> list[ExpiryFinding]:
    """Older versions that equal the newer one, or that no recorded read has asked for."""
    older, same = sum(each.older for each in places), sum(each.same for each in places)
    if options.max_versions < 2 or not older:  # a single version is not an older version
        return []
    reasons = []
    if same >= older * _SAME_SHARE:
        reasons.append(f"{same / older:.0%} of their bytes say what the next newer one says")
    if version_reads == 0:
        reasons.append("no recorded read asked for one")
    if not reasons or version_reads:
        return []
    share, error = _share([(each.bytes, each.older) for each in places], whole=whole)
    return [
        ExpiryFinding(
            _FindingKind.VERSIONS_FOR_NOTHING.value,
            f"{options.max_versions} versions are kept, and {' and '.join(reasons)}; keep one if "
            "nobody reads older ones",
            older,
            share,
            error,
            "--max-versions 1",
        )
    ]


def _share(places: Sequence[tuple[int, int]], *, whole: bool) -> tuple[float, float]:
    """The share of bytes, over all places, and its error: rows of one place are alike.

    A ratio of sums over places; its standard error is that of the places' residuals. A single place
    says nothing about the others: the error is the largest possible.
    """
    read = [each for each in places if each[0]]
    total = sum(size for size, _ in read)
    if not total:
        return 0.0, 0.0
    share = sum(part for _, part in read) / total
    if whole:
        return share, 0.0
    if len(read) == 1:
        return share, max(share, 1 - share)
    mean = total / len(read)
    squares = sum((part - share * size) ** 2 for size, part in read)
    deviation = math.sqrt(squares / (len(read) * (len(read) - 1))) / mean
    return share, min(_CONFIDENCE * deviation, max(share, 1 - share))


def expiry_document(table: str, options: TableOptionsSeen, advice: ExpiryAdvice) -> dict[str, Any]:
    """The advice for JSON; the caller adds the commands."""
    return {
        "table": table,
        "time_to_live": options.time_to_live,
        "max_versions": options.max_versions,
        "sample": {
            "rows": advice.rows,
            "bytes": advice.bytes,
            "places": advice.places,
            "whole": advice.whole,
        },
        "table_bytes": advice.table_bytes,
        "findings": [
            {**each._asdict(), "reclaimable_bytes": advice.reclaimable(each)}
            for each in advice.findings
        ],
    }
