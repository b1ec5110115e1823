"""Many short ranges are read by one scan of their region (storage/hbase/short_pages.py)."""

import socket
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.volume import examples
from tests.unit.storage.hbase.fake import FakeServer, Received, answer_frame

from widerow.keys.layout import SPACE_INTENTS
from widerow.storage.hbase.messages import (
    Cell,
    MultiRowRangeFilter,
    Result,
    ScanRequest,
    ScanResponse,
)
from widerow.storage.hbase.regions import Region, Regions, Servers
from widerow.storage.hbase.rows import row_of
from widerow.storage.hbase.view import HBaseReads, HBaseView, SharedReads
from widerow.storage.page import Page, PageWanted

ROWS = 4  # of a page


class Rows:
    """A server of one region that has these keys, and counts what is asked for."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self.keys = sorted(keys)
        self.scans = 0
        self.pins = 0
        self.server = FakeServer(self._serve)

    def _serve(self, server: FakeServer, connection: socket.socket) -> None:
        while True:
            call = server.receive(connection)
            connection.sendall(answer_frame(call.number, self._answer(call)))

    def _answer(self, call: Received) -> ScanResponse:
        asked = ScanRequest.FromString(call.body)
        if asked.number_of_rows == 0:
            self.pins += not asked.close_scanner
            return ScanResponse(scanner_id=7)
        self.scans += 1
        scan = asked.scan
        (qualifier,) = scan.column[0].qualifier
        rows = [row_of(key)[0] for key in self.keys if key[:1] == qualifier]
        if scan.reversed:
            first, last = bisect_left(rows, scan.stop_row), bisect_left(rows, scan.start_row)
            rows = rows[first:last][::-1]
        else:
            rows = rows[bisect_left(rows, scan.start_row) : bisect_left(rows, scan.stop_row)]
        if scan.HasField("filter"):
            told = MultiRowRangeFilter.FromString(scan.filter.serialized_filter).row_range_list
            rows = [row for row in rows if any(e.start_row <= row < e.stop_row for e in told)]
        shown = rows[: asked.number_of_rows]
        cells = [Cell(row=row, qualifier=qualifier, value=row, timestamp=1) for row in shown]
        return ScanResponse(
            scanner_id=7,
            results=[Result(cell=[cell]) for cell in cells],
            more_results_in_region=len(shown) < len(rows),
        )


def shared_reads(rows: Rows) -> tuple[SharedReads, Servers]:
    servers = Servers([rows.server.address])
    regions = Regions(servers, "t")
    regions._known = [Region(b"one", b"", b"", rows.server.address)]
    return SharedReads(regions), servers


def shard(number: int) -> bytes:
    return SPACE_INTENTS + b"\x00\x00\x00\x07" + b"%03d\x00" % number


def wanted(number: int, *, reverse: bool) -> PageWanted:
    prefix = shard(number)
    return PageWanted(prefix, prefix[:-1] + b"\x01", ROWS, reverse)


def expected(keys: Sequence[bytes], asked: PageWanted) -> Page:
    """The page, as its definition has it."""
    found = sorted(key for key in keys if asked.start <= key < asked.stop)
    found = found[::-1] if asked.reverse else found
    shown = found[: asked.rows_max]
    following = None
    if len(found) > len(shown):
        following = shown[-1] if asked.reverse else shown[-1] + b"\x00"
    return Page([(key, row_of(key)[0]) for key in shown], following)


@pytest.fixture
def few() -> Iterator[Rows]:
    rows = Rows([shard(number) + b"%d" % n for number in (3, 70) for n in range(number // 30 + 1)])
    yield rows
    rows.server.close()


def test_the_intents_of_a_group_are_one_call(few: Rows) -> None:
    """`IntentQueue.leave` asks for the last one of each of a group's shards."""
    shared, servers = shared_reads(few)
    asked = [wanted(number, reverse=True) for number in range(100)]
    view = HBaseView(shared)
    assert view.read_pages(asked) == [expected(few.keys, each) for each in asked]
    assert (few.pins, few.scans) == (1, 1)
    assert HBaseReads(shared).read_pages(asked) == [expected(few.keys, each) for each in asked]
    assert few.scans == 2
    servers.close()


counts = st.dictionaries(st.integers(0, 30), st.integers(0, 2 * ROWS), max_size=20)


@given(counts=counts, numbers=st.lists(st.integers(0, 30), max_size=12), reverse=st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_pages_are_those_that_are_read_one_by_one(
    counts: Mapping[int, int], numbers: Sequence[int], *, reverse: bool
) -> None:
    """Also where some ranges have much, and where two are the same."""
    rows = Rows([shard(number) + b"%d" % n for number, many in counts.items() for n in range(many)])
    shared, servers = shared_reads(rows)
    asked = [wanted(number, reverse=reverse) for number in numbers]
    assert HBaseView(shared).read_pages(asked) == [expected(rows.keys, each) for each in asked]
    servers.close()
    rows.server.close()
