"""What hears of every change of a row, in the transaction that makes it."""

from typing import Protocol

from widerow.engine.typed.form import TableForm
from widerow.engine.typed.stored import StoredRow
from widerow.storage.interface import Transaction

__all__ = ["LoadRecorder", "RowObserver"]


class RowObserver(Protocol):
    """Keeps indexes true. Asked for tables that have indexes only."""

    def shards(self, form: TableForm) -> tuple[bytes, ...]:
        """Prefixes beside the row's own shard that a write of the table may touch."""
        ...

    def changed(
        self,
        txn: Transaction,
        form: TableForm,
        key: bytes,
        rows: tuple[StoredRow | None, StoredRow | None],
    ) -> None:
        """A row of `form` is written: `rows` are the former one and the new one, None where none.

        The former row may have expired. What this raises refuses the write.
        """
        ...


class LoadRecorder(Protocol):
    """Counts what each shard is asked for."""

    def __call__(  # as the partitions count it
        self, table_id: int, key: bytes, reads: int, writes: int, rows: int = 0, size: int = 0
    ) -> None:
        """So many capacity units were used on one shard of the table hierarchy `table_id`.

        `key`: the encoded shard key. `rows`, `size`: by how much the hierarchy grew there.
        """
        ...
