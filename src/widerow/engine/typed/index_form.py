"""Entries of a secondary index: the keys under which a row is found (docs/formats/keys.md).

    14 id  (mark value)…  row-key     the row's key without its first byte, the space

A mark says what a path found: a value, which follows in the encoding of its type, or EMPTY, a JSON
null or NULL, in the order that they sort by. The value of an entry is the hour at which its row
expires, so that keys can be listed without reading rows.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from widerow.engine.typed.stored import StoredRow
from widerow.errors import InvalidRequest, StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_ROWS, index_prefix
from widerow.keys.typed import decoder_of, encoder_of
from widerow.limits import INDEX_KEYS_PER_ROW_MAX, TYPED_KEY_BYTES_MAX
from widerow.model.typed.coerce import coerce
from widerow.model.typed.index_functions import IndexFunction, applied, takes_any
from widerow.model.typed.index_paths import EMPTY, Empty, IndexPath, index_paths
from widerow.model.typed.json_rows import json_type_name, json_value_text
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import Index, TypedTable
from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import JSON_NULL, JsonNull, Timestamp, TypedValue
from widerow.rows.typed import typed_table_and_expiry

__all__ = ["IndexEntry", "IndexForm", "expiry_value"]

_VALUE: Final = b"\x10"
_EMPTY: Final = b"\x20"
_JSON_NULL: Final = b"\x30"
_NULL: Final = b"\x40"
_SPECIAL: Final[Mapping[bytes, TypedValue]] = {_EMPTY: EMPTY, _JSON_NULL: JSON_NULL, _NULL: None}
_EXPIRY: Final = struct.Struct(">I")


class IndexEntry(NamedTuple):
    """A decoded entry: the indexed values, and the key of the row."""

    values: tuple[TypedValue, ...]
    row_key: bytes


def expiry_value(record: bytes) -> bytes:
    """The value stored with each index entry of a row: its expiry hour, taken from its record."""
    return _EXPIRY.pack(typed_table_and_expiry(record)[1])


class IndexForm:
    """What is worked out once for the definition of an index and used for every row."""

    __slots__ = ("_decoders", "_encoders", "index", "paths", "prefix")

    def __init__(self, table: TypedTable, index: Index) -> None:
        self.index = index
        self.paths = index_paths(table, index)
        self.prefix = index_prefix(index.id)
        self._encoders = tuple(encoder_of(path.type) for path in self.paths)
        self._decoders = tuple(decoder_of(path.type) for path in self.paths)

    def entries(self, row: StoredRow) -> dict[bytes, bytes]:
        """The entries of a row: keys and values.

        Raises: `InvalidRequest` for values inside JSON that are not of the declared type, for too
        many or too long entries, and for equal ones where the index says there are none.
        """
        value = expiry_value(row.record)
        tail = row.encoded_key[1:]
        found: dict[bytes, bytes] = {}
        for values in self._tuples(row):
            head = self._head(values)
            if len(head) > TYPED_KEY_BYTES_MAX:
                size = len(head)
                raise InvalidRequest(
                    TypedRule.INDEX_KEY_LENGTH, size=size, limit=TYPED_KEY_BYTES_MAX
                )
            key = head + tail
            if self.index.unique_keys_per_row and key in found:
                raise InvalidRequest(TypedRule.INDEX_NOT_UNIQUE, index=self.index.name)
            found[key] = value
            if len(found) > INDEX_KEYS_PER_ROW_MAX:
                raise InvalidRequest(TypedRule.INDEX_KEYS_PER_ROW, limit=INDEX_KEYS_PER_ROW_MAX)
        return found

    def new_entries(self, row: StoredRow) -> dict[bytes, bytes]:
        """The entries of a row that is written. Raises as `entries`, and as `check_atomic`."""
        values = row.values_in_order()
        for path in self.paths:
            if path.column >= 0:
                path.check_atomic(values)
        return self.entries(row)

    def _tuples(self, stored: StoredRow) -> Iterable[list[TypedValue]]:
        """The indexed values of a row, one tuple for each member of the indexed array or map."""
        row = stored.values_in_order()
        through = [path for path in self.paths if path.split >= 0]
        members = through[0].members(row) if through else [(None, None)]
        fixed = [
            _of_row(path, stored)
            if path.column < 0
            else None
            if path.split >= 0
            else path.find(row)
            for path in self.paths
        ]
        for member in members:
            values = [
                path.find_in(member) if path.split >= 0 else value
                for path, value in zip(self.paths, fixed, strict=True)
            ]
            if self.index.with_nulls or not any(_is_special(value) for value in values):
                yield values

    def _head(self, values: Sequence[TypedValue]) -> bytes:
        parts = [self.prefix]
        for path, encode, value in zip(self.paths, self._encoders, values, strict=True):
            if path.function is not None and path.column >= 0:
                value = _applied(path.function, path, value)  # noqa: PLW2901  # what is indexed
            elif path.json_from >= 0 and not _is_special(value):
                value = _from_document(value, path)  # noqa: PLW2901  # the same value, typed
            parts.append(_marked(encode, value))
        return b"".join(parts)

    def prefix_of(self, values: Sequence[TypedValue]) -> bytes:
        """The prefix of the keys of all entries that have these leading values."""
        parts = [self.prefix]
        parts += [
            _marked(encode, value) for encode, value in zip(self._encoders, values, strict=False)
        ]
        return b"".join(parts)

    def bound(self, prefix: bytes, position: int, value: TypedValue) -> bytes:
        """`prefix`, which has `position` leading values, extended by the next value."""
        return prefix + _marked(self._encoders[position], value)

    def values_range(self, prefix: bytes) -> tuple[bytes, bytes]:
        """The range of keys below `prefix` whose next path has a value, not NULL or EMPTY."""
        first = prefix + _VALUE
        return first, after_prefix(first)

    def value_of(self, position: int, given: Any) -> TypedValue:  # noqa: ANN401  # callers' values
        """A value to search for, as the type of the path at `position`. Raises `InvalidRequest`."""
        if _is_special(given):
            return given
        path = self.paths[position]
        return coerce(given, path.type, path.text)

    def decode(self, key: bytes) -> IndexEntry:
        """Decode the key of an entry. Raises `StoreDamaged` for a key of no such index."""
        at = len(self.prefix)
        values: list[TypedValue] = []
        for decode in self._decoders:
            mark = key[at : at + 1]
            at += 1
            if mark == _VALUE:
                value, at = decode(key, at)
                values.append(value)
            elif mark in _SPECIAL:
                values.append(_SPECIAL[mark])
            else:
                raise StoreDamaged(f"an index entry with an unknown mark: {key.hex()}")
        return IndexEntry(tuple(values), SPACE_ROWS + key[at:])


def _of_row(path: IndexPath, row: StoredRow) -> TypedValue:
    """The value of a function of the row; NULL where it never expires."""
    assert path.function is not None
    modified = path.function.name == "modification_time"
    milliseconds = row.modified_ms if modified else row.expires_ms
    if not milliseconds:
        return None
    if path.type.kind is Kind.LONG:
        return milliseconds
    return Timestamp(milliseconds // 1000, milliseconds % 1000 * 1_000_000)


def _marked(encode: Any, value: TypedValue) -> bytes:  # noqa: ANN401  # an encoder
    if value is None:
        return _NULL
    if isinstance(value, Empty):
        return _EMPTY
    if isinstance(value, JsonNull):
        return _JSON_NULL
    encoded: bytes = _VALUE + encode(value)
    return encoded


def _is_special(value: TypedValue) -> bool:
    return value is None or isinstance(value, (Empty, JsonNull))


# --- values inside JSON --------------------------------------------------------------------------

_NUMBERS: Final = frozenset((Kind.INTEGER, Kind.LONG, Kind.DOUBLE, Kind.NUMBER))


def _from_document(value: Any, path: IndexPath) -> TypedValue:  # noqa: ANN401  # any value of a document
    """Convert a value inside JSON to the declared type of the path if that loses nothing."""
    kind = path.source or path.type
    if isinstance(value, (list, Mapping)):
        raise _other_type(value, path)
    try:
        return coerce(_number(value, kind), kind, path.text)
    except (InvalidRequest, ArithmeticError) as error:
        raise _other_type(value, path) from error


def _applied(function: IndexFunction, path: IndexPath, value: TypedValue) -> TypedValue:
    """What a function makes of a value; NULL of one inside JSON that it does not take."""
    inside = path.json_from >= 0 and not _is_special(value)
    if not inside or takes_any(function):
        return applied(function, value)
    try:
        return applied(function, _from_document(value, path))
    except InvalidRequest:
        return None


def _other_type(value: Any, path: IndexPath) -> InvalidRequest:  # noqa: ANN401  # any value of a document
    """The error of a value inside JSON that the index cannot have (corrections C, 11)."""
    return InvalidRequest(
        TypedRule.INDEX_VALUE,
        path=path.text,
        given=json_type_name(value),
        type=path.type.kind.value,
        value=json_value_text(value),
    )


def _number(value: Any, kind: FieldType) -> Any:  # noqa: ANN401  # any value of a document
    """`5.0` as an INTEGER, `5` as a DOUBLE: numbers by value, as the vendor compares them."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return value
    if kind.kind is Kind.DOUBLE:
        return float(value)
    if kind.kind in _NUMBERS and not isinstance(value, int) and value == int(value):
        return int(value) if kind.kind is not Kind.NUMBER else value
    return value
