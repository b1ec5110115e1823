"""Rows with their key columns spliced into one, or taken apart again, written as a file."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Final

from widerow.keydesign.key import KeyDesign, KeyDesignInvalid, KeyRefused
from widerow.keydesign.sample import key_values
from widerow.row_files.source import FileInvalid, Progress, Source
from widerow.row_files.spreadsheet import as_cell
from widerow.text_lines import CsvLines

__all__ = ["OUTPUTS", "disarmed", "parse_column", "splice_columns", "write_records"]

_BATCH_ROWS: Final = 8_192  # of a Parquet file
OUTPUTS: Final = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
"""Suffixes that can be written."""

Fields = Mapping[str, Any]


def splice_columns(
    source: Source, design: KeyDesign, name: str, progress: Progress | None = None
) -> Iterator[Fields]:
    """Every row with its key first, in place of the columns of the key.

    Raises: `FileInvalid`, naming the line, for a row that the design has no key for;
    `KeyDesignInvalid` if a column that stays is called `name`.
    """
    types = {part.column: part.kind for part in design.parts}
    for record in source.records(None, progress):
        rest = {key: value for key, value in record.fields.items() if key not in types}
        if name in rest:
            raise KeyDesignInvalid(f"{source.name} has a column {name} already; give --name")
        try:
            values = key_values(record.fields, types)
            yield {name: design.build(values), **rest}
        except (KeyRefused, ValueError) as error:
            raise _at(source, record.place, error) from error


def parse_column(
    source: Source, design: KeyDesign, name: str, progress: Progress | None = None
) -> Iterator[Fields]:
    """Every row with the columns of its key in place of the key.

    Raises: `FileInvalid`, naming the line, for a key that is not of this design.
    """
    for record in source.records(None, progress):
        if name not in record.fields:
            has = ", ".join(record.fields)
            raise _at(source, record.place, f"no column {name}; it has {has}")
        key = record.fields[name]
        rest = {column: value for column, value in record.fields.items() if column != name}
        try:
            values = design.parse(_text(name, key))
            yield {**dict(zip(design.columns, values, strict=True)), **rest}
        except KeyRefused as error:
            raise _at(source, record.place, error) from error


def disarmed(records: Iterable[Fields]) -> Iterator[Fields]:
    """The rows with an apostrophe before texts that a spreadsheet would compute.

    Such texts begin with = + - @, a tab or a carriage return. Keys with an apostrophe cannot be
    parsed.
    """
    for fields in records:
        yield {
            name: as_cell(value) if isinstance(value, str) else value
            for name, value in fields.items()
        }


def _text(name: str, key: object) -> str:
    if isinstance(key, str):
        return key
    raise KeyRefused(f"{name} is not a text: {key!r}")


def _at(source: Source, place: int, what: object) -> FileInvalid:
    return FileInvalid(f"{source.name}, {source.place} {place}: {what}")


def write_records(records: Iterable[Fields], output: Path | None, stdout: IO[str]) -> int:
    """Write rows to a file in the format that its suffix names, or as CSV to `stdout`; how many.

    The file gets its name when it is whole. CSV cells are written as they are: use `disarmed` for
    spreadsheets. Raises: `FileInvalid`.
    """
    if output is None:
        return _write_csv(records, stdout, ",")
    suffix = output.suffix.lower()
    if suffix not in OUTPUTS:
        raise FileInvalid(f"{output}: name the file by its format, one of {', '.join(OUTPUTS)}")
    with _whole(output) as unfinished:
        if suffix == ".parquet":
            return _write_parquet(records, unfinished)
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            if suffix in {".csv", ".tsv"}:
                return _write_csv(records, file, "\t" if suffix == ".tsv" else ",")
            return _write_json(records, file)


@contextmanager
def _whole(output: Path) -> Iterator[Path]:
    """A file beside `output` that is renamed to it at the end, or removed after an error."""
    unfinished = output.with_name(f".{output.name}.unfinished")
    try:
        yield unfinished
        unfinished.replace(output)
    except OSError as error:
        raise FileInvalid(f"cannot write {output}: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _write_csv(records: Iterable[Fields], file: IO[str], delimiter: str) -> int:
    writer = csv.writer(CsvLines(file.write), delimiter=delimiter)
    header: Sequence[str] = ()
    count = 0
    for count, fields in enumerate(records, 1):
        if count == 1:
            header = [*fields]
            writer.writerow(header)
        if [*fields] != header:
            raise FileInvalid(
                f"row {count} has other columns than the first; write JSON lines instead"
            )
        writer.writerow(fields.values())
    return count


def _write_json(records: Iterable[Fields], file: IO[str]) -> int:
    count = 0
    for fields in records:
        file.write(json.dumps(fields, ensure_ascii=False) + "\n")
        count += 1
    return count


def _write_parquet(records: Iterable[Fields], path: Path) -> int:
    try:
        import pyarrow as pa  # noqa: PLC0415  # an extra
        from pyarrow import parquet  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise FileInvalid("Parquet needs pyarrow: pip install pyarrow") from error
    rows, count = iter(records), 0
    first = list(islice(rows, _BATCH_ROWS))
    table = pa.Table.from_pylist(first)
    with parquet.ParquetWriter(path, table.schema) as writer:
        for batch in chain([first], iter(lambda: list(islice(rows, _BATCH_ROWS)), [])):
            count += len(batch)
            writer.write_table(pa.Table.from_pylist(batch, schema=table.schema))
    return count
