"""Makes a backup of records of a store that may be written meanwhile (docs/operating/backup.md).

Where a snapshot of the store is one moment, all is read from one snapshot. Else each shard is read
at a moment of its own, behind the beginning of the backup, so it is whole and has every write that
was acknowledged before that. Between shards three rules keep the copy right:

* Ranges of a table are read in the order of `engine/shard_ranges.py`, each range that follows
  another one from a snapshot that is taken behind the end of that one.
* The catalogue is read last. Tables whose records could have been read beside another definition
  (`CatalogModel.copy_mark`) are copied once more, until there are none.
* Entries of indexes that lie outside the shards of their rows are left out. They are made again
  from the rows (`restoring.py`).

A backup that was broken off is gone on with, by its notes (`notes.py`), and is then of several
moments. A part whose snapshot was lost is made again.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any, BinaryIO, Final, NamedTuple

from widerow.backups.notes import BackupNotes, CopyPlace, PartNote
from widerow.backups.parts import PartWriter
from widerow.engine.catalog.catalog import check_format
from widerow.engine.catalog.draft import load_state
from widerow.engine.catalog.model import CatalogModel
from widerow.engine.engine import catalog_models
from widerow.engine.shard_ranges import ShardRange, ShardRecord, shard_ranges, shard_records
from widerow.engine.table_models import TABLE_MODELS
from widerow.errors import StorageFailure, StoreBusy
from widerow.keys.encode import after_prefix
from widerow.keys.layout import CATALOG_SPACES, LEASE_KEY, SPACE_STORE, STORE_FORMAT_KEY
from widerow.storage.backup import (
    BACKUP_DATA,
    Backup,
    BackupFailed,
    BackupFile,
    RecordsFacts,
    write_backup_manifest,
)
from widerow.storage.directory import sync_directory
from widerow.storage.interface import Snapshot, Store

__all__ = ["CATALOGUE_SHARD", "PART_BYTES", "ToldRecords", "back_up_records"]

PART_BYTES: Final = 64 * 1024 * 1024  # compressed; a kill costs the reading of one part
ROUNDS_MAX: Final = 10  # of copying tables that changed meanwhile
ATTEMPTS_MAX: Final = 20  # to make a part; a database that restarts takes some seconds
PAUSE_SECONDS: Final = 0.5  # longer by as much with each attempt
CATALOGUE_SHARD: Final = b""
"""The name, in parts, of the shard of the catalogue and of the store itself."""
TOLD_RECORDS: Final = 1000

ToldRecords = Callable[[int, int], None]
"""Called with the records and the bytes of them since the last call."""


class _CopiedTable(NamedTuple):
    """A table to be copied: its number, the digest of its mark, and its ranges in order."""

    number: int
    mark: str
    ranges: list[ShardRange]


class _Lost(Exception):
    """A part has to be made again; the cause says why."""


def back_up_records(
    store: Store,
    target: Path,
    of: str,
    *,
    created: str,
    version: str,
    told: ToldRecords = lambda *_: None,
    rest: Callable[[float], None] = sleep,
) -> Backup:
    """Copy the store into the new directory `target`, or go on with what was begun there.

    `of` names the store, for the check that it is the same one. `rest` waits, between attempts to
    read from a store that is busy.

    Raises: `BackupFailed`; `StorageFailure` where the store cannot be read. What was finished
    stays then, and the next call goes on behind it.
    """
    notes = BackupNotes(target, of)
    try:
        return _Making(store, notes, told, rest).all(created, version)
    except OSError as error:
        raise BackupFailed(f"cannot write the backup {target}: {error.strerror}") from error
    finally:
        notes.close()


class _Making:
    """One run of a backup."""

    def __init__(
        self, store: Store, notes: BackupNotes, told: ToldRecords, rest: Callable[[float], None]
    ) -> None:
        self._store = store
        self._notes = notes
        self._told = told
        self._rest = rest
        self._is_one = store.capabilities.shows_one_moment and not notes.resumed
        self._moment = store.snapshot() if self._is_one else None
        # Marks of the tables that are copied, by their numbers, and where numbers begin.
        self._copied: dict[int, str] = {}
        self._since: dict[int, int] = {}
        for at, part in enumerate(notes.parts):
            self._learn(at, part)

    def _learn(self, at: int, part: PartNote) -> None:
        self._copied.update(part.ended)
        self._since.update(dict.fromkeys(part.begun, at))

    def all(self, created: str, version: str) -> Backup:
        """Copy what is not copied yet, then the catalogue, and write the manifest."""
        rounds = 0
        while True:
            state, records = self._catalogue()
            due = [each for each in state if self._copied.get(each.number) != each.mark]
            if not due:
                break
            if rounds == ROUNDS_MAX:
                raise BackupFailed(
                    f"{len(due)} tables change all the time: make the backup when their "
                    "definitions and partitions stay as they are"
                )
            self._copy(due)
            rounds += 1
        part = self._attempts(partial(self._put_catalogue, records))
        self._take(part)
        return self._manifest(created, version)

    # --- the catalogue -----------------------------------------------------------------------

    def _catalogue(self) -> tuple[list[_CopiedTable], list[ShardRecord]]:
        """Every table, and the records of the store and its catalogue, of one moment."""
        for attempt in range(1, ATTEMPTS_MAX + 1):
            try:
                return self._read_catalogue(self._moment or self._store.snapshot())
            except StoreBusy as error:
                self._lose_moment(attempt, error)
        raise AssertionError("the last attempt returns or raises")

    def _read_catalogue(self, reader: Snapshot) -> tuple[list[_CopiedTable], list[ShardRecord]]:
        form = reader.get(STORE_FORMAT_KEY)
        if form is None:
            raise BackupFailed("there is nothing to back up: it is no store of widerow")
        check_format(form)
        met: dict[type[Any], CatalogModel[Any]] = {}
        state = load_state(reader, catalog_models(TABLE_MODELS), met)
        records = [
            ShardRecord(CATALOGUE_SHARD, key, value)
            for space in (SPACE_STORE, *CATALOG_SPACES)
            for key, value in reader.scan(space, after_prefix(space))
            if key not in {LEASE_KEY, STORE_FORMAT_KEY}
        ]
        tables = sorted(state.by_id.items())
        return [_copied(met[type(table)], table) for _, table in tables], records

    def _put_catalogue(self, records: Sequence[ShardRecord], file: BinaryIO) -> PartNote:
        writer = PartWriter(file)
        for record in records:
            writer.add(record)
        return self._noted(writer, (), {}, None)

    # --- tables ------------------------------------------------------------------------------

    def _copy(self, due: list[_CopiedTable]) -> None:
        """Copy tables, part by part, beginning where the last part ended if that is among them."""
        place = self._notes.parts[-1].following if self._notes.parts else None
        at = next((i for i, each in enumerate(due) if place and each.number == place.table), None)
        if place is None or at is None or due[at].mark != place.mark:
            place = CopyPlace(due[0].number, due[0].mark, 0, b"")
        else:
            due = [*due[at:], *due[:at]]
        following: CopyPlace | None = place
        while following is not None:
            part = self._attempts(partial(self._fill, due, following))
            self._take(part)
            following = part.following

    def _fill(self, due: Sequence[_CopiedTable], begin: CopyPlace, file: BinaryIO) -> PartNote:
        """Write the shards from a place on, until the part has its size or all is copied."""
        writer = PartWriter(file)
        begun: list[int] = []
        ended: dict[int, str] = {}
        first = next(i for i, each in enumerate(due) if each.number == begin.table)
        for table in due[first:]:
            place = begin if table is due[first] else CopyPlace(table.number, table.mark, 0, b"")
            if writer.written >= PART_BYTES:
                return self._noted(writer, begun, ended, place)
            if place.range == 0 and not place.position:
                begun += {each.number for each in table.ranges}
            for at in range(place.range, len(table.ranges)):
                start = place.position if at == place.range else b""
                stopped = self._write_range(writer, table.ranges[at], start)
                if stopped is not None:
                    following = CopyPlace(table.number, table.mark, at, stopped)
                    return self._noted(writer, begun, ended, following)
            ended[table.number] = table.mark
        return self._noted(writer, begun, ended, None)

    def _write_range(self, writer: PartWriter, found: ShardRange, start: bytes) -> bytes | None:
        """Write a range from a shard on; the shard at which the part has its size."""
        if found.is_derived and not self._is_one:
            return None
        reader = self._moment or self._store.snapshot()
        shard: bytes | None = None
        records = size = 0
        for record in shard_records(reader, found, start):
            if record.shard != shard:
                if writer.written >= PART_BYTES:
                    self._told(records, size)
                    return record.shard
                shard = record.shard
            writer.add(record)
            records += 1
            size += len(record.key) + len(record.value)
            if records == TOLD_RECORDS:
                self._told(records, size)
                records = size = 0
        self._told(records, size)
        return None

    # --- parts -------------------------------------------------------------------------------

    def _attempts(self, fill: Callable[[BinaryIO], PartNote]) -> PartNote:
        """Make a part, again where the store was busy or lost its snapshot."""
        for attempt in range(1, ATTEMPTS_MAX + 1):
            with self._new_file() as file:
                try:
                    part = fill(file)
                except StoreBusy as error:
                    self._lose_moment(attempt, error)
                    continue
                file.flush()
                os.fsync(file.fileno())
            sync_directory(self._notes.target / BACKUP_DATA)
            return part
        raise AssertionError("the last attempt returns or raises")

    def _lose_moment(self, attempt: int, error: StorageFailure) -> None:
        """Go on at other moments, after a pause. Raises `error` after the last attempt."""
        if attempt == ATTEMPTS_MAX:
            raise error
        self._is_one, self._moment = False, None
        self._rest(PAUSE_SECONDS * attempt)

    @contextmanager
    def _new_file(self) -> Iterator[BinaryIO]:
        path = self._notes.target / BACKUP_DATA / self._name()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            yield file

    def _name(self) -> str:
        return f"{len(self._notes.parts):06}.part"

    def _noted(
        self,
        writer: PartWriter,
        begun: Sequence[int],
        ended: dict[int, str],
        following: CopyPlace | None,
    ) -> PartNote:
        file = writer.finish(self._name())
        counted = writer.records, writer.longest_key
        return PartNote(file, *counted, self._is_one, tuple(begun), ended, following)

    def _take(self, part: PartNote) -> None:
        self._learn(len(self._notes.parts), part)
        self._notes.add(part)

    def _manifest(self, created: str, version: str) -> Backup:
        parts = self._notes.parts
        facts = RecordsFacts(
            all(each.one_moment for each in parts),
            sum(each.records for each in parts),
            max(each.longest_key for each in parts),
            self._since,
        )
        files: tuple[BackupFile, ...] = tuple(each.file for each in parts)
        backup = Backup(created, version, files, facts)
        write_backup_manifest(self._notes.target, backup)
        sync_directory(self._notes.target)
        self._notes.end()
        return backup


def _copied(model: CatalogModel[Any], table: Any) -> _CopiedTable:  # noqa: ANN401  # of any model
    mark = hashlib.sha256(model.copy_mark(table)).hexdigest()
    return _CopiedTable(table.id, mark, shard_ranges(model, table))
