"""Pictures as a list of shapes, written as SVG by hand or as PNG by Pillow.

All places are whole numbers, so that the same picture is the same bytes everywhere. Colours are
from palettes that people with any colour vision tell apart, and nothing is told by colour alone.
"""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from widerow.errors import WiderowError

__all__ = [
    "INK",
    "MUTED",
    "ORANGE",
    "PURPLE",
    "TEAL",
    "Box",
    "Line",
    "Picture",
    "PictureRefused",
    "Shape",
    "Words",
    "png",
    "shade",
    "svg",
    "write_picture",
]

INK: Final = "#1f2328"
MUTED: Final = "#59636e"
# Of the palette of Okabe and Ito.
ORANGE: Final = "#d55e00"
TEAL: Final = "#009e73"
PURPLE: Final = "#cc79a7"
_SHADES: Final = (
    # One hue from light to dark, so that it reads in grey too (ColorBrewer, Blues).
    *("#f7fbff", "#deebf7", "#c6dbef", "#9ecae1", "#6baed6"),
    *("#4292c6", "#2171b5", "#08519c", "#08306b"),
)
_SCALE: Final = 2  # pixels of a PNG for one of ours, so that text is sharp
_OUTLINES_PER_LINE: Final = 5
_FONT: Final = 'system-ui,-apple-system,"Segoe UI",sans-serif'


class PictureRefused(WiderowError):
    """A picture that cannot be made; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle."""

    x: int
    y: int
    width: int
    height: int
    fill: str


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line."""

    x: int
    y: int
    to_x: int
    to_y: int
    colour: str
    width: int = 1


@dataclass(frozen=True, slots=True)
class Words:
    """Text on one line; `anchor` is start, middle or end, `y` its base line."""

    x: int
    y: int
    text: str
    anchor: str = "start"
    size: int = 12
    colour: str = INK
    bold: bool = False


Shape = Box | Line | Words


@dataclass(frozen=True, slots=True)
class Picture:
    """Shapes, the later above the earlier, on white."""

    width: int
    height: int
    title: str
    shapes: tuple[Shape, ...]


def shade(part: float) -> str:
    """The colour of a part of the most, from 0 to 1; 0 is nearly white."""
    if part <= 0:
        return _SHADES[0]
    return _SHADES[1 + min(len(_SHADES) - 2, int(part * (len(_SHADES) - 1)))]


def write_picture(picture: Picture, path: Path) -> None:
    """Write a picture to a file named .svg or .png. Raises: `PictureRefused`."""
    suffix = path.suffix.lower()
    if suffix not in {".svg", ".png"}:
        raise PictureRefused(f"{path}: a picture is named .svg or .png")
    data = svg(picture).encode() if suffix == ".svg" else png(picture)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise PictureRefused(f"cannot write {path}: {error.strerror}") from error


# --- SVG ------------------------------------------------------------------------------------------


def svg(picture: Picture) -> str:
    """The picture as a document of its own; text stays text."""
    size = f'viewBox="0 0 {picture.width} {picture.height}"'
    head = "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size}',
            f'width="{picture.width}" height="{picture.height}"',
            f'role="img" aria-label="{escape(picture.title)}"',
            f"font-family='{_FONT}'>",
            f'<rect width="{picture.width}" height="{picture.height}" fill="#ffffff"/>',
        )
    )
    return "\n".join((head, *_elements(picture.shapes), "</svg>\n"))


def _elements(shapes: Iterable[Shape]) -> Iterator[str]:
    """Boxes of one colour that follow each other become one path, which is much shorter."""
    for fill, group in groupby(
        shapes, lambda shape: shape.fill if isinstance(shape, Box) else None
    ):
        if fill is None:
            yield from map(_element, group)
        else:
            outlines = [_outline(box) for box in group if isinstance(box, Box)]
            starts = range(0, len(outlines), _OUTLINES_PER_LINE)
            lines = "\n".join("".join(outlines[at : at + _OUTLINES_PER_LINE]) for at in starts)
            yield f'<path fill="{fill}" d="{lines}"/>'


def _outline(box: Box) -> str:
    return f"M{box.x} {box.y}h{box.width}v{box.height}h-{box.width}z"


def _element(shape: Shape) -> str:
    if isinstance(shape, Line):
        ends = f'x1="{shape.x}" y1="{shape.y}" x2="{shape.to_x}" y2="{shape.to_y}"'
        return f'<line {ends} stroke="{shape.colour}" stroke-width="{shape.width}"/>'
    assert isinstance(shape, Words)
    place = f'x="{shape.x}" y="{shape.y}" text-anchor="{shape.anchor}" font-size="{shape.size}"'
    weight = ' font-weight="600"' if shape.bold else ""
    return f'<text {place} fill="{shape.colour}"{weight}>{escape(shape.text)}</text>'


# --- PNG ------------------------------------------------------------------------------------------


def png(picture: Picture) -> bytes:
    """The picture at twice its size in pixels. Raises: `PictureRefused` without Pillow."""
    try:
        from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise PictureRefused("PNG needs an extra: pip install 'widerow[pictures]'") from error
    image = Image.new("RGB", (picture.width * _SCALE, picture.height * _SCALE), "#ffffff")
    draw = ImageDraw.Draw(image)
    for shape in picture.shapes:
        if isinstance(shape, Words):
            font = ImageFont.load_default(shape.size * _SCALE)
            _draw_words(draw, shape, font)
        else:
            _draw_shape(draw, shape)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def _draw_shape(draw: Any, shape: Box | Line) -> None:  # noqa: ANN401  # of an optional library
    if isinstance(shape, Box):
        corner = ((shape.x + shape.width) * _SCALE - 1, (shape.y + shape.height) * _SCALE - 1)
        draw.rectangle((shape.x * _SCALE, shape.y * _SCALE, *corner), fill=shape.fill)
        return
    ends = tuple(each * _SCALE for each in (shape.x, shape.y, shape.to_x, shape.to_y))
    draw.line(ends, fill=shape.colour, width=shape.width * _SCALE)


_ANCHORS: Final = {"start": "ls", "middle": "ms", "end": "rs"}


def _draw_words(draw: Any, words: Words, font: Any) -> None:  # noqa: ANN401  # same
    place = (words.x * _SCALE, words.y * _SCALE)
    draw.text(place, words.text, words.colour, font=font, anchor=_ANCHORS[words.anchor])
