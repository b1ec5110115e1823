"""Laws of heat maps: all load is shown, more load is darker, and boxes cover their rows."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.pictures.heat import HEAT_LEVELS, SHADES, heat_boxes, heat_grid, heat_level

KEYS = st.binary(min_size=1, max_size=3)
BINS = st.dictionaries(KEYS, st.floats(0.1, 1000), max_size=20)
LOADS = st.lists(st.tuples(st.integers(0, 99), BINS), max_size=12)


@given(LOADS, st.integers(1, 30), st.integers(3, 12))
def test_a_heat_map_has_all_load_and_no_more_rows_and_columns_than_asked_for(
    found: list[tuple[int, dict[bytes, float]]], columns: int, rows: int
) -> None:
    loads = [(10 * at, tuple(sorted(bins.items()))) for at, bins in found]
    grid = heat_grid(loads, 0, 1000, columns=columns, rows=rows)
    assert 1 <= len(grid.keys) <= rows
    assert len(grid.starts) <= columns
    assert grid.keys[0] == b""
    assert list(grid.keys) == sorted(set(grid.keys))
    shown = sum(map(math.fsum, grid.cells)) * grid.seconds
    assert shown == pytest.approx(sum(sum(bins.values()) for _, bins in found))


def test_a_key_with_most_of_the_load_has_a_row_of_its_own() -> None:
    bins = tuple((bytes([number]), 500.0 if number == 7 else 1.0) for number in range(1, 30))
    grid = heat_grid([(0, bins)], 0, 10, columns=1, rows=12)
    row = grid.keys.index(b"\x07")
    assert grid.keys[row + 1] == b"\x08"
    assert grid.cells[row][0] == grid.most == 50.0


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_more_load_is_never_lighter(one: float, other: float) -> None:
    low, high = sorted((one, other))
    for curve in (0.35, 1.0):
        assert 0 <= heat_level(low, high, curve) <= heat_level(high, high, curve) <= HEAT_LEVELS


def test_no_load_and_a_little_load_are_told_apart() -> None:
    assert heat_level(0.0, 5.0) == 0
    assert heat_level(1e-9, 5.0) == 1
    assert heat_level(5.0, 5.0) == HEAT_LEVELS


def test_shades_grow_darker() -> None:
    light = [sum(bytes.fromhex(each[1:])) for each in SHADES]
    assert light == sorted(set(light), reverse=True)
    assert len(SHADES) == HEAT_LEVELS + 1


@given(
    st.lists(st.lists(st.integers(0, HEAT_LEVELS), min_size=5, max_size=5), min_size=1, max_size=6)
)
def test_boxes_cover_every_row_once_and_neighbours_of_one_level_are_one_box(
    levels: list[list[int]],
) -> None:
    across = [3, 5, 11, 12, 20, 21]
    upwards = [60 - 7 * number for number in range(len(levels) + 1)]
    found = heat_boxes(levels, across, upwards)
    assert [level for level, _ in found] == sorted({each for row in levels for each in row})
    for number, row in enumerate(levels):
        boxes = sorted(
            (box.x, box.width, level)
            for level, boxes in found
            for box in boxes
            if (box.y, box.height) == (upwards[number + 1], 7)
        )
        assert boxes[0][0] == across[0]
        assert sum(boxes[-1][:2]) == across[-1]
        for (x, width, level), (following, _, other) in pairwise(boxes):
            assert x + width == following
            assert level != other
        for column, level in enumerate(row):
            assert [box[2] for box in boxes if box[0] <= across[column] < box[0] + box[1]] == [
                level
            ]
