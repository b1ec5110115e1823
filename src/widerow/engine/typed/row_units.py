"""Kilobytes that a row counts as, in the units of the vendor (nosql-wire §4)."""

from typing import Final

__all__ = ["counted_kilobytes"]

_KILOBYTE: Final = 1024
# The vendor's records are longer than ours: rows of text count 73 to 124 bytes more than it (ours:
# 65), which decides about a kilobyte where a row ends near one.
_LONGER: Final = 32


def counted_kilobytes(size: int) -> int:
    """Begun kilobytes of a row whose key and record have `size` bytes here; at least one."""
    return max(1, -(-(size + _LONGER) // _KILOBYTE))
