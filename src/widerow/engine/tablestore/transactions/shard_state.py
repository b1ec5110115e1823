"""A local transaction as it stands in its shard, made out of its lock and its requests' records."""

from hmac import compare_digest
from typing import NamedTuple

from widerow.engine.tablestore.bodies import BodyContext
from widerow.engine.tablestore.shard_locks import (
    ShardLock,
    decode_lock,
    is_over,
    lock_key,
    request_key,
)
from widerow.engine.tablestore.transactions.known_transactions import KnownTransactions, ShardRows
from widerow.engine.tablestore.transactions.request_records import decode_request
from widerow.engine.tablestore.transactions.row_writes import repeat_row
from widerow.errors import NotFound, StoreDamaged
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.storage.interface import Reader
from widerow.storage.pending import Overlay, WriteSet

__all__ = ["NamedTransaction", "lock_of", "written_so_far"]


class NamedTransaction(NamedTuple):
    """A transaction as its id names it. `shard`: the prefix of the rows of its key."""

    id: str
    table: Table
    shard: bytes
    chance: bytes


def lock_of(context: BodyContext, reader: Reader, named: NamedTransaction) -> ShardLock:
    """The lock of an open transaction. Raises `NotFound(TRANSACTION_ENDED)`."""
    record = reader.get(lock_key(named.shard))
    if record is not None:
        lock = decode_lock(record)
        if compare_digest(lock.chance, named.chance) and not is_over(lock, context.clock):
            return lock
    raise NotFound(TablestoreRule.TRANSACTION_ENDED)


def written_so_far(
    context: BodyContext, known: KnownTransactions, reader: Reader, named: NamedTransaction
) -> tuple[ShardLock, ShardRows]:
    """An open transaction: its lock, and what was written in it, to be changed by the caller.

    Raises `NotFound(TRANSACTION_ENDED)`, `StoreDamaged`. Cost: one read, and where others have
    written in the transaction, their writes.
    """
    lock = lock_of(context, reader, named)
    rows = known.rows_of(named.id, named.shard)
    if rows.requests > lock.requests:  # this reader shows an earlier moment
        rows = ShardRows(named.shard)
    if rows.requests < lock.requests:
        _catch_up(reader, named, rows, lock.requests)
    return lock, rows


def _catch_up(reader: Reader, named: NamedTransaction, rows: ShardRows, requests: int) -> None:
    """Make the writes of the requests again that are not in `rows` yet."""
    shard = named.shard
    start, stop = request_key(shard, rows.requests), request_key(shard, requests)
    records = [record for _, record in reader.scan(start, stop)]
    if len(records) != requests - rows.requests:
        raise StoreDamaged("requests of a local transaction are missing")
    made = [each for record in records for each in decode_request(named.table, shard, record)]
    together = WriteSet()  # the rows, read in one round trip
    keys = [each.write.key for each in made]
    together.entries = dict(zip(keys, reader.get_many(keys), strict=True))
    view = Overlay(reader, together)
    for write, read_units in made:
        repeat_row(rows, view, write)
        rows.read_units.append(read_units)
    rows.requests = requests
