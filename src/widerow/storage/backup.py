"""A backup: files in a directory of their own, and a manifest that says what they were.

    BACKUP/manifest.json   written last: a directory without it is no backup, or an unfinished one
    BACKUP/data/...        format 1: the files of a checkpoint, as the engine wrote them
                           format 2: records of any store (`backups/`, docs/formats/backup.md)

The manifest lists every file with its size and its SHA-256, and ends in a SHA-256 over that list.
Nothing in a backup is trusted when it is read: names are plain names, files are regular files,
opened relative to their directory and never through a link, and what differs from the manifest in
any byte is refused. The directories are for the owner alone: they hold all data there is.
"""

import hashlib
import hmac
import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from widerow.errors import WiderowError
from widerow.storage.directory import sync_directory

__all__ = [
    "BACKUP_DATA",
    "BACKUP_MANIFEST",
    "Backup",
    "BackupFailed",
    "BackupFile",
    "RecordsFacts",
    "opened_part",
    "read_backup",
    "restore_files",
    "write_backup",
    "write_backup_manifest",
]

_FORMAT_OF_FILES: Final = 1
_FORMAT_OF_RECORDS: Final = 2
BACKUP_MANIFEST: Final = "manifest.json"
BACKUP_DATA: Final = "data"
_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_PIECE_BYTES: Final = 1024 * 1024
_MANIFEST_BYTES_MAX: Final = 64 * 1024 * 1024  # half a million files: 30 TB in files of 64 MB

Progress = Callable[[int], None]
"""Called with the number of bytes copied since the last call."""


class BackupFailed(WiderowError):
    """A backup cannot be made or used; the message says which file, why, and what to do."""


@dataclass(frozen=True, slots=True)
class BackupFile:
    """One file of a backup. `sha256` in hexadecimal."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class RecordsFacts:
    """What the manifest of records says beside its files (docs/formats/backup.md).

    `one_moment`: whether all records are of one moment; else each shard is of a moment of its own.
    `records`: how many there are; `longest_key`: bytes of the longest key. `since`: by numbers of
    tables and indexes, the place among the files from which on their records count.
    """

    one_moment: bool
    records: int
    longest_key: int
    since: dict[int, int]

    def document(self) -> dict[str, Any]:
        """The facts as they stand in the manifest."""
        return {
            "one_moment": self.one_moment,
            "records": self.records,
            "longest_key": self.longest_key,
            "since": {str(number): place for number, place in sorted(self.since.items())},
        }


@dataclass(frozen=True, slots=True)
class Backup:
    """What a manifest says. `created` is a date in ISO 8601, `version` the widerow that made it.

    `facts`: of a backup of records; None: the files are those of a checkpoint.
    """

    created: str
    version: str
    files: tuple[BackupFile, ...]
    facts: RecordsFacts | None = None

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def digest(self) -> str:
        """SHA-256 over the list of files and the facts."""
        listed = "".join(f"{each.name} {each.size} {each.sha256}\n" for each in self.files)
        facts = "" if self.facts is None else json.dumps(self.facts.document())
        text = f"{self.created} {self.version}\n{listed}{facts}"
        return hashlib.sha256(text.encode()).hexdigest()


def write_backup(
    checkpoint: Path, target: Path, *, created: str, version: str, progress: Progress
) -> Backup:
    """Copy the files of `checkpoint`, which must not change, into a new directory `target`.

    Everything is synced before the manifest is written. What was begun is removed if it fails.

    Raises: `BackupFailed` (`target` exists, no room, something in `checkpoint` is no plain file).
    """
    _make_new(target)
    try:
        data = target / BACKUP_DATA
        data.mkdir(mode=0o700)
        with _opened(checkpoint) as source, _opened(data) as copies:
            files = tuple(_copy(name, source, copies, progress) for name in _names(source))
        backup = Backup(created, version, files)
        sync_directory(data)
        write_backup_manifest(target, backup)
        sync_directory(target)
        sync_directory(target.parent)
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise BackupFailed(f"cannot write the backup {target}: {error.strerror}") from error
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return backup


def read_backup(directory: Path) -> Backup:
    """What the manifest of the backup in `directory` says; its files are not looked at.

    Raises: `BackupFailed` (no backup, an unfinished one, a manifest that does not agree with
    itself or is of a later format).
    """
    try:
        with _opened(
            directory.resolve()
        ) as place:  # the operator's own link, as in /backups/latest
            text = _read_manifest(place)
    except FileNotFoundError:
        raise BackupFailed(
            f"{directory} is not a finished backup: it has no {BACKUP_MANIFEST}; name another"
        ) from None
    except OSError as error:
        raise BackupFailed(f"cannot read the backup {directory}: {error.strerror}") from error
    try:
        return _parse(directory, text)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BackupFailed(f"the manifest of {directory} is damaged; use another backup") from None


def restore_files(directory: Path, target: Path, progress: Progress) -> Backup:
    """Copy the files of the backup in `directory` into a new directory `target`, verifying each.

    `target` is synced, and removed again if anything is wrong.

    Raises: `BackupFailed` (damaged, incomplete, more in it than was put there, `target` exists).
    """
    backup = read_backup(directory)
    _make_new(target)
    try:
        with _opened(directory / BACKUP_DATA) as source, _opened(target) as copies:
            _refuse_strangers(directory, source, backup)
            for file in backup.files:
                _copy_same(file, source, copies, progress)
        sync_directory(target)
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise BackupFailed(
            f"cannot copy the backup {directory} to {target}: {error.strerror}"
        ) from error
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return backup


@contextmanager
def opened_part(directory: Path, file: BackupFile) -> Iterator[BinaryIO]:
    """A file of the backup in `directory`, at its beginning, after all of it was verified.

    Raises: `BackupFailed` where it is missing, no plain file, or differs from the manifest.
    """
    try:
        with _opened(directory / BACKUP_DATA) as place:
            opened = os.fdopen(_open_plain(file.name, place), "rb")
        with opened:
            summed = hashlib.file_digest(opened, "sha256").hexdigest()
            if opened.tell() != file.size or summed != file.sha256:
                raise BackupFailed(f"{file.name} is not what was backed up; use another backup")
            opened.seek(0)
            yield opened
    except OSError as error:
        raise BackupFailed(f"cannot read {file.name} of {directory}: {error.strerror}") from error


def _make_new(target: Path) -> None:
    try:
        target.mkdir(mode=0o700)
    except FileExistsError:
        raise BackupFailed(f"{target} exists; name a new directory") from None
    except OSError as error:
        raise BackupFailed(f"cannot create {target}: {error.strerror}") from error


@contextmanager
def _opened(directory: Path) -> Iterator[int]:
    """Yields a descriptor of `directory`; a later rename of the directory does not change it."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _open_plain(name: str, place: int) -> int:
    """A regular file in the directory `place`, for reading. A FIFO is not waited for."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(name, flags, dir_fd=place)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BackupFailed(f"{name} is not a plain file")
    return descriptor


def _copy(name: str, source: int, copies: int, progress: Progress) -> BackupFile:
    """Copy one file, sync the copy, and say what it was."""
    if not _NAME.fullmatch(name):
        raise BackupFailed(f"{name!r} is not a name of a store's file")
    summed, size = hashlib.sha256(), 0
    reading = _open_plain(name, source)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        writing = os.open(name, flags, 0o600, dir_fd=copies)
        try:
            while piece := os.read(reading, _PIECE_BYTES):
                summed.update(piece)
                size += len(piece)
                _write_all(writing, piece)
                progress(len(piece))
            os.fsync(writing)
        finally:
            os.close(writing)
    finally:
        os.close(reading)
    return BackupFile(name, size, summed.hexdigest())


def _copy_same(file: BackupFile, source: int, copies: int, progress: Progress) -> None:
    """Copy `file`. Raises `BackupFailed` if its size or SHA-256 differs from the manifest."""
    if _copy(file.name, source, copies, progress) != file:
        raise BackupFailed(f"{file.name} is not what was backed up; use another backup")


def _names(place: int) -> list[str]:
    return sorted(os.listdir(place))


def _write_all(descriptor: int, piece: bytes) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def write_backup_manifest(target: Path, backup: Backup) -> None:
    """Write the manifest of a backup whose files are synced, and sync it. Raises `OSError`."""
    facts = backup.facts
    document = {
        "format": _FORMAT_OF_FILES if facts is None else _FORMAT_OF_RECORDS,
        "widerow": backup.version,
        "created": backup.created,
        "files": [
            {"name": each.name, "size": each.size, "sha256": each.sha256} for each in backup.files
        ],
        **({} if facts is None else {"facts": facts.document()}),
        "digest": backup.digest,
    }
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    descriptor = os.open(target / BACKUP_MANIFEST, flags, 0o600)
    try:
        _write_all(descriptor, json.dumps(document, indent=1).encode() + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_manifest(place: int) -> str:
    descriptor = _open_plain(BACKUP_MANIFEST, place)
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(_MANIFEST_BYTES_MAX + 1)
    if len(content) > _MANIFEST_BYTES_MAX:
        raise BackupFailed(f"the manifest is larger than {_MANIFEST_BYTES_MAX} bytes")
    return content.decode("utf-8", "replace")


def _parse(directory: Path, text: str) -> Backup:
    """The manifest. Raises: `BackupFailed`, `ValueError`, `KeyError`, `TypeError`."""
    document = json.loads(text)
    form = document["format"]
    if form not in {_FORMAT_OF_FILES, _FORMAT_OF_RECORDS}:
        raise BackupFailed(
            f"{directory} has the format {form!r}, this version reads {_FORMAT_OF_FILES} and "
            f"{_FORMAT_OF_RECORDS}; use the version of widerow that made it"
        )
    backup = Backup(
        _text(document["created"]),
        _text(document["widerow"]),
        tuple(_listed(each) for each in document["files"]),
        _facts(document["facts"]) if form == _FORMAT_OF_RECORDS else None,
    )
    if backup.facts is not None and not backup.files:
        raise ValueError(document["files"])  # not even the catalogue
    if not hmac.compare_digest(backup.digest, document["digest"]):
        raise ValueError(document["digest"])
    return backup


def _refuse_strangers(directory: Path, source: int, backup: Backup) -> None:
    """Raise `BackupFailed` for a file that the manifest does not name: the engine might load it."""
    strangers = set(_names(source)) - {each.name for each in backup.files}
    if strangers:
        raise BackupFailed(f"{directory} holds {min(strangers)}, which its manifest does not name")


def _listed(entry: Any) -> BackupFile:  # noqa: ANN401  # as JSON gives it
    """A file of the manifest. Raises: `ValueError`, `KeyError`, `TypeError`."""
    name, size, sha256 = _text(entry["name"]), entry["size"], _text(entry["sha256"])
    if type(size) is not int or size < 0:
        raise ValueError(size)
    if not (_NAME.fullmatch(name) and _SHA256.fullmatch(sha256)):
        raise ValueError(name)
    return BackupFile(name, size, sha256)


def _facts(found: Any) -> RecordsFacts:  # noqa: ANN401  # as JSON gives it
    """The facts of a manifest. Raises: `ValueError`, `KeyError`, `TypeError`."""
    since = {int(number): place for number, place in dict(found["since"]).items()}
    numbers = (found["records"], found["longest_key"], *since.values())
    if type(found["one_moment"]) is not bool or not all(type(each) is int for each in numbers):
        raise TypeError(found)
    return RecordsFacts(found["one_moment"], found["records"], found["longest_key"], since)


def _text(value: Any) -> str:  # noqa: ANN401  # as JSON gives it
    if not isinstance(value, str):
        raise TypeError(value)
    return value
