"""Rows as a file, for a spreadsheet or a program: one record a row, the newest values.

`widerow export` writes versions as well, of any number of rows.
"""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from widerow.console.grid import FILE_FORMS, names_chosen
from widerow.console.parts import ConsoleRefused, Download, Visit
from widerow.console.places import (
    TablePlace,
    asked_table,
    series_engine,
    the_series_table,
    the_table,
)
from widerow.console.points_page import point_record, points_asked
from widerow.console.row_keys import key_from_text
from widerow.console.rows_page import next_key, no_such_row, range_asked, selection_asked
from widerow.console.typed_rows import typed_records
from widerow.limits import (
    CONSOLE_DOWNLOAD_BYTES_MAX,
    CONSOLE_DOWNLOAD_ROWS_MAX,
    CONSOLE_DOWNLOAD_SCANNED_MAX,
    CONSOLE_ROWS_DEFAULT,
    CONSOLE_ROWS_MAX,
    RANGE_ROWS_MAX,
)
from widerow.model.tablestore.requests import GetRange, GetRow
from widerow.model.tablestore.row import PrimaryKey
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.selection import Resume, RowRange, Selection
from widerow.model.values import value_bytes
from widerow.rows.cells import PLAIN_HEADER
from widerow.rows.plain_values import Row, decode_plain_rows
from widerow.transfer.layout import json_value

__all__ = ["as_file", "send_rows", "whole_row"]

_Record = Mapping[str, Any]
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.-]")


def send_rows(visit: Visit) -> Download:
    """The rows of the address as a file.

    Parameters: those of the page of rows, which chooses them; `format`; `all`, every row of the
    range and not only those of the page; `id`, one row. Chosen columns come beside the key's.
    """
    name = asked_table(visit)
    form = visit.asked.get("format", "json")
    if form not in _WRITERS:
        known = ", ".join(FILE_FORMS)
        raise ConsoleRefused(400, f"There is no form {form[:40]!r} of files.", f"Ask for {known}.")
    with visit.parts.long_work():
        records = _records(visit, name)
    return as_file(name.name, form, records, _hint(name))


def as_file(name: str, form: str, records: Sequence[_Record], hint: str) -> Download:
    """Records as a file of a form in `FILE_FORMS`; where they are too many, a refusal with `hint`.

    Raises: `ConsoleRefused`.
    """
    kind, write = _WRITERS[form]
    if len(records) > CONSOLE_DOWNLOAD_ROWS_MAX:
        raise _too_much(hint)
    body = write(records)
    if len(body) > CONSOLE_DOWNLOAD_BYTES_MAX:
        raise _too_much(hint)
    return Download(f"{_UNSAFE.sub('_', name)}.{form}", kind, body)


def _hint(name: TablePlace) -> str:
    if name.model == "timeseries":
        return "Choose a shorter time, or read them with an SDK."
    return f"Narrow the range, or run: widerow export {name.name} --instance {name.instance}"


def _too_much(hint: str) -> ConsoleRefused:
    rows, size = CONSOLE_DOWNLOAD_ROWS_MAX, CONSOLE_DOWNLOAD_BYTES_MAX // 1024**2
    return ConsoleRefused(413, f"These are more than {rows:,} rows or {size} MiB.", hint)


def _records(visit: Visit, name: TablePlace) -> list[_Record]:
    """The records of the file, in the order of the rows."""
    is_page = not visit.asked.get("all")
    limit = visit.number("limit", CONSOLE_ROWS_DEFAULT, CONSOLE_ROWS_MAX)
    most = limit if is_page else CONSOLE_DOWNLOAD_ROWS_MAX
    if name.model == "nosql":
        rows: Iterator[_Record] = typed_records(visit, name)
    elif name.model == "timeseries":
        rows = _points(visit, name)
    else:
        rows = _flat_rows(visit, the_table(visit, name))
    return list(islice(rows, most if is_page else most + 1))


def _points(visit: Visit, name: TablePlace) -> Iterator[_Record]:
    """The points of the address, the newest first."""
    table, chosen = the_series_table(visit, name), set(names_chosen(visit.asked))
    fixed = {"_m_name", "_data_source", "_tags", "_time", *(each.name for each in table.field_keys)}
    query = points_asked(visit, 0)
    size = 0
    while True:
        page = series_engine(visit).read(table, query)
        for point in page.points:
            record = point_record(point, table)
            size += sum(map(value_bytes, record.values()))
            if size > CONSOLE_DOWNLOAD_BYTES_MAX:
                raise _too_much(_hint(name))
            yield {
                field: _written(value)
                for field, value in record.items()
                if not chosen or field in chosen or field in fixed
            }
        if not page.next:
            return
        query = query._replace(after=page.next)


def _flat_rows(visit: Visit, table: Table) -> Iterator[_Record]:
    chosen = set(names_chosen(visit.asked))
    identity = visit.asked.get("id", "")
    asked = key_from_text(table, identity) if identity else range_asked(visit, table, None)
    selection = selection_asked(visit, table, None)
    if isinstance(asked, PrimaryKey):
        rows = whole_row(visit, table, asked, selection)
    else:
        rows = _rows_between(visit, table, asked, selection)
    found = False
    for row in rows:
        found = True
        yield _flat(row, chosen)
    if identity and not found:
        raise no_such_row()


def whole_row(visit: Visit, table: Table, key: PrimaryKey, selection: Selection) -> Iterator[Row]:
    """The row of a key with all columns; a wide one comes in several answers."""
    resume: Resume | None = None
    pieces: list[Row] = []
    while not pieces or resume is not None:
        request = GetRow(table.name, key, selection, resume)
        read = visit.parts.tablestore.rows.get_row(table.instance, request)
        if not read.row:
            break
        pieces += decode_plain_rows(PLAIN_HEADER + read.row)
        resume = read.resume
    return _joined(iter(pieces))


def _rows_between(
    visit: Visit, table: Table, asked: RowRange, selection: Selection
) -> Iterator[Row]:
    """The rows of a range, with all columns."""

    def pieces() -> Iterator[Row]:
        start, size = asked.start, 0
        resume: Resume | None = None
        for _ in range(CONSOLE_DOWNLOAD_SCANNED_MAX // RANGE_ROWS_MAX):
            wanted = GetRange(table.name, asked._replace(start=start), selection, resume)
            page = visit.parts.tablestore.rows.get_range(table.instance, wanted)
            size += len(page.rows)
            if size > CONSOLE_DOWNLOAD_BYTES_MAX:
                raise _too_much(_hint(TablePlace(table.instance, table.name, "tablestore")))
            yield from decode_plain_rows(PLAIN_HEADER + page.rows)
            following, resume = next_key(page), page.resume
            if following is None:
                return
            start = following
        raise _too_much(_hint(TablePlace(table.instance, table.name, "tablestore")))

    return _joined(pieces())


def _joined(pieces: Iterator[Row]) -> Iterator[Row]:
    """Rows of pieces: neighbours with one key are one wide row."""
    held: Row | None = None
    for piece in pieces:
        if held is not None and held.key == piece.key:
            held = held._replace(cells=held.cells + piece.cells)
            continue
        if held is not None:
            yield held
        held = piece
    if held is not None:
        yield held


def _flat(row: Row, chosen: set[str]) -> _Record:
    record = {name: json_value(value) for name, value in row.key}
    for cell in row.cells:  # the newest version first
        if cell.column not in record and (not chosen or cell.column in chosen):
            record[cell.column] = _written(cell.value)
    return record


def _written(value: Any) -> Any:  # noqa: ANN401  # a cell's value, as JSON has it
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return json_value(value)


# --- forms of files -------------------------------------------------------------------------------


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _as_json(records: Sequence[_Record]) -> bytes:
    return _encoded("[" + ",".join(f"\n {_json(each)}" for each in records) + "\n]\n")


def _as_lines(records: Sequence[_Record]) -> bytes:
    return _encoded("".join(f"{_json(each)}\n" for each in records))


def _as_csv(records: Sequence[_Record]) -> bytes:
    """A column for each name, those of the first row first; texts are quoted, empty is no value."""
    names = list(dict.fromkeys(name for each in records for name in each))
    out = io.StringIO()
    rows = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    rows.writerow(names)
    for each in records:
        rows.writerow([_field(each.get(name)) for name in names])
    return _encoded(out.getvalue())


def _field(value: Any) -> Any:  # noqa: ANN401  # a value of JSON
    if isinstance(value, dict) and value.keys() == {"binary"}:
        return value["binary"]
    if isinstance(value, bool | dict | list):
        return _json(value)
    return "" if value is None else value


_WRITERS: Final[Mapping[str, tuple[str, Callable[[Sequence[_Record]], bytes]]]] = {
    "csv": ("text/csv; charset=utf-8", _as_csv),
    "json": ("application/json", _as_json),
    "jsonl": ("application/jsonl; charset=utf-8", _as_lines),
}
