"""Changes of rows in Tablestore's tables, as observers are told of them (`observer.py`).

A change is made in a buffer over the transaction. Then the transaction still shows the former row
and the buffer shows the new one, whichever way the change was made and however many segments it
touched; so observers decode what they ask for and nothing else. Then the buffer is written.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, final

from widerow.engine.observer import RowEvent, Watch
from widerow.engine.tablestore.stored import cells_named, row_cells, segments_from
from widerow.engine.tablestore.writes import RowWrite
from widerow.rows.cells import Cell, split_cells
from widerow.rows.record import HEADER_BYTES, RecordKind, header_of
from widerow.storage.interface import Reader, Transaction
from widerow.storage.pending import Overlay, WriteSet

__all__ = ["ObservedRow", "change_observed"]

T = TypeVar("T")


@final
class ObservedRow:
    """A row as it is stored, whole or wide; nothing is decoded before it is asked for.

    `key`: where it is stored; `record`: what stands there.
    """

    __slots__ = ("_reader", "key", "record")

    def __init__(self, reader: Reader, key: bytes, record: bytes) -> None:
        self._reader = reader
        self.key = key
        self.record = record

    def cells_of(self, names: frozenset[str]) -> list[Cell]:
        """The stored cells of these columns in stored order; reads only their segments."""
        record, header = self.record, header_of(self.record)
        if header.kind != RecordKind.ROW:
            return cells_named(self._reader, self.key, record, header, names)
        if header.cell_count == 0:
            return []
        start, stop = HEADER_BYTES + header.key_length + 1, len(record) - 2
        return split_cells(record, start, stop, [name.encode() for name in names])

    def cells(self) -> Iterator[Cell]:
        """Every stored cell in stored order: also expired ones and versions beyond the bound.

        Of a wide row one segment is held at a time.
        """
        header = header_of(self.record)
        if header.kind != RecordKind.WIDE:
            yield from row_cells(self.record, header)
            return
        for segment in segments_from(self._reader, self.key, ""):
            yield from segment


def change_observed(
    txn: Transaction,
    row: tuple[bytes, bytes],
    watch: Watch,
    change: Callable[[Transaction], T],
    asked: tuple[RowWrite, int] | None = None,
) -> T:
    """Make a change of a row and tell the observers before it is stored.

    `row`: where it is stored, and the prefix of its shard. `asked`: the write of a client, and when
    it was asked for (`RowEvent`). Without it, observers are not told where `change` writes nothing.
    Raises what `change` and the observers raise. Memory: what the change writes.
    """
    key, shard = row
    buffer = _Buffer(txn)
    result = change(buffer)
    if buffer.changes or asked is not None:
        write, asked_us = (None, 0) if asked is None else asked
        old, new = _row(txn, key), _row(buffer, key)
        watch.changed(txn, RowEvent(key, shard, old, new, write, asked_us))
        buffer.changes.write_to(txn)
    return result


def _row(reader: Reader, key: bytes) -> ObservedRow | None:
    record = reader.get(key)
    return None if record is None else ObservedRow(reader, key, record)


@final
class _Buffer:
    """Collects writes over a transaction, which does not see them before they are made there."""

    __slots__ = ("_reader", "changes")

    def __init__(self, txn: Transaction) -> None:
        self.changes = WriteSet()
        self._reader = Overlay(txn, self.changes)

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        return self._reader.get(key)

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order."""
        return self._reader.get_many(keys)

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Pairs with start ≤ key < stop."""
        return self._reader.scan(start, stop, reverse=reverse)

    def put(self, key: bytes, value: bytes) -> None:
        """Set `key` to `value`."""
        self.changes.entries[key] = value

    def delete(self, key: bytes) -> None:
        """Remove `key`."""
        self.changes.entries[key] = None

    def delete_range(self, start: bytes, stop: bytes) -> None:
        """Remove every key with start ≤ key < stop."""
        self.changes.remove_range(start, stop)
