"""Functions of texts and bytes."""

from types import MappingProxyType
from typing import Any, Final

import re2

from widerow.errors import InvalidRequest
from widerow.limits import VALUE_BYTES_MAX
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore.operations.sql.functions.signature import Functions, taking
from widerow.wire.tablestore.operations.sql.kinds import SqlKind

__all__ = ["TEXT_FUNCTIONS", "like_pattern", "matches_like"]


def _substring(text: str, start: int, length: int | None = None) -> str:
    if start == 0 or (length is not None and length <= 0):
        return ""
    first = start - 1 if start > 0 else len(text) + start
    if first < 0:
        return ""
    return text[first:] if length is None else text[first : first + length]


def _padded(text: str, length: int, padding: str, *, left: bool) -> str | None:
    if length < 0 or length > VALUE_BYTES_MAX:
        return None
    missing = length - len(text)
    if missing <= 0:
        return text[:length]
    if not padding:
        return ""
    added = (padding * (missing // len(padding) + 1))[:missing]
    return added + text if left else text + added


def _bounded(size: int) -> None:
    if size > VALUE_BYTES_MAX:
        raise InvalidRequest(TablestoreRule.SQL_VALUE_SIZE, limit=VALUE_BYTES_MAX)


def _repeated(text: str, times: int) -> str:
    _bounded(len(text) * max(0, times))
    return text * times


def _replaced(text: str, old: str, new: str) -> str:
    if not old:
        return text
    _bounded(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


def _located(part: str, text: str, start: int = 1) -> int:
    return text.find(part, start - 1) + 1 if start > 0 else 0


def _concatenated(*texts: str) -> str:
    _bounded(sum(map(len, texts)))
    return "".join(texts)


def _concat_ws(separator: str | None, *texts: str | None) -> str | None:
    return (
        None if separator is None else separator.join([each for each in texts if each is not None])
    )


def _field(wanted: str | None, *texts: str | None) -> int:
    return 0 if wanted is None or wanted not in texts else texts.index(wanted) + 1


def _find_in_set(wanted: str, listed: str) -> int:
    items = listed.split(",") if listed else []
    return items.index(wanted) + 1 if wanted in items else 0


def _hex(value: str | bytes | float) -> str:
    if isinstance(value, bool | int | float):
        return f"{int(value) & (2**64 - 1):X}"
    return (value.encode() if isinstance(value, str) else value).hex().upper()


def _unhex(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text.zfill(len(text) + len(text) % 2)) if " " not in text else None
    except ValueError:
        return None


def like_pattern(pattern: str) -> Any:  # noqa: ANN401  # re2 has no types
    r"""The regular expression of a LIKE pattern: `%` any text, `_` one character, `\` escapes.

    RE2 runs it: in time linear in the text, whatever the pattern.
    """
    parts = []
    position = 0
    while position < len(pattern):
        letter = pattern[position]
        if letter == "\\" and position + 1 < len(pattern):
            position += 1
            parts.append(re2.escape(pattern[position]))
        elif letter == "%":
            if parts[-1:] != [".*"]:
                parts.append(".*")
        else:
            parts.append("." if letter == "_" else re2.escape(letter))
        position += 1
    return re2.compile("(?s)" + "".join(parts))


def matches_like(text: str, pattern: str) -> bool:
    """Whether a text is like a pattern; linear in the text for each `%` of the pattern."""
    return like_pattern(pattern).fullmatch(text) is not None


_LONG, _TEXT, _BYTES = SqlKind.LONG, SqlKind.TEXT, SqlKind.BYTES

TEXT_FUNCTIONS: Final[Functions] = MappingProxyType(
    {
        "ASCII": taking("b", _LONG, lambda data: data[0] if data else 0),
        "CHAR_LENGTH": taking("t", _LONG, len),
        "CHARACTER_LENGTH": taking("t", _LONG, len),
        "CONCAT": taking("t*", _TEXT, _concatenated),
        "CONCAT_WS": taking("t*", _TEXT, _concat_ws, 2, strict=False),
        "FIELD": taking("t*", _LONG, _field, 2, strict=False),
        "FIND_IN_SET": taking("tt", _LONG, _find_in_set),
        "HEX": taking("x", _TEXT, _hex),
        "INSTR": taking("tt", _LONG, lambda text, part: text.find(part) + 1),
        "LEFT": taking("ti", _TEXT, lambda text, count: text[: max(0, count)]),
        "LENGTH": taking("b", _LONG, len),
        "LOCATE": taking("tti", _LONG, _located, 2),
        "LOWER": taking("t", _TEXT, str.lower),
        "LCASE": taking("t", _TEXT, str.lower),
        "LPAD": taking("tit", _TEXT, lambda t, n, p: _padded(t, n, p, left=True)),
        "LTRIM": taking("t", _TEXT, lambda text: text.lstrip(" ")),
        "MID": taking("tii", _TEXT, _substring, 2),
        "REPEAT": taking("ti", _TEXT, _repeated),
        "REPLACE": taking("ttt", _TEXT, _replaced),
        "REVERSE": taking("t", _TEXT, lambda text: text[::-1]),
        "RIGHT": taking("ti", _TEXT, lambda text, count: text[-count:] if count > 0 else ""),
        "RPAD": taking("tit", _TEXT, lambda t, n, p: _padded(t, n, p, left=False)),
        "RTRIM": taking("t", _TEXT, lambda text: text.rstrip(" ")),
        "STRCMP": taking("tt", _LONG, lambda one, other: (one > other) - (one < other)),
        "SUBSTR": taking("tii", _TEXT, _substring, 2),
        "SUBSTRING": taking("tii", _TEXT, _substring, 2),
        "TRIM": taking("t", _TEXT, lambda text: text.strip(" ")),
        "UCASE": taking("t", _TEXT, str.upper),
        "UNHEX": taking("t", _BYTES, _unhex),
        "UPPER": taking("t", _TEXT, str.upper),
    }
)
