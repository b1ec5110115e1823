"""Records the changes of a table, in the transactions of the changes (change §C1.8).

A table has up to two logs: the stream, whose records clients read, and the journal, whose records
say only which row was written, for search indexes (`engine/tablestore/search`). Both are kept in
one way.

A record's time is when its request came, but not before the last record of its shard, and later
than every record of the shard's parents. So times never decrease in a shard, and the rows of one
request share theirs, counted by the row index.

Where the row's transaction does not reach the log, the record is left beside the row as an intent,
in the same transaction, and somebody moves it from there (`mover.py`).
"""

from collections.abc import Callable

from widerow.engine.intents import IntentQueue
from widerow.engine.observer import RowEvent
from widerow.engine.tablestore.log_shards import OpenShards
from widerow.engine.tablestore.observed import ObservedRow
from widerow.engine.tablestore.streams.intents import leave_change_intent
from widerow.engine.tablestore.streams.log import (
    LOG_START,
    LogHead,
    LogPosition,
    encode_head,
    encode_record,
    following_position,
    new_head,
    read_head,
    record_key,
    shard_prefix,
)
from widerow.engine.tablestore.streams.plain import change_record
from widerow.keys.layout import ROW_PREFIX_BYTES, SPACE_INTENTS, change_prefix
from widerow.model.tablestore.schema import LogShard, Stream, Table
from widerow.storage.interface import Reader, Transaction

__all__ = ["ChangeRecorder", "floor_of"]


def _nobody(table: Table) -> None:
    """The `note` of a recorder whose journals nothing follows."""
    del table


class ChangeRecorder:
    """The `RowObserver` of tables that have a stream or a journal."""

    def __init__(
        self, note: Callable[[Table], None] = _nobody, queue: IntentQueue | None = None
    ) -> None:
        """No table is known yet.

        `note` is called with each record of a journal, and may raise to refuse it. `queue`: takes
        records as intents; None: they are appended to the log.
        """
        self._note = note
        self._queue = queue
        self._opened: dict[int, tuple[Stream, OpenShards]] = {}

    def watches(self, table: Table) -> bool:
        """Whether the table has a stream or a journal."""
        return table.stream is not None or table.journal is not None

    def shards(self, table: Table) -> tuple[bytes, ...]:
        """The prefix of the table's logs; empty where records are left as intents."""
        return () if self._queue is not None else (change_prefix(table.id),)

    def spaces(self, table: Table) -> bytes:  # noqa: ARG002  # one for all tables
        """The space of intents, where records are left as intents."""
        return b"" if self._queue is None else SPACE_INTENTS

    def reads(self, table: Table) -> tuple[bytes, ...]:  # noqa: ARG002  # none for any table
        """No further keys."""
        return ()

    def changed(self, txn: Transaction, table: Table, event: RowEvent[ObservedRow]) -> None:
        """Append records to the logs, or leave them as intents.

        The stream gets no record of what no client asked for: expiry, surplus versions. Raises
        `Exhausted` where too many intents or rows wait.
        """
        stream, journal = table.stream, table.journal
        if stream is not None and event.write is not None:
            columns = stream.columns

            def record(position: LogPosition) -> bytes:
                return encode_record(change_record(table, event, position, columns))

            self._append(txn, table, stream, event, record)
        if journal is not None:
            self._note(table)
            row = event.key[ROW_PREFIX_BYTES:]
            self._append(txn, table, journal, event, lambda _: row)

    def _append(
        self,
        txn: Transaction,
        table: Table,
        log: Stream,
        event: RowEvent[ObservedRow],
        value: Callable[[LogPosition], bytes],
    ) -> None:
        """Append `value` of the next position to a log, or leave it as an intent."""
        if self._queue is not None:
            change = event.asked_us, value(LOG_START)
            leave_change_intent(self._queue, txn, event.shard, log.number, change)
            return
        shard = self._open_shards(log).at(event.shard[ROW_PREFIX_BYTES:])
        prefix = shard_prefix(table.id, log.number, shard.number)
        head = read_head(txn, prefix) or new_head(floor_of(txn, table, log, shard))
        position = following_position(head, event.asked_us)
        txn.put(record_key(prefix, position), value(position))
        txn.put(prefix, encode_head(LogHead(position, head.trimmed)))

    def _open_shards(self, log: Stream) -> OpenShards:
        """The open shards of a log, sorted once for a definition."""
        known = self._opened.get(log.number)
        if known is None or known[0] is not log:
            known = self._opened[log.number] = log, OpenShards(log)
        return known[1]


def floor_of(reader: Reader, table: Table, stream: Stream, shard: LogShard) -> int:
    """The time of the last record of a shard's ancestors; 0 where they have none."""
    known = {each.number: each for each in stream.shards}
    floor = 0
    waiting = [known[number] for number in shard.parents if number in known]
    while waiting:
        parent = waiting.pop()
        head = read_head(reader, shard_prefix(table.id, stream.number, parent.number))
        if head is not None:
            floor = max(floor, head.last.timestamp_us)
        else:
            waiting += [known[number] for number in parent.parents if number in known]
    return floor
