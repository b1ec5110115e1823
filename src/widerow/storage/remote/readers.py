"""How the layer over a driver reads: for snapshots, and for the bodies of writes."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, final

from widerow.errors import StorageFailure, ViewLost
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_REVISIONS
from widerow.limits import REMOTE_PAGE_ROWS_MAX
from widerow.storage.page import Page, PageWanted
from widerow.storage.remote.driver import Driver, DriverView

__all__ = [
    "FIRST_PAGE_ROWS",
    "LostKeys",
    "Missing",
    "Pairs",
    "ReadFailed",
    "RemoteSnapshot",
    "UnitReader",
    "WantedReads",
    "pages",
    "without_revisions",
]

FIRST_PAGE_ROWS: Final = 16  # most scans want few rows; each further page has four times as many
_LOST_KEYS_MAX: Final = 1000  # then all are forgotten: a view too many costs a round trip
_CHANGED: Final = "what was read has changed before more was read with it: read again"

_BEHIND_REVISIONS: Final = after_prefix(SPACE_REVISIONS)

Pairs = Iterator[tuple[bytes, bytes]]


def without_revisions(page: Page) -> Page:
    """The page without the keys of revisions."""
    shown = [pair for pair in page.pairs if not pair[0].startswith(SPACE_REVISIONS)]
    return page if len(shown) == len(page.pairs) else page._replace(pairs=shown)


class _Paged(Protocol):
    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page: ...


def pages(view: _Paged, start: bytes, stop: bytes, *, reverse: bool, rows_first: int = 0) -> Pairs:
    """The pairs of a range, a page of them at a time. Revisions are not shown.

    `rows_first`: how many are probably wanted, 0 if that is not known.
    """
    parts = ((start, min(stop, SPACE_REVISIONS)), (max(start, _BEHIND_REVISIONS), stop))
    for first, last in reversed(parts) if reverse else parts:
        yield from _pages_of(view, first, last, reverse=reverse, rows_first=rows_first)


def _pages_of(view: _Paged, start: bytes, stop: bytes, *, reverse: bool, rows_first: int) -> Pairs:
    rows_max = min(rows_first or FIRST_PAGE_ROWS, REMOTE_PAGE_ROWS_MAX)
    while start < stop:
        page = view.read_page(start, stop, rows_max, reverse=reverse)
        yield from page.pairs
        if page.following is None:
            return
        if reverse:
            stop = page.following
        else:
            start = page.following
        rows_max = min(4 * rows_max, REMOTE_PAGE_ROWS_MAX)


@final
class LostKeys:
    """First keys of reads whose snapshot was lost; later reads with them use a view at once.

    Shared by the snapshots of a store. Any thread.
    """

    __slots__ = ("_keys",)

    def __init__(self) -> None:
        self._keys: set[bytes] = set()

    def note(self, key: bytes) -> None:
        """Remember that a snapshot was lost whose first read began with `key`."""
        if len(self._keys) >= _LOST_KEYS_MAX:
            self._keys = set()
        self._keys.add(key)

    def __contains__(self, key: bytes) -> bool:
        return key in self._keys


class _KeysRead(NamedTuple):
    """What the first read of a snapshot gave, where it was of keys."""

    keys: Sequence[bytes]
    values: list[bytes | None]

    @property
    def begins_with(self) -> bytes:
        """The first key that was asked for."""
        return self.keys[0]

    def still_there(self, view: DriverView) -> bool:
        """Whether the view gives the values of this read."""
        return view.read_many(self.keys) == self.values


class _PageRead(NamedTuple):
    """What the first read of a snapshot gave, where it was a page: all pairs between two keys.

    `begins_with`: the lower bound that was asked for.
    """

    begins_with: bytes
    start: bytes
    stop: bytes
    pairs: Sequence[tuple[bytes, bytes]]
    reverse: bool

    def still_there(self, view: DriverView) -> bool:
        """Whether the view gives the pairs of this read."""
        rows = len(self.pairs) + 1
        found = _pages_of(view, self.start, self.stop, reverse=self.reverse, rows_first=rows)
        return list(found) == list(self.pairs)


def _page_read(page: Page, start: bytes, stop: bytes, *, reverse: bool) -> _PageRead:
    end = page.following
    first = start if end is None or not reverse else end
    last = stop if end is None or reverse else end
    return _PageRead(start, first, last, page.pairs, reverse)


@final
class RemoteSnapshot:
    """Reads of a driver for any thread, given up when nobody has the snapshot any more.

    It promises what a `DriverView` does: each shard at a moment of its own, not before the first
    read, and nothing newer of a shard of which something was read. The engine needs no more:

    * A row, its segments and the entries of local indexes are of one shard (`reads.py`, `wide.py`,
      `ranges.py`), rows of a typed shard key likewise. Pages of a range, rows of a batch and
      entries of global indexes are of several shards, and neither data model promises anything
      between these.
    * What follows several shards reads them in an order that makes later moments harmless, takes
      another snapshot where a later moment is needed (`streams/mover.py`), and is checked again in
      the transaction that writes (`indexes/applier.py`, `sweep/sweep.py`).
    * The catalogue is one shard with its epoch, so what is loaded is of the epoch that was read.

    **A brief snapshot** is mostly read once, and a view that lasts can cost a round trip before its
    first read. So it makes its first read without one. When a second read comes, it takes a view
    and reads there again what the first read gave. If that is the same, the view has shown all of
    it, and shows the rest. Else the snapshot is lost (`ViewLost`), and whoever reads begins anew:
    the next snapshot that begins with the same key takes its view at once, so it is not lost again.
    So does one that is going to read several pages.
    """

    __slots__ = (
        "_driver",
        "_first",
        "_lost",
        "_lost_keys",
        "_patient",
        "_reading",
        "_rows",
        "_view",
    )

    def __init__(
        self,
        driver: Driver,
        lost_keys: LostKeys | None = None,
        rows: int = 0,
        *,
        patient: bool = True,
    ) -> None:
        """Reads nothing; brief if there are `lost_keys`.

        `rows`: how many a scan will probably give, 0 if nobody knows. `patient`: whether reads of
        keys, and what follows the first read, wait for a part of the database that is on its way.
        """
        self._patient = patient
        self._driver = driver
        self._lost_keys = lost_keys
        self._rows = rows
        self._first: _KeysRead | _PageRead | None = None
        self._view: DriverView | None = None
        self._lost = False
        self._reading = threading.Lock()

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        return self.get_many((key,))[0]

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order, None where absent; one round trip, or a few."""
        if not keys:
            return []
        with self._reading:
            if self._is_single(keys[0]):
                values = self._driver.read_many(keys, patient=self._patient)
                self._first = _KeysRead(tuple(keys), values)
                return list(values)
            return self._held().read_many(keys)

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Pairs:
        """Pairs with start ≤ key < stop in order, a page at a time."""
        return pages(self, start, stop, reverse=reverse, rows_first=self._rows)

    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        """A page of the view; one round trip, or a few."""
        with self._reading:
            if self._rows <= REMOTE_PAGE_ROWS_MAX and self._is_single(start):
                page = self._driver.read_page(start, stop, rows_max, reverse=reverse)
                self._first = _page_read(page, start, stop, reverse=reverse)
                return page
            return self._held().read_page(start, stop, rows_max, reverse=reverse)

    def read_pages(self, wanted: Sequence[PageWanted], bytes_max: int) -> list[Page]:
        """Pages of the view, each of about `bytes_max` bytes at most; one round trip, or a few."""
        with self._reading:
            return self._held().read_pages(wanted, bytes_max)

    def _is_single(self, key: bytes) -> bool:
        """Whether a read that begins with `key` is the first, and needs no view."""
        if self._lost or self._first is not None or self._view is not None:
            return False
        return self._lost_keys is not None and key not in self._lost_keys

    def _held(self) -> DriverView:
        """The view of everything that is read from now on. Raises `ViewLost`, `StorageFailure`."""
        if self._lost:
            raise ViewLost(_CHANGED)
        if self._view is None:
            self._view = self._driver.view(patient=self._patient)
        first = self._first
        if first is not None:
            if not first.still_there(self._view):
                self._lost = True
                if self._lost_keys is not None:
                    self._lost_keys.note(first.begins_with)
                raise ViewLost(_CHANGED)
            self._first = None
        return self._view

    def close(self) -> None:
        """Give the view up. Idempotent; never waits, never raises."""
        if self._view is not None:
            self._view.close()

    __del__ = close


class Missing(BaseException):
    """A body asks for what was not read yet. Never leaves the layer; no body may catch it."""


class ReadFailed(BaseException):
    """The database failed a read that a body asked for: not an error of the body. As `Missing`."""

    def __init__(self, error: StorageFailure) -> None:
        super().__init__(str(error))
        self.error = error


@final
class WantedReads:
    """What bodies ask for: keys, and first pages of ranges."""

    __slots__ = ("keys", "pages")

    def __init__(self) -> None:
        self.keys: set[bytes] = set()
        self.pages: set[PageWanted] = set()

    def __bool__(self) -> bool:
        return bool(self.keys or self.pages)

    def add(self, other: "WantedReads") -> None:
        """Add what another body asks for."""
        self.keys |= other.keys
        self.pages |= other.pages


@final
class UnitReader:
    """What the bodies of one unit read.

    Without a view it knows `values` and `pages` only: what else is asked for is kept in `missed`,
    so that it can be read together with what other bodies ask for, and the body is given up. Of a
    range that is the first page; what follows it is read by the view, a page at a time.
    """

    __slots__ = ("_pages", "_values", "_view", "missed")

    def __init__(
        self,
        values: dict[bytes, bytes | None],
        pages: Mapping[PageWanted, Page],
        missed: WantedReads,
        view: RemoteSnapshot | None = None,
    ) -> None:
        """A reader of these values and pages, and of `view` where there is one."""
        self._values = values
        self._pages = pages
        self._view = view
        self.missed = missed

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        if key not in self._values:
            self._read((key,))
        return self._values[key]

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order, None where absent."""
        absent = [key for key in keys if key not in self._values]
        if absent:
            self._read(absent)
        return [self._values[key] for key in keys]

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Pairs:
        """Pairs with start ≤ key < stop in order, a page at a time."""
        return pages(self, start, stop, reverse=reverse)

    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        """A page that is known, or one of the view."""
        wanted = PageWanted(start, stop, rows_max, reverse)
        known = self._pages.get(wanted)
        if known is not None:
            return known
        if self._view is None:
            if rows_max == FIRST_PAGE_ROWS:
                self.missed.pages.add(wanted)
            raise Missing
        try:
            return self._view.read_page(start, stop, rows_max, reverse=reverse)
        except StorageFailure as error:
            raise ReadFailed(error) from error

    def _read(self, keys: Sequence[bytes]) -> None:
        self.missed.keys.update(keys)
        if self._view is None:
            raise Missing
        try:
            self._values.update(zip(keys, self._view.get_many(keys), strict=True))
        except StorageFailure as error:
            raise ReadFailed(error) from error
