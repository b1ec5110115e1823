"""Cells of geohashes (search §6.3). Angles in degrees."""

from typing import Final

import numpy as np

from widerow.search.interface import Floats, Integers

__all__ = ["cell_corners", "cells", "geohash"]

_ALPHABET: Final = "0123456789bcdefghjkmnpqrstuvwxyz"
_BITS: Final = 5  # of one character


def _widths(precision: int) -> tuple[int, int]:
    bits = precision * _BITS
    return bits // 2, bits - bits // 2  # of latitude, of longitude


def cells(points: Floats, precision: int) -> Integers:
    """The geohash cells of points as numbers that compare as their texts do."""
    rows, columns = _widths(precision)
    latitude = _steps(points[:, 0], 90.0, rows)
    longitude = _steps(points[:, 1], 180.0, columns)
    if rows == columns:
        return _spread_bits(latitude) | (_spread_bits(longitude) << 1)
    return (_spread_bits(latitude) << 1) | _spread_bits(longitude)


def _steps(angles: Floats, bound: float, bits: int) -> Integers:
    steps = np.floor((angles + bound) * (2**bits / (2 * bound))).astype(np.int64)
    clipped: Integers = np.clip(steps, 0, 2**bits - 1)
    return clipped


def _spread_bits(numbers: Integers) -> Integers:
    """Each number with a zero before each of its up to 30 bits."""
    spread = numbers
    for shift, mask in (
        (16, 0x0000_FFFF_0000_FFFF),
        (8, 0x00FF_00FF_00FF_00FF),
        (4, 0x0F0F_0F0F_0F0F_0F0F),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ):
        spread = (spread | (spread << shift)) & mask
    return spread


def geohash(cell: int, precision: int) -> str:
    """The text of a cell."""
    shifts = range((precision - 1) * _BITS, -1, -_BITS)
    return "".join(_ALPHABET[cell >> shift & 31] for shift in shifts)


def cell_corners(cell: int, precision: int) -> tuple[float, float, float, float]:
    """The least and greatest latitude of a cell, its least and greatest longitude."""
    rows, columns = _widths(precision)
    bits = f"{cell:0{rows + columns}b}"
    row, column = int(bits[1::2] or "0", 2), int(bits[::2], 2)
    height, width = 180 / 2**rows, 360 / 2**columns
    south, west = row * height - 90, column * width - 180
    return south, south + height, west, west + width
