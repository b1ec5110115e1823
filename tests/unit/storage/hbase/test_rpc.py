"""Calls over one connection, against a server in the test (storage/hbase/rpc.py)."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any, Final

import pytest
from tests.unit.storage.hbase.fake import FakeServer, answer_frame, failure_frame

from widerow.storage.hbase import regions, rpc
from widerow.storage.hbase.greeting import Address, ServerLost
from widerow.storage.hbase.messages import Scan, ScanRequest, ScanResponse
from widerow.storage.hbase.regions import Servers
from widerow.storage.hbase.rpc import RemoteFailure, RpcConnection

WAIT_SECONDS: Final = 10.0  # of the tests
Serve = Callable[[FakeServer, socket.socket], None]


def asked(number: int) -> ScanRequest:
    return ScanRequest(scanner_id=number)


def echo(server: FakeServer, connection: socket.socket) -> bytes:
    """The answer to the next call: the scanner that it names."""
    call = server.receive(connection)
    scanner = ScanRequest.FromString(call.body).scanner_id
    return answer_frame(call.number, ScanResponse(scanner_id=scanner))


@pytest.fixture
def serve() -> Iterator[Callable[[Serve], RpcConnection]]:
    opened: list[FakeServer | RpcConnection] = []

    def start(behaviour: Serve) -> RpcConnection:
        server = FakeServer(behaviour)
        connection = RpcConnection(server.address, "ClientService")
        opened.extend((connection, server))
        return connection

    yield start
    for each in opened:
        each.close()


def test_answers_come_in_any_order(serve: Callable[[Serve], RpcConnection]) -> None:
    def backwards(server: FakeServer, connection: socket.socket) -> None:
        frames = [echo(server, connection) for _ in range(20)]
        connection.sendall(b"".join(reversed(frames)))

    connection = serve(backwards)
    calls = [connection.send("Scan", asked(number)) for number in range(20)]
    assert [call.answer(ScanResponse).scanner_id for call in calls] == list(range(20))


def test_frames_may_be_split_anywhere(serve: Callable[[Serve], RpcConnection]) -> None:
    def in_pieces(server: FakeServer, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        frames = echo(server, connection) + echo(server, connection)
        for at in range(len(frames)):
            connection.sendall(frames[at : at + 1])

    connection = serve(in_pieces)
    calls = [connection.send("Scan", asked(number)) for number in (300, 7)]
    assert [call.answer(ScanResponse).scanner_id for call in calls] == [300, 7]


def test_threads_share_a_connection(serve: Callable[[Serve], RpcConnection]) -> None:
    def answer_all(server: FakeServer, connection: socket.socket) -> None:
        while True:
            connection.sendall(echo(server, connection))

    connection = serve(answer_all)
    found: list[tuple[int, int]] = []

    def ask(first: int) -> None:
        for number in range(first, first + 50):
            answer = connection.call("Scan", asked(number), ScanResponse)
            found.append((number, answer.scanner_id))

    threads = [threading.Thread(target=ask, args=(1000 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 200
    assert all(number == answered for number, answered in found)


def test_an_exception_is_told_by_its_name(serve: Callable[[Serve], RpcConnection]) -> None:
    def fail_once(server: FakeServer, connection: socket.socket) -> None:
        number = server.receive(connection).number
        connection.sendall(
            failure_frame(number, "org.apache.hadoop.hbase.NotServingRegionException")
        )
        connection.sendall(echo(server, connection))

    connection = serve(fail_once)
    with pytest.raises(RemoteFailure, match="told") as failure:
        connection.call("Scan", asked(1), ScanResponse)
    assert failure.value.kind == "NotServingRegionException"
    assert connection.call("Scan", asked(2), ScanResponse).scanner_id == 2


def test_a_lost_connection_ends_every_call(serve: Callable[[Serve], RpcConnection]) -> None:
    def hang_up(server: FakeServer, connection: socket.socket) -> None:
        for _ in range(3):
            server.receive(connection)
        connection.close()

    connection = serve(hang_up)
    calls = [connection.send("Scan", asked(number)) for number in range(3)]
    for call in calls:
        with pytest.raises(ServerLost) as lost:
            call.answer(ScanResponse)
        assert lost.value.sent
    assert not connection.usable()
    with pytest.raises(ServerLost) as later:
        connection.send("Scan", asked(9))
    assert not later.value.sent


@pytest.mark.parametrize(
    "sent",
    [
        struct.pack("!I", rpc.FRAME_BYTES_MAX + 1),
        struct.pack("!I", 3) + b"\x7f\x00\x00",  # a header that is longer than its frame
        struct.pack("!I", 2) + b"\x01\xff",  # a header that is none
        struct.pack("!I", 0),
    ],
)
def test_what_is_no_answer_loses_the_connection(
    serve: Callable[[Serve], RpcConnection], sent: bytes
) -> None:
    def babble(server: FakeServer, connection: socket.socket) -> None:
        server.receive(connection)
        connection.sendall(sent)
        server.receive(connection)  # until the other side has gone

    with pytest.raises(ServerLost, match="cannot be read"):
        serve(babble).call("Scan", asked(1), ScanResponse)


def test_a_server_that_does_not_answer_is_left(
    serve: Callable[[Serve], RpcConnection], monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(server: FakeServer, connection: socket.socket) -> None:
        while True:
            server.receive(connection)

    connection = serve(silent)
    monkeypatch.setattr(rpc, "ANSWER_SECONDS_MAX", 0.05)
    other = connection.send("Scan", asked(2))
    with pytest.raises(ServerLost, match="does not answer"):
        connection.call("Scan", asked(1), ScanResponse)
    with pytest.raises(ServerLost):
        other.answer(ScanResponse)


# --- servers that hang (docs/operating/cluster.md) -----------------------------------------------


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "QUIET_SECONDS_MAX", 0.05)
    monkeypatch.setattr(rpc, "HUNG_SECONDS", 0.4)


@pytest.mark.usefixtures("impatient")
def test_a_server_that_hangs_is_left_long_before_a_slow_call_is(
    serve: Callable[[Serve], RpcConnection],
) -> None:
    asked_for: list[str] = []

    def hang(server: FakeServer, connection: socket.socket) -> None:
        while True:
            asked_for.append(server.receive(connection).method)

    connection = serve(hang)
    began = monotonic()
    with pytest.raises(ServerLost, match="hangs") as lost:
        connection.call("ExecService", asked(1), ScanResponse)
    assert lost.value.hung
    assert lost.value.sent
    assert connection.hung
    assert monotonic() - began < rpc.ANSWER_SECONDS_MAX / 2
    assert asked_for == ["ExecService", "Multi"]


@pytest.mark.usefixtures("impatient")
def test_a_call_that_takes_long_is_waited_for_where_others_are_answered(
    serve: Callable[[Serve], RpcConnection],
) -> None:
    def be_slow(server: FakeServer, connection: socket.socket) -> None:
        slow = server.receive(connection)
        for _ in range(5):
            tried = server.receive(connection)
            assert tried.body == b""
            connection.sendall(answer_frame(tried.number, ScanResponse()))
        connection.sendall(answer_frame(slow.number, ScanResponse(scanner_id=7)))

    connection = serve(be_slow)
    assert connection.call("ExecService", asked(1), ScanResponse).scanner_id == 7
    assert connection.usable()


@pytest.mark.usefixtures("impatient")
def test_a_server_that_takes_nothing_more_hangs(
    serve: Callable[[Serve], RpcConnection],
) -> None:
    over = threading.Event()

    def read_nothing(_: FakeServer, __: socket.socket) -> None:
        over.wait(5)

    connection = serve(read_nothing)
    try:
        with pytest.raises(ServerLost) as lost:
            connection.call("Scan", Scan(start_row=bytes(32 * 1024 * 1024)), ScanResponse)
    finally:
        over.set()
    assert lost.value.hung


@pytest.mark.usefixtures("impatient")
def test_a_server_that_hangs_is_asked_again_when_it_answers(
    serve: Callable[[Serve], RpcConnection],
) -> None:
    """Until then whoever asks is refused at once."""
    answers = threading.Event()

    def hang(server: FakeServer, connection: socket.socket) -> None:
        while True:
            number = server.receive(connection).number
            if answers.is_set():
                connection.sendall(answer_frame(number, ScanResponse(scanner_id=3)))

    servers = Servers([])
    address = serve(hang).address
    with pytest.raises(ServerLost, match="hangs"):
        servers.connection(address).call("Scan", asked(1), ScanResponse)
    for _ in range(20):
        with pytest.raises(ServerLost, match="hangs") as refused:
            servers.connection(address)
        assert not refused.value.sent
    answers.set()
    deadline = monotonic() + 5
    while servers.hang(address):
        assert monotonic() < deadline
    assert servers.connection(address).call("Scan", asked(2), ScanResponse).scanner_id == 3
    servers.close()


def test_few_calls_wait_for_a_server_that_says_nothing(
    serve: Callable[[Serve], RpcConnection], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them holds a thread that requests of other servers take."""
    monkeypatch.setattr(rpc, "SILENT_SECONDS", 0.05)
    answers = threading.Event()

    def be_silent(server: FakeServer, connection: socket.socket) -> None:
        frames = [echo(server, connection) for _ in range(rpc.SILENT_CALLS_MAX)]
        answers.wait(WAIT_SECONDS)
        connection.sendall(b"".join(frames))
        connection.sendall(echo(server, connection))

    connection = serve(be_silent)
    calls = [connection.send("Scan", asked(number)) for number in range(rpc.SILENT_CALLS_MAX)]
    deadline = monotonic() + WAIT_SECONDS
    while connection.silent_seconds < rpc.SILENT_SECONDS:
        assert monotonic() < deadline
    with pytest.raises(ServerLost, match="says nothing, and 16 calls wait") as refused:
        connection.send("Scan", asked(99))
    assert not refused.value.sent
    assert refused.value.hung
    answers.set()
    assert [call.answer(ScanResponse).scanner_id for call in calls] == list(range(16))
    assert (connection.waiting, connection.silent_seconds) == (0, 0)
    assert connection.call("Scan", asked(5), ScanResponse).scanner_id == 5


def test_a_server_that_is_connected_to_slowly_keeps_nobody_from_others(
    serve: Callable[[Serve], RpcConnection], monkeypatch: pytest.MonkeyPatch
) -> None:
    there = serve(lambda server, connection: connection.sendall(echo(server, connection))).address
    slow, begun, over = Address("slow", 1), threading.Event(), threading.Event()

    def connect(address: Address, *rest: Any) -> RpcConnection:  # noqa: ANN401  # as that has it
        if address == slow:
            begun.set()
            over.wait(WAIT_SECONDS)
            raise ServerLost("gone", sent=False)
        return RpcConnection(address, *rest)

    monkeypatch.setattr(regions, "RpcConnection", connect)
    servers = Servers([])
    with ThreadPoolExecutor(1) as other:
        waits = other.submit(servers.connection, slow)
        assert begun.wait(WAIT_SECONDS)
        assert servers.connection(there).usable()
        assert not waits.done()
        over.set()
        assert isinstance(waits.exception(WAIT_SECONDS), ServerLost)
    servers.close()


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = Address(*listener.getsockname())
    with pytest.raises(ServerLost) as lost:
        RpcConnection(address, "ClientService")
    assert not lost.value.sent
