"""A load generator for where wrk is not installed: asyncio, one outstanding request a connection.

It costs several times what wrk costs, so throughput over many connections is bounded by it;
processor time of the server for each request is not.
"""

import asyncio
import itertools
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from widerow.cli.process import loop_factory


class Shared:
    """What the connections of one run share.

    It ends at `end` (seconds, as `perf_counter`), or when the requests have been sent.
    """

    def __init__(self, requests: Iterator[bytes], end: float) -> None:
        """Send `requests`, each once."""
        self.requests = requests
        self.end = end
        self.took: list[float] = []
        self.failed = ""


class Caller(asyncio.Protocol):
    """One connection that asks, waits, and asks again."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._transport: asyncio.Transport
        self._missing = 0
        self._head = b""
        self._started = 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the first time."""
        self._transport = transport  # type: ignore[assignment]  # uvloop's is not a subclass
        self._ask()

    def data_received(self, data: bytes) -> None:
        """Take a piece of the answer."""
        if self._missing == 0:
            self._head += data
            head, end, body = self._head.partition(b"\r\n\r\n")
            if not end:
                return
            self._head = b""
            if not head.startswith(b"HTTP/1.1 20"):
                self._finish(data.decode("latin-1"))
                return
            self._missing = content_length(head) - len(body)
        else:
            self._missing -= len(data)
        if self._missing == 0:
            self._answered()

    def connection_lost(self, exc: Exception | None) -> None:
        """The server must not hang up."""
        if not self.done.done():
            self._finish(f"the connection ended: {exc}")

    def _answered(self) -> None:
        now = time.perf_counter()
        self._shared.took.append(now - self._started)
        if now < self._shared.end:
            self._ask()
        else:
            self._finish("")

    def _ask(self) -> None:
        request = next(self._shared.requests, None)
        if request is None:
            self._finish("")
            return
        self._started = time.perf_counter()
        self._transport.write(request)

    def _finish(self, failed: str) -> None:
        self._shared.failed = self._shared.failed or failed
        self.done.set_result(None)
        self._transport.close()


def content_length(head: bytes) -> int:
    """The length that an answer's head announces; 0 if it does not."""
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


async def _call(endpoint: str, requests: Iterator[bytes], connections: int, end: float) -> Shared:
    place = urlsplit(endpoint)
    assert place.hostname is not None
    assert place.port is not None
    host, port = place.hostname, place.port
    shared = Shared(requests, end)
    loop = asyncio.get_running_loop()
    callers = [
        (await loop.create_connection(lambda: Caller(shared), host, port))[1]
        for _ in range(connections)
    ]
    await asyncio.gather(*(caller.done for caller in callers))
    return shared


def send(
    endpoint: str, requests: Sequence[bytes], connections: int, seconds: float
) -> tuple[list[float], float]:
    """Send them over and over for so long.

    Seconds that each request took, in order of size, and how long all took together.
    Raises: `ConnectionError` with what the server said if an answer is not a success.
    """
    return _sent(endpoint, itertools.cycle(requests), connections, seconds)


def send_once(
    endpoint: str, requests: Iterable[bytes], connections: int
) -> tuple[list[float], float]:
    """As `send`, but each request once: for what changes with every request."""
    return _sent(endpoint, iter(requests), connections, math.inf)


def _sent(
    endpoint: str, requests: Iterator[bytes], connections: int, seconds: float
) -> tuple[list[float], float]:
    started = time.perf_counter()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        shared = runner.run(_call(endpoint, requests, connections, started + seconds))
    if shared.failed:
        raise ConnectionError(shared.failed)
    return sorted(shared.took), time.perf_counter() - started
