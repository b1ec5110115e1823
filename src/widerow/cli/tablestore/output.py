"""What the commands print: rows page by page in the format that is asked for, and what is said.

Rows go to stdout; counts, notes and prompts to stderr, so that a pipe has nothing but rows.
"""

import csv
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import IO, Any, Final, Protocol

from widerow.cli.tablestore.documents import row_document, row_grid
from widerow.cli.tablestore.grid import Grid, Rendered, render_grid
from widerow.cli.tablestore.words import WordInvalid
from widerow.rows.plain_values import Row
from widerow.text_lines import CsvLines
from widerow.transfer.layout import CELLS

__all__ = [
    "RowFormat",
    "RowSink",
    "confirmed",
    "note",
    "print_grid",
    "row_format",
    "row_sink",
    "terminal_width",
    "text_width",
]

_BOLD: Final = "\x1b[1m{}\x1b[0m"
_BLOCK_ROWS: Final = 1000
"""Rows of a table of text whose widths are found together: what is held in memory of a scan."""


class RowFormat(Enum):
    """How rows are printed."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


class RowSink(Protocol):
    """Takes rows, and prints them as it likes until it is finished."""

    def add(self, rows: Sequence[Row]) -> None:
        """Take more rows."""
        ...

    def finish(self) -> None:
        """Print what is left. Called once, also where there was no row."""
        ...


def row_format(given: Mapping[str, Any]) -> RowFormat:
    """The format that --output names; without it a table on a terminal, else JSON lines.

    `--json` is another word for `--output json`. Raises: `WordInvalid`.
    """
    asked = given["output"]
    if given["as_json"]:
        if asked not in (None, RowFormat.JSON.value):
            raise WordInvalid(f"--json and --output {asked}: give one of them")
        return RowFormat.JSON
    if asked is None:
        return RowFormat.TABLE if sys.stdout.isatty() else RowFormat.JSONL
    try:
        return RowFormat(asked.lower())
    except ValueError as error:
        names = ", ".join(each.value for each in RowFormat)
        raise WordInvalid(f"--output {asked}: it is one of {names}") from error


def row_sink(
    asked: RowFormat, key_names: Sequence[str], columns: Sequence[str], *, versions: bool = False
) -> RowSink:
    """What prints rows in a format. `columns`: those that were asked for, for a heading of CSV.

    `versions`: JSON and CSV have all versions of each column, not the newest alone.
    """
    match asked:
        case RowFormat.TABLE:
            return _TableSink(key_names)
        case RowFormat.CSV:
            return _CsvSink(sys.stdout, key_names, columns, versions=versions)
        case RowFormat.JSON | RowFormat.JSONL:
            return _JsonSink(sys.stdout, versions=versions, lines=asked is RowFormat.JSONL)


class _JsonSink:
    """One document on each line, or one list of them."""

    def __init__(self, out: IO[str], *, versions: bool, lines: bool) -> None:
        self._out = out
        self._versions = versions
        self._lines = lines
        self._begun = False

    def add(self, rows: Sequence[Row]) -> None:
        for row in rows:
            document = row_document(row, versions=self._versions)
            text = json.dumps(document, ensure_ascii=False)
            if self._lines:
                self._out.write(f"{text}\n")
            else:
                self._out.write(f"{',' if self._begun else '['}\n  {text}")
            self._begun = True
        self._out.flush()

    def finish(self) -> None:
        if not self._lines:
            self._out.write("\n]\n" if self._begun else "[]\n")


class _CsvSink:
    """A heading and a line for each row, as `widerow import` reads them."""

    def __init__(
        self, out: IO[str], key_names: Sequence[str], columns: Sequence[str], *, versions: bool
    ) -> None:
        self._writer = csv.writer(CsvLines(out.write))
        self._key = list(key_names)
        named = [name for name in columns if name not in key_names]
        self._headings = [*self._key, CELLS] if versions else [*self._key, *named]
        self._known = bool(named) or versions
        self._begun = False
        self._versions = versions

    def add(self, rows: Sequence[Row]) -> None:
        documents = [row_document(row, versions=self._versions) for row in rows]
        if documents and not self._begun:
            if not self._known:
                found = {name for document in documents for name in document}
                self._headings += sorted(found - set(self._key))
            self.finish()
        for document in documents:
            if new := [name for name in document if name not in self._headings]:
                raise WordInvalid(
                    f"the column {new[0]} is in none of the rows that the heading was made of; "
                    "name the columns with --columns, or take --output jsonl"
                )
            self._writer.writerow([_csv_field(document.get(name)) for name in self._headings])

    def finish(self) -> None:
        if not self._begun:
            self._begun = True
            self._writer.writerow(self._headings)


def _csv_field(value: Any) -> Any:  # noqa: ANN401  # whatever JSON holds
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        binary = value.get("binary")
        return binary if isinstance(binary, str) else json.dumps(value, ensure_ascii=False)
    return value


class _TableSink:
    """Tables of text, of as many rows as are held at one time."""

    def __init__(self, key_names: Sequence[str]) -> None:
        self._key = key_names
        self._rows: list[Row] = []
        self._cut = 0

    def add(self, rows: Sequence[Row]) -> None:
        self._rows += rows
        if len(self._rows) >= _BLOCK_ROWS:
            self._print()

    def finish(self) -> None:
        self._print()
        if self._cut:
            values = "1 value is" if self._cut == 1 else f"{self._cut:,} values are"
            note(f"{values} cut (…); --output json has them whole")

    def _print(self) -> None:
        if self._rows:
            self._cut += _printed(row_grid(self._rows, self._key)).cut
            self._rows = []


def print_grid(grid: Grid) -> None:
    """Print a table of text, and say so where values are cut."""
    cut = _printed(grid).cut
    if cut:
        note(f"{'1 value is' if cut == 1 else f'{cut:,} values are'} cut (…); see --output json")


def terminal_width() -> int | None:
    """The columns of the terminal that stdout is; None where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _printed(grid: Grid) -> Rendered:
    rendered = render_grid(grid, terminal_width(), text_width)
    lines = list(rendered.lines)
    if _has_colour():
        lines[: rendered.headings] = map(_BOLD.format, lines[: rendered.headings])
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()
    return rendered


def _has_colour() -> bool:
    """Whether headings may be bold: on a terminal that can, where nobody asked for none."""
    return (
        sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM", "dumb") != "dumb"
    )


def text_width(text: str) -> int:
    """The columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415  # only for what is not ASCII

    return cell_len(text)


def note(words: str) -> None:
    """Say something beside the rows."""
    sys.stderr.write(f"{words}\n")


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether something that cannot be undone is to be done: `--yes`, or the answer on a terminal.

    Raises: `WordInvalid` where nobody can be asked.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise WordInvalid(f"{question} Nobody can be asked here: give --yes")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
