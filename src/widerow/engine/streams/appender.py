"""Appends records to logs, in the transactions of their changes (change §C1.8).

A record's time is when its request came, but not before the last record of its shard, and later
than every record of the shard's parents. So times never decrease in a shard, and the changes of one
request share theirs, counted by the row index. A record of several changes takes as many positions
and stands under the last of them.

Where the row's transaction does not reach the log, the record is left beside the row as an intent,
in the same transaction, and somebody moves it from there (`mover.py`).
"""

from collections.abc import Callable
from typing import final

from widerow.engine.intents import IntentQueue
from widerow.engine.streams.intents import leave_change_intent
from widerow.engine.streams.log import (
    LOG_START,
    LogHead,
    LogPosition,
    encode_head,
    following_position,
    new_head,
    read_head,
    record_key,
    shard_prefix,
)
from widerow.engine.streams.log_shards import OpenShards
from widerow.keys.layout import ROW_PREFIX_BYTES, SPACE_INTENTS, change_prefix
from widerow.model.streams import LogShard, Stream
from widerow.storage.interface import Reader, Transaction

__all__ = ["LogAppender", "floor_of"]


@final
class LogAppender:
    """Appends to the logs of one model's tables, or leaves intents."""

    __slots__ = ("_opened", "_queue")

    def __init__(self, queue: IntentQueue | None) -> None:
        """`queue`: takes records as intents; None: they are appended to the log."""
        self._queue = queue
        self._opened: dict[int, tuple[Stream, OpenShards]] = {}

    def shards(self, table_id: int) -> tuple[bytes, ...]:
        """The prefix of the table's logs; empty where records are left as intents."""
        return () if self._queue is not None else (change_prefix(table_id),)

    @property
    def spaces(self) -> bytes:
        """The space of intents, where records are left as intents."""
        return b"" if self._queue is None else SPACE_INTENTS

    @property
    def reached(self) -> bool:
        """Whether the transactions of rows reach the logs: no intent is left."""
        return self._queue is None

    def shard_number(self, log: Stream, row_shard: bytes) -> int:
        """The number of the log's shard for changes in a shard of rows, whose prefix is given."""
        return self._open_shards(log).at(row_shard[ROW_PREFIX_BYTES:]).number

    def append(
        self,
        txn: Transaction,
        log: Stream,
        place: tuple[int, bytes],
        asked_us: int,
        value: Callable[[LogPosition], bytes],
        count: int = 1,
    ) -> None:
        """Append `value` of the next position to a log, or leave it as an intent.

        `place`: the table's number, and the prefix of the row's shard. `count`: how many positions
        it takes; it is asked for the last of them. Raises as `IntentQueue.leave`.
        """
        table_id, row_shard = place
        if self._queue is not None:
            change = asked_us, value(LOG_START)
            leave_change_intent(self._queue, txn, row_shard, log.number, change)
            return
        shard = self._open_shards(log).at(row_shard[ROW_PREFIX_BYTES:])
        prefix = shard_prefix(table_id, log.number, shard.number)
        head = read_head(txn, prefix) or new_head(floor_of(txn, table_id, log, shard))
        position = following_position(head, asked_us, count)
        txn.put(record_key(prefix, position), value(position))
        txn.put(prefix, encode_head(LogHead(position, head.trimmed)))

    def _open_shards(self, log: Stream) -> OpenShards:
        """The open shards of a log, sorted once for a definition."""
        known = self._opened.get(log.number)
        if known is None or known[0] is not log:
            known = self._opened[log.number] = log, OpenShards(log)
        return known[1]


def floor_of(reader: Reader, table_id: int, log: Stream, shard: LogShard) -> int:
    """The time of the last record of a shard's ancestors; 0 where they have none."""
    known = {each.number: each for each in log.shards}
    floor = 0
    waiting = [known[number] for number in shard.parents if number in known]
    while waiting:
        parent = waiting.pop()
        head = read_head(reader, shard_prefix(table_id, log.number, parent.number))
        if head is not None:
            floor = max(floor, head.last.timestamp_us)
        else:
            waiting += [known[number] for number in parent.parents if number in known]
    return floor
