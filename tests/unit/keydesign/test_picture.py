"""Pictures: the same bytes every time, well formed, and showing what happened."""

import io
import re
import sys
from pathlib import Path
from xml.parsers import expat  # noqa: TID251  # reads what we wrote a moment ago

import pytest
from PIL import Image

from widerow.keydesign.heat_map import Legend, heat_map
from widerow.keydesign.picture import (
    ORANGE,
    Box,
    Line,
    Picture,
    PictureRefused,
    Words,
    png,
    shade,
    svg,
    write_picture,
)
from widerow.keydesign.replay import STEPS, Replay, ReplayStep

SMALL = Picture(
    40,
    20,
    "a <title>",
    (
        Box(0, 0, 10, 10, "#ff0000"),
        Box(10, 0, 10, 10, "#ff0000"),
        Line(0, 15, 40, 15, "#0000ff", 2),
        Words(1, 9, "a & b", size=8),
    ),
)


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


def test_svg_is_well_formed_and_escaped() -> None:
    document = svg(SMALL)
    parse(document)
    assert 'aria-label="a &lt;title&gt;"' in document
    assert "a &amp; b" in document
    assert "M0 0h10v10h-10zM10 0h10v10h-10z" in document  # one path for one colour


def test_png_has_the_same_shapes_at_twice_the_size() -> None:
    image = Image.open(io.BytesIO(png(SMALL)))
    assert image.size == (80, 40)
    assert image.getpixel((5, 5)) == (255, 0, 0)
    assert image.getpixel((39, 19)) == (255, 0, 0)
    assert image.getpixel((41, 5)) == (255, 255, 255)
    assert image.getpixel((60, 30)) == (0, 0, 255)


def test_a_picture_is_written_by_its_name(tmp_path: Path) -> None:
    write_picture(SMALL, tmp_path / "a.svg")
    write_picture(SMALL, tmp_path / "a.PNG")
    assert (tmp_path / "a.svg").read_text() == svg(SMALL)
    assert (tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(PictureRefused, match=r"named \.svg or \.png"):
        write_picture(SMALL, tmp_path / "a.gif")
    with pytest.raises(PictureRefused, match="cannot write"):
        write_picture(SMALL, tmp_path / "absent" / "a.svg")


def test_without_pillow_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(PictureRefused, match=r"widerow\[pictures\]"):
        png(SMALL)


def test_shades_grow_darker_with_the_load() -> None:
    shades = [shade(part / 100) for part in range(101)]
    light = [sum(bytes.fromhex(each[1:])) for each in shades]
    assert light == sorted(light, reverse=True)
    assert shade(0) != shade(0.01)
    assert shade(1.0) == shades[-1]


# --- heat maps -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("nodes", "pieces"), [(1, 1), (2, 2), (4, 4), (9, 32)])
def test_a_heat_map_is_well_formed_and_the_same_every_time(nodes: int, pieces: int) -> None:
    picture = heat_map(run(nodes, pieces), LEGEND)
    assert svg(picture) == svg(heat_map(run(nodes, pieces), LEGEND))
    parse(svg(picture))
    assert Image.open(io.BytesIO(png(picture))).width == 1600


def test_everything_is_inside_the_picture() -> None:
    picture = heat_map(run(), LEGEND)
    for shape in picture.shapes:
        assert 0 <= shape.x <= picture.width
        assert 0 <= shape.y <= picture.height
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
    dark = [shape for shape in picture.shapes if isinstance(shape, Box) and shape.fill == shade(1)]
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
