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
_SEGMENT: Final = int(RecordKind.SEGMENT)


class Walk:
    """A pass over one piece, cut at partition key values into parts of about `unit` bytes."""

    __slots__ = (
        "_begun",
        "_end",
        "_key",
        "_key_rows",
        "_key_size",
        "_keys",
        "_last",
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
        self._last = Piece(start, walked=0)
        self.found = [self._last]
        self._end = end
        self._unit = unit
        self._prefix = row_prefix(table_id)
        self._position = self._prefix + start
        self._begun = b""  # the beginning of the keys that are being read
        self._key: bytes | None = None
        self._key_size = self._key_rows = 0  # of the key whose records are being read
        self._keys = 0  # keys in the last piece

    def step(self, reader: Reader, records: int = STEP_RECORDS, size: int = STEP_BYTES) -> bool:
        """Read so many records and about so many bytes on, but each row whole.

        True once the piece was read to its end: then `found` is complete.
        """
        for key, record in self._rest(reader):
            if record[0] != _SEGMENT:
                if records <= 0 or size <= 0:
                    self._position = key
                    return False
                self._add(key, record)
            records -= 1
            size -= len(key) + len(record)
        self._end_key()
        for piece in self.found:
            piece.walked = piece.size
        return True

    def _rest(self, reader: Reader) -> Iterator[tuple[bytes, bytes]]:
        end = after_prefix(self._prefix) if self.stop is None else self._prefix + self.stop
        return reader.scan(self._position, end)

    def _add(self, key: bytes, record: bytes) -> None:
        # No encoded key value is the beginning of another one.
        if not self._begun or not key.startswith(self._begun):
            self._end_key()
            self._begun = key[: self._end(key)]
            self._begin_key(self._begun[len(self._prefix) :])
        size = record_bytes(key, record)
        last = self._last
        last.size += size
        last.rows += 1
        self._key_size += size
        self._key_rows += 1

    def _begin_key(self, key: bytes) -> None:
        self._key = key
        if self._last.size >= self._unit // 2:
            self._last = Piece(key, walked=0)
            self.found.append(self._last)
            self._keys = 0
        self._keys += 1
        self._key_size = self._key_rows = 0

    def _end_key(self) -> None:
        """End a key: one that is large gets a piece of its own."""
        last = self._last
        if self._keys == 1:
            last.only = self._key
            return
        last.only = None
        if self._key is not None and self._key_size >= self._unit // 2:
            last.size -= self._key_size
            last.rows -= self._key_rows
            self._last = Piece(self._key, self._key_size, self._key_rows, walked=0, only=self._key)
            self.found.append(self._last)
            self._keys = 1
