"""Parts of requests and answers that are written and read by hand, because each row has its own.

They are what the messages of `hbase.proto` give, which are named here; message objects for each
part of each row take four times as long. Compiled.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from widerow.errors import StoreDamaged
from widerow.rows.fields import field, read_varint, varint
from widerow.storage.hbase.rows import FAMILY, key_of, row_of

__all__ = ["CellPlace", "FoundCell", "listed_rows", "result_cells", "row_changes"]

CellPlace = tuple[bytes, bytes]  # a row and a qualifier
FoundCell = tuple[bytes, bytes, int]  # the key that stands there, its value, the timestamp

_FILTERS: Final = b"org.apache.hadoop.hbase.filter."

# RowRange: bounds, each behind its row and inclusive
_START: Final = b"\x0a"
_START_INCLUSIVE: Final = b"\x10\x01"
_STOP: Final = b"\x1a"
_STOP_INCLUSIVE: Final = b"\x20\x01"

# QualifierValue, ColumnValue
_QUALIFIER: Final = b"\x0a"
_VALUE: Final = b"\x12"
_TIMESTAMP: Final = b"\x18"
_EVERY_OLDER_VERSION: Final = b"\x20\x01"  # DELETE_MULTIPLE_VERSIONS
_FAMILY: Final = field(b"\x0a", FAMILY)
_QUALIFIER_VALUE: Final = b"\x12"

# MutationProto
_ROW: Final = b"\x0a"
_PUT: Final = b"\x10\x02"
_DELETE: Final = b"\x10\x03"
_COLUMN_VALUE: Final = b"\x1a"
_FSYNC_WAL: Final = b"\x30\x04"

# Condition, and its Comparator
_CONDITION_FAMILY: Final = field(b"\x12", FAMILY)
_CONDITION_QUALIFIER: Final = b"\x1a"
_EQUAL: Final = b"\x20\x02"
_COMPARATOR: Final = b"\x2a"
_SERIALIZED: Final = b"\x12"
_BINARY: Final = field(b"\x0a", _FILTERS, b"BinaryComparator")
_COMPARED: Final = b"\x0a"  # of BinaryComparator, and of ByteArrayComparable
_IS_ABSENT: Final = field(
    _COMPARATOR, field(b"\x0a", _FILTERS, b"NullComparator"), field(_SERIALIZED)
)

# MutateRowsRequest, MultiRowRangeFilter
_MUTATION: Final = b"\x0a"
_CONDITION: Final = b"\x2a"
_RANGE: Final = b"\x0a"


# Result, Cell; the three lowest bits of a field's key say how long it is
_LENGTH_KIND: Final = 7
_VARINT: Final = 0
_SIZED: Final = 2
_CELL: Final = 0x0A
_CELL_ROW: Final = 0x0A
_CELL_QUALIFIER: Final = 0x1A
_CELL_TIMESTAMP: Final = 0x20
_CELL_VALUE: Final = 0x32


def listed_rows(rows: Iterable[bytes]) -> bytes:
    """A `MultiRowRangeFilter` that lets these rows through, which are in order."""
    return b"".join(
        [
            field(_RANGE, field(_START, row), _START_INCLUSIVE, field(_STOP, row), _STOP_INCLUSIVE)
            for row in rows
        ]
    )


def row_changes(
    conditions: Mapping[bytes, bytes | None],
    puts: Iterable[tuple[bytes, bytes]],
    deletes: Iterable[CellPlace],
    timestamp: int,
) -> bytes:
    """A `MutateRowsRequest`, of which each part is synced before it is answered.

    `conditions` and `puts` are of keys; `timestamp` is that of what is put and the last one of what
    is deleted.
    """
    time = _TIMESTAMP + varint(timestamp)
    parts: list[bytes] = []
    for key, value in puts:
        row, qualifier = row_of(key)
        column = field(_QUALIFIER_VALUE, field(_QUALIFIER, qualifier), field(_VALUE, value), time)
        parts.append(_mutation(_PUT, row, column))
    for row, qualifier in deletes:
        column = field(_QUALIFIER_VALUE, field(_QUALIFIER, qualifier), time, _EVERY_OLDER_VERSION)
        parts.append(_mutation(_DELETE, row, column))
    parts += [_condition(key, expected) for key, expected in conditions.items()]
    return b"".join(parts)


def _mutation(kind: bytes, row: bytes, column: bytes) -> bytes:
    cells = field(_COLUMN_VALUE, _FAMILY, column)
    return field(_MUTATION, field(_ROW, row), kind, cells, _FSYNC_WAL)


def _condition(key: bytes, expected: bytes | None) -> bytes:
    row, qualifier = row_of(key)
    compared = _IS_ABSENT
    if expected is not None:
        binary = field(_SERIALIZED, field(_COMPARED, field(_COMPARED, expected)))
        compared = field(_COMPARATOR, _BINARY, binary)
    return field(
        _CONDITION,
        field(_ROW, row),
        _CONDITION_FAMILY,
        field(_CONDITION_QUALIFIER, qualifier),
        _EQUAL,
        compared,
    )


def result_cells(results: Sequence[bytes]) -> list[FoundCell]:
    """The cells of some `Result`s. Raises `StoreDamaged` where one cannot be read."""
    found: list[FoundCell] = []
    for result in results:
        at = 0
        while at < len(result):
            key, start, at = _next_field(result, at, len(result))
            if key == _CELL:
                found.append(_cell(result, start, at))
    return found


def _cell(result: bytes, at: int, end: int) -> FoundCell:
    """The `Cell` that stands there."""
    row, qualifier, value, timestamp = b"", b"", b"", 0
    while at < end:
        key, start, at = _next_field(result, at, end)
        if key == _CELL_VALUE:
            value = result[start:at]
        elif key == _CELL_ROW:
            row = result[start:at]
        elif key == _CELL_QUALIFIER:
            qualifier = result[start:at]
        elif key == _CELL_TIMESTAMP:
            timestamp = start
    return key_of(row, qualifier), value, timestamp


def _next_field(data: bytes, at: int, end: int) -> tuple[int, int, int]:
    """The key of the field that begins there, where its bytes begin, and where it ends.

    A number has its value in place of its beginning.
    """
    key, at = read_varint(data, at)
    number, at = read_varint(data, at)
    kind = key & _LENGTH_KIND
    stop = at + number if kind == _SIZED else at
    if stop > end or kind not in (_SIZED, _VARINT):
        raise StoreDamaged("a cell does not end where it says")
    return key, at if kind == _SIZED else number, stop
