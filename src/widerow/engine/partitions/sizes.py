"""The bytes and rows of a table by ranges of keys: a map of pieces, kept by counting.

Every write tells by how much its row grew, so sums are right; what lies where inside a piece is not
known. A piece that doubled since it was last walked is walked again (`walk.py`) and cut at
partition key values, so pieces stay small beside the table and a table is read about twice for each
time it doubles. Sizes are what rows take in the store before compression. What is counted while a
walk runs, or was not yet written when a process died, is off until the next walk.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["PIECE_BYTES_MIN", "Piece", "SizeMap"]

PIECE_BYTES_MIN: Final = 1024 * 1024  # the smallest unit that clients may ask split points in
_PIECES: Final = 512  # of a large table; a map has at most four times as many
_NEVER: Final = -1


@dataclass(slots=True)
class Piece:
    """A range of keys up to the next piece's `key`.

    `walked`: its size when it was last walked, -1 if it never was. `only`: the partition key value
    that it was found to hold and no other.
    """

    key: bytes
    size: int = 0
    rows: int = 0
    walked: int = _NEVER
    only: bytes | None = None


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

    def grow(self, key: bytes, rows: int, size: int) -> None:
        """Count what a write added (or took away, if negative) under a key."""
        piece = self.pieces[bisect_right(self._keys, key) - 1]
        piece.rows = max(0, piece.rows + rows)
        size = max(-piece.size, size)
        piece.size += size
        self.size += size
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
        piece.walked, piece.only = _NEVER, None
        self._insert(index, index, [half])

    def outdate(self) -> None:
        """Mark every piece as never walked."""
        for piece in self.pieces:
            piece.walked = _NEVER

    def overdue(self) -> Piece | None:
        """A piece that should be walked: never walked, or doubled and large."""
        unit = self.unit
        for piece in self.pieces:
            if piece.walked == _NEVER or (piece.size > unit and piece.size >= 2 * piece.walked):
                return piece
        return None

    def stop_of(self, piece: Piece) -> bytes | None:
        """Where a piece ends; None: at the end of the table."""
        index = bisect_right(self._keys, piece.key)
        return self._keys[index] if index < len(self._keys) else None

    def replace(self, start: bytes, stop: bytes | None, found: Sequence[Piece]) -> None:
        """Replace the pieces of [start, stop) by those that a walk found there.

        Does nothing if no piece begins at `start`, or at `stop`, any more.
        """
        first = bisect_left(self._keys, start)
        last = len(self._keys) if stop is None else bisect_left(self._keys, stop)
        if self._keys[first : first + 1] != [start] or (
            stop is not None and self._keys[last : last + 1] != [stop]
        ):
            return
        self._insert(first, last, found)
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
            before.size += piece.size
            before.rows += piece.rows
            before.walked = before.size
            before.only = None
        self._insert(0, len(self.pieces), pieces)

    def _insert(self, first: int, last: int, pieces: Sequence[Piece]) -> None:
        self.pieces[first:last] = pieces
        self._keys[first:last] = [piece.key for piece in pieces]
