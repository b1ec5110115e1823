"""Every part of Tablestore's tables in the walk of a store (`engine/check.py`)."""

from collections.abc import Iterator
from functools import partial
from itertools import chain

from widerow.engine.catalog.catalog import Catalog, Tables
from widerow.engine.check_part import CheckPart
from widerow.engine.entry_intents import decode_entry_intent
from widerow.engine.intents import IntentKind, decode_intent
from widerow.engine.streams.intents import decode_change_intent
from widerow.engine.streams.log import decode_record
from widerow.engine.tablestore.check_rows import tablestore_parts
from widerow.engine.tablestore.indexes.check_indexes import index_parts
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.engine.tablestore.shard_locks import REQUEST_NUMBER_BYTES, decode_lock, request_key
from widerow.engine.tablestore.streams.check_streams import check_row_named, stream_parts
from widerow.engine.tablestore.transactions.request_records import decode_request
from widerow.engine.tunnels.check_tunnels import tunnel_part
from widerow.errors import StoreDamaged
from widerow.keys.decode import key_value_end
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES, SPACE_ROWS, intent_prefix, transaction_prefix
from widerow.model.tablestore.schema import Table
from widerow.rows.plain_values import decode_plain_record
from widerow.storage.interface import Snapshot

__all__ = ["all_parts"]


def all_parts(catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:
    """Rows and sequence records, entries of indexes, logs, tunnels, intents, transactions."""
    rows = tablestore_parts, index_parts
    parts = (*rows, stream_parts, _tunnel_parts, _intent_parts, _transaction_parts)
    return chain.from_iterable(each(catalog, snapshot) for each in parts)


def _tunnel_parts(catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:
    for table in Tables(catalog, TABLESTORE_MODEL).all():
        yield tunnel_part(catalog, snapshot, table, table.all_tunnels)


def _intent_parts(catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:  # noqa: ARG001  # as every part
    for table in Tables(catalog, TABLESTORE_MODEL).all():
        prefix = intent_prefix(table.id)
        visit = partial(_check_intent, table)
        yield CheckPart(table.qualified, prefix, after_prefix(prefix), visit)


def _check_intent(table: Table, key: bytes, record: bytes) -> None:
    """Check that an intent can be decoded. Intents may be there at any moment."""
    intent = decode_intent(key, record)
    if intent.kind is IntentKind.ENTRIES:
        decode_entry_intent(intent)
        return
    change = decode_change_intent(intent)
    if table.journal is not None and table.journal.number == change.log:
        check_row_named(change.value, [column.type for column in table.key_columns])
        return
    if table.stream is None or table.stream.number != change.log:
        return  # of a log that was switched off meanwhile
    left = decode_record(change.value)
    decode_plain_record(left.record)
    if left.origin:
        decode_plain_record(left.origin)


def _transaction_parts(catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:  # noqa: ARG001  # as every part
    for table in Tables(catalog, TABLESTORE_MODEL).all():
        if not table.index_of:
            prefix, walk = transaction_prefix(table.id), _TransactionWalk(table)
            yield CheckPart(table.qualified, prefix, after_prefix(prefix), walk.visit, walk.close)


class _TransactionWalk:
    """The walk through the local transactions of a table: each lock, and what was written by it."""

    __slots__ = ("_awaited", "_table")

    def __init__(self, table: Table) -> None:
        self._table = table
        self._awaited: list[bytes] = []  # keys of requests that have to follow, in reverse order

    def visit(self, key: bytes, record: bytes) -> None:
        """Check one record. Raises `StoreDamaged`."""
        end = key_value_end(key, ROW_PREFIX_BYTES, self._table.key_columns[0].type)
        shard = SPACE_ROWS + key[1:end]
        if end == len(key):
            self.close()
            if not self._table.local_transactions:
                raise StoreDamaged("a local transaction of a table that allows none")
            requests = decode_lock(record).requests
            self._awaited = [request_key(shard, number) for number in reversed(range(requests))]
            return
        if len(key) != end + REQUEST_NUMBER_BYTES or key not in self._awaited[-1:]:
            raise StoreDamaged("a request that no local transaction counts")
        self._awaited.pop()
        decode_request(self._table, shard, record)

    def close(self) -> None:
        """Raise `StoreDamaged` where requests of the last transaction are missing."""
        awaited, self._awaited = self._awaited, []
        if awaited:
            raise StoreDamaged("requests of a local transaction are missing")
