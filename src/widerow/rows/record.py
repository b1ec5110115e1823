"""What stands under a row's key: a fixed header, then bytes that can go to the wire as they are.

    whole row   header, primary key section, [02 cells], 09 row checksum
    wide row    header, primary key section; its cells in segments under keys of their own
    segment     header, cells

The header says what decides whether the bytes may be returned unread (docs/formats/rows.md). In a
wide row's own header the counts are those of all segments; `versions_max` and `oldest` are bounds
there (never too small, never too young), because an update touches one segment only.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple, final

from mypy_extensions import mypyc_attr

from widerow.errors import StoreDamaged
from widerow.limits import INT64_MAX
from widerow.model.row import RowChange
from widerow.rows.cells import Cell, cell_size, seal_parts
from widerow.rows.checksum import combine, crc8, crc8_byte

__all__ = [
    "EMPTY",
    "HEADER_BYTES",
    "HEADER_FIELDS",
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
_fields_of: Final = _HEADER.unpack_from
_pack: Final = _HEADER.pack

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


_KINDS: Final = frozenset((RecordKind.ROW, RecordKind.WIDE, RecordKind.SEGMENT))


@mypyc_attr(acyclic=True)
@final
class Header:
    """The decoded header. Sizes in bytes as capacity units count them, versions in milliseconds.

    `key_length`: bytes of the primary key section, 0 in segments. `crc`: the row checksum after
    the key section; in segments that of the cells' checksums from state 0. `oldest`: the smallest
    version of any cell (INT64_MAX without cells). `latest_server`: the largest version that the
    server chose in this row, so that it never chooses a smaller one.
    """

    __slots__ = (
        "cell_count",
        "crc",
        "data_size",
        "flags",
        "key_length",
        "key_size",
        "kind",
        "latest_server",
        "oldest",
        "versions_max",
    )
    kind: int
    flags: int
    key_length: int
    key_size: int
    crc: int
    cell_count: int
    versions_max: int
    data_size: int
    oldest: int
    latest_server: int

    def __init__(self, record: bytes) -> None:
        """The first bytes of `record` taken apart. Raises: `struct.error` if it ends in them."""
        (
            self.kind,
            self.flags,
            self.key_length,
            self.key_size,
            self.crc,
            self.cell_count,
            self.versions_max,
            self.data_size,
            self.oldest,
            self.latest_server,
        ) = _fields_of(record)

    def __iter__(self) -> Iterator[int]:
        """The fields in the order of `HEADER_FIELDS`, which is that of the bytes."""
        return iter([getattr(self, name) for name in HEADER_FIELDS])


class Summary(NamedTuple):
    """What a header says of cells."""

    cell_count: int
    versions_max: int
    data_size: int
    oldest: int


EMPTY: Final = Summary(0, 0, 0, INT64_MAX)


def header_of(record: bytes) -> Header:
    """The header of a record. Constant time.

    Raises `StoreDamaged` for a record that ends inside its header, and for kinds and flags that
    this version does not know: a newer version wrote what it alone can read.
    """
    try:
        header = Header(record)
    except struct.error as error:
        raise StoreDamaged(f"a record ends inside its header: {record.hex()}") from error
    if header.kind not in _KINDS or header.flags:
        raise StoreDamaged(
            f"a record of the unknown kind {header.kind} with flags {header.flags:02x}"
        )
    return header


def record_bytes(key: bytes, record: bytes) -> int:
    """What a row takes in the store, told by its record; a wide row's header knows its segments."""
    if record[0] == RecordKind.WIDE:
        return len(key) + len(record) + header_of(record).data_size
    return len(key) + len(record)


def summarize(cells: Sequence[Cell]) -> Summary:
    """The summary of cells in stored order (name ascending, version descending)."""
    if not cells:
        return EMPTY
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
    if not cell_count:  # a wide row whose columns were all deleted
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
    """The record of a whole row: its cells' bytes in stored order, and what they come to."""
    header = _HEADER.pack(
        RecordKind.ROW, 0, len(key_section), key_size, key_crc, *summary, latest_server
    )
    return header + join_row(key_section, key_crc, wires)


def encode_sealed(
    key_section: bytes, key_crc: int, key_size: int, change: RowChange, version: int, latest: int
) -> bytes:
    """`encode_row` of a change whose cells are of different columns and all get `version`.

    `latest`: the largest version that the server chose in the row.
    """
    cells = change.cells
    count = len(cells)
    header = _pack(
        RecordKind.ROW,
        0,
        len(key_section),
        key_size,
        key_crc,
        count,
        1 if count else 0,
        change.data_size,
        version if count else INT64_MAX,
        latest,
    )
    if not count:
        return header + join_row(key_section, key_crc, ())
    sealed, crc = seal_parts(cells, version, key_crc)
    return b"%b%b\x02%b\x09%c" % (header, key_section, sealed, crc8_byte(0, crc))


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
