"""Capacity units: what an operation costs its user (semantics §9)."""

from widerow.limits import CAPACITY_UNIT_BYTES
from widerow.model.row import CellChange

__all__ = ["change_bytes", "units"]


def units(size: int) -> int:
    """Capacity units of `size` bytes: every started 4 KB is one; nothing costs nothing."""
    return -(-size // CAPACITY_UNIT_BYTES)


def change_bytes(cells: tuple[CellChange, ...]) -> int:
    """What the cells of a row change count: name and value, or the name where a cell deletes."""
    size = 0
    for cell in cells:
        size += cell.size
    return size
