"""What stands beside a freed object stays as it is, however deep the object stood.

CPython puts off the freeing of what stands more than fifty levels deep, and notes that in front of
the object, where compiled classes have to have room (docs/internals/serving.md).
"""

from collections.abc import Callable
from typing import TypeVar

import pytest

from widerow.rows.cells import Cell
from widerow.server.message import Response

LEVELS = range(40, 60)
OBJECTS = 300
T = TypeVar("T")
NAME, BODY = "name", b"body"


def response() -> Response:
    return Response(200, NAME.encode(), BODY)


def parts_of_response(made: Response) -> object:
    return made.status, made.head, made.body


def cell() -> Cell:
    return Cell(NAME, 7, BODY)


def parts_of_cell(made: Cell) -> object:
    return made.name, made.version, made.wire


@pytest.mark.parametrize(("make", "parts"), [(response, parts_of_response), (cell, parts_of_cell)])
def test_neighbours_of_what_is_freed_deep_down_are_whole(
    make: Callable[[], T], parts: Callable[[T], object]
) -> None:
    as_made = parts(make())
    for levels in LEVELS:
        kept, freed = [], []
        for _ in range(OBJECTS):
            kept.append(make())
            freed.append(make())
        deep: list[object] = [freed]
        for _ in range(levels):
            deep = [deep]
        del freed, deep
        assert [each for each in kept if parts(each) != as_made] == []
