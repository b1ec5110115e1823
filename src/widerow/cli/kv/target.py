"""Which store a shell works on: a directory, opened at once or not at all."""

from typing import Final

from widerow import nosql
from widerow.cli.places import require_parent, require_store
from widerow.errors import StoreLocked
from widerow.nosql import Store
from widerow.server.settings import SettingsInvalid
from widerow.storage.opener import store_directory

__all__ = ["NO_SERVER", "open_target"]

NO_SERVER: Final = (
    "widerow serves no NoSQL protocol over the network yet, so the shell cannot work through a "
    "server. Stop the server and use: widerow kv --path DIR"
)


_MAKE_NEW: Final = "widerow kv --create --path DIR makes a new one"


def open_target(path: str, *, create: bool = False) -> Store:
    """The store in a directory. With `create` it is made if it is not there, its parent is not.

    Raises: `StoreLocked`, at once, if another process has it open; what else opening a store
    raises; `SettingsInvalid` for what is no directory's name, and where there is no store.
    """
    try:
        if path != "memory:":
            directory = store_directory(path)
            if create:
                require_parent(directory)
            else:
                require_store(directory, new=_MAKE_NEW)
        return nosql.open(path)
    except StoreLocked as error:
        raise StoreLocked(
            f"{error.__cause__ or error}. The shell has a store to itself: if a server (widerow "
            "serve) or another shell holds this one, stop it first; nothing was opened or changed"
        ) from error
    except ValueError as error:
        raise SettingsInvalid(str(error)) from error
