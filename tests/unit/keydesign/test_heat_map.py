"""The picture of a replay: the same bytes every time, well formed, and showing what happened."""

import io
import re
from xml.parsers import expat  # noqa: TID251  # reads what we wrote a moment ago

import pytest
from PIL import Image

from widerow.keydesign.heat_map import Legend, heat_map
from widerow.keydesign.replay import STEPS, Replay, ReplayStep
from widerow.pictures.heat import SHADES
from widerow.pictures.png import png
from widerow.pictures.shapes import ORANGE, Box, Trace, Words
from widerow.pictures.svg import svg


def run(nodes: int = 4, pieces: int = 4) -> Replay:
    """Load that wanders from the lowest to the highest keys."""
    cuts = tuple(bytes([number + 1]) for number in range(pieces - 1))
    steps = tuple(
        ReplayStep(
            start=number * 60.0,
            seconds=60.0,
            bounds=cuts[: number * pieces // STEPS],
            nodes=(100.0, *[0.0] * (nodes - 1)),
            pieces=tuple(100.0 * (piece == number * pieces // STEPS) for piece in range(pieces)),
            splits=number % 7 == 0,
            merges=0,
            moves=number % 11 == 0,
        )
        for number in range(STEPS)
    )
    return Replay(steps, (), cuts)


LEGEND = Legend("Title & more", "subtitle", "lowest", bytes.hex, lambda second: f"{second:.0f} s")


def parse(document: str) -> None:
    parser = expat.ParserCreate()
    parser.Parse(document, True)  # noqa: FBT003  # the parser's own


@pytest.mark.parametrize(("nodes", "pieces"), [(1, 1), (2, 2), (4, 4), (9, 32)])
def test_a_heat_map_is_well_formed_and_the_same_every_time(nodes: int, pieces: int) -> None:
    picture = heat_map(run(nodes, pieces), LEGEND)
    assert svg(picture) == svg(heat_map(run(nodes, pieces), LEGEND))
    parse(svg(picture))
    assert Image.open(io.BytesIO(png(picture))).width == 1600


def test_everything_is_inside_the_picture() -> None:
    picture = heat_map(run(), LEGEND)
    for shape in picture.shapes:
        for x, y in shape.points if isinstance(shape, Trace) else [(shape.x, shape.y)]:
            assert 0 <= x <= picture.width
            assert 0 <= y <= picture.height
        if isinstance(shape, Box):
            assert shape.x + shape.width <= picture.width
            assert shape.y + shape.height <= picture.height


def test_a_heat_map_names_its_axes_units_and_bounds() -> None:
    document = svg(heat_map(run(), LEGEND))
    for words in ("Title &amp; more", "units per second", "0 s", "3600 s", "lowest", "bound of"):
        assert words in document
    assert "load of the busiest node" in document
    assert len(re.findall(f'stroke="{ORANGE}"', document)) == 3 + 1  # three bounds and the legend


def test_dark_is_where_the_load_is() -> None:
    picture = heat_map(run(), LEGEND)
    dark = [
        shape for shape in picture.shapes if isinstance(shape, Box) and shape.fill == SHADES[-1]
    ]
    cells = [box for box in dark if box.height == 64]
    assert [(box.x, box.width) for box in sorted(cells, key=lambda box: box.x)] == [
        (128 + 135 * number, 135) for number in range(4)
    ]
    assert [box.y for box in sorted(cells, key=lambda box: box.x)] == [280, 216, 152, 88]


def test_long_keys_are_cut_short() -> None:
    legend = Legend("t", "s", "k" * 50, lambda _: "y" * 50, lambda _: "")
    labels = [
        shape.text
        for shape in heat_map(run(), legend).shapes
        if isinstance(shape, Words) and shape.text[:1] in {"k", "y"}
    ]
    assert max(map(len, labels)) <= len(
        "key, smallest below: each row has equally much load, where keys allow"
    )
    assert "k" * 12 + ".." in labels
