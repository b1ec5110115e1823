"""Pictures as SVG and as PNG: well formed, and every kind of shape where it belongs."""

import io
import sys
from xml.parsers import expat  # noqa: TID251  # reads what we wrote a moment ago

import pytest
from PIL import Image

from widerow.pictures.png import PictureRefused, png
from widerow.pictures.shapes import Box, Dot, Line, Picture, Trace, Words
from widerow.pictures.svg import svg

SMALL = Picture(
    40,
    20,
    "a <title>",
    (
        Box(0, 0, 10, 10, "#ff0000"),
        Box(10, 0, 10, 10, "#ff0000"),
        Line(0, 15, 40, 15, "#0000ff", 2),
        Trace(((22, 2), (38, 2), (38, 10)), "#00ff00", 2),
        Dot(30, 8, 2, "#ff00ff"),
        Words(1, 9, "a & b", size=8),
    ),
)


def parse(document: str) -> None:
    parser = expat.ParserCreate()
    parser.Parse(document, True)  # noqa: FBT003  # the parser's own


def test_svg_is_well_formed_and_escaped() -> None:
    document = svg(SMALL)
    parse(document)
    assert 'aria-label="a &lt;title&gt;"' in document
    assert "a &amp; b" in document
    assert "M0 0h10v10h-10zM10 0h10v10h-10z" in document  # one path for one colour


def test_every_shape_is_an_element() -> None:
    document = svg(SMALL)
    assert '<polyline fill="none" stroke="#00ff00" stroke-width="2" points="22,2 38,2 38,10"/>' in (
        document
    )
    assert '<circle fill="#ff00ff" cx="30" cy="8" r="2"/>' in document
    assert '<line x1="0" y1="15" x2="40" y2="15" stroke="#0000ff" stroke-width="2"/>' in document


def test_colours_are_replaced_where_dark_pages_are_preferred() -> None:
    assert "prefers-color-scheme" not in svg(SMALL)
    dark = svg(Picture(1, 1, "", (Box(0, 0, 1, 1, "#ff0000"),), {"#ff0000": "#00ff00"}))
    parse(dark)
    assert '@media (prefers-color-scheme:dark){\n[fill="#ff0000"]{fill:#00ff00}' in dark


def test_png_has_the_same_shapes_at_twice_the_size() -> None:
    image = Image.open(io.BytesIO(png(SMALL)))
    assert image.size == (80, 40)
    assert image.getpixel((5, 5)) == (255, 0, 0)
    assert image.getpixel((39, 19)) == (255, 0, 0)
    assert image.getpixel((41, 5)) == (255, 255, 255)
    assert image.getpixel((70, 30)) == (0, 0, 255)
    assert image.getpixel((50, 4)) == image.getpixel((76, 12)) == (0, 255, 0)
    assert image.getpixel((60, 16)) == (255, 0, 255)


def test_without_pillow_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(PictureRefused, match="pip install pillow"):
        png(SMALL)
