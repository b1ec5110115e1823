"""Rows of a file, one by one: CSV, JSON lines or Parquet, of any size.

A file is read from its start each time and never kept in memory. Errors name the line (in Parquet:
the row). Every value of a CSV file is a text; the other formats know their types.
"""

import codecs
import csv
import difflib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from widerow.errors import WiderowError
from widerow.row_files.spreadsheet import from_cell

__all__ = [
    "KIND_ROWS",
    "UTF_8",
    "FileInvalid",
    "FileSource",
    "Progress",
    "Record",
    "Rejected",
    "Source",
]

Progress = Callable[[int], None]
"""Called now and then with how much of the source is read."""

Rejected = Callable[[int, str, object], None]
"""Called with a row that cannot be read: its line, the reason, and its readable part."""

UTF_8: Final = "utf-8"
"""The encoding of text files, unless another is named."""

KIND_ROWS: Final = 10_000
"""The number of rows whose values decide the type of a column."""

_PROGRESS_ROWS: Final = 2_000
_BATCH_ROWS: Final = 8_192  # of Parquet
_FIELD_BYTES_MAX: Final = 256 * 1024 * 1024  # an exported row of 100,000 columns is one field
_ASCII: Final = bytes((*b"\t\n\r", *range(32, 127)))


class FileInvalid(WiderowError):
    """A file that cannot be read as rows; the message says where and what to do."""


class Record(NamedTuple):
    """One row as it stands in its source: `place` is its line, `size` its bytes there."""

    place: int
    fields: Mapping[str, object]
    size: int


class Source(Protocol):
    """A source of rows. `total` has the unit of progress."""

    @property
    def name(self) -> str:
        """The name for messages."""
        ...

    @property
    def total(self) -> int:
        """The end of progress."""
        ...

    @property
    def place(self) -> str:
        """The unit of `Record.place`: line or row."""
        ...

    @property
    def typed(self) -> bool:
        """Whether the source knows types, so that a text of digits is a text."""
        ...

    def records(
        self, columns: Sequence[str] | None = None, progress: Progress | None = None
    ) -> Iterator[Record]:
        """Every row, from the start; with `columns`, the fields have at least these columns."""
        ...


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file with rows, in the format of its suffix.

    `encoding`: the name in Python of the encoding of texts. Supported are encodings in which bytes
    below 128 are ASCII (UTF-8, Latin-1, the Windows code pages, GB18030). Parquet has its own.
    `spreadsheet`: texts of CSV may begin with an apostrophe of `as_cell`, which is taken away.
    """

    path: Path
    encoding: str = UTF_8
    spreadsheet: bool = False

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    @property
    def total(self) -> int:
        """Bytes of the file. Raises: `FileInvalid`."""
        try:
            return self.path.stat().st_size
        except OSError as error:
            raise FileInvalid(f"cannot read {self.path}: {error.strerror}") from error

    @property
    def place(self) -> str:
        """The unit of `Record.place`: rows in Parquet, lines in text."""
        return "row" if self.columnar else "line"

    @property
    def columnar(self) -> bool:
        """Whether columns can be read without the others."""
        return self.path.suffix.lower() == ".parquet"

    @property
    def typed(self) -> bool:
        """Whether the format knows integers from texts."""
        return self.path.suffix.lower() not in {".csv", ".tsv"}

    def records(
        self,
        columns: Sequence[str] | None = None,
        progress: Progress | None = None,
        rejected: Rejected | None = None,
    ) -> Iterator[Record]:
        """Every row, from the start.

        With `rejected`, rows that cannot be read are passed to it and left out. Raises:
        `FileInvalid`.
        """
        _check_encoding(self)
        reader = _READERS.get(self.path.suffix.lower())
        if reader is None:
            known = ", ".join(_READERS)
            raise FileInvalid(f"{self.path}: name the file by what is in it, one of {known}")
        if not self.path.is_file():
            raise FileInvalid(f"there is no file {self.path}")
        if not os.access(self.path, os.R_OK):
            raise FileInvalid(f"{self.path} may not be read")
        return reader(self, columns, progress, rejected)


def _check_encoding(source: FileSource) -> None:
    """Refuse an unknown encoding, or one whose lines cannot be found by their bytes."""
    name = source.encoding
    if source.columnar and name != UTF_8:
        raise FileInvalid(f"{source.name}: Parquet says how it is encoded; give no encoding")
    try:
        like_ascii = _ASCII.decode(name) == _ASCII.decode("ascii")
    except LookupError as error:
        raise FileInvalid(
            f"--encoding {name}: no encoding is known by this name; write utf-8, latin-1 or cp1252"
        ) from error
    except ValueError:
        like_ascii = False
    if not like_ascii:
        raise FileInvalid(
            f"--encoding {name}: such a file cannot be read line by line; convert it to UTF-8, for "
            f"example with iconv -f {name} -t UTF-8"
        )


def _undecodable(data: bytes, at: int, offset: int, encoding: str) -> str:
    """The error of a line with byte `at`, at `offset` of the file, and what to do."""
    utf_8 = codecs.lookup(encoding).name == UTF_8
    shown = "UTF-8" if utf_8 else encoding
    where = f"not {shown} at byte {at} of the line (0x{data[at]:02X}, offset {offset} of the file)"
    if not utf_8:
        return f"{where}; give --encoding the encoding of the file, or convert the file to UTF-8"
    if offset == 0 and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return f"{where}; the file is UTF-16: convert it, for example with iconv -f UTF-16 -t UTF-8"
    # Windows-1252 has quotes and dashes at these bytes; Latin-1 has controls, which no text has.
    guess, title = ("cp1252", "Windows-1252") if 0x80 <= data[at] < 0xA0 else ("latin-1", "Latin-1")
    letter = data[at : at + 1].decode(guess, "replace")
    return (
        f"{where}; in {title} it is {letter!r}: if that is right, give --encoding {guess}, else "
        "convert the file to UTF-8, for example with iconv"
    )


def _lines(
    source: FileSource, progress: Progress | None, broken: Rejected | None
) -> Iterator[tuple[int, int, str]]:
    """Number, bytes and text of each line, without a byte order mark.

    With `broken`, a line in another encoding is first passed to it, and then comes with its
    readable characters.
    """
    encoding, behind = source.encoding, 0
    with source.path.open("rb") as file:
        for number, data in enumerate(file, 1):
            if number == 1 and data.startswith(codecs.BOM_UTF8):
                behind = len(codecs.BOM_UTF8)
                data = data.removeprefix(codecs.BOM_UTF8)  # noqa: PLW2901  # of the first line only
            behind += len(data)
            if progress and number % _PROGRESS_ROWS == 0:
                progress(behind)
            try:
                yield number, len(data), data.decode(encoding)
            except UnicodeDecodeError as error:
                at = error.start
                words = _undecodable(data, at, behind - len(data) + at, encoding)
                if broken is None:
                    raise FileInvalid(f"{source.name}, line {number}: {words}") from error
                text = data.decode(encoding, errors="replace")
                broken(number, words, text)
                yield number, len(data), text
    if progress:
        progress(behind)


class _Physical:
    """The lines of a CSV file for the reader of rows: their bytes, and their errors."""

    def __init__(self, source: FileSource, progress: Progress | None, *, lenient: bool) -> None:
        self.size = 0
        self.wrong = ""
        self._lines = _lines(source, progress, self._note if lenient else None)

    def __iter__(self) -> Iterator[str]:
        for _, size, text in self._lines:
            self.size += size
            yield text

    def taken(self) -> tuple[int, str]:
        """Bytes and errors since the last call."""
        found = self.size, self.wrong
        self.size, self.wrong = 0, ""
        return found

    def _note(self, _line: int, words: str, _text: object) -> None:
        self.wrong = words


def _read_csv(
    source: FileSource,
    columns: Sequence[str] | None,
    progress: Progress | None,
    rejected: Rejected | None,
) -> Iterator[Record]:
    csv.field_size_limit(_FIELD_BYTES_MAX)
    path = source.path
    lines = _Physical(source, progress, lenient=rejected is not None)
    reader = csv.reader(lines, delimiter=_delimiter(path), strict=True)
    header = _csv_header(source, reader, lines, columns)
    if header is None:
        raise FileInvalid(f"{path.name} is empty; its first line names the columns")
    while True:
        line, fields, words = reader.line_num + 1, [], ""
        try:
            fields = _texts(source, next(reader, []))
        except csv.Error as error:
            words = f"{error}; a quote inside quotes is written twice"
            if reader.line_num > line:
                words += f"; it reaches to line {reader.line_num}"
        size, wrong = lines.taken()
        if not size:
            return
        if not words and fields and len(fields) != len(header):
            words = f"{len(fields)} fields, and the header has {len(header)}"
        if words := words or wrong:
            if rejected is None:
                raise FileInvalid(f"{path.name}, line {line}: {words}")
            rejected(line, words, fields)
        elif fields:
            yield Record(line, dict(zip(header, fields, strict=True)), size)


def _csv_header(
    source: FileSource,
    reader: Iterator[list[str]],
    lines: _Physical,
    columns: Sequence[str] | None,
) -> list[str] | None:
    path = source.path
    try:
        header = next(reader, None)
    except csv.Error as error:
        raise FileInvalid(f"{path.name}, line 1: {error}") from error
    if wrong := lines.taken()[1]:  # no row can be read without the names of its columns
        raise FileInvalid(f"{path.name}, line 1: {wrong}")
    if header is not None:
        header = _texts(source, header)
        _check_columns(path.name, header, columns)
    return header


def _texts(source: FileSource, cells: list[str]) -> list[str]:
    """The texts that cells of a line stand for."""
    return [from_cell(cell) for cell in cells] if source.spreadsheet else cells


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


def _check_columns(name: str, header: Sequence[str], columns: Sequence[str] | None) -> None:
    """Check that the header has each wanted column once."""
    for column in columns or header:
        if header.count(column) > 1:
            raise FileInvalid(f"{name} has {header.count(column)} columns named {column}")
        if column in header:
            continue
        near = difflib.get_close_matches(column, header, n=1)
        advice = f"did you mean {near[0]}?" if near else f"it has {', '.join(header)}"
        if len(header) == 1 and ";" in header[0]:
            advice = "its fields are separated by semicolons; separate them by commas"
        raise FileInvalid(f"{name} has no column {column}; {advice}")


def _read_json(
    source: FileSource,
    columns: Sequence[str] | None,
    progress: Progress | None,
    rejected: Rejected | None,
) -> Iterator[Record]:
    wrong = 0  # the line that was reported already

    def broken(number: int, words: str, text: object) -> None:
        nonlocal wrong
        wrong = number
        assert rejected is not None
        rejected(number, words, text)

    path = source.path
    for number, size, text in _lines(source, progress, broken if rejected else None):
        if number == wrong or not text.strip():
            continue
        fields = _json_object(text)
        if isinstance(fields, str):
            if rejected is None:
                raise FileInvalid(f"{path.name}, line {number}: {fields}")
            rejected(number, fields, text)
            continue
        for column in columns or ():
            if column not in fields:
                _missing(f"{path.name}, line {number}", fields, column)
        yield Record(number, fields, size)


def _json_object(text: str) -> dict[str, object] | str:
    """The object in a line, or the error."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"not JSON, {error}"
    return fields if isinstance(fields, dict) else "an object is wanted on every line"


def _missing(where: str, fields: Iterable[str], column: str) -> None:
    raise FileInvalid(f"{where}: no field {column}; it has {', '.join(fields)}")


def _read_parquet(
    source: FileSource,
    columns: Sequence[str] | None,
    progress: Progress | None,
    _rejected: Rejected | None,
) -> Iterator[Record]:
    try:
        from pyarrow import ArrowInvalid, parquet  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise FileInvalid("Parquet needs pyarrow: pip install pyarrow") from error
    path = source.path
    try:
        file = parquet.ParquetFile(path)
    except ArrowInvalid as error:
        raise FileInvalid(f"{path.name} is not Parquet: {error}") from error
    with file:
        _check_columns(path.name, file.schema_arrow.names, columns)
        size, rows = _bytes_of_a_row(file.metadata), file.metadata.num_rows
        total, number = path.stat().st_size, 0
        wanted = None if columns is None else list(columns)
        for batch in file.iter_batches(_BATCH_ROWS, columns=wanted):
            for fields in batch.to_pylist():
                number += 1
                yield Record(number, fields, size)
            if progress:
                progress(total * number // rows)


def _bytes_of_a_row(metadata: Any) -> int:  # noqa: ANN401  # the library has no types
    """The mean size of a row before compression: stored columns give no size of a row."""
    groups = range(metadata.num_row_groups)
    total = sum(metadata.row_group(number).total_byte_size for number in groups)
    return int(total // max(1, metadata.num_rows))


_READERS: Final[
    Mapping[
        str,
        Callable[
            [FileSource, Sequence[str] | None, Progress | None, Rejected | None], Iterator[Record]
        ],
    ]
] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".jsonl": _read_json,
    ".ndjson": _read_json,
    ".parquet": _read_parquet,
}
