"""The operations of local transactions where one process has the store: they live in its memory.

(docs/spec/tablestore-change.md, section B)
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from widerow.engine.locks import Lock, release_lock, take_lock
from widerow.engine.plan import Plan, failing
from widerow.engine.tablestore.batch import arrange
from widerow.engine.tablestore.bodies import RowBody
from widerow.engine.tablestore.static import (
    check_change,
)
from widerow.engine.tablestore.transactions.commit import Commit
from widerow.engine.tablestore.transactions.identity import (
    ID_CHANCE_BYTES,
    check_id,
    make_id,
    next_run,
)
from widerow.engine.tablestore.transactions.open_transaction import OpenTransaction
from widerow.engine.tablestore.transactions.row_writes import keep_sequence, make_row, sequence_of
from widerow.engine.tablestore.transactions.transactions import (
    Inside,
    TransactionParts,
    Transactions,
    check_scope,
)
from widerow.errors import (
    Conflict,
    Exhausted,
    NotFound,
    Replan,
    WiderowError,
)
from widerow.keys.layout import RUN_KEY, row_prefix
from widerow.limits import (
    LOCAL_TRANSACTION_SECONDS,
    LOCAL_TRANSACTIONS_BYTES_MAX,
    LOCAL_TRANSACTIONS_MAX,
)
from widerow.model.tablestore.answers import RowOutcome, RowWritten
from widerow.model.tablestore.requests import BatchWrite
from widerow.model.tablestore.row import PrimaryKey, RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.storage.interface import Outcome, Transaction, Write

__all__ = ["MemoryTransactions"]


class MemoryTransactions(Transactions):
    """Transactions that end with the process.

    Every method that takes an id also raises `Conflict(TRANSACTION_BUSY)` while another request is
    using the transaction.
    """

    def __init__(self, parts: TransactionParts) -> None:
        """Nothing is open."""
        super().__init__(parts)
        self._open: dict[str, OpenTransaction] = {}
        self._run = 0  # the number of this run of the server; 0 until the first transaction

    def __len__(self) -> int:
        return len(self._open)

    # --- begin and end -----------------------------------------------------------------------

    def _begin(self, instance: str, table: Table, shard: bytes) -> Plan[str]:
        """Take the lock, and wait for the writes that were planned before."""
        self._check_room(instance)
        if not self._run:
            return self._count_run(partial(self._begin_now, instance, table, shard))
        return self._begin_now(instance, table, shard)

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

    def _begin_now(self, instance: str, table: Table, shard: bytes) -> Plan[str]:
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
            self._note(table, shard)
            return identity

        return Plan((Write((shard,), body),), finish)

    def commit(self, instance: str, identity: str) -> Plan[None]:
        """CommitTransaction: every write of it becomes visible at once, and durable."""
        transaction = self._found(instance, identity)
        if transaction.is_busy:
            raise Conflict(TablestoreRule.TRANSACTION_BUSY)
        plan = Commit(self._context, transaction, self._end).plan()
        return plan.answering(lambda _: self._note(transaction.table, transaction.shard))

    def abort(self, instance: str, identity: str) -> Plan[str]:
        """AbortTransaction: drops its writes. Answers the id.

        Auto-increment values that it has used stay used.
        """
        transaction = self._found(instance, identity)
        transaction.enter()  # never left: no further request is let in
        self._end(transaction)
        self._note(transaction.table, transaction.shard)
        sequence = sequence_of(transaction.shard)
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

    # --- requests inside ---------------------------------------------------------------------

    @contextmanager
    def _inside(
        self,
        instance: str,
        identity: str,
        key: PrimaryKey | None = None,  # noqa: ARG002  # reads cost no round trip
    ) -> Iterator[Inside]:
        """What a read inside goes by; no other request uses the transaction meanwhile."""
        with self._at_work(instance, identity) as transaction:
            yield Inside(transaction.table.name, transaction.reader(self._store.snapshot()))

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
            changes = self._changes_of(request)
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
        check_scope(transaction.table.name, change.table)

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
