"""The commands of `widerow table` and their flags; what they do is in `tables.py`."""

from typing import Annotated, Any, Final

import typer

from widerow.cli.flags import JSON_OUTPUT, Flag, server_flags, with_flags
from widerow.cli.names import TableName

__all__ = ["table_app"]

table_app: Final = typer.Typer(
    help="Make, show, change and drop tables, of any server that speaks Tablestore.",
    epilog="Example: `widerow table create cards CardID:string OrderNumber:integer`",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

_SERVER: Final = server_flags("The server; any that speaks Tablestore.")
_OPTIONS: Final = (
    Flag("ttl", str, "How long values live: 90d, 12h, seconds, or never.", "TIME", None),
    Flag("max_versions", int, "Versions of each column that are kept.", "NUMBER", None),
    Flag(
        "max_version_offset",
        str,
        "How far a version may be from the server's time: 1d, or seconds.",
        "TIME",
        None,
    ),
    Flag("allow_update", str, "Whether rows may be updated in place: true or false.", "BOOL", None),
    Flag("reserved_read", int, "Reserved read units.", "NUMBER", None),
    Flag("reserved_write", int, "Reserved write units.", "NUMBER", None),
    Flag("stream", str, "Keep changes for so many hours, or off.", "HOURS", None),
    Flag("define", str, "Columns with a type, for indexes and defaults.", "A:TYPE,B:TYPE", None),
)
_CREATE_EXAMPLES: Final = """Examples:

`widerow table create cards CardID:string OrderNumber:integer`

`widerow table create log host:string id:integer:auto --ttl 90d --max-versions 3`

`widerow table create people id:integer --define name:string,age:integer --stream 24`

Exit codes: 0 done, 2 it failed.
"""
_LIST_EXAMPLES: Final = """Examples:

`widerow table list` — one name on each line

`widerow table list --endpoint http://db:8087 --instance shop --json`
"""
_SHOW_EXAMPLES: Final = """Examples:

`widerow table show cards`

`widerow table show cards --json`
"""
_UPDATE_EXAMPLES: Final = """Examples:

`widerow table update cards --ttl 365d --max-versions 5`

`widerow table update cards --define city:string --stream off`
"""
_DROP_EXAMPLES: Final = """Examples:

`widerow table drop cards` — asks first

`widerow table drop cards --yes --if-exists` — for a script

`widerow table drop items --with-indexes --yes` — with its search indexes, which have to go first

Exit codes: 0 done, 1 the answer was no, 2 it failed.
"""


@table_app.command("create", epilog=_CREATE_EXAMPLES)
@with_flags(
    *_OPTIONS,
    Flag("if_not_exists", bool, "Be content with a table that is there.", default=False),
    *_SERVER,
)
def _create(
    table: TableName,
    key: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME:TYPE...",
            help="Key columns in order: string, integer, binary; integer:auto counts up.",
        ),
    ],
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Make a table. Without options its rows live for ever, in one version."""
    from widerow.cli.tablestore.tables import run_create  # noqa: PLC0415  # only this command

    raise typer.Exit(run_create(table, key, given))


@table_app.command("list", epilog=_LIST_EXAMPLES)
@with_flags(JSON_OUTPUT, *_SERVER)
def _list(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Show the names of the tables of an instance."""
    from widerow.cli.tablestore.tables import run_list  # noqa: PLC0415  # only this command

    raise typer.Exit(run_list(given))


@table_app.command("show", epilog=_SHOW_EXAMPLES)
@with_flags(JSON_OUTPUT, *_SERVER)
def _show(table: TableName, **given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Show a table's key, columns, options and indexes."""
    from widerow.cli.tablestore.tables import run_show  # noqa: PLC0415  # only this command

    raise typer.Exit(run_show(table, given))


@table_app.command("update", epilog=_UPDATE_EXAMPLES)
@with_flags(
    *_OPTIONS,
    Flag("undefine", str, "Columns that lose their type; their values stay.", "A,B", None),
    *_SERVER,
)
def _update(table: TableName, **given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Change a table's options, stream, reserved units or defined columns."""
    from widerow.cli.tablestore.tables import run_table_update  # noqa: PLC0415  # only this command

    raise typer.Exit(run_table_update(table, given))


@table_app.command("drop", epilog=_DROP_EXAMPLES)
@with_flags(
    Flag("yes", bool, "Do not ask.", default=False),
    Flag("if_exists", bool, "Be content where there is no such table.", default=False),
    Flag(
        "with_indexes", bool, "Drop its search indexes too, which have to go first.", default=False
    ),
    *_SERVER,
)
def _drop(table: TableName, **given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Drop a table with all its rows. Asks first on a terminal."""
    from widerow.cli.tablestore.tables import run_drop  # noqa: PLC0415  # only this command

    raise typer.Exit(run_drop(table, given))
