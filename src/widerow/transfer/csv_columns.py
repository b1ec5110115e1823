"""Rows as CSV for spreadsheets: a column for each column of the table (docs/formats/export.md).

Which columns there are is known at the end, so rows are kept in a file without a name until then.
"""

import codecs
import csv
import io
import json
import weakref
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final, NamedTuple

from widerow.client.tables import TableFacts
from widerow.model.values import Value
from widerow.row_files.spreadsheet import as_cell, begins_formula
from widerow.rows.plain_values import Row, VersionedValue
from widerow.transfer.layout import kind_of_value

__all__ = ["VERSION_COLUMN", "ColumnForm", "CsvColumns"]

VERSION_COLUMN: Final = "@version"
"""The column of versions, which no column of a table can be called."""

_Heading = tuple[str, str]  # a column, and a type; "" for any type


class ColumnForm(NamedTuple):
    """What such a file has besides the newest values.

    `versions`: a line for each version of a row, with its milliseconds in `@version`. `types`:
    headings are NAME:TYPE, and a column with values of several types is several. `spreadsheet`: a
    byte order mark, and texts written as `as_cell` does.
    """

    versions: bool = False
    types: bool = False
    spreadsheet: bool = False


class CsvColumns:
    """Writes such a file. `kinds` and `formulas` are known when the last row was written.

    `kinds`: the types of each column's values. `formulas`: how many texts begin as formulas do.
    """

    def __init__(self, file: IO[bytes], table: TableFacts, form: ColumnForm) -> None:
        """A writer of rows of `table`; its own file is beside `file`."""
        self._file = file
        self._form = form
        self._key = [column.name for column in table.key]
        self._kept = TemporaryFile(dir=Path(file.name).parent)  # noqa: SIM115  # closed with this
        weakref.finalize(self, self._kept.close)
        self.kinds: dict[str, set[str]] = {name: set() for name in self._key}
        self.formulas = 0

    def write(self, row: Row, size: int) -> None:
        """Keep a row."""
        del size
        for line in self._lines(row):
            self._kept.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def finish(self, facts: Mapping[str, str]) -> None:
        """Write the heading and all lines."""
        del facts
        if self._form.spreadsheet:
            self._file.write(codecs.BOM_UTF8)
        others = sorted(self.kinds.keys() - set(self._key))
        columns = [each for name in (*self._key, *others) for each in self._headings(name)]
        if self._form.versions:
            columns.insert(len(self._key), (VERSION_COLUMN, ""))
        text = io.TextIOWrapper(self._file, "utf-8", newline="", write_through=True)
        rows = csv.writer(text)  # as RFC 4180 has it
        rows.writerow([self._cell(":".join(filter(None, each))) for each in columns])
        self._kept.seek(0)
        for line in self._kept:
            cells = {(name, kind): cell for name, kind, cell in json.loads(line)}
            rows.writerow([cells.get(each, "") for each in columns])
        text.detach()

    def _headings(self, name: str) -> list[_Heading]:
        if not self._form.types:
            return [(name, "")]
        return [(name, kind) for kind in sorted(self.kinds[name])]

    def _lines(self, row: Row) -> Iterator[list[tuple[str, str, str]]]:
        """A row as lines of columns, types and cells: one, or one for each version."""
        key = [self._field(name, value) for name, value in row.key]
        if not self._form.versions:
            yield [*key, *(self._field(each.column, each.value) for each in _newest(row.cells))]
            return
        versions = sorted({each.version for each in row.cells}, reverse=True)
        for version in versions:
            cells = [each for each in row.cells if each.version == version]
            fields = (self._field(each.column, each.value) for each in cells)
            yield [*key, (VERSION_COLUMN, "", str(version)), *fields]
        if not versions:
            yield key

    def _field(self, name: str, value: Value) -> tuple[str, str, str]:
        kind = kind_of_value(value)
        self.kinds.setdefault(name, set()).add(kind)
        text = _text(value)
        if kind in ("string", "binary"):
            self.formulas += begins_formula(text)
            text = self._cell(text)
        return name, kind if self._form.types else "", text

    def _cell(self, text: str) -> str:
        return as_cell(text) if self._form.spreadsheet else text


def _newest(cells: Sequence[VersionedValue]) -> list[VersionedValue]:
    """The newest of each column; versions come from the newest on."""
    found: dict[str, VersionedValue] = {}
    for each in cells:
        found.setdefault(each.column, each)
    return list(found.values())


def _text(value: Value) -> str:
    """A value as CSV has it and `widerow import` reads it."""
    plain: Any = b64encode(value).decode() if isinstance(value, bytes) else value
    return plain if isinstance(plain, str) else json.dumps(plain, allow_nan=False)
