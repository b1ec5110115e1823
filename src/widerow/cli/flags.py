"""Flags that several commands have."""

from typing import Final

from widerow.cli.command import Flag, switch
from widerow.cli.connection import CONNECTION_FIELDS, PROFILE_VARIABLE
from widerow.cli.names import profile_names

__all__ = [
    "ENCODING",
    "FILE_OF_ROWS",
    "SHELL_JSON",
    "TABLE_OF_ROWS",
    "TEXT_COLUMNS",
    "TIME_COLUMN",
    "listed",
    "server_flags",
]

SHELL_JSON: Final = switch("as_json", "One JSON document for each command, each on a line.")
ENCODING: Final = Flag(
    "encoding", "Encoding of a text file: utf-8, latin-1, cp1252, gb18030.", "NAME", default="utf-8"
)

_METAVARS: Final = {"endpoint": "URL", "instance": "NAME", "access_key_id": "ID"}


def server_flags(endpoint: str, instance: str = "The instance of the table.") -> tuple[Flag, ...]:
    """The flags that name a server and a key pair.

    `endpoint` and `instance` are the helps of these two flags. The command gets what the flags, the
    environment and the profile say together, so that it finds all of them set.
    """
    helps = {"endpoint": endpoint, "instance": instance}
    flags = [
        Flag(
            field.name,
            helps.get(field.name, field.help)
            + f" ({field.variables[0]}{', ' + field.default if field.default else ''})",
            _METAVARS.get(field.name, "SECRET"),
        )
        for field in CONNECTION_FIELDS
    ]
    help_ = f"Which of `widerow profile list`; else {PROFILE_VARIABLE} or the one in use."
    return (*flags, Flag("profile", help_, "NAME", offered=profile_names))


FILE_OF_ROWS: Final = Flag("input", "Rows to read: .csv .tsv .jsonl or .parquet.", "FILE")
TABLE_OF_ROWS: Final = (
    Flag("table", "A table instead: of a running server, or with --path.", "NAME"),
    *server_flags("The server to ask."),
    Flag("path", "Read the store in this directory, which no server has open.", "DIR"),
)
TIME_COLUMN: Final = Flag(
    "time", "When a row was written; without it, the rows stand in that order.", "A"
)
TEXT_COLUMNS: Final = Flag("text", "Columns that are texts even if they look like integers.", "A")


def listed(words: str | None) -> list[str]:
    """The names in a list that is separated by commas."""
    return [word.strip() for word in (words or "").split(",") if word.strip()]
