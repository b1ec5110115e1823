"""Casts: CAST(… AS …), values of INSERT and UPDATE, texts that compare with timestamps (ddl §3)."""

import math
import re
import struct
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import Any, Final

from widerow.errors import InvalidRequest
from widerow.model.typed.types import Field, FieldType, Kind, enum_of, record_of
from widerow.model.typed.values import JSON_NULL, JsonNull, Timestamp, plain_number
from widerow.wire.nosql.moments import of_milliseconds, read_moment
from widerow.wire.nosql.rules import NosqlRule
from widerow.wire.nosql.sql.items import (
    EnumItem,
    FloatItem,
    LongInt,
    RecordItem,
    inside,
    is_long,
    is_number,
    stamp,
)
from widerow.wire.nosql.sql.lexis import TextPlace
from widerow.wire.nosql.sql.statement_rules import StatementRule
from widerow.wire.nosql.sql.syntax import TypeNode
from widerow.wire.nosql.sql.texts import item_type_name, text_of

__all__ = [
    "cast_item",
    "field_type",
    "is_of_type",
    "moment_of",
    "sql_type",
    "sql_type_text",
    "told_type",
]


class _Refused(Exception):
    """A value that cannot be cast; its text says why, or is empty."""


def cast_item(
    item: Any,  # noqa: ANN401  # any item
    kind: TypeNode,
    place: TextPlace,
    declared: TypeNode | None = None,
) -> Any:  # noqa: ANN401  # any item
    """An item as one of another type; SQL NULL stays.

    `declared`: the type of the expression that gave it, where that is known before. Raises
    `InvalidRequest`.
    """
    if item is None:
        return None
    try:
        _check_lengths(item, declared, kind)
        return _CASTS[kind.name](item, kind, place)
    except _Refused as error:
        raise InvalidRequest(
            StatementRule.CAST,
            value=text_of(item)[:500],
            given=told_type(item, declared),
            type=sql_type_text(kind),
            text=f"\n{error}" if str(error) else "",
            line=place.line,
            column=place.column,
        ) from error


def _check_lengths(item: Any, declared: TypeNode | None, kind: TypeNode) -> None:  # noqa: ANN401  # any item
    """Refuse a BINARY(n) as a BINARY, which is another type (corrections B)."""
    fixed = declared is not None and declared.size is not None and isinstance(item, bytes)
    if fixed and kind.name == "BINARY" and kind.size is None:
        raise _Refused


def told_type(item: Any, declared: TypeNode | None) -> str:  # noqa: ANN401  # any item
    """The type of an item in messages: the declared one, where the item tells less."""
    if declared is not None:
        wanted = _TELLS_LESS.get(declared.name)
        if wanted is not None and isinstance(item, wanted) and not isinstance(item, RecordItem):
            return sql_type_text(replace(declared, quantifier=""))
    return item_type_name(item)


_TELLS_LESS: Final[dict[str, type]] = {"BINARY": bytes, "ARRAY": list, "MAP": dict}


# --- numbers -------------------------------------------------------------------------------------

_LONG_DIGITS: Final = 19
_EXACT: Final = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_INTEGER_TEXT: Final = re.compile(r"[+-]?[0-9]+\Z", re.ASCII)
_DOUBLE_TEXT: Final = re.compile(
    r"\s*[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)\s*\Z",
    re.ASCII,
)


def _wrapped(value: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half


def _whole(item: Any, kind: TypeNode, bits: int) -> int:  # noqa: ANN401  # any item
    if isinstance(item, Timestamp) and bits == 64:
        return item.seconds * 1000 + item.nanoseconds // 1_000_000
    if isinstance(item, str) and not isinstance(item, EnumItem):
        low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        digits = item.lstrip("+-").lstrip("0") or "0"
        is_read = _INTEGER_TEXT.match(item) and len(digits) <= _LONG_DIGITS
        value = (-int(digits) if item[0] == "-" else int(digits)) if is_read else high + 1
        if not low <= value <= high:
            raise _Refused(f'For input string: "{item[:100]}"')
        return value
    if not is_number(item):
        raise _Refused
    if isinstance(item, float):
        if math.isnan(item):
            return 0
        low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        return low if item <= low else high if item >= high else int(item)
    del kind
    if isinstance(item, Decimal):
        return _whole_of_number(item, bits)
    return _wrapped(int(item), bits)


def _whole_of_number(number: Decimal, bits: int) -> int:
    """The low bits of a NUMBER without its fraction, also of one with 10^9 digits."""
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    if exponent <= 0:
        return _wrapped(int(number), bits)
    digits = int(number.scaleb(-exponent, _EXACT))
    return _wrapped(digits * pow(10, exponent, 1 << bits), bits)


def _integer(item: Any, kind: TypeNode, place: TextPlace) -> int:  # noqa: ANN401  # any item
    del place
    return _whole(item, kind, 32)


def _long(item: Any, kind: TypeNode, place: TextPlace) -> int:  # noqa: ANN401  # any item
    del place
    return LongInt(_whole(item, kind, 64))


def _real(item: Any) -> float:  # noqa: ANN401  # any item
    if isinstance(item, str) and not isinstance(item, EnumItem):
        if not _DOUBLE_TEXT.match(item):
            raise _Refused(f'For input string: "{item[:100]}"')
        return float(item.strip().rstrip("fFdD") if item.strip()[-1:] in "fFdD" else item)
    if not is_number(item):
        raise _Refused
    return float(item)


def _double(item: Any, kind: TypeNode, place: TextPlace) -> float:  # noqa: ANN401  # any item
    del kind, place
    return float(_real(item))


def _float(item: Any, kind: TypeNode, place: TextPlace) -> float:  # noqa: ANN401  # any item
    del kind, place
    value = _real(item)
    try:
        return FloatItem(struct.unpack(">f", struct.pack(">f", value))[0])
    except OverflowError:
        return FloatItem(math.copysign(math.inf, value))


def _wrong_number(text: str) -> str:
    """Why a text is not a number: the first character that no number has, or the whole text."""
    wrong = next((each for each in text if each not in _NUMBER_CHARACTERS), None)
    if wrong is None:
        return f"{text[:100]} is not a number"
    return str(NosqlRule.NUMBER_CHARACTER.told({"character": wrong}))


_NUMBER_CHARACTERS: Final = frozenset("0123456789+-.eE")


def _number(item: Any, kind: TypeNode, place: TextPlace) -> Decimal:  # noqa: ANN401  # any item
    del kind, place
    if isinstance(item, str) and not isinstance(item, EnumItem):
        try:
            found = Decimal(item)
        except InvalidOperation as error:
            raise _Refused(_wrong_number(item)) from error
        if not found.is_finite() or item != item.strip() or "_" in item:
            raise _Refused(f"{item[:100]} is not a number")
        return plain_number(found)
    if not is_number(item):
        raise _Refused
    if isinstance(item, float):
        if not math.isfinite(item):
            raise _Refused
        return plain_number(Decimal(repr(float(item))))
    return plain_number(Decimal(item))


# --- other plain types ---------------------------------------------------------------------------


def _string(item: Any, kind: TypeNode, place: TextPlace) -> str:  # noqa: ANN401  # any item
    del kind, place
    return text_of(item)


def _boolean(item: Any, kind: TypeNode, place: TextPlace) -> bool:  # noqa: ANN401  # any item
    del kind, place
    if isinstance(item, bool):
        return item
    if isinstance(item, str) and not isinstance(item, EnumItem):
        return item.lower() == "true"
    raise _Refused


def _binary(item: Any, kind: TypeNode, place: TextPlace) -> bytes:  # noqa: ANN401  # any item
    del place
    if isinstance(item, bytes):
        data = item
    elif isinstance(item, str) and not isinstance(item, EnumItem):
        wrong = next((each for each in item if not _BASE64.match(each)), None)
        if wrong is not None:
            raise _Refused(f"Illegal base64 character {ord(wrong):x}")
        try:
            data = b64decode(item.rstrip("=") + "=" * (-len(item.rstrip("=")) % 4), validate=True)
        except (Base64Error, ValueError) as error:
            raise _Refused("Input byte array has wrong 4-byte ending unit") from error
    else:
        raise _Refused
    if kind.size is not None and len(data) != kind.size:
        raise _Refused
    return data


_BASE64: Final = re.compile(r"[A-Za-z0-9+/=]", re.ASCII)


def _enum(item: Any, kind: TypeNode, place: TextPlace) -> EnumItem:  # noqa: ANN401  # any item
    del place
    if not isinstance(item, str):
        raise _Refused
    if item not in kind.symbols:
        symbols = ", ".join(kind.symbols)
        raise _Refused(f"Invalid enumeration value '{item[:100]}', must be in values: [{symbols}]")
    return EnumItem(str(item), enum_of(kind.symbols))


def moment_of(text: str) -> Timestamp:
    """The instant of a text. Raises `InvalidRequest`."""
    try:
        return _moment(text)
    except _Refused as error:
        raise InvalidRequest(
            StatementRule.CAST,
            value=text[:500],
            given="String",
            type="Timestamp(9)",
            text=f"\n{error}",
        ) from error


def _moment(text: str) -> Timestamp:
    try:
        return read_moment(text)
    except InvalidRequest as error:
        raise _Refused(str(error)) from error


def _timestamp(item: Any, kind: TypeNode, place: TextPlace) -> Timestamp:  # noqa: ANN401  # any item
    del place
    precision = 9 if kind.size is None else kind.size
    if isinstance(item, Timestamp):
        moment = item
    elif isinstance(item, str) and not isinstance(item, EnumItem):
        moment = _moment(item)
    elif isinstance(item, int) and not isinstance(item, bool):
        counted = of_milliseconds(item)
        if counted is None:
            raise _Refused("it is beyond the years -6383 to 9999")
        moment = counted
    else:
        raise _Refused
    return stamp(Timestamp(moment[0], moment[1]).rounded(precision), precision)


# --- arrays, maps, records, JSON -----------------------------------------------------------------


def _array(item: Any, kind: TypeNode, place: TextPlace) -> list[Any]:  # noqa: ANN401  # any item
    if not isinstance(item, list):
        raise _Refused
    element = kind.element or ANY
    return [cast_item(inside(item, each), element, place) for each in item]


def _map(item: Any, kind: TypeNode, place: TextPlace) -> dict[str, Any]:  # noqa: ANN401  # any item
    if not isinstance(item, Mapping):
        raise _Refused
    element = kind.element or ANY
    cast = {}
    for name, each in item.items():
        value = inside(item, each)
        cast[name] = JSON_NULL if value is None else cast_item(value, element, place)
    return cast


def _record(item: Any, kind: TypeNode, place: TextPlace) -> RecordItem:  # noqa: ANN401  # any item
    if not isinstance(item, Mapping):
        raise _Refused
    made = field_type(kind)
    assert made is not None
    values: dict[str, Any] = {}
    for name, each in kind.fields:
        value = inside(item, item[name]) if name in item else each.default
        null = value is None or (isinstance(value, JsonNull) and each.name not in _JSON_NULLS)
        values[name] = None if null else cast_item(value, each, place)
    return RecordItem(values, made)


_JSON_NULLS: Final = frozenset(("JSON", "ANY", "ANYATOMIC", "ANYJSONATOMIC"))


def _json(item: Any, kind: TypeNode, place: TextPlace) -> Any:  # noqa: ANN401  # any item
    if isinstance(item, bytes | Timestamp | EnumItem):
        raise _Refused
    if isinstance(item, list):
        return [_inner_json(item, each, kind, place) for each in item]
    if isinstance(item, Mapping):
        return {name: _inner_json(item, each, kind, place) for name, each in item.items()}
    return item


def _inner_json(container: Any, value: Any, kind: TypeNode, place: TextPlace) -> Any:  # noqa: ANN401  # any item
    item = inside(container, value)
    return JSON_NULL if item is None else _json(item, kind, place)


def _any(item: Any, kind: TypeNode, place: TextPlace) -> Any:  # noqa: ANN401  # any item
    del kind, place
    return item


def _any_atomic(item: Any, kind: TypeNode, place: TextPlace) -> Any:  # noqa: ANN401  # any item
    del kind, place
    if isinstance(item, list | Mapping):
        raise _Refused
    return item


def _any_json_atomic(item: Any, kind: TypeNode, place: TextPlace) -> Any:  # noqa: ANN401  # any item
    del kind, place
    if isinstance(item, list | Mapping | bytes | Timestamp | EnumItem):
        raise _Refused
    return item


def _any_record(item: Any, kind: TypeNode, place: TextPlace) -> Any:  # noqa: ANN401  # any item
    del kind, place
    if not isinstance(item, RecordItem):
        raise _Refused
    return item


ANY: Final = TypeNode("ANY")
_CASTS: Final[dict[str, Callable[[Any, TypeNode, TextPlace], Any]]] = {
    "INTEGER": _integer,
    "LONG": _long,
    "FLOAT": _float,
    "DOUBLE": _double,
    "NUMBER": _number,
    "STRING": _string,
    "BOOLEAN": _boolean,
    "BINARY": _binary,
    "ENUM": _enum,
    "TIMESTAMP": _timestamp,
    "ARRAY": _array,
    "MAP": _map,
    "RECORD": _record,
    "JSON": _json,
    "ANY": _any,
    "ANYATOMIC": _any_atomic,
    "ANYJSONATOMIC": _any_json_atomic,
    "ANYRECORD": _any_record,
    "POINT": _json,
    "GEOMETRY": _json,
}


# --- types ---------------------------------------------------------------------------------------


def sql_type(kind: FieldType) -> TypeNode:
    """The type of a column as SQL has it."""
    if kind.kind is Kind.FIXED_BINARY:
        return TypeNode("BINARY", size=kind.size)
    if kind.kind is Kind.TIMESTAMP:
        return TypeNode("TIMESTAMP", size=kind.precision)
    if kind.kind is Kind.ENUM:
        return TypeNode("ENUM", symbols=kind.symbols)
    if kind.kind is Kind.RECORD:
        fields = (
            (field.name, replace(sql_type(field.type), nullable=field.nullable))
            for field in kind.fields
        )
        return TypeNode("RECORD", fields=tuple(fields))
    element = None if kind.element is None else sql_type(kind.element)
    name = "ANYATOMIC" if kind.kind is Kind.ANY_ATOMIC else kind.kind.value
    return TypeNode(name, element=element)


def field_type(kind: TypeNode) -> FieldType | None:
    """The type of a column that is the same; None where no column has it."""
    if kind.name == "BINARY" and kind.size is not None:
        return FieldType(Kind.FIXED_BINARY, size=kind.size)
    if kind.name == "TIMESTAMP":
        return FieldType(Kind.TIMESTAMP, precision=9 if kind.size is None else kind.size)
    if kind.name == "ENUM":
        return enum_of(kind.symbols)
    if kind.name == "RECORD":
        fields = [(name, field_type(each) or FieldType(Kind.JSON)) for name, each in kind.fields]
        return record_of(*(Field(name, each) for name, each in fields))
    if kind.name in ("ARRAY", "MAP"):
        element = field_type(kind.element or ANY) or FieldType(Kind.JSON)
        return FieldType(Kind[kind.name], element=element)
    return FieldType(Kind[kind.name]) if kind.name in Kind.__members__ else None


_NAMES: Final = {
    "ANYATOMIC": "AnyAtomic",
    "ANYJSONATOMIC": "AnyJsonAtomic",
    "ANYRECORD": "AnyRecord",
    "RECORD": "RECORD",
}


def sql_type_text(kind: TypeNode) -> str:
    """A type as messages write it."""
    name = _NAMES.get(kind.name) or kind.name.capitalize()
    if kind.name == "ENUM":
        name += "(" + ", ".join(f'"{symbol}"' for symbol in kind.symbols) + ")"
    elif kind.name == "RECORD":
        name += "(\n" + ",\n".join(f"{field} : {_inner_text(each)}" for field, each in kind.fields)
        name += "\n)"
    elif kind.element is not None:
        name += f"({_inner_text(kind.element)})"
    elif kind.size is not None:
        name += f"({kind.size})"
    return name + kind.quantifier


def _inner_text(kind: TypeNode) -> str:
    """A type inside of another one; one of several lines begins in a line of its own."""
    return ("\n" if kind.name == "RECORD" else "") + sql_type_text(kind)


# --- IS OF TYPE ----------------------------------------------------------------------------------


def is_of_type(items: Sequence[Any], kind: TypeNode) -> bool | None:
    """Whether items are of a type with its quantifier; None for SQL NULL."""
    if any(item is None for item in items):
        return None
    least, most = {"": (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None)}[kind.quantifier]
    if len(items) < least or (most is not None and len(items) > most):
        return False
    return all(_is(item, kind) for item in items)


def _is(item: Any, kind: TypeNode) -> bool:  # noqa: ANN401  # any item
    found = _ARE[kind.name](item, kind)
    if found and kind.only:
        return item_type_name(item).split("(")[0].lower() == kind.name.lower()
    return found


def _is_array(item: Any, kind: TypeNode) -> bool:  # noqa: ANN401  # any item
    element = kind.element or ANY
    return isinstance(item, list) and all(_is(inside(item, each), element) for each in item)


def _is_map(item: Any, kind: TypeNode) -> bool:  # noqa: ANN401  # any item
    element = kind.element or ANY
    plain = isinstance(item, Mapping) and not isinstance(item, RecordItem)
    return plain and all(_is(inside(item, each), element) for each in item.values())


def _is_record(item: Any, kind: TypeNode) -> bool:  # noqa: ANN401  # any item
    if not isinstance(item, RecordItem):
        return False
    names = [name.lower() for name, _ in kind.fields]
    return names == [name.lower() for name in item] and all(
        value is None or _is(value, each)
        for value, (_, each) in zip(item.values(), kind.fields, strict=True)
    )


def _is_json(item: Any, kind: TypeNode) -> bool:  # noqa: ANN401  # any item
    if isinstance(item, bytes | Timestamp | EnumItem | RecordItem):
        return False
    if isinstance(item, list):
        return all(_is_json(each, kind) for each in item)
    if isinstance(item, Mapping):
        return all(_is_json(each, kind) for each in item.values())
    return True


def _is_stamp(item: Any, kind: TypeNode) -> bool:  # noqa: ANN401  # any item
    precision = 9 if kind.size is None else kind.size
    return isinstance(item, Timestamp) and getattr(item, "precision", 9) <= precision


def _is_int(item: Any) -> bool:  # noqa: ANN401  # any item
    return isinstance(item, int) and not isinstance(item, bool)


_ARE: Final[dict[str, Callable[[Any, TypeNode], bool]]] = {
    "INTEGER": lambda item, _: _is_int(item) and not is_long(item),
    "LONG": lambda item, _: _is_int(item),
    "FLOAT": lambda item, _: isinstance(item, FloatItem),
    "DOUBLE": lambda item, _: isinstance(item, float),
    "NUMBER": lambda item, _: is_number(item),
    "STRING": lambda item, _: isinstance(item, str) and not isinstance(item, EnumItem),
    "BOOLEAN": lambda item, _: isinstance(item, bool),
    "BINARY": lambda item, kind: isinstance(item, bytes) and kind.size in (None, len(item)),
    "ENUM": lambda item, kind: isinstance(item, EnumItem) and item.kind.symbols == kind.symbols,
    "TIMESTAMP": _is_stamp,
    "ARRAY": _is_array,
    "MAP": _is_map,
    "RECORD": _is_record,
    "JSON": _is_json,
    "ANY": lambda _, __: True,
    "ANYATOMIC": lambda item, _: not isinstance(item, list | Mapping),
    "ANYJSONATOMIC": lambda item, kind: (
        not isinstance(item, list | Mapping) and _is_json(item, kind)
    ),
    "ANYRECORD": lambda item, _: isinstance(item, RecordItem),
    "POINT": lambda item, _: isinstance(item, Mapping),
    "GEOMETRY": lambda item, _: isinstance(item, Mapping),
}
