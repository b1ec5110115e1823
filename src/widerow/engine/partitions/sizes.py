"""The bytes and rows of a table by ranges of keys: a map of pieces, kept by counting.

Every write tells by how much its row grew, so sums are right; what lies where inside a piece is not
known. A piece that doubled since it was last walked is walked again (`walk.py`) and cut at
partition key values, so pieces stay small beside the table and a table is read about twice for each
time it doubles; a piece of one partition key value is not read again. Sizes are what rows take in
the store before compression.

A write that is told of while its piece is walked, or shortly afterwards, may have been seen by the
walk or not: such a piece is in doubt, as is one from which more was taken than it held. It is
walked again once it has rested, so after writers rest, sizes equal a count.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["PIECE_BYTES_MIN", "REST_SECONDS", "Piece", "SizeMap"]

PIECE_BYTES_MIN: Final = 1024 * 1024  # the smallest unit that clients may ask split points in
_PIECES: Final = 512  # of a large table; a map has at most four times as many
REST_SECONDS: Final = 5.0  # longer than from the moment that readers see a write until it is told
_NEVER: Final = -1
_LONG_AGO: Final = float("-inf")


@dataclass(slots=True)
class Piece:
    """A range of keys up to the next piece's `key`.

    `walked`: its size when it was last walked, -1 if it never was. `only`: the partition key value
    that it was found to hold and no other. `changed`, `seen`: when a change was told of, and when
    it was walked, in seconds. `touched`: whether it changed since a walk began; `doubtful`: whether
    a walk must set right what it holds.
    """

    key: bytes
    size: int = 0
    rows: int = 0
    walked: int = _NEVER
    only: bytes | None = None
    changed: float = _LONG_AGO
    seen: float = _LONG_AGO
    touched: bool = False
    doubtful: bool = False

    @property
    def known(self) -> bool:
        """Whether a walk has found what it holds, and every change since then was counted."""
        return self.walked != _NEVER and not self.doubtful

    def is_overdue(self, unit: int, now: float) -> bool:
        """Whether it should be walked: never walked, doubled and large, or in doubt and at rest.

        A piece of one partition key value cannot be cut, however large it is.
        """
        if self.walked == _NEVER:
            return True
        if self.only is None and self.size > unit and self.size >= 2 * self.walked:
            return True
        return self.doubtful and now - max(self.changed, self.seen) >= REST_SECONDS


class SizeMap:
    """The pieces of one table. Not for several threads at once."""

    __slots__ = ("_keys", "pieces", "size")

    def __init__(self, pieces: Sequence[Piece] = ()) -> None:
        """A map of ascending pieces, of which the first begins at INF_MIN; empty if none."""
        self.pieces = list(pieces) or [Piece(b"")]
        self._keys = [piece.key for piece in self.pieces]
        self.size = sum(piece.size for piece in self.pieces)

    @property
    def unit(self) -> int:
        """About how large a piece should be."""
        return max(PIECE_BYTES_MIN, self.size // _PIECES)

    @property
    def rows(self) -> int:
        """Rows of the whole table."""
        return sum(piece.rows for piece in self.pieces)

    def grow(self, key: bytes, rows: int, size: int, now: float) -> None:
        """Count what a write added (or took away, if negative) under a key.

        `now`: the seconds up to which time has passed for this table.
        """
        piece = self.pieces[bisect_right(self._keys, key) - 1]
        kept_rows, kept_size = max(-piece.rows, rows), max(-piece.size, size)
        if now - piece.seen < REST_SECONDS or (kept_rows, kept_size) != (rows, size):
            piece.doubtful = True
        piece.touched = True
        piece.changed = now
        piece.rows += kept_rows
        piece.size += kept_size
        self.size += kept_size
        if piece.only != key:
            piece.only = None

    def between(self, start: bytes, stop: bytes | None) -> list[Piece]:
        """The pieces from the one at `start` to the one before `stop` (None: the end)."""
        first = bisect_left(self._keys, start)
        return self.pieces[first : None if stop is None else bisect_left(self._keys, stop)]

    def divide(self, at: bytes) -> None:
        """Let a piece begin at `at`; both halves get half the size until they are walked."""
        index = bisect_left(self._keys, at)
        if index < len(self._keys) and self._keys[index] == at:
            return
        piece = self.pieces[index - 1]
        half = Piece(at, piece.size // 2, piece.rows // 2)
        piece.size -= half.size
        piece.rows -= half.rows
        piece.walked, piece.only, piece.touched = _NEVER, None, True
        self._insert(index, index, [half])

    def outdate(self) -> None:
        """Mark every piece as never walked."""
        for piece in self.pieces:
            piece.walked = _NEVER

    @property
    def known(self) -> bool:
        """Whether every piece is known."""
        return all(piece.known for piece in self.pieces)

    def overdue(self, now: float) -> Piece | None:
        """A piece that should be walked at `now` (seconds)."""
        unit = self.unit
        for piece in self.pieces:
            if piece.is_overdue(unit, now):
                return piece
        return None

    def stop_of(self, piece: Piece) -> bytes | None:
        """Where a piece ends; None: at the end of the table."""
        index = bisect_right(self._keys, piece.key)
        return self._keys[index] if index < len(self._keys) else None

    def replace(self, start: bytes, stop: bytes | None, found: Sequence[Piece], now: float) -> None:
        """Replace the piece [start, stop) by those that a walk, which ended `now`, found there.

        Does nothing if there is no such piece any more.
        """
        first = bisect_left(self._keys, start)
        if self._keys[first : first + 1] != [start]:
            return
        piece = self.pieces[first]
        if self.stop_of(piece) != stop:
            return
        for each in found:
            each.changed, each.seen, each.doubtful = piece.changed, now, piece.touched
        self._insert(first, first + 1, found)
        self.size = sum(piece.size for piece in self.pieces)

    def simplify(self, bounds: Iterable[bytes]) -> None:
        """Join small neighbours if there are too many pieces, but never across one of `bounds`."""
        if len(self.pieces) <= 4 * _PIECES:
            return
        kept, unit = set(bounds), self.unit
        pieces: list[Piece] = []
        for piece in self.pieces:
            before = pieces[-1] if pieces else None
            if before is None or piece.key in kept or before.size + piece.size > unit:
                pieces.append(piece)
                continue
            before.doubtful = not (before.known and piece.known)
            before.size += piece.size
            before.rows += piece.rows
            before.walked = before.size
            before.only = None
            before.changed = max(before.changed, piece.changed)
            before.seen = max(before.seen, piece.seen)
            before.touched = True
        self._insert(0, len(self.pieces), pieces)

    def _insert(self, first: int, last: int, pieces: Sequence[Piece]) -> None:
        self.pieces[first:last] = pieces
        self._keys[first:last] = [piece.key for piece in pieces]
