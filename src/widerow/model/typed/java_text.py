"""Numbers as texts in the way of Java, in which the vendor's messages and results have them."""

import math
import struct
from decimal import Decimal
from typing import Final

__all__ = ["double_text"]

_FLOAT: Final = struct.Struct("<f")
_FLOAT_DIGITS_MAX: Final = 9  # that tell every FLOAT from all others
_PLAIN_FROM, _PLAIN_TO = -3, 7  # powers of ten between which Java writes no exponent


def double_text(value: float, *, single: bool = False) -> str:
    """A DOUBLE, or a FLOAT if `single`: `2.5`, `1.0E300`, `Infinity`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if value == 0:
        return f"{sign}0.0"
    digits, power = _digits(value, single=single)
    if _PLAIN_FROM <= power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    if 0 <= power < _PLAIN_TO:
        whole = digits[: power + 1].ljust(power + 1, "0")
        return f"{sign}{whole}.{digits[power + 1 :] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"


def _digits(value: float, *, single: bool) -> tuple[str, int]:
    """The fewest digits that tell the value from others of its type, and the power of the first."""
    written = repr(abs(float(value)))
    if single:
        for count in range(1, _FLOAT_DIGITS_MAX + 1):
            written = f"{abs(float(value)):.{count}g}"
            # What rounds up to beyond the largest FLOAT is told from it by more digits.
            if float(written) < 2.0**128 and _FLOAT.pack(float(written)) == _FLOAT.pack(abs(value)):
                break
    number = Decimal(written)
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    # Java writes the smallest DOUBLE and FLOAT with two digits.
    smallest = {"5e-324": ("49", -324), "1e-45": ("14", -45)}
    return smallest.get(written, (digits, number.adjusted()))
