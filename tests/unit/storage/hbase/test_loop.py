"""Reads by way of the server's loop, against servers in the test (storage/hbase/loop.py)."""

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import pytest
from tests.unit.storage.hbase.fake import (
    UNSECURED_SERVER,
    FakeServer,
    Received,
    Secured,
    answer_frame,
    failure_frame,
)

from widerow.storage.hbase import loop as loop_module
from widerow.storage.hbase.greeting import Address, Greeted, ServerLost, greeted
from widerow.storage.hbase.loop import HBaseLoopReads, LoopConnection
from widerow.storage.hbase.messages import Cell, Result, ScanRequest, ScanResponse
from widerow.storage.hbase.regions import CLIENT, Region
from widerow.storage.hbase.rows import row_of

KEYS: Final = [b"\x10a", b"\x10b", b"\x10n", b"\x10z"]
SCANNER: Final = 2**63 + 5  # servers begin at a random number, half of them beyond 63 bits
WAIT_SECONDS: Final = 10.0  # of the test
Answers = Callable[[Received], Sequence[bytes]]


def asked_rows(call: Received) -> list[bytes]:
    """The first and the last row that a scan asks for."""
    scan = ScanRequest.FromString(call.body).scan
    return [scan.start_row, scan.stop_row]


def found(values: Mapping[bytes, bytes], *, more: bool = False) -> ScanResponse:
    """An answer with these keys."""
    rows = []
    for key, value in values.items():
        row, qualifier = row_of(key)
        cell = Cell(row=row, qualifier=qualifier, timestamp=1, value=value)
        rows.append(Result(cell=[cell]))
    return ScanResponse(scanner_id=SCANNER, results=rows, more_results_in_region=more)


class Cluster:
    """Servers that have one region each, and reads over them."""

    def __init__(
        self, edges: Sequence[bytes], answers: Answers, secured: Secured = UNSECURED_SERVER
    ) -> None:
        self.calls: list[Received] = []
        self._answers = answers
        self.servers = [FakeServer(self._serve, secured.secure) for _ in range(len(edges) + 1)]
        bounds = list(zip([b"", *edges], [*edges, b""], strict=True))
        self.regions = [
            Region(b"r%d" % number, *bound, server.address)
            for number, (bound, server) in enumerate(zip(bounds, self.servers, strict=True))
        ]
        self.connects = 0
        self._security = secured.security
        self.refuses = False

    def _serve(self, server: FakeServer, connection: socket.socket) -> None:
        while True:
            call = server.receive(connection)
            self.calls.append(call)
            for part in self._answers(call):
                connection.sendall(part)

    def region_of(self, row: bytes) -> Region | None:
        return next((each for each in self.regions if each.has(row)), None)

    def connect(self, address: Address) -> Greeted:
        self.connects += 1
        if self.refuses:
            raise ServerLost("refused", sent=False)
        return greeted(address, CLIENT, self._security)

    def close(self) -> None:
        for server in self.servers:
            server.close()


@contextmanager
def cluster(
    answers: Answers, edges: Sequence[bytes] = (), secured: Secured = UNSECURED_SERVER
) -> Iterator[Cluster]:
    made = Cluster(edges, answers, secured)
    try:
        yield made
    finally:
        made.close()


async def begun(
    reads: HBaseLoopReads,
    keys: Sequence[bytes],
    told: Callable[[Sequence[bytes | None] | None], None],
) -> None:
    """Begin a read, once there is a connection."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not reads.begin(keys, told):  # noqa: ASYNC110  # nobody tells of a connection
            await asyncio.sleep(0.001)


async def read(reads: HBaseLoopReads, keys: Sequence[bytes]) -> list[bytes | None] | None:
    """What is told of some keys, once reads can be begun."""
    told: asyncio.Future[list[bytes | None] | None] = asyncio.get_running_loop().create_future()

    def tell(values: Sequence[bytes | None] | None) -> None:
        told.set_result(None if values is None else list(values))

    await begun(reads, keys, tell)
    assert not told.done(), "nothing is told before the call returns"
    async with asyncio.timeout(WAIT_SECONDS):
        return await told


def run(over: Cluster, *asked: Sequence[bytes]) -> list[list[bytes | None] | None]:
    """What is told of reads one after the other."""

    async def work() -> list[list[bytes | None] | None]:
        reads = HBaseLoopReads(over.region_of, over.connect, asyncio.get_running_loop())
        try:
            return [await read(reads, keys) for keys in asked]
        finally:
            reads.close()

    return asyncio.run(work())


def everything(call: Received) -> list[bytes]:
    """Values that are their keys, of every key that lies between the rows asked for."""
    first, last = asked_rows(call)
    values = {key: key for key in KEYS if first <= row_of(key)[0] <= last}
    return [answer_frame(call.number, found(values))]


def test_keys_are_read_by_one_scan_of_each_region() -> None:
    with cluster(everything, [row_of(b"\x10m")[0]]) as over:
        assert run(over, [*KEYS, b"\x10y"]) == [[*KEYS, None]]
        assert sorted(map(asked_rows, over.calls)) == [
            [row_of(b"\x10a")[0], row_of(b"\x10b")[0]],
            [row_of(b"\x10n")[0], row_of(b"\x10z")[0]],
        ]


def test_a_connection_is_used_again() -> None:
    with cluster(everything) as over:
        assert run(over, KEYS, KEYS[:1], KEYS) == [KEYS, KEYS[:1], KEYS]
        assert over.connects == 1


def test_answers_come_in_any_parts() -> None:
    def parts(call: Received) -> list[bytes]:
        frame = b"".join(everything(call))
        return [frame[at : at + 1] for at in range(len(frame))]

    with cluster(parts) as over:
        assert run(over, KEYS) == [KEYS]


def test_an_answer_larger_than_the_buffer_is_read() -> None:
    large = bytes(3 * 256 * 1024)
    with cluster(lambda call: [answer_frame(call.number, found({KEYS[0]: large}))]) as over:
        assert run(over, KEYS[:1]) == [[large]]


def test_answers_are_told_from_each_other_by_their_numbers() -> None:
    """Two reads are under way, and the second one is answered first."""
    held: list[Received] = []

    def swapped(call: Received) -> list[bytes]:
        held.append(call)
        return [] if len(held) < 2 else [*everything(held[1]), *everything(held[0])]

    async def work(over: Cluster) -> list[list[bytes | None] | None]:
        reads = HBaseLoopReads(over.region_of, over.connect, asyncio.get_running_loop())
        both = await asyncio.gather(read(reads, KEYS[:1]), read(reads, KEYS[1:2]))
        reads.close()
        return list(both)

    with cluster(swapped) as over:
        assert asyncio.run(work(over)) == [KEYS[:1], KEYS[1:2]]


def test_a_scan_that_the_server_has_not_finished_goes_on() -> None:
    def halves(call: Received) -> list[bytes]:
        asked = ScanRequest.FromString(call.body)
        if asked.HasField("scanner_id"):
            assert asked.scanner_id == SCANNER
            return [answer_frame(call.number, found({KEYS[1]: b"2"}))]
        return [answer_frame(call.number, found({KEYS[0]: b"1"}, more=True))]

    with cluster(halves) as over:
        assert run(over, KEYS[:2]) == [[b"1", b"2"]]


REFUSED: Final = "org.apache.hadoop.hbase.NotServingRegionException"


def cut(call: Received) -> bytes:
    """A frame whose answer is longer than it."""
    return struct.pack("!I", 4) + bytes((2, 8, call.number, 100))


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(lambda call: failure_frame(call.number, REFUSED), id="a refusal"),
        pytest.param(cut, id="an answer that is longer than its frame"),
        pytest.param(lambda _: struct.pack("!I", 0xFFFFFFFF), id="a frame without a bound"),
        pytest.param(lambda _: struct.pack("!I", 3) + b"\xff\xff\xff", id="no length"),
        pytest.param(lambda _: struct.pack("!I", 0), id="nothing"),
        pytest.param(
            lambda call: answer_frame(call.number, found({}))[:-2] + b"\x2a\x7f",
            id="a row that is longer than its answer",
        ),
    ],
)
def test_what_cannot_be_read_is_told_as_none(told: Callable[[Received], bytes]) -> None:
    with cluster(lambda call: [told(call)]) as over:
        assert run(over, KEYS) == [None]


def test_a_refusal_keeps_the_connection_and_garbage_does_not() -> None:
    answers = [
        lambda call: [failure_frame(call.number, REFUSED)],
        everything,
        lambda call: [cut(call)],
        everything,
    ]

    def next_answer(call: Received) -> list[bytes]:
        return answers.pop(0)(call)

    with cluster(next_answer) as over:
        assert run(over, KEYS, KEYS, KEYS, KEYS) == [None, KEYS, None, KEYS]
        assert over.connects == 2


def test_an_answer_to_another_call_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_module, "QUIET_SECONDS_MAX", 0.05)
    with cluster(lambda call: [answer_frame(call.number + 1, found({KEYS[0]: b"1"}))]) as over:
        assert run(over, KEYS[:1]) == [None]


def test_a_silent_server_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_module, "QUIET_SECONDS_MAX", 0.05)
    with cluster(lambda _: []) as over:
        assert run(over, KEYS, KEYS) == [None, None]
        assert over.connects == 2  # it is asked again on another connection


def test_nothing_is_begun_where_regions_are_not_known() -> None:
    with cluster(everything) as over:
        over.regions.clear()

        async def work() -> bool:
            reads = HBaseLoopReads(over.region_of, over.connect, asyncio.get_running_loop())
            return reads.begin(KEYS, lambda _: None)

        assert not asyncio.run(work())
        assert over.connects == 0


def test_a_server_that_refuses_connections_is_not_asked_all_the_time() -> None:
    with cluster(everything) as over:
        over.refuses = True

        async def work() -> None:
            reads = HBaseLoopReads(over.region_of, over.connect, asyncio.get_running_loop())
            for _ in range(50):
                assert not reads.begin(KEYS, lambda _: None)
                await asyncio.sleep(0.001)
            reads.close()

        asyncio.run(work())
        assert over.connects == 1


def test_what_is_under_way_is_told_as_none_at_the_end() -> None:
    asked = threading.Event()

    def silent(_: Received) -> list[bytes]:
        asked.set()
        return []

    async def work(over: Cluster) -> list[Sequence[bytes | None] | None]:
        reads = HBaseLoopReads(over.region_of, over.connect, asyncio.get_running_loop())
        told: list[Sequence[bytes | None] | None] = []
        await begun(reads, KEYS, told.append)
        await asyncio.to_thread(asked.wait, WAIT_SECONDS)
        reads.close()
        reads.close()
        assert not reads.begin(KEYS, told.append)
        return told

    with cluster(silent) as over:
        assert asyncio.run(work(over)) == [None]


def test_what_the_socket_does_not_take_is_sent_later() -> None:
    """A server that reads nothing for a while keeps no loop waiting."""
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    body = bytes(1024 * 1024)

    async def work() -> list[int]:
        connection = LoopConnection(Greeted(ours), asyncio.get_running_loop())
        told: list[object] = []
        for _ in range(2):
            connection.scan(body, told.append)
        assert not told
        received = [
            await asyncio.to_thread(FakeServer.receive, theirs),
            await asyncio.to_thread(FakeServer.receive, theirs),
        ]
        assert all(call.body == body for call in received)
        connection.lose()
        assert told == [None, None]
        return [call.number for call in received]

    with theirs:
        assert asyncio.run(work()) == [1, 2]
