"""Compares the documents of an index with those of its table's rows (search §11.5, point 2).

Documents of an index and documents made anew of rows are compared as arrays: equal documents have
equal arrays in a segment, however the segment was made.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widerow.safepoint import safepoint
from widerow.search.fields import SearchFields
from widerow.search.index import DocumentIndex
from widerow.search.segments import (
    Entry,
    IndexSegment,
    SegmentView,
    merged_segment,
    segment_of,
)

__all__ = ["same_documents", "stale_keys"]


def same_documents(one: IndexSegment, other: IndexSegment) -> bool:
    """Whether two segments hold the same documents of the same rows."""
    if one.counts != other.counts or set(one.arrays) != set(other.arrays):
        return False
    return all(_same(mine, other.arrays[name]) for name, mine in one.arrays.items())


def _same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether arrays are equal. Empty arrays are, even if their rows have different widths."""
    return (not one.size and not other.size) or np.array_equal(one, other)


def stale_keys(
    fields: SearchFields, index: DocumentIndex, entries: Sequence[Entry]
) -> Iterator[bytes]:
    """The keys of the entries for which the index holds a different document, ascending.

    `entries` ascend by their keys, and the index has all of them. Cost: a merge of the segments
    that hold them, and a few merges of the entries for each difference.
    """
    if entries:
        held = index.excerpt([each.key for each in entries])
        yield from _stale(fields, held, segment_of(fields, entries))


def _stale(fields: SearchFields, held: IndexSegment, meant: IndexSegment) -> Iterator[bytes]:
    """The keys of different documents of two segments of equal rows, by halving the segments."""
    if same_documents(held, meant):
        return
    if meant.count == 1:
        yield meant.keys[0]
        return
    middle = meant.count // 2
    for first, beyond in ((0, middle), (middle, meant.count)):
        one, other = (_part(fields, each, first, beyond) for each in (held, meant))
        yield from _stale(fields, one, other)


def _part(fields: SearchFields, whole: IndexSegment, first: int, beyond: int) -> IndexSegment:
    live = np.zeros(whole.count, dtype=np.bool_)
    live[first:beyond] = True
    return merged_segment(fields, [SegmentView(whole, live)], safepoint)[0]
