"""A local index as a table of its own: the keys that readers see, and the stored keys.

    seen      10 index-id partition-key rest
    stored    13 table-id partition-key index-id rest

So a read of the index is a read of a table through `LocalIndexReader`. Entries of one index and one
partition key are stored together; between two partition keys lie the entries of other indexes,
which a scan skips.
"""

from collections.abc import Generator, Iterator, Sequence
from typing import Final, final

from widerow.keys.decode import key_value_end
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES, local_index_prefix, row_prefix
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyType
from widerow.storage.interface import Reader

__all__ = ["LocalIndexReader"]

_OTHERS: Final = 8  # entries of other indexes in a row before a scan seeks the next group
_NO_GROUP: Final = b"\xff"  # no stored entry begins with it
_Entries = Generator[tuple[bytes, bytes], None, tuple[bytes, bytes] | None]
_NUMBER_BYTES: Final = 4
_TERMINATOR: Final = b"\x00\x01"


@final
class LocalIndexReader:
    """The entries of one local index, as the rows of a table."""

    __slots__ = ("_kind", "_number", "_reader", "_seen", "_stored")

    def __init__(self, reader: Reader, index: Table) -> None:
        """The entries of `index` in the store that `reader` shows."""
        self._reader = reader
        self._kind = index.key_columns[0].type
        self._number = index.id.to_bytes(_NUMBER_BYTES, "big")
        self._seen = row_prefix(index.id)
        self._stored = local_index_prefix(index.index_of)

    def get(self, key: bytes) -> bytes | None:
        """The record of an entry, or None."""
        return self._reader.get(self._stored_key(key))

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The records of entries in the order of `keys`."""
        return self._reader.get_many([self._stored_key(key) for key in keys])

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Entries with start ≤ key < stop, ascending, or descending when `reverse`.

        Cost: the entries, one seek for each of their partition keys, and more seeks where the table
        has other local indexes.
        """
        first, last = self._bound(start), self._bound(stop)
        return self._descending(first, last) if reverse else self._ascending(first, last)

    # --- stored positions --------------------------------------------------------------------

    def _stored_key(self, key: bytes) -> bytes:
        end = key_value_end(key, ROW_PREFIX_BYTES, self._kind)
        return self._stored + key[ROW_PREFIX_BYTES:end] + self._number + key[end:]

    def _bound(self, seen: bytes) -> bytes:
        """The stored key for a bound of a scan.

        A bound that ends inside the partition key lies before or after all keys of each partition
        key.
        """
        if seen <= self._seen:
            return self._stored
        if not seen.startswith(self._seen):
            return after_prefix(self._stored)
        end = self._partition_end(seen)
        if end is None:
            return self._stored + seen[ROW_PREFIX_BYTES:]
        return self._stored + seen[ROW_PREFIX_BYTES:end] + self._number + seen[end:]

    def _partition_end(self, seen: bytes) -> int | None:
        if self._kind is KeyType.INTEGER:
            end = ROW_PREFIX_BYTES + 8
            return end if end <= len(seen) else None
        found = seen.find(_TERMINATOR, ROW_PREFIX_BYTES)
        return None if found < 0 else found + len(_TERMINATOR)

    def _group(self, key: bytes) -> bytes:
        """The stored prefix of this index's entries with the partition key of `key`."""
        return key[: key_value_end(key, ROW_PREFIX_BYTES, self._kind)] + self._number

    # --- scanning ----------------------------------------------------------------------------

    def _ascending(self, first: bytes, last: bytes) -> Iterator[tuple[bytes, bytes]]:
        while True:
            stuck = yield from self._own(self._reader.scan(first, last))
            if stuck is None:
                return
            key, group = stuck
            first = group if key < group else after_prefix(group[:-_NUMBER_BYTES])

    def _descending(self, first: bytes, last: bytes) -> Iterator[tuple[bytes, bytes]]:
        while True:
            stuck = yield from self._own(self._reader.scan(first, last, reverse=True))
            if stuck is None:
                return
            key, group = stuck
            last = after_prefix(group) if key > group else group[:-_NUMBER_BYTES]

    def _own(self, found: Iterator[tuple[bytes, bytes]]) -> _Entries:
        """The pairs of `found` that are of this index, with the keys that readers see.

        After too many pairs of other indexes in a row it returns the last such key, and the prefix
        of this index's entries with that partition key.
        """
        group, size, shown, others = _NO_GROUP, 0, b"", 0
        for key, record in found:
            if not key.startswith(group):
                group = self._group(key)
                if not key.startswith(group):
                    others += 1
                    if others > _OTHERS:
                        return key, group
                    group = _NO_GROUP
                    continue
                size, others = len(group), 0
                shown = self._seen + group[ROW_PREFIX_BYTES:-_NUMBER_BYTES]
            yield shown + key[size:], record
        return None
