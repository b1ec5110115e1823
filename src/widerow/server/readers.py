"""Warns of files that are their owner's, and that every user of the machine may read."""

import logging
from pathlib import Path
from stat import S_IROTH, S_IXOTH
from typing import Final

__all__ = ["warn_of_key_readers", "warn_of_store_readers"]

_log = logging.getLogger("widerow.server")

_CURRENT: Final = "CURRENT"  # a file that every embedded store has


def warn_of_key_readers(path: Path) -> None:
    """Warn of a file with secrets that others than its owner and group may read.

    It is used all the same: containers get their secrets in files of root, for everyone to read.
    """
    if _may(path, S_IROTH):
        facts = {"file": str(path), "advice": "chmod o= FILE"}
        _log.warning("every user of this machine may read a file of keys", extra={"facts": facts})


def warn_of_store_readers(directory: Path) -> None:
    """Warn of a store that was made with rights for everyone, as older versions made them."""
    if _may(directory, S_IXOTH) and _may(directory / _CURRENT, S_IROTH):
        facts = {"directory": str(directory), "advice": "chmod -R go= DIRECTORY"}
        _log.warning("every user of this machine may read the store", extra={"facts": facts})


def _may(path: Path, right: int) -> bool:
    """Whether others have a right to a file; False where nobody can tell."""
    try:
        return bool(path.stat().st_mode & right)
    except OSError:
        return False
