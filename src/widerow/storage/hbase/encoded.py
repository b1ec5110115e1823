"""Parts of requests and answers that are written and read by hand, because each row has its own.

They are what the messages of `hbase.proto` give, which are named here; message objects for each
part of each row take four times as long. Compiled.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from widerow.errors import StoreDamaged
from widerow.rows.fields import field, read_varint, varint
from widerow.storage.hbase.rows import FAMILY, key_of, row_of

__all__ = [
    "AnswerPlace",
    "CellPlace",
    "FoundCell",
    "FoundRows",
    "answer_place",
    "call_frame",
    "found_rows",
    "further_rows",
    "listed_rows",
    "result_cells",
    "row_changes",
    "single_rows",
]

CellPlace = tuple[bytes, bytes]  # a row and a qualifier
FoundCell = tuple[bytes, bytes, int]  # the key that stands there, its value, the timestamp
FoundRows = tuple[list[FoundCell], int, bool]
"""The cells of an answer to a scan, the scanner, and whether it has more."""
AnswerPlace = tuple[int, bool, int, int]
"""The call that an answer is for, whether it is one, and where it begins and ends.

Where it is none, the header begins and ends there, which tells of an exception.
"""

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

_NUMBER_BITS: Final = 64  # of a field that is a number

# RequestHeader, ResponseHeader; RequestHeader ends with how long an answer is waited for
_CALL: Final = b"\x08"
_METHOD: Final = b"\x1a"
_HAS_PARAMETER: Final = b"\x20\x01"
_ANSWER_FOR: Final = 0x08
_EXCEPTION: Final = 0x12
_TIMEOUT: Final = b"\x38"
_FRAME_LENGTH_BYTES: Final = 4

# ScanRequest, RegionSpecifier, Scan, Column, Filter
_REGION: Final = b"\x0a"
_BY_NAME: Final = b"\x08\x01"
_REGION_NAME: Final = b"\x12"
_SCAN: Final = b"\x12"
_SCANNER_NUMBER: Final = b"\x18"
_ROWS_MAX: Final = b"\x20"
_ROWS_LIMIT: Final = b"\x58"
_TAKES_HEARTBEATS: Final = b"\x40\x01"
_COLUMN: Final = b"\x0a"
_COLUMN_FAMILY: Final = field(b"\x0a", FAMILY)
_COLUMN_QUALIFIER: Final = b"\x12"
_START_ROW: Final = b"\x1a"
_STOP_ROW: Final = b"\x22"
_LISTED: Final = field(b"\x0a", _FILTERS, b"MultiRowRangeFilter")
_FILTER: Final = b"\x2a"
_FILTERED: Final = b"\x12"
_BYTES_MAX: Final = b"\x50"
_READ_POINT: Final = b"\xa0\x01"
_WITH_STOP_ROW: Final = b"\xb0\x01\x01"

# ScanResponse
_SCANNER: Final = 0x10
_RESULT: Final = 0x2A
_MORE: Final = 0x40

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


def call_frame(number: int, method: bytes, timeout_ms: int, body: bytes) -> bytes:
    """A call as it is sent: the length of all of it, then header and request behind their own."""
    header = b"".join(
        (
            *(_CALL, varint(number), _METHOD, varint(len(method)), method),
            *(_HAS_PARAMETER, _TIMEOUT, varint(timeout_ms)),
        )
    )
    head = varint(len(header)) + header + varint(len(body))
    size = len(head) + len(body)
    return b"".join((size.to_bytes(_FRAME_LENGTH_BYTES, "big"), head, body))


def answer_place(frame: bytes) -> AnswerPlace:
    """Where the answer stands in a frame, without the frame's own length.

    Raises `StoreDamaged` where that cannot be read.
    """
    size, start = read_varint(frame, 0)
    behind = start + size
    if behind > len(frame):
        raise StoreDamaged("a header is longer than its frame")
    number, at = 0, start
    while at < behind:
        key, value, at = _next_field(frame, at, behind)
        if key == _ANSWER_FOR:
            number = value
        elif key == _EXCEPTION:
            return number, False, start, behind
    size, start = read_varint(frame, behind)
    if start + size > len(frame):
        raise StoreDamaged("an answer is longer than its frame")
    return number, True, start, start + size


def single_rows(
    region: bytes, places: Sequence[CellPlace], bytes_max: int, read_point: int | None
) -> bytes:
    """A `ScanRequest` of some single rows, as of a moment, or of now.

    `region`: its name. Other columns of these rows may come with them.
    """
    rows = sorted({row for row, _ in places})
    parts = [_COLUMN_FAMILY]
    parts += [field(_COLUMN_QUALIFIER, each) for each in sorted({name for _, name in places})]
    scan = [field(_COLUMN, *parts), field(_START_ROW, rows[0]), field(_STOP_ROW, rows[-1])]
    if len(rows) > 1:
        scan.append(field(_FILTER, _LISTED, field(_FILTERED, listed_rows(rows))))
    scan += (_BYTES_MAX, varint(bytes_max))
    if read_point is not None:
        scan += (_READ_POINT, varint(read_point))
    scan.append(_WITH_STOP_ROW)
    # One row more than there are, so that the answer can say that there are none.
    return b"".join(
        (
            *(field(_REGION, _BY_NAME, field(_REGION_NAME, region)), field(_SCAN, *scan)),
            *(_ROWS_MAX, varint(len(rows) + 1), _TAKES_HEARTBEATS),
        )
    )


def further_rows(scanner: int, rows_max: int) -> bytes:
    """A `ScanRequest` that goes on where a scanner has paused."""
    return b"".join(
        (
            *(_SCANNER_NUMBER, varint(scanner), _ROWS_MAX, varint(rows_max)),
            *(_TAKES_HEARTBEATS, _ROWS_LIMIT, varint(rows_max)),
        )
    )


def found_rows(data: bytes, at: int, end: int) -> FoundRows:
    """The `ScanResponse` that stands there. Raises `StoreDamaged` where it cannot be read."""
    cells: list[FoundCell] = []
    scanner, more = 0, False
    while at < end:
        key, start, at = _next_field(data, at, end)
        if key == _RESULT:
            _add_cells(cells, data, start, at)
        elif key == _SCANNER:
            scanner = start
        elif key == _MORE:
            more = start != 0
    return cells, scanner, more


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
        _add_cells(found, result, 0, len(result))
    return found


def _add_cells(found: list[FoundCell], data: bytes, at: int, end: int) -> None:
    """The cells of the `Result` that stands there."""
    while at < end:
        key, start, at = _next_field(data, at, end)
        if key == _CELL:
            found.append(_cell(data, start, at))


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
    number, at = read_varint(data, at, _NUMBER_BITS)
    kind = key & _LENGTH_KIND
    stop = at + number if kind == _SIZED else at
    if stop > end or kind not in (_SIZED, _VARINT):
        raise StoreDamaged("a cell does not end where it says")
    return key, at if kind == _SIZED else number, stop
