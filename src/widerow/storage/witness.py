"""A file beside the engine's own that says how far a store has certainly come.

A log that was cut short looks like a log whose last write was torn by a loss of power. The same is
true of the engine's list of its files (MANIFEST). The engine opens both without an error, and
acknowledged changes are missing. So after each group the store notes here which sequence number is
synced and how long the list of files is. The note is written after the group is durable and is not
synced itself: after a loss of power it may be too old, and it is never too new. A store that has
less than its witness says is damaged.

Nor does the engine see zeros where a record of a log began: it takes them for room that was not
written yet, and goes on with the next block of 32 KiB. So the logs are looked through at the
opening: zeros in front of a change that the note calls synced are damage (`check_logs`).

Layout, little-endian: magic (8 bytes), sequence number (8), number of the list's file (8), its
length (8), CRC-32 of all before (4). It is written in one piece that no sector boundary divides.

Compiled, because it is written after every group, and on one connection a group is a row.
"""

import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from rocksdict import Rdict

from widerow.errors import StoreDamaged
from widerow.storage.directory import WAYS_OUT, sync_directory

__all__ = ["Note", "Witness", "check_files", "check_logs", "check_sequence", "read_note"]

_NAME: Final = "widerow-synced"
_MAGIC: Final = b"widerow\x01"
_FACTS: Final = struct.Struct("<8sQQQ")
_CHECKSUM: Final = struct.Struct("<I")
_LOG_BLOCK_BYTES: Final = 32 * 1024  # no record of a log lies in two blocks
_LOG_HEAD_BYTES: Final = 7  # checksum (4), length (2), type (1)
_LOG_ZERO: Final = 0  # no record
_LOG_STARTS: Final = (1, 2)  # a whole change, or the first piece of one
_JOBS: Final = ("rocksdb.num-running-flushes", "rocksdb.num-running-compactions")


class Note(NamedTuple):
    """What is synced: a sequence number, and the number and length of the list of files."""

    sequence: int
    manifest: int
    manifest_bytes: int


def read_note(directory: Path) -> Note | None:
    """The note in a store's witness file; None if the store has no such file, as a new copy.

    Raises: `StoreDamaged` if the file is not as it was written.
    """
    file = directory / _NAME
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return None
    if not content:
        return None  # the power failed before the first note reached the disk
    facts, checksum = content[: _FACTS.size], content[_FACTS.size :]
    if checksum != _CHECKSUM.pack(zlib.crc32(facts)) or facts[:8] != _MAGIC:
        raise StoreDamaged(
            f"{file} is damaged, so nothing says whether the store is whole; {WAYS_OUT}"
        )
    return Note(*_FACTS.unpack(facts)[1:])


def check_files(directory: Path, note: Note) -> None:
    """Raise `StoreDamaged` if the engine's list of files is older or shorter than the note says."""
    number = _manifest_number(directory)
    if number is None or number > note.manifest:  # unreadable, or made whole at a later opening
        return
    file = _manifest(directory, number)
    size = file.stat().st_size if file.exists() else 0
    if number < note.manifest or size < note.manifest_bytes:
        raise _damaged(directory, f"{file.name} is older or shorter than it was")


def check_logs(directory: Path, note: Note) -> None:
    """Raise `StoreDamaged` if a log has zeros in front of a change that the note calls synced.

    Zeros at the end of the newest log, or in front of what was not synced, are what a loss of
    power leaves. Cost: a read of the logs, which opening reads as well, and a step a record.
    """
    hole = ""
    for file in sorted(directory.glob("*.log"), key=lambda each: (len(each.name), each.name)):
        with suppress(OSError), file.open("rb") as log:  # the engine says what it cannot read
            hole = _hole_in_front(log, file.name, hole, note.sequence)


def _hole_in_front(log: BinaryIO, name: str, hole: str, synced: int) -> str:
    """The last log with zeros, from `hole` and this one. Raises `StoreDamaged`."""
    while block := log.read(_LOG_BLOCK_BYTES):
        at = 0
        while at + _LOG_HEAD_BYTES <= len(block):
            kind = block[at + 6]
            if kind == _LOG_ZERO:
                hole = name
                break
            start = at + _LOG_HEAD_BYTES
            if hole and kind in _LOG_STARTS:
                change = int.from_bytes(block[start : start + 8], "little")
                if change <= synced:
                    raise _damaged(Path(log.name).parent, f"{hole} has zeros where changes were")
            at = start + block[at + 4] + 256 * block[at + 5]
    return hole


def check_sequence(directory: Path, note: Note, sequence: int) -> None:
    """Raise `StoreDamaged` if an opened store's sequence number is below the note's."""
    if sequence < note.sequence:
        raise _damaged(
            directory, f"it ends at change {sequence}, and {note.sequence} was acknowledged"
        )


def _damaged(directory: Path, reason: str) -> StoreDamaged:
    return StoreDamaged(
        f"the store in {directory} lacks changes that it had ({reason}): a file was cut short, "
        f"overwritten, or replaced by an older one; {WAYS_OUT}"
    )


def _manifest_number(directory: Path) -> int | None:
    """The number of the current list of files; None if CURRENT has none (the engine refuses it)."""
    name = (directory / "CURRENT").read_bytes().strip()
    digits = name.removeprefix(b"MANIFEST-")
    return int(digits) if digits.isdigit() else None


def _manifest(directory: Path, number: int) -> Path:
    return directory / f"MANIFEST-{number:06d}"


class Witness:
    """The witness of an open store. For its writer alone."""

    def __init__(self, directory: Path, engine: Rdict) -> None:
        """Note what was found at the opening, durably, so that the file is there from now on.

        This object keeps no reference to the engine, which would keep the directory locked.
        """
        self._number = _manifest_number(directory) or 0
        self._manifest = str(_manifest(directory, self._number))  # measured after every group
        self._manifest_bytes = 0
        self._file = os.open(directory / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.note(engine)
        with suppress(OSError):
            os.fsync(self._file)
            sync_directory(directory)

    def note(self, engine: Rdict) -> None:
        """Write the store's present sequence number; everything up to it must be synced.

        If the note cannot be written, the older note stays, which is true as well.
        """
        sequence = engine.latest_sequence_number()
        try:
            self._measure(engine)
            facts = _FACTS.pack(_MAGIC, sequence, self._number, self._manifest_bytes)
            os.pwrite(self._file, facts + _CHECKSUM.pack(zlib.crc32(facts)), 0)
        except OSError:
            return

    def _measure(self, engine: Rdict) -> None:
        """Take over the length of the list if all of it is synced: if no job is writing to it."""
        size = os.stat(self._manifest).st_size  # noqa: PTH116  # a `str`: measured after every group
        if size != self._manifest_bytes and not any([*map(engine.property_int_value, _JOBS)]):
            self._manifest_bytes = size

    def close(self) -> None:
        """Close the file. Idempotent."""
        descriptor, self._file = self._file, -1
        if descriptor >= 0:
            os.close(descriptor)
