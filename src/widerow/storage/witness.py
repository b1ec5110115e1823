"""A file beside the engine's own that says how far a store has certainly come.

A log that was cut short looks like one whose last write was torn by a loss of power, and so does
the engine's list of its files (MANIFEST): both are opened without a word, and what was acknowledged
is gone. So after each group the store notes here which sequence number is synced and how long the
list is. The note itself is not synced, which costs nothing: it is written after what it tells of
is durable, so it can be late after a loss of power, and never early. A store that has less than its
witness says is damaged.

Layout, little-endian: magic (8 bytes), sequence number (8), number of the list's file (8), its
length (8), CRC-32 of all before (4). It is written in one piece that no sector boundary divides.

Compiled, because it is written after every group, and on one connection a group is a row.
"""

import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from rocksdict import Rdict

from widerow.errors import StoreDamaged
from widerow.storage.directory import WAYS_OUT, sync_directory

__all__ = ["Note", "Witness", "check_files", "check_sequence", "read_note"]

_NAME: Final = "widerow-synced"
_MAGIC: Final = b"widerow\x01"
_FACTS: Final = struct.Struct("<8sQQQ")
_CHECKSUM: Final = struct.Struct("<I")
_JOBS: Final = ("rocksdb.num-running-flushes", "rocksdb.num-running-compactions")


class Note(NamedTuple):
    """What is certainly on the disk: a sequence number, and so much of the list of files."""

    sequence: int
    manifest: int
    manifest_bytes: int


def read_note(directory: Path) -> Note | None:
    """What the witness of a store says; None if it has none (as a fresh copy has not).

    Raises: `StoreDamaged` if the file is not as it was written.
    """
    file = directory / _NAME
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return None
    if not content:
        return None  # its first content was lost with the power
    facts, checksum = content[: _FACTS.size], content[_FACTS.size :]
    if checksum != _CHECKSUM.pack(zlib.crc32(facts)) or facts[:8] != _MAGIC:
        raise StoreDamaged(
            f"{file} is damaged, so nothing says whether the store is whole; {WAYS_OUT}"
        )
    return Note(*_FACTS.unpack(facts)[1:])


def check_files(directory: Path, note: Note) -> None:
    """Raise `StoreDamaged` if the engine's list of files is older or shorter than noted."""
    number = _manifest_number(directory)
    if number is None or number > note.manifest:  # unreadable, or made whole at a later opening
        return
    file = _manifest(directory, number)
    size = file.stat().st_size if file.exists() else 0
    if number < note.manifest or size < note.manifest_bytes:
        raise _damaged(directory, f"{file.name} is older or shorter than it was")


def check_sequence(directory: Path, note: Note, sequence: int) -> None:
    """Raise `StoreDamaged` if an opened store has come less far than noted."""
    if sequence < note.sequence:
        raise _damaged(
            directory, f"it ends at change {sequence}, and {note.sequence} was acknowledged"
        )


def _damaged(directory: Path, reason: str) -> StoreDamaged:
    return StoreDamaged(
        f"the store in {directory} lacks changes that it had ({reason}): a file was cut short or "
        f"replaced by an older one; {WAYS_OUT}"
    )


def _manifest_number(directory: Path) -> int | None:
    """The number of the list that is in force, None if nothing tells (the engine refuses then)."""
    name = (directory / "CURRENT").read_bytes().strip()
    digits = name.removeprefix(b"MANIFEST-")
    return int(digits) if digits.isdigit() else None


def _manifest(directory: Path, number: int) -> Path:
    return directory / f"MANIFEST-{number:06d}"


class Witness:
    """The witness of an open store. For its writer alone."""

    def __init__(self, directory: Path, engine: Rdict) -> None:
        """Note what was found at the opening, durably, so that the file is there from now on.

        The engine is not kept: whoever keeps it keeps the directory locked.
        """
        self._number = _manifest_number(directory) or 0
        self._manifest = str(_manifest(directory, self._number))  # measured after every group
        self._manifest_bytes = 0
        self._file = os.open(directory / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self.note(engine)
        with suppress(OSError):
            os.fsync(self._file)
            sync_directory(directory)

    def note(self, engine: Rdict) -> None:
        """Write down how far the store has come; everything written to it is synced by now.

        What cannot be written leaves an older note, which is right as well.
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
        size = os.stat(self._manifest).st_size  # noqa: PTH116  # it is no path, see above
        if size != self._manifest_bytes and not any([*map(engine.property_int_value, _JOBS)]):
            self._manifest_bytes = size

    def close(self) -> None:
        """Close the file. Idempotent."""
        descriptor, self._file = self._file, -1
        if descriptor >= 0:
            os.close(descriptor)
