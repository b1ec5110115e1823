"""Names that stand for what a server or a file has, and what Tab offers for them.

Whoever presses Tab does not want to wait, and reads no error: there is one try with a short time
limit, and what is not found is not offered.
"""

import os
from typing import Final

import click

from widerow.cli.command import Positional
from widerow.cli.connection import CONNECTION_FIELDS, endpoint_of
from widerow.cli.profiles import asked_connection, load_profiles, profiles_path
from widerow.errors import WiderowError

__all__ = ["OPTIONAL_TABLE", "TABLE_NAME", "profile_names", "table_names"]

_SECONDS: Final = 0.3  # a server at hand answers within a hundredth of it


def table_names(context: click.Context, begun: str) -> list[str]:
    """The tables that begin so, of the server that the words before the cursor name.

    Costs one ListTable. Nothing if the server does not answer within 0.3 s, or refuses.
    """
    from widerow.client.connection import Client  # noqa: PLC0415  # only for Tab
    from widerow.client.tables import list_tables  # noqa: PLC0415  # only for Tab

    given = {field.name: context.params.get(field.name) for field in CONNECTION_FIELDS}
    try:
        connection = asked_connection(given, context.params.get("profile"))
        endpoint = endpoint_of(connection.values)
        with Client(endpoint, patience=0.0, timeout=_SECONDS) as client:
            return [each for each in list_tables(client) if each.startswith(begun)]
    except WiderowError:
        return []


def profile_names(_: click.Context, begun: str) -> list[str]:
    """The profiles of the user that begin so; nothing if their file cannot be read."""
    try:
        found = load_profiles(profiles_path(os.environ))
    except WiderowError:
        return []
    return [each for each in found.named if each.startswith(begun)]


TABLE_NAME: Final = Positional("table", "TABLE", "The table's name.", offered=table_names)
"""The table that a command is about."""

OPTIONAL_TABLE: Final = Positional(
    "table", "TABLE", "Of this table; of all without it.", "?", offered=table_names
)
"""A table that a listing may be narrowed to."""
