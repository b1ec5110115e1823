"""The framing of the engine's logs and of its list of files, looked at before it opens them.

A file is blocks of 32 KiB, a block is records: checksum (4), length (2), kind (1), content; numbers
little-endian, the checksum a masked CRC-32C over kind and content. Kinds 5 to 8 and 11 are those of
logs that are written over older ones, which these never are. One damaged byte can make one of them,
and RocksDB 9.8 then reads that record again and again, for ever. So they are damage that we have to
find.

A record of kind and length 0 is room that was reserved and not written: the engine goes on at the
next block without a word. That is right in the newest log, which a power cut may leave with a hole
in what was not synced. An older log was synced whole before the next one began, so a hole in it has
taken rows that were acknowledged. All other damage the engine finds by itself.
"""

import os
import re
from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Final

from fastcrc.crc32 import iscsi

from widerow.errors import StoreDamaged
from widerow.storage.directory import WAYS_OUT

__all__ = ["check_framing", "mend_framing"]

_BLOCK_BYTES: Final = 32 * 1024
_HEAD_BYTES: Final = 7
_NEVER_WRITTEN: Final = frozenset((5, 6, 7, 8, 11))
_UNKNOWN: Final = b"\xff"  # a kind that the engine reports
_MASK: Final = 0xA282EAD8
_WRITTEN: Final = re.compile(rb"[^\x00]")


def check_framing(directory: Path) -> None:
    """Raise `StoreDamaged` where the engine would read a record for ever, or pass over a hole.

    Reads the files once.
    """
    files = _files(directory)
    newest = max((file for file in files if file.suffix == ".log"), default=None)
    for file in files:
        is_closed = file.suffix == ".log" and file != newest
        for offset in _endless_in(file, past_damage=False, is_closed=is_closed):
            raise StoreDamaged(
                f"{file} is damaged at byte {offset}: there is no record of such a kind; {WAYS_OUT}"
            )


def mend_framing(directory: Path) -> None:
    """Overwrite the kinds of records that the engine would read for ever: it reports damage then.

    For stores that are opened although they are damaged. The new kind is one that the engine knows
    to be wrong.
    """
    for file in _files(directory):
        offsets = _endless_in(file, past_damage=True)
        if not offsets:
            continue
        with file.open("r+b") as changed:
            for offset in offsets:
                changed.seek(offset)
                changed.write(_UNKNOWN)
            changed.flush()
            os.fsync(changed.fileno())


def _files(directory: Path) -> list[Path]:
    return sorted((*directory.glob("MANIFEST-*"), *directory.glob("*.log")))


def _endless_in(file: Path, *, past_damage: bool, is_closed: bool = False) -> list[int]:
    if file.stat().st_size == 0:
        return []
    with file.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as content:
        return list(_endless(content, past_damage=past_damage, is_closed=is_closed))


def _endless(content: mmap, *, past_damage: bool, is_closed: bool) -> Iterator[int]:
    """Offsets of the kinds that the engine would read for ever, of those that its reading reaches.

    And those of holes, in a log that `is_closed`: with records behind them, or with none before.
    The engine drops the rest of a block behind a damaged record, and stops reading there unless
    `past_damage`.
    """
    for block in range(0, len(content), _BLOCK_BYTES):
        at, end = block, min(block + _BLOCK_BYTES, len(content))
        while at + _HEAD_BYTES <= end:
            length = content[at + 4] | content[at + 5] << 8
            kind = content[at + 6]
            stop = at + _HEAD_BYTES + length
            if kind in _NEVER_WRITTEN:
                yield at + 6
                break
            if kind == length == 0:
                if is_closed and (at == 0 or _WRITTEN.search(content, at)):
                    yield at + 6
                break  # room that was reserved and not written
            if stop > end or not _is_whole(content, at, stop):
                if not past_damage:
                    return
                break
            at = stop


def _is_whole(content: mmap, at: int, stop: int) -> bool:
    crc = iscsi(content[at + 6 : stop])
    masked = ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF
    return masked == int.from_bytes(content[at : at + 4], "little")
