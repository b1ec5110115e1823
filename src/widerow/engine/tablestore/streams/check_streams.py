"""Streams and journals in the walk of a store (`engine/check.py`).

Verified: each record is of a shard of one of the table's logs, or of a log that was switched off;
positions ascend in a shard, up to the last one that the head says; none is below the trimmed part.
A stream's record repeats its position, and the checksums of its cells and rows are right; a
journal's record is the key of a row.
"""

from collections.abc import Iterator, Sequence

from widerow.engine.catalog.catalog import Catalog, Tables
from widerow.engine.check_part import CheckPart
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.engine.tablestore.streams.log import (
    EMPTY_HEAD,
    LogPosition,
    decode_head,
    decode_record,
    position_of,
    shard_prefix,
)
from widerow.engine.tablestore.streams.plain import placed
from widerow.errors import StoreDamaged
from widerow.keys.decode import decode_key
from widerow.keys.encode import after_prefix
from widerow.keys.layout import change_prefix
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyType
from widerow.rows.plain_values import decode_plain_change, decode_plain_record
from widerow.storage.interface import Snapshot

__all__ = ["check_row_named", "stream_parts"]


def stream_parts(catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:  # noqa: ARG001  # as every model's
    """What a walk visits of each table: everything in the space of its streams."""
    gone = {prefix for left in catalog.leftovers() for prefix in left.prefixes}
    for table in Tables(catalog, TABLESTORE_MODEL).all():
        prefix = change_prefix(table.id)
        walk = _LogWalk(table, gone)
        yield CheckPart(table.qualified, prefix, after_prefix(prefix), walk.visit, walk.close)


class _LogWalk:
    """The walk through the logs of one table, shard by shard."""

    def __init__(self, table: Table, gone: set[bytes]) -> None:
        self._gone = tuple(each for each in gone if each.startswith(change_prefix(table.id)))
        self._key_types = tuple([column.type for column in table.key_columns])
        self._known = {  # shards by prefix; True: of the journal
            shard_prefix(table.id, log.number, each.number): log is table.journal
            for log in table.logs
            for each in log.shards
        }
        self._prefix = b""
        self._head = EMPTY_HEAD
        self._last = LogPosition(0, -1)

    def visit(self, key: bytes, record: bytes) -> None:
        """Check a head or a record. Raises `StoreDamaged`."""
        if key.startswith(self._gone):
            return
        if self._prefix and key.startswith(self._prefix):
            self._check(key, record)
            return
        self.close()
        self._prefix = b""
        if key not in self._known:
            raise StoreDamaged("a change record of a shard without a head, or of no stream")
        self._prefix, self._head, self._last = key, decode_head(record), LogPosition(0, -1)

    def close(self) -> None:
        """Check that a shard's last record is the one that its head says. Raises `StoreDamaged`."""
        last, head = self._last, self._head
        if self._prefix and last.row_index >= 0 and last != head.last:
            raise StoreDamaged(f"the last change record is {last}, the head says {head.last}")

    def _check(self, key: bytes, record: bytes) -> None:
        position = position_of(key)
        if self._known[self._prefix]:
            check_row_named(record, self._key_types)
        else:
            _check_record(record, position)
        if not self._last < position <= self._head.last:
            raise StoreDamaged(f"a change record at {position}, the head says {self._head.last}")
        if position < self._head.trimmed:
            raise StoreDamaged("a change record that was trimmed")
        self._last = position


def _check_record(data: bytes, position: LogPosition) -> None:
    found = decode_record(data)
    decode_plain_change(found.record)
    if found.origin:
        decode_plain_record(found.origin)
    if placed(found.record, position) != found.record:
        raise StoreDamaged("a change record says another position than its key")


def check_row_named(data: bytes, kinds: Sequence[KeyType]) -> None:
    """A record of a journal is a whole encoded primary key. Raises `StoreDamaged`."""
    _, end = decode_key(data, 0, kinds)
    if end != len(data):
        raise StoreDamaged("a record of a journal is not a primary key")
