"""Sums of numbers in groups, rounded once (search §6.2: G expects an average of exactly 4.6).

Numbers are split at a power of two so large that the upper parts have few enough bits to be added
without rounding; then the rests are split, until nothing is left (Rump, Ogita and Oishi, "Accurate
floating-point summation"). The exact sums of parts are added at the end with one rounding.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widerow.search.interface import Floats, Integers

__all__ = ["exact_sums"]

_EXACT: Final = 2**53  # whole numbers up to here are doubles
_LARGE: Final = 2.0**900  # numbers from here on are scaled down, so that no part is infinite
_SCALE: Final = 128  # scaled down by so many bits
_WORD: Final = 32
_FEW: Final = 4  # with more numbers for each one with a rest, the others are dropped


class _Part(NamedTuple):
    """Sums of one part of the numbers, without rounding, divided by 2 to the power of `scale`."""

    sums: Floats
    scale: int = 0


def exact_sums(values: NDArray[Any], groups: Integers | None, size: int) -> Floats:
    """The sum of the values of each group, as if rounded once; 0 for a group without values.

    `values`: float64 or int64; `groups`: the group of each, below `size`; None: all in group 0. A
    sum beyond the largest double is infinite. Where a value is not finite the sums are not exact.
    Cost: a few passes over the values, two for most data.
    """
    if values.dtype == np.float64 and not np.isfinite(values).all():
        return _totals(values, groups, size)
    if values.dtype == np.float64:
        parts = list(_float_parts(values, groups, size))
    else:
        parts = list(_integer_parts(values, groups, size))
    if not parts:
        return np.zeros(size)
    if len(parts) <= 2 and not any(part.scale for part in parts):  # a single addition rounds once
        total: Floats = np.sum([part.sums for part in parts], axis=0, dtype=np.float64)
        return total
    rows = zip(*(part.sums.tolist() for part in parts), strict=True)
    scales = [part.scale for part in parts]
    if any(scales):
        return np.array([_scaled_sum(row, scales) for row in rows])
    return np.array([math.fsum(row) for row in rows])


def _totals(values: NDArray[Any], groups: Integers | None, size: int) -> Floats:
    if groups is None:
        return np.array([values.sum(dtype=np.float64)])
    return np.bincount(groups, weights=values, minlength=size).astype(np.float64, copy=False)


def _integer_parts(values: Integers, groups: Integers | None, size: int) -> Iterator[_Part]:
    if len(values) == 0:
        return
    largest = max(abs(int(values.min())), abs(int(values.max())))
    if largest * len(values) <= _EXACT:
        yield _Part(_totals(values, groups, size))
        return
    high = (values >> _WORD).astype(np.float64) * 2.0**_WORD
    yield from _float_parts(high, groups, size)
    yield from _float_parts((values & (2**_WORD - 1)).astype(np.float64), groups, size)


def _float_parts(values: Floats, groups: Integers | None, size: int) -> Iterator[_Part]:
    largest = float(np.abs(values).max(initial=0.0))
    if largest >= _LARGE:
        large = np.abs(values) >= _LARGE
        scaled = np.where(large, values, 0.0) * 2.0**-_SCALE
        for part in _float_parts(scaled, groups, size):
            yield part._replace(scale=_SCALE)
        values = np.where(large, 0.0, values)
        largest = float(np.abs(values).max(initial=0.0))
    room = (len(values) + 2).bit_length()
    while largest:
        cut = math.ldexp(1.0, math.frexp(largest)[1] + room)
        upper = (values + cut) - cut
        yield _Part(_totals(upper, groups, size))
        values = values - upper
        left = np.flatnonzero(values)
        if len(left) * _FEW < len(values):
            values, groups = values[left], None if groups is None else groups[left]
        largest = float(np.abs(values).max(initial=0.0))


def _scaled_sum(sums: tuple[float, ...], scales: list[int]) -> float:
    total = sum(
        (Fraction(value) * 2**scale for value, scale in zip(sums, scales, strict=True)),
        Fraction(0),
    )
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf
