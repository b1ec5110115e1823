"""Files of rows, written so that they are there whole or not at all (docs/formats/export.md)."""

import csv
import json
import os
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, Protocol

from widerow.client.tables import TableFacts
from widerow.model.values import KeyType, Value
from widerow.rows.plain_values import Row
from widerow.storage.directory import sync_directory
from widerow.transfer.csv_columns import ColumnForm, CsvColumns
from widerow.transfer.failures import TransferFailed
from widerow.transfer.layout import CELLS, json_cells, json_value, parquet_cell

__all__ = ["BY_SUFFIX", "FileForm", "RowWriter", "new_file", "parquet_facts"]

_GROUP_ROWS: Final = 8192  # the rows of Parquet that are held before they are written
_GROUP_BYTES: Final = 32 * 1024 * 1024


class RowWriter(Protocol):
    """Writes rows; `finish` writes those still held, and `facts` where the format has a place."""

    def write(self, row: Row, size: int) -> None:
        """Write a row of `size` encoded bytes."""
        ...

    def finish(self, facts: Mapping[str, str]) -> None:
        """The last call. The file is not synced by it."""
        ...


class _CsvRows:
    def __init__(self, file: IO[bytes], table: TableFacts) -> None:
        # All texts are quoted, so that a line break of any kind is read back as it was.
        self._rows = csv.writer(_Encoded(file), quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        self._rows.writerow([*(column.name for column in table.key), CELLS])

    def write(self, row: Row, size: int) -> None:
        del size
        key = [
            b64encode(value).decode() if isinstance(value, bytes) else value for _, value in row.key
        ]
        self._rows.writerow([*key, _json(json_cells(row.cells))])

    def finish(self, facts: Mapping[str, str]) -> None:
        del facts


class _Encoded:
    """The text file that `csv` needs, over a binary one."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(text.encode())


class _JsonRows:
    def __init__(self, file: IO[bytes], table: TableFacts) -> None:
        del table
        self._file = file

    def write(self, row: Row, size: int) -> None:
        del size
        record: dict[str, Any] = {name: json_value(value) for name, value in row.key}
        record[CELLS] = json_cells(row.cells)
        self._file.write(_json(record).encode() + b"\n")

    def finish(self, facts: Mapping[str, str]) -> None:
        del facts


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class _ParquetRows:
    def __init__(self, file: IO[bytes], table: TableFacts) -> None:
        self._arrow, parquet = _libraries()
        arrow = self._arrow
        kinds = {
            KeyType.INTEGER: arrow.int64(),
            KeyType.STRING: arrow.string(),
            KeyType.BINARY: arrow.binary(),
        }
        cell = arrow.struct(
            [
                ("column", arrow.string()),
                ("version", arrow.int64()),
                ("integer", arrow.int64()),
                ("double", arrow.float64()),
                ("boolean", arrow.bool_()),
                ("string", arrow.string()),
                ("binary", arrow.binary()),
            ]
        )
        columns = [(column.name, kinds[column.type]) for column in table.key]
        self._schema = arrow.schema([*columns, (CELLS, arrow.list_(cell))])
        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []
        self._bytes = 0

    def write(self, row: Row, size: int) -> None:
        record: dict[str, Value | list[dict[str, Any]]] = dict(row.key)
        record[CELLS] = [parquet_cell(cell) for cell in row.cells]
        self._rows.append(record)
        self._bytes += size
        if len(self._rows) == _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._flush()

    def finish(self, facts: Mapping[str, str]) -> None:
        self._flush()
        self._writer.add_key_value_metadata({f"widerow.{name}": facts[name] for name in facts})
        self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(self._arrow.Table.from_pylist(self._rows, self._schema))
        self._rows.clear()
        self._bytes = 0


def _libraries() -> tuple[Any, Any]:
    try:
        import pyarrow as pa  # noqa: PLC0415  # an extra
        from pyarrow import parquet  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise TransferFailed("Parquet needs pyarrow: pip install pyarrow") from error
    return pa, parquet


def parquet_facts(path: Path) -> dict[str, str]:
    """The `facts` that `finish` wrote into a Parquet file. Raises: `TransferFailed`."""
    arrow, parquet = _libraries()
    try:
        found = parquet.read_metadata(path).metadata or {}
    except (OSError, arrow.ArrowInvalid) as error:
        raise TransferFailed(f"{path} cannot be read as Parquet: {error}") from error
    return {
        name.decode().removeprefix("widerow."): value.decode()
        for name, value in found.items()
        if name.startswith(b"widerow.")
    }


Make = Callable[[IO[bytes], TableFacts], RowWriter]
"""Makes the writer of a file."""
_WRITERS: Final[Mapping[str, Make]] = {
    "csv-exact": _CsvRows,
    "jsonl": _JsonRows,
    "parquet": _ParquetRows,
}
_SUFFIXES: Final = {
    ".csv": "csv-exact",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
COLUMNS: Final = "csv"
"""The form for spreadsheets, which `ColumnForm` describes."""


class FileForm(NamedTuple):
    """The form of a file: `csv` with its options, `csv-exact`, `jsonl`, `parquet`.

    An empty name stands for what the suffix of the file says; `.csv` says `csv-exact`.
    """

    name: str = ""
    columns: ColumnForm = ColumnForm()


BY_SUFFIX: Final = FileForm()
"""The form that the suffix of the file says."""


def _maker(path: Path, form: FileForm) -> Make:
    """What makes the writer of a form. Raises: `TransferFailed`."""
    if form.name == COLUMNS:
        return lambda file, table: CsvColumns(file, table, form.columns)
    if form.columns != ColumnForm():
        raise TransferFailed("--versions, --types and --spreadsheet are for --format csv")
    if form.name and form.name not in _WRITERS:
        known = ", ".join((COLUMNS, *_WRITERS))
        raise TransferFailed(f"--format {form.name}: it is one of {known}")
    name = form.name or _SUFFIXES.get(path.suffix.lower())
    if name is None:
        suffixes = ", ".join(_SUFFIXES)
        raise TransferFailed(f"{path}: end its name with one of {suffixes}, or give --format")
    return _WRITERS[name]


@contextmanager
def new_file(
    path: Path,
    table: TableFacts,
    facts: Callable[[], Mapping[str, str]],
    *,
    overwrite: bool,
    form: FileForm = BY_SUFFIX,
) -> Iterator[RowWriter]:
    """A writer of rows whose file appears, synced and whole, when the block ends well.

    `facts` is asked at the end. Raises: `TransferFailed` for a name that is taken or of no known
    format, and where the directory cannot be written.
    """
    make = _maker(path, form)
    if path.exists() and not overwrite:
        raise TransferFailed(f"{path} exists; give another name or --overwrite")
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("xb") as file:
            writer = make(file, table)
            yield writer
            writer.finish(facts())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        raise TransferFailed(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)
