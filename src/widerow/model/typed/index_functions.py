"""Functions that an index may apply to a path, or to the row as a whole (model §11).

An index field of a function has the path `function#path`, with constants behind commas, as the
vendor lists it: `lower#name`, `substring#name,0,3`, `expiration_time#`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NamedTuple

from widerow.errors import InvalidRequest
from widerow.model.typed.java_text import double_text
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.types import INTEGER, LONG, NUMBER, STRING, FieldType, Kind, timestamp
from widerow.model.typed.values import JsonNull, Timestamp, TypedValue, plain_number

__all__ = ["IndexFunction", "applied", "index_function", "joined_path", "parted", "takes_any"]

Constants = tuple[str | int, ...]


class IndexFunction(NamedTuple):
    """A function with its constants. `of_row`: it takes the row, and no path."""

    name: str
    constants: Constants
    of_row: bool


@dataclass(frozen=True, slots=True)
class _Known:
    result: Callable[[FieldType], FieldType]
    call: Callable[[Any, Constants], TypedValue]
    most: int = 0
    of_text: bool = False


def parted(path: str) -> tuple[IndexFunction | None, str]:
    """The function of an index path, if it has one, and the path that it is applied to."""
    name, sign, rest = path.partition("#")
    if not sign:
        return None, path
    inner, *constants = rest.split(",")
    values = tuple(json.loads(each) for each in constants)
    return IndexFunction(name, values, name in _OF_ROW), inner


def joined_path(name: str, path: str, constants: Sequence[str | int]) -> str:
    """The path of an index field with a function."""
    return ",".join([f"{name}#{path}", *map(json.dumps, constants)])


def index_function(function: IndexFunction, source: FieldType | None) -> FieldType:
    """The type that is indexed. Raises `InvalidRequest` for a function that no index has."""
    count = len(function.constants) + (source is not None)
    known = _KNOWN.get(function.name)
    if source is None and function.of_row and not function.constants:
        return _OF_ROW[function.name]
    if known is None or source is None or len(function.constants) > known.most:
        raise InvalidRequest(TypedRule.INDEX_NO_FUNCTION, name=function.name[:100], count=count)
    return known.result(source)


def takes_any(function: IndexFunction) -> bool:
    """Whether a function takes any value inside JSON, as its text; others the declared type."""
    return _KNOWN[function.name].of_text


def applied(function: IndexFunction, value: TypedValue) -> TypedValue:
    """The value of a function; of what is NULL or EMPTY it is NULL."""
    if value is None or type(value).__name__ == "Empty":
        return None
    return _KNOWN[function.name].call(value, function.constants)


def _text(value: Any) -> str:  # noqa: ANN401  # any value of a column
    """The text of a value as the functions of statements see it (corrections B, 4 string)."""
    if isinstance(value, str):
        return value
    return _json(value) if isinstance(value, (list, Mapping)) else _atomic(value)


def _atomic(value: Any) -> str:  # noqa: ANN401  # any value but texts and containers
    if value is None or isinstance(value, JsonNull):
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, Decimal):
        return str(plain_number(value))
    return value.text() if isinstance(value, Timestamp) else str(value)


def _json(value: Any) -> str:  # noqa: ANN401  # a value inside a document
    if isinstance(value, list):
        return "[" + ",".join([_json(each) for each in value]) + "]"
    if isinstance(value, Mapping):
        members = [f"{_json(name)}:{_json(value[name])}" for name in sorted(value)]
        return "{" + ",".join(members) + "}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else _atomic(value)


def _of_text(change: Callable[[str], TypedValue], result: FieldType = STRING) -> _Known:
    return _Known(lambda _: result, lambda value, _: change(_text(value)), of_text=True)


def _substring(value: Any, constants: Constants) -> TypedValue:  # noqa: ANN401  # a value inside a document
    text = _text(value)
    start = constants[0] if constants else 0
    length = constants[1] if len(constants) > 1 else len(text)
    if not isinstance(start, int) or not isinstance(length, int) or not 0 <= start < len(text):
        return None
    return text[start : start + max(0, length)]


def _part(index: int) -> _Known:
    """A part of an instant: year, month, day, hour, minute, second."""

    def call(value: Any, _: Constants) -> TypedValue:  # noqa: ANN401  # a value inside a document
        if isinstance(value, int) and not isinstance(value, bool):
            value = Timestamp(value // 1000, value % 1000 * 1_000_000)
        elif isinstance(value, str):
            try:
                value = Timestamp.parse(value)
            except InvalidRequest:
                return None
        if not isinstance(value, Timestamp):
            return None
        date, _sign, clock = value.text(0).rstrip("Z").partition("T")
        negative = date.startswith("-")
        parts = [*date.lstrip("-").split("-"), *clock.split(":")]
        return -int(parts[0]) if negative and index == 0 else int(parts[index])

    return _Known(lambda _: INTEGER, call)


def _absolute(value: Any, _: Constants) -> TypedValue:  # noqa: ANN401  # a value inside a document
    plain = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return abs(value) if plain else None


_NUMERIC: Final = frozenset((Kind.INTEGER, Kind.LONG, Kind.FLOAT, Kind.DOUBLE, Kind.NUMBER))
_ABSOLUTE: Final = {Kind.INTEGER: LONG}
_KNOWN: Final[Mapping[str, _Known]] = {
    "lower": _of_text(str.lower),
    "upper": _of_text(str.upper),
    "trim": _of_text(lambda text: text.strip(" ")),
    "ltrim": _of_text(lambda text: text.lstrip(" ")),
    "rtrim": _of_text(lambda text: text.rstrip(" ")),
    "reverse": _of_text(lambda text: text[::-1]),
    "length": _of_text(len, INTEGER),
    "substring": _Known(lambda _: STRING, _substring, 2, of_text=True),
    **{
        name: _part(at)
        for at, name in enumerate(("year", "month", "day", "hour", "minute", "second"))
    },
    "abs": _Known(
        lambda kind: _ABSOLUTE.get(kind.kind, kind if kind.kind in _NUMERIC else NUMBER),
        _absolute,
    ),
}
_OF_ROW: Final[Mapping[str, FieldType]] = {
    "expiration_time": timestamp(3),
    "expiration_time_millis": LONG,
    "modification_time": timestamp(3),
}
