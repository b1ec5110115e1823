"""The progress of a backup of records, in a file beside its parts, so that it can be gone on with.

    BACKUP/progress.jsonl   one JSON object a line: first what is backed up, then each finished part

A part is noted after it is synced. What a kill leaves behind without a note is made again.
"""

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from widerow.storage.backup import BACKUP_DATA, BACKUP_MANIFEST, BackupFailed, BackupFile
from widerow.storage.directory import sync_directory

__all__ = ["BackupNotes", "CopyPlace", "PartNote"]

PROGRESS: Final = "progress.jsonl"
_FORMAT: Final = 1


class CopyPlace(NamedTuple):
    """Where a copy goes on: in a range of a table, by its place among the table's ranges.

    `mark`: of the table's definition (`CatalogModel.copy_mark`), as a digest. `position`: the name
    of the next shard; empty: the first of the range.
    """

    table: int
    mark: str
    range: int
    position: bytes


@dataclass(frozen=True, slots=True)
class PartNote:
    """A finished part.

    `one_moment`: whether it is of the moment of the parts before it. `begun`: numbers whose copy
    begins in it. `ended`: marks of the tables whose copy ends in it, by their numbers. `following`:
    where the next part begins; None: every table was copied once more.
    """

    file: BackupFile
    records: int
    longest_key: int
    one_moment: bool
    begun: tuple[int, ...]
    ended: Mapping[int, str]
    following: CopyPlace | None


class BackupNotes:
    """The notes of one backup, which this process alone has open.

    `parts`: those that are finished. `resumed`: whether there were any when the notes were opened.
    """

    def __init__(self, target: Path, of: str) -> None:
        """Open the notes of an unfinished backup in `target`, or begin a new one there.

        `of`: names the store. Raises: `BackupFailed` for a directory with something else, the
        backup of another store, or one that another process works on.
        """
        self.target = target
        self.parts: list[PartNote] = []
        path = target / PROGRESS
        try:
            _make(target)
            self._file = os.fdopen(
                os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "r+b"
            )
        except OSError as error:
            raise BackupFailed(f"cannot write {path}: {error.strerror}") from error
        try:
            self._open(of)
        except BaseException:
            self._file.close()
            raise
        self.resumed = bool(self.parts)

    def _open(self, of: str) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BackupFailed(f"another backup writes into {self.target}; wait for it") from error
        found = self._file.read()
        whole = found[: found.rfind(b"\n") + 1]  # a kill may have torn the last line
        os.truncate(self._file.fileno(), len(whole))
        if not whole:
            self._note({"format": _FORMAT, "store": of})
            sync_directory(self.target)
            return
        try:
            first, *lines = [json.loads(line) for line in whole.splitlines()]
            begun = first["format"], first["store"]
            self.parts = [_part_of(line) for line in lines]
        except (ValueError, KeyError, TypeError) as error:
            raise BackupFailed(f"{self.target / PROGRESS} is damaged; begin anew") from error
        if begun != (_FORMAT, of):
            raise BackupFailed(
                f"{self.target} has an unfinished backup of {begun[1]}; name another"
            )
        known = {each.file.name for each in self.parts}
        for path in (self.target / BACKUP_DATA).iterdir():
            if path.name not in known:
                path.unlink()  # was not finished

    def add(self, part: PartNote) -> None:
        """Note a part that is synced. Raises `OSError`."""
        self._note(_line_of(part))
        self.parts.append(part)

    def end(self) -> None:
        """Remove the notes: the manifest is there."""
        (self.target / PROGRESS).unlink()
        sync_directory(self.target)

    def close(self) -> None:
        """Close the file; the backup may be gone on with."""
        self._file.close()

    def _note(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def _make(target: Path) -> None:
    """Make the directory, or find that an unfinished backup is in it."""
    if target.exists() or target.is_symlink():
        if (target / BACKUP_MANIFEST).exists() or not (target / PROGRESS).is_file():
            raise BackupFailed(f"{target} exists; name a new directory")
        return
    target.mkdir(mode=0o700)
    (target / BACKUP_DATA).mkdir(mode=0o700)
    sync_directory(target.parent)


def _line_of(part: PartNote) -> dict[str, Any]:
    place = part.following
    return {
        "file": [part.file.name, part.file.size, part.file.sha256],
        "records": part.records,
        "longest_key": part.longest_key,
        "one_moment": part.one_moment,
        "begun": part.begun,
        "ended": part.ended,
        "following": place and [place.table, place.mark, place.range, place.position.hex()],
    }


def _part_of(line: dict[str, Any]) -> PartNote:
    """The part of a line. Raises: `ValueError`, `KeyError`, `TypeError`."""
    place = line["following"]
    return PartNote(
        BackupFile(*line["file"]),
        line["records"],
        line["longest_key"],
        line["one_moment"],
        tuple(line["begun"]),
        {int(number): mark for number, mark in line["ended"].items()},
        place and CopyPlace(place[0], place[1], place[2], bytes.fromhex(place[3])),
    )
