"""`widerow export`, `widerow import`, `widerow archive`: their flags. The work is elsewhere."""

from typing import Any, Final

import typer

from widerow.cli.flags import ENCODING, JSON_OUTPUT, Flag, server_flags, with_flags
from widerow.cli.names import TableName

__all__ = [
    "ARCHIVE_EXAMPLES",
    "EXPORT_EXAMPLES",
    "IMPORT_EXAMPLES",
    "archive",
    "export",
    "import_",
]

_WHERE: Final = server_flags("The server; any that speaks Tablestore.")

EXPORT_EXAMPLES: Final = """Examples:

`widerow export purchases --output purchases.parquet`

`widerow export purchases --output purchases.jsonl --endpoint http://db:8087 --instance shop`

Exit codes: 0 done, 2 it failed, and there is no file.
"""
IMPORT_EXAMPLES: Final = """Examples:

`widerow import purchases --input purchases.csv --types Amount:double,Note:string`

`widerow import purchases --input purchases.csv --create --key CardID,OrderNumber`

`widerow import copy --input purchases.parquet --create` — an export brings its key along

`widerow import purchases --input purchases.csv --rate 2000 --max-rejected 0`

Run the same command again to go on with an import that was broken off.

Exit codes: 0 every row is stored, 1 some rows were put aside, 2 it was broken off.
"""
ARCHIVE_EXAMPLES: Final = """Examples:

`widerow archive purchases --before 2025-01-01` — write and verify purchases-2025-01-01.parquet

`widerow archive purchases --before 2025-01-01 --delete` — and then delete those rows

`widerow archive purchases --before 2025-01-01 --column Time --output cold.parquet`

Exit codes: 0 done, 1 some rows had changed and were not deleted, 2 it failed.
"""


@with_flags(
    Flag("output", str, "File to write: .csv .jsonl or .parquet.", "FILE"),
    Flag("overwrite", bool, "Replace the file if it is there.", default=False),
    *_WHERE,
    JSON_OUTPUT,
)
def export(table: TableName, **given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Write every row of a table to a file, with all versions and types."""
    from widerow.cli.transferring import run_export  # noqa: PLC0415  # only this command

    raise typer.Exit(run_export(table, given))


@with_flags(
    Flag("input", str, "Rows to load: .csv .tsv .jsonl or .parquet.", "FILE"),
    ENCODING,
    Flag(
        "types",
        str,
        "Types of columns: integer double boolean string binary. Else those of defined columns, "
        "and in CSV what the first 10,000 rows look like.",
        "A:TYPE,B:TYPE",
        None,
    ),
    Flag("create", bool, "Make the table if it is not there.", default=False),
    Flag("key", str, "Key columns of that table, in order; an export has them.", "A,B", None),
    Flag("workers", int, "Connections that send at one time.", "NUMBER", 4),
    Flag("rate", float, "Rows a second at most; 0 for as many as possible.", "NUMBER", 0.0),
    Flag(
        "window",
        int,
        "Rows that are read before they are spread over the keys and sent.",
        "NUMBER",
        50_000,
    ),
    Flag(
        "in_order",
        bool,
        "Send the rows in the order of the file, on one connection.",
        default=False,
    ),
    Flag(
        "max_rejected",
        int,
        "Stop when more rows than these are bad; they are put aside in FILE.rejected.",
        "NUMBER",
        1000,
    ),
    *_WHERE,
    JSON_OUTPUT,
)
def import_(table: TableName, **given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Load a file into a table, spread over its partition keys. A kill loses nothing."""
    from widerow.cli.transferring import run_import  # noqa: PLC0415  # only this command

    raise typer.Exit(run_import(table, given))


@with_flags(
    Flag("before", str, "Rows older than this: 2025-01-01 or with a time, in UTC.", "DATE"),
    Flag(
        "column",
        str,
        "The column that says how old a row is; else its newest version does.",
        "A",
        None,
    ),
    Flag("output", str, "The Parquet file; TABLE-DATE.parquet if left out.", "FILE", None),
    Flag(
        "delete",
        bool,
        "Delete the rows once the file is verified; else it is asked on a terminal.",
        default=False,
    ),
    *_WHERE,
    JSON_OUTPUT,
)
def archive(table: TableName, **given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Move cold rows to a Parquet file: write it, verify it, and only then delete them."""
    from widerow.cli.transferring import run_archive  # noqa: PLC0415  # only this command

    raise typer.Exit(run_archive(table, given))
