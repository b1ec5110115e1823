"""Servers that the proxy asks: bounds, broken answers, connections that are kept, TLS."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from widerow.client import pool as module
from widerow.client.failures import RequestFailed
from widerow.client.http import HttpAnswer
from widerow.client.pool import ConnectionPool
from widerow.system import SystemClock

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter, int], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nX-Ots-RequestId: 7\r\n\r\nok"


def asked(
    script: Script, times: int = 1, *, seconds: float = 5.0, repeatable: bool = False
) -> tuple[list[HttpAnswer | str], int]:
    """What a server that does as `script` says answers, and how many connections that took."""
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        try:
            await script(reader, writer, connections)
        finally:
            writer.close()

    async def run() -> list[HttpAnswer | str]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        upstream = ConnectionPool(f"http://127.0.0.1:{port}", SystemClock(), seconds=seconds)
        found: list[HttpAnswer | str] = []
        for _ in range(times):
            try:
                found.append(await upstream.ask("/x", [("a", "b")], b"body", repeatable=repeatable))
            except RequestFailed as error:
                found.append(str(error))
        upstream.close()
        server.close()
        return found

    return asyncio.run(run()), connections


async def read_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    return head + await reader.readexactly(4)


def test_a_connection_is_kept() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
        while True:
            try:
                request = await read_request(reader)
            except asyncio.IncompleteReadError:
                return
            assert request.startswith(b"POST /x HTTP/1.1\r\na: b\r\nhost: 127.0.0.1:")
            writer.write(OK)

    answers, connections = asked(script, 3)
    assert answers == [HttpAnswer(200, {"content-length": "2", "x-ots-requestid": "7"}, b"ok")] * 3
    assert connections == 1


@pytest.mark.parametrize("repeatable", [True, False])
def test_a_kept_connection_that_ends_is_made_anew_for_what_may_be_repeated(
    repeatable: bool,  # noqa: FBT001  # a parameter
) -> None:
    async def script(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        await read_request(reader)
        writer.write(OK)
        if number == 1:
            await read_request(reader)  # and is not answered

    (first, second), connections = asked(script, 2, repeatable=repeatable)
    assert isinstance(first, HttpAnswer)
    if repeatable:
        assert isinstance(second, HttpAnswer)
        assert connections == 2
    else:
        assert "gave no answer" in str(second)
        assert connections == 1


@pytest.mark.parametrize(
    ("bytes_", "reason"),
    [
        (b"", "ended before it"),
        (b"SSH-2.0-OpenSSH\r\n", "it is not HTTP"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", "in the middle"),
        (b"HTTP/1.1 200 OK\r\n" + b"x: " + b"y" * 100_000 + b"\r\n\r\n", "its headers"),
    ],
)
def test_what_is_no_answer_is_told(bytes_: bytes, reason: str) -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
        await read_request(reader)
        writer.write(bytes_)
        await writer.drain()

    (answer,), _ = asked(script)
    assert isinstance(answer, str)
    assert reason in answer


def test_an_answer_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROXY_ANSWER_BYTES_MAX", 1000)

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(20):
            writer.write(b"64\r\n" + b"x" * 100 + b"\r\n")

    (answer,), _ = asked(script)
    assert "more than 1000 bytes" in str(answer)


def test_a_chunked_answer_is_read_and_an_interim_one_is_not_it() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")
        await reader.read()

    (answer,), _ = asked(script)
    assert isinstance(answer, HttpAnswer)
    assert answer.body == b"ab"


def test_a_server_that_says_nothing_is_given_up() -> None:
    async def script(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter, _: int) -> None:
        await reader.read()

    (answer,), _ = asked(script, seconds=0.05)
    assert "did not answer within 0.05 s" in str(answer)


@pytest.mark.parametrize(
    "url", ["", "ftp://x", "http://", "http://u:p@h", "http://h/path", "http://h:x"]
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(RequestFailed, match="not an endpoint"):
        ConnectionPool(url, SystemClock())


def test_certificates_are_read_and_checked(tmp_path: Path) -> None:
    with pytest.raises(RequestFailed, match="holds no certificates"):
        ConnectionPool("https://h", SystemClock(), authorities=tmp_path / "none.pem")
    assert issubclass(ssl.SSLError, OSError)
