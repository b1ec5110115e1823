"""The row writes of one request in a local transaction, as a record of the shard (change §B5).

Whoever reads the record makes the same writes again over the same rows, and gets what the request
got: each write has its time, the number that it drew, and the options of the table that it was made
by. Conditions have been judged, and nobody else writes the rows; so they are not kept, but for the
read units that they cost. (docs/formats/keys.md, "Local transactions")
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from widerow.engine.tablestore.writes import RowWrite
from widerow.errors import StoreDamaged
from widerow.keys.decode import decode_key
from widerow.keys.layout import ROW_PREFIX_BYTES
from widerow.model.tablestore.condition import UNCONDITIONAL
from widerow.model.tablestore.row import (
    CellChange,
    CellOperation,
    Modification,
    PrimaryKey,
    RowChange,
)
from widerow.model.tablestore.schema import Table, TableOptions
from widerow.model.values import KeyMarker

__all__ = ["MadeWrite", "decode_request", "encode_request"]

_VERSION: Final = 1
_HEAD: Final = struct.Struct(">BI")  # the version, and how many writes follow
_WRITE: Final = struct.Struct(">BBqIHI")  # kind, flags, time, read units, length of the key, cells
_OPTIONS: Final = struct.Struct(">qqqBB")
_CELL: Final = struct.Struct(">BBqIBHI")  # operation, flags, version, size, checksum, lengths

_DREW_NUMBER: Final = 1  # flags of a write
_KEEPS_NUMBER: Final = 2
_DATED: Final = 1  # flag of a cell


class MadeWrite(NamedTuple):
    """A row write as it was made in a transaction, and the read units that it cost."""

    write: RowWrite
    read_units: int


def encode_request(shard: bytes, made: Sequence[MadeWrite]) -> bytes:
    """The record of writes in their order; `shard`: the prefix of their rows."""
    parts = [_HEAD.pack(_VERSION, len(made))]
    for write, read_units in made:
        parts += _encoded_write(write, read_units, write.key[len(shard) :])
    return b"".join(parts)


def _encoded_write(write: RowWrite, read_units: int, key: bytes) -> Iterator[bytes]:
    change, options, index = write.change, write.table.options, write.table.auto_increment
    drew = index is not None and change.key.columns[index][1] is KeyMarker.AUTO_INCREMENT
    flags = _DREW_NUMBER * drew | _KEEPS_NUMBER * change.keeps_number
    cells = change.cells
    kind = change.modification
    yield _WRITE.pack(kind, flags, write.now_ms, read_units, len(key), len(cells))
    yield _OPTIONS.pack(
        options.time_to_live,
        options.max_versions,
        options.max_version_offset,
        options.allow_update,
        options.update_full_row,
    )
    yield key
    for cell in cells:
        name, version = cell.name.encode(), 0 if cell.version is None else cell.version
        dated = _DATED * (cell.version is not None)
        lengths = len(name), len(cell.body)
        yield _CELL.pack(cell.operation, dated, version, cell.size, cell.crc, *lengths)
        yield name
        yield cell.body


def decode_request(table: Table, shard: bytes, record: bytes) -> list[MadeWrite]:
    """The writes of a record, in their order. Raises `StoreDamaged`."""
    try:
        version, count = _HEAD.unpack_from(record)
        if version != _VERSION:
            raise StoreDamaged(f"a request of the unknown form {version} in a local transaction")
        reading = _Reading(table, shard, record, _HEAD.size)
        made = [reading.write() for _ in range(count)]
        if reading.at != len(record):
            raise StoreDamaged("bytes behind the last write of a request")
    except (struct.error, ValueError) as error:
        told = f"a request of a local transaction is not readable: {error}"
        raise StoreDamaged(told) from error
    return made


class _Reading:
    """How far a record was read."""

    def __init__(self, table: Table, shard: bytes, record: bytes, at: int) -> None:
        self.at = at
        self._table = table
        self._shard = shard
        self._record = record

    def _unpack(self, form: struct.Struct) -> tuple[int, ...]:
        found = form.unpack_from(self._record, self.at)
        self.at += form.size
        return found

    def _bytes(self, length: int) -> bytes:
        found = self._record[self.at : self.at + length]
        if len(found) != length:
            raise ValueError(f"it ends before {length} bytes at {self.at}")
        self.at += length
        return found

    def write(self) -> MadeWrite:
        """The next write."""
        kind, flags, now_ms, read_units, length, count = self._unpack(_WRITE)
        to_live, versions, offset, update, full = self._unpack(_OPTIONS)
        options = TableOptions(to_live, versions, offset, bool(update), bool(full))
        table = self._table
        if table.options != options:
            table = replace(table, options=options)
        key = self._shard + self._bytes(length)
        values, end = decode_key(key, ROW_PREFIX_BYTES, [each.type for each in table.key_columns])
        if end != len(key):
            raise ValueError("the key of a row is not one of its table")
        asked: list[object] = list(values)
        if flags & _DREW_NUMBER and table.auto_increment is not None:
            asked[table.auto_increment] = KeyMarker.AUTO_INCREMENT
        names = [each.name for each in table.key_columns]
        primary = PrimaryKey(tuple(zip(names, asked, strict=True)))  # type: ignore[arg-type]  # values, or the marker
        cells = tuple([self._cell() for _ in range(count)])
        change = RowChange(table.name, Modification(kind), primary, cells, UNCONDITIONAL)
        change.keeps_number = bool(flags & _KEEPS_NUMBER)
        return MadeWrite(RowWrite(table, change, key, values, now_ms), read_units)

    def _cell(self) -> CellChange:
        operation, flags, version, size, crc, name_length, body_length = self._unpack(_CELL)
        name = self._bytes(name_length).decode()
        body = self._bytes(body_length)
        dated = version if flags & _DATED else None
        return CellChange(CellOperation(operation), name, dated, size, body, crc)
