"""The lines of texts and files that people and programs write: a line feed ends one.

A carriage return before it belongs to the end. No other character ends a line: a text may hold form
feeds, U+0085, U+2028 and U+2029, which `str.splitlines` cuts at, and carriage returns.
"""

import re
from collections.abc import Callable
from typing import Final

__all__ = ["CsvLines", "text_lines", "whole_lines"]

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_CSV_END: Final = "\r\n"


def whole_lines(text: str) -> list[str]:
    """The lines of a text with their ends; joined they are the text."""
    return _LINE.findall(text)


def text_lines(text: str) -> list[str]:
    """The lines of a text without their ends."""
    return [line.removesuffix("\n").removesuffix("\r") for line in whole_lines(text)]


class CsvLines:
    """The file of a `csv.writer` as it is by default, with a line feed alone behind each row.

    Whoever gives the writer that end instead has fields with a carriage return written without
    quotes, and read back as two rows or as an error (Python before 3.13).
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def write(self, line: str) -> None:
        """Take a whole row, as `csv.writer` gives it."""
        self._write(f"{line.removesuffix(_CSV_END)}\n")
