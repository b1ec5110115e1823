"""The operations of local transactions in a store that processes share: they live in their shards.

The lock of a key (`shard_locks.py`) and what each request has written (`request_records.py`) stand
beside the rows, and are changed as rows are: in a transaction of the shard that fails if somebody
else changed it meanwhile. So any process may go on with a transaction or end it, one that died is
missed by nobody, and one that slept finds the lock gone. Requests that come at once are made one
after the other.

What a process has seen of a transaction it keeps, and reads only what others have added to it since
(`known_transactions.py`). (docs/spec/tablestore-change.md, section B)
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from widerow.engine.plan import Plan, single
from widerow.engine.tablestore.batch import arrange
from widerow.engine.tablestore.bodies import RowBody
from widerow.engine.tablestore.schema import check_key, concrete, row_key
from widerow.engine.tablestore.shard_locks import (
    CHANCE_BYTES,
    ShardLock,
    check_lock,
    encode_lock,
    lock_key,
    release_shard,
    request_key,
)
from widerow.engine.tablestore.static import check_change, check_point_key
from widerow.engine.tablestore.transactions.identity import (
    ShardIdentity,
    make_shard_id,
    read_shard_id,
)
from widerow.engine.tablestore.transactions.known_transactions import KnownTransactions, ShardRows
from widerow.engine.tablestore.transactions.request_records import MadeWrite, encode_request
from widerow.engine.tablestore.transactions.row_writes import (
    attempt_row,
    keep_sequence,
    sequence_of,
)
from widerow.engine.tablestore.transactions.shard_commit import commit_in_shard
from widerow.engine.tablestore.transactions.shard_state import (
    NamedTransaction,
    lock_of,
    written_so_far,
)
from widerow.engine.tablestore.transactions.transactions import (
    Inside,
    TransactionParts,
    Transactions,
    check_scope,
)
from widerow.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    Replan,
    StorageFailure,
    StoreDamaged,
    WiderowError,
)
from widerow.keys.decode import decode_key_value
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import ROW_PREFIX_BYTES, row_prefix
from widerow.limits import INT64_MAX, LOCAL_TRANSACTION_SECONDS
from widerow.model.tablestore.answers import RowOutcome, RowWritten
from widerow.model.tablestore.requests import BatchWrite
from widerow.model.tablestore.row import PrimaryKey, RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.storage.interface import Outcome, Reader, Transaction, Write
from widerow.storage.pending import Overlay, WriteSet

__all__ = ["ShardTransactions"]


class _Made(NamedTuple):
    """What a request has made: an outcome for each row, and the transaction as it is then."""

    outcomes: list[RowOutcome]
    until_us: int
    rows: ShardRows


class ShardTransactions(Transactions):
    """Transactions that any process of the store may go on with."""

    def __init__(self, parts: TransactionParts) -> None:
        """Nothing is known."""
        super().__init__(parts)
        self._known = KnownTransactions(parts.store, parts.context.clock)

    def __len__(self) -> int:
        return len(self._known)

    def expire(self) -> None:
        """Forget what is over. The locks are for whoever meets them, and for `lock_sweep.py`."""
        self._known.forget_ended()

    def table_of(self, instance: str, identity: str) -> str | None:
        """The name of the table that an id names; None for a text that is no id."""
        try:
            return self._named(instance, identity).table.name
        except (InvalidRequest, NotFound):
            return None

    def _named(self, instance: str, identity: str) -> NamedTransaction:
        """The transaction that an id names, open or not. Raises as the class says."""
        table_id, partition_key, chance = read_shard_id(identity)
        table = self._tables.by_id(table_id)
        if table is None or table.instance != instance:
            raise NotFound(TablestoreRule.TRANSACTION_ENDED)
        try:
            value, _ = decode_key_value(partition_key, 0, table.key_columns[0].type)
        except StoreDamaged:
            raise InvalidRequest(TablestoreRule.TRANSACTION_ID) from None
        if encode_key_value(value) != partition_key:
            raise InvalidRequest(TablestoreRule.TRANSACTION_ID)
        return NamedTransaction(identity, table, row_prefix(table_id) + partition_key, chance)

    # --- begin and end -----------------------------------------------------------------------

    def _begin(self, instance: str, table: Table, shard: bytes) -> Plan[str]:
        """Put the lock, unless there is one whose time is not over."""
        self._known.check_room(instance)
        planned = self._context.planned()
        chance = self._entropy.token_bytes(CHANCE_BYTES)
        until_us = self._clock.now_us() + LOCAL_TRANSACTION_SECONDS * 1_000_000
        partition_key = shard[ROW_PREFIX_BYTES:]
        identity = make_shard_id(ShardIdentity(table.id, partition_key, chance))

        def body(txn: Transaction) -> None:
            planned.newest(self._tables, table, txn)
            record = txn.get(lock_key(shard))
            if record is not None:
                check_lock(txn, shard, record, self._clock)
            txn.put(lock_key(shard), encode_lock(ShardLock(chance, until_us)))

        def settled(_: None) -> None:
            self._known.keep(identity, (instance, chance, until_us), ShardRows(shard))
            self._note(table, shard)

        def finish(outcomes: Sequence[Outcome[None]]) -> str:
            single(outcomes)
            return identity

        def again(_: Sequence[Outcome[None]]) -> Plan[str]:
            newest = self._tables.find(instance, table.name)
            return self._begin(instance, newest, row_prefix(newest.id) + partition_key)

        reads = planned.reads(self._tables)
        write = Write((shard, lock_key(shard)), body, settled=settled, reads=reads)
        return Plan((write,), finish, again=again)

    def commit(self, instance: str, identity: str) -> Plan[None]:
        """CommitTransaction: every write of it becomes visible at once, and durable.

        Where an observer refuses one of them, none is made, and the transaction is over.
        """
        named = self._named(instance, identity)
        asked_us = self._clock.now_us()
        plan = commit_in_shard(
            self._context, self._known, lambda: self._named(instance, identity), asked_us
        )
        return plan.answering(lambda _: self._note(named.table, named.shard))

    def abort(self, instance: str, identity: str) -> Plan[str]:
        """AbortTransaction: drops its writes. Answers the id.

        Auto-increment values that it has used stay used.
        """
        named = self._named(instance, identity)

        def body(txn: Transaction) -> None:
            release_shard(txn, named.shard, lock_of(self._context, txn, named))

        def finish(outcomes: Sequence[Outcome[None]]) -> str:
            single(outcomes)
            self._known.drop(identity)
            self._note(named.table, named.shard)
            return identity

        return Plan((Write((named.shard, lock_key(named.shard)), body, frees=True),), finish)

    # --- requests inside ---------------------------------------------------------------------

    @contextmanager
    def _inside(
        self, instance: str, identity: str, key: PrimaryKey | None = None
    ) -> Iterator[Inside]:
        """What a read inside goes by: one moment of the shard, with the writes up to then."""
        named = self._named(instance, identity)
        reader: Reader = self._store.snapshot()
        if key is not None:
            reader = _with_row(reader, named, key)
        lock, rows = written_so_far(self._context, self._known, reader, named)
        self._known.keep(identity, (instance, named.chance, lock.until_us), rows)
        yield Inside(named.table.name, rows.reader(reader))

    def write_row(self, instance: str, identity: str, change: RowChange) -> Plan[RowWritten]:
        """PutRow, UpdateRow or DeleteRow inside: made when the plan was committed."""
        self._named(instance, identity)

        def answer(outcomes: list[RowOutcome]) -> RowWritten:
            [(written, error)] = [(each.written, each.error) for each in outcomes]
            if error is not None:
                raise error
            assert written is not None, "a row without an error was written"
            return written

        return self._request(instance, identity, (change,)).answering(answer)

    def batch_write_row(
        self, instance: str, identity: str, request: BatchWrite
    ) -> Plan[list[list[RowOutcome]]]:
        """BatchWriteRow inside: each row by itself. An atomic batch is refused row by row."""
        self._named(instance, identity)
        changes = self._changes_of(request)
        plan = self._request(instance, identity, changes, atomic=request.atomic)
        return plan.answering(lambda outcomes: arrange(request, outcomes))

    def _request(
        self, instance: str, identity: str, changes: Sequence[RowChange], *, atomic: bool = False
    ) -> Plan[list[RowOutcome]]:
        """A plan of one write, which makes the changes in the transaction and keeps its record.

        What is wrong with a change is its outcome, behind a look at whether the transaction is
        open.
        """
        named = self._named(instance, identity)
        rows = [self._planned(named, change, atomic=atomic) for change in changes]
        shard = named.shard
        shards = dict.fromkeys((shard, sequence_of(shard), lock_key(shard)))
        reads: dict[bytes, None] = {}
        ahead = [lock_key(shard)]
        for row in rows:
            if isinstance(row, RowBody):
                shards |= dict.fromkeys(row.shards)
                reads |= dict.fromkeys(row.reads)
                ahead.append(row.read_first())

        def body(txn: Transaction) -> _Made:
            txn.get_many(ahead)  # in one round trip
            lock, written = written_so_far(self._context, self._known, txn, named)
            made: list[MadeWrite] = []
            outcomes = [_attempted(written, txn, row, made) for row in rows]
            if made:
                txn.put(request_key(shard, lock.requests), encode_request(shard, made))
                lock = lock._replace(requests=lock.requests + 1)
                txn.put(lock_key(shard), encode_lock(lock))
                keep_sequence(txn, written)
                written.requests = lock.requests
                written.read_units += [each.read_units for each in made]
            return _Made(outcomes, lock.until_us, written)

        def settled(ended: _Made) -> None:
            known = instance, named.chance, ended.until_us
            self._known.keep(identity, known, ended.rows)

        write = Write(tuple(shards), body, settled=settled, reads=tuple(reads))
        size = sum([len(each.key.encoded) + each.body_bytes for each in changes])
        return Plan(
            (write,),
            lambda outcomes: single(outcomes).outcomes,
            size,
            lambda _: self._request(instance, identity, changes, atomic=atomic),
        )

    def _planned(
        self, named: NamedTransaction, change: RowChange, *, atomic: bool
    ) -> RowBody | WiderowError:
        """The write of a change by the newest definition of the table, or what is wrong with it."""
        if atomic:
            return Conflict(TablestoreRule.TRANSACTION_ATOMIC_BATCH)
        planned, prefix = self._context.planned(), row_prefix(named.table.id)
        try:
            check_change(change, self._names)
            check_scope(named.table.name, change.table)
            body = self._rows.row_body(named.table, prefix, change, planned, inside=True)
        except StorageFailure:
            raise
        except WiderowError as error:
            return error
        if body.shard != named.shard:
            return InvalidRequest(TablestoreRule.TRANSACTION_SCOPE)
        return body


def _with_row(reader: Reader, named: NamedTransaction, key: PrimaryKey) -> Reader:
    """`reader`, which has read the lock of a transaction and a row in one round trip.

    A key that is none is for the read itself to refuse.
    """
    try:
        check_point_key(key, write=False)
        values = concrete(check_key(named.table, key))
    except InvalidRequest:
        return reader
    keys = lock_key(named.shard), row_key(named.table, values)
    known = WriteSet()
    known.entries = dict(zip(keys, reader.get_many(keys), strict=True))
    return Overlay(reader, known)


def _attempted(
    rows: ShardRows, txn: Transaction, row: RowBody | WiderowError, made: list[MadeWrite]
) -> RowOutcome:
    """Make a change in a transaction, and add it to `made`; or what refuses it."""
    if not isinstance(row, RowBody):
        return RowOutcome(error=row)
    try:
        write, written = attempt_row(rows, txn, row, lambda: INT64_MAX)
    except (Replan, StorageFailure):
        raise
    except WiderowError as error:
        return RowOutcome(error=error)
    made.append(MadeWrite(write, written.read_units))
    return RowOutcome(written=written)
