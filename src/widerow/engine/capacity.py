"""Capacity units: what an operation costs its user (semantics §9)."""

from widerow.limits import CAPACITY_UNIT_BYTES

__all__ = ["units"]


def units(size: int) -> int:
    """Capacity units of `size` bytes: every started 4 KB is one; nothing costs nothing."""
    return -(-size // CAPACITY_UNIT_BYTES)
