"""What stands between a browser and a console, or beside it: a TLS proxy, pages elsewhere."""

import asyncio
import shutil
import ssl
import subprocess
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final, NamedTuple

import pytest

_CHUNK_BYTES: Final = 65536
_POLL_SECONDS: Final = 0.05


class Pair(NamedTuple):
    """A certificate and its key."""

    certificate: Path
    key: Path


def make_pair(folder: Path) -> Pair:
    """A certificate that nobody signed. Skips the test where openssl is not installed."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make certificates")
    pair = Pair(folder / "server.pem", folder / "server.key")
    command = (
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-nodes", "-days", "2", "-subj", "/CN=console"),
        *("-keyout", str(pair.key), "-out", str(pair.certificate)),
    )
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  # openssl of the path
    return pair


async def _copy(source: StreamReader, target: StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(_CHUNK_BYTES):
            target.write(data)
            await target.drain()
    target.close()


@contextmanager
def tls_in_front(pair: Pair, host: str, port: int) -> Iterator[int]:
    """The port of a proxy that speaks TLS with browsers and plain HTTP with a server.

    It changes no header, as HAProxy does with `bind :443 ssl` in deploy/haproxy.cfg.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    started: Future[int] = Future()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def handle(reader: StreamReader, writer: StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(host, port)
        await asyncio.gather(_copy(reader, to_server), _copy(from_server, writer))

    async def serve() -> None:
        async with await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context) as server:
            started.set_result(server.sockets[0].getsockname()[1])
            await over.wait()

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        thread = threading.Thread(target=runner.run, args=(serve(),))
        thread.start()
        yield started.result()
        loop.call_soon_threadsafe(over.set)
        thread.join()


class Elsewhere(NamedTuple):
    """Pages that are not of the console, by their paths: under any host name, at `port`."""

    port: int
    pages: dict[str, str]


@contextmanager
def pages_elsewhere() -> Iterator[Elsewhere]:
    """A server of somebody else's pages."""
    pages: dict[str, str] = {}

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = pages.get(self.path, "")
            self.send_response(200 if found else 404)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(found.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,))
        thread.start()
        try:
            yield Elsewhere(server.server_port, pages)
        finally:
            server.shutdown()
            thread.join()
