"""Views: each region as it was at one moment, so each shard, which lies in one region, is too.

A region keeps what was visible at a moment as long as a scanner of that moment is open, whatever is
written, flushed or compacted meanwhile. So a view opens one in each region that it reads, its
*pin*, and reads everything there as of the pin's moment. Without its pin such a read could lack
rows and not say so. Therefore an answer counts only if the pin is known to have been open shortly
before it came, `_PROOF_SECONDS`: a region cannot be closed, opened again and compacted in so short
a time, and a scanner that is used lives for a minute. Where it took longer, the pin is asked for
behind the answer. A view whose pin is gone raises `ViewLost`.

A read that nothing follows needs no pin, because one scan is of one moment: `HBaseReads`.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from time import monotonic
from typing import Final, NamedTuple, TypeVar, final

from widerow.errors import StoreBusy, StoreDamaged, StoreHangs, ViewLost
from widerow.keys.layout import SPACE_REVISIONS
from widerow.storage.hbase.encoded import CellPlace, FoundCell, result_cells
from widerow.storage.hbase.greeting import ServerLost
from widerow.storage.hbase.messages import ScanCells, ScanRequest, ScanResponse
from widerow.storage.hbase.regions import MovePauses, Region, Regions, Servers, storage_failure
from widerow.storage.hbase.requests import (
    RangeRead,
    close_scanner,
    open_pin,
    prove_scanner,
    scan_further,
    scan_range,
    scan_single_rows,
    scan_spans,
)
from widerow.storage.hbase.rows import RowSpan, key_of, row_of, row_spans
from widerow.storage.hbase.rpc import PendingCall, RemoteFailure, RpcConnection
from widerow.storage.hbase.short_pages import (
    SHORT_ROWS_MAX,
    SPANS_MIN,
    cells_of_spans,
    end_of_page,
    rows_expected,
)
from widerow.storage.page import Page, PageWanted

__all__ = ["HBaseReads", "HBaseView", "SharedReads"]

T = TypeVar("T")

_PROOF_SECONDS: Final = 0.25
_MOVES_SECONDS_MAX: Final = 5.0  # a read waits so long for a region that is on its way
_PAGE_BYTES_MAX: Final = 1024 * 1024
_ROWS_BYTES_MAX: Final = 8 * 1024 * 1024  # of one answer to `read_many`
_SCANS_MAX: Final = 64  # asked for together: a server refuses what goes above ten for each handler
_PROBES_MAX: Final = 64  # spans that are asked together whether anything is in them
_TIMESTAMPS_MAX: Final = 100_000


@final
class SharedReads:
    """What the views of a driver share. For any thread, also while an object is finalized."""

    def __init__(self, regions: Regions) -> None:
        self.regions = regions
        self._timestamps: dict[bytes, int] = {}
        self._unwanted: deque[tuple[RpcConnection, int]] = deque()

    def note_timestamp(self, revision: bytes, timestamp: int) -> None:
        """Remember the timestamp of the cell that a revision stands in."""
        if len(self._timestamps) >= _TIMESTAMPS_MAX:
            self._timestamps.clear()
        self._timestamps[revision] = timestamp

    def timestamp(self, revision: bytes | None) -> int | None:
        """The timestamp of a revision, if it is known; 0 of one that is absent."""
        return 0 if revision is None else self._timestamps.get(revision)

    def unwanted(self, connection: RpcConnection, scanner: int) -> None:
        """Note a scanner that is to be closed, because its view was given up."""
        self._unwanted.append((connection, scanner))

    def close_unwanted(self) -> None:
        """Send requests that close the scanners noted by `unwanted`. Waits for no answer."""
        while self._unwanted:
            try:
                connection, scanner = self._unwanted.popleft()
                connection.send("Scan", close_scanner(scanner))
            except (ServerLost, IndexError):
                continue  # the scanner ends with its connection, or another thread was quicker


@final
class _Pin:
    """An open scanner, which keeps one moment of its region readable."""

    __slots__ = ("_call", "_proven", "connection", "read_point", "region", "scanner", "used")

    def __init__(
        self, region: Region, connection: RpcConnection, opened: ScanResponse, asked: float
    ) -> None:
        self.region = region
        self.connection = connection
        self.scanner = opened.scanner_id
        self.read_point = opened.mvcc_read_point
        self.used = False  # whether a read at its moment was handed out
        self._proven = asked  # when it was last known to be open
        self._call: PendingCall | None = None

    def ask(self) -> None:
        """Send a question whether the scanner is open, unless that was known a moment ago."""
        if monotonic() - self._proven > _PROOF_SECONDS / 2:
            self._proven = monotonic()
            self._call = self.connection.send("Scan", prove_scanner(self.scanner))

    def prove(self) -> None:
        """Raise `ServerLost` or `RemoteFailure` unless the scanner was open until now."""
        if self._call is not None:
            call, self._call = self._call, None
            call.answer(ScanResponse)
        if monotonic() - self._proven > _PROOF_SECONDS:
            self._proven = monotonic()
            self.connection.call("Scan", prove_scanner(self.scanner), ScanResponse)


class _RegionLost(Exception):
    """A region cannot be read, or no more at the moment of the view."""

    def __init__(self, region: Region, cause: ServerLost | RemoteFailure) -> None:
        super().__init__(str(cause))
        self.region = region
        self.cause = cause


class _Opening(NamedTuple):
    """A request for a pin, not answered yet."""

    region: Region
    connection: RpcConnection
    asked: float
    call: PendingCall

    @classmethod
    def of(cls, region: Region, servers: Servers) -> "_Opening":
        """Ask for the pin of a region."""
        with _reading(region):
            connection = servers.connection(region.address)
            asked = monotonic()
            return cls(region, connection, asked, connection.send("Scan", open_pin(region)))

    def pin(self) -> _Pin:
        """Wait for the pin."""
        with _reading(self.region):
            opened = self.call.answer(ScanResponse)
        return _Pin(self.region, self.connection, opened, self.asked)


class _Read(NamedTuple):
    """A scan of one region: its request for a moment, and whether a partial answer is not enough.

    Without a moment, the request is for the moment at which the server answers it.
    """

    region: Region
    request: Callable[[int | None], ScanRequest | bytes]
    rows_max: int
    whole: bool
    bytes_max: int

    def lacks(self, rows: int, cells: Sequence[FoundCell]) -> bool:
        """Whether the read needs more than `rows` rows with these `cells`."""
        if self.whole or not cells:
            return True
        return (
            rows < self.rows_max
            and sum([len(value) for _, value, _ in cells]) < self.bytes_max // 2
        )


class _Found(NamedTuple):
    """Cells, and whether the range that was asked for has more behind them."""

    cells: list[FoundCell]
    more: bool


class _Spot(NamedTuple):
    """A span of a range that lies in one region."""

    region: Region
    span: RowSpan

    def edge(self, *, reverse: bool) -> bytes:
        """The key where reading this span begins, in the meaning of `Page.following`."""
        if not reverse:
            return key_of(self.span.start, self.span.qualifier)
        stop, qualifier = self.span.stop, self.span.qualifier
        if stop[:1] == self.span.start[:1]:
            return key_of(stop, qualifier)
        return bytes((qualifier[0] + 1,))  # the end of the space


_CellPage = tuple[list[FoundCell], bytes | None]
"""The cells of a page, and `Page.following`."""


class _RegionReads:
    """Reads of regions; subclasses decide at which moment each region is read."""

    __slots__ = ("_seconds_max", "_shared")

    def __init__(self, shared: SharedReads, seconds_max: float) -> None:
        """`seconds_max`: how long a read waits for a region that is being moved."""
        self._shared = shared
        self._seconds_max = seconds_max

    def _scan(self, reads: Sequence[_Read]) -> list[_Found]:
        """The answers to some scans, which are asked for together."""
        raise NotImplementedError

    def _lost(self, lost: _RegionLost) -> None:
        """A region cannot be read. Raises `ViewLost` where it must not be read again."""

    def _handed_out(self) -> None:
        """Note that what was read is being handed to the caller."""

    # --- what is offered ---------------------------------------------------------------------

    def read_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order: one scan of each region."""
        places = [row_of(key) for key in keys]
        found: dict[bytes, bytes] = {}
        for each in self._patiently(lambda: self._rows(places)):
            for key, value, timestamp in each.cells:
                found[key] = value
                if key.startswith(SPACE_REVISIONS):
                    self._shared.note_timestamp(value, timestamp)
        return [found.get(key) for key in keys]

    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        """A page of one region, of at most about a megabyte."""
        asked = RangeRead(rows_max, _PAGE_BYTES_MAX, reverse)
        return _paged(self._patiently(lambda: self._page(start, stop, asked)))

    def read_pages(
        self, wanted: Sequence[PageWanted], bytes_max: int = _PAGE_BYTES_MAX
    ) -> list[Page]:
        """Pages of one region each, by scans that are asked for together."""
        asked = [
            (start, stop, RangeRead(rows_max, min(bytes_max, _PAGE_BYTES_MAX), reverse))
            for start, stop, rows_max, reverse in wanted
        ]
        found = self._patiently(partial(self._short_pages, asked))
        left = [number for number in range(len(asked)) if number not in found]
        for first in range(0, len(left), _SCANS_MAX):
            numbers = left[first : first + _SCANS_MAX]
            part = [asked[number] for number in numbers]
            pages = self._patiently(partial(self._pages, part))
            found.update(zip(numbers, pages, strict=True))
        return [_paged(found[number]) for number in range(len(asked))]

    def cells(self, start: bytes, stop: bytes, rows_max: int) -> Iterator[tuple[CellPlace, int]]:
        """Where the keys of a range stand, and with which timestamps; without their values."""
        asked = RangeRead(rows_max, _PAGE_BYTES_MAX, reverse=False, keys_only=True)
        at: bytes | None = start
        while at is not None:
            cells, at = self._patiently(partial(self._page, at, stop, asked))
            for key, _, timestamp in cells:
                yield row_of(key), timestamp

    # --- reading again where that is right ---------------------------------------------------

    def _patiently(self, read: Callable[[], T]) -> T:
        """Call `read`; again where a region has moved and nothing read from it was handed out."""
        pauses = MovePauses(self._seconds_max)
        regions = self._shared.regions
        cause: Exception
        while True:
            regions.servers.check_open()
            self._shared.close_unwanted()
            try:
                found = read()
            except _RegionLost as lost:
                cause, failure = lost.cause, storage_failure(lost.cause)
                self._lost(lost)
            except ViewLost:
                raise
            except (ServerLost, RemoteFailure) as error:
                cause, failure = error, storage_failure(error)
            except StoreBusy as error:
                cause = failure = error
            else:
                self._handed_out()
                return found
            regions.forget()
            hangs = isinstance(failure, StoreHangs)  # others wait for the thread meanwhile
            if hangs or not isinstance(failure, StoreBusy) or not pauses.rest():
                raise failure from cause

    # --- what is read ------------------------------------------------------------------------

    def _rows(self, places: Sequence[CellPlace]) -> list[_Found]:
        by_region: dict[Region, list[CellPlace]] = {}
        for place in places:
            by_region.setdefault(self._shared.regions.of(place[0]), []).append(place)
        reads = [
            _Read(
                region,
                partial(scan_single_rows, region, wanted, _ROWS_BYTES_MAX),
                len(wanted) + 1,
                whole=True,
                bytes_max=_ROWS_BYTES_MAX,
            )
            for region, wanted in by_region.items()
        ]
        return self._scan(reads)

    def _short_pages(
        self, wanted: Sequence[tuple[bytes, bytes, RangeRead]]
    ) -> dict[int, _CellPage]:
        """The pages, by numbers, of ranges that one scan of their region has read to their ends."""
        by_column: dict[tuple[bytes, bytes], list[tuple[int, _Spot]]] = {}
        for number, (start, stop, asked) in enumerate(wanted):
            if len(wanted) < SPANS_MIN or asked.rows_max > SHORT_ROWS_MAX:
                continue
            spots = list(islice(self._spots(start, stop, reverse=asked.reverse), 2))
            if len(spots) == 1:
                column = (spots[0].region.name, spots[0].span.qualifier)
                by_column.setdefault(column, []).append((number, spots[0]))
        many = [each for each in by_column.values() if len(each) >= SPANS_MIN]
        for each in many:
            each.sort(key=lambda one: one[1].span.start)
        pages: dict[int, _CellPage] = {}
        for each, found in zip(many, self._scan(list(map(_spans_read, many))), strict=True):
            spans = [spot.span for _, spot in each]
            of_spans = cells_of_spans(found.cells, spans, more=found.more)
            for (number, _), cells in zip(each, of_spans, strict=True):
                if cells is not None:
                    pages[number] = end_of_page(cells, wanted[number][2])
        return pages

    def _page(self, start: bytes, stop: bytes, asked: RangeRead) -> _CellPage:
        """The cells of a page, and `Page.following`."""
        return self._pages([(start, stop, asked)])[0]

    def _pages(self, wanted: Sequence[tuple[bytes, bytes, RangeRead]]) -> list[_CellPage]:
        """The cells of some pages, by scans that are asked for together."""
        places = [self._spots(start, stop, reverse=asked.reverse) for start, stop, asked in wanted]
        firsts = [next(spots, None) for spots in places]
        found = iter(
            self._scan(
                [
                    _range_read(first, asked)
                    for first, (_, _, asked) in zip(firsts, wanted, strict=True)
                    if first is not None
                ]
            )
        )
        return [
            ([], None) if first is None else self._whole_page(next(found), spots, asked)
            for first, spots, (_, _, asked) in zip(firsts, places, wanted, strict=True)
        ]

    def _whole_page(self, found: _Found, spots: Iterator[_Spot], asked: RangeRead) -> _CellPage:
        """The page that begins with what its first scan found; `spots`: what is behind that."""
        if found.more:
            key = found.cells[-1][0]
            return found.cells, key if asked.reverse else key + b"\x00"
        if found.cells:
            return found.cells, _edge(next(spots, None), asked)
        few = list(islice(spots, _PROBES_MAX))
        one = asked._replace(rows_max=1)
        probed = self._scan([_range_read(spot, one) for spot in few])
        for spot, seen in zip(few, probed, strict=True):
            if seen.cells:
                return [], _edge(spot, asked)
        return [], _edge(next(spots, None), asked)

    def _spots(self, start: bytes, stop: bytes, *, reverse: bool) -> Iterator[_Spot]:
        """The spans of a range, each in one region, in the order in which they are read."""
        every = row_spans(start, stop)
        for span in reversed(list(every)) if reverse else every:
            yield from self._regions_of(span, reverse=reverse)

    def _regions_of(self, span: RowSpan, *, reverse: bool) -> Iterator[_Spot]:
        start, stop = span.start, span.stop
        while start < stop:
            region = self._shared.regions.of(stop if reverse else start, below=reverse)
            first = max(start, region.start)
            last = min(stop, region.stop or stop)
            yield _Spot(region, span._replace(start=first, stop=last))
            if reverse:
                stop = first
            else:
                start = last

    def _finish(self, read: _Read, connection: RpcConnection, call: PendingCall) -> _Found:
        """The cells of a scan: all of them, or as many as were asked for.

        The server may end an answer earlier, because it has read for long, or from many blocks.
        """
        with _reading(read.region):
            answer = call.answer(ScanCells)
            scanner, rows, cells = (
                answer.scanner_id,
                len(answer.results),
                _cells(connection, answer),
            )
            while answer.more_results_in_region and read.lacks(rows, cells):
                request = scan_further(scanner, read.rows_max - (0 if read.whole else rows))
                answer = connection.call("Scan", request, ScanCells)
                rows += len(answer.results)
                cells += _cells(connection, answer)
        if answer.more_results_in_region and rows < read.rows_max:
            self._shared.unwanted(connection, scanner)
        return _Found(cells, answer.more_results_in_region)


@final
class HBaseReads(_RegionReads):
    """Single reads: each scan is of one moment by itself, so no pin is needed."""

    __slots__ = ()

    def __init__(self, shared: SharedReads, *, patient: bool = True) -> None:
        """`patient`: whether to wait for regions that are on their way."""
        super().__init__(shared, _MOVES_SECONDS_MAX if patient else 0)

    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        """A page of one region, of at most about a megabyte."""
        if not _spans_several(start, stop):
            return super().read_page(start, stop, rows_max, reverse=reverse)
        # More than one scan may read one region, and so one shard; these need one moment.
        view = HBaseView(self._shared, patient=self._seconds_max > 0)
        try:
            return view.read_page(start, stop, rows_max, reverse=reverse)
        finally:
            view.close()

    def read_pages(
        self, wanted: Sequence[PageWanted], bytes_max: int = _PAGE_BYTES_MAX
    ) -> list[Page]:
        """Pages of one region each, by scans that are asked for together."""
        if any(_spans_several(each.start, each.stop) for each in wanted):
            return [
                self.read_page(start, stop, rows_max, reverse=reverse)
                for start, stop, rows_max, reverse in wanted
            ]
        return super().read_pages(wanted, bytes_max)

    def _scan(self, reads: Sequence[_Read]) -> list[_Found]:
        sent = []
        for read in reads:
            with _reading(read.region):
                connection = self._shared.regions.servers.connection(read.region.address)
                sent.append((read, connection, connection.send("Scan", read.request(None))))
        return [self._finish(*each) for each in sent]


@final
class HBaseView(_RegionReads):
    """A view: every region that it reads, at the moment of a pin. See the module."""

    __slots__ = ("_pins",)

    def __init__(self, shared: SharedReads, *, patient: bool = True) -> None:
        """A view that has read nothing yet. `patient` as of `HBaseReads`."""
        super().__init__(shared, _MOVES_SECONDS_MAX if patient else 0)
        self._pins: dict[bytes, _Pin] = {}

    def close(self) -> None:
        """Let the pins go; they are closed with the driver's next call."""
        pins, self._pins = self._pins, {}
        for pin in pins.values():
            self._shared.unwanted(pin.connection, pin.scanner)

    def _lost(self, lost: _RegionLost) -> None:
        pin = self._pins.get(lost.region.name)
        if pin is None:
            return
        if pin.used:  # the pin stays, so that the view stays lost
            raise ViewLost(f"the view was lost: {lost}") from lost.cause
        del self._pins[lost.region.name]
        self._shared.unwanted(pin.connection, pin.scanner)

    def _handed_out(self) -> None:
        for pin in self._pins.values():
            pin.used = True

    # --- scans at the moments of pins --------------------------------------------------------

    def _scan(self, reads: Sequence[_Read]) -> list[_Found]:
        """The answers to some scans, which are asked for together."""
        pins = self._pinned(list(dict.fromkeys(read.region for read in reads)))
        sent = [self._begin(read) for read in reads]
        found = [self._finish(*each) for each in sent]
        for pin in pins:
            with _reading(pin.region):
                pin.prove()
        return found

    def _pinned(self, regions: Sequence[Region]) -> list[_Pin]:
        """The pins of some regions; those that have none get one."""
        opening = []
        lost: _RegionLost | None = None
        new = [region for region in regions if region.name not in self._pins]
        used = [pin.region for pin in self._pins.values() if pin.used]
        if any(known.overlaps(region) for known in used for region in new):
            raise ViewLost("the view was lost: a region that it has read was split or merged")
        for region in new:
            try:
                opening.append(_Opening.of(region, self._shared.regions.servers))
            except _RegionLost as error:
                lost = error
        # take all of them: an opened one that nobody takes stays open for a minute
        for each in opening:
            try:
                self._pins[each.region.name] = each.pin()
            except _RegionLost as error:
                lost = error
        if lost is not None:
            raise lost
        pins = [self._pins[region.name] for region in regions]
        for pin in pins:
            with _reading(pin.region):
                pin.ask()
        return pins

    def _begin(self, read: _Read) -> tuple[_Read, RpcConnection, PendingCall]:
        pin = self._pins[read.region.name]
        with _reading(read.region):
            call = pin.connection.send("Scan", read.request(pin.read_point))
        return read, pin.connection, call


def _range_read(spot: _Spot, asked: RangeRead) -> _Read:
    request = partial(scan_range, spot.region, spot.span, asked)
    return _Read(spot.region, request, asked.rows_max, whole=False, bytes_max=asked.bytes_max)


def _spans_read(spots: Sequence[tuple[int, _Spot]]) -> _Read:
    region, spans = spots[0][1].region, [spot.span for _, spot in spots]
    asked = RangeRead(rows_expected(len(spans)), _PAGE_BYTES_MAX, reverse=False)
    request = partial(scan_spans, region, spans, asked)
    return _Read(region, request, asked.rows_max, whole=False, bytes_max=asked.bytes_max)


def _edge(spot: _Spot | None, asked: RangeRead) -> bytes | None:
    return None if spot is None else spot.edge(reverse=asked.reverse)


@contextmanager
def _reading(region: Region) -> Iterator[None]:
    """Turn `ServerLost` and `RemoteFailure` inside into `_RegionLost` of this region."""
    try:
        yield
    except (ServerLost, RemoteFailure) as error:
        raise _RegionLost(region, error) from error


def _paged(found: _CellPage) -> Page:
    cells, following = found
    return Page([(key, value) for key, value, _ in cells], following)


def _cells(connection: RpcConnection, answer: ScanCells) -> list[FoundCell]:
    """The cells of an answer. Raises `ServerLost` where they cannot be read."""
    try:
        return result_cells(answer.results)
    except StoreDamaged as error:
        raise connection.unreadable(error) from error


def _spans_several(start: bytes, stop: bytes) -> bool:
    return len(list(islice(row_spans(start, stop), 2))) > 1
