"""One open local transaction: what it has written, its lock, and whether a request is using it.

The writes are kept twice. The overlay is for reads inside: records over the published view. The row
writes, in their order and each with its time, are made again by Commit in the store: then observers
are told of each. Both give the same rows, because nobody else writes the key meanwhile.

**Threads.** One request at a time uses it. A request takes the only mark out of a list, which is
one step in Python, and puts it back at its end; so the rest of the object needs no lock. Releasing
the lock may happen at any moment (`engine/locks.py`): what a request at work does to a transaction
that is over is forgotten with it.
"""

from typing import final

from widerow.engine.locks import Lock
from widerow.engine.tablestore.writes import RowWrite
from widerow.errors import Conflict
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.storage.interface import Reader
from widerow.storage.pending import Overlay, WriteSet

__all__ = ["OpenTransaction", "WrittenRows"]


class WrittenRows:
    """What was written in a transaction on one partition key value of one table.

    `shard`: the prefix of the rows under that value. `data_bytes`: written by its requests, as
    limits count them. `held_bytes`: about how much memory it takes. `writes`: in the order in which
    they were made.
    """

    __slots__ = ("data_bytes", "held_bytes", "overlay", "shard", "writes")

    def __init__(self, shard: bytes) -> None:
        """Nothing was written."""
        self.shard = shard
        self.overlay = WriteSet()
        self.writes: list[RowWrite] = []
        self.data_bytes = self.held_bytes = 0

    def reader(self, base: Reader) -> Reader:
        """A reader for requests inside: `base` with the transaction's changes."""
        return Overlay(base, self.overlay)

    def apply(self, changes: WriteSet, write: RowWrite) -> None:
        """Keep a row write and its changes: ranges first; entries were written after them."""
        for start, stop in zip(changes.starts, changes.stops, strict=True):
            self.overlay.remove_range(start, stop)
        self.overlay.entries.update(changes.entries)
        self.writes.append(write)


@final
class OpenTransaction(WrittenRows):
    """A transaction of this process. `table`: as it was when the transaction began."""

    __slots__ = ("_committing", "_marks", "id", "instance", "lock", "table")

    def __init__(self, identity: str, instance: str, table: Table, lock: Lock) -> None:
        super().__init__(lock.shard)
        self.id = identity
        self.instance = instance
        self.table = table
        self.lock = lock
        self._marks = [True]
        self._committing: object = None

    def enter(self) -> None:
        """Begin a request. Raises `Conflict(TRANSACTION_BUSY)` while another one is running.

        It is raised also after a commit's body has run, because its outcome is not known yet.
        """
        try:
            self._marks.pop()
        except IndexError:
            raise Conflict(TablestoreRule.TRANSACTION_BUSY) from None

    def leave(self) -> None:
        """End the request that has called `enter`."""
        self._marks.append(True)

    @property
    def is_busy(self) -> bool:
        """Whether a request is running, or a commit's body has run."""
        return not self._marks

    def commit_by(self, owner: object) -> None:
        """Reserve the transaction for one commit, for good; that commit may call again.

        Raises `Conflict(TRANSACTION_BUSY)` while a request is running, and for another commit.
        """
        if self._committing is owner:
            return
        self.enter()
        self._committing = owner
