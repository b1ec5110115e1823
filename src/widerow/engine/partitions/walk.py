"""Learning the sizes of keys inside a piece, a few hundred records at a time."""

from collections.abc import Iterator
from typing import Final

from widerow.engine.partitions.partitioned_tables import KeyEnd
from widerow.engine.partitions.sizes import Piece
from widerow.keys.encode import after_prefix
from widerow.keys.layout import row_prefix
from widerow.rows.record import RecordKind, record_bytes
from widerow.storage.interface import Reader

__all__ = ["Walk"]

STEP_RECORDS: Final = 500  # read in one step: one to four milliseconds
STEP_BYTES: Final = 256 * 1024  # where records are large


class Walk:
    """A pass over one piece, cut at partition key values into parts of about `unit` bytes."""

    __slots__ = (
        "_end",
        "_key",
        "_key_rows",
        "_key_size",
        "_keys",
        "_position",
        "_prefix",
        "_unit",
        "found",
        "start",
        "stop",
    )

    def __init__(
        self, table_id: int, end: KeyEnd, start: bytes, stop: bytes | None, unit: int
    ) -> None:
        """Begin at `start`; `stop` None is the end of the table. `end`: of partition keys."""
        self.start, self.stop = start, stop
        self.found = [Piece(start, walked=0)]
        self._end = end
        self._unit = unit
        self._prefix = row_prefix(table_id)
        self._position = self._prefix + start
        self._key: bytes | None = None
        self._key_size = self._key_rows = 0  # of the key whose records are being read
        self._keys = 0  # keys in the last piece

    def step(self, reader: Reader, records: int = STEP_RECORDS, size: int = STEP_BYTES) -> bool:
        """Read so many records and about so many bytes on, but each row whole.

        True once the piece was read to its end: then `found` is complete.
        """
        for count, (key, record) in enumerate(self._rest(reader)):
            if record[0] != RecordKind.SEGMENT:
                if count >= records or size <= 0:
                    self._position = key
                    return False
                self._add(key, record)
            size -= len(key) + len(record)
        self._end_key()
        for piece in self.found:
            piece.walked = piece.size
        return True

    def _rest(self, reader: Reader) -> Iterator[tuple[bytes, bytes]]:
        end = after_prefix(self._prefix) if self.stop is None else self._prefix + self.stop
        return reader.scan(self._position, end)

    def _add(self, key: bytes, record: bytes) -> None:
        partition_key = key[len(self._prefix) : self._end(key)]
        if partition_key != self._key:
            self._end_key()
            self._begin_key(partition_key)
        size = record_bytes(key, record)
        last = self.found[-1]
        last.size += size
        last.rows += 1
        self._key_size += size
        self._key_rows += 1

    def _begin_key(self, key: bytes) -> None:
        self._key = key
        if self.found[-1].size >= self._unit // 2:
            self.found.append(Piece(key, walked=0))
            self._keys = 0
        self._keys += 1
        self._key_size = self._key_rows = 0

    def _end_key(self) -> None:
        """End a key: one that is large gets a piece of its own."""
        last = self.found[-1]
        if self._keys == 1:
            last.only = self._key
            return
        last.only = None
        if self._key is not None and self._key_size >= self._unit // 2:
            last.size -= self._key_size
            last.rows -= self._key_rows
            alone = Piece(self._key, self._key_size, self._key_rows, walked=0, only=self._key)
            self.found.append(alone)
            self._keys = 1
