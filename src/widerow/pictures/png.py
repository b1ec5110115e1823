"""A picture as PNG, drawn by Pillow: the extra `pictures`."""

import io
from typing import Any, Final

from widerow.errors import WiderowError
from widerow.pictures.shapes import PAPER, Box, Dot, Line, Picture, Trace, Words

__all__ = ["PictureRefused", "png"]

_SCALE: Final = 2  # pixels of a PNG for one of ours, so that text is sharp
_ANCHORS: Final = {"start": "ls", "middle": "ms", "end": "rs"}


class PictureRefused(WiderowError):
    """A picture that cannot be made; the message says what to do."""


def png(picture: Picture) -> bytes:
    """The picture at twice its size in pixels. Raises: `PictureRefused` without Pillow."""
    try:
        from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise PictureRefused("PNG needs Pillow: pip install pillow") from error
    image = Image.new("RGB", (picture.width * _SCALE, picture.height * _SCALE), PAPER)
    draw = ImageDraw.Draw(image)
    for shape in picture.shapes:
        if isinstance(shape, Words):
            font = ImageFont.load_default(shape.size * _SCALE)
            anchor = _ANCHORS[shape.anchor]
            draw.text(_at(shape.x, shape.y), shape.text, shape.colour, font=font, anchor=anchor)
        else:
            _draw(draw, shape)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def _at(x: int, y: int) -> tuple[int, int]:
    return x * _SCALE, y * _SCALE


def _draw(draw: Any, shape: Box | Line | Trace | Dot) -> None:  # noqa: ANN401  # of an optional library
    match shape:
        case Box():
            corner = ((shape.x + shape.width) * _SCALE - 1, (shape.y + shape.height) * _SCALE - 1)
            draw.rectangle((*_at(shape.x, shape.y), *corner), fill=shape.fill)
        case Dot():
            draw.circle(_at(shape.x, shape.y), shape.radius * _SCALE, fill=shape.fill)
        case Line():
            ends = (*_at(shape.x, shape.y), *_at(shape.to_x, shape.to_y))
            draw.line(ends, fill=shape.colour, width=shape.width * _SCALE)
        case Trace():
            points = [_at(x, y) for x, y in shape.points]
            draw.line(points, fill=shape.colour, width=shape.width * _SCALE, joint="curve")
