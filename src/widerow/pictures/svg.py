"""A picture as SVG; text stays text."""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import groupby
from typing import Final

from widerow.pictures.shapes import PAPER, Box, Dot, Line, Picture, Shape, Trace, Words

__all__ = ["path", "svg"]

_OUTLINES_PER_LINE: Final = 5
_FONT: Final = 'system-ui,-apple-system,"Segoe UI",sans-serif'


def svg(picture: Picture) -> str:
    """The picture as an SVG document."""
    size = f'viewBox="0 0 {picture.width} {picture.height}"'
    head = "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size}',
            f'width="{picture.width}" height="{picture.height}"',
            f'role="img" aria-label="{escape(picture.title)}"',
            f"font-family='{_FONT}'>",
            *_dark(picture.dark),
            f'<rect width="{picture.width}" height="{picture.height}" fill="{PAPER}"/>',
        )
    )
    return "\n".join((head, *_elements(picture.shapes), "</svg>\n"))


def path(boxes: Iterable[Box]) -> str:
    """The outlines of boxes as the data of one path, which is much shorter than rectangles."""
    outlines = [f"M{each.x} {each.y}h{each.width}v{each.height}h-{each.width}z" for each in boxes]
    starts = range(0, len(outlines), _OUTLINES_PER_LINE)
    return "\n".join("".join(outlines[at : at + _OUTLINES_PER_LINE]) for at in starts)


def _dark(colours: Mapping[str, str]) -> Iterator[str]:
    """A style that replaces colours where the reader prefers dark pages."""
    if colours:
        yield "<style>@media (prefers-color-scheme:dark){"
        for light, dark in colours.items():
            yield f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}'
        yield "}</style>"


def _elements(shapes: Iterable[Shape]) -> Iterator[str]:
    """The shapes as SVG; neighbouring boxes of one colour are one path."""
    for fill, group in groupby(
        shapes, lambda shape: shape.fill if isinstance(shape, Box) else None
    ):
        if fill is None:
            yield from map(_element, group)
        else:
            boxes = (each for each in group if isinstance(each, Box))
            yield f'<path fill="{fill}" d="{path(boxes)}"/>'


def _element(shape: Shape) -> str:
    match shape:
        case Line():
            ends = f'x1="{shape.x}" y1="{shape.y}" x2="{shape.to_x}" y2="{shape.to_y}"'
            return f'<line {ends} stroke="{shape.colour}" stroke-width="{shape.width}"/>'
        case Trace():
            points = " ".join(f"{x},{y}" for x, y in shape.points)
            stroke = f'stroke="{shape.colour}" stroke-width="{shape.width}"'
            return f'<polyline fill="none" {stroke} points="{points}"/>'
        case Dot():
            return f'<circle fill="{shape.fill}" cx="{shape.x}" cy="{shape.y}" r="{shape.radius}"/>'
        case Box():
            return f'<path fill="{shape.fill}" d="{path([shape])}"/>'
        case Words():
            place = f'x="{shape.x}" y="{shape.y}" text-anchor="{shape.anchor}"'
            weight = ' font-weight="600"' if shape.bold else ""
            font = f'font-size="{shape.size}" fill="{shape.colour}"{weight}'
            return f"<text {place} {font}>{escape(shape.text)}</text>"
