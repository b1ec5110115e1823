"""The server that the shell works through, in place of a store of its own (nosql-wire §1)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from widerow.cli.command import Flag
from widerow.cli.connection import CONNECTION_FIELDS, PROFILE_VARIABLE
from widerow.cli.names import profile_names

if TYPE_CHECKING:
    from widerow.client.nosql_store import ServerStore

__all__ = ["KEY_FLAGS_OF_SERVER", "open_server"]

_KEY_FIELDS: Final = ("access_key_id", "access_key_secret")
_FIELDS: Final = {field.name: field for field in CONNECTION_FIELDS}

KEY_FLAGS_OF_SERVER: Final = (
    *(
        Flag(name, f"{_FIELDS[name].help} ({_FIELDS[name].variables[0]}, widerow)", metavar)
        for name, metavar in zip(_KEY_FIELDS, ("ID", "SECRET"), strict=True)
    ),
    Flag("api_key", "An API key, in place of an access key.", "KEY", variable="WIDEROW_API_KEY"),
    Flag(
        "profile",
        f"Whose access key: one of `widerow profile list`; else {PROFILE_VARIABLE} or that in use.",
        "NAME",
        offered=profile_names,
    ),
)
"""The flags that say who asks a server; without an endpoint they have no use."""


def open_server(url: str, given: Mapping[str, Any]) -> "ServerStore":
    """The typed tables of the server at a URL. It is asked for its tables, to see that it answers.

    `given`: the values of `KEY_FLAGS_OF_SERVER`, as far as there are any; the environment and the
    profile have the rest. Raises: `RequestFailed`, `ProfileInvalid`.
    """
    from widerow.cli.profiles import asked_connection  # noqa: PLC0415  # only to ask a server
    from widerow.client.nosql_connection import NosqlConnection, bearer_of  # noqa: PLC0415  # only to ask a server
    from widerow.client.nosql_store import ServerStore  # noqa: PLC0415  # only to ask a server
    from widerow.wire.nosql.requests import TABLES_CODE  # noqa: PLC0415  # only to ask a server

    flags = {name: given.get(name) for name in _KEY_FIELDS}
    key = asked_connection({**flags, "endpoint": url}, given.get("profile")).values
    api_key = given.get("api_key")
    token = api_key or bearer_of(key["access_key_id"], key["access_key_secret"])
    store = ServerStore(NosqlConnection(url, token))
    try:
        store.ask(TABLES_CODE, {"lx": 1})
    except BaseException:
        store.close()
        raise
    return store
