"""`widerow row count`: a range is cut, counted on several connections, and may be interrupted."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.cli.tablestore.counting import Counting, CountProgress, cut_range, split_ranges
from widerow.client.connection import Client, Endpoint
from widerow.client.failures import Refused
from widerow.client.reading import KeyRange, ReadOptions
from widerow.client.rows import encode_plain_key
from widerow.client.tables import TableFacts, known_table
from widerow.model.values import KeyInput, KeyMarker
from widerow.testing.server import WiderowServer

CARDS = 12
ORDERS = 40
ROWS = CARDS * ORDERS
ROW_BYTES = 20_000  # so that the table is of several of the smallest parts (semantics §6)

VALUES = st.sampled_from(
    ["", "a", "b", "\ue000", "\U00010000", KeyMarker.INF_MIN, KeyMarker.INF_MAX]
)
LOW, HIGH = KeyMarker.INF_MIN, KeyMarker.INF_MAX


def encoded(card: KeyInput, order: KeyInput) -> bytes:
    return encode_plain_key((("card", card), ("n", order)))


def rank(value: KeyInput) -> tuple[int, bytes]:
    if isinstance(value, str):
        return 1, value.encode()
    return (0 if value is LOW else 2), b""


@given(st.lists(VALUES, unique=True), VALUES, VALUES)
def test_the_parts_of_a_range_cover_it_and_nothing_else(
    points: list[KeyInput], first: KeyInput, end: KeyInput
) -> None:
    points = sorted(points, key=rank)
    asked = KeyRange(encoded(first, LOW), encoded(end, LOW))
    found = cut_range(asked, [encoded(each, LOW) for each in points])
    assert (found[0].start, found[-1].end) == asked[:2]
    assert all(one.end == other.start for one, other in pairwise(found))
    inside = [each for each in points if rank(first) < rank(each) < rank(end)]
    assert [each.start for each in found[1:]] == [encoded(each, LOW) for each in inside]


@pytest.fixture(scope="module")
def server() -> Iterator[WiderowServer]:
    from tablestore import (  # noqa: PLC0415  # as users have it
        BatchWriteRowRequest,
        CapacityUnit,
        Condition,
        PutRowItem,
        ReservedThroughput,
        Row,
        RowExistenceExpectation,
        TableInBatchWriteRowItem,
        TableMeta,
        TableOptions,
    )

    with WiderowServer() as started:
        client = started.client()
        meta = TableMeta("cards", [("card", "STRING"), ("n", "INTEGER")])
        client.create_table(meta, TableOptions(), ReservedThroughput(CapacityUnit(0, 0)))
        ignore = Condition(RowExistenceExpectation.IGNORE)
        for card in range(CARDS):
            batch = BatchWriteRowRequest()
            items = [
                PutRowItem(
                    Row([("card", f"c-{card:02}"), ("n", n)], [("v", bytearray(ROW_BYTES))]), ignore
                )
                for n in range(ORDERS)
            ]
            batch.add(TableInBatchWriteRowItem("cards", items))
            client.batch_write_row(batch)
        yield started


@pytest.fixture
def endpoint(server: WiderowServer) -> Endpoint:
    server.faults.clear()
    return Endpoint(server.endpoint, server.instance, "widerow", "widerow")


@pytest.fixture
def cards(endpoint: Endpoint) -> TableFacts:
    with Client(endpoint) as client:
        return known_table(client, "cards")


def parts_of(endpoint: Endpoint, table: TableFacts, asked: KeyRange) -> list[KeyRange]:
    with Client(endpoint) as client:
        return split_ranges(client, table, asked)


KEY_ONLY = ReadOptions(columns=("card",))


@pytest.mark.parametrize("workers", [1, 4, 64])
@pytest.mark.parametrize(
    ("first", "end", "rows"), [(LOW, HIGH, ROWS), ("c-03", "c-09", 6 * ORDERS), ("x", "y", 0)]
)
def test_a_range_is_counted_in_several_parts(
    endpoint: Endpoint,
    cards: TableFacts,
    workers: int,
    first: KeyInput,
    end: KeyInput,
    rows: int,
) -> None:
    ranges = parts_of(
        endpoint,
        cards,
        KeyRange(
            encoded(first, first if first is LOW else LOW),
            encoded(end, end if end is HIGH else LOW),
        ),
    )
    assert (len(ranges) > 3) == (rows > 0)
    told: list[CountProgress] = []
    counting = Counting(ranges)
    assert counting.run(endpoint, cards, KEY_ONLY, workers, told.append) == rows
    assert told[-1] == CountProgress(len(ranges), len(ranges), rows)
    assert len(told) > len(ranges)  # within a part, too
    assert [each.rows for each in told] == sorted(each.rows for each in told)


def test_what_fails_in_one_part_ends_the_others(
    server: WiderowServer, endpoint: Endpoint, cards: TableFacts
) -> None:
    ranges = parts_of(endpoint, cards, KeyRange(encoded(LOW, LOW), encoded(HIGH, HIGH)))
    server.faults.add("OTSAuthFailed", action="GetRange", count=1)
    counting = Counting(ranges)
    with pytest.raises(Refused, match="OTSAuthFailed"):
        counting.run(endpoint, cards, KEY_ONLY, 1, lambda _: None)
    assert counting.progress.done < len(ranges)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Programs that are started end at SIGINT, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_says_what_was_counted(server: WiderowServer, endpoint: Endpoint) -> None:
    number = server.faults.add(action="GetRange", latency_ms=1000)
    words = ["row", "count", "cards", "--workers", "1", "--instance", endpoint.instance]
    command = [sys.executable, "-m", "widerow", *words, "--endpoint", endpoint.url]
    process = subprocess.Popen(  # noqa: S603  # our own command
        command, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    last = time.monotonic() + 30
    while server.faults.struck(number) < 3:
        assert time.monotonic() < last
        time.sleep(0.01)  # the server is in this process
    process.send_signal(signal.SIGINT)
    out, told = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    found = re.search(
        r"interrupted: (\d+) rows of cards until now, (\d+) of (\d+) parts whole", told
    )
    assert found, told
    rows, done, parts = map(int, found.groups())
    assert 0 < rows < ROWS
    assert 0 < done < parts
    assert "Traceback" not in told
