"""The port over real sockets: what only a network shows (wire §1.1, SECURITY.md)."""

import asyncio
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from tests.support.http import Sender, Wire, encode_request

from widerow.cli.process import loop_factory
from widerow.limits import BODY_BYTES_MAX, IDLE_SECONDS_MAX
from widerow.server.addresses import endpoint_at
from widerow.server.admission import Admission
from widerow.server.connection import Connection
from widerow.server.headers import KeptHeaders
from widerow.server.http import Listener
from widerow.server.http1 import NOTHING
from widerow.server.message import Reply, Request, Response
from widerow.server.shared import Kept
from widerow.testing.clock import FakeClock

if TYPE_CHECKING:
    from tests.unit.server.conftest import Running

    from widerow.errors import WiderowError

Serve = Callable[..., "Running"]
SENDER = Sender()


def test_a_signed_request_is_answered(serve: Serve) -> None:
    with Wire(serve().endpoint) as wire:
        answer = wire.ask(SENDER.request("ListTable"))
        assert answer.status == 200
        assert SENDER.signed("ListTable", answer)
        assert answer.headers["date"].endswith(" GMT")


def test_answers_leave_at_once(serve: Serve) -> None:
    running = serve()
    with Wire(running.endpoint) as wire:
        wire.ask(SENDER.request("ListTable"))
        listener = running.server._listener
        assert listener is not None
        (connection,) = listener._shared.connections
        assert isinstance(connection, Connection)
        transport = connection._transport
        assert transport is not None
        accepted = transport.get_extra_info("socket")
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_pipelined_answers_come_in_order(serve: Serve) -> None:
    with Wire(serve().endpoint) as wire:
        requests = [SENDER.request("ListTable"), b"GET /livez HTTP/1.1\r\n\r\n"] * 100
        wire.send(b"".join(requests))
        bodies = [wire.read().body for _ in requests]
        assert bodies == [b"", b"alive\n"] * 100


def test_a_refused_body_does_not_cost_the_answer(serve: Serve) -> None:
    # The client sends all of it before it reads; a reset would take the answer away.
    body = b"x" * (BODY_BYTES_MAX + 1_000_000)
    with Wire(serve().endpoint) as wire:
        answer = wire.ask(SENDER.request("PutRow", body))
        assert answer.error == (
            413,
            "OTSRequestBodyTooLarge",
            "The size of POST data is too large.",
        )
        assert wire.ended()


def test_a_client_that_asks_first_need_not_send_what_is_too_long(serve: Serve) -> None:
    headers = {"content-length": str(2**31), "expect": "100-continue"}
    with Wire(serve().endpoint) as wire:
        assert wire.ask(encode_request("/PutRow", headers)).status == 413


def test_a_half_closed_client_is_answered(serve: Serve, table_body: bytes) -> None:
    with Wire(serve().endpoint) as wire:
        wire.send(SENDER.request("CreateTable", table_body))
        wire.finish()
        assert wire.read().status == 200
        assert wire.ended()


def test_many_clients_are_served_beside_each_other(serve: Serve, table_body: bytes) -> None:
    endpoint = serve().endpoint

    def visit(number: int) -> int:
        sender = Sender(instance=f"i{number}")
        with Wire(endpoint) as wire:
            created = wire.ask(sender.request("CreateTable", table_body)).status
            listed = [wire.ask(sender.request("ListTable")).status for _ in range(5)]
            return max(created, *listed)

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(visit, range(64))) == {200}


def test_a_client_that_breaks_off_costs_nothing(serve: Serve, table_body: bytes) -> None:
    running = serve()
    for cut in (1, 20, 400):
        with Wire(running.endpoint) as wire:
            wire.send(SENDER.request("CreateTable", table_body)[:-cut])
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    with Wire(running.endpoint) as wire:
        assert wire.ask(SENDER.request("ListTable")).status == 200
        page = ""
        # The ends of the others may be noticed a turn of the loop later; this request is one.
        while not ("_requests_in_flight 1\n" in page and "_bytes_in_flight 0\n" in page):
            page = wire.ask(b"GET /metrics HTTP/1.1\r\n\r\n").body.decode()


class Still:
    """A handler that is never asked."""

    def handle(self, request: Request, reply: Reply) -> Response | None:
        raise AssertionError(request, reply)

    def refuse(self, error: "WiderowError") -> Response:
        return Response(408, b"", str(error).encode())


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop turn until `condition` holds."""
    while not condition():  # noqa: ASYNC110  # nothing announces what is waited for
        await asyncio.sleep(0)


def _is_in_message(connection: Kept) -> bool:
    assert isinstance(connection, Connection)
    return connection._http.awaited != NOTHING


def test_the_tick_ends_what_waits_too_long() -> None:
    async def run() -> None:
        clock = FakeClock()
        listener = Listener(Still(), Admission(), clock, KeptHeaders(()))
        endpoint = await listener.start("127.0.0.1", 0)
        await listener.accept()
        port = int(endpoint.rpartition(":")[2])
        idle_reader, idle_writer = await asyncio.open_connection("127.0.0.1", port)
        slow_reader, slow_writer = await asyncio.open_connection("127.0.0.1", port)
        slow_writer.write(b"POST /A HTTP/1.1\r\n")
        await until(lambda: any(map(_is_in_message, listener._shared.connections)))
        clock.advance(IDLE_SECONDS_MAX + 1)
        listener.expire(clock.monotonic_ns() / 1e9)
        assert await idle_reader.read() == b""
        assert (await slow_reader.read()).startswith(b"HTTP/1.1 408 ")
        for writer in (idle_writer, slow_writer):
            writer.close()
            await writer.wait_closed()
        listener.close()
        await until(lambda: not listener._shared.connections)

    asyncio.run(run())


def test_a_connection_that_was_accepted_is_made_before_the_port_is_closed() -> None:
    dropped: list[dict[str, object]] = []

    async def run(turns: int) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, told: dropped.append(told))
        listener = Listener(Still(), Admission(), FakeClock(), KeptHeaders(()))
        endpoint = await listener.start("127.0.0.1", 0)
        await listener.accept()
        with Wire(endpoint):
            for _ in range(turns):
                await asyncio.sleep(0)
            await listener.make_accepted()
            listener.stop_accepting()
            for _ in range(5):
                await asyncio.sleep(0)
            listener.close()
            await until(lambda: not listener._shared.connections)

    for turns in range(6):
        asyncio.run(run(turns), debug=True)
    assert dropped == []


@pytest.mark.parametrize("new_loop", [None, loop_factory()], ids=["standard", "a worker's"])
def test_a_connection_that_was_handed_over_counts_from_the_first_turn_on_and_once(
    new_loop: Callable[[], asyncio.AbstractEventLoop] | None,
) -> None:
    """Else a worker with many in the making would be given more (docs/internals/serving.md)."""

    async def run() -> None:
        admission = Admission()
        listener = Listener(Still(), admission, FakeClock(), KeptHeaders(()))
        listener.begin()
        ends = [socket.socketpair() for _ in range(9)]
        for _, accepted in ends:
            accepted.settimeout(0)
            listener.take(accepted)
        while admission.connections < len(ends):
            assert admission.connections + listener.in_the_making() == len(ends)
            await asyncio.sleep(0)
        assert listener.in_the_making() == 0
        for client, _ in ends:
            client.close()
        await until(lambda: admission.connections == 0)
        assert listener.in_the_making() == 0
        listener.close()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(run())


def test_a_connection_that_ends_while_it_is_made_counts_no_more() -> None:
    async def run() -> None:
        async def fail(*_: object) -> None:  # as the system does where the client is gone
            raise ConnectionResetError

        admission = Admission()
        listener = Listener(Still(), admission, FakeClock(), KeptHeaders(()))
        listener.begin()
        loop = asyncio.get_running_loop()
        loop.connect_accepted_socket = fail  # type: ignore[method-assign,assignment]  # this loop's
        listener.take(socket.socket())
        assert listener.in_the_making() == 1
        await until(lambda: listener.in_the_making() == 0)
        assert admission.connections == 0
        listener.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("address", "endpoint"),
    [
        (("127.0.0.1", 80), "http://127.0.0.1:80"),
        (("::1", 80, 0, 0), "http://[::1]:80"),
    ],
)
def test_endpoints_are_urls(
    address: tuple[str, int] | tuple[str, int, int, int], endpoint: str
) -> None:
    assert endpoint_at("http", address) == endpoint
