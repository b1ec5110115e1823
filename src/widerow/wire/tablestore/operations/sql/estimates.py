"""How many rows a plan will read, for EXPLAIN: counted where they are few, else from statistics.

The ranges of a scan are read until some hundred rows are found. Where they end before, the number
is exact. Otherwise it is that of the statistics (`engine/partitions/sizes.py`) for the pieces of
the table that the ranges touch: at least what is read, as far as writes have been counted. A LIMIT
that ends the reading is taken into account where nothing but the list stands between it and the
rows.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from widerow.engine.scan import COLUMN_PAGE_ROWS, RowAccess
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.keys.encode import after_prefix, encode_key
from widerow.model.tablestore.schema import Table
from widerow.query.plan import Join, Limit, Operator, Project, Rows, Scan
from widerow.wire.tablestore.operations.sql.rows import first_page_rows
from widerow.wire.tablestore.operations.sql.tables import TableScan

__all__ = ["RowEstimate", "estimates_of"]

_COUNTED_ROWS: Final = 256
"""Rows that are looked for: a millisecond at most, unless rows are large."""


class RowEstimate(NamedTuple):
    """Rows that a scan reads, and their bytes; `exact`: as they are now."""

    rows: int
    size: int
    exact: bool


def estimates_of(engine: TablestoreEngine, plan: Operator) -> dict[int, RowEstimate]:
    """What each scan of a table or a secondary index will read, by the identity of its source.

    Raises as the scans do.
    """
    found = {}
    for scan, most in _scans(plan, None):
        if isinstance(scan.source, TableScan):
            estimate = _estimate(engine, scan.source)
            found[id(scan.source)] = estimate if most is None else _ended(estimate, most)
    return found


def _scans(plan: Operator, most: int | None) -> Iterator[tuple[Scan, int | None]]:
    """The scans below, each with how many of its rows are wanted; None: all."""
    match plan:
        case Scan():
            yield plan, most
        case Rows():
            pass
        case Join(left, right):
            for side in (left, right):
                yield from _scans(side, None)
        case Limit(below, count, offset):
            own = None if count is None else count + offset
            both = [each for each in (own, most) if each is not None]
            yield from _scans(below, min(both, default=None))
        case Project(below):
            yield from _scans(below, most)
        case _:
            yield from _scans(plan.below, None)


def _ended(estimate: RowEstimate, most: int) -> RowEstimate:
    """The rows that are read until so many are found: whole pages, which grow."""
    rows, page = 0, first_page_rows(most)
    while rows < most and rows < estimate.rows:
        rows += page
        page = min(COLUMN_PAGE_ROWS, page * 4)
    if rows >= estimate.rows:
        return estimate
    return RowEstimate(rows, estimate.size * rows // estimate.rows, exact=False)


def _estimate(engine: TablestoreEngine, source: TableScan) -> RowEstimate:
    rows = size = 0
    for access in source.ranges.accesses:
        left = _COUNTED_ROWS - rows
        pages = engine.scan_columns(source.table, access, (), left)
        page = next(pages, None)
        if page is None:
            continue
        rows += page.rows
        size += page.size
        if page.rows >= left or next(pages, None) is not None:
            return _counted(engine, source, RowEstimate(rows, size, exact=False))
    return RowEstimate(rows, size, exact=True)


def _counted(engine: TablestoreEngine, source: TableScan, least: RowEstimate) -> RowEstimate:
    """What statistics have for the ranges of a scan, and at least what was found."""
    scanned = source.scanned
    divided = source.table if scanned.local_index else scanned
    pieces = list(engine.core.partitions.load_of(divided).sizes.pieces)  # others change it
    stops = [*[piece.key for piece in pieces[1:]], None]
    within = [_partition_keys(access, scanned) for access in source.ranges.accesses]
    touched = [
        piece
        for piece, stop in zip(pieces, stops, strict=True)
        if any(
            (stop is None or stop > low) and (high is None or piece.key < high)
            for low, high in within
        )
    ]
    rows = max(least.rows, sum(piece.rows for piece in touched))
    size = max(least.size, sum(piece.size for piece in touched))
    return RowEstimate(rows, size, exact=False)


def _partition_keys(access: RowAccess, scanned: Table) -> tuple[bytes, bytes | None]:
    """Between which partition keys a range lies; None: up to the end.

    The entries of a local index lie beside the rows of the table, whichever their own key is.
    """
    if scanned.local_index:
        return b"", None
    low, high = access.low.values[:1], access.high.values[:1]
    return encode_key(b"", low), after_prefix(encode_key(b"", high)) if high else None
