"""Pages of a range: what one read across a network gives of it."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

from widerow.limits import STAGED_ROW_BYTES_MAX

__all__ = ["Page", "PageWanted", "first_page"]


class PageWanted(NamedTuple):
    """The first pairs with start ≤ key < stop, at most `rows_max`; the last when `reverse`."""

    start: bytes
    stop: bytes
    rows_max: int
    reverse: bool


class Page(NamedTuple):
    """Some pairs of a range in the order asked for.

    A page may end anywhere, also before its first pair. `following`: None where the range ends with
    it; else where the rest of the range begins, or, when it is read backwards, where it stops.
    """

    pairs: Sequence[tuple[bytes, bytes]]
    following: bytes | None

    @property
    def is_long(self) -> bool:
        """Whether an answer that has it takes longer to hash than a thread to be asked."""
        pairs = self.pairs
        return bool(pairs) and len(pairs) * len(pairs[0][1]) > STAGED_ROW_BYTES_MAX


class _Scan(Protocol):
    def __call__(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]: ...


def first_page(scan: _Scan, wanted: PageWanted) -> Page:
    """The page that a reader's `scan` gives."""
    found = scan(wanted.start, wanted.stop, reverse=wanted.reverse)
    pairs = list(islice(found, wanted.rows_max))
    if len(pairs) < wanted.rows_max:
        return Page(pairs, None)
    last = pairs[-1][0]
    return Page(pairs, last if wanted.reverse else last + b"\x00")
