"""Writes files below one directory, each as a whole or not at all (change §D3).

Every part of a path is opened in the directory before it, and no link is followed on the way. A
file is written under `<name>.tmp`, synced, renamed, and its directory synced, so that a file with
its final name is complete. Two processes that write one name take turns: the one that has the lock
of the `.tmp` file finishes first. Directories and files are their owner's alone, as the rows are.
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
        """Open the root directory; links on the way are followed."""
        return os.open(path, _DIRECTORY)

    def open_directory(self, name: str, parent: int) -> int:
        """Open a directory in `parent`; make it, durably, if it is missing. Follows no link."""
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
            os.fsync(parent)
        return os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)

    def open_file(self, name: str, directory: int) -> int:
        """Open an empty file with a lock on it.

        Raises `BlockingIOError` if another process has it.
        """
        while True:
            file = os.open(name, _FILE, 0o600, dir_fd=directory)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(file, name, directory):
                    os.ftruncate(file, 0)
                    return file
            except BaseException:
                os.close(file)
                raise
            os.close(file)  # another process has renamed it in between

    def sync(self, file: int) -> None:
        """Make what was written durable."""
        os.fsync(file)

    def rename(self, before: str, after: str, directory: int) -> None:
        """Rename a file; an existing file of that name is replaced."""
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
    """A file being written through `stream`, under its temporary name."""

    def __init__(self, disk: Disk, stream: IO[bytes], name: str, directory: int) -> None:
        """`name`: the final name, in the open `directory`."""
        self.stream = stream
        self._disk = disk
        self._name = name
        self._directory = directory

    def sync(self) -> None:
        """Make the bytes durable, under the temporary name."""
        self.stream.flush()
        self._disk.sync(self.stream.fileno())

    def publish(self) -> None:
        """Rename the file to its final name; durable on return."""
        self._disk.rename(self._name + _TEMPORARY, self._name, self._directory)
        self._disk.sync(self._directory)


class DeliveryRoot:
    """The directory of all buckets."""

    def __init__(self, path: Path, disk: Disk | None = None) -> None:
        """The directory `path` must exist when files are written."""
        self._path = path
        self._disk = disk or Disk()

    @contextmanager
    def draft(self, bucket: str, file: DeliveredFile) -> Iterator[FileDraft]:
        """A file to be written in the block, which has to call `publish`.

        Names must be checked before.

        Raises: `DeliveryFailed` where the system refuses, also inside the block.
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
                    with suppress(OSError):  # a leftover is overwritten by the next attempt
                        self._disk.remove(file.name + _TEMPORARY, directory)
                    raise
        except BlockingIOError as error:
            raise DeliveryFailed(f"{shown}: another process is writing this file") from error
        except OSError as error:
            raise DeliveryFailed(f"{shown}: {error.strerror or error}") from error
