"""Points on the earth: as texts, as the numbers that are stored, and distances (search §4.6).

A stored point is a pair of whole numbers, latitude in units of 180/2³² degrees and longitude in
units of 360/2³². Stored numbers are what is compared.
"""

import math
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widerow.search.interface import Booleans, Floats

__all__ = ["GeoBox", "degrees", "distances", "in_box", "in_polygon", "parse_point", "quantised"]

EARTH_RADIUS_M: Final = 6_371_008.7714
_LATITUDE_UNIT: Final = 180.0 / 2**32
_LONGITUDE_UNIT: Final = 360.0 / 2**32
_POINT: Final = re.compile(
    r"\s*([+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*,"
    r"\s*([+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*"
)


class GeoBox(NamedTuple):
    """A box: the greatest latitude, the first longitude, the least latitude, the last longitude."""

    top: float
    left: float
    bottom: float
    right: float


def parse_point(text: str) -> tuple[float, float] | None:
    """Latitude and longitude of a text `lat,lon`; None for any other text."""
    found = _POINT.fullmatch(text)
    if found is None:
        return None
    latitude, longitude = float(found[1]), float(found[2])
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        return None
    return latitude, longitude


def quantised(point: tuple[float, float]) -> tuple[int, int]:
    """A point as it is stored. The north pole and the date line become the last number."""
    latitude = math.floor(point[0] / _LATITUDE_UNIT)
    longitude = math.floor(point[1] / _LONGITUDE_UNIT)
    return min(latitude, 2**31 - 1), min(longitude, 2**31 - 1)


def degrees(stored: NDArray[np.int32]) -> Floats:
    """Stored points, of shape (n, 2), as latitudes and longitudes."""
    return np.asarray(stored * np.array([_LATITUDE_UNIT, _LONGITUDE_UNIT]))


def in_box(stored: NDArray[np.int32], box: GeoBox) -> Booleans:
    """Which stored points lie in a box, which crosses the date line if left > right."""
    top = min(math.floor(box.top / _LATITUDE_UNIT), 2**31 - 1)
    right = min(math.floor(box.right / _LONGITUDE_UNIT), 2**31 - 1)
    bottom = min(math.ceil(box.bottom / _LATITUDE_UNIT), 2**31 - 1)
    left = min(math.ceil(box.left / _LONGITUDE_UNIT), 2**31 - 1)
    latitudes, longitudes = stored[:, 0], stored[:, 1]
    found: Any = (latitudes >= bottom) & (latitudes <= top)
    if box.left > box.right:
        found &= (longitudes >= left) | (longitudes <= right)
    else:
        found &= (longitudes >= left) & (longitudes <= right)
    return np.asarray(found, dtype=np.bool_)


def distances(points: Floats, origin: tuple[float, float], *, plane: bool = False) -> Floats:
    """Metres from an origin to points of shape (n, 2): along the sphere, or on a plane."""
    latitudes, longitudes = np.radians(points[:, 0]), np.radians(points[:, 1])
    latitude, longitude = math.radians(origin[0]), math.radians(origin[1])
    if plane:
        east = np.abs(longitudes - longitude)
        east = np.minimum(east, 2 * math.pi - east) * np.cos((latitudes + latitude) / 2)
        return np.asarray(EARTH_RADIUS_M * np.hypot(east, latitudes - latitude))
    half = (
        np.sin((latitudes - latitude) / 2) ** 2
        + np.cos(latitudes) * math.cos(latitude) * np.sin((longitudes - longitude) / 2) ** 2
    )
    return np.asarray(2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0))))


def in_polygon(
    points: Floats, corners: list[tuple[float, float]], check: Callable[[], None]
) -> Booleans:
    """Which points lie inside a ring or on it: a ray from them crosses it an odd number of times.

    `check` is called for each corner. Cost: two passes over the points for each corner.
    """
    latitudes, longitudes = points[:, 0], points[:, 1]
    inside = np.zeros(len(points), dtype=np.bool_)
    on_it = np.zeros(len(points), dtype=np.bool_)
    before = corners[-1]
    for corner in corners:
        check()
        (first, first_longitude), (last, last_longitude) = before, corner
        if first != last:
            crosses = (first > latitudes) != (last > latitudes)
            at = (last_longitude - first_longitude) * (latitudes - first) / (last - first)
            inside ^= crosses & (longitudes < at + first_longitude)
        on_it |= _on_edge(points, before, corner)
        before = corner
    return np.asarray(inside | on_it)


def _on_edge(points: Floats, one: tuple[float, float], other: tuple[float, float]) -> Booleans:
    """Which points lie on a side of a ring. A side along a parallel or meridian is as it is stored.

    Points of other sides count where the stored numbers lie on the side exactly.
    """
    if one[0] == other[0] or one[1] == other[1]:
        one, other = _as_stored(one), _as_stored(other)
    latitudes, longitudes = points[:, 0], points[:, 1]
    low, high = np.minimum(one, other), np.maximum(one, other)
    turned = (other[1] - one[1]) * (latitudes - one[0]) - (other[0] - one[0]) * (
        longitudes - one[1]
    )
    return np.asarray((turned == 0) & ((points >= low) & (points <= high)).all(axis=1))


def _as_stored(point: tuple[float, float]) -> tuple[float, float]:
    latitude, longitude = quantised(point)
    return latitude * _LATITUDE_UNIT, longitude * _LONGITUDE_UNIT
