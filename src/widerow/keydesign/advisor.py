"""Ranks candidates for the partition key: measured on rows, judged by named rules.

Two passes at most. The first pass measures every column as it is. Where a column fails for a reason
that splicing or hashing cures, the second pass measures the cures. Memory is bounded whatever the
length of the source; `sketch.py` says which figures are exact and how far the others may be off.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from widerow.keydesign.candidate import Candidate, CandidateKind, hashed, one_column, spliced
from widerow.keydesign.figures import decimal_size, percent
from widerow.keydesign.key import PartKind, PartValue
from widerow.keydesign.sample import Access, accesses, kinds
from widerow.keydesign.sketch import Estimate, KeyCounts, RowSample
from widerow.keydesign.spread import (
    INTERVALS_MIN,
    RANGES,
    appended_share,
    chance_share,
    hot_range_share,
    in_order_of_time,
)
from widerow.row_files.source import Progress, Source

__all__ = [
    "APPENDED",
    "BAD_SHARE",
    "GOOD_DISTINCT",
    "ROWS_MIN",
    "Advice",
    "KeyAssessment",
    "Measures",
    "Question",
    "Verdict",
    "advise",
]

ROWS_MIN: Final = 1_000
"""With fewer rows their distribution is unknown."""

GIGABYTE: Final = 10**9
BAD_SHARE: Final = 1 / 8  # of all load on one partition: then more than eight servers do not help
_FAIR_SHARE: Final = 1 / 16
GOOD_DISTINCT: Final = 3 * RANGES
"""The number of distinct values that a good key has at least.

A split never divides a value, so partitions get whole values. With three values for each of 32
partitions, divided as evenly as can be, the fullest partition has at most a third more than the
mean; with fewer values it has up to twice the mean, and with fewer than 32 some partitions are
empty.
"""

APPENDED: Final = 0.3  # three times an even share


class Verdict(Enum):
    """The verdict on a candidate; an earlier one is better."""

    GOOD = "good"
    FAIR = "fair"
    TOO_LARGE = "too large"
    BAD = "bad"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Question:
    """The columns to rank, in the order of the key, and facts of the finished table.

    `expected_rows` scales the size of the largest key from the source to the table; None takes
    the source for the whole table. `largest_bytes` is the advice for one partition key value.
    """

    columns: tuple[str, ...]
    time: str | None = None
    texts: tuple[str, ...] = ()
    expected_rows: int | None = None
    largest_bytes: int = 10 * GIGABYTE
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Measures:
    """The figures of one candidate; shares are parts of 1.

    `moments`: the number of different times of the rows, of a sample if there are many rows.
    `largest_bytes` is the size of the largest key in the finished table. `spread` is how many of 32
    partitions work at once: the reciprocal of the busiest key's share or of the hot range's,
    whichever is larger.
    """

    rows: int
    moments: int
    distinct: Estimate
    top_share: Estimate
    busiest: str
    gini: float
    largest_bytes: Estimate
    hot_range_share: float
    appended_share: float
    exact: bool

    @property
    def spread(self) -> float:
        """How many of 32 partitions work at once."""
        return min(RANGES, 1 / max(self.top_share.value, self.hot_range_share, 1 / RANGES))


@dataclass(frozen=True, slots=True)
class KeyAssessment:
    """One candidate with its measures, its verdict, and what to do about it."""

    candidate: Candidate
    verdict: Verdict
    reason: str
    measures: Measures
    remedy: str | None = None

    def document(self) -> dict[str, Any]:
        """The assessment for JSON."""
        found = self.measures
        return {
            "key": self.candidate.name,
            "kind": self.candidate.kind.value,
            "columns": list(self.candidate.columns),
            "verdict": self.verdict.value,
            "reason": self.reason,
            "remedy": self.remedy,
            "spread": round(found.spread, 2),
            "rows": found.rows,
            "moments": found.moments,
            "distinct": round(found.distinct.value),
            "distinct_error": round(found.distinct.error),
            "busiest_key": found.busiest,
            "top_share": round(found.top_share.value, 6),
            "top_share_error": round(found.top_share.error, 6),
            "gini": round(found.gini, 4),
            "largest_bytes": round(found.largest_bytes.value),
            "largest_bytes_error": round(found.largest_bytes.error),
            "hot_range_share": round(found.hot_range_share, 4),
            "appended_share": round(found.appended_share, 4),
            "exact": found.exact,
        }


@dataclass(frozen=True, slots=True)
class Advice:
    """The ranking, best first, and the digits of integer columns for building keys."""

    findings: tuple[KeyAssessment, ...]
    digits: Mapping[str, int]

    def document(self) -> dict[str, Any]:
        """The advice for JSON."""
        return {
            "ranges": RANGES,
            "findings": [finding.document() for finding in self.findings],
        }


def advise(source: Source, question: Question, progress: Progress | None = None) -> Advice:
    """Rank the columns of a source as partition keys, and cures for those that fail.

    `progress` is called during up to two passes over the source. Raises: `FileInvalid`.
    """
    types = kinds(source, question.columns, question.texts)
    columns = tuple(types)
    first = [one_column(columns, column) for column in columns]
    measured, digits = _measure(source, question, types, first, progress)
    findings = [_judge(candidate, found, question) for candidate, found in measured]
    cures = list(_cures(columns, findings))
    if cures:
        behind = source.total
        told = (lambda done: progress(behind + done)) if progress else None
        again, _ = _measure(source, question, types, cures, told)
        findings = _with_cures(
            findings, [_judge(candidate, found, question) for candidate, found in again]
        )
    elif progress:
        progress(2 * source.total)
    order = list(Verdict)
    findings.sort(key=lambda each: (order.index(each.verdict), -each.measures.spread))
    return Advice(tuple(findings), digits)


# --- measuring ------------------------------------------------------------------------------------


def _measure(
    source: Source,
    question: Question,
    types: Mapping[str, PartKind],
    candidates: Sequence[Candidate],
    progress: Progress | None,
) -> tuple[list[tuple[Candidate, Measures]], dict[str, int]]:
    """Measure candidates in one pass over the source; also the digits of its integer columns."""
    counts = [(candidate.key, KeyCounts()) for candidate in candidates]
    sample = RowSample(seed=question.seed)
    largest = dict.fromkeys(range(len(types)), 0)
    integers = [at for at, kind in enumerate(types.values()) if kind is PartKind.INTEGER]
    for access in accesses(source, types, question.time, progress):
        values = access.values
        for key, counted in counts:
            counted.add(key(values), access.size)
        for at in integers:
            largest[at] = max(largest[at], abs(int(values[at])))
        sample.add(access)
    rows: list[Access] = in_order_of_time(sample.rows, lambda access: access.time)
    timed = [access.values for access in rows]
    moments = len({access.time for access in rows})
    names = list(types)
    return (
        [
            (candidate, _measures(candidate, counted, timed, moments, question))
            for candidate, (_, counted) in zip(candidates, counts, strict=True)
        ],
        {names[at]: len(str(largest[at])) for at in integers},
    )


def _measures(
    candidate: Candidate,
    counted: KeyCounts,
    timed: Sequence[tuple[PartValue, ...]],
    moments: int,
    question: Question,
) -> Measures:
    keys = candidate.ordered(timed)
    table = counted.bytes * (question.expected_rows or counted.rows) / max(1, counted.rows)
    share = counted.largest_share
    return Measures(
        rows=counted.rows,
        moments=moments,
        distinct=counted.distinct,
        top_share=counted.top_share,
        busiest=_words(counted.busiest),
        gini=counted.gini,
        largest_bytes=Estimate(share.value * table, share.error * table),
        hot_range_share=hot_range_share(keys),
        appended_share=appended_share(keys),
        exact=counted.exact,
    )


def _words(key: object) -> str:
    return ",".join(map(str, key)) if isinstance(key, tuple) else str(key)


# --- judging --------------------------------------------------------------------------------------

Rule = tuple[Verdict, Callable[[Measures, Question], bool], Callable[[Measures, Question], str]]


def _few(found: Measures) -> str:
    """Why a number of values is too small, even if their shares are equal."""
    values = found.distinct.value
    rows = found.rows / max(1, values)
    limit = (
        f"the table never works on more than {values:,.0f} partitions, whatever the number of nodes"
        if values < RANGES
        else f"{RANGES} partitions get unequal shares"
    )
    return (
        f"few: {values:,.0f} values, one for every {rows:,.0f} rows; no split divides a value, so "
        f"{limit}, and each value grows as the table does; a good key has {GOOD_DISTINCT} values "
        "or more: splice it with another column if the table is to grow"
    )


def _even(found: Measures) -> str:
    return (
        f"{found.distinct.value:,.0f} values, the busiest with {percent(found.top_share.value)} of "
        f"the rows, and at any time {found.spread:.0f} of {RANGES} partitions at work"
    )


RULES: Final[tuple[Rule, ...]] = (
    (
        Verdict.UNCLEAR,
        lambda found, _: found.rows < ROWS_MIN,
        lambda found, _: f"{found.rows} rows say too little; give at least {ROWS_MIN:,}",
    ),
    (
        Verdict.BAD,
        lambda found, _: found.top_share.value > BAD_SHARE,
        lambda found, _: (
            f"few and skewed: {found.distinct.value:,.0f} values, and {found.busiest!r} alone has "
            f"{percent(found.top_share.value)} of the rows, which no split can divide"
        ),
    ),
    (
        Verdict.UNCLEAR,
        lambda found, _: found.moments < INTERVALS_MIN,
        lambda found, _: (
            f"the rows were written at {found.moments} different times, which says nothing of where"
            f" the writes of one time meet; give rows of at least {INTERVALS_MIN} times"
        ),
    ),
    (
        Verdict.BAD,
        lambda found, _: found.hot_range_share > BAD_SHARE and found.appended_share > APPENDED,
        lambda found, _: (
            f"sequential: {percent(found.appended_share)} of the rows come behind nine tenths of "
            f"those before, so {percent(found.hot_range_share)} of the writes of any time meet in "
            "one narrow range"
        ),
    ),
    (
        Verdict.BAD,
        lambda found, _: found.hot_range_share > BAD_SHARE,
        lambda found, _: (
            f"narrow: {percent(found.hot_range_share)} of the accesses of any time meet in one of "
            f"{RANGES} ranges ({found.distinct.value:,.0f} values)"
        ),
    ),
    (
        Verdict.TOO_LARGE,
        lambda found, asked: found.largest_bytes.value > asked.largest_bytes,
        lambda found, asked: (
            f"{found.busiest!r} grows to {decimal_size(found.largest_bytes.value)}, over "
            f"the advised {decimal_size(asked.largest_bytes)} for a value, and no split divides one"
        ),
    ),
    (
        Verdict.FAIR,
        lambda found, _: found.distinct.value < GOOD_DISTINCT,
        lambda found, _: _few(found),
    ),
    (
        Verdict.FAIR,
        lambda found, _: found.hot_range_share > max(_FAIR_SHARE, chance_share(found.rows)),
        lambda found, _: _even(found),
    ),
    (Verdict.GOOD, lambda *_: True, lambda found, _: _even(found)),
)
"""The rules in order: the first rule that holds gives the verdict and its reason.

From the founding page: data and accesses are spread evenly, one value does not outgrow the advice,
pressure is not on a small range of neighbouring keys. A few values bound the number of working
partitions even if their shares are equal.
"""


def _judge(candidate: Candidate, found: Measures, question: Question) -> KeyAssessment:
    verdict, _, reason = next(rule for rule in RULES if rule[1](found, question))
    return KeyAssessment(candidate, verdict, reason(found, question), found)


# --- cures ----------------------------------------------------------------------------------------


def _cures(columns: Sequence[str], findings: Sequence[KeyAssessment]) -> Iterator[Candidate]:
    """Candidates that may cure failed columns: a hash where writes are appended, else a splice.

    A column with values that are too large is spliced in the order of the columns, in which its
    rows are read; a skewed column is spliced behind a good one, which divides it best.
    """
    good = {each.candidate.name for each in findings if each.verdict is Verdict.GOOD}
    for finding in findings:
        (column,) = finding.candidate.columns
        if finding.verdict is Verdict.BAD and finding.measures.appended_share > APPENDED:
            yield hashed(columns, column)
        elif finding.verdict in {Verdict.BAD, Verdict.TOO_LARGE}:
            others = [name for name in columns if name != column]
            if finding.verdict is Verdict.BAD:
                others.sort(key=lambda name: name not in good)
            for count in range(1, len(others) + 1):
                yield spliced(columns, [column, *others[:count]])


def _with_cures(
    findings: Sequence[KeyAssessment], cures: Sequence[KeyAssessment]
) -> list[KeyAssessment]:
    """Every column with its cures; of splices, the shortest that helps and all shorter ones."""
    shown: list[KeyAssessment] = []
    for finding in findings:
        (column,) = finding.candidate.columns
        own = [each for each in cures if each.candidate.columns[0] == column]
        helps = [each for each in own if each.verdict in {Verdict.GOOD, Verdict.FAIR}]
        if not helps:
            shown.append(finding)
            continue
        shown.append(_remedied(finding, helps[0]))
        shown += own[: own.index(helps[0]) + 1]
    return shown


def _remedied(finding: KeyAssessment, cure: KeyAssessment) -> KeyAssessment:
    how = "hash it" if cure.candidate.kind is CandidateKind.HASHED else "splice it"
    remedy = f"{how}: {cure.candidate.name} is {cure.verdict.value}"
    return KeyAssessment(
        finding.candidate, finding.verdict, finding.reason, finding.measures, remedy
    )
