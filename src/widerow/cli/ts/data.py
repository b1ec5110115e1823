"""Commands on rows: put, get, update, del, scan, export, import (ts-cli)."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from widerow.cli.command import CommandFailed
from widerow.cli.flags import listed
from widerow.cli.progress import row_bar
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.cli.tablestore.asking import only_columns, read_file, read_options
from widerow.cli.tablestore.batches import put_batches
from widerow.cli.tablestore.documents import row_grid
from widerow.cli.tablestore.keys import KeyBounds, KeyColumns, json_key, key_range
from widerow.cli.tablestore.words import WordInvalid
from widerow.cli.ts.command import TsCommand, TsUsage, int32_of
from widerow.cli.ts.json_rows import attribute_edits, exported_edits, exported_line, increment_edits
from widerow.cli.ts.session import TsSession
from widerow.client.reading import ReadOptions, fetch_row, scan_pages
from widerow.client.rows import CellEdit
from widerow.client.tables import TableFacts
from widerow.client.writing import WriteIf, delete_one_row, put_one_row, update_one_row
from widerow.model.tablestore.condition import RowExpectation
from widerow.model.tablestore.row import CellOperation
from widerow.rows.plain_values import Row
from widerow.text_lines import text_lines

__all__ = ["DELETE_ROW", "EXPORT_ROWS", "GET_ROW", "IMPORT_ROWS", "PUT_ROW", "SCAN", "UPDATE_ROW"]

_TABLE: Final = ShellFlag("--table", "TABLE", "the table, if not the one in use", short="-t")
_KEY: Final = ShellFlag(
    "--pk", "JSON", 'the key by position: ["86",6771]', required=True, short="-k"
)
_KEY_OR_INPUT: Final = ShellFlag("--pk", "JSON", 'the key by position: ["86",6771]', short="-k")
_ATTRIBUTES: Final = ShellFlag(
    "--attr",
    "JSON",
    '[{"c":"name","v":"x"},{"c":"n","v":1,"isint":true,"ts":1626860801604}]',
    short="-a",
)
_CONDITION: Final = ShellFlag("--condition", "ignore|exist|not_exist", "whether the row is there")
_INPUT: Final = ShellFlag("--input", "FILE", "a file with the row, as export writes it", short="-i")
_COLUMNS: Final = ShellFlag("--columns", "A,B", "only these columns", short="-c")
_VERSIONS: Final = ShellFlag("--max_version", "N", "versions of each column; 1 if not given")
_TIMES: Final = ShellFlag("--time_range", "A..B", "versions from A on and before B")
_FILTER: Final = ShellFlag("--where", "CONDITION", "a filter: \"age >= 18 and city = 'x'\"")
_OUTPUT: Final = ShellFlag("--output", "FILE", "write to a file, as export does", short="-o")
_EXPECTED: Final = {
    "ignore": RowExpectation.IGNORE,
    "exist": RowExpectation.EXPECT_EXIST,
    "not_exist": RowExpectation.EXPECT_NOT_EXIST,
}
_SCAN_ROWS: Final = 100


def _condition(given: Arguments) -> WriteIf:
    word = given.get("--condition") or "ignore"
    expected = _EXPECTED.get(word.lower())
    if expected is None:
        raise TsUsage(f"--condition {word}: it is one of {', '.join(_EXPECTED)}")
    return WriteIf(expected)


def _row(given: Arguments, table: TableFacts) -> tuple[KeyColumns, list[CellEdit]]:
    """The row that `--pk --attr` or `--input` give."""
    if given.has("--input"):
        if given.has("--pk") or given.has("--attr"):
            raise TsUsage("--input brings the row; leave out --pk and --attr")
        return exported_edits(_text(given, "--input"), table, ignore_versions=False)
    if not given.has("--pk"):
        raise TsUsage("give the key with --pk, or the row with --input")
    key = json_key(given.get("--pk") or "", table)
    return key, attribute_edits(given.get("--attr") or "[]")


def _text(given: Arguments, key: str) -> str:
    try:
        return read_file(given.get(key) or "").decode()
    except UnicodeDecodeError as error:
        raise WordInvalid(f"{given.get(key)} is not UTF-8: {error}") from error


def _put(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table"))
    key, edits = _row(given, table)
    made = put_one_row(session.client, table.name, key, edits, _condition(given))
    session.saw(table.name, {each.column for each in edits})
    if made is not None:
        session.write(f"Key: {json.dumps([value for _, value in made.key], default=bytes.hex)}")
    session.write("Success.")


def _update(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table"))
    key, edits = _row(given, table)
    edits += increment_edits(given.get("--increment") or "[]")
    for name in listed(given.get("--delete")):
        edits.append(CellEdit(name, None, None, CellOperation.DELETE_ALL_VERSIONS))
    if not edits:
        raise TsUsage("nothing to change: give --attr, --increment or --delete")
    made = update_one_row(session.client, table.name, key, edits, _condition(given))
    session.saw(table.name, {each.column for each in edits})
    if made is not None:
        _show(session, [made], table)
    session.write("Success.")


def _delete(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table"))
    key = json_key(given.get("--pk") or "", table)
    delete_one_row(session.client, table.name, key, _condition(given))
    session.write("Success.")


def _read(given: Arguments, table: TableFacts) -> ReadOptions:
    return read_options(
        {
            "columns": given.get("--columns"),
            "where": given.get("--where"),
            "max_versions": given.get("--max_version"),
            "time_range": given.get("--time_range"),
        },
        table,
    )


def _get(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table"))
    key = json_key(given.get("--pk") or "", table)
    row = fetch_row(session.client, table.name, key, _read(given, table))
    rows = [] if row is None else only_columns([row], listed(given.get("--columns")))
    if given.has("--output"):
        _write_rows(session, rows, given)
    else:
        _show(session, rows, table)


def _scan(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table"))
    limit = int32_of(given, "--limit")
    if limit is not None and limit < 0:
        raise TsUsage("--limit is 1 or more, or 0 for all rows")
    if limit is None and not given.has("--output"):
        limit = _SCAN_ROWS
    begin, end = given.get("--begin") or "", given.get("--end") or ""
    bounds = KeyBounds("", begin, end, given.has("--backward"))
    asked = key_range(bounds, table, read_file)
    pages = scan_pages(session.client, table.name, asked, _read(given, table), limit or None)
    wanted = listed(given.get("--columns"))
    if given.has("--output"):
        rows = (row for page in pages for row in only_columns(page.rows, wanted))
        _write_rows(session, rows, given)
        return
    found = list(pages)
    _show(session, [row for page in found for row in only_columns(page.rows, wanted)], table)
    if found[-1].next_key:
        session.write("There are more rows: --limit 0 shows all.")


def _show(session: TsSession, rows: list[Row], table: TableFacts) -> None:
    if not rows:
        session.write("No row.")
        return
    session.saw(table.name, {cell.column for row in rows for cell in row.cells})
    grid = row_grid(rows, [column.name for column in table.key])
    session.show(grid)


@contextmanager
def _new_file(name: str) -> Iterator[IO[str]]:
    try:
        with Path(name).open("w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise CommandFailed(f"{name} cannot be written: {error.strerror or error}") from error


def _write_rows(session: TsSession, rows: Iterable[Row], given: Arguments) -> None:
    name = given.get("--output") or ""
    count = 0
    with _new_file(name) as file, row_bar(f"writing {name}") as bar:
        for count, row in enumerate(rows, 1):
            file.write(f"{exported_line(row)}\n")
            bar(0, count)
    session.write(f"{count:,} row{'' if count == 1 else 's'} written to {name}.")


def _export(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table"))
    asked = key_range(KeyBounds(), table, read_file)
    wanted = listed(given.get("--columns"))
    pages = scan_pages(session.client, table.name, asked, _read(given, table))
    rows = (row for page in pages for row in only_columns(page.rows, wanted))
    _write_rows(session, rows, given)


def _import(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table"))
    ignore = given.has("--ignore_ts")
    lines = text_lines(_text(given, "--input"))
    done = put_batches(
        session.client,
        table,
        iter(lines),
        lambda text: exported_edits(text, table, ignore_versions=ignore),
        WriteIf(),
    )
    session.write(f"{done.stored:,} row{'' if done.stored == 1 else 's'} imported.")
    if done.refused:
        raise CommandFailed(f"{done.refused:,} rows were refused")


PUT_ROW: Final = TsCommand(
    name="put",
    description="Puts a row, in place of any that has its key.",
    run=_put,
    flags=(_KEY_OR_INPUT, _ATTRIBUTES, _CONDITION, _INPUT, _TABLE),
    example="""put --pk '["86",6771]' --attr '[{"c":"age","v":32,"isint":true}]'""",
)
GET_ROW: Final = TsCommand(
    name="get",
    description="Shows a row.",
    run=_get,
    flags=(_KEY, _OUTPUT, _COLUMNS, _VERSIONS, _TIMES, _FILTER, _TABLE),
    example="""get --pk '["86",6771]'""",
)
UPDATE_ROW: Final = TsCommand(
    name="update",
    description="Changes columns of a row and leaves the others.",
    run=_update,
    flags=(
        _KEY_OR_INPUT,
        _ATTRIBUTES,
        ShellFlag("--increment", "JSON", 'adds: [{"c":"n","v":1}]'),
        ShellFlag("--delete", "A,B", "deletes columns"),
        _CONDITION,
        _INPUT,
        _TABLE,
    ),
    example="""update --pk '["86",6771]' --attr '[{"c":"city","v":"x"}]' --condition exist""",
)
DELETE_ROW: Final = TsCommand(
    name="del",
    description="Deletes a row.",
    run=_delete,
    flags=(_KEY, _CONDITION, _TABLE),
    aliases=("delete",),
    example="""del --pk '["86",6771]'""",
)
SCAN: Final = TsCommand(
    name="scan",
    description="Shows rows in the order of their keys; 100 if no limit is given.",
    run=_scan,
    flags=(
        ShellFlag("--begin", "KEY", 'where to begin, itself included: ["86"] or 86'),
        ShellFlag("--end", "KEY", "where to end, itself not included"),
        ShellFlag("--limit", "N", "rows at most; 0 for all"),
        ShellFlag("--backward", "", "from the greatest key to the smallest"),
        _OUTPUT,
        _COLUMNS,
        _VERSIONS,
        _TIMES,
        _FILTER,
        _TABLE,
    ),
    example="""scan --begin '["86"]' --limit 10""",
)
EXPORT_ROWS: Final = TsCommand(
    name="export",
    description=(
        "Writes every row to a file, a JSON document on each line, one version of each column."
    ),
    run=_export,
    flags=(ShellFlag("--output", "FILE", "the file", required=True, short="-o"), _COLUMNS, _TABLE),
    example="export -o rows.jsonl -c name,age",
)
IMPORT_ROWS: Final = TsCommand(
    name="import",
    description="Puts the rows of a file that export has written.",
    run=_import,
    flags=(
        ShellFlag("--input", "FILE", "the file", required=True, short="-i"),
        ShellFlag("--ignore_ts", "", "with versions of now, not those of the file"),
        _TABLE,
    ),
    example="import -i rows.jsonl",
)
