"""How the layer over a driver reads: for snapshots, and for the bodies of writes."""

import threading
from collections.abc import Iterator, Sequence
from typing import Final, Protocol, final

from widerow.errors import StorageFailure
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_REVISIONS
from widerow.storage.remote.driver import Driver, DriverView, Page

__all__ = ["Missing", "ReadFailed", "RemoteSnapshot", "UnitReader", "pages"]

_PAGE_ROWS_FIRST: Final = 16  # most scans want few rows; each further page has four times as many
_PAGE_ROWS_MAX: Final = 512  # a round trip costs as much as reading some hundred rows

_BEHIND_REVISIONS: Final = after_prefix(SPACE_REVISIONS)

_Pairs = Iterator[tuple[bytes, bytes]]


class _Paged(Protocol):
    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page: ...


def pages(view: _Paged, start: bytes, stop: bytes, *, reverse: bool) -> _Pairs:
    """The pairs of a range, a page of them at a time. Revisions are not shown."""
    parts = ((start, min(stop, SPACE_REVISIONS)), (max(start, _BEHIND_REVISIONS), stop))
    for first, last in reversed(parts) if reverse else parts:
        yield from _pages_of(view, first, last, reverse=reverse)


def _pages_of(view: _Paged, start: bytes, stop: bytes, *, reverse: bool) -> _Pairs:
    rows_max = _PAGE_ROWS_FIRST
    while start < stop:
        page = view.read_page(start, stop, rows_max, reverse=reverse)
        yield from page.pairs
        if page.following is None:
            return
        if reverse:
            stop = page.following
        else:
            start = page.following
        rows_max = min(4 * rows_max, _PAGE_ROWS_MAX)


@final
class RemoteSnapshot:
    """A view of a driver for any thread, given up when nobody has the snapshot any more.

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
    """

    __slots__ = ("_reading", "_view")

    def __init__(self, driver: Driver) -> None:
        """A snapshot that has read nothing."""
        self._view = driver.view()
        self._reading = threading.Lock()

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        return self.get_many((key,))[0]

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order, None where absent; one round trip."""
        if not keys:
            return []
        with self._reading:
            return self._view.read_many(keys)

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> _Pairs:
        """Pairs with start ≤ key < stop in order, a page at a time."""
        return pages(self, start, stop, reverse=reverse)

    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        """A page of the view; one round trip."""
        with self._reading:
            return self._view.read_page(start, stop, rows_max, reverse=reverse)

    def __del__(self) -> None:
        """Give the view up."""
        self._view.close()


class Missing(BaseException):
    """A body asks for what was not read yet. Never leaves the layer; no body may catch it."""


class ReadFailed(BaseException):
    """The database failed a read of a body, which is no answer of the body. As `Missing`."""

    def __init__(self, error: StorageFailure) -> None:
        """What the driver raised."""
        super().__init__(str(error))
        self.error = error


@final
class UnitReader:
    """What the bodies of one unit read.

    Without a view it knows `values` only: what else is asked for is kept in `missed`, so that it
    can be read together with what other bodies ask for, and the body is given up.
    """

    __slots__ = ("_values", "_view", "missed")

    def __init__(
        self,
        values: dict[bytes, bytes | None],
        missed: set[bytes],
        view: DriverView | None = None,
    ) -> None:
        """A reader of these values, and of `view` where there is one."""
        self._values = values
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

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> _Pairs:
        """Pairs with start ≤ key < stop in order, a page at a time."""
        if self._view is None:
            raise Missing
        return pages(self, start, stop, reverse=reverse)

    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        """A page of the view."""
        assert self._view is not None, "a reader that scans has a view"
        try:
            return self._view.read_page(start, stop, rows_max, reverse=reverse)
        except StorageFailure as error:
            raise ReadFailed(error) from error

    def _read(self, keys: Sequence[bytes]) -> None:
        self.missed.update(keys)
        if self._view is None:
            raise Missing
        try:
            self._values.update(zip(keys, self._view.read_many(keys), strict=True))
        except StorageFailure as error:
            raise ReadFailed(error) from error
