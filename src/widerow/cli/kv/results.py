"""Rows of queries as lines: JSON, a grid of columns, a block for each row, CSV (cli §6).

The forms are those of the vendor's SQL shell. Rows come as JSON has them (`requests.plain_json`)
and are written as they come; a grid is as wide as the rows of one block of it ask for.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any, Final

from widerow.model.typed.json_rows import dumps

__all__ = ["RESULT_FORMS", "ResultRow", "pretty_lines"]

ResultRow = Mapping[str, Any]
"""A row by the names of its columns; all rows of a result have the same names."""

_BLOCK_ROWS: Final = 1000  # rows that one grid is measured for, and held for


def _json_lines(rows: Iterable[ResultRow]) -> Iterator[str]:
    return (dumps(dict(row)) for row in rows)


def pretty_lines(rows: Iterable[ResultRow]) -> Iterator[str]:
    """Each row as JSON over several lines."""
    for row in rows:
        yield from dumps(dict(row), pretty=True).split("\n")


def _grid_lines(rows: Iterable[ResultRow]) -> Iterator[str]:
    """A table with a head; numbers stand at the right of their column."""
    source = iter(rows)
    while block := list(islice(source, _BLOCK_ROWS)):
        names = list(block[0])
        columns = [[_cell(row[name]) for row in block] for name in names]
        widths = [
            max(len(name), *map(len, cells)) for name, cells in zip(names, columns, strict=True)
        ]
        right = [_is_number(block, name) for name in names]
        rule = _rule(widths)
        yield rule
        yield _line([name.center(width) for name, width in zip(names, widths, strict=True)])
        yield rule
        for cells in zip(*columns, strict=True):
            yield _line(
                [
                    cell.rjust(width) if number else cell.ljust(width)
                    for cell, width, number in zip(cells, widths, right, strict=True)
                ]
            )
        yield rule


def _block_lines(rows: Iterable[ResultRow]) -> Iterator[str]:
    """A grid of two columns for each row: names and values."""
    for number, row in enumerate(rows, 1):
        cells = [_cell(value) for value in row.values()]
        widths = [max(map(len, row)), max(map(len, cells))]
        if number > 1:
            yield ""
        yield f" > Row {number}"
        yield _rule(widths)
        for name, cell in zip(row, cells, strict=True):
            yield _line([name.ljust(widths[0]), cell.ljust(widths[1])])
        yield _rule(widths)


def _csv_lines(rows: Iterable[ResultRow]) -> Iterator[str]:
    """Values between commas, without a head; NULL is an empty field, documents are JSON."""
    for row in rows:
        line = io.StringIO()
        values = ["" if value is None else _cell(value) for value in row.values()]
        csv.writer(line, lineterminator="").writerow(values)
        yield line.getvalue()


def _cell(value: Any) -> str:  # noqa: ANN401  # any value of a row
    """A value on one line."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return value.translate(_LINE_ENDS)
    return dumps(value)


_LINE_ENDS: Final = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _is_number(rows: Sequence[ResultRow], name: str) -> bool:
    values = [row[name] for row in rows if row[name] is not None]
    return bool(values) and all(type(value) in (int, float, Decimal) for value in values)


def _rule(widths: Sequence[int]) -> str:
    return f" +{'+'.join('-' * (width + 2) for width in widths)}+"


def _line(cells: Sequence[str]) -> str:
    return f" | {' | '.join(cells)} |"


RESULT_FORMS: Final[Mapping[str, Callable[[Iterable[ResultRow]], Iterator[str]]]] = {
    "COLUMN": _grid_lines,
    "LINE": _block_lines,
    "JSON": _json_lines,
    "CSV": _csv_lines,
}
"""The forms by the names that the command `mode` takes."""
