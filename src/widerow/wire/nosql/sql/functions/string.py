"""Functions of texts (ddl §4; corrections B, "4 string"): other arguments are cast to text.

SQL NULL, EMPTY and several items give SQL NULL, where a function does not say otherwise.
"""

import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from widerow.limits import NOSQL_PATTERN_CHARACTERS_MAX, VALUE_BYTES_MAX
from widerow.model.typed.types import Kind
from widerow.wire.nosql.sql.functions.kinds import (
    CALL,
    NULL_ITEMS,
    ArgumentItems,
    Env,
    FunctionFault,
    FunctionRule,
    Items,
    SqlFunction,
    is_null,
    promote_text,
    promotion,
    text_argument,
)
from widerow.wire.nosql.sql.items import is_long
from widerow.wire.nosql.sql.texts import text_of

__all__ = ["STRING_FUNCTIONS"]

_FLAGS: Final = frozenset("dixlsucU")
_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_UNSUPPORTED: Final = frozenset("[](){}+?|^$")
_LINE_ENDS: Final = r"\n\r\x{85}\x{2028}\x{2029}"
_PATTERNS_KEPT: Final = 256


def _of_text(change: Callable[[str], Any]) -> Callable[[ArgumentItems, Env], Items]:
    """A function of one text."""

    def call(arguments: ArgumentItems, _: Env) -> Items:
        text = text_argument(arguments[0])
        return NULL_ITEMS if text is None else (change(text),)

    return call


def _bounded(text: str, name: str) -> str:
    if len(text) > VALUE_BYTES_MAX:
        raise FunctionFault(FunctionRule.TEXT_SIZE, CALL, name=name, limit=VALUE_BYTES_MAX)
    return text


def _concat(arguments: ArgumentItems, _: Env) -> Items:
    """Every item of every argument; SQL NULL where there is none."""
    parts = [text_of(item) for items in arguments for item in items if item is not None]
    return (_bounded("".join(parts), "concat"),) if parts else NULL_ITEMS


def _position(arguments: ArgumentItems, at: int) -> int | None:
    """An argument that has to be an INTEGER."""
    items = arguments[at]
    if len(items) > 1:
        raise FunctionFault(FunctionRule.SEVERAL, at)
    if not items or items[0] is None:
        return None
    item = items[0]
    if not isinstance(item, int) or isinstance(item, bool) or is_long(item):
        raise promotion(item, "Integer*", at)
    return int(item)


def _substring(arguments: ArgumentItems, _: Env) -> Items:
    text, start = text_argument(arguments[0]), _position(arguments, 1)
    length = _position(arguments, 2) if len(arguments) > 2 else None
    if text is None or start is None or (len(arguments) > 2 and length is None):
        return NULL_ITEMS
    if not 0 <= start < len(text):
        return NULL_ITEMS
    if length is None:
        return (text[start:],)
    return (text[start : start + length] if length > 0 else "",)


def _trim(arguments: ArgumentItems, _: Env) -> Items:
    texts = [text_argument(items) for items in arguments]
    text = texts[0]
    where = "both" if len(texts) < 2 else texts[1]
    cut = " " if len(texts) < 3 else texts[2]
    if text is None or where is None or cut is None:
        return NULL_ITEMS
    strip = _TRIMS.get(where.lower())
    return NULL_ITEMS if strip is None else (strip(text, cut[:1] or " "),)


_TRIMS: Final[Mapping[str, Callable[[str, str], str]]] = MappingProxyType(
    {"both": str.strip, "leading": str.lstrip, "trailing": str.rstrip}
)


def _test(holds: Callable[[str, str], bool]) -> Callable[[ArgumentItems, Env], Items]:
    """A question about two texts: false where one is EMPTY."""

    def call(arguments: ArgumentItems, _: Env) -> Items:
        if any(is_null(items) or len(items) > 1 for items in arguments):
            return NULL_ITEMS
        if not all(arguments):
            return (False,)
        return (holds(text_of(arguments[0][0]), text_of(arguments[1][0])),)

    return call


def _index_of(arguments: ArgumentItems, _: Env) -> Items:
    text, part = text_argument(arguments[0]), text_argument(arguments[1])
    start = _position(arguments, 2) if len(arguments) > 2 else 0
    if text is None or part is None or start is None:
        return NULL_ITEMS
    return (text.find(part, max(start, 0)),)


def _replace(arguments: ArgumentItems, _: Env) -> Items:
    texts = [text_argument(items) for items in arguments]
    text, part = texts[0], texts[1]
    other = texts[2] if len(texts) > 2 else ""
    if text is None or part is None or other is None:
        return NULL_ITEMS
    if not part:
        return (text,)
    grown = len(text) + text.count(part) * (len(other) - len(part))
    if grown > VALUE_BYTES_MAX:
        raise FunctionFault(FunctionRule.TEXT_SIZE, CALL, name="replace", limit=VALUE_BYTES_MAX)
    return (text.replace(part, other),)


def _regex_like(arguments: ArgumentItems, _: Env) -> Items:
    """Whether a pattern matches the whole text; EMPTY does not match."""
    pattern = promote_text(arguments, 1)
    flags = promote_text(arguments, 2) if len(arguments) > 2 else ""
    if pattern is None or flags is None or is_null(arguments[0]) or len(arguments[0]) > 1:
        return NULL_ITEMS
    if len(pattern) > NOSQL_PATTERN_CHARACTERS_MAX:
        raise FunctionFault(
            FunctionRule.TEXT_SIZE,
            CALL,
            name="the pattern of regex_like",
            limit=NOSQL_PATTERN_CHARACTERS_MAX,
        )
    matcher = _matcher(pattern, flags)
    if not arguments[0]:
        return (False,)
    text = text_of(arguments[0][0])
    if "c" in flags:
        text = unicodedata.normalize("NFC", text)
    return (matcher.fullmatch(text) is not None,)


@lru_cache(_PATTERNS_KEPT)
def _matcher(pattern: str, flags: str) -> Any:  # noqa: ANN401  # re2 has no types
    """The matcher of a pattern, which time is linear in the text."""
    import re2  # noqa: PLC0415  # few statements have one

    if not _FLAGS.issuperset(flags):
        raise FunctionFault(FunctionRule.FLAGS, 2, text=flags)
    options = re2.Options()
    options.case_sensitive = "i" not in flags
    options.dot_nl = "s" in flags
    options.log_errors = False
    try:
        return re2.compile("".join(_translated(pattern, flags)), options)
    except re2.error as error:
        raise FunctionFault(FunctionRule.PATTERN, None, text=pattern) from error


def _translated(pattern: str, flags: str) -> list[str]:
    """The parts of a pattern in RE2's language. Raises `FunctionFault` beyond the subset."""
    import re2  # noqa: PLC0415  # few statements have one

    if "c" in flags:
        pattern = unicodedata.normalize("NFC", pattern)
    if "l" in flags:
        return [re2.escape(pattern)]
    ends = r"\n" if "d" in flags else _LINE_ENDS
    dot = "." if "s" in flags else f"[^{ends}]"
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        letter = pattern[at]
        at += 1
        if letter == "\\":
            literal, at = _escaped(pattern, at)
            parts += [re2.escape(each) for each in literal]
        elif letter == ".":
            parts.append(dot)
        elif letter == "*" and parts and parts[-1] != "*":
            parts.append("*")
        elif letter == "*" or letter in _UNSUPPORTED:
            raise FunctionFault(FunctionRule.PATTERN, None, text=pattern)
        elif "x" in flags and letter == "#":
            at = len(pattern) if "\n" not in pattern[at:] else pattern.index("\n", at)
        elif "x" not in flags or not letter.isspace():
            parts.append(re2.escape(letter))
    return parts


def _escaped(pattern: str, at: int) -> tuple[str, int]:
    """The text that a backslash before `at` stands for, and where the pattern goes on."""
    letter = pattern[at : at + 1]
    if letter == "Q":
        end = pattern.find("\\E", at + 1)
        return (pattern[at + 1 :], len(pattern)) if end < 0 else (pattern[at + 1 : end], end + 2)
    if letter in _ESCAPES:
        return _ESCAPES[letter], at + 1
    if not letter or letter.isalnum():
        raise FunctionFault(FunctionRule.PATTERN, None, text=pattern)
    return letter, at + 1


STRING_FUNCTIONS: Final[Mapping[str, SqlFunction]] = MappingProxyType(
    {
        "concat": SqlFunction(0, 255, _concat, Kind.STRING),
        "substring": SqlFunction(2, 3, _substring, Kind.STRING),
        "upper": SqlFunction(1, 1, _of_text(str.upper), Kind.STRING),
        "lower": SqlFunction(1, 1, _of_text(str.lower), Kind.STRING),
        "trim": SqlFunction(1, 3, _trim, Kind.STRING),
        "ltrim": SqlFunction(1, 1, _of_text(lambda text: text.lstrip(" ")), Kind.STRING),
        "rtrim": SqlFunction(1, 1, _of_text(lambda text: text.rstrip(" ")), Kind.STRING),
        "length": SqlFunction(1, 1, _of_text(len), Kind.INTEGER),
        "contains": SqlFunction(2, 2, _test(lambda text, part: part in text), Kind.BOOLEAN),
        "starts_with": SqlFunction(2, 2, _test(str.startswith), Kind.BOOLEAN),
        "ends_with": SqlFunction(2, 2, _test(str.endswith), Kind.BOOLEAN),
        "index_of": SqlFunction(2, 3, _index_of, Kind.INTEGER),
        "replace": SqlFunction(2, 3, _replace, Kind.STRING),
        "reverse": SqlFunction(1, 1, _of_text(lambda text: text[::-1]), Kind.STRING),
        "regex_like": SqlFunction(2, 3, _regex_like, Kind.BOOLEAN),
    }
)
"""By their names, which are compared exactly."""
