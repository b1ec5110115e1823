"""Which ranges of a key hold the rows that some comparisons let through.

The comparisons are those of a conjunction that compare one column with a value of the column's own
type. Leading columns of the key with given values, then one with a range, make ranges of the key; a
column with several given values makes a range for each of them, as long as they are few.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import product
from typing import Any, Final, NamedTuple

from widerow.engine.scan import Bound, RowAccess

__all__ = ["RANGES_MAX", "KeyComparator", "KeyComparison", "KeyRanges", "key_ranges", "text_after"]

RANGES_MAX: Final = 100
"""More given values than this are not looked up one by one; the range they lie in is read."""


class KeyComparator(Enum):
    """How a column is compared with a value."""

    EQUAL = "="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="
    ONE_OF = "IN"
    BEGINS = "PREFIX"


class KeyComparison(NamedTuple):
    """A column compared with a value; with ONE_OF with a tuple of values. None has NULL in it."""

    column: str
    comparator: KeyComparator
    value: Any


@dataclass(frozen=True, slots=True)
class KeyRanges:
    """Ranges in the order of the key, apart from each other.

    `equal`: how many leading columns have one value in all ranges. `matched`: how many columns the
    ranges follow from. `points`: each range is one whole key. `exact`: of how many leading columns
    the comparisons hold for all keys of the ranges and for no others (BEGINS as that).
    """

    accesses: tuple[RowAccess, ...]
    equal: int
    matched: int
    points: bool
    exact: int = 0

    def reversed(self) -> "KeyRanges":
        """The ranges from the largest key to the smallest."""
        turned = [replace(each, reverse=True) for each in reversed(self.accesses)]
        return replace(self, accesses=tuple(turned))


@dataclass(slots=True)
class _Allowed:
    """What comparisons leave of a column's values."""

    values: set[Any] | None = None
    low: tuple[Any, bool] | None = None  # the bound, and whether it is inside
    high: tuple[Any, bool] | None = None

    def narrow(self, comparison: KeyComparison) -> None:
        value = comparison.value
        match comparison.comparator:
            case KeyComparator.EQUAL:
                self._only({value})
            case KeyComparator.ONE_OF:
                self._only(set(value))
            case KeyComparator.GREATER | KeyComparator.AT_LEAST:
                self._above(value, inside=comparison.comparator is KeyComparator.AT_LEAST)
            case KeyComparator.LESS | KeyComparator.AT_MOST:
                self._below(value, inside=comparison.comparator is KeyComparator.AT_MOST)
            case KeyComparator.BEGINS:
                self._above(value, inside=True)
                after = text_after(value)
                if after is not None:
                    self._below(after, inside=False)

    def _only(self, values: set[Any]) -> None:
        self.values = values if self.values is None else self.values & values

    def _above(self, value: object, *, inside: bool) -> None:
        bound: Any = (value, not inside)
        if self.low is None or bound > (self.low[0], not self.low[1]):
            self.low = (value, inside)

    def _below(self, value: object, *, inside: bool) -> None:
        bound: Any = (value, inside)
        if self.high is None or bound < self.high:
            self.high = (value, inside)

    def points(self) -> list[Any] | None:
        """The values that are left, in their order; None where they are not given."""
        if self.values is None:
            return None
        return sorted(each for each in self.values if self._inside(each))

    def _inside(self, value: Any) -> bool:  # noqa: ANN401  # of the column's type
        above = self.low is None or value > self.low[0] or (self.low[1] and value == self.low[0])
        below = (
            self.high is None or value < self.high[0] or (self.high[1] and value == self.high[0])
        )
        return above and below

    def is_empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        (low, from_low), (high, to_high) = self.low, self.high
        return bool(low > high or (low == high and not (from_low and to_high)))


def key_ranges(
    key: Sequence[str], comparisons: Iterable[KeyComparison], index: str = ""
) -> KeyRanges:
    """The ranges of a key, whose columns have these names; without accesses where no row can be.

    `index`: the index that the key belongs to; empty: the primary key.
    """
    allowed: dict[str, _Allowed] = {}
    for comparison in comparisons:
        allowed.setdefault(comparison.column, _Allowed()).narrow(comparison)
    fixed: list[list[Any]] = []
    count = 1
    for name in key:
        found = allowed.get(name)
        points = None if found is None else found.points()
        if points is None or count * max(1, len(points)) > RANGES_MAX:
            break
        fixed.append(points)
        count *= len(points)
    equal = next((i for i, points in enumerate(fixed) if len(points) != 1), len(fixed))
    rest = allowed.get(key[len(fixed)]) if len(fixed) < len(key) else None
    if count == 0 or (rest is not None and rest.is_empty()):
        return KeyRanges((), equal, len(fixed), points=False, exact=len(fixed))
    ends = _ends(rest)
    accesses = tuple([_access(index, values, *ends) for values in product(*fixed)])
    matched = len(fixed) + (rest is not None)
    # Too many given values for ranges of their own: the range that they lie in has others, too.
    exact = matched - (rest is not None and rest.values is not None)
    return KeyRanges(accesses, equal, matched, points=len(fixed) == len(key), exact=exact)


def _ends(rest: _Allowed | None) -> tuple[tuple[Any, bool] | None, tuple[Any, bool] | None]:
    """The bounds of the column behind those with given values."""
    if rest is None:
        return None, None
    points = rest.points()
    if points:
        return (points[0], True), (points[-1], True)
    return rest.low, rest.high


def _access(
    index: str,
    values: tuple[Any, ...],
    low: tuple[Any, bool] | None,
    high: tuple[Any, bool] | None,
) -> RowAccess:
    start = Bound(values) if low is None else Bound((*values, low[0]), low[1])
    stop = Bound(values) if high is None else Bound((*values, high[0]), high[1])
    return RowAccess(index, start, stop)


_LAST: Final = 0x10FFFF
_BEFORE_SURROGATES, _AFTER_SURROGATES = 0xD7FF, 0xE000


def text_after(prefix: str | bytes) -> str | bytes | None:
    """The smallest value behind all that begin with `prefix`; None where nothing is behind."""
    if isinstance(prefix, bytes):
        kept = prefix.rstrip(b"\xff")
        return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
    kept_text = prefix.rstrip(chr(_LAST))
    if not kept_text:
        return None
    last = ord(kept_text[-1])
    following = _AFTER_SURROGATES if last == _BEFORE_SURROGATES else last + 1
    return kept_text[:-1] + chr(following)
