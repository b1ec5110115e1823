"""The page that puts the rows of a file into a Tablestore table.

The file is read whole before the first row is written, by the readers of `widerow import`; a file
with a line that cannot be read changes nothing. The rows are then put as BatchWriteRow does.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from widerow.auth.keyring import Permission
from widerow.client.tables import TableFacts
from widerow.console.forms import COLUMN_TYPE_NAMES
from widerow.console.parts import (
    ConsoleRefused,
    Moved,
    PageDocument,
    Upload,
    Visit,
    address,
    not_permitted,
)
from widerow.console.places import asked_table, the_table
from widerow.console.refusals import refusal_of, with_refusal
from widerow.limits import (
    BATCH_WRITE_BYTES_MAX,
    BATCH_WRITE_ROWS_MAX,
    CONSOLE_IMPORT_BYTES_MAX,
    CONSOLE_IMPORT_ERRORS_MAX,
    CONSOLE_IMPORT_ROWS_MAX,
)
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.tablestore.row import (
    CellChange,
    CellOperation,
    Modification,
    PrimaryKey,
    RowChange,
)
from widerow.model.tablestore.schema import Table
from widerow.model.values import value_bytes
from widerow.row_files.source import UTF_8, FileSource
from widerow.rows.cells import cell_body
from widerow.rows.plain_values import Row
from widerow.transfer.columns import kinds_of
from widerow.transfer.layout import Reading, row_of_record

__all__ = ["show_import"]

_ENCODINGS: Final = (UTF_8, "cp1252", "latin-1", "gb18030")
_SUFFIXES: Final = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
_ANY_ROW: Final = Condition(RowExpectation.IGNORE)
_BATCH_BYTES: Final = BATCH_WRITE_BYTES_MAX // 2


def show_import(visit: Visit) -> PageDocument | Moved:
    """The form for a file, or the import of one. Needs the permission to write."""
    if not visit.may(Permission.WRITE):
        raise not_permitted(Permission.WRITE)
    name = asked_table(visit)
    table = the_table(visit, name)
    document: PageDocument = {
        "instance": name.instance,
        "table": name.name,
        "model": name.model,
        "key": [each.name for each in table.key_columns],
        "encodings": list(_ENCODINGS),
        "suffixes": list(_SUFFIXES),
        "bytes_max": CONSOLE_IMPORT_BYTES_MAX,
        "rows_max": CONSOLE_IMPORT_ROWS_MAX,
        "wrong": [],
    }
    if visit.form is None:
        return document
    form, told = visit.form, {}
    shown = with_refusal(document, lambda: told.update(_imported(visit, table, form)) or told)
    if "refusal" in shown or shown["wrong"]:
        return shown
    place = {"instance": name.instance, "table": name.name}
    return Moved(address("rows", **place, imported=told["rows"], repeated=told["repeated"] or ""))


def _imported(visit: Visit, table: Table, form: Mapping[str, str]) -> PageDocument:
    """Write the rows of the file; how many they are, or what is wrong with it."""
    upload = visit.upload
    if upload is None or not upload.name:
        raise ConsoleRefused(400, "No file was chosen.", "Choose one, or drop it on the page.")
    if Path(upload.name).suffix.lower() not in _SUFFIXES:
        known = ", ".join(_SUFFIXES)
        raise ConsoleRefused(400, f"{upload.name[:80]} has no known form.", f"Known are {known}.")
    if len(upload.data) > CONSOLE_IMPORT_BYTES_MAX:
        size = CONSOLE_IMPORT_BYTES_MAX // 1024**2
        raise ConsoleRefused(
            413, f"The file is larger than {size} MiB.", _in_a_shell(upload, table)
        )
    encoding = form.get("encoding", UTF_8)
    if encoding not in _ENCODINGS:
        raise ConsoleRefused(400, f"There is no encoding {encoding[:40]!r}.", "Choose one.")
    rows, read, wrong = _read(visit, table, upload, encoding)
    if wrong:
        told = ConsoleRefused(400, "Nothing was imported.", "Mend these lines and send it again.")
        return {"wrong": wrong, "refusal": refusal_of(told)[1]}
    for batch in _batches(table.name, rows.values()):
        request = BatchWrite((TableWrite(table.name, tuple(batch)),))
        plan = visit.parts.tablestore.rows.batch_write_row(table.instance, request)
        for outcome in visit.parts.committer.run(plan)[0]:
            if outcome.error is not None:
                raise outcome.error
    return {"rows": len(rows), "repeated": read - len(rows)}


def _in_a_shell(upload: Upload, table: Table) -> str:
    return f"Run: widerow import {upload.name} {table.name} --instance {table.instance}"


def _read(
    visit: Visit, table: Table, upload: Upload, encoding: str
) -> tuple[dict[Any, Row], int, list[PageDocument]]:
    """The rows of the file by key, of one key the last; how many were read; unreadable lines."""
    wrong: list[PageDocument] = []

    def rejected(line: int, words: str, _found: object) -> None:
        if len(wrong) < CONSOLE_IMPORT_ERRORS_MAX:
            wrong.append({"line": line, "words": words.replace("give --encoding", "choose")})

    facts = _facts(table)
    found: dict[Any, Row] = {}
    read = 0
    with TemporaryDirectory(prefix="widerow-console-") as folder:
        path = Path(folder) / f"file{Path(upload.name).suffix.lower()}"
        path.write_bytes(upload.data)
        source = FileSource(path, encoding)
        kinds = kinds_of(source, facts, {})
        now_ms = visit.parts.engine_clock.now_us() // 1000
        reading = Reading(facts.key, kinds, now_ms, texts=not source.typed)
        for record in source.records(rejected=rejected):
            read += 1
            if read > CONSOLE_IMPORT_ROWS_MAX:
                words = f"The file has more than {CONSOLE_IMPORT_ROWS_MAX:,} rows."
                raise ConsoleRefused(413, words, _in_a_shell(upload, table))
            try:
                row = row_of_record(record.fields, reading)
            except ValueError as error:
                rejected(record.place, str(error), None)
                continue
            found.pop(row.key, None)
            found[row.key] = row
    return found, read, wrong


def _facts(table: Table) -> TableFacts:
    if any(column.auto_increment for column in table.key_columns):
        raise ConsoleRefused(
            400,
            "The server makes values of this table's key, so a file cannot name its rows.",
            "Add rows one by one, or import into a table whose key you give.",
        )
    return TableFacts(
        table.name,
        table.key_columns,
        {each.name: COLUMN_TYPE_NAMES[each.type] for each in table.defined_columns},
        table.options.max_versions,
        table.options.max_version_offset,
        table.created_us,
    )


def _batches(table: str, rows: Any) -> Iterator[list[RowChange]]:  # noqa: ANN401  # of `_read`
    """Puts of the rows, as many at once as a BatchWriteRow may have."""
    batch: list[RowChange] = []
    size = 0
    for row in rows:
        change = _put(table, row)
        weight = sum(cell.size for cell in change.cells)
        if batch and (len(batch) == BATCH_WRITE_ROWS_MAX or size + weight > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(change)
        size += weight
    if batch:
        yield batch


def _put(table: str, row: Row) -> RowChange:
    cells = []
    for name, version, value in row.cells:
        body, crc = cell_body(name, value)
        size = len(name.encode()) + value_bytes(value)
        cells.append(CellChange(CellOperation.PUT, name, version, size, body, crc))
    return RowChange(table, Modification.PUT, PrimaryKey(row.key), tuple(cells), _ANY_ROW)
