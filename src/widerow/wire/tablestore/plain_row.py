"""Rows in the form that nearly all have, read in one pass where they stand (wire §2.1, §2.2).

Such a row names columns that came before, and its cells are name, value and checksum. What differs
in anything, wrong rows too, is left to `plainbuffer.py`, which reads the same out of it or says
what is wrong. So nothing is raised here, and bytes behind the buffer's end do no harm: a length
that leads there leads past the end that is expected.
"""

from math import isfinite
from typing import Final, final

from librt.strings import read_f64_le, read_i32_le, read_i64_le
from mypy_extensions import i64

from widerow.limits import CELLS_PER_CHANGE_MAX, KEY_COLUMNS_MAX, NAME_BYTES_MAX
from widerow.model.tablestore.row import PrimaryKey, RowShape
from widerow.model.values import ColumnType, KeyInput
from widerow.rows.cells import (
    HEADER_NUMBER,
    TAG_CELL,
    TAG_CELL_CHECKSUM,
    TAG_CELL_NAME,
    TAG_CELL_VALUE,
    TAG_DELETE_MARKER,
    TAG_ROW_CHECKSUM,
    TAG_ROW_DATA,
    TAG_ROW_KEY,
)
from widerow.rows.checksum import (
    BEYOND_ASCII,
    crc8,
    crc8_byte,
    crc8_with_ascii,
    crc8_within,
)
from widerow.rows.plain import PLAIN_TAIL_BYTES, PlainCells
from widerow.rows.words import length_at, stands_at

__all__ = ["plain_key", "plain_row", "remember_name"]

_INTEGER: Final = ColumnType.INTEGER.value
_DOUBLE: Final = ColumnType.DOUBLE.value
_STRING: Final = ColumnType.STRING.value
_BINARY: Final = ColumnType.BINARY.value
_BOOLEAN: Final = ColumnType.BOOLEAN.value
_KEY_COLUMNS_MAX: Final = 2 * KEY_COLUMNS_MAX  # of an entry of an index
_NAMES_KEPT_MAX: Final = 10_000  # column names remembered; a table has dozens
_TREE_WEIGHT_MAX: Final = 10_000  # columns of the tree: some 4 MB
_NAMES_WEIGHING_ONE: Final = 16  # names of a shape, which take eight bytes each

_NAMES: Final[dict[bytes, str]] = {}


def remember_name(name: str) -> None:
    """Let cells of this column be read here from now on. It came in a right cell."""
    encoded = name.encode()
    if 0 < len(encoded) <= NAME_BYTES_MAX and len(_NAMES) < _NAMES_KEPT_MAX:
        _NAMES[encoded] = name


# --- what rows look like -----------------------------------------------------------------------


@final
class _Column:
    """A column in its place in a row, behind those before it.

    Columns in their places are a tree, and the last one of a row stands for all its names: what
    engines of languages without classes call a hidden class. `head` is how the cell begins, up to
    the value's length, and `value_at` where its value stands; `crc` is the checksum over the name
    and `size` its bytes. `latest` came behind it the last time. Behind a key's last column, `cells`
    is where the cells begin.
    """

    __slots__ = (
        "after",
        "cells",
        "crc",
        "former",
        "head",
        "latest",
        "shape",
        "size",
        "text",
        "value_at",
    )

    def __init__(self, text: str, former: "_Column | None") -> None:
        encoded = text.encode()
        self.text = text
        self.former = former
        self.crc: i64 = crc8(encoded)
        self.size: i64 = len(encoded)
        self.head = b"\x03\x04%b%b\x05" % (len(encoded).to_bytes(4, "little"), encoded)
        self.value_at: i64 = len(self.head) + 4
        self.latest: _Column | None = None
        self.after: dict[bytes, _Column] = {}
        self.cells: _Column | None = None
        self.shape: RowShape | None = None


class _Tree:
    """All columns in their places; when they are too many, it begins anew."""

    __slots__ = ("root", "weight")

    def __init__(self) -> None:
        self.root = _Column("", None)
        self.weight = 0

    def grow(self, weight: int) -> None:
        """Something of this weight is about to be added."""
        self.weight += weight
        if self.weight > _TREE_WEIGHT_MAX:  # what rows hold of the former tree stays right
            self.root = _Column("", None)
            self.weight = weight


_TREE: Final = _Tree()


def _next_column(data: bytes, begin: i64, former: _Column) -> _Column | None:
    """The column of the cell at `begin`, behind `former`; None unless its name came before.

    Clients send rows of one shape: most often it is what came there the last time.
    Raises `IndexError` where `data` ends before.
    """
    expected = former.latest
    if expected is not None and stands_at(data, begin, expected.head):
        return expected
    name_end = begin + 6 + length_at(data, begin + 2)
    if data[begin + 1] != TAG_CELL_NAME or data[name_end] != TAG_CELL_VALUE:
        return None
    encoded = data[begin + 6 : name_end]
    column = former.after.get(encoded)
    if column is None:
        text = _NAMES.get(encoded)
        if text is None:
            return None
        _TREE.grow(1)
        column = former.after[encoded] = _Column(text, former)
    former.latest = column
    return column


def _cells_behind(key: _Column) -> _Column:
    """Where the cells of rows with such a key begin."""
    cells = key.cells
    if cells is None:
        _TREE.grow(1)
        cells = key.cells = _Column("", None)
        cells.shape = RowShape(_names_to(key), ())
    return cells


def _shape_of(last: _Column, begin: _Column) -> RowShape:
    """The shape of rows whose last cell is of this column; their cells begin at `begin`."""
    shape = last.shape
    if shape is None:
        names = _names_to(last)
        assert begin.shape is not None
        _TREE.grow(1 + len(names) // _NAMES_WEIGHING_ONE)
        shape = last.shape = RowShape(begin.shape.key_names, names)
    return shape


def _names_to(last: _Column) -> tuple[str, ...]:
    names: list[str] = []
    column: _Column | None = last
    while column is not None and column.text:
        names.append(column.text)
        column = column.former
    names.reverse()
    return tuple(names)


# --- rows --------------------------------------------------------------------------------------


def plain_key(data: bytes, start: int, stop: int, *, deletes: bool) -> PrimaryKey | None:
    """The primary key that is all of the buffer `data[start:stop]`; None if it is another row.

    `deletes`: a delete marker may stand behind it.
    """
    try:
        key, at, _ = _read_key(data, start)
        if at < 0:
            return None
        marker: i64 = 0
        if deletes and data[at] == TAG_DELETE_MARKER:
            marker = 1
        if not _ends(data, at + marker, stop, crc8_byte(marker, key.crc)):
            return None
    except IndexError:
        return None
    return key


def plain_row(data: bytes, start: int, stop: int) -> tuple[PrimaryKey, PlainCells] | None:
    """The row that is all of the buffer `data[start:stop]`; None if it is another."""
    try:
        key, at, last_of_key = _read_key(data, start)
        if at < 0 or data[at] != TAG_ROW_DATA:
            return None
        first = at + 1
        position: i64 = first
        crc: i64 = key.crc
        data_size: i64 = 0
        room: i64 = CELLS_PER_CHANGE_MAX
        begin = column = _cells_behind(last_of_key)
        while data[position] == TAG_CELL:
            found = _next_column(data, position, column)
            if found is None or room == 0:
                return None
            room -= 1
            column = found
            value = position + column.value_at
            end = value + length_at(data, value - 4)
            if data[end] != TAG_CELL_CHECKSUM:
                return None
            checked = crc8_with_ascii(data, value, end, column.crc)
            cell_crc = checked & 0xFF
            if data[end + 1] != cell_crc:
                return None
            counted = _payload_bytes(data, value, end, is_ascii=checked < BEYOND_ASCII)
            if counted < 0:
                return None
            data_size += column.size + counted
            crc = crc8_byte(cell_crc, crc)
            position = end + PLAIN_TAIL_BYTES
        if position == first or not _ends(data, position, stop, crc8_byte(0, crc)):
            return None
    except IndexError:
        return None
    return key, PlainCells(data, first, position, _shape_of(column, begin), data_size)


def _read_key(data: bytes, start: i64) -> tuple[PrimaryKey, i64, _Column]:
    """The primary key, where it ends, and its last column. It ends at -1 if it is another.

    Raises `IndexError` where `data` ends before.
    """
    column = _TREE.root
    if read_i32_le(data, start) != HEADER_NUMBER or data[start + 4] != TAG_ROW_KEY:
        return _NO_KEY, -1, column
    columns: list[tuple[str, KeyInput]] = []
    crc: i64 = 0
    position = start + 5
    while data[position] == TAG_CELL:
        found = _next_column(data, position, column)
        if found is None or len(columns) == _KEY_COLUMNS_MAX:
            return _NO_KEY, -1, column
        column = found
        begin = position + column.value_at
        end = begin + length_at(data, begin - 4)
        if data[end] != TAG_CELL_CHECKSUM:
            return _NO_KEY, -1, column
        cell_crc = crc8_within(data, begin, end, column.crc)
        if data[end + 1] != cell_crc:
            return _NO_KEY, -1, column
        value = _key_value(data, begin, end)
        if value is None:
            return _NO_KEY, -1, column
        columns.append((column.text, value))
        crc = crc8_byte(cell_crc, crc)
        position = end + PLAIN_TAIL_BYTES
    if not columns:
        return _NO_KEY, -1, column
    return PrimaryKey(tuple(columns), data[start + 4 : position], crc), position, column


_NO_KEY: Final = PrimaryKey(())


def _key_value(data: bytes, start: i64, end: i64) -> KeyInput | None:
    """The value of a key that stands there, if it is a number or a text."""
    kind: i64 = data[start]
    size = end - start
    if kind == _INTEGER and size == 9:
        return read_i64_le(data, start + 1)
    if kind == _STRING and size >= 5 and length_at(data, start + 1) == size - 5:
        try:
            return data[start + 5 : end].decode()
        except UnicodeDecodeError:
            return None
    return None


def _payload_bytes(data: bytes, start: i64, end: i64, *, is_ascii: bool) -> i64:
    """What the value there counts (semantics §9); negative where it is none to be stored.

    `is_ascii`: all bytes of it are, its type and its length too.
    """
    size = end - start
    kind: i64 = data[start]
    if kind in (_STRING, _BINARY):
        if size < 5 or length_at(data, start + 1) != size - 5:
            return -1
        if kind == _STRING and not is_ascii and not _is_text(data, start + 5, end):
            return -1
        return size - 5
    if kind == _INTEGER and size == 9:
        return 8
    if kind == _DOUBLE and size == 9 and isfinite(read_f64_le(data, start + 1)):
        return 8
    if kind == _BOOLEAN and size == 2 and data[start + 1] <= 1:
        return 1
    return -1


def _is_text(data: bytes, start: i64, end: i64) -> bool:
    try:
        data[start:end].decode()
    except UnicodeDecodeError:
        return False
    return True


def _ends(data: bytes, at: i64, stop: i64, crc: i64) -> bool:
    """Whether the row checksum stands there, and nothing but padding between it and `stop`."""
    if data[at] != TAG_ROW_CHECKSUM or data[at + 1] != crc:
        return False
    # The Node SDK makes its buffers too long and leaves the rest zero (wire §2.3).
    return at + 2 == stop or (at + 2 < stop and not data[at + 2 : stop].strip(b"\x00"))
