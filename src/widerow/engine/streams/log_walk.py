"""The logs of a table in the walk of a store (`engine/check.py`).

Verified: each record is of a shard of one of the table's logs, or of a log that was switched off;
positions ascend in a shard, up to the last one that the head says; none is below the trimmed part.
"""

from collections.abc import Callable, Iterator

from widerow.engine.catalog.catalog import Catalog
from widerow.engine.check_part import CheckPart
from widerow.engine.streams.log import (
    EMPTY_HEAD,
    LogPosition,
    decode_head,
    position_of,
    shard_prefix,
)
from widerow.engine.streams.logged import LoggedTable
from widerow.errors import StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import change_prefix
from widerow.model.streams import Stream

__all__ = ["CheckedRecord", "log_part"]

CheckedRecord = Callable[[Stream, bytes, LogPosition], int]
"""Checks a record of a log at a position, and answers how many positions it takes.

Raises `StoreDamaged`.
"""


def log_part(catalog: Catalog, table: LoggedTable, check: CheckedRecord) -> CheckPart:
    """What a walk visits of a table: everything in the space of its logs."""
    gone = {prefix for left in catalog.leftovers() for prefix in left.prefixes}
    prefix = change_prefix(table.id)
    walk = _LogWalk(table, gone, check)
    return CheckPart(table.qualified, prefix, after_prefix(prefix), walk.visit, walk.close)


class _LogWalk:
    """The walk through the logs of one table, shard by shard."""

    def __init__(self, table: LoggedTable, gone: set[bytes], check: CheckedRecord) -> None:
        self._gone = tuple(each for each in gone if each.startswith(change_prefix(table.id)))
        self._check_record = check
        self._known = dict(_shards_of(table))
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
        count = self._check_record(self._known[self._prefix], record, position)
        first = position._replace(row_index=position.row_index - count + 1)
        if not self._last < first <= position <= self._head.last or first.row_index < 0:
            raise StoreDamaged(f"a change record at {position}, the head says {self._head.last}")
        if first < self._head.trimmed:
            raise StoreDamaged("a change record that was trimmed")
        self._last = position


def _shards_of(table: LoggedTable) -> Iterator[tuple[bytes, Stream]]:
    """The shards of the table's logs, by their prefixes."""
    for log in table.logs:
        for each in log.shards:
            yield shard_prefix(table.id, log.number, each.number), log
