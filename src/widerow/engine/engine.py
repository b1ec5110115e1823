"""The operations of the table store, by their vendor's names.

Reads answer at once from the published view. Writes answer a `Plan`: the caller commits its writes
(one group with others', or alone through `run`) and reads the answer with `finish`. Every method
raises the errors of `widerow.errors` for requests that break a rule, and leaves nothing behind.
"""

from typing import TypeVar

from widerow.clock import Clock, Entropy
from widerow.engine.plan import Plan
from widerow.model.requests import (
    BatchGet,
    BatchWrite,
    CreateTable,
    GetRange,
    GetRow,
    RangePage,
    RowOutcome,
    RowRead,
    RowWritten,
    UpdateTable,
)
from widerow.model.row import RowChange
from widerow.model.schema import Table
from widerow.storage.interface import Store

__all__ = ["Engine"]

T = TypeVar("T")


class Engine:
    """One open table store. Any thread may call; planning and reading never wait for a sync."""

    def __init__(
        self, store: Store, clock: Clock, entropy: Entropy, *, tables_per_instance: int = 64
    ) -> None:
        """Load the catalogue. Raises `StoreDamaged` if the store is not one of ours."""
        raise NotImplementedError

    def run(self, plan: Plan[T]) -> T:
        """Commit a plan by itself and return its answer once it is durable."""
        raise NotImplementedError

    # --- tables ------------------------------------------------------------------------------

    def create_table(self, instance: str, request: CreateTable) -> Plan[None]:
        """CreateTable (semantics §2.1)."""
        raise NotImplementedError

    def list_tables(self, instance: str) -> tuple[str, ...]:
        """ListTable: the names of the instance's tables, sorted (semantics §2.2)."""
        raise NotImplementedError

    def describe_table(self, instance: str, table: str) -> Table:
        """DescribeTable (semantics §2.3)."""
        raise NotImplementedError

    def update_table(self, instance: str, request: UpdateTable) -> Plan[Table]:
        """UpdateTable: the table as it is afterwards (semantics §2.4)."""
        raise NotImplementedError

    def delete_table(self, instance: str, table: str) -> Plan[None]:
        """DeleteTable (semantics §2.5)."""
        raise NotImplementedError

    # --- rows --------------------------------------------------------------------------------

    def get_row(self, instance: str, request: GetRow) -> RowRead:
        """GetRow (semantics §5)."""
        raise NotImplementedError

    def batch_get_row(self, instance: str, request: BatchGet) -> list[list[RowOutcome]]:
        """BatchGetRow: one list a table, one outcome a row, in order (semantics §5.5)."""
        raise NotImplementedError

    def get_range(self, instance: str, request: GetRange) -> RangePage:
        """GetRange (semantics §5.6)."""
        raise NotImplementedError

    def write_row(self, instance: str, change: RowChange) -> Plan[RowWritten]:
        """PutRow, UpdateRow or DeleteRow, as `change.modification` says (semantics §4.1-4.7)."""
        raise NotImplementedError

    def batch_write_row(self, instance: str, request: BatchWrite) -> Plan[list[list[RowOutcome]]]:
        """BatchWriteRow: one list a table, one outcome a row, in order (semantics §4.8)."""
        raise NotImplementedError
