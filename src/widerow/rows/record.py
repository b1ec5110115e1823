"""The record under a row's key: a fixed header, then bytes that can be sent without a change.

    whole row   header, primary key section, [02 cells], 09 row checksum
    wide row    header, primary key section; its cells in segments under keys of their own
    segment     header, cells

From the header alone it can be decided whether the bytes may be returned without decoding them
(docs/formats/rows.md). In the header of a wide row the counts are those of all segments. There
`versions_max` and `oldest` are bounds, because an update reads one segment only: `versions_max` may
be too large, and `oldest` may be too old.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple, final

from librt.strings import BytesWriter, read_i32_be, read_i64_be, write_i32_be, write_i64_be
from mypy_extensions import i32, i64, u8

from widerow.errors import StoreDamaged
from widerow.limits import INT64_MAX
from widerow.rows.cells import (
    TAG_ROW_CHECKSUM,
    TAG_ROW_DATA,
    Cell,
    cell_size,
)
from widerow.rows.checksum import combine, crc8, crc8_byte
from widerow.rows.plain import PlainCells, seal_onto

__all__ = [
    "HEADER_BYTES",
    "HEADER_FIELDS",
    "NO_CELLS",
    "Header",
    "RecordKind",
    "Summary",
    "encode_row",
    "encode_sealed",
    "encode_segment",
    "encode_wide_root",
    "header_of",
    "join_row",
    "join_segments",
    "record_bytes",
    "summarize",
]

_HEADER: Final = struct.Struct(">BBHHHIIQqq")
HEADER_BYTES: Final = _HEADER.size

HEADER_FIELDS: Final = (
    "kind",
    "flags",
    "key_length",
    "key_size",
    "crc",
    "cell_count",
    "versions_max",
    "data_size",
    "oldest",
    "latest_server",
)


class RecordKind:
    """The first byte of every record in the row space."""

    ROW: Final = 1
    WIDE: Final = 2
    SEGMENT: Final = 3


@final
class Header:
    """The header of a record. Fields are decoded on demand: most callers read three of the ten.

    Sizes in bytes as capacity units count them, versions in milliseconds. `header_of` makes one.
    """

    __slots__ = ("_record",)

    def __init__(self, record: bytes) -> None:
        """The first bytes of `record`, which must be `HEADER_BYTES` at least."""
        self._record = record

    @property
    def kind(self) -> int:
        """A `RecordKind`."""
        return self._record[0]

    @property
    def flags(self) -> int:
        """Zero: no flag is defined."""
        return self._record[1]

    @property
    def key_length(self) -> int:
        """Bytes of the primary key section; 0 in segments."""
        return _two_at(self._record, 2)

    @property
    def key_size(self) -> int:
        """The counted size of the primary key (semantics §9); 0 in segments."""
        return _two_at(self._record, 4)

    @property
    def crc(self) -> int:
        """The row checksum after the key section; in segments, that of the cells from state 0."""
        return _two_at(self._record, 6)

    @property
    def cell_count(self) -> int:
        """The number of cells."""
        return _four_at(self._record, 8)

    @property
    def versions_max(self) -> int:
        """The number of versions of the column with most versions."""
        return _four_at(self._record, 12)

    @property
    def data_size(self) -> int:
        """The counted size of the cells (semantics §9)."""
        return read_i64_be(self._record, 16)

    @property
    def oldest(self) -> int:
        """The smallest version of any cell; INT64_MAX without cells."""
        return read_i64_be(self._record, 24)

    @property
    def latest_server(self) -> int:
        """The largest version that the server chose in this row; later ones are not smaller."""
        return read_i64_be(self._record, 32)

    def __iter__(self) -> Iterator[int]:
        """The fields in the order of `HEADER_FIELDS`, which is that of the bytes."""
        return iter([getattr(self, name) for name in HEADER_FIELDS])


def _two_at(data: bytes, at: i64) -> i64:
    high: i64 = data[at]
    low: i64 = data[at + 1]
    return high << 8 | low


def _four_at(data: bytes, at: i64) -> i64:
    return i64(read_i32_be(data, at)) & 0xFFFF_FFFF  # a signed read


class Summary(NamedTuple):
    """The part of a header that depends on the cells."""

    cell_count: int
    versions_max: int
    data_size: int
    oldest: int


NO_CELLS: Final = Summary(0, 0, 0, INT64_MAX)


def header_of(record: bytes) -> Header:
    """The header of a record. Constant time.

    Raises `StoreDamaged` for a record that ends inside its header, and for kinds and flags that
    only a newer version of widerow writes.
    """
    if len(record) < HEADER_BYTES:
        raise StoreDamaged(f"a record ends inside its header: {record.hex()}")
    kind, flags = record[0], record[1]
    if not RecordKind.ROW <= kind <= RecordKind.SEGMENT or flags:
        raise StoreDamaged(f"a record of the unknown kind {kind} with flags {flags:02x}")
    return Header(record)


def record_bytes(key: bytes, record: bytes) -> int:
    """The stored bytes of a row, by its record; the header of a wide row counts its segments."""
    if record[0] == RecordKind.WIDE:
        return len(key) + len(record) + header_of(record).data_size
    return len(key) + len(record)


def summarize(cells: Sequence[Cell]) -> Summary:
    """The summary of cells in stored order (name ascending, version descending)."""
    if not cells:
        return NO_CELLS
    names = [cell.name for cell in cells]
    single = len(set(names)) == len(names)
    versions_max = 1 if single else max(len(list(group)) for _, group in groupby(names))
    size, oldest = 0, INT64_MAX
    for cell in cells:
        size += cell_size(cell.wire)
        oldest = min(oldest, cell.version)
    return Summary(len(cells), versions_max, size, oldest)


def _checksums_crc(wires: Iterable[bytes], state: int = 0) -> int:
    return crc8(bytes([wire[-1] for wire in wires]), state)


def join_row(key_section: bytes, key_crc: int, wires: Sequence[bytes]) -> bytes:
    """A row for the wire: key section, cells, row checksum (wire §2.1, §2.2)."""
    crc = crc8_byte(0, _checksums_crc(wires, key_crc))
    if not wires:
        return b"%b\x09%c" % (key_section, crc)
    return b"%b\x02%b\x09%c" % (key_section, b"".join(wires), crc)


def join_segments(key_section: bytes, key_crc: int, segments: Iterable[bytes]) -> bytes:
    """A wide row for the wire from its segment records, without reading its cells."""
    parts, crc, cell_count = [key_section, b"\x02"], key_crc, 0
    for segment in segments:
        header = header_of(segment)
        crc = combine(crc, header.crc, header.cell_count)
        cell_count += header.cell_count
        parts.append(segment[HEADER_BYTES:])
    if not cell_count:  # every column of the wide row was deleted
        parts = [key_section]
    parts.append(b"\x09" + bytes((crc8_byte(0, crc),)))
    return b"".join(parts)


def encode_row(
    key_section: bytes,
    key_crc: int,
    key_size: int,
    wires: Sequence[bytes],
    summary: Summary,
    latest_server: int,
) -> bytes:
    """The record of a whole row: the bytes of its cells in stored order, and their summary."""
    header = _HEADER.pack(
        RecordKind.ROW, 0, len(key_section), key_size, key_crc, *summary, latest_server
    )
    return header + join_row(key_section, key_crc, wires)


def encode_sealed(
    key_section: bytes, key_crc: int, key_size: int, cells: PlainCells, version: int, latest: int
) -> bytes:
    """`encode_row` of cells of different columns in stored order, which all get `version`.

    `latest`: the largest version that the server chose in the row.
    """
    writer = BytesWriter()
    writer.append(RecordKind.ROW)
    writer.append(0)
    _write_two(writer, len(key_section))
    _write_two(writer, key_size)
    _write_two(writer, key_crc)
    write_i32_be(writer, i32(len(cells.shape.names)))
    write_i32_be(writer, 1)
    write_i64_be(writer, cells.data_size)
    write_i64_be(writer, version)
    write_i64_be(writer, latest)
    writer.write(key_section)
    writer.append(TAG_ROW_DATA)
    crc = seal_onto(writer, cells, version, key_crc)
    writer.append(TAG_ROW_CHECKSUM)
    writer.append(crc8_byte(0, crc))
    return writer.getvalue()


def _write_two(writer: BytesWriter, number: i64) -> None:
    writer.append(u8(number >> 8))
    writer.append(u8(number & 0xFF))


def encode_wide_root(
    key_section: bytes, key_crc: int, key_size: int, summary: Summary, latest_server: int
) -> bytes:
    """The record under a wide row's own key; `summary` covers all its segments."""
    header = _HEADER.pack(
        RecordKind.WIDE, 0, len(key_section), key_size, key_crc, *summary, latest_server
    )
    return header + key_section


def encode_segment(cells: Sequence[Cell]) -> bytes:
    """The record of one segment; `cells` in stored order."""
    wires = [cell.wire for cell in cells]
    crc = _checksums_crc(wires)
    return _HEADER.pack(RecordKind.SEGMENT, 0, 0, 0, crc, *summarize(cells), 0) + b"".join(wires)
