"""Numbers as Java prints them, for texts that quote values."""

from typing import Final

__all__ = ["double_text"]

_PLAIN_MIN: Final = 1e-3
_PLAIN_MAX: Final = 1e7


def double_text(value: float) -> str:
    """A double as `Double.toString` has it: `2.5`, `1.0E300`, `Infinity`."""
    if value != value:  # noqa: PLR0124  # NaN
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or _PLAIN_MIN <= abs(value) < _PLAIN_MAX:
        text = format(value, "f") if "e" in repr(value) else repr(value)
        return text if "." in text else f"{text}.0"
    mantissa, _, exponent = repr(value).partition("e")
    if not exponent:
        digits = mantissa.replace("-", "")
        whole, _, fraction = digits.partition(".")
        exponent = str(len(whole) - 1)
        shown = (whole + ("" if fraction == "0" else fraction)).rstrip("0") or "0"
        mantissa = ("-" if value < 0 else "") + shown[0] + "." + (shown[1:] or "0")
    elif "." not in mantissa:
        mantissa += ".0"
    return f"{mantissa}E{int(exponent)}"
