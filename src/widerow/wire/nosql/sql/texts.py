"""Items as text, as the vendor writes them: for `||`, casts to STRING, and messages."""

import math
from base64 import b64encode
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from widerow.model.typed.json_rows import dumps
from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import JsonNull, Timestamp
from widerow.wire.nosql.sql.items import (
    EnumItem,
    FloatItem,
    RecordItem,
    StampItem,
    inside,
    is_long,
)

__all__ = ["double_text", "number_text", "stamp_text", "text_of", "type_name", "type_text"]


def text_of(item: Any) -> str:  # noqa: ANN401  # any item but SQL NULL
    """An item as text: arrays and maps as JSON with sorted names."""
    if isinstance(item, str):
        return str(item)
    if isinstance(item, bytes):
        return b64encode(item).decode()
    if isinstance(item, Timestamp):
        return stamp_text(item)
    return _json(item)


def _json(item: Any) -> str:  # noqa: ANN401  # as above
    if item is None or isinstance(item, JsonNull):
        return "null"
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        return dumps(str(item))
    if isinstance(item, float):
        return double_text(item)
    if isinstance(item, Decimal):
        return number_text(item)
    if isinstance(item, int):
        return str(int(item))
    if isinstance(item, list):
        return "[" + ",".join([_json(each) for each in item]) + "]"
    if isinstance(item, Mapping):
        names = list(item) if isinstance(item, RecordItem) else sorted(item)
        return "{" + ",".join([f"{dumps(n)}:{_json(inside(item, item[n]))}" for n in names]) + "}"
    return dumps(text_of(item))


def stamp_text(moment: Timestamp) -> str:
    """An instant with the digits of its precision and a Z."""
    return moment.text(moment.precision if isinstance(moment, StampItem) else 9)


def number_text(value: Decimal) -> str:
    """A NUMBER as Java writes it: without trailing zeros."""
    return str(value.normalize()) if len(value.as_tuple().digits) <= 28 else str(value)


def double_text(value: float) -> str:
    """A DOUBLE or FLOAT as Java writes it: `1.0`, `1.0E20`, `1.0E-7`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    shown = repr(float(value)) if not isinstance(value, FloatItem) else _float_digits(value)
    if value == 0.0 or 1e-3 <= abs(value) < 1e7:
        plain = format(Decimal(shown), "f")
        return plain if "." in plain else f"{plain}.0"
    sign, digits, exponent = Decimal(shown).normalize().as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    power = exponent + len(text) - 1
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{power}"


def _float_digits(value: float) -> str:
    """The fewest digits that read back as the same FLOAT."""
    import struct  # noqa: PLC0415  # needed here only

    packed = struct.pack(">f", value)
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack(">f", float(text)) == packed:
            return text
    return repr(float(value))


def type_text(kind: FieldType) -> str:
    """A type of a column as messages write it: `Array(Integer)`."""
    if kind.kind is Kind.ENUM:
        return "Enum(" + ", ".join(f'"{symbol}"' for symbol in kind.symbols) + ")"
    if kind.kind is Kind.TIMESTAMP:
        return f"Timestamp({kind.precision})"
    if kind.kind is Kind.FIXED_BINARY:
        return f"Binary({kind.size})"
    if kind.element is not None:
        return f"{kind.kind.value.capitalize()}({type_text(kind.element)})"
    return "RECORD" if kind.kind is Kind.RECORD else kind.kind.value.capitalize()


def type_name(item: Any) -> str:  # noqa: ANN401  # any item
    """The type of an item as messages write it."""
    if isinstance(item, JsonNull):
        return "AnyJsonAtomic"
    if isinstance(item, bool):
        return "Boolean"
    if isinstance(item, EnumItem | RecordItem):
        return type_text(item.kind)
    if isinstance(item, str):
        return "String"
    if isinstance(item, float):
        return "Float" if isinstance(item, FloatItem) else "Double"
    if isinstance(item, Decimal):
        return "Number"
    if isinstance(item, int):
        return "Long" if is_long(item) else "Integer"
    if isinstance(item, Timestamp):
        return f"Timestamp({item.precision if isinstance(item, StampItem) else 9})"
    if isinstance(item, bytes):
        return "Binary"
    if isinstance(item, list):
        return f"Array({_element_name(item)})"
    return f"Map({_element_name(list(item.values()))})" if isinstance(item, Mapping) else "Any"


def _element_name(items: list[Any]) -> str:
    names = {type_name(item) for item in items if item is not None}
    return names.pop() if len(names) == 1 else "Json"
