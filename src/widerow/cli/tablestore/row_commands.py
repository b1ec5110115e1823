"""The commands of `widerow row` and their flags; what they do is in `rows.py`."""

from typing import Annotated, Any, Final

import typer

from widerow.cli.flags import JSON_OUTPUT, Flag, server_flags, with_flags
from widerow.cli.names import TableName

__all__ = ["row_app"]

row_app: Final = typer.Typer(
    help="Read and write rows of a table, of any server that speaks Tablestore.",
    epilog="Example: `widerow row put cards c-1 7 amount=250`, then `widerow row scan cards`",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

_SERVER: Final = server_flags("The server; any that speaks Tablestore.")
_KeyWords = Annotated[
    list[str],
    typer.Argument(metavar="KEY...", help="Values in the order of the key, or NAME=VALUE."),
]
_RowWords = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY... [NAME=VALUE]...",
        help="The key, then columns: NAME=VALUE, NAME:TYPE=VALUE, NAME@VERSION=VALUE.",
        show_default=False,
    ),
]
_OUTPUT: Final = Flag(
    "output",
    str,
    "table, json, jsonl or csv; table on a terminal, jsonl elsewhere if not given.",
    "FORMAT",
    None,
)
_READ: Final = (
    Flag("columns", str, "Only these columns.", "A,B", None),
    Flag("where", str, 'A filter, which the server evaluates: "age >= 18".', "CONDITION", None),
    Flag("max_versions", str, "Versions of each column; 1 if not given.", "NUMBER or all", None),
    Flag(
        "time_range",
        str,
        "Versions from A on and before B: 2025-01-01..2025-02-01, or milliseconds.",
        "A..B",
        None,
    ),
)
_RANGE: Final = (
    Flag("prefix", str, "Keys that begin so: c-1, or a text and a star: c-*.", "KEY", None),
    Flag("from_", str, "Where to begin, itself included.", "KEY", None),
    Flag("to", str, "Where to end, itself not included.", "KEY", None),
)
_IF: Final = (
    Flag("if_", str, 'Only if the row is like this: "amount < 10".', "CONDITION", None),
    Flag("if_exists", bool, "Only if the row is there.", default=False),
    Flag("if_not_exists", bool, "Only if there is no such row.", default=False),
)
_JSON_ROW: Final = Flag(
    "json", str, "The row as a JSON object, in place of words.", "DOCUMENT", None
)
_CODES: Final = "Exit codes: 0 done, {no}, 2 it failed."
_WRITE_CODES: Final = _CODES.format(no="1 the condition does not hold")

_GET_EXAMPLES: Final = f"""Examples:

`widerow row get cards c-1 7` — by the values of the key, in order

`widerow row get cards CardID=c-1 OrderNumber=7 --columns amount --output json`

`widerow row get cards c-1 7 --max-versions all --time-range 2025-01-01..`

{_CODES.format(no="1 there is no such row")}
"""
_PUT_EXAMPLES: Final = f"""Examples:

`widerow row put cards c-1 7 amount=250 city=Hangzhou`

`widerow row put cards c-1 7 score:double=1 note:string=42 photo:binary=@photo.png`

`widerow row put cards --json '{{"CardID": "c-1", "OrderNumber": 7, "amount": 250}}'`

`widerow row put cards --input - < rows.jsonl` — as `row scan` prints them

{_CODES.format(no="1 the condition does not hold, or rows were refused")}
"""
_UPDATE_EXAMPLES: Final = f"""Examples:

`widerow row update cards c-1 7 city=Shanghai --delete note`

`widerow row update cards c-1 7 --increment visits=1` — prints the new count

`widerow row update cards c-1 7 paid=true --if "amount = 250"`

{_WRITE_CODES}
"""
_DELETE_EXAMPLES: Final = f"""Examples:

`widerow row delete cards c-1 7`

`widerow row delete cards c-1 7 --if "paid = true" --yes`

{_WRITE_CODES}
"""
_SCAN_EXAMPLES: Final = """Examples:

`widerow row scan cards` — the first 100 rows on a terminal, all of them into a pipe

`widerow row scan cards --prefix c-1 --reverse --limit 10` — the last ten of a card

`widerow row scan cards --prefix 'c-*' --where "amount >= 100 and city = 'Hangzhou'"`

`widerow row scan cards --from c-1,7 --to c-2 --columns amount --output csv`

Exit codes: 0 done, 2 it failed.
"""
_COUNT_EXAMPLES: Final = """Examples:

`widerow row count cards`

`widerow row count cards --where "paid is null" --workers 8`

`widerow row count cards --prefix c-1 --json`

Exit codes: 0 done, 2 it failed.
"""


@row_app.command("get", epilog=_GET_EXAMPLES)
@with_flags(*_READ, _OUTPUT, *_SERVER)
def _get(table: TableName, key: _KeyWords, **given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Show one row: every column with its type and version, or as JSON."""
    from widerow.cli.tablestore.rows import run_get  # noqa: PLC0415  # only this command

    raise typer.Exit(run_get(table, key, given))


@row_app.command("put", epilog=_PUT_EXAMPLES)
@with_flags(
    _JSON_ROW,
    Flag("input", str, "Rows as JSON lines, from a file or from - (stdin).", "FILE", None),
    *_IF,
    *_SERVER,
)
def _put(table: TableName, row: _RowWords = None, **given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Put a row, in place of any that has its key; or many, as JSON lines."""
    from widerow.cli.tablestore.rows import run_put  # noqa: PLC0415  # only this command

    raise typer.Exit(run_put(table, row or (), given))


@row_app.command("update", epilog=_UPDATE_EXAMPLES)
@with_flags(
    Flag("increment", str, "Add to a column of whole numbers; repeatable.", "NAME=NUMBER", []),
    Flag("delete", str, "Delete a column, or one version; repeatable.", "NAME[@VERSION]", []),
    _JSON_ROW,
    *_IF,
    *_SERVER,
)
def _update(table: TableName, row: _RowWords = None, **given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Change some columns of a row and leave the others; makes the row if it is not there."""
    from widerow.cli.tablestore.rows import run_update  # noqa: PLC0415  # only this command

    raise typer.Exit(run_update(table, row or (), given))


@row_app.command("delete", epilog=_DELETE_EXAMPLES)
@with_flags(
    Flag("yes", bool, "Do not ask.", default=False),
    *_IF,
    *_SERVER,
)
def _delete(table: TableName, key: _KeyWords, **given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Delete one row. Asks first on a terminal."""
    from widerow.cli.tablestore.rows import run_delete  # noqa: PLC0415  # only this command

    raise typer.Exit(run_delete(table, key, given))


@row_app.command("scan", epilog=_SCAN_EXAMPLES)
@with_flags(
    *_RANGE,
    Flag("reverse", bool, "From the greatest key to the smallest.", default=False),
    Flag("limit", int, "Rows at most; 0 for all.", "NUMBER", None),
    *_READ,
    _OUTPUT,
    *_SERVER,
)
def _scan(table: TableName, **given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Show rows in the order of their keys."""
    from widerow.cli.tablestore.rows import run_scan  # noqa: PLC0415  # only this command

    raise typer.Exit(run_scan(table, given))


@row_app.command("count", epilog=_COUNT_EXAMPLES)
@with_flags(
    *_RANGE,
    Flag("where", str, 'Only rows that are like this: "age >= 18".', "CONDITION", None),
    Flag("workers", int, "Connections that read at one time, 1 to 64.", "NUMBER", 4),
    JSON_OUTPUT,
    *_SERVER,
)
def _count(table: TableName, **given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Count rows, by reading them: there is no number that the server keeps."""
    from widerow.cli.tablestore.rows import run_count  # noqa: PLC0415  # only this command

    if not 1 <= given["workers"] <= 64:
        raise typer.BadParameter(f"--workers is 1 to 64, not {given['workers']}")
    raise typer.Exit(run_count(table, given))
