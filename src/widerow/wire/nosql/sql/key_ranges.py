"""Ranges of keys that conditions of WHERE leave of a primary key or an index (ddl §3: comparison).

A range may hold more rows than its conditions, never fewer: the conditions are evaluated for every
row that is read, but those that the range is known to fulfil (`covered.py`).
"""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NamedTuple, Protocol

from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_form import IndexForm
from widerow.errors import InvalidRequest
from widerow.keys.encode import after_prefix
from widerow.limits import NOSQL_KEY_RANGES_MAX
from widerow.model.typed.coerce import coerce
from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import JsonNull, Timestamp, plain_number

__all__ = [
    "ANYTHING",
    "ByteRange",
    "IndexSpace",
    "KeyInterval",
    "KeyPiece",
    "KeyPoint",
    "KeySpace",
    "PrimarySpace",
    "has_plain_values",
    "is_value_of",
    "met",
    "pieces_of",
    "ranges_of",
]


class KeyPoint(NamedTuple):
    """One value of a key column; in an index also EMPTY, a JSON null or NULL (None)."""

    value: Any


class KeyInterval(NamedTuple):
    """The values of a key column between two bounds; a bound that is None is none."""

    low: Any = None
    low_inclusive: bool = True
    high: Any = None
    high_inclusive: bool = True


KeyPiece = KeyPoint | KeyInterval
ANYTHING: Final = KeyInterval()


class ByteRange(NamedTuple):
    """Stored keys from `start` on, below `stop`."""

    start: bytes
    stop: bytes


class KeySpace(Protocol):
    """The keys of a table or of an index, as ranges are made of them."""

    def type_of(self, position: int) -> FieldType:
        """The type of a column of the key."""
        ...

    def prefix(self, values: Sequence[Any]) -> bytes:
        """What all keys with these leading values begin with."""
        ...

    def bound(self, prefix: bytes, position: int, value: Any) -> bytes:  # noqa: ANN401  # key values
        """A prefix with `position` values, and the next value."""
        ...

    def values(self, prefix: bytes) -> ByteRange:
        """The keys below a prefix whose next column has a value."""
        ...

    def beginning(self, values: Sequence[Any]) -> ByteRange:
        """The keys with these leading values."""
        ...


@dataclass(frozen=True, slots=True)
class PrimarySpace:
    """The primary key of a table."""

    form: TableForm

    def type_of(self, position: int) -> FieldType:
        """The type of a column of the key."""
        return self.form.table.key_types[position]

    def prefix(self, values: Sequence[Any]) -> bytes:
        """What all keys with these leading values begin with."""
        return self.form.key.encode(values)

    def bound(self, prefix: bytes, position: int, value: Any) -> bytes:  # noqa: ANN401  # key values
        """A prefix with `position` values, and the next value."""
        return self.form.key.encode_next(prefix, position, value)

    def values(self, prefix: bytes) -> ByteRange:
        """The keys below a prefix whose next column has a value: all of them."""
        return ByteRange(prefix, after_prefix(prefix))

    def beginning(self, values: Sequence[Any]) -> ByteRange:
        """The keys with these leading values; of a whole key without those of child tables."""
        prefix = self.prefix(values)
        whole = len(values) == self.form.key.length
        return ByteRange(prefix, prefix + b"\x00" if whole else after_prefix(prefix))


@dataclass(frozen=True, slots=True)
class IndexSpace:
    """The entries of a secondary index."""

    index: IndexForm

    def type_of(self, position: int) -> FieldType:
        """The type that is indexed at a position."""
        return self.index.paths[position].type

    def prefix(self, values: Sequence[Any]) -> bytes:
        """What all entries with these leading values begin with."""
        return self.index.prefix_of(values)

    def bound(self, prefix: bytes, position: int, value: Any) -> bytes:  # noqa: ANN401  # key values
        """A prefix with `position` values, and the next value."""
        return self.index.bound(prefix, position, value)

    def values(self, prefix: bytes) -> ByteRange:
        """The entries below a prefix whose next path has a value, not EMPTY or a null."""
        return ByteRange(*self.index.values_range(prefix))

    def beginning(self, values: Sequence[Any]) -> ByteRange:
        """The entries with these leading values."""
        prefix = self.prefix(values)
        return ByteRange(prefix, after_prefix(prefix))


def ranges_of(space: KeySpace, columns: Sequence[Sequence[KeyPiece]]) -> list[ByteRange]:
    """The ranges of the leading columns' pieces, ascending and disjoint; no piece: no range.

    At most `NOSQL_KEY_RANGES_MAX`: the pieces of later columns are left aside beyond that.
    """
    ranges: list[ByteRange] = []
    heads: list[tuple[Any, ...]] = [()]
    for position, pieces in enumerate(columns):
        if len(heads) * max(1, len(pieces)) > NOSQL_KEY_RANGES_MAX:
            break
        ranges += [
            _between(space, head, position, piece)
            for head in heads
            for piece in pieces
            if isinstance(piece, KeyInterval)
        ]
        heads = [
            (*head, piece.value)
            for head in heads
            for piece in pieces
            if isinstance(piece, KeyPoint)
        ]
    ranges += [space.beginning(head) for head in heads]
    return _merged(ranges)


def _between(space: KeySpace, head: Sequence[Any], position: int, piece: KeyInterval) -> ByteRange:
    prefix = space.prefix(head)
    start, stop = space.values(prefix)
    if piece.low is not None:
        low = space.bound(prefix, position, piece.low)
        start = low if piece.low_inclusive else after_prefix(low)
    if piece.high is not None:
        high = space.bound(prefix, position, piece.high)
        stop = after_prefix(high) if piece.high_inclusive else high
    return ByteRange(start, stop)


def _merged(ranges: list[ByteRange]) -> list[ByteRange]:
    merged: list[ByteRange] = []
    for each in sorted(ranges):
        if each.start >= each.stop:
            continue
        if merged and each.start <= merged[-1].stop:
            merged[-1] = ByteRange(merged[-1].start, max(merged[-1].stop, each.stop))
        else:
            merged.append(each)
    return merged


def met(one: Sequence[KeyPiece], other: Sequence[KeyPiece]) -> list[KeyPiece]:
    """The pieces that two conditions of one column have in common, or a few more."""
    points = [piece for piece in one if isinstance(piece, KeyPoint)]
    if len(points) == len(one):
        return [piece for piece in points if any(_holds(each, piece.value) for each in other)]
    if all(isinstance(piece, KeyPoint) for piece in other):
        return met(other, one)
    intervals = [piece for piece in one if isinstance(piece, KeyInterval)]
    others = [piece for piece in other if isinstance(piece, KeyInterval)]
    if len(intervals) == len(one) == len(others) == len(other) == 1:
        return [_common(intervals[0], others[0])]
    return list(one)


def _holds(piece: KeyPiece, value: Any) -> bool:  # noqa: ANN401  # key values
    if isinstance(piece, KeyPoint):
        return bool(piece.value == value)
    return value is not None and not isinstance(value, JsonNull)


def _common(one: KeyInterval, other: KeyInterval) -> KeyInterval:
    """Both bounds of two intervals; of two low or two high bounds the one that was given last."""
    low, low_inclusive = (
        (other.low, other.low_inclusive) if one.low is None else (one.low, one.low_inclusive)
    )
    high, high_inclusive = (
        (other.high, other.high_inclusive) if one.high is None else (one.high, one.high_inclusive)
    )
    return KeyInterval(low, low_inclusive, high, high_inclusive)


# --- the values that a comparison leaves of a column ---------------------------------------------

_INTS: Final = {Kind.INTEGER: 2**31, Kind.LONG: 2**63}
_FLOAT: Final = struct.Struct(">f")


def has_plain_values(kind: FieldType) -> bool:
    """Whether a key column has whole numbers or texts, which `is_value_of` knows."""
    return kind.kind in _INTS or (kind.kind is Kind.STRING and not kind.uuid)


def is_value_of(items: Sequence[Any], kind: Kind) -> bool:
    """Whether items are one value, and it is a value of a column with plain values."""
    if len(items) != 1:
        return False
    item = items[0]
    if kind is Kind.STRING:
        return type(item) is str
    whole = isinstance(item, int) and not isinstance(item, bool)
    return whole and -_INTS[kind] <= item < _INTS[kind]


def pieces_of(operator: str, item: Any, kind: FieldType) -> list[KeyPiece] | None:  # noqa: ANN401  # any value of a query
    """The values of a column of a type for which `column operator item` may be true.

    `operator`: `=`, `<`, `<=`, `>`, `>=`. None: no bound is known. Raises `InvalidRequest` for a
    text that is not a UUID, where the column is one.
    """
    if item is None:
        return []
    if isinstance(item, JsonNull):
        return None
    fitted = _fitted(item, kind)
    if fitted is None:
        return None
    value, exact = fitted
    if value is None:
        return []
    if operator == "=":
        return [KeyPoint(value)] if exact else []
    inclusive = not exact or operator in ("<=", ">=")
    least, beyond = _kind_bounds(value) if kind.kind is Kind.ANY_ATOMIC else (None, None)
    if operator[0] == "<":
        return [KeyInterval(least, high=value, high_inclusive=inclusive)]
    return [KeyInterval(value, inclusive, beyond, high_inclusive=False)]


def _kind_bounds(value: Any) -> tuple[Any, Any]:  # noqa: ANN401  # a bool, a text or a number
    """The least value of a kind, and the least one behind the kind; None: no bound."""
    if isinstance(value, bool):
        return False, None
    return ("", False) if isinstance(value, str) else (None, "")


def _fitted(item: Any, kind: FieldType) -> tuple[Any, bool] | None:  # noqa: ANN401  # a bool, a text or a number
    """The item as a key value, and whether it is the same value; None: it cannot be said.

    A value of None says that no value of the column compares with the item.
    """
    if kind.kind is Kind.ANY_ATOMIC:
        return _any(item)
    number = isinstance(item, int | float | Decimal) and not isinstance(item, bool)
    if number and kind.kind in _NUMERIC:
        return _number(item, kind.kind)
    if isinstance(item, bool):
        return (item if kind.kind is Kind.BOOLEAN else None), True
    if isinstance(item, Timestamp):
        return _timestamp(item, kind)
    if isinstance(item, str):
        return _text(item, kind)
    return None, True


def _any(item: Any) -> tuple[Any, bool] | None:  # noqa: ANN401  # a bool, a text or a number
    if isinstance(item, bool | str):
        return item, True
    number = isinstance(item, int | float | Decimal)
    return _number(item, Kind.NUMBER) if number else None


_NUMERIC: Final = frozenset((*_INTS, Kind.FLOAT, Kind.DOUBLE, Kind.NUMBER))


def _number(item: float | Decimal, kind: Kind) -> tuple[Any, bool] | None:
    if isinstance(item, float) and not math.isfinite(item):
        return None
    if kind in _INTS:
        # A number that is no integer compares as a double does: several keys may be equal to it.
        fits = isinstance(item, int) and -_INTS[kind] <= item < _INTS[kind]
        return (item, True) if fits else None
    if kind is Kind.NUMBER:
        exact = Decimal(repr(float(item))) if isinstance(item, float) else Decimal(item)
        return plain_number(exact), True
    try:
        value = float(item)
        if kind is Kind.FLOAT:
            value = _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return None
    return value, value == item


def _timestamp(item: Timestamp, kind: FieldType) -> tuple[Any, bool]:
    if kind.kind is not Kind.TIMESTAMP:
        return None, True
    step: int = 10 ** (9 - kind.precision)
    cut = Timestamp(item.seconds, item.nanoseconds // step * step)
    return cut, cut == item


def _text(item: str, kind: FieldType) -> tuple[Any, bool] | None:
    if kind.kind is Kind.STRING:
        return (coerce(item, kind, "key") if kind.uuid else item), True
    if kind.kind is Kind.ENUM:
        return (item if item in kind.symbols else None), True
    if kind.kind is Kind.TIMESTAMP:
        try:
            return _timestamp(Timestamp.parse(item), kind)
        except InvalidRequest:
            return None  # the comparison itself reads more forms, and refuses what is none
    return None, True
