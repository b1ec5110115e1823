"""What a process knows of the transactions of a shared store: a cache, and a count of those open.

What was written in a transaction is worth keeping, because it is made out of the records of all its
requests. It may be forgotten at any time, and is then made again.
"""

from hmac import compare_digest
from typing import NamedTuple, final

from widerow.clock import Clock
from widerow.engine.tablestore.shard_locks import decode_lock, lock_key
from widerow.engine.tablestore.transactions.open_transaction import WrittenRows
from widerow.errors import Exhausted, StoreBusy
from widerow.limits import (
    LOCAL_TRANSACTION_LOOK_SECONDS,
    LOCAL_TRANSACTIONS_BYTES_MAX,
    LOCAL_TRANSACTIONS_MAX,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.storage.interface import Store

__all__ = ["KnownTransactions", "ShardRows"]

_LOOK_NS = LOCAL_TRANSACTION_LOOK_SECONDS * 1_000_000_000


@final
class ShardRows(WrittenRows):
    """What was written by the first `requests` that wrote in a transaction.

    `read_units`: those of each of the `writes`.
    """

    __slots__ = ("read_units", "requests")

    def __init__(self, shard: bytes) -> None:
        """Nothing was written."""
        super().__init__(shard)
        self.requests = 0
        self.read_units: list[int] = []

    def copy(self) -> "ShardRows":
        """An equal one, which may be changed. The cost grows with the number of writes."""
        made = ShardRows(self.shard)
        made.overlay = self.overlay.copy()
        made.writes = self.writes.copy()
        made.read_units = self.read_units.copy()
        made.requests = self.requests
        made.data_bytes, made.held_bytes = self.data_bytes, self.held_bytes
        return made


class _Known(NamedTuple):
    """A transaction as this process knows it. `rows` are copied and never changed."""

    instance: str
    chance: bytes
    until_us: int
    rows: ShardRows


class KnownTransactions:
    """The transactions that were begun or used by this process, by their ids.

    **Threads.** Any thread; every step is one operation of a dictionary. Where two threads keep the
    same transaction at once, what one of them keeps may be lost, and is read again.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        """Nothing is known."""
        self._store = store
        self._clock = clock
        self._known: dict[str, _Known] = {}  # those used last stand behind
        self._looked_ns = clock.monotonic_ns()

    def __len__(self) -> int:
        return len(self._known)

    def check_room(self, instance: str) -> None:
        """Raise `Exhausted(TRANSACTION_COUNT)` where an instance has too many transactions."""
        if len(self._known) < LOCAL_TRANSACTIONS_MAX:
            return
        self._forget_late()
        count = sum([each.instance == instance for each in list(self._known.values())])
        if count >= LOCAL_TRANSACTIONS_MAX:
            raise Exhausted(TablestoreRule.TRANSACTION_COUNT, limit=LOCAL_TRANSACTIONS_MAX)

    def rows_of(self, identity: str, shard: bytes) -> ShardRows:
        """What is known to be written in a transaction, to be changed by the caller."""
        known = self._known.get(identity)
        return ShardRows(shard) if known is None else known.rows.copy()

    def keys_of(self, identity: str) -> list[bytes]:
        """The keys of rows that are known to be written in a transaction."""
        known = self._known.get(identity)
        return [] if known is None else [write.key for write in known.rows.writes]

    def held_bytes(self, identity: str) -> int:
        """About how much memory the writes of a transaction take, as far as they are known."""
        known = self._known.get(identity)
        return 0 if known is None else known.rows.held_bytes

    def keep(self, identity: str, known: tuple[str, bytes, int], rows: ShardRows) -> None:
        """Keep what was written in a transaction, unless more of it is known.

        `known`: its instance, its chance, and when it ends. Nobody may change `rows` any more.
        """
        former = self._known.pop(identity, None)
        if former is not None and former.rows.requests > rows.requests:
            rows = former.rows
        self._known[identity] = _Known(*known, rows)
        if rows.held_bytes:
            self._forget_rows()

    def _forget_rows(self) -> None:
        """Where they take too much memory, forget rows of what was not used for longest."""
        everything = list(self._known.items())
        held = sum([known.rows.held_bytes for _, known in everything])
        for identity, known in everything:
            if held <= LOCAL_TRANSACTIONS_BYTES_MAX:
                return
            held -= known.rows.held_bytes
            if self._known.pop(identity, None) is not None:
                self._known[identity] = known._replace(rows=ShardRows(known.rows.shard))

    def drop(self, identity: str) -> None:
        """Forget a transaction that has ended."""
        self._known.pop(identity, None)

    def forget_ended(self) -> None:
        """Forget those whose time is over, and where there are many, those that others ended."""
        if not self._known:
            return
        self._forget_late()
        now_ns = self._clock.monotonic_ns()
        if 2 * len(self._known) < LOCAL_TRANSACTIONS_MAX or now_ns - self._looked_ns < _LOOK_NS:
            return
        self._looked_ns = now_ns
        asked = list(self._known.items())
        try:
            keys = [lock_key(known.rows.shard) for _, known in asked]
            found = self._store.get_together(keys)
        except StoreBusy:
            return  # those that have ended are forgotten at a later look
        for (identity, known), record in zip(asked, found, strict=True):
            if record is None or not compare_digest(decode_lock(record).chance, known.chance):
                self.drop(identity)

    def _forget_late(self) -> None:
        now_us = self._clock.now_us()
        for identity, known in list(self._known.items()):
            if now_us >= known.until_us:
                self.drop(identity)
