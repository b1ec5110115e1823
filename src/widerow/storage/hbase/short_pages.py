"""Pages of short ranges of one region, which one scan reads.

A group of writes asks for a range of each of its shards, such as the intents that wait there
(`engine/intents.py`): a hundred ranges, most of them empty. A scan for each would be as many calls,
and a server takes no more than some hundred at a time.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from widerow.storage.hbase.encoded import FoundCell
from widerow.storage.hbase.requests import RangeRead
from widerow.storage.hbase.rows import RowSpan, row_of

__all__ = ["SHORT_ROWS_MAX", "SPANS_MIN", "cells_of_spans", "end_of_page", "rows_expected"]

SPANS_MIN: Final = 4  # of one scan; fewer are asked for by themselves, without a chance of a rest
SHORT_ROWS_MAX: Final = 16  # that are asked for of a range
_ROWS_OF_EACH: Final = 2  # in the mean; where there are more, the last ranges are read again
_ROWS_MORE: Final = 16


def rows_expected(spans: int) -> int:
    """How many rows one scan of so many spans reads at most."""
    return _ROWS_OF_EACH * spans + _ROWS_MORE


def cells_of_spans(
    cells: Sequence[FoundCell], spans: Sequence[RowSpan], *, more: bool
) -> list[list[FoundCell] | None]:
    """The cells of each span; None: it was not read to its end.

    `cells` are in order. `more`: whether the scan has ended before all of them were read.
    """
    rows = [row_of(key)[0] for key, _, _ in cells]
    reached = rows[-1] if more and rows else b""
    found: list[list[FoundCell] | None] = []
    for span in spans:
        whole = not more or span.stop <= reached
        first, last = bisect_left(rows, span.start), bisect_left(rows, span.stop)
        found.append(list(cells[first:last]) if whole else None)
    return found


def end_of_page(cells: list[FoundCell], asked: RangeRead) -> tuple[list[FoundCell], bytes | None]:
    """The page of a range with exactly these cells, and `Page.following`."""
    if asked.reverse:
        cells.reverse()
    if len(cells) <= asked.rows_max:
        return cells, None
    cells = cells[: asked.rows_max]
    key = cells[-1][0]
    return cells, key if asked.reverse else key + b"\x00"
