"""Rows of one file with the same primary key: the last one counts, in the order of the file.

An import sends rows on several connections, in another order than the file has, and sends parts
again after a kill. That is harmless only if no two of its rows have the same key. So the file is
read once before the first row is sent, and rows that a later row replaces are never sent.

Memory is bounded. Of each row a digest of its key and its place are kept, 24 bytes. They are spread
over 256 partitions by the digest; what a partition holds beyond 64 KiB goes to a temporary file
beside the import's, without a name, so that a kill leaves nothing. Then one partition after the
other is sorted. In memory are at most 16 MiB, about four times the largest partition (for a hundred
million rows 40 MiB), and one bit for each line of the file if it has any such row. On disk are 24
bytes for each row. A digest has 128 bits: among 10^9 different keys two have the same one with a
probability of 10^-21.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, Self

from widerow.model.tablestore.schema import KeyColumn
from widerow.row_files.source import FileSource, Progress, Record
from widerow.transfer.failures import TransferFailed
from widerow.transfer.layout import read_key

__all__ = ["Repeats", "find_repeats", "last_rows"]

_DIGEST_BYTES: Final = 16
_PLACE_BYTES: Final = 8
_ENTRY_BYTES: Final = _DIGEST_BYTES + _PLACE_BYTES
_PARTITIONS: Final = 256  # one for each value of a digest's first byte
_HELD_BYTES: Final = 64 * 1024  # bytes of a partition that are kept in memory


class Repeats:
    """The places of the rows that a later row of the file with the same key replaces.

    `first` is the first of them, and the place of a later row with its key.
    """

    def __init__(self) -> None:
        self.count = 0
        self.first: tuple[int, int] | None = None
        self._bits = bytearray()

    def __contains__(self, place: int) -> bool:
        """Whether the row at this place is replaced. Constant time."""
        at = place >> 3
        return at < len(self._bits) and bool(self._bits[at] >> (place & 7) & 1)

    def add(self, place: int, following: int) -> None:
        """Note that the row at `place`, not noted before, is replaced by the one at `following`."""
        at = place >> 3
        if at >= len(self._bits):
            self._bits.extend(bytes(at + 1 - len(self._bits)))
        self._bits[at] |= 1 << (place & 7)
        self.count += 1
        if self.first is None or place < self.first[0]:
            self.first = place, following


def find_repeats(
    source: FileSource, key: Sequence[KeyColumn], progress: Progress | None = None
) -> Repeats:
    """Read a file once and find the rows that a later row with the same key replaces.

    Rows whose key cannot be read count as none: an import puts them aside. `progress` is told how
    much of the file is behind. n log n.

    Raises: `FileInvalid`; `TransferFailed` where the temporary files cannot be written.
    """
    found = Repeats()
    try:
        with _Partitions(source.path.parent, found) as partitions:
            for place, digest in _digests(source, key, progress):
                partitions.add(digest, place)
            partitions.finish()
    except OSError as error:
        raise TransferFailed(
            f"cannot write temporary files beside {source.path}: {error.strerror}; looking for "
            "rows with the same key needs 24 bytes there for each row of the file"
        ) from error
    return found


def last_rows(source: FileSource, key: Sequence[KeyColumn], aside: set[int]) -> list[Record]:
    """The last row that was not put aside, of each key of which a row was put aside.

    `aside`: the places of those rows; there are no more results than places. Reads the file twice.
    Raises: `FileInvalid`.
    """
    wanted = {digest for place, digest in _digests(source, key, None) if place in aside}
    rows: dict[bytes, Record] = {}
    if wanted:
        for record in source.records(rejected=lambda *_: None):
            digest = _digest(record, key)
            if digest in wanted and record.place not in aside:
                rows[digest] = record
    return list(rows.values())


def _digests(
    source: FileSource, key: Sequence[KeyColumn], progress: Progress | None
) -> Iterator[tuple[int, bytes]]:
    """Place and digest of every row that has a key."""
    # Only Parquet reads less where fewer columns are wanted; elsewhere a line that lacks one would
    # end the reading.
    columns = [column.name for column in key] if source.columnar else None
    for record in source.records(columns, progress, rejected=lambda *_: None):
        digest = _digest(record, key)
        if digest is not None:
            yield record.place, digest


def _digest(record: Record, key: Sequence[KeyColumn]) -> bytes | None:
    with suppress(ValueError):
        values = tuple(value for _, value in read_key(record.fields, key))
        return blake2b(repr(values).encode(), digest_size=_DIGEST_BYTES).digest()
    return None


class _Partitions:
    """Digests and places, divided by the digest, most of them on disk."""

    def __init__(self, folder: Path, found: Repeats) -> None:
        self._folder = folder
        self._found = found
        self._held = [bytearray() for _ in range(_PARTITIONS)]
        self._files: dict[int, IO[bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def add(self, digest: bytes, place: int) -> None:
        number = digest[0]
        held = self._held[number]
        held += digest + place.to_bytes(_PLACE_BYTES, "big")
        if len(held) >= _HELD_BYTES:
            self._spill(number)

    def finish(self) -> None:
        """Look through every partition once all has been added."""
        for number, held in enumerate(self._held):
            file = self._files.get(number)
            if file is not None:
                file.seek(0)
                held[:0] = file.read()
            self._reduced(held)
            held.clear()

    def _spill(self, number: int) -> None:
        if number not in self._files:
            self._files[number] = TemporaryFile(dir=self._folder)  # noqa: SIM115  # __exit__ closes it
        # A key that many rows have would fill its partition; of each the last row is enough.
        self._files[number].write(self._reduced(self._held[number]))
        self._held[number].clear()

    def _reduced(self, entries: bytearray) -> bytes:
        """The last entry of each digest; the others are noted."""
        ordered = sorted(
            bytes(entries[start : start + _ENTRY_BYTES])
            for start in range(0, len(entries), _ENTRY_BYTES)
        )
        kept: list[bytes] = ordered[-1:]
        for entry, following in pairwise(ordered):
            if entry[:_DIGEST_BYTES] == following[:_DIGEST_BYTES]:
                self._found.add(_place(entry), _place(following))
            else:
                kept.append(entry)
        return b"".join(kept)


def _place(entry: bytes) -> int:
    return int.from_bytes(entry[_DIGEST_BYTES:], "big")
