"""Files below one directory: whole or not there, and never anywhere else (change §D3).

Every part of a path is opened in the directory before it, and no link is followed on the way. A
file is written under `<name>.tmp`, synced, renamed, and its directory synced, so that its name
says that all of it is there. Two processes that write one name take turns: the one that has the
lock of the `.tmp` file finishes first.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from widerow.engine.tablestore.delivery.names import DeliveredFile
from widerow.errors import WiderowError

__all__ = ["DeliveryFailed", "DeliveryRoot", "Disk", "FileDraft"]

_TEMPORARY: Final = ".tmp"
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class DeliveryFailed(WiderowError):
    """Files of a task cannot be written; the message says which and why."""


class Disk:
    """What is asked of the system. Names are single parts; directories are descriptors."""

    def open_root(self, path: Path) -> int:
        """The directory that everything lies in; it may be reached by links."""
        return os.open(path, _DIRECTORY)

    def open_directory(self, name: str, parent: int) -> int:
        """A directory in another one; made and made durable if it is not there. No link."""
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)
            os.fsync(parent)
        return os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)

    def open_file(self, name: str, directory: int) -> int:
        """An empty file that nobody else writes. Raises `BlockingIOError` if somebody does."""
        while True:
            file = os.open(name, _FILE, 0o666, dir_fd=directory)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(file, name, directory):
                    os.ftruncate(file, 0)
                    return file
            except BaseException:
                os.close(file)
                raise
            os.close(file)  # somebody finished it in between: that file has its name by now

    def sync(self, file: int) -> None:
        """Make what was written durable."""
        os.fsync(file)

    def rename(self, before: str, after: str, directory: int) -> None:
        """Give a file its name, in place of one that may have it."""
        os.rename(before, after, src_dir_fd=directory, dst_dir_fd=directory)

    def remove(self, name: str, directory: int) -> None:
        """Remove a file."""
        os.unlink(name, dir_fd=directory)


def _is_at(file: int, name: str, directory: int) -> bool:
    """Whether an open file still has this name."""
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(found, os.fstat(file))


class FileDraft:
    """A file that is being written. `stream` takes its bytes."""

    def __init__(self, disk: Disk, stream: IO[bytes], name: str, directory: int) -> None:
        """To be named `name`, in an open directory."""
        self.stream = stream
        self._disk = disk
        self._name = name
        self._directory = directory

    def sync(self) -> None:
        """Make its bytes durable, still under the other name."""
        self.stream.flush()
        self._disk.sync(self.stream.fileno())

    def publish(self) -> None:
        """Give it its name; durable when this returns."""
        self._disk.rename(self._name + _TEMPORARY, self._name, self._directory)
        self._disk.sync(self._directory)


class DeliveryRoot:
    """The directory of all buckets."""

    def __init__(self, path: Path, disk: Disk | None = None) -> None:
        """It must be there when files are written."""
        self._path = path
        self._disk = disk or Disk()

    @contextmanager
    def draft(self, bucket: str, file: DeliveredFile) -> Iterator[FileDraft]:
        """A file that is written in the block, which publishes it. Names have been checked.

        Raises: `DeliveryFailed` where the system refuses something, in the block too.
        """
        shown = "/".join((bucket, *file.directories, file.name))
        try:
            with ExitStack() as opened:
                directory = self._disk.open_root(self._path)
                opened.callback(os.close, directory)
                for part in (bucket, *file.directories):
                    directory = self._disk.open_directory(part, directory)
                    opened.callback(os.close, directory)
                descriptor = self._disk.open_file(file.name + _TEMPORARY, directory)
                stream = opened.enter_context(os.fdopen(descriptor, "wb"))
                try:
                    yield FileDraft(self._disk, stream, file.name, directory)
                except Exception:
                    with suppress(OSError):  # what is left is written over by the next attempt
                        self._disk.remove(file.name + _TEMPORARY, directory)
                    raise
        except BlockingIOError as error:
            raise DeliveryFailed(f"{shown}: another process is writing this file") from error
        except OSError as error:
            raise DeliveryFailed(f"{shown}: {error.strerror or error}") from error
