"""Texts that a spreadsheet takes for formulas, and an apostrophe that keeps it from computing them.

A cell that begins with = + - @, a tab or a carriage return is computed by common spreadsheets,
wherever it comes from. An apostrophe before it makes it a text. It is put before apostrophes that
such a beginning follows, too, so that taking one away gives back what was there.
"""

import re
from typing import Final

__all__ = ["as_cell", "begins_formula", "from_cell"]

_FORMULA: Final = re.compile(r"'*[=+\-@\t\r]")
_KEPT: Final = re.compile(r"'+[=+\-@\t\r]")


def begins_formula(text: str) -> bool:
    """Whether a spreadsheet may compute a cell with this text."""
    return text[:1] in ("=", "+", "-", "@", "\t", "\r")


def as_cell(text: str) -> str:
    """A text as a cell that no spreadsheet computes; `from_cell` gives it back."""
    return f"'{text}" if _FORMULA.match(text) else text


def from_cell(text: str) -> str:
    """The text that `as_cell` was given."""
    return text[1:] if _KEPT.match(text) else text
