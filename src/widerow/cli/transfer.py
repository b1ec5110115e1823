"""`widerow export`, `widerow import` and `widerow archive`, and what they say at their end."""

import shlex
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, CommandFailed, Flag, Given, command, switch
from widerow.cli.connection import endpoint_of
from widerow.cli.flags import ENCODING, listed, server_flags
from widerow.cli.import_points import POINT_FLAGS, asks_for_points, run_point_import
from widerow.cli.names import TABLE_NAME
from widerow.cli.progress import row_bar
from widerow.client.connection import Client
from widerow.client.tables import find_table
from widerow.transfer import archive
from widerow.transfer.columns import parse_kinds
from widerow.transfer.csv_columns import ColumnForm
from widerow.transfer.export import ColumnsFound, export_table
from widerow.transfer.files import FileForm
from widerow.transfer.importing import Import, import_file
from widerow.transfer.load import ImportOptions, Loaded

__all__ = ["ARCHIVE", "EXPORT", "IMPORT"]

_INTERRUPTED: Final = 130  # what shells say of a command that was ended with Ctrl-C


def _export(table: str, given: Given) -> int:
    """`widerow export`; its exit code. Raises: `WiderowError`."""
    path = Path(given["output"])
    options = {name: given[name] for name in ColumnForm._fields}
    form = FileForm(given["format"] or "", ColumnForm(**options))
    endpoint = endpoint_of(given)
    facts = find_table(endpoint, table)
    with Client(endpoint) as client, row_bar(f"exporting {table}") as bar:
        found = export_table(
            client, facts, path, lambda rows: bar(0, rows), overwrite=given["overwrite"], form=form
        )
    document = {"table": table, "file": str(path), **found.document()}
    words = f"{_count(found.rows, 'row')}, {_count(found.cells, 'cell')} of {table} are in {path}\n"
    if found.columns is None:
        words += f"checksum {found.sha256}"
    else:
        words = f"{_count(found.rows, 'row')} of {table} are in {path}\n{_types(found.columns)}"
        _warn_of_formulas(found.columns, given)
    _say(given, document, words)
    return 0


def _types(found: ColumnsFound) -> str:
    """The flag with which an import of the file gives values their types back."""
    known = [f"{name}:{kinds[0]}" for name, kinds in found.types.items() if len(kinds) == 1]
    return f"to read it back: --types {shlex.quote(','.join(known))}"


def _warn_of_formulas(found: ColumnsFound, given: Given) -> None:
    if found.formulas and not given["spreadsheet"]:
        texts = f"{_count(found.formulas, 'text')} {'begins' if found.formulas == 1 else 'begin'}"
        sys.stderr.write(
            f"widerow: warning: {texts} as formulas do, and spreadsheets compute them: "
            "--spreadsheet keeps them texts\n"
        )


def _import(table: str, given: Given) -> int:
    """`widerow import`; its exit code. Raises: `WiderowError`."""
    if asks_for_points(given):
        return _import_points(table, given)
    names = ("workers", "window", "rate", "in_order", "max_rejected")
    wish = Import(
        Path(given["input"]),
        table,
        parse_kinds(listed(given["types"])),
        create=given["create"],
        key=listed(given["key"]),
        load=ImportOptions(**{name: given[name] for name in names}),
        encoding=given["encoding"],
        spreadsheet=given["spreadsheet"],
    )
    source = wish.source
    total = source.total
    try:
        with row_bar(f"importing {wish.path.name}", total) as bar:
            done = import_file(
                endpoint_of(given),
                wish,
                lambda step: bar(step.behind, step.rows, step.rejected),
                lambda behind: bar(behind, 0),
            )
    except KeyboardInterrupt:
        sys.stderr.write("widerow: stopped; run the same command again to go on\n")
        return _INTERRUPTED
    document = {"table": table, "file": str(wish.path), **done.document()}
    be = "is" if done.rows == 1 else "are"
    words = f"{_count(done.rows, 'row')} of {wish.path} {be} in {table}"
    if done.resumed_rows:
        words += f", and {done.resumed_rows:,} that were stored before"
    words += f"; {done.seconds:.1f} s, {document['rows_per_second']:,} rows/s"
    if done.rejected:
        words += f"\n{_rows_were(done.rejected)} rejected; see {wish.rejected}"
        words += f"\nthe first: {source.place} {done.first_rejected}"
        document["rejected_file"] = str(wish.rejected)
    _say(given, document, words)
    if done.replaced:
        _warn_of_repeats(source.place, done)
    return 1 if done.rejected else 0


def _import_points(table: str, given: Given) -> int:
    """`widerow import` into a timeseries table; as `_import`."""
    wish, done = run_point_import(table, given)
    document = {"table": table, "file": str(wish.path), **done.document()}
    words = f"{_count(done.points, 'point')} of {wish.path} {'is' if done.points == 1 else 'are'}"
    words += f" in {table}; {done.seconds:.1f} s, {document['points_per_second']:,} points/s"
    if done.rejected:
        words += f"\n{done.rejected:,} rejected; see {wish.rejected}"
        words += f"\nthe first: line {done.first_rejected}"
        document["rejected_file"] = str(wish.rejected)
    _say(given, document, words)
    return 1 if done.rejected else 0


def _warn_of_repeats(place: str, done: Loaded) -> None:
    words = (
        f"widerow: warning: {_rows_were(done.replaced)} replaced by a later row with the same key"
    )
    if done.repeats.first:
        words += " (first: {0} {1}, by {0} {2})".format(place, *done.repeats.first)
    sys.stderr.write(f"{words}; of such rows the last in the file counts\n")


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def _rows_were(number: int) -> str:
    return f"{_count(number, 'row')} {'was' if number == 1 else 'were'}"


def _archive(table: str, given: Given) -> int:
    """`widerow archive`; its exit code. Raises: `WiderowError`."""
    cold = archive.Cold(_moment(given["before"]), given["column"])
    path = Path(given["output"] or f"{table}-{given['before'].replace(':', '')}.parquet")
    document: dict[str, Any] = {"table": table, "file": str(path), "before": given["before"]}
    quiet = given["as_json"]
    endpoint = endpoint_of(given)
    facts = find_table(endpoint, table)
    with Client(endpoint) as client:
        document["written"] = not path.exists()
        if document["written"]:
            with row_bar(f"archiving {table}") as bar:
                archive.archive_rows(client, facts, cold, path, lambda rows: bar(0, rows))
        with row_bar(f"verifying {path.name}") as bar:
            found = archive.verify_archive(facts, cold, path, lambda rows: bar(0, rows))
        document |= found.document()
        _note(
            f"{path} holds {_count(found.rows, 'row')}; read back, its checksum is that of the "
            f"rows exported\n{found.sha256}",
            quiet=quiet,
        )
        if not _wanted(given, found.rows, table):
            _note("Nothing was deleted; run the command again with --delete.", quiet=quiet)
            _say(given, document, "")
            return 0
        with row_bar(f"deleting from {table}") as bar:
            gone = archive.delete_archived(client, facts, path, lambda rows: bar(0, rows))
    document |= {"deleted": gone.deleted, "changed": gone.changed, "gone": gone.gone}
    words = f"{_rows_were(gone.deleted)} deleted"
    if gone.changed:
        words += f"; {_rows_were(gone.changed)} changed after the export and not deleted"
    if gone.gone:
        words += f"; {_rows_were(gone.gone)} not there any more"
    _say(given, document, words)
    return 1 if gone.changed else 0


def _moment(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise CommandFailed(f"--before {text}: write 2025-01-01 or 2025-01-01T12:00") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _wanted(given: Given, rows: int, table: str) -> bool:
    """Whether to delete: by the flag, or asked for where somebody can answer."""
    if given["delete"]:
        return True
    if given["as_json"] or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return click.confirm(f"Delete {_count(rows, 'row')} from {table}?", err=True)


def _note(words: str, *, quiet: bool) -> None:
    if not quiet:
        sys.stdout.write(words + "\n")


def _say(given: Given, document: Mapping[str, Any], words: str) -> None:
    tell(given, document, lambda: sys.stdout.write(f"{words}\n" if words else ""))


_WHERE: Final = server_flags("The server; any that speaks Tablestore.")
EXPORT: Final = command(
    _export,
    TABLE_NAME,
    Flag("output", "File to write: .csv .jsonl or .parquet.", "FILE", required=True),
    Flag(
        "format",
        "csv: columns for a spreadsheet, with their newest values. csv-exact, jsonl, parquet: all "
        "versions and types. If not given by the name of the file, where .csv is csv-exact.",
        "FORMAT",
    ),
    switch("versions", "With --format csv: a line for each version of a row."),
    switch("types", "With --format csv: headings NAME:TYPE, a column for each type."),
    switch(
        "spreadsheet",
        "With --format csv: a byte order mark, and an apostrophe before texts that a spreadsheet "
        "would compute.",
    ),
    switch("overwrite", "Replace the file if it is there."),
    *_WHERE,
    JSON_OUTPUT,
    examples="""
`widerow export purchases --output purchases.parquet`
`widerow export purchases --output purchases.csv --format csv --spreadsheet` — for people
`widerow export purchases --output purchases.jsonl --endpoint http://db:8087 --instance shop`
Exit codes: 0 done, 2 it failed, and there is no file.
""",
)
IMPORT: Final = command(
    _import,
    TABLE_NAME,
    Flag(
        "input",
        "Rows to load: .csv .tsv .jsonl or .parquet; .lp is InfluxDB's line protocol.",
        "FILE",
        required=True,
    ),
    ENCODING,
    *POINT_FLAGS,
    Flag(
        "types",
        "Types of columns: integer double boolean string binary. Else those of defined columns, "
        "and in CSV what the first 10,000 rows look like.",
        "A:TYPE,B:TYPE",
    ),
    switch("spreadsheet", "Take apostrophes of `export --spreadsheet` away."),
    switch("create", "Make the table if it is not there."),
    Flag("key", "Key columns of that table, in order; an export has them.", "A,B"),
    Flag("workers", "Connections that send at one time.", "NUMBER", int, 4),
    Flag("rate", "Rows a second at most; 0 for as many as possible.", "NUMBER", float, 0.0),
    Flag(
        "window",
        "Rows that are read before they are spread over the keys and sent.",
        "NUMBER",
        int,
        50_000,
    ),
    switch("in_order", "Send the rows in the order of the file, on one connection."),
    Flag(
        "max_rejected",
        "Stop when more rows than these are bad; they are put aside in FILE.rejected.",
        "NUMBER",
        int,
        1000,
    ),
    *_WHERE,
    JSON_OUTPUT,
    examples="""
`widerow import purchases --input purchases.csv --types Amount:double,Note:string`
`widerow import purchases --input purchases.csv --create --key CardID,OrderNumber`
`widerow import copy --input purchases.parquet --create` — an export brings its key along
`widerow import purchases --input purchases.csv --rate 2000 --max-rejected 0`
`widerow import metrics --input metrics.lp --create` — points, into a timeseries table
`widerow import metrics --input cpu.csv --measurement cpu --time at --tags host,region`

Run the same command again to go on with an import that was broken off.
Exit codes: 0 every row is stored, 1 some rows were put aside, 2 it was broken off.
""",
)
ARCHIVE: Final = command(
    _archive,
    TABLE_NAME,
    Flag(
        "before", "Rows older than this: 2025-01-01 or with a time, in UTC.", "DATE", required=True
    ),
    Flag("column", "The column that says how old a row is; else its newest version does.", "A"),
    Flag("output", "The Parquet file; TABLE-DATE.parquet if left out.", "FILE"),
    switch("delete", "Delete the rows once the file is verified; else it is asked on a terminal."),
    *_WHERE,
    JSON_OUTPUT,
    examples="""
`widerow archive purchases --before 2025-01-01` — write and verify purchases-2025-01-01.parquet
`widerow archive purchases --before 2025-01-01 --delete` — and then delete those rows
`widerow archive purchases --before 2025-01-01 --column Time --output cold.parquet`
Exit codes: 0 done, 1 some rows had changed and were not deleted, 2 it failed.
""",
)
