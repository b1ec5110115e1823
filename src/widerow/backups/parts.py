"""The parts of a backup of records: files of compressed frames (docs/formats/backup.md, "Parts").

A frame is the length of what follows (4 bytes, big-endian) and records, compressed by zlib. In it a
shard begins with 00, the length of its name (4) and the name; then come its records: the space (1),
the lengths of what the key has behind the name, and of the value (4 each), both. The whole file's
SHA-256 stands in the manifest, and is verified before a frame is read.
"""

import hashlib
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

from widerow.engine.shard_ranges import ShardRecord
from widerow.storage.backup import BackupFailed, BackupFile

__all__ = ["PartWriter", "ShardPiece", "read_part"]

FRAME_BYTES: Final = 1024 * 1024  # of records, after which a frame ends
FRAME_BYTES_MAX: Final = 64 * 1024 * 1024  # of records; one alone may be larger than a frame
_LENGTH: Final = struct.Struct(">I")
_SHARD: Final = struct.Struct(">BI")
_RECORD: Final = struct.Struct(">BII")
_SHARD_MARK: Final = 0
_LEVEL: Final = 1  # zlib's quickest


class ShardPiece(NamedTuple):
    """Records of one shard, by their keys; a large shard comes in several pieces."""

    shard: bytes
    records: list[tuple[bytes, bytes]]


class PartWriter:
    """Writes one part. `records`: how many it has; `longest_key`: bytes of the longest."""

    def __init__(self, file: BinaryIO) -> None:
        """An empty part in an empty file."""
        self.records = 0
        self.longest_key = 0
        self.written = 0
        self._file = file
        self._summed = hashlib.sha256()
        self._frame: list[bytes] = []
        self._size = 0
        self._shard: bytes | None = None

    def add(self, record: ShardRecord) -> None:
        """Add a record. Raises `OSError`, `BackupFailed` for one that no frame can hold."""
        shard, key, value = record
        if shard != self._shard:
            self._take(_SHARD.pack(_SHARD_MARK, len(shard)) + shard)
            self._shard = shard
        rest = key[1 + len(shard) :]
        self._take(_RECORD.pack(key[0], len(rest), len(value)) + rest + value)
        self.records += 1
        self.longest_key = max(self.longest_key, len(key))
        if self._size >= FRAME_BYTES:
            self._end_frame()

    def finish(self, name: str) -> BackupFile:
        """End the part; what the manifest says of it. The file is not synced."""
        self._end_frame()
        return BackupFile(name, self.written, self._summed.hexdigest())

    def _take(self, data: bytes) -> None:
        self._frame.append(data)
        self._size += len(data)

    def _end_frame(self) -> None:
        if not self._frame:
            return
        if self._size > FRAME_BYTES_MAX:
            raise BackupFailed(f"a record of {self._size} bytes is larger than a backup takes")
        packed = zlib.compress(b"".join(self._frame), _LEVEL)
        data = _LENGTH.pack(len(packed)) + packed
        self._file.write(data)
        self._summed.update(data)
        self.written += len(data)
        self._frame, self._size, self._shard = [], 0, None


def read_part(file: BinaryIO, name: str) -> Iterator[ShardPiece]:
    """The shards of a part, in the order in which they were written. Memory: one frame.

    Raises: `BackupFailed` where the file, called `name`, is no such part; `OSError`.
    """
    while head := file.read(_LENGTH.size):
        length = _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else FRAME_BYTES_MAX + 1
        packed = file.read(length) if length <= FRAME_BYTES_MAX else b""
        if len(packed) != length:
            raise _damaged(name)
        unpacking = zlib.decompressobj()
        try:
            frame = unpacking.decompress(packed, FRAME_BYTES_MAX)
            if not unpacking.eof or unpacking.unused_data:
                raise _damaged(name)
            yield from _pieces(frame)
        except (zlib.error, struct.error, ValueError) as error:
            raise _damaged(name) from error


def _pieces(frame: bytes) -> Iterator[ShardPiece]:
    """The shards of a frame. Raises: `struct.error`, `ValueError`."""
    at, piece = 0, None
    while at < len(frame):
        if frame[at] == _SHARD_MARK:
            if piece is not None:
                yield piece
            begin = at + _SHARD.size
            at = begin + _SHARD.unpack_from(frame, at)[1]
            piece = ShardPiece(frame[begin:at], [])
            continue
        space, length, size = _RECORD.unpack_from(frame, at)
        begin = at + _RECORD.size
        at = begin + length + size
        if piece is None or at > len(frame):
            raise ValueError(at)
        key = bytes((space,)) + piece.shard + frame[begin : begin + length]
        piece.records.append((key, frame[begin + length : at]))
    if at != len(frame):
        raise ValueError(at)
    if piece is not None:
        yield piece


def _damaged(name: str) -> BackupFailed:
    return BackupFailed(f"{name} is no part of a backup of records; use another backup")
