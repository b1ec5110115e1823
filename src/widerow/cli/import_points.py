"""`widerow import` into a timeseries table: line protocol, or rows with a column of times."""

from pathlib import Path
from typing import Any, Final

from widerow.cli.command import CommandFailed, Flag, Given
from widerow.cli.connection import endpoint_of
from widerow.cli.flags import listed
from widerow.cli.progress import row_bar
from widerow.row_files.line_protocol import PRECISIONS
from widerow.row_files.source import FileSource
from widerow.transfer.columns import parse_kinds
from widerow.transfer.points import (
    LINE_SUFFIXES,
    PointColumns,
    PointImport,
    PointsLoaded,
    import_points,
)

__all__ = ["POINT_FLAGS", "asks_for_points", "run_point_import"]

POINT_FLAGS: Final = (
    Flag("measurement", "Into a timeseries table: what all rows of the file measure.", "NAME"),
    Flag("time", "Of such rows: the column with the time of a point.", "A"),
    Flag("tags", "Of such rows: the columns that are tags. All others are fields.", "A,B"),
    Flag("source", "The column or tag that says where points come from.", "A"),
    Flag("precision", "The unit of times in line protocol: ns us ms s.", "UNIT", default="ns"),
)


def asks_for_points(given: Given) -> bool:
    """Whether an import is one into a timeseries table."""
    of_lines = Path(given["input"]).suffix.lower() in LINE_SUFFIXES
    return of_lines or any(given[name] for name in ("measurement", "time", "tags"))


def run_point_import(table: str, given: Given) -> tuple[PointImport, PointsLoaded]:
    """Import points, with a bar. Raises: `CommandFailed`, `WiderowError`."""
    wish = _wish(table, given)
    with row_bar(f"importing {wish.path.name}", FileSource(wish.path).total) as bar:
        done = import_points(
            endpoint_of(given), wish, lambda step: bar(step.behind, step.rows, step.rejected)
        )
    return wish, done


def _wish(table: str, given: Given) -> PointImport:
    path = Path(given["input"])
    if given["precision"] not in PRECISIONS:
        raise CommandFailed(
            f"--precision {given['precision']}: write one of {', '.join(PRECISIONS)}"
        )
    columns: PointColumns | None = None
    if path.suffix.lower() not in LINE_SUFFIXES:
        if not (given["measurement"] and given["time"]):
            raise CommandFailed(
                "rows become points with --measurement NAME and --time COLUMN; files in line "
                f"protocol are named {' '.join(sorted(LINE_SUFFIXES))}"
            )
        tags = tuple(listed(given["tags"]))
        columns = PointColumns(given["measurement"], given["time"], tags, given["source"] or "")
    options: dict[str, Any] = {name: given[name] for name in ("workers", "max_rejected", "create")}
    return PointImport(
        path,
        table,
        columns,
        given["precision"],
        given["source"] or "",
        parse_kinds(listed(given["types"])),
        encoding=given["encoding"],
        **options,
    )
