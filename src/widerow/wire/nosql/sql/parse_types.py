"""Types as they are written in DECLARE, CAST and IS OF TYPE (ddl §1, §2)."""

from dataclasses import replace
from typing import Any, Final

from widerow.wire.nosql.sql.items import number_literal
from widerow.wire.nosql.sql.lexis import syntax_fault
from widerow.wire.nosql.sql.syntax import TypeNode
from widerow.wire.nosql.sql.words import WordCursor

__all__ = ["parse_type"]

_PLAIN: Final = frozenset(
    (
        *("INTEGER", "LONG", "FLOAT", "DOUBLE", "NUMBER", "STRING", "BOOLEAN", "JSON"),
        *("ANY", "ANYATOMIC", "ANYJSONATOMIC", "ANYRECORD", "POINT", "GEOMETRY"),
    )
)
_SIZED: Final = frozenset(("BINARY", "TIMESTAMP"))


def parse_type(words: WordCursor, *, only: bool = False) -> TypeNode:
    """A type with its quantifier. Raises `InvalidRequest`."""
    words.deeper()
    made = _type(words, only=only)
    words.back()
    return made


def _type(words: WordCursor, *, only: bool) -> TypeNode:
    place = words.place
    name = words.name().upper()
    if name in _PLAIN:
        return TypeNode(name, quantifier=words.takes_sign("?", "*", "+"), only=only)
    if name in _SIZED:
        size = None
        if words.takes_sign("("):
            size = int(words.take().text) if words.next.kind == "number" else None
            words.need_sign(")")
        return TypeNode(name, size=size, quantifier=words.takes_sign("?", "*", "+"), only=only)
    if name in ("ARRAY", "MAP"):
        words.need_sign("(")
        element = parse_type(words)
        words.need_sign(")")
        quantifier = words.takes_sign("?", "*", "+")
        return TypeNode(name, element=element, quantifier=quantifier, only=only)
    if name == "ENUM":
        words.need_sign("(")
        symbols = [words.name()]
        while words.takes_sign(","):
            symbols.append(words.name())
        words.need_sign(")")
        quantifier = words.takes_sign("?", "*", "+")
        return TypeNode(name, symbols=tuple(symbols), quantifier=quantifier, only=only)
    if name == "RECORD":
        return _record(words, only=only)
    raise syntax_fault(place, f"no viable alternative at input '{name[:100]}'")


_WORDS: Final = {"TRUE": True, "FALSE": False}


def _default(words: WordCursor) -> Any:  # noqa: ANN401  # a constant
    sign = words.takes_sign("-")
    word = words.take()
    if word.kind == "number":
        return number_literal(sign + word.text)
    if sign or word.kind not in ("text", "name"):
        raise syntax_fault(word.place, f"mismatched input '{word.text[:100]}' expecting a constant")
    return word.text if word.kind == "text" else _WORDS.get(word.text.upper(), word.text)


def _record(words: WordCursor, *, only: bool) -> TypeNode:
    words.need_sign("(")
    fields = []
    while True:
        name = words.name()
        kind = parse_type(words)
        if words.takes("DEFAULT"):
            kind = replace(kind, default=_default(words))
        words.takes("NOT", "NULL")
        fields.append((name, kind))
        if not words.takes_sign(","):
            words.need_sign(")")
            break
    quantifier = words.takes_sign("?", "*", "+")
    return TypeNode("RECORD", fields=tuple(fields), quantifier=quantifier, only=only)
