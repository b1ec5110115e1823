"""Whether a directory may hold an embedded store, and what its file system says.

The engine underneath creates a fresh store wherever it finds no `CURRENT` file: also among a
stranger's files, and also over a store that lost that one file. This module decides before the
engine is asked.
"""

import os
import re
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Final

from widerow.errors import StorageFailure, StoreDamaged

__all__ = [
    "WAYS_OUT",
    "Acceptance",
    "clear_damage_mark",
    "free_bytes",
    "holds_store",
    "make_directory",
    "mark_damaged",
    "noted_damage",
    "refuse_noted_damage",
    "sync_directory",
]

WAYS_OUT: Final = (  # what an operator can do about damage; the end of a message
    "restore the directory from a copy, or start with --accept-damaged-store to serve what is left"
)
_OWNERS: Final = 0o700
_MARK: Final = "DAMAGED"
_OPTIONS: Final = re.compile(r"OPTIONS-\d+")
_LOG: Final = re.compile(r"\d+\.log")

# Files of a store whose process died while it created the store, before there was any data.
_CREATION_LEFTOVER: Final = re.compile(
    r"LOCK|LOG(\.old\.\d+)?|IDENTITY|MANIFEST-\d+|\d+\.dbtmp|rocksdict-config\.json|lost\+found"
)

_ADVICE: Final = "name a directory in which you may write (--path)"


class Acceptance(Enum):
    """Which stores may be opened.

    Damage that was found is noted in a file beside the data (`mark_damaged`), so that no restart
    makes it forgotten.
    """

    WHOLE = "whole"  # a store with such a note is refused
    NOTED = "noted"  # the note alone is not a reason: for looking at the store, which may clear it
    DAMAGED = "damaged"  # also a store that the engine refuses, without what it cannot read


def holds_store(directory: Path, *, lax: bool = False) -> bool:
    """Whether `directory` holds a store; if not, it is free for one (absent, empty, leftovers).

    Raises: `StoreDamaged` for a store without its `CURRENT` file, or, unless `lax`, without a log;
    `StorageFailure` for a path that is not a directory, cannot be read, or holds files of something
    else.
    """
    try:
        names = [entry.name for entry in directory.iterdir()]
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StorageFailure(
            f"cannot use {directory} as a store: {error.strerror}; {_ADVICE}"
        ) from error
    if "CURRENT" in names:
        # The engine makes a log before it records its options, and keeps one ever after. It would
        # open a store whose log was taken away as if nothing had been written lately.
        if (
            not lax
            and any(_OPTIONS.fullmatch(name) for name in names)
            and not any(_LOG.fullmatch(name) for name in names)
        ):
            raise StoreDamaged(
                f"{directory} holds a store without its log; restore the directory from a copy"
            )
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
    """Create the directory of a new store, and its parents where missing.

    Each name is synced into its parent. Nobody but the owner gets in, also where it was there,
    empty, unless it is another user's: the engine makes files that everyone may read.
    """
    _make(directory, _OWNERS)
    with suppress(OSError):
        directory.chmod(_OWNERS)


def _make(directory: Path, mode: int) -> None:
    if directory.is_dir():
        return
    _make(directory.parent, 0o777)
    try:
        directory.mkdir(mode=mode, exist_ok=True)
        sync_directory(directory.parent)
    except OSError as error:
        raise StorageFailure(f"cannot create {directory}: {error.strerror}; {_ADVICE}") from error


def sync_directory(directory: Path) -> None:
    """Make the names in `directory` durable: files created, renamed or removed before this call."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def mark_damaged(directory: Path, reason: str) -> None:
    """Note in `directory` that damage was found in its store, so that the next start is refused.

    The first reason stays. Where the note cannot be written, the next start is not refused; the
    damage is found again when the damaged block is read again.
    """
    with suppress(OSError):
        descriptor = os.open(directory / _MARK, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, f"{reason}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        sync_directory(directory)


def noted_damage(directory: Path) -> str | None:
    """The damage that is noted in `directory`, or None. Raises: `StorageFailure`."""
    try:
        return (directory / _MARK).read_text(encoding="utf-8", errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageFailure(f"cannot read {directory / _MARK}: {error.strerror}") from error


def refuse_noted_damage(directory: Path) -> None:
    """Raise `StoreDamaged` if damage is noted in `directory`."""
    noted = noted_damage(directory)
    if noted is not None:
        raise StoreDamaged(
            f"damage was found in the store in {directory} ({noted}); restore a backup, or run "
            "widerow doctor, which clears this note when it finds nothing; "
            "--accept-damaged-store starts the server all the same"
        )


def clear_damage_mark(directory: Path) -> None:
    """Remove the note of damage, after the whole store was read without an error.

    Raises: `StorageFailure`.
    """
    try:
        (directory / _MARK).unlink(missing_ok=True)
        sync_directory(directory)
    except OSError as error:
        raise StorageFailure(f"cannot remove {directory / _MARK}: {error.strerror}") from error


def free_bytes(directory: Path | str) -> int:
    """Bytes that this process may still write to the file system of `directory`."""
    status = os.statvfs(directory)
    return status.f_bavail * status.f_frsize
