"""Records the changes of a table, in the transactions of the changes (change §C1.8).

A table has up to two logs: the stream, whose records clients read, and the journal, whose records
say only which row was written, for search indexes (`engine/tablestore/search`). Both are kept in
one way.

How a record gets into a log is said in `engine/streams/appender.py`.
"""

from collections.abc import Callable

from widerow.engine.intents import IntentQueue
from widerow.engine.observer import RowEvent
from widerow.engine.streams.appender import LogAppender
from widerow.engine.streams.log import LogPosition, encode_record
from widerow.engine.tablestore.observed import ObservedRow
from widerow.engine.tablestore.streams.plain import change_record
from widerow.keys.layout import ROW_PREFIX_BYTES
from widerow.model.tablestore.schema import Table
from widerow.storage.interface import Transaction

__all__ = ["ChangeRecorder"]


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
        self._appender = LogAppender(queue)

    def watches(self, table: Table) -> bool:
        """Whether the table has a stream or a journal."""
        return table.stream is not None or table.journal is not None

    def shards(self, table: Table) -> tuple[bytes, ...]:
        """The prefix of the table's logs; empty where records are left as intents."""
        return self._appender.shards(table.id)

    def spaces(self, table: Table) -> bytes:  # noqa: ARG002  # one for all tables
        """The space of intents, where records are left as intents."""
        return self._appender.spaces

    def reads(self, table: Table) -> tuple[bytes, ...]:  # noqa: ARG002  # none for any table
        """No further keys."""
        return ()

    def changed(self, txn: Transaction, table: Table, event: RowEvent[ObservedRow]) -> None:
        """Append records to the logs, or leave them as intents.

        The stream gets no record of what no client asked for: expiry, surplus versions. Raises
        `Exhausted` where too many intents or rows wait.
        """
        stream, journal = table.stream, table.journal
        place = table.id, event.shard
        append = self._appender.append
        if stream is not None and event.write is not None:
            columns = stream.columns

            def record(position: LogPosition) -> bytes:
                return encode_record(change_record(table, event, position, columns))

            append(txn, stream, place, event.asked_us, record)
        if journal is not None:
            self._note(table)
            row = event.key[ROW_PREFIX_BYTES:]
            append(txn, journal, place, event.asked_us, lambda _: row)
