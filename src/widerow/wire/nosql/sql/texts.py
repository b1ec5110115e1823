"""Items as texts, as CAST to STRING, `||` and the string functions show them (corrections B).

| item | text |
|---|---|
| DOUBLE, FLOAT | as Java writes them: `0.5`, `1.0E20`, `4.9E-324`, `NaN`, `-Infinity` |
| NUMBER | without trailing zeros: `123.456`, `1E+20` |
| TIMESTAMP(p) | `2021-03-04T05:06:07.089Z`, with p digits of the second |
| BINARY | base64 |
| ARRAY, MAP, RECORD, JSON | compact JSON; names of a MAP sorted, of a RECORD as declared |
| a JSON null | `null` |
"""

import json
from base64 import b64encode
from decimal import Decimal
from typing import Any, Final

from widerow.model.typed.java_text import double_text
from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import JSON_NULL, Timestamp, plain_number
from widerow.wire.nosql.sql.items import EnumItem, FloatItem, RecordItem, StampItem, is_long

__all__ = ["column_type_text", "item_type_name", "text_of"]


def text_of(item: Any) -> str:  # noqa: ANN401  # any item
    """The text of an item; `item` is not SQL NULL. Linear in its size."""
    if isinstance(item, str):
        return str(item)
    if isinstance(item, list | dict):
        return _json(item)
    return _atomic(item)


def _atomic(item: Any) -> str:  # noqa: ANN401  # any item but texts and containers
    if item is JSON_NULL or item is None:
        return "null"
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, float):
        return double_text(item, single=isinstance(item, FloatItem))
    if isinstance(item, Decimal):
        return str(plain_number(item))
    if isinstance(item, Timestamp):
        return item.text(item.precision if isinstance(item, StampItem) else 9)
    if isinstance(item, bytes):
        return b64encode(item).decode("ascii")
    return int.__repr__(item)


def _json(item: Any) -> str:  # noqa: ANN401  # any item
    if isinstance(item, list):
        return "[" + ",".join(map(_json, item)) + "]"
    if isinstance(item, dict):
        names = item if isinstance(item, RecordItem) else sorted(item)
        return "{" + ",".join(f"{_quoted(name)}:{_json(item[name])}" for name in names) + "}"
    if isinstance(item, str):
        return _quoted(item)
    text = _atomic(item)
    return _quoted(text) if isinstance(item, Timestamp | bytes) else text


def _quoted(text: str) -> str:
    return json.dumps(str(text), ensure_ascii=False)


def item_type_name(item: Any) -> str:  # noqa: ANN401  # any item
    """The name of an item's type in messages: `Integer`, `Timestamp(3)`, `AnyJsonAtomic`."""
    if isinstance(item, EnumItem | RecordItem):
        return column_type_text(item.kind)
    if isinstance(item, Timestamp):
        return f"Timestamp({item.precision if isinstance(item, StampItem) else 9})"
    if isinstance(item, int) and not isinstance(item, bool):
        return "Long" if is_long(item) else "Integer"
    if isinstance(item, FloatItem):
        return "Float"
    for kind, name in _NAMES:
        if isinstance(item, kind):
            return name
    return "AnyJsonAtomic"


_NAMES: Final[tuple[tuple[type, str], ...]] = (
    (bool, "Boolean"),
    (float, "Double"),
    (Decimal, "Number"),
    (str, "String"),
    (bytes, "Binary"),
    (list, "Array(Json)"),
    (dict, "Map(Json)"),
)


def column_type_text(kind: FieldType) -> str:
    """A declared type in messages: `Array(Integer)`, `Enum("red", "green")`."""
    if kind.kind is Kind.TIMESTAMP:
        return f"Timestamp({kind.precision})"
    if kind.kind is Kind.FIXED_BINARY:
        return f"Binary({kind.size})"
    if kind.kind is Kind.ENUM:
        return "Enum(" + ", ".join(f'"{symbol}"' for symbol in kind.symbols) + ")"
    if kind.kind is Kind.RECORD:
        fields = ",\n".join(f"{field.name} : {_inner_text(field.type)}" for field in kind.fields)
        return f"RECORD(\n{fields}\n)"
    if kind.element is not None:
        return f"{kind.kind.value.title()}({_inner_text(kind.element)})"
    return str(kind.kind.value).title()


def _inner_text(kind: FieldType) -> str:
    """A type inside of another one; one of several lines begins in a line of its own."""
    return ("\n" if kind.kind is Kind.RECORD else "") + column_type_text(kind)
