"""The files of search indexes: a directory for each, beside the data of an embedded store.

A file is written under another name, synced, and renamed; then the directory is synced. So a file
with its final name is complete, and survives a loss of power.
"""

import mmap
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from widerow.errors import StorageFailure

__all__ = ["IndexDirectory", "SearchDirectory"]

_TEMPORARY: Final = ".tmp"


class IndexDirectory:
    """The files of one index (`IndexFiles`). For one caller at a time."""

    def __init__(self, path: Path) -> None:
        """The directory `path` is made with the first file."""
        self._path = path

    def names(self) -> list[str]:
        """The names of the complete files, sorted."""
        try:
            found = sorted(each.name for each in self._path.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _failed(self._path, error) from error
        return [each for each in found if not each.endswith(_TEMPORARY)]

    def write(self, name: str, parts: Iterable[bytes | memoryview]) -> None:
        """Write a new file: whole and synced on return. Replaces a file of that name."""
        temporary = self._path / f"{name}{_TEMPORARY}"
        try:
            if not self._path.is_dir():
                self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
                _sync(self._path.parent)
                _sync(self._path.parent.parent)
            with temporary.open("wb") as file:
                os.fchmod(file.fileno(), 0o600)
                for part in parts:
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._path / name)
            _sync(self._path)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise _failed(self._path / name, error) from error

    def replace(self, name: str, data: bytes) -> None:
        """Replace a small file in one step."""
        self.write(name, (data,))

    def map(self, name: str) -> memoryview:
        """The bytes of a file, mapped; they stay readable when it is removed. Raises `KeyError`."""
        try:
            with (self._path / name).open("rb") as file:
                if os.fstat(file.fileno()).st_size == 0:
                    return memoryview(b"")
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except FileNotFoundError as error:
            raise KeyError(name) from error
        except OSError as error:
            raise _failed(self._path / name, error) from error

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        try:
            (self._path / name).unlink(missing_ok=True)
        except OSError as error:
            raise _failed(self._path / name, error) from error


class SearchDirectory:
    """The directories of all indexes of a store: `<store>/search/<number of the index>`."""

    def __init__(self, store: Path) -> None:
        """`store`: the directory of the store.

        The directory of indexes is made with the first file.
        """
        self._path = store.resolve() / "search"

    def of(self, index_id: int) -> IndexDirectory:
        """The files of an index."""
        return IndexDirectory(self._path / str(index_id))

    def kept(self) -> list[int]:
        """The numbers of the indexes that have a directory."""
        try:
            return sorted(int(each.name) for each in self._path.iterdir() if each.name.isdecimal())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _failed(self._path, error) from error

    def forget(self, index_id: int) -> None:
        """Remove the files of an index."""
        try:
            shutil.rmtree(self._path / str(index_id))
        except FileNotFoundError:
            return
        except OSError as error:
            raise _failed(self._path / str(index_id), error) from error


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _failed(path: Path, error: OSError) -> StorageFailure:
    return StorageFailure(f"{path}: {error.strerror or error}")
