"""What people name and what must be there: a store, a parent directory, a table.

Opening a store makes its directory. A command that works on what is there looks here first, so that
a mistyped name is said to be one and leaves nothing behind.
"""

import os
from pathlib import Path

from widerow.errors import StorageFailure, StoreDamaged
from widerow.server.settings import SettingsInvalid
from widerow.storage.directory import holds_store

__all__ = ["no_table", "require_parent", "require_store"]


def require_store(directory: Path, *, new: str = "widerow serve makes a new one") -> None:
    """Refuse a directory without a store. Nothing is made or changed.

    `new`: how to make a store, the end of the message. A store that lost files counts as one:
    whoever opens it says what is wrong with it.

    Raises: `SettingsInvalid`, which names the directory and what is in it; `StoreDamaged` for data
    files without the file that every store has.
    """
    try:
        if holds_store(directory, lax=True):
            return
        found = "it is empty" if directory.is_dir() else "there is no such directory"
    except StoreDamaged:
        raise
    except StorageFailure as error:
        if directory.is_dir() and not os.access(directory, os.R_OK | os.X_OK):
            raise
        found = "it holds other files" if directory.is_dir() else "it is not a directory"
        raise _no_store(directory, found, new) from error
    raise _no_store(directory, found, new)


def require_parent(directory: Path) -> None:
    """Refuse a new directory whose parent is not there. Raises: `SettingsInvalid`."""
    parent = directory.parent
    if not parent.is_dir():
        raise SettingsInvalid(
            f"cannot create {directory}: there is no directory {parent}; correct the name, or make "
            f"that directory first"
        )


def no_table(name: str, instance: str, directory: Path) -> SettingsInvalid:
    """The error for a table that a store does not have; it names table, instance and store."""
    return SettingsInvalid(
        f"there is no table {name} in the instance {instance} of the store at {directory}; check "
        "the name and --instance (case matters)"
    )


def _no_store(directory: Path, found: str, new: str) -> SettingsInvalid:
    return SettingsInvalid(
        f"there is no store at {directory} ({found}); name the directory of a store with --path; "
        f"{new}"
    )
