"""Whether a directory may hold an embedded store, and what its file system says.

The engine underneath creates a fresh store wherever it finds no `CURRENT` file: also among a
stranger's files, and also over a store that lost that one file. This module decides before the
engine is asked.
"""

import os
import re
from pathlib import Path
from typing import Final

from widerow.errors import StorageFailure, StoreDamaged

__all__ = ["free_bytes", "holds_store", "make_directory", "sync_directory"]

# What a store leaves behind that died while it was being created, before it had any data.
_CREATION_LEFTOVER: Final = re.compile(
    r"LOCK|LOG(\.old\.\d+)?|IDENTITY|MANIFEST-\d+|\d+\.dbtmp|rocksdict-config\.json|lost\+found"
)


def holds_store(directory: Path) -> bool:
    """Whether `directory` holds a store; if not, it is free for one (absent, empty, leftovers).

    Raises: `StoreDamaged` for a store without its `CURRENT` file, `StorageFailure` for a path that
    is no directory, cannot be read, or holds files of something else.
    """
    try:
        names = [entry.name for entry in directory.iterdir()]
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StorageFailure(f"cannot use {directory} as a store: {error.strerror}") from error
    if "CURRENT" in names:
        return True
    foreign = sorted(name for name in names if not _CREATION_LEFTOVER.fullmatch(name))
    if any(re.fullmatch(r"\d+\.(sst|log)", name) for name in foreign):
        raise StoreDamaged(
            f"{directory} holds data files of a store but not its CURRENT file; "
            "restore the directory from a copy"
        )
    if foreign:
        raise StorageFailure(
            f"{directory} is not empty and not a widerow store (it holds {foreign[0]}); "
            "name an empty or a new directory"
        )
    return False


def make_directory(directory: Path) -> None:
    """Create `directory` and its parents where missing, each name synced into its parent."""
    if directory.is_dir():
        return
    make_directory(directory.parent)
    try:
        directory.mkdir(exist_ok=True)
        sync_directory(directory.parent)
    except OSError as error:
        raise StorageFailure(f"cannot create {directory}: {error.strerror}") from error


def sync_directory(directory: Path) -> None:
    """Make the names in `directory` durable: files created, renamed or removed before this call."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def free_bytes(directory: Path) -> int:
    """Bytes that this process may still write to the file system of `directory`."""
    status = os.statvfs(directory)
    return status.f_bavail * status.f_frsize
