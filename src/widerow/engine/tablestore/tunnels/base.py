"""Base data: a table's rows as they are now, in pages (change §C2.3).

Channels and pages: `engine/tunnels/pages.py`. Every row comes as a put of all versions that are
kept. A row too large for one answer goes on in the next one, as updates of the same row.
"""

from collections.abc import Sequence
from typing import Final

from widerow.engine.budget import Budget
from widerow.engine.capacity import units
from widerow.engine.tablestore.reads import read_record
from widerow.engine.tablestore.select import ReadRule
from widerow.engine.tunnels.pages import TunnelPage, TunnelRecord, check_base
from widerow.engine.tunnels.state import Channel, ChannelPosition
from widerow.errors import InvalidRequest, StoreDamaged
from widerow.keys.decode import decode_key
from widerow.keys.encode import after_prefix
from widerow.keys.layout import row_prefix
from widerow.limits import (
    NAME_BYTES_MAX,
    RANGE_ROWS_MAX,
    TUNNEL_PAGE_BYTES_MAX,
    TUNNEL_PAGE_RECORDS_MAX,
)
from widerow.model.tablestore.row import Modification
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.selection import Resume
from widerow.model.tunnels import TunnelRule
from widerow.model.values import KeyValue
from widerow.rows.cells import PLAIN_HEADER
from widerow.rows.record import RecordKind, header_of, record_bytes
from widerow.safepoint import safepoint
from widerow.storage.interface import Reader

__all__ = ["read_base"]

_RESUME_MARK: Final = b"\x00\x02"  # no encoded key column begins with it or ends in it
_SEEN_BYTES: Final = 4


def read_base(
    source: tuple[Reader, Budget | None],
    table: Table,
    channel: Channel,
    position: ChannelPosition,
    rule: ReadRule,
) -> TunnelPage:
    """The page of a channel that begins at a position.

    Ends at 1000 records or 1 MB, with at least one record, or 5000 rows that have expired. Raises
    `InvalidRequest(TUNNEL_TOKEN)`, and `TooLong` where it takes more than the budget in `source`.
    """
    check_base(channel, position)
    page = _BasePage(source, table, rule)
    key, resume = _place_of(table, position.key)
    prefix = row_prefix(table.id)
    stop = prefix + channel.stop if channel.stop else after_prefix(prefix)
    for found, record in source[0].scan(prefix + key, stop):
        safepoint()
        if source[1] is not None:
            source[1].take(len(record), 1)
        if header_of(record).kind == RecordKind.SEGMENT:
            continue  # a segment is read with its row
        if page.is_full(record_bytes(found, record)):
            return page.ended(position, found[len(prefix) :])
        started = resume if found == prefix + key else None
        rest = page.add(found, record, started)
        if rest is not None:
            return page.ended(position, found[len(prefix) :] + _encode_resume(rest))
    return page.finished(position)


class _BasePage:
    """A page of rows that is being read."""

    def __init__(self, source: tuple[Reader, Budget | None], table: Table, rule: ReadRule) -> None:
        self._source = source
        self._types = [column.type for column in table.key_columns]
        self._prefix_bytes = len(row_prefix(table.id))
        self._rule = rule
        self._scanned = self._bytes = self._size = 0
        self._records: list[TunnelRecord] = []

    def is_full(self, size: int) -> bool:
        """Whether a record of `size` bytes belongs to the next page."""
        count = len(self._records)
        return (
            count >= TUNNEL_PAGE_RECORDS_MAX
            or self._scanned >= RANGE_ROWS_MAX
            or (count > 0 and self._bytes + size > TUNNEL_PAGE_BYTES_MAX)
        )

    def add(self, key: bytes, record: bytes, resume: Resume | None) -> Resume | None:
        """Read one row into the page; where the row goes on in the next page, if it does."""
        self._scanned += 1
        read = read_record(self._source, (key, record), self._values(key), self._rule, resume)
        if read is None:
            return None
        self._size += read.size
        if read.row:
            kind = Modification.PUT if resume is None else Modification.UPDATE
            self._records.append(TunnelRecord(kind.value, PLAIN_HEADER + read.row))
            self._bytes += len(read.row)
        return read.resume

    def _values(self, key: bytes) -> Sequence[KeyValue]:
        return decode_key(key, self._prefix_bytes, self._types)[0]

    def ended(self, position: ChannelPosition, key: bytes) -> TunnelPage:
        """The page, with another one after it."""
        count = position.count + len(self._records)
        following = ChannelPosition(key=key, count=count)
        return TunnelPage(self._records, following, more=True, read_units=self._units())

    def finished(self, position: ChannelPosition) -> TunnelPage:
        """The last page of its channel."""
        count = position.count + len(self._records)
        following = ChannelPosition(count=count, finished=True)
        return TunnelPage(self._records, following, more=False, read_units=self._units())

    def _units(self) -> int:
        return max(1, units(self._size))


# --- inside a row ----------------------------------------------------------------------------


def _encode_resume(resume: Resume) -> bytes:
    return _RESUME_MARK + resume.seen.to_bytes(_SEEN_BYTES, "big") + resume.column.encode()


def _place_of(table: Table, key: bytes) -> tuple[bytes, Resume | None]:
    """The key in a position, and the place inside that row.

    A key with fewer columns than the table's is a bound between rows.
    """
    types = [column.type for column in table.key_columns]
    try:
        _, end = decode_key(key, 0, types)
    except StoreDamaged:
        return key, None
    rest = key[end:]
    if not rest:
        return key, None
    name = rest[len(_RESUME_MARK) + _SEEN_BYTES :]
    if not rest.startswith(_RESUME_MARK) or not 1 <= len(name) <= NAME_BYTES_MAX:
        raise InvalidRequest(TunnelRule.TUNNEL_TOKEN)
    seen = int.from_bytes(rest[len(_RESUME_MARK) :][:_SEEN_BYTES], "big")
    try:
        return key[:end], Resume(name.decode(), seen)
    except UnicodeDecodeError as error:
        raise InvalidRequest(TunnelRule.TUNNEL_TOKEN) from error
