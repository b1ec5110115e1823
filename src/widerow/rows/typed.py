"""The record under the key of a typed table's row (docs/formats/rows.md, "Typed rows").

A header of 36 bytes, then the values of the columns outside the primary key as one MessagePack
array, in the order of the schema with which the row was written. MessagePack holds the type and the
length of each value, so a row stays readable when columns are added or removed later.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

import msgpack
from mypy_extensions import i64

from widerow.errors import StoreDamaged
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import Field, FieldType, Kind
from widerow.model.typed.values import JSON_NULL, JsonNull, Timestamp, TypedValue

__all__ = [
    "TYPED_HEADER_BYTES",
    "TYPED_ROW",
    "TypedHeader",
    "ValueForm",
    "pack_value",
    "packed_array_head",
    "packed_end",
    "typed_header",
    "typed_record",
    "typed_table_and_expiry",
    "typed_times",
    "unpack_value",
    "value_reader",
]

TYPED_ROW: Final = 4  # the kind; 1 to 3 are rows of the Tablestore dialect (rows/record.py)

_HEADER: Final = struct.Struct(">BBHIIQ16s")
_TABLE_AND_EXPIRY: Final = struct.Struct(">II")
_TIMES: Final = struct.Struct(">IQ")
_INSTANT: Final = struct.Struct(">qI")
TYPED_HEADER_BYTES: Final = _HEADER.size

# The errors of converting a value of another type.
_WRONG: Final = (TypeError, ValueError, AttributeError)

_EXT_NUMBER: Final = 1
_EXT_TIMESTAMP: Final = 2
_EXT_JSON_NULL: Final = 3


class TypedHeader(NamedTuple):
    """The decoded header.

    `schema`: the number of the schema that gives the order of the values. `expiry_hour`: the hour
    since 1970 at whose start the row expires; 0: never. `modified_ms`: the time of the write.
    `version`: a value that no other write has.
    """

    kind: int
    flags: int
    schema: int
    table_id: int
    expiry_hour: int
    modified_ms: int
    version: bytes


def typed_header(record: bytes) -> TypedHeader:
    """The header of a record. Raises `StoreDamaged` if it is not one of a typed row."""
    if len(record) < TYPED_HEADER_BYTES:
        raise StoreDamaged("a typed row ends inside its header")
    header = TypedHeader._make(_HEADER.unpack_from(record))
    if header.kind != TYPED_ROW or header.flags:
        raise StoreDamaged(f"a typed row of unknown kind {header.kind} or flags {header.flags}")
    return header


def typed_times(record: bytes) -> tuple[int, int]:
    """The milliseconds of the write, and the expiry hour. Raises `StoreDamaged`."""
    if len(record) < TYPED_HEADER_BYTES or record[0] != TYPED_ROW or record[1]:
        raise StoreDamaged("a record that is not a typed row")
    hour, modified_ms = _TIMES.unpack_from(record, 8)
    return modified_ms, hour


def typed_table_and_expiry(record: bytes) -> tuple[int, int]:
    """The table's number and the expiry hour, by which a scan selects records."""
    if len(record) < TYPED_HEADER_BYTES or record[0] != TYPED_ROW:
        raise StoreDamaged("a record that is not a typed row")
    found: tuple[int, int] = _TABLE_AND_EXPIRY.unpack_from(record, 4)
    return found


def typed_record(
    table: TypedTable, expiry_hour: int, modified_ms: int, version: bytes, values: bytes
) -> bytes:
    """The record of a row of a table's newest schema: the header, then the packed `values`."""
    head = _HEADER.pack(TYPED_ROW, 0, table.schema, table.id, expiry_hour, modified_ms, version)
    return head + values


class ValueForm:
    """Packs and unpacks the columns outside the primary key; made once for a definition.

    A row is a list aligned with `TypedTable.fields`; its key columns are neither read nor set.
    """

    __slots__ = ("_defaults", "_layouts", "_packers", "_readers", "_required", "_table")

    def __init__(self, table: TypedTable) -> None:
        """`table`: its newest schema is written, and all its schemas are read."""
        self._table = table
        self._packers = tuple(
            (index, _packer(table.fields[index].type)) for index in table.value_positions
        )
        self._layouts = table.layouts
        self._defaults = tuple(field.default for field in table.fields)
        self._required = tuple(
            index for index in table.value_positions if not table.fields[index].nullable
        )
        self._readers: dict[int, _Reader] = {}

    def pack(self, values: Sequence[TypedValue]) -> bytes:
        """The stored form of a row's values. Linear in the values."""
        return _packed(
            [
                values[index] if pack is None or values[index] is None else pack(values[index])
                for index, pack in self._packers
            ]
        )

    def unpack(self, schema: int, record: bytes, row: list[TypedValue]) -> None:
        """Set the stored values of a record into `row`; columns that its schema lacks get defaults.

        Raises `StoreDamaged` for any other bytes.
        """
        reader = self._readers.get(schema) or self._reader(schema)
        stored = _unpacked(record[TYPED_HEADER_BYTES:])
        if not isinstance(stored, list) or len(stored) != len(reader):
            raise StoreDamaged(f"a row's values do not fit schema {schema} of its table")
        try:
            for place, (index, unpack) in enumerate(reader):
                value = stored[place]
                if index >= 0:
                    row[index] = value if unpack is None or value is None else unpack(value)
        except _WRONG as error:
            raise StoreDamaged(f"a row's values are not of their types: {error}") from error
        if schema != self._table.schema:
            for index in self._required:  # a column may have been dropped and added as NOT NULL
                if row[index] is None:
                    row[index] = self._defaults[index]

    @property
    def empty(self) -> list[TypedValue]:
        """A new row, with every column at its default."""
        return list(self._defaults)

    def _reader(self, schema: int) -> "_Reader":
        if not 0 < schema <= len(self._layouts):
            raise StoreDamaged(f"a row of the unknown schema {schema}")
        fields = self._table.fields
        places = {fields[index].number: index for index in self._table.value_positions}
        reader = tuple(
            (places[number], _unpacker(fields[places[number]].type))
            if number in places
            else (-1, None)
            for number in self._layouts[schema - 1]
        )
        self._readers[schema] = reader
        return reader


_Convert = Callable[[Any], Any]
_Reader = tuple[tuple[int, _Convert | None], ...]


def pack_value(value: TypedValue, kind: FieldType) -> bytes:
    """A single value as MessagePack."""
    pack = _packer(kind)
    return _packed(value if pack is None or value is None else pack(value))


def unpack_value(data: bytes, kind: FieldType) -> TypedValue:
    """The value that `pack_value` packed. Raises `StoreDamaged`."""
    return value_reader(kind)(data)


def value_reader(kind: FieldType) -> Callable[[bytes], TypedValue]:
    """What reads values of a type that `pack_value` packed. It raises `StoreDamaged`."""
    unpack = _unpacker(kind)

    def read(data: bytes) -> TypedValue:
        value = _unpacked(data)
        try:
            return value if unpack is None or value is None else unpack(value)
        except _WRONG as error:
            raise StoreDamaged(f"a value is not of its type: {error}") from error

    return read


def packed_array_head(count: int) -> bytes:
    """What an array of so many values begins with."""
    packer = msgpack.Packer()
    head: bytes = packer.pack_array_header(count)
    return head


def packed_end(data: bytes, at: i64) -> i64:
    """Where the value ends that begins at a position. Raises `IndexError` beyond the data."""
    left: i64 = 1
    while left > 0:
        left -= 1
        first: i64 = data[at]
        at += 1
        if first >= 0xE0 or first <= 0x7F or 0xC0 <= first <= 0xC3:
            continue
        if first <= 0x8F:
            left += 2 * (first - 0x80)
        elif first <= 0x9F:
            left += first - 0x90
        elif first <= 0xBF:
            at += first - 0xA0
        else:
            kind: i64 = first - 0xC4
            size: i64 = 0
            stop: i64 = at + _LENGTH_BYTES[kind]
            while at < stop:
                size = size << 8 | data[at]
                at += 1
            if first >= 0xDC:  # an array or a map
                left += size if first <= 0xDD else 2 * size
            else:
                at += size + _FIXED_BYTES[kind]
    return at


# Of the first bytes from C4 on: how many bytes of a length follow, and how many others behind them.
_LENGTH_BYTES: Final = bytes((1, 2, 4, 1, 2, 4, *bytes(15), 1, 2, 4, 2, 4, 2, 4))
_FIXED_BYTES: Final = bytes(
    (*bytes(3), 1, 1, 1, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2, 3, 5, 9, 17, *bytes(7))
)


def _packed(value: Any) -> bytes:  # noqa: ANN401  # what MessagePack takes
    data: bytes = msgpack.packb(value, default=_extended)
    return data


def _unpacked(data: bytes) -> Any:  # noqa: ANN401  # what MessagePack gives
    try:
        return msgpack.unpackb(data, ext_hook=_read_extension, strict_map_key=False)
    # a map as a key of a map, for example
    except (TypeError, ValueError, msgpack.UnpackException) as error:
        raise StoreDamaged(f"a row's values cannot be read: {error}") from error


def _extended(value: Any) -> Any:  # noqa: ANN401  # what MessagePack does not know
    if isinstance(value, Decimal):
        return msgpack.ExtType(_EXT_NUMBER, str(value).encode())
    if isinstance(value, JsonNull):
        return msgpack.ExtType(_EXT_JSON_NULL, b"")
    raise TypeError(f"a {type(value).__name__} cannot be stored")


def _read_extension(code: int, data: bytes) -> Any:  # noqa: ANN401  # of an extension type
    try:
        if code == _EXT_NUMBER:
            return Decimal(data.decode("ascii"))
        if code == _EXT_TIMESTAMP:
            return Timestamp(*_INSTANT.unpack(data))
    except (ArithmeticError, ValueError, struct.error) as error:
        raise StoreDamaged(f"an extension {code} of a row cannot be read") from error
    if code == _EXT_JSON_NULL and not data:
        return JSON_NULL
    raise StoreDamaged(f"a row holds the unknown extension {code}")


# --- one pair a kind; None: MessagePack has the value as it is -----------------------------------


def _packer(kind: FieldType) -> _Convert | None:
    if kind.uuid:
        return _uuid_bytes
    make = _PACKERS.get(kind.kind)
    return None if make is None else make(kind)


def _unpacker(kind: FieldType) -> _Convert | None:
    if kind.uuid:
        return _uuid_text
    make = _UNPACKERS.get(kind.kind)
    return None if make is None else make(kind)


def _uuid_bytes(value: str) -> bytes:
    return bytes.fromhex(value.replace("-", ""))


def _uuid_text(value: bytes) -> str:
    text = value.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _pack_enum(kind: FieldType) -> _Convert:
    return {symbol: index for index, symbol in enumerate(kind.symbols)}.__getitem__


def _unpack_enum(kind: FieldType) -> _Convert:
    symbols = kind.symbols

    def symbol(ordinal: int) -> str:
        if not 0 <= ordinal < len(symbols):
            raise StoreDamaged(f"a row holds the ordinal {ordinal}, beyond its enumeration")
        return symbols[ordinal]

    return symbol


def _pack_timestamp(_: FieldType) -> _Convert:
    return lambda moment: msgpack.ExtType(_EXT_TIMESTAMP, _INSTANT.pack(*moment))


def _pack_items(kind: FieldType) -> _Convert | None:
    assert kind.element is not None
    pack = _packer(kind.element)
    return None if pack is None else lambda items: [pack(item) for item in items]


def _unpack_items(kind: FieldType) -> _Convert | None:
    assert kind.element is not None
    unpack = _unpacker(kind.element)
    return None if unpack is None else lambda items: [unpack(item) for item in items]


def _pack_map(kind: FieldType) -> _Convert | None:
    assert kind.element is not None
    pack = _packer(kind.element)
    return None if pack is None else lambda items: {key: pack(item) for key, item in items.items()}


def _unpack_map(kind: FieldType) -> _Convert | None:
    assert kind.element is not None
    unpack = _unpacker(kind.element)
    if unpack is None:
        return None
    return lambda items: {key: unpack(item) for key, item in items.items()}


def _pack_record(kind: FieldType) -> _Convert:
    """A record as a map by field numbers, which stay when fields are added or removed."""
    packers = [(field.name, field.number, _packer(field.type)) for field in kind.fields]

    def pack(record: Mapping[str, Any]) -> dict[int, Any]:
        return {
            number: value if convert is None or value is None else convert(value)
            for name, number, convert in packers
            for value in (record[name],)
        }

    return pack


def _unpack_record(kind: FieldType) -> _Convert:
    unpackers: list[tuple[Field, _Convert | None]] = [
        (field, _unpacker(field.type)) for field in kind.fields
    ]

    def unpack(stored: dict[int, Any]) -> dict[str, Any]:
        record: dict[str, Any] = {}
        for field, convert in unpackers:
            value = stored.get(field.number, _ABSENT)
            if value is _ABSENT:
                record[field.name] = field.default
            else:
                record[field.name] = value if convert is None or value is None else convert(value)
        return record

    return unpack


_ABSENT: Final = object()

_PACKERS: Final[Mapping[Kind, Callable[[FieldType], _Convert | None]]] = {
    Kind.ENUM: _pack_enum,
    Kind.TIMESTAMP: _pack_timestamp,
    Kind.ARRAY: _pack_items,
    Kind.MAP: _pack_map,
    Kind.RECORD: _pack_record,
}
_UNPACKERS: Final[Mapping[Kind, Callable[[FieldType], _Convert | None]]] = {
    Kind.ENUM: _unpack_enum,
    Kind.ARRAY: _unpack_items,
    Kind.MAP: _unpack_map,
    Kind.RECORD: _unpack_record,
}
