"""The operations of local transactions, wherever what is open is kept (change §B)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NamedTuple

from widerow.clock import Clock, Entropy
from widerow.engine.budget import Budget
from widerow.engine.catalog.catalog import Tables
from widerow.engine.plan import Plan
from widerow.engine.tablestore.batch import check_batch_write
from widerow.engine.tablestore.bodies import BodyContext
from widerow.engine.tablestore.row_operations import RowOperations
from widerow.engine.tablestore.schema import check_key, concrete, shard_of
from widerow.engine.tablestore.static import (
    ColumnNames,
    check_change,
    check_point_key,
    check_table_name,
)
from widerow.errors import InvalidRequest
from widerow.keys.layout import ROW_PREFIX_BYTES
from widerow.model.tablestore.answers import RangePage, RowOutcome, RowRead, RowWritten
from widerow.model.tablestore.requests import BatchWrite, GetRange, GetRow
from widerow.model.tablestore.row import PrimaryKey, RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.storage.interface import Reader, Store

__all__ = ["Inside", "TransactionParts", "Transactions", "check_scope"]


class TransactionParts(NamedTuple):
    """What transactions of an engine work with. `rows`: what reads and plans rows."""

    store: Store
    context: BodyContext
    entropy: Entropy
    names: ColumnNames
    rows: RowOperations


class Inside(NamedTuple):
    """What a read in a transaction goes by: the name of its table, and what is read."""

    table: str
    reader: Reader


class Transactions(ABC):
    """The local transactions of one engine. Any thread may call.

    Every method that takes an id raises `InvalidRequest(TRANSACTION_ID)` for an id that no server
    gave out, and `NotFound(TRANSACTION_ENDED)` for a transaction of another instance and for one
    that has ended; what is found out in the transaction of a plan is raised by the plan.
    """

    def __init__(self, parts: TransactionParts) -> None:
        """Nothing is open."""
        self._store, self._context, self._entropy, self._names, self._rows = parts

    @property
    def _clock(self) -> Clock:
        return self._context.clock

    @property
    def _tables(self) -> Tables[Table]:
        return self._context.tables

    def start(self, instance: str, name: str, key: PrimaryKey) -> Plan[str]:
        """StartLocalTransaction: the id of a transaction on a partition key value.

        Raises `InvalidRequest` (TABLE_NAME, TRANSACTION_KEY, TRANSACTIONS_DISABLED, the rules of
        keys), `NotFound`, `Conflict(KEY_LOCKED)`, `Exhausted` (TRANSACTION_COUNT).
        """
        check_table_name(name)
        if len(key.columns) != 1:
            raise InvalidRequest(TablestoreRule.TRANSACTION_KEY)
        check_point_key(key, write=False)
        table = self._tables.find(instance, name)
        if not table.local_transactions:
            raise InvalidRequest(TablestoreRule.TRANSACTIONS_DISABLED, table=name)
        values = concrete(check_key(replace(table, key_columns=table.key_columns[:1]), key))
        return self._begin(instance, table, shard_of(table, values[0]))

    @abstractmethod
    def _begin(self, instance: str, table: Table, shard: bytes) -> Plan[str]:
        """Hold a shard for a new transaction. Raises what `start` says."""

    @abstractmethod
    def commit(self, instance: str, identity: str) -> Plan[None]:
        """CommitTransaction: every write of it becomes visible at once, and durable."""

    @abstractmethod
    def abort(self, instance: str, identity: str) -> Plan[str]:
        """AbortTransaction: drops its writes. Answers the id.

        Auto-increment values that it has used stay used.
        """

    @abstractmethod
    def expire(self) -> None:
        """Forget the transactions whose time is over, and those of dropped tables."""

    @abstractmethod
    def __len__(self) -> int:
        """How many are open, as far as this process knows."""

    @abstractmethod
    def table_of(self, instance: str, identity: str) -> str | None:
        """The name of the table of a transaction; None for any other id."""

    # --- requests inside ---------------------------------------------------------------------

    @abstractmethod
    def _inside(
        self, instance: str, identity: str, key: PrimaryKey | None = None
    ) -> AbstractContextManager[Inside]:
        """What a read inside goes by, as long as it reads; `key`: of the only row that it reads."""

    def get_row(
        self, instance: str, identity: str, request: GetRow, budget: Budget | None = None
    ) -> RowRead:
        """GetRow inside. Raises `InvalidRequest(TRANSACTION_SCOPE)` for another table."""
        with self._inside(instance, identity, request.key) as inside:
            check_scope(inside.table, request.table)
            return self._rows.get_row(instance, request, budget, inside.reader)

    def get_range(
        self, instance: str, identity: str, request: GetRange, budget: Budget | None = None
    ) -> RangePage:
        """GetRange inside. Raises as `get_row`; rows of other keys are those that are published."""
        with self._inside(instance, identity) as inside:
            check_scope(inside.table, request.table)
            return self._rows.get_range(instance, request, budget, inside.reader)

    @abstractmethod
    def write_row(self, instance: str, identity: str, change: RowChange) -> Plan[RowWritten]:
        """PutRow, UpdateRow or DeleteRow inside."""

    @abstractmethod
    def batch_write_row(
        self, instance: str, identity: str, request: BatchWrite
    ) -> Plan[list[list[RowOutcome]]]:
        """BatchWriteRow inside: each row by itself. An atomic batch is refused row by row."""

    def _changes_of(self, request: BatchWrite) -> Sequence[RowChange]:
        """The checked changes of a batch, in their order."""
        check_batch_write(request)
        changes = [change for asked in request.tables for change in asked.changes]
        for change in changes:
            check_change(change, self._names)
        return changes

    def _note(self, table: Table, shard: bytes) -> None:
        """Count one write unit, as each begin and each end costs (change §B3)."""
        self._context.notes.add(table.id, shard[ROW_PREFIX_BYTES:], 0, 1)


def check_scope(table: str, asked: str) -> None:
    """Raise `InvalidRequest(TRANSACTION_SCOPE)` unless a request is for the transaction's table."""
    if asked != table:
        raise InvalidRequest(TablestoreRule.TRANSACTION_SCOPE)
