"""Sorted byte strings in two arrays: keys of documents, and terms of fields (search §11.5).

The strings are concatenated in one array of bytes; another array has the beginning of each. So they
are written to files, and mapped, without conversion. A search for many strings compares the sixteen
bytes after the common prefix of all in one step, and only strings that agree in these one by one.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, Final, TypeVar, final, overload

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from widerow.search.interface import Booleans, Integers

__all__ = [
    "SortedTerms",
    "gathered",
    "packed",
    "picked",
    "run_begins",
    "run_numbers",
    "united",
]

_T = TypeVar("_T", bound=np.generic)

_HEAD_BYTES: Final = 16
_FEW_ASKED: Final = 8  # with fewer strings, each is searched by itself
_FEW: Final = 50_000  # with fewer terms, they are united by a set
_MARKED: Final = 64  # one string in so many is kept as an object, to search single ones


def run_numbers(starts: Integers, lengths: Integers) -> Integers:
    """The numbers from each start on, as many as its length says, run after run."""
    total = int(lengths.sum())
    if not total:
        return np.zeros(0, dtype=np.int64)
    ends = np.cumsum(lengths)
    shifts = np.repeat(starts - (ends - lengths), lengths)
    return np.asarray(shifts + np.arange(total, dtype=np.int64))


def run_begins(values: NDArray[Any]) -> Integers:
    """The first place, and the places of values that differ from the one before."""
    begins = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def gathered(values: NDArray[_T], starts: Integers, lengths: Integers) -> NDArray[_T]:
    """Runs of an array, concatenated."""
    return values[run_numbers(starts, lengths)]


@final
class SortedTerms(Sequence[bytes]):
    """Byte strings in ascending order, each once. Immutable."""

    __slots__ = ("_bytes", "_heads", "_marks", "blob", "starts")

    def __init__(self, blob: NDArray[np.uint8], starts: Integers) -> None:
        """`starts` has the beginning of each string, and at last the end of the last one."""
        self.blob = blob
        self.starts = starts
        self._bytes = memoryview(blob.data) if len(blob) else memoryview(b"")
        self._heads: tuple[int, NDArray[np.bytes_]] | None = None
        self._marks: list[bytes] | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, at: int) -> bytes: ...
    @overload
    def __getitem__(self, at: slice) -> "list[bytes]": ...
    def __getitem__(self, at: int | slice) -> "bytes | list[bytes]":
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        if at < 0 or at >= len(self.starts) - 1:
            raise IndexError(at)
        return bytes(self._bytes[self.starts[at] : self.starts[at + 1]])

    def __iter__(self) -> Iterator[bytes]:
        """The strings in order."""
        starts = self.starts.tolist()
        content = self._bytes
        return (bytes(content[a:b]) for a, b in pairwise(starts))

    def listed(self) -> list[bytes]:
        """The strings in order; quicker than one by one, with a copy of their bytes."""
        content = self.blob.tobytes()
        return [content[a:b] for a, b in pairwise(self.starts.tolist())]

    def place(self, term: bytes, low: int = 0, high: int | None = None) -> int:
        """Insertion point of `term`, searched between `low` and `high`."""
        if high is None:
            if self._marks is None:
                self._marks = [self[at] for at in range(0, len(self), _MARKED)]
            mark = bisect_left(self._marks, term) * _MARKED
            low, high = max(low, mark - _MARKED), max(low, min(mark, len(self)))
        return bisect_left(self, term, low, high)

    def find(self, term: bytes) -> int | None:
        """The number of a string; None where it is not there."""
        at = self.place(term)
        return at if at < len(self) and self[at] == term else None

    def beginning_with(self, prefix: bytes) -> tuple[int, int]:
        """The numbers of the strings that begin with `prefix`: the first, and one past the last."""
        first = self.place(prefix)
        beyond = prefix.rstrip(b"\xff")
        if not beyond:
            return first, len(self)
        return first, self.place(beyond[:-1] + bytes((beyond[-1] + 1,)), first)

    def containing(self, part: bytes) -> Integers:
        """The numbers of the strings that contain a part, ascending. Cost: all bytes, in C."""
        found = [match.start() for match in re.finditer(re.escape(part), self._bytes)]
        at = np.array(found, dtype=np.int64)
        numbers = np.searchsorted(self.starts, at, side="right") - 1
        inside = at + len(part) <= self.starts[numbers + 1]
        hidden = self._hidden(part, numbers[~inside])
        return np.unique(np.concatenate((numbers[inside], hidden)))

    def _hidden(self, part: bytes, across: Integers) -> Integers:
        """The strings with `part` behind matches that cross a boundary.

        `finditer` skips overlapping matches, so these strings are searched again.
        """
        again = [
            number
            for each in np.unique(across).tolist()
            for number in range(each + 1, min(each + 1 + len(part), len(self)))
            if part in self[number]
        ]
        return np.array(again, dtype=np.int64)

    def search(self, others: "SortedTerms") -> tuple[Integers, Booleans]:
        """For each of `others`: the number of smaller strings here, and whether it is here."""
        if not len(self) or not len(others):
            return np.zeros(len(others), dtype=np.int64), np.zeros(len(others), dtype=np.bool_)
        if len(others) < _FEW_ASKED:
            return self._search_each(others, range(len(others)))
        ends = (self[0], self[len(self) - 1], others[0], others[len(others) - 1])
        common = len(_common(ends))
        mine, asked = self._heads_at(common), others._heads_at(common)  # noqa: SLF001  # its own kind
        low = np.searchsorted(mine, asked, side="left")
        equal = np.zeros(len(others), dtype=np.bool_)
        alike = np.flatnonzero(mine[np.minimum(low, len(mine) - 1)] == asked)
        if not len(alike):
            return low, equal
        high = np.searchsorted(mine, asked[alike], side="right")
        first = low[alike]
        own = self.starts[first + 1] - self.starts[first]
        theirs = others.starts[alike + 1] - others.starts[alike]
        short = (high == first + 1) & (np.maximum(own, theirs) <= common + _HEAD_BYTES)
        known = alike[short]  # these strings end within their heads, so that their lengths decide
        equal[known] = own[short] == theirs[short]
        low[known] += own[short] < theirs[short]
        for number, end in zip(alike[~short].tolist(), high[~short].tolist(), strict=True):
            term, at = others[number], int(low[number])
            if end == at + 1:  # only one string has this head
                here = self[at]
                equal[number] = here == term
                low[number] += here < term
                continue
            at = self.place(term, at, end)
            low[number] = at
            equal[number] = at < len(self) and self[at] == term
        return low, equal

    def _search_each(
        self, others: "SortedTerms", numbers: Iterable[int]
    ) -> tuple[Integers, Booleans]:
        places = [self.place(others[number]) for number in numbers]
        equal = [at < len(self) and self[at] == others[number] for number, at in enumerate(places)]
        return np.array(places, dtype=np.int64), np.array(equal, dtype=np.bool_)

    def _heads_at(self, common: int) -> NDArray[np.bytes_]:
        """Sixteen bytes of each string after `common` bytes, padded with zeros."""
        known = self._heads
        if known is not None and known[0] == common:
            return known[1]
        padded = np.concatenate((self.blob, np.zeros(common + _HEAD_BYTES, dtype=np.uint8)))
        begins = np.asarray(self.starts[:-1], dtype=np.int64) + common
        heads = sliding_window_view(padded, _HEAD_BYTES)[begins]
        lengths = np.asarray(self.starts[1:], dtype=np.int64) - begins
        if (lengths < _HEAD_BYTES).any():
            heads[np.arange(_HEAD_BYTES) >= lengths[:, np.newaxis]] = 0
        found = heads.view(f"S{_HEAD_BYTES}")[:, 0]
        self._heads = common, found
        return found


def _common(ends: Sequence[bytes]) -> bytes:
    """The common prefix of some strings."""
    first, last = min(ends), max(ends)
    length = 0
    for one, other in zip(first, last, strict=False):
        if one != other:
            break
        length += 1
    return first[:length]


def packed(terms: Sequence[bytes]) -> SortedTerms:
    """Sorted, distinct strings as `SortedTerms`."""
    starts = np.fromiter(accumulate(map(len, terms), initial=0), np.int64, len(terms) + 1)
    return SortedTerms(np.frombuffer(b"".join(terms), dtype=np.uint8), starts)


def picked(terms: SortedTerms, numbers: Integers) -> SortedTerms:
    """The terms at these ascending positions."""
    starts = np.asarray(terms.starts, dtype=np.int64)
    lengths = starts[numbers + 1] - starts[numbers]
    ends = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
    return SortedTerms(gathered(terms.blob, starts[numbers], lengths), ends)


def united(parts: Sequence[SortedTerms]) -> tuple[SortedTerms, list[Integers]]:
    """The distinct strings of all parts, and for each part the new numbers of its strings."""
    if len(parts) == 1:
        return parts[0], [np.arange(len(parts[0]), dtype=np.int64)]
    if sum(map(len, parts)) <= _FEW:
        lists = [part.listed() for part in parts]
        every = sorted(set(chain.from_iterable(lists)))
        numbers = dict(zip(every, range(len(every)), strict=True)).__getitem__
        return packed(every), [
            np.fromiter(map(numbers, each), np.int64, len(each)) for each in lists
        ]
    whole = parts[0]
    maps = [np.arange(len(whole), dtype=np.int64)]
    for part in parts[1:]:
        whole, moved, added = _united_pair(whole, part)
        maps = [moved[each] for each in maps]
        maps.append(added)
    return whole, maps


def _united_pair(one: SortedTerms, other: SortedTerms) -> tuple[SortedTerms, Integers, Integers]:
    places, equal = one.search(other)
    new = ~equal
    before = places[new]
    moved = np.arange(len(one), dtype=np.int64)
    moved += np.searchsorted(before, moved, side="right")
    added = np.empty(len(other), dtype=np.int64)
    added[new] = before + np.arange(len(before), dtype=np.int64)
    added[equal] = moved[places[equal]]
    total = len(one) + len(before)
    starts = np.empty(total, dtype=np.int64)
    lengths = np.empty(total, dtype=np.int64)
    offset = len(one.blob)
    starts[moved], lengths[moved] = one.starts[:-1], np.diff(one.starts)
    starts[added[new]] = other.starts[:-1][new] + offset
    lengths[added[new]] = np.diff(other.starts)[new]
    blob = gathered(np.concatenate((one.blob, other.blob)), starts, lengths)
    ends = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
    return SortedTerms(blob, ends), moved, added
