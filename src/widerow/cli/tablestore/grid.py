"""Tables of text: columns side by side, or one below the other where a terminal is too narrow.

Pure. Widths are those of a terminal: characters of two columns count as two.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

__all__ = ["Grid", "Rendered", "render_grid"]

_GAP: Final = "  "
_RULES: Final = 3  # what lines around a cell add: a line and two spaces
_ELLIPSIS: Final = "…"
_NARROWEST: Final = 8  # columns of a terminal that a column of a table keeps at least

Measure = Callable[[str], int]


class Grid(NamedTuple):
    """Headings, rows of as many texts, and for each column whether it is aligned to the right."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[bool] = ()


class Rendered(NamedTuple):
    """The lines of a table. `cut`: how many values are not whole. `headings`: lines of headings."""

    lines: list[str]
    cut: int
    headings: int


def render_grid(
    grid: Grid, width: int | None, measure: Measure = len, *, ruled: bool = False
) -> Rendered:
    """The table within `width` columns, or as wide as it is where that is None.

    The widest columns are cut first. Where each column cannot have eight, rows are shown as blocks
    of one line for each value. `measure`: how wide a text is. `ruled`: with lines around the cells,
    as the vendor's command line has them.
    """
    natural = [
        max(map(measure, (heading, *(row[place] for row in grid.rows))))
        for place, heading in enumerate(grid.headings)
    ]
    side_by_side = _ruled if ruled else _beside
    if width is None:
        return side_by_side(grid, natural, measure)
    edges = _RULES * len(natural) + 1 if ruled else len(_GAP) * (len(natural) - 1)
    least = sum(min(_NARROWEST, each) for each in natural)
    if least > width - edges:
        return _blocks(grid, width, measure)
    return side_by_side(grid, _shared(natural, width - edges), measure)


def _shared(natural: Sequence[int], room: int) -> list[int]:
    """Widths that fit the room together: all below some bound stay, the others get that bound."""
    left, open_columns = room, sorted(natural)
    bound = 0
    while open_columns:
        bound = left // len(open_columns)
        if open_columns[0] > bound:
            break
        left -= open_columns.pop(0)
    spare = left - bound * len(open_columns)
    widths = []
    for each in natural:
        extra = min(spare, 1) if open_columns and each > bound else 0
        spare -= extra
        widths.append(min(each, bound + extra) if open_columns else each)
    return widths


def _beside(grid: Grid, widths: Sequence[int], measure: Measure) -> Rendered:
    right = grid.right or [False] * len(widths)
    cut = 0
    lines = []
    for row in (grid.headings, *grid.rows):
        cells = []
        for text, width, to_right in zip(row, widths, right, strict=True):
            fitted = _fitted(text, width, measure)
            cut += fitted is not text
            space = " " * (width - measure(fitted))
            cells.append(space + fitted if to_right else fitted + space)
        lines.append(_GAP.join(cells).rstrip())
    return Rendered(lines, cut, 1)


def _blocks(grid: Grid, width: int, measure: Measure) -> Rendered:
    names = max(map(measure, grid.headings))
    names = min(names, max(_NARROWEST, width // 3))
    cut = 0
    lines: list[str] = []
    for number, row in enumerate(grid.rows, 1):
        lines.append(f"-- row {number}")
        for heading, text in zip(grid.headings, row, strict=True):
            if not text:
                continue
            fitted = _fitted(text, max(1, width - names - len(_GAP)), measure)
            cut += fitted is not text
            name = _fitted(heading, names, measure)
            lines.append(f"{name}{' ' * (names - measure(name))}{_GAP}{fitted}")
    return Rendered(lines, cut, 0)


def _ruled(grid: Grid, widths: Sequence[int], measure: Measure) -> Rendered:
    rule = "+" + "".join(f"{'-' * (width + 2)}+" for width in widths)
    lines = [rule]
    cut = 0
    for number, row in enumerate((grid.headings, *grid.rows)):
        cells = []
        for text, width in zip(row, widths, strict=True):
            fitted = _fitted(text, width, measure)
            cut += fitted is not text
            cells.append(f" {fitted}{' ' * (width - measure(fitted))} ")
        lines.append(f"|{'|'.join(cells)}|")
        if number == 0:
            lines.append(rule)
    if grid.rows:
        lines.append(rule)
    return Rendered(lines, cut, 0)


def _fitted(text: str, width: int, measure: Measure) -> str:
    """The text itself if it fits, else its beginning and a sign that it goes on."""
    if measure(text) <= width:
        return text
    kept = ""
    taken = measure(_ELLIPSIS)
    for character in text:
        taken += measure(character)
        if taken > width:
            break
        kept += character
    return kept + _ELLIPSIS
