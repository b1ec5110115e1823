"""The shapes and colours of pictures.

All positions are whole numbers, so a picture has the same bytes on every machine. Colours are from
palettes for any colour vision, and no fact is shown by colour alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

__all__ = [
    "GRID",
    "INK",
    "MUTED",
    "ORANGE",
    "PAPER",
    "PURPLE",
    "TEAL",
    "Box",
    "Dot",
    "Line",
    "Picture",
    "Shape",
    "Trace",
    "Words",
]

PAPER: Final = "#ffffff"
INK: Final = "#1f2328"
MUTED: Final = "#59636e"
GRID: Final = "#d1d9e0"
# From the palette of Okabe and Ito.
ORANGE: Final = "#d55e00"
TEAL: Final = "#009e73"
PURPLE: Final = "#cc79a7"


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
class Trace:
    """A line through two points or more."""

    points: tuple[tuple[int, int], ...]
    colour: str
    width: int = 2


@dataclass(frozen=True, slots=True)
class Dot:
    """A filled circle around a point."""

    x: int
    y: int
    radius: int
    fill: str


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


Shape = Box | Line | Trace | Dot | Words


@dataclass(frozen=True, slots=True)
class Picture:
    """Shapes, the later above the earlier, on `PAPER`.

    `dark`: the colours that an SVG uses where its reader prefers dark pages; without it an SVG has
    one form. A PNG is always light.
    """

    width: int
    height: int
    title: str
    shapes: tuple[Shape, ...]
    dark: Mapping[str, str] = field(default_factory=dict)
