"""Rows between PlainBuffer and Python, with all versions of their cells (wire §2.1, §2.2)."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from widerow.client.failures import RequestFailed
from widerow.errors import StoreDamaged
from widerow.limits import CELLS_PER_CHANGE_MAX
from widerow.model.tablestore.row import CellOperation
from widerow.model.values import KeyInput, KeyValue, Value
from widerow.rows.cells import (
    PLAIN_HEADER,
    TAG_CELL,
    TAG_CELL_CHECKSUM,
    TAG_CELL_NAME,
    TAG_CELL_TIMESTAMP,
    TAG_CELL_TYPE,
    cell_body,
    encode_key_section,
    seal,
    version_bytes,
)
from widerow.rows.checksum import crc8, crc8_byte
from widerow.rows.plain_values import (
    ChangedRow,
    Row,
    VersionedValue,
    decode_plain_change,
    decode_plain_rows,
)
from widerow.wire.tablestore.plainbuffer import encode_primary_key

__all__ = [
    "PIECE_BYTES",
    "CellEdit",
    "decode_change",
    "decode_rows",
    "encode_delete",
    "encode_edits",
    "encode_plain_key",
    "encode_put",
    "pieces",
]

PIECE_BYTES: Final = 3 * 1024 * 1024
"""Encoded bytes of one row change; a batch may have 4 MB (semantics §4.8)."""


class CellEdit(NamedTuple):
    """What a write does with one column.

    `value`: what is put, or what is added by an increment; None for the two deletions. `version`:
    milliseconds since 1970, None where the server is to choose, or the operation has none.
    """

    column: str
    value: Value | None
    version: int | None = None
    operation: CellOperation = CellOperation.PUT


def encode_plain_key(columns: Sequence[tuple[str, KeyInput]]) -> bytes:
    """A primary key alone; bounds of ranges may hold markers."""
    return encode_primary_key(*encode_key_section(columns))


def encode_delete(columns: Sequence[tuple[str, KeyInput]]) -> bytes:
    """The encoded change that deletes the row of this key."""
    section, crc = encode_key_section(columns)
    return b"%b%b\x08\x09%c" % (PLAIN_HEADER, section, crc8_byte(1, crc))


def encode_put(key: Sequence[tuple[str, KeyValue]], cells: Iterable[VersionedValue]) -> bytes:
    """The encoded change that puts these cells into the row of this key.

    Raises: `ValueError` and `struct.error` for values that have no encoding. Linear.
    """
    return _joined(key, [_sealed(each) for each in cells])


def encode_edits(key: Sequence[tuple[str, KeyInput]], edits: Iterable[CellEdit]) -> bytes:
    """The encoded change that does this to the row of this key: of a put, or of an update.

    Raises: `ValueError` and `struct.error` for values that have no encoding. Linear.
    """
    return _joined(key, [_edited(each) for each in edits])


def pieces(row: Row) -> list[bytes]:
    """Changes that make the row together: the first puts it, the others update it, in order.

    One, unless the row has more cells or bytes than a change may have.
    """
    if len(row.cells) <= CELLS_PER_CHANGE_MAX:
        whole = encode_put(row.key, row.cells)
        if len(whole) <= PIECE_BYTES:
            return [whole]
    made: list[list[bytes]] = [[]]
    size = 0
    for cell in map(_sealed, row.cells):
        if made[-1] and (len(made[-1]) == CELLS_PER_CHANGE_MAX or size + len(cell) > PIECE_BYTES):
            made.append([])
            size = 0
        made[-1].append(cell)
        size += len(cell)
    return [_joined(row.key, cells) for cells in made]


def _sealed(cell: VersionedValue) -> bytes:
    return seal(*cell_body(cell.column, cell.value), cell.version)


def _edited(edit: CellEdit) -> bytes:
    """One cell of a change; the operation is the last of what its checksum covers (wire §2.2)."""
    if edit.value is None:
        name = edit.column.encode()
        head = bytes((TAG_CELL, TAG_CELL_NAME))
        body, crc = b"%b%b%b" % (head, len(name).to_bytes(4, "little"), name), crc8(name)
    else:
        body, crc = cell_body(edit.column, edit.value)
    stamp = b"" if edit.version is None else version_bytes(edit.version)
    crc = crc8(stamp, crc)
    operation = b""
    if edit.operation is not CellOperation.PUT:
        operation = bytes((TAG_CELL_TYPE, edit.operation))
        crc = crc8_byte(edit.operation, crc)
    stamped = bytes((TAG_CELL_TIMESTAMP,)) + stamp if stamp else b""
    return b"%b%b%b%c%c" % (body, operation, stamped, TAG_CELL_CHECKSUM, crc)


def _joined(key: Sequence[tuple[str, KeyInput]], cells: Sequence[bytes]) -> bytes:
    section, crc = encode_key_section(key)
    if cells:
        crc = crc8(bytes(cell[-1] for cell in cells), crc)
        section += b"\x02"
    return b"".join((PLAIN_HEADER, section, *cells, b"\x09", bytes((crc8_byte(0, crc),))))


def decode_rows(data: bytes) -> list[Row]:
    """The rows of an answer, every checksum verified. Raises: `RequestFailed`. Linear."""
    try:
        return decode_plain_rows(data)
    except StoreDamaged as error:
        raise _damaged(error) from error


def decode_change(data: bytes) -> ChangedRow:
    """The row of a change record (`decode_plain_change`). Raises: `RequestFailed`. Linear."""
    try:
        return decode_plain_change(data)
    except StoreDamaged as error:
        raise _damaged(error) from error


def _damaged(error: StoreDamaged) -> RequestFailed:
    return RequestFailed(f"an answer is damaged: {error}; try again")
