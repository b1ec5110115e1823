"""Streams in the walk of a store (`engine/check.py`).

Verified: each record is of a shard that the table's stream has, or of a stream that was switched
off; its position lies behind the last one of the shard and not behind the one that the head says;
it says the same position itself and stands behind what was trimmed; the checksums of its cells and
rows are right.
"""

from collections.abc import Iterator

from widerow.engine.catalog.catalog import Catalog, Tables
from widerow.engine.check_part import CheckPart
from widerow.engine.streams.log import (
    EMPTY_HEAD,
    LogPosition,
    decode_head,
    decode_record,
    position_of,
    shard_prefix,
)
from widerow.engine.streams.plain import placed
from widerow.engine.tablestore_model import TABLESTORE_MODEL
from widerow.errors import StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import change_prefix
from widerow.model.schema import Table
from widerow.rows.reading import decode_plain_change, decode_plain_record
from widerow.storage.interface import Snapshot

__all__ = ["stream_parts"]


def stream_parts(catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:  # noqa: ARG001  # as every model's
    """What a walk visits of each table: everything in the space of its streams."""
    gone = {prefix for left in catalog.leftovers() for prefix in left.prefixes}
    for table in Tables(catalog, TABLESTORE_MODEL).all():
        prefix = change_prefix(table.id)
        walk = _LogWalk(table, gone)
        yield CheckPart(table.qualified, prefix, after_prefix(prefix), walk.visit, walk.close)


class _LogWalk:
    """The streams of one table being walked, shard by shard."""

    def __init__(self, table: Table, gone: set[bytes]) -> None:
        self._gone = tuple(each for each in gone if each.startswith(change_prefix(table.id)))
        stream = table.stream
        self._known: set[bytes] = set()
        if stream is not None:
            self._known = {
                shard_prefix(table.id, stream.number, each.number) for each in stream.shards
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
        found = decode_record(record)
        decode_plain_change(found.record)
        if found.origin:
            decode_plain_record(found.origin)
        if placed(found.record, position) != found.record:
            raise StoreDamaged("a change record says another position than its key")
        if not self._last < position <= self._head.last:
            raise StoreDamaged(f"a change record at {position}, the head says {self._head.last}")
        if position < self._head.trimmed:
            raise StoreDamaged("a change record that was trimmed")
        self._last = position
