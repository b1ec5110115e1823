"""`widerow indexes`: the secondary indexes of a table.

Of a running server by a signed request, of a store that nobody has open by reading it.
"""

from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from widerow.cli.answers import tell
from widerow.cli.asking import ask_server, engine_of
from widerow.cli.command import JSON_OUTPUT, Flag, Given, command
from widerow.cli.flags import server_flags
from widerow.cli.names import TABLE_NAME
from widerow.cli.places import no_table
from widerow.errors import NotFound

__all__ = ["INDEXES"]

Json = dict[str, Any]


def _indexes(table: str, given: Given) -> None:
    if given["path"] is None:
        found = ask_server("WiderowIndexes", {"table": table}, given)
    else:
        found = _read(Path(given["path"]), given["instance"], table)
    tell(given, found, lambda: _print(found))


def _read(directory: Path, instance: str, table: str) -> Json:
    from widerow.engine.tablestore.plug import TABLESTORE  # noqa: PLC0415  # only to read a store

    with engine_of(directory) as engine:
        try:
            tables = engine.operations(TABLESTORE)
            return dict(tables.indexes.document(instance, table))
        except NotFound as error:
            raise no_table(table, instance, directory) from error


def _print(found: Json) -> None:

    rows = found["indexes"]
    count = f"{len(rows)} index" + ("" if len(rows) == 1 else "es")
    shown = Table(title=Text(f"{found['name']}: {count}"))
    for heading in ("index", "type", "listed columns", "covered columns", "state"):
        shown.add_column(heading, overflow="fold")
    for row in rows:
        columns = (", ".join(row[name]) for name in ("key_columns", "defined_columns"))
        shown.add_row(*map(Text, (row["name"], row["type"], *columns, _state(row))))
    console = Console()
    console.print(shown)
    if found["waiting"]:
        console.print(f"{found['waiting']:,} changes wait for global indexes")


def _state(row: Json) -> str:
    if row["phase"] == "full":
        return f"being built, {row['rows_built']:,} rows"
    behind = f", {row['lag_seconds']:.1f} s behind" if row["lag_seconds"] else ""
    return ("ready" if row["complete"] else "ready, rows from its creation on") + behind


INDEXES: Final = command(
    _indexes,
    TABLE_NAME,
    *server_flags("The server to ask."),
    Flag("path", "Read the store in this directory instead of asking a server.", "DIR"),
    JSON_OUTPUT,
    examples="""
`widerow indexes orders` — of the server at 127.0.0.1:8087, instance widerow
`widerow indexes orders --endpoint http://db:8087 --instance shop --json`
`widerow indexes orders --path /srv/widerow` — of a store that no server has open
""",
)
