"""Points as they are stored: what is like in many of them stands once (docs/formats/timeseries.md).

The fields of a point, their names in order and their types, are its *layout*. A record has the
values only, behind the number by which the series knows the layout; one whose layout the series has
no number for has the layout itself. Compiled: every point that is put or read comes by here.

    kind values                 a layout that the series record has
    80 length layout values     another one; the length in four bytes

The kind is 80 and the number of the layout, above the kinds of all other rows (`rows/record.py`).

A layout is a type and a name for each field, and values are numbers of eight bytes, one byte for a
boolean, the lengths of texts in four bytes; then the bytes of the texts.
"""

from collections.abc import Callable, Mapping
from struct import Struct
from struct import error as StructError  # noqa: N812  # the name of a class
from typing import Any, Final, final

from mypy_extensions import i64

from widerow.errors import StoreDamaged
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.series import SeriesKey
from widerow.model.values import ColumnType, Value

__all__ = [
    "INLINE",
    "POINT",
    "FieldShape",
    "Layout",
    "Layouts",
    "PackedPoint",
    "PointRecord",
    "SentPoint",
]

POINT: Final = 0x80  # the kind of a record is this and the number of its layout
INLINE: Final = 0  # the number of a layout that stands in the record
_LENGTH_BYTES: Final = 4
_FORMATS: Final = {
    ColumnType.INTEGER: "q",
    ColumnType.DOUBLE: "d",
    ColumnType.BOOLEAN: "?",
    ColumnType.STRING: "I",
    ColumnType.BINARY: "I",
}
_TYPES: Final = {each.value: each for each in ColumnType}
_OF_VALUES: Final[dict[type[Any], ColumnType]] = {
    int: ColumnType.INTEGER,
    float: ColumnType.DOUBLE,
    bool: ColumnType.BOOLEAN,
    str: ColumnType.STRING,
    bytes: ColumnType.BINARY,
}

_LikeLast = tuple[tuple[str, ...], list[type[Any]], "Layout"]
PointRecord = tuple["Layout", bytes]
"""A layout and the values behind it."""


@final
class Layout:
    """The names and types of a point's fields, in the order of names, and how values are packed."""

    __slots__ = ("_encoded", "_struct", "_texts", "names", "types")

    def __init__(self, names: tuple[str, ...], types: tuple[ColumnType, ...]) -> None:
        """`names`: sorted."""
        self.names = names
        self.types = types
        self._encoded: bytes | None = None
        self._struct = Struct(">" + "".join([_FORMATS[kind] for kind in types]))
        self._texts: list[tuple[int, bool]] = [
            (at, kind == ColumnType.STRING)
            for at, kind in enumerate(types)
            if kind in (ColumnType.STRING, ColumnType.BINARY)
        ]

    @property
    def encoded(self) -> bytes:
        """The bytes of the layout. Not for names of more than 255 bytes."""
        found = self._encoded
        if found is None:
            pairs = [(name.encode(), kind) for name, kind in zip(self.names, self.types)]  # noqa: B905  # equally many
            parts = [b"%c%c%b" % (kind, len(name), name) for name, kind in pairs]
            found = self._encoded = b"".join(parts)
        return found

    def pack(self, values: list[Any]) -> bytes:
        """The bytes of values in the order of names; texts in the list become their lengths.

        Raises `struct.error` for a number above 64 bits.
        """
        if not self._texts:
            return self._struct.pack(*values)
        parts: list[bytes] = [b""]
        for at, is_text in self._texts:
            data: bytes = values[at].encode() if is_text else values[at]
            parts.append(data)
            values[at] = len(data)
        parts[0] = self._struct.pack(*values)
        return b"".join(parts)

    def unpack(self, record: bytes, start: int) -> dict[str, Value]:
        """The fields of values that stand at `start`. Raises `StoreDamaged`."""
        shape = self._struct
        end = start + shape.size
        try:
            values: Any = shape.unpack_from(record, start)
            if self._texts:
                values = list(values)
                for at, is_text in self._texts:
                    begin, end = end, end + values[at]
                    data = record[begin:end]
                    values[at] = data.decode() if is_text else data
        except (StructError, UnicodeDecodeError) as problem:
            raise StoreDamaged(f"the values of a point are malformed: {record[:99]!r}") from problem
        if end != len(record):
            raise StoreDamaged(f"a point has another length than its values: {record[:99]!r}")
        return dict(zip(self.names, values))  # noqa: B905  # a keyword costs as much as the call

    def end_of(self, record: bytes, start: int) -> int:
        """Where values end that begin at `start`. Raises `struct.error` where they are cut off."""
        values: Any = self._struct.unpack_from(record, start)
        end = start + self._struct.size
        for at, _ in self._texts:
            end += values[at]
        return end


def _decode_layout(encoded: bytes) -> Layout:
    """The layout of its bytes. Raises `StoreDamaged`."""
    names: list[str] = []
    types: list[ColumnType] = []
    at = 0
    try:
        while at < len(encoded):
            end = at + 2 + encoded[at + 1]
            types.append(_TYPES[encoded[at]])
            names.append(encoded[at + 2 : end].decode())
            at = end
        found = Layout(tuple(names), tuple(types))
    except (LookupError, UnicodeDecodeError) as problem:
        raise StoreDamaged(f"a layout of points is malformed: {encoded[:99]!r}") from problem
    if at != len(encoded) or not names:
        raise StoreDamaged(f"a layout of points is malformed: {encoded[:99]!r}")
    return found


@final
class FieldShape:
    """Names and types of the fields of points as they were sent; nobody has checked the names.

    `order`: the places of the names in their order, in which values are packed.
    """

    __slots__ = ("_layout", "names", "order", "types")

    def __init__(self, names: tuple[str, ...], types: tuple[ColumnType, ...]) -> None:
        """`names`: each of them once."""
        self.names = names
        self.types = types
        self.order = sorted(range(len(names)), key=names.__getitem__)
        self._layout: Layout | None = None

    def unpack(self, values: bytes) -> dict[str, Value]:
        """The fields of packed values, in the order in which they were sent."""
        layout = self._layout
        if layout is None:
            names = [self.names[at] for at in self.order]
            types = [self.types[at] for at in self.order]
            layout = self._layout = Layout(tuple(names), tuple(types))
        fields = layout.unpack(values, 0)
        return {name: fields[name] for name in self.names}


@final
class PackedPoint:
    """A point to be put whose values came packed, as the layout of its shape has them."""

    __slots__ = ("series", "shape", "time_us", "values")

    def __init__(self, series: SeriesKey, time_us: i64, shape: FieldShape, values: bytes) -> None:
        self.series = series
        self.time_us = time_us
        self.shape = shape
        self.values = values

    @property
    def fields(self) -> dict[str, Value]:
        """Its fields, in the order in which they were sent."""
        return self.shape.unpack(self.values)


SentPoint = Point | PackedPoint
"""A point to be put, as requests come: its fields by names, or packed."""


@final
class Layouts:
    """Layouts that were met, with at most about `bound` fields; any thread may ask."""

    __slots__ = ("_bound", "_by_bytes", "_by_fields", "_check", "_held", "_last", "_last_shape")

    def __init__(self, bound: int, check: Callable[[tuple[str, ...]], None]) -> None:
        """`check`: raises for names that no fields have."""
        self._bound = bound
        self._held = 0
        self._check = check
        self._by_bytes: dict[bytes, Layout] = {}
        self._by_fields: dict[tuple[tuple[str, ...], tuple[ColumnType, ...]], Layout] = {}
        self._last: _LikeLast = ((), [], Layout((), ()))
        self._last_shape: tuple[FieldShape | None, Layout] = (None, self._last[2])

    def of_bytes(self, encoded: bytes) -> Layout:
        """The layout of its bytes. Raises `StoreDamaged`."""
        found = self._by_bytes.get(encoded)
        if found is None:
            found = _decode_layout(encoded)
            self._make_room(len(found.names))
            self._by_bytes[encoded] = found
        return found

    def _make_room(self, fields: int) -> None:
        """Forget everything where there is no room for a layout of so many fields."""
        self._held += fields
        if self._held > self._bound:
            self._held = fields
            self._by_bytes.clear()
            self._by_fields.clear()

    def pack(self, fields: Mapping[str, Value]) -> PointRecord:
        """The layout and the values of fields.

        Raises `struct.error` for a number above 64 bits, and what `check` raises.
        """
        values: list[Any] = list(fields.values())
        names = tuple(fields)
        kinds = [type(value) for value in values]
        last = self._last
        if names == last[0] and kinds == last[1]:  # points of one put are mostly alike
            found = last[2]
        else:
            found = self._looked_up(names, tuple([_OF_VALUES[kind] for kind in kinds]))
            self._last = names, kinds, found
        if found.names is not names and found.names != names:
            values = [fields[name] for name in found.names]
        return found, found.pack(values)

    def of_shape(self, shape: FieldShape) -> Layout:
        """The layout of fields of this shape. Raises what `check` raises."""
        last = self._last_shape
        if last[0] is shape:
            return last[1]
        found = self._looked_up(shape.names, shape.types)
        self._last_shape = shape, found
        return found

    def _looked_up(self, names: tuple[str, ...], types: tuple[ColumnType, ...]) -> Layout:
        key = names, types
        found = self._by_fields.get(key)
        if found is not None:
            return found
        self._check(names)
        of_names = dict(zip(names, types, strict=True))
        ordered = tuple(sorted(names))
        made = Layout(ordered, tuple([of_names[name] for name in ordered]))
        made = self.of_bytes(made.encoded)
        self._make_room(len(names))
        self._by_fields[key] = made
        return made
