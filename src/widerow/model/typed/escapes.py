"""Texts of definitions and statements: what stands between the quotes (ddl, introduction)."""

import re
from typing import Final

__all__ = ["unescaped"]

_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED: Final = {
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    **{character: character for character in "\\/\"'"},
}


def unescaped(text: str) -> str:
    """A text with its escapes resolved. Raises `ValueError` that says what is wrong."""
    if "\\" in text:
        text = _ESCAPE.sub(_resolved, text)
    try:  # two escapes may make one character above U+FFFF; a single half is none
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError as error:
        raise ValueError("half of a surrogate pair in a text") from error


def _resolved(found: re.Match[str]) -> str:
    if found[1] is not None:
        return chr(int(found[1], 16))
    character = _ESCAPED.get(found[2])
    if character is None:
        raise ValueError(f"unknown escape in a text: \\{found[2]}")
    return character
