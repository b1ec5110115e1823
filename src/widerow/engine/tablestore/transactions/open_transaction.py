"""One local transaction that is open: its lock, what it has written, and who is at work in it.

What it has written is kept twice. The overlay says what readers inside see: records over the
published view. The row writes, in their order and each as of the moment it was made at, are what
Commit makes again in the store: then observers hear of each of them. Both give the same rows,
because nobody else writes the key meanwhile.

**Threads.** One request at a time is at work in it. Whoever begins takes the only mark out of a
list, which Python does as a whole, and puts it back at the end; so what the mark protects needs no
other protection. Releasing the lock may happen at any moment (`engine/locks.py`): what a request at
work does to a transaction that is over is forgotten with it.
"""

from typing import final

from widerow.engine.locks import Lock
from widerow.engine.tablestore.writes import RowWrite
from widerow.errors import Conflict, Rule
from widerow.model.tablestore.schema import Table
from widerow.storage.interface import Reader
from widerow.storage.pending import Overlay, WriteSet

__all__ = ["OpenTransaction"]


@final
class OpenTransaction:
    """A transaction on one partition key value of one table.

    `table`: as it was when the transaction began. `data_bytes`: written by its requests, as limits
    count them. `held_bytes`: about how much memory it takes. `writes`: in the order in which they
    were made.
    """

    __slots__ = (
        "_committing",
        "_marks",
        "data_bytes",
        "held_bytes",
        "id",
        "instance",
        "lock",
        "overlay",
        "table",
        "writes",
    )

    def __init__(self, identity: str, instance: str, table: Table, lock: Lock) -> None:
        """A transaction that has written nothing."""
        self.id = identity
        self.instance = instance
        self.table = table
        self.lock = lock
        self.overlay = WriteSet()
        self.writes: list[RowWrite] = []
        self.data_bytes = self.held_bytes = 0
        self._marks = [True]
        self._committing: object = None

    def reader(self, base: Reader) -> Reader:
        """What requests inside read: `base` as the transaction has left it."""
        return Overlay(base, self.overlay)

    def enter(self) -> None:
        """A request begins. Raises `Conflict(TRANSACTION_BUSY)` while another one is at work.

        Also once a commit has run: what becomes of that is not known before its group has ended.
        """
        try:
            self._marks.pop()
        except IndexError:
            raise Conflict(Rule.TRANSACTION_BUSY) from None

    def leave(self) -> None:
        """The request that entered has ended."""
        self._marks.append(True)

    @property
    def is_busy(self) -> bool:
        """Whether a request is at work, or a commit has run."""
        return not self._marks

    def commit_by(self, owner: object) -> None:
        """From now on the transaction is that commit's, for good; the same one may ask again.

        Raises `Conflict(TRANSACTION_BUSY)` while a request is at work, and for another commit.
        """
        if self._committing is owner:
            return
        self.enter()
        self._committing = owner

    def apply(self, changes: WriteSet, write: RowWrite) -> None:
        """Keep a row write and what it changed: ranges first, as entries came behind them."""
        for start, stop in zip(changes.starts, changes.stops, strict=True):
            self.overlay.remove_range(start, stop)
        self.overlay.entries.update(changes.entries)
        self.writes.append(write)
