"""Capacity units: what an operation costs its user (semantics §9)."""

from collections.abc import Iterable

from widerow.limits import CAPACITY_UNIT_BYTES
from widerow.model.row import CellChange, CellOperation
from widerow.model.values import value_bytes

__all__ = ["change_bytes", "units"]


def units(size: int) -> int:
    """Capacity units of `size` bytes: every started 4 KB is one; nothing costs nothing."""
    return -(-size // CAPACITY_UNIT_BYTES)


def change_bytes(cells: Iterable[CellChange]) -> int:
    """What the cells of a row change count: name and value, or the name where a cell deletes."""
    size = 0
    for cell in cells:
        size += len(cell.name.encode())
        if cell.operation is CellOperation.INCREMENT:
            size += 8
        elif cell.value is not None:
            size += value_bytes(cell.value)
    return size
