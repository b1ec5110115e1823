"""Reads that are found out before they are made, so that nobody holds a thread for them.

Where reads wait for a network, a request is tried first: on its thread the store reads nothing
meanwhile. What is asked for is noted, keys or the first page of a range, and the attempt ends with
`NotForeseen`. What many requests ask for is then read together (`Store.get_together`,
`Store.get_pages_together`), and each request is tried again with what was found. Whatever asks for
more after that runs on a thread of its own instead.

An attempt has no effect before it reads for the last time, so ending it there undoes nothing. The
engine keeps to that for all its reads, because a read may also be too long (`engine/budget.py`).
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeVar, final

from widerow.limits import REMOTE_PAGE_ROWS_MAX
from widerow.storage.page import Page, PageWanted

__all__ = ["ForeseenReads", "NotForeseen", "foreseen_reads", "refuse_in_attempt"]

T = TypeVar("T")

_NO_VALUES: Final[Mapping[bytes, bytes | None]] = MappingProxyType({})
_NO_PAGES: Final[Mapping[PageWanted, Page]] = MappingProxyType({})


class NotForeseen(BaseException):
    """An attempt asks for what was not read. No body and no operation may catch it."""


# `reads`: the snapshot of the attempt that this thread makes. (Fields of a subclass of `local`
# would be shared by all threads once compiled.)
_ATTEMPT: Final = threading.local()


@final
class ForeseenReads:
    """A snapshot of some keys and ranges, each shard at a moment of its own.

    `wanted`: keys beside them, and `wanted_page`: a page; one of the two after a first attempt.
    `rows`: how many a scan will probably give, 0 if nobody knows.
    """

    __slots__ = ("_pages", "_values", "rows", "wanted", "wanted_page")

    def __init__(
        self,
        values: Mapping[bytes, bytes | None] = _NO_VALUES,
        pages: Mapping[PageWanted, Page] = _NO_PAGES,
    ) -> None:
        """`values`: what stands under keys, None where absent; `pages`: by what was asked for."""
        self._values = values
        self._pages = pages
        self.rows = 0
        self.wanted: list[bytes] = []
        self.wanted_page: PageWanted | None = None

    @property
    def knows_nothing(self) -> bool:
        """Whether this is a first attempt, without any value or page read for it."""
        return not self._values and not self._pages

    def attempt(self, work: Callable[[], T]) -> T:
        """Run `work`, in which every snapshot of a store whose reads may block is this one.

        Raises: `NotForeseen`, and then `wanted` are keys that would help; what `work` raises.
        """
        _ATTEMPT.reads = self
        try:
            return work()
        finally:
            _ATTEMPT.reads = None

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None. By itself, because it is all that most requests read."""
        values = self._values
        if key in values:
            return values[key]
        self.wanted.append(key)
        raise NotForeseen

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order, None where absent."""
        values = self._values
        absent = [key for key in keys if key not in values]
        if absent:
            self.wanted += absent
            raise NotForeseen
        return [values[key] for key in keys]

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Pairs with start ≤ key < stop in order: the page that is known, and no more."""
        if not 0 < self.rows <= REMOTE_PAGE_ROWS_MAX:  # longer scans are left to a thread
            raise NotForeseen
        wanted = PageWanted(start, stop, self.rows, reverse)
        page = self._pages.get(wanted)
        if page is None:
            self.wanted_page = wanted
            raise NotForeseen
        return _known(page)


def _known(page: Page) -> Iterator[tuple[bytes, bytes]]:
    yield from page.pairs
    if page.following is not None:
        raise NotForeseen


def foreseen_reads(rows: int = 0) -> ForeseenReads | None:
    """The snapshot of the attempt that this thread makes; None: it makes none.

    `rows`: how many a scan will probably give, 0 if nobody knows.
    """
    reads: ForeseenReads | None = getattr(_ATTEMPT, "reads", None)
    if reads is not None:
        reads.rows = rows
    return reads


def refuse_in_attempt() -> None:
    """Raise `NotForeseen` in an attempt. Called before each wait for a database."""
    if getattr(_ATTEMPT, "reads", None) is not None:
        raise NotForeseen
