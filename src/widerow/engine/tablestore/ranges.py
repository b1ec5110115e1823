"""GetRange: one page of a range, in either direction (semantics §5.6).

A page ends at the request's limit of rows returned, or at 5000 rows or 4 MB scanned. Whether the
range goes on is found out by looking one row ahead, so a page that ends exactly at the range's end
carries no next key.
"""

from collections.abc import Sequence
from typing import NamedTuple

from widerow.engine.budget import Budget
from widerow.engine.capacity import units
from widerow.engine.tablestore.reads import is_copied, read_record
from widerow.engine.tablestore.select import ReadRule
from widerow.engine.tablestore.stored import key_section_of
from widerow.errors import InvalidRequest
from widerow.keys.decode import decode_key
from widerow.keys.encode import encode_bound, model_order
from widerow.keys.layout import row_prefix
from widerow.limits import RANGE_BYTES_MAX, RANGE_ROWS_MAX
from widerow.model.tablestore.answers import RangePage
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.selection import RangeDirection, Resume
from widerow.model.values import KeyInput, KeyValue
from widerow.rows.record import HEADER_BYTES, Header, RecordKind, header_of
from widerow.safepoint import safepoint
from widerow.storage.interface import Reader

__all__ = ["RangeBounds", "range_bounds", "read_range"]


class RangeBounds(NamedTuple):
    """A checked range among the encoded keys: start ≤ key < stop, read in `direction`."""

    start: bytes
    stop: bytes
    direction: RangeDirection


def range_bounds(
    table: Table,
    start: tuple[KeyInput, ...],
    end: tuple[KeyInput, ...],
    direction: RangeDirection,
) -> RangeBounds:
    """Where the rows from `start` (inclusive) to `end` (exclusive) lie.

    Raises `InvalidRequest` when the bounds are equal or in the wrong order for the direction.
    """
    prefix = row_prefix(table.id)
    first, last = model_order(start), model_order(end)
    if direction is RangeDirection.FORWARD:
        if first >= last:
            raise InvalidRequest(TablestoreRule.RANGE_FORWARD_ORDER)
        low, high = start, end
    else:
        if first <= last:
            raise InvalidRequest(TablestoreRule.RANGE_BACKWARD_ORDER)
        low, high = end, start
    after = direction is RangeDirection.BACKWARD
    return RangeBounds(
        encode_bound(prefix, low, after=after), encode_bound(prefix, high, after=after), direction
    )


def read_range(
    source: tuple[Reader, Budget | None],
    table: Table,
    bounds: RangeBounds,
    rule: ReadRule,
    limit: int | None,
    resume: Resume | None = None,
) -> RangePage:
    """One page of rows. Cost: the rows scanned, at most 5000 or 4 MB of them.

    `resume`: where the page before stopped inside the first row. Raises `TooLong` where it takes
    more than the budget in `source`, if there is one.
    """
    reader, budget = source
    page = _Page(source, table, rule, resume)
    reverse = bounds.direction is RangeDirection.BACKWARD
    next_key: tuple[bytes, int] | None = None
    for key, record in reader.scan(bounds.start, bounds.stop, reverse=reverse):
        safepoint()
        header = header_of(record)
        if budget is not None:
            budget.take(len(record), 1)
        if header.kind == RecordKind.SEGMENT:
            continue  # a segment is read with its row
        if page.is_full(limit, header.key_size + header.data_size):
            next_key = _key_of(record, header)
            break
        page.add(key, record, header)
        if page.resume is not None:
            next_key = _key_of(record, header)
            break
    size = max(1, units(page.data_size))
    return RangePage(page.parts, next_key, size, page.resume, page.data_size)


def _key_of(record: bytes, header: Header) -> tuple[bytes, int]:
    section = key_section_of(record, header)
    return section.encoded, section.crc


class _Page:
    """A page that is being read.

    `resume`: where the last row goes on, if it did not fit; the page ends there.
    """

    __slots__ = (
        "data_size",
        "parts",
        "resume",
        "rule",
        "scanned",
        "scanned_bytes",
        "source",
        "start",
        "table",
    )

    def __init__(
        self,
        source: tuple[Reader, Budget | None],
        table: Table,
        rule: ReadRule,
        start: Resume | None,
    ) -> None:
        self.source, self.table, self.rule = source, table, rule
        self.start = start
        self.resume: Resume | None = None
        self.parts: list[bytes] = []
        self.scanned = self.scanned_bytes = self.data_size = 0

    def is_full(self, limit: int | None, size: int) -> bool:
        """Whether the next row, of `size` bytes, belongs to the next page."""
        scanned = self.scanned
        return (
            len(self.parts) == limit
            or scanned >= RANGE_ROWS_MAX
            or (scanned > 0 and self.scanned_bytes + size > RANGE_BYTES_MAX)
        )

    def add(self, key: bytes, record: bytes, header: Header) -> None:
        """Read one row into the page."""
        size = header.key_size + header.data_size
        self.scanned += 1
        self.scanned_bytes += size
        start, self.start = self.start, None
        if start is None and is_copied(header, self.rule):
            self.data_size += size
            self.parts.append(record[HEADER_BYTES:])
            return
        budget = self.source[1]
        if budget is not None:
            budget.take(0, header.cell_count)  # a copied row decodes no cell
        read = read_record(self.source, (key, record), self._values(key), self.rule, start)
        if read is None:
            return
        self.data_size += read.size
        self.resume = read.resume
        if read.row:
            self.parts.append(read.row)

    def _values(self, key: bytes) -> Sequence[KeyValue]:
        types = [column.type for column in self.table.key_columns]
        return decode_key(key, len(row_prefix(self.table.id)), types)[0]
