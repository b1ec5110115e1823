"""Numbers as texts of clients, files and people say them: in ASCII digits, and in no other way.

Python's own `int` and `float` take `1_000`, white space around a number, and the digits of every
script. None of these is a number for the systems that texts come from or go to.
"""

import re
from typing import Final

__all__ = ["real_number", "whole_number"]

_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_REAL: Final = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|Infinity|NaN)")
_LENGTH_MAX: Final = 4096  # of a whole number: longer ones cost more than their length


def whole_number(text: str) -> int:
    """The whole number that a text says, in decimal digits with or without a sign.

    Raises: `ValueError` for other texts, and for more than 4,096 characters.
    """
    if len(text) > _LENGTH_MAX or _WHOLE.fullmatch(text) is None:
        raise ValueError(f"no whole number: {text[:100]!r}")
    return int(text)


def real_number(text: str) -> float:
    """The number that a text says: decimal, with a point and an exponent, or not.

    `Infinity` and `NaN` are such texts, with these letters; numbers above all doubles are infinite.
    Raises: `ValueError` for other texts.
    """
    if _REAL.fullmatch(text) is None:
        raise ValueError(f"not a number: {text[:100]!r}")
    return float(text)
