"""The operations of local transactions (docs/spec/tablestore-change.md, section B)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from widerow.clock import Clock, Entropy
from widerow.engine.budget import Budget
from widerow.engine.catalog.catalog import Tables
from widerow.engine.locks import Lock, release_lock, take_lock
from widerow.engine.plan import Plan, failing
from widerow.engine.tablestore.batch import arrange, check_batch_write
from widerow.engine.tablestore.bodies import BodyContext, RowBody
from widerow.engine.tablestore.row_operations import RowOperations
from widerow.engine.tablestore.schema import check_key, concrete, shard_of
from widerow.engine.tablestore.static import (
    ColumnNames,
    check_change,
    check_point_key,
    check_table_name,
)
from widerow.engine.tablestore.transactions.commit import Commit, keep_sequence
from widerow.engine.tablestore.transactions.identity import (
    ID_CHANCE_BYTES,
    check_id,
    make_id,
    next_run,
)
from widerow.engine.tablestore.transactions.open_transaction import OpenTransaction
from widerow.engine.tablestore.transactions.row_writes import make_row, sequence_of
from widerow.errors import (
    Conflict,
    Exhausted,
    InvalidRequest,
    NotFound,
    Replan,
    Unsupported,
    WiderowError,
)
from widerow.keys.layout import ROW_PREFIX_BYTES, RUN_KEY, row_prefix
from widerow.limits import (
    LOCAL_TRANSACTION_SECONDS,
    LOCAL_TRANSACTIONS_BYTES_MAX,
    LOCAL_TRANSACTIONS_MAX,
)
from widerow.model.tablestore.answers import RangePage, RowOutcome, RowRead, RowWritten
from widerow.model.tablestore.requests import BatchWrite, GetRange, GetRow
from widerow.model.tablestore.row import PrimaryKey, RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.storage.interface import Outcome, Store, Transaction, Write

__all__ = ["Transactions"]


class Transactions:
    """The local transactions of one engine. Any thread may call.

    Every method that takes an id raises `InvalidRequest(TRANSACTION_ID)` for an id that no server
    gave out, `NotFound(TRANSACTION_ENDED)` for a transaction of another instance and for one that
    has ended, and `Conflict(TRANSACTION_BUSY)` while another request is using it.
    """

    def __init__(
        self,
        store: Store,
        context: BodyContext,
        entropy: Entropy,
        names: ColumnNames,
        rows: RowOperations,
    ) -> None:
        self._store = store
        self._context = context
        self._entropy = entropy
        self._names = names
        self._rows = rows
        self._open: dict[str, OpenTransaction] = {}
        self._run = 0  # the number of this run of the server; 0 until the first transaction

    @property
    def _clock(self) -> Clock:
        return self._context.clock

    @property
    def _tables(self) -> Tables[Table]:
        return self._context.tables

    def __len__(self) -> int:
        return len(self._open)

    # --- begin and end -----------------------------------------------------------------------

    def start(self, instance: str, name: str, key: PrimaryKey) -> Plan[str]:
        """StartLocalTransaction: the id of a transaction on a partition key value.

        Raises `InvalidRequest` (TABLE_NAME, TRANSACTION_KEY, TRANSACTIONS_DISABLED, the rules of
        keys), `NotFound`, `Conflict(KEY_LOCKED)`, `Exhausted` (TRANSACTION_COUNT), `Unsupported`.
        """
        check_table_name(name)
        if len(key.columns) != 1:
            raise InvalidRequest(TablestoreRule.TRANSACTION_KEY)
        check_point_key(key, write=False)
        table = self._tables.find(instance, name)
        if not table.local_transactions:
            raise InvalidRequest(TablestoreRule.TRANSACTIONS_DISABLED, table=name)
        if self._store.capabilities.shared:
            raise Unsupported(TablestoreRule.TRANSACTIONS_SHARED)
        values = concrete(check_key(replace(table, key_columns=table.key_columns[:1]), key))
        self._check_room(instance)
        if not self._run:
            return self._count_run(partial(self.start, instance, name, key))
        return self._begin(instance, table, shard_of(table, values[0]))

    def _check_room(self, instance: str) -> None:
        """Raise `Exhausted(TRANSACTION_COUNT)` where an instance has too many transactions."""
        if len(self._open) < LOCAL_TRANSACTIONS_MAX:
            return
        self.expire()
        count = sum([each.instance == instance for each in list(self._open.values())])
        if count >= LOCAL_TRANSACTIONS_MAX:
            raise Exhausted(TablestoreRule.TRANSACTION_COUNT, limit=LOCAL_TRANSACTIONS_MAX)

    def _count_run(self, again: "partial[Plan[str]]") -> Plan[str]:
        """A plan that gets the number of this run of the server, before the first transaction."""

        def learn(run: int) -> None:
            self._run = run

        def finish(outcomes: Sequence[Outcome[int]]) -> str:
            failing(outcomes)
            raise Replan

        write = Write((RUN_KEY,), lambda txn: next_run(txn, RUN_KEY), settled=learn)
        return Plan((write,), finish, again=lambda _: again(), prepares=True)

    def _begin(self, instance: str, table: Table, shard: bytes) -> Plan[str]:
        """Take the lock, and wait for the writes that were planned before."""
        until_ns = self._clock.monotonic_ns() + LOCAL_TRANSACTION_SECONDS * 1_000_000_000
        lock = Lock(shard, until_ns)
        take_lock(self._context.locks, lock, self._clock)
        identity = make_id(self._run, self._entropy.token_bytes(ID_CHANCE_BYTES))
        transaction = OpenTransaction(identity, instance, table, lock)
        self._open[identity] = transaction

        def body(txn: Transaction) -> None:
            self._tables.current(table, txn)
            txn.get(shard)  # earlier writes of unknown outcome are decided by a read

        def finish(outcomes: Sequence[Outcome[None]]) -> str:
            if outcomes[0].error is not None:
                self._end(transaction)
                raise outcomes[0].error
            self._note(transaction)
            return identity

        return Plan((Write((shard,), body),), finish)

    def commit(self, instance: str, identity: str) -> Plan[None]:
        """CommitTransaction: every write of it becomes visible at once, and durable."""
        transaction = self._found(instance, identity)
        if transaction.is_busy:
            raise Conflict(TablestoreRule.TRANSACTION_BUSY)
        plan = Commit(self._context, transaction, self._end).plan()
        return plan.answering(lambda _: self._note(transaction))

    def abort(self, instance: str, identity: str) -> Plan[str]:
        """AbortTransaction: drops its writes. Answers the id.

        Auto-increment values that it has used stay used.
        """
        transaction = self._found(instance, identity)
        transaction.enter()  # never left: no further request is let in
        self._end(transaction)
        self._note(transaction)
        sequence = sequence_of(transaction.lock.shard)
        if sequence not in transaction.overlay.entries:
            return Plan((), lambda _: identity)

        def body(txn: Transaction) -> None:
            if self._tables.by_id(transaction.table.id) is not None:
                keep_sequence(txn, transaction)

        return Plan((Write((sequence,), body),), failing).answering(lambda _: identity)

    def expire(self) -> None:
        """End the transactions whose time is over, and those of dropped tables."""
        if not self._open:
            return
        now_ns = self._clock.monotonic_ns()
        for transaction in list(self._open.values()):
            if now_ns >= transaction.lock.until_ns or not self._has_table(transaction):
                self._end(transaction)

    def _has_table(self, transaction: OpenTransaction) -> bool:
        return self._tables.by_id(transaction.table.id) is not None

    def _end(self, transaction: OpenTransaction) -> None:
        """End a transaction. Idempotent."""
        release_lock(self._context.locks, transaction.lock)
        self._open.pop(transaction.id, None)

    def _note(self, transaction: OpenTransaction) -> None:
        """Count one write unit, as each begin and each end costs (change §B3)."""
        partition_key = transaction.lock.shard[ROW_PREFIX_BYTES:]
        self._context.notes.add(transaction.table.id, partition_key, 0, 1)

    # --- requests inside ---------------------------------------------------------------------

    def get_row(
        self, instance: str, identity: str, request: GetRow, budget: Budget | None = None
    ) -> RowRead:
        """GetRow inside. Raises `InvalidRequest(TRANSACTION_SCOPE)` for another table."""
        with self._at_work(instance, identity) as transaction:
            _check_table(transaction, request.table)
            reader = transaction.reader(self._store.snapshot())
            return self._rows.get_row(instance, request, budget, reader)

    def get_range(
        self, instance: str, identity: str, request: GetRange, budget: Budget | None = None
    ) -> RangePage:
        """GetRange inside. Raises as `get_row`; rows of other keys are those that are published."""
        with self._at_work(instance, identity) as transaction:
            _check_table(transaction, request.table)
            reader = transaction.reader(self._store.snapshot())
            return self._rows.get_range(instance, request, budget, reader)

    def write_row(self, instance: str, identity: str, change: RowChange) -> Plan[RowWritten]:
        """PutRow, UpdateRow or DeleteRow inside: made when this returns (`row_writes.py`)."""
        with self._at_work(instance, identity) as transaction:
            check_change(change, self._names)
            written = self._write(transaction, change)
        return Plan((), lambda _: written)

    def batch_write_row(
        self, instance: str, identity: str, request: BatchWrite
    ) -> Plan[list[list[RowOutcome]]]:
        """BatchWriteRow inside: each row by itself. An atomic batch is refused row by row."""
        with self._at_work(instance, identity) as transaction:
            check_batch_write(request)
            changes = [change for asked in request.tables for change in asked.changes]
            for change in changes:
                check_change(change, self._names)
            if request.atomic:
                refused = RowOutcome(error=Conflict(TablestoreRule.TRANSACTION_ATOMIC_BATCH))
                outcomes = [refused] * len(changes)
            else:
                outcomes = [self._outcome(transaction, change) for change in changes]
        arranged = arrange(request, outcomes)
        return Plan((), lambda _: arranged)

    def _outcome(self, transaction: OpenTransaction, change: RowChange) -> RowOutcome:
        try:
            return RowOutcome(written=self._write(transaction, change))
        except WiderowError as error:
            return RowOutcome(error=error)

    def _write(self, transaction: OpenTransaction, change: RowChange) -> RowWritten:
        _check_table(transaction, change.table)

        def make_body() -> RowBody:
            table, planned = self._tables.current(transaction.table), self._context.planned()
            prefix = row_prefix(table.id)
            return self._rows.row_body(table, prefix, change, planned, inside=True)

        return make_row(transaction, self._store.snapshot(), make_body, self._room)

    def _room(self) -> int:
        held = sum([each.held_bytes for each in list(self._open.values())])
        return LOCAL_TRANSACTIONS_BYTES_MAX - held

    def table_of(self, instance: str, identity: str) -> str | None:
        """The name of an open transaction's table; None for any other id."""
        found = self._open.get(identity)
        return None if found is None or found.instance != instance else found.table.name

    @contextmanager
    def _at_work(self, instance: str, identity: str) -> Iterator[OpenTransaction]:
        """The transaction, with no other request using it meanwhile."""
        transaction = self._found(instance, identity)
        transaction.enter()
        try:
            yield transaction
        finally:
            transaction.leave()

    def _found(self, instance: str, identity: str) -> OpenTransaction:
        """The transaction with this id. Raises as the class says."""
        check_id(identity)
        found = self._open.get(identity)
        if found is None or found.instance != instance:
            raise NotFound(TablestoreRule.TRANSACTION_ENDED)
        is_over = self._clock.monotonic_ns() >= found.lock.until_ns
        if is_over or not found.lock.is_held or not self._has_table(found):
            self._end(found)
            raise NotFound(TablestoreRule.TRANSACTION_ENDED)
        return found


def _check_table(transaction: OpenTransaction, name: str) -> None:
    if name != transaction.table.name:
        raise InvalidRequest(TablestoreRule.TRANSACTION_SCOPE)
