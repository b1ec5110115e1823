"""Removal of local transactions that nobody has ended in time, in small steps.

Whoever writes the key removes such a lock by himself (`shard_locks.py`); this is for keys that
nobody writes. A pass reads the locks of all tables, and passes over what was written in them where
that is much.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

from widerow.engine.plan import Plan, put_off
from widerow.engine.tablestore.bodies import BodyContext
from widerow.engine.tablestore.shard_locks import (
    decode_lock,
    is_over,
    lock_key,
    release_shard,
)
from widerow.keys.decode import key_value_end
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES, SPACE_ROWS, SPACE_TRANSACTIONS
from widerow.limits import LOCAL_TRANSACTION_SWEEP_BYTES, LOCAL_TRANSACTION_SWEEP_SECONDS
from widerow.storage.interface import Store, Transaction, Write

__all__ = ["LockSweep"]

_END: Final = after_prefix(SPACE_TRANSACTIONS)
_REST_NS: Final = LOCAL_TRANSACTION_SWEEP_SECONDS * 1_000_000_000
_RECORD_BYTES: Final = 512  # what a record costs beside its bytes, so that a step has an end


class LockSweep:
    """Looks at every lock once a minute. For one caller at a time."""

    def __init__(self, store: Store, context: BodyContext) -> None:
        """The first pass begins a minute from now. Where locks are in memory there is none."""
        self._store = store
        self._context = context
        self._position = _END  # where the pass goes on; the end: no pass is under way
        self._began_ns = context.clock.monotonic_ns()

    def step(self) -> Plan[None] | None:
        """Remove locks of the next part of the pass; None where there is nothing to remove now."""
        if not self._context.locks_in_shards:
            return None
        if self._position >= _END:
            now_ns = self._context.clock.monotonic_ns()
            if now_ns - self._began_ns < _REST_NS:
                return None
            self._began_ns, self._position = now_ns, SPACE_TRANSACTIONS
        writes = tuple(self._late())
        return Plan(writes, put_off) if writes else None

    def _late(self) -> Iterator[Write[None]]:
        """Writes that remove the late ones of the next locks; moves the position behind them."""
        clock = self._context.clock
        room = LOCAL_TRANSACTION_SWEEP_BYTES
        for key, record in self._store.snapshot().scan(self._position, _END):
            shard = self._shard(key)
            if shard is None:
                self._position = after_prefix(key[:ROW_PREFIX_BYTES])
                return
            self._position = after_prefix(lock_key(shard))
            if lock_key(shard) == key and is_over(decode_lock(record), clock):
                yield Write((key,), partial(self._remove, shard), frees=True)
            room -= len(record) + _RECORD_BYTES
            if room <= 0:
                return
        self._position = _END

    def _shard(self, key: bytes) -> bytes | None:
        """The rows' prefix of a lock or of what was written in it; None where its table is gone."""
        table = self._context.tables.by_id(int.from_bytes(key[1:ROW_PREFIX_BYTES], "big"))
        if table is None:
            return None
        end = key_value_end(key, ROW_PREFIX_BYTES, table.key_columns[0].type)
        return SPACE_ROWS + key[1:end]

    def _remove(self, shard: bytes, txn: Transaction) -> None:
        record = txn.get(lock_key(shard))
        if record is not None:
            lock = decode_lock(record)
            if is_over(lock, self._context.clock):
                release_shard(txn, shard, lock)
