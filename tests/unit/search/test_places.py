"""Points and shapes (search §4.6)."""

import numpy as np
import pytest

from widerow.search.places import degrees, in_polygon, quantised

_SQUARE = [(10.0, 10.0), (10.0, 20.1), (20.3, 20.1), (20.3, 10.0)]
_TRIANGLE = [(0.0, 0.0), (45.0, 45.0), (45.0, -45.0)]


def _inside(corners: list[tuple[float, float]], point: tuple[float, float]) -> bool:
    stored = np.array([quantised(point)], np.int32)
    return bool(in_polygon(degrees(stored), corners, lambda: None)[0])


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize(
    ("corners", "points"),
    [
        (_SQUARE, [(15.0, 10.0), (15.0, 20.1), (10.0, 15.0), (20.3, 15.0), *_SQUARE]),
        (_TRIANGLE, [(22.5, 22.5), (22.5, -22.5), (45.0, 0.0), *_TRIANGLE]),
    ],
)
def test_a_polygon_contains_its_edges_and_corners_on_all_sides(
    corners: list[tuple[float, float]], points: list[tuple[float, float]], step: int
) -> None:
    corners = corners[::step]
    assert [point for point in points if not _inside(corners, point)] == []


@pytest.mark.parametrize("point", [(9.999, 15), (20.301, 15), (15, 9.999), (15, 20.101), (10, 21)])
def test_a_polygon_contains_nothing_beside_its_edges(point: tuple[float, float]) -> None:
    assert not _inside(_SQUARE, point)
