"""Shares and sizes as people read them: `12%`, `3.4 MB`."""

from typing import Final

__all__ = ["decimal_size", "percent"]

_SMALLEST_SHOWN: Final = 0.001
_WITH_A_DIGIT: Final = 0.1  # smaller shares get a digit after the point


def percent(part: float) -> str:
    """A part of 1 as a percentage."""
    if 0 < part < _SMALLEST_SHOWN:
        return "<0.1%"
    return f"{part:.1%}" if part < _WITH_A_DIGIT else f"{part:.0%}"


def decimal_size(size: float) -> str:
    """Bytes in decimal units, like the advised limits of 1 GB and 10 GB."""
    if size < 1000:
        return f"{size:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 1000:
            return f"{size:.3g} {unit}"
    return f"{size / 1000:,.3g} TB"
