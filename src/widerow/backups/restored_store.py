"""A store while a backup is restored into it, as the engine may work on it before any server does.

What follows rows outside their shards (`engine/intents.py`, builds of indexes) is finished by the
engine as it does over a database across a network, in whatever store: the backup may hold intents
also where the store's own engine would leave none.
"""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TypeVar

from widerow.engine.catalog.catalog import STORE_FORMAT
from widerow.keys.layout import STORE_FORMAT_KEY
from widerow.storage.interface import Outcome, Snapshot, Store, Write

__all__ = ["RestoredStore"]

T = TypeVar("T")


class _Shown:
    """A snapshot in which the store has its format already."""

    def __init__(self, inner: Snapshot) -> None:
        self._inner = inner

    def get(self, key: bytes) -> bytes | None:
        return STORE_FORMAT if key == STORE_FORMAT_KEY else self._inner.get(key)

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        return self._inner.get_many(keys)

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        return self._inner.scan(start, stop, reverse=reverse)


class RestoredStore(Store):
    """Over a store that nobody else uses: of one process, and of transactions of one shard."""

    def __init__(self, inner: Store) -> None:
        """`inner` stays open when this store is closed."""
        self.capabilities = replace(
            inner.capabilities, atomic_across_shards=False, shared=False, one_moment=False
        )
        self._inner = inner
        self._writing = nullcontext()

    def snapshot(self) -> Snapshot:
        """A snapshot of the store, with the record of its format as it will be."""
        return _Shown(self._inner.snapshot())

    def transact_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        """As the store below, which tells the writes how they ended."""
        return self._inner.transact_group(writes)

    def _run_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        return self._inner.transact_group(writes)

    def statistics(self) -> dict[str, int]:
        """As the store below."""
        return self._inner.statistics()

    @property
    def writable(self) -> bool:
        """As the store below."""
        return self._inner.writable

    def distrust(self, reason: str) -> None:
        """As the store below."""
        self._inner.distrust(reason)

    def close(self) -> None:
        """Nothing: the store below stays open."""
