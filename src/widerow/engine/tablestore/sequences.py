"""Values of auto-increment key columns (semantics §4.7).

One record for each partition key value holds the largest value that was ever given out or written
there, so values are unique and strictly increasing within it. They start at the server's time in
microseconds, as the service's do.
"""

from widerow.errors import Exhausted
from widerow.keys.layout import sequence_key
from widerow.limits import INT64_MAX
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyValue
from widerow.storage.interface import Transaction

__all__ = ["next_value", "note_value"]


def next_value(txn: Transaction, table: Table, partition_key: KeyValue, now_us: int) -> int:
    """Give out the next value under `partition_key`. Raises `Exhausted` at the end of 64 bits."""
    key = sequence_key(table.id, partition_key)
    value = max(_last(txn, key) + 1, now_us)
    if value > INT64_MAX:
        raise Exhausted(TablestoreRule.AUTO_INCREMENT_EXHAUSTED, table=table.name)
    txn.put(key, value.to_bytes(8, "big"))
    return value


def note_value(txn: Transaction, table: Table, partition_key: KeyValue, value: int) -> None:
    """Remember a value that a client chose, so that it is never given out later."""
    key = sequence_key(table.id, partition_key)
    if value > _last(txn, key):
        txn.put(key, value.to_bytes(8, "big"))


def _last(txn: Transaction, key: bytes) -> int:
    record = txn.get(key)
    return 0 if record is None else int.from_bytes(record, "big")
