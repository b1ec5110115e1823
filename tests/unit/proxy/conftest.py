"""A proxy on a thread and a loop of its own, and clients of the vendor's SDK through it."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, Self

import pytest
import tablestore
from tablestore.retry import NoRetryPolicy

from widerow.proxy.report import DifferenceReport
from widerow.proxy.service import ProxyService
from widerow.testing.server import WiderowServer


class RunningProxy:
    """A proxy from the top of a `with` block to its end, when everything was compared."""

    def __init__(self, service: ProxyService) -> None:
        self.service = service
        self.endpoint = ""
        self._clients: list[Any] = []

    def __enter__(self) -> Self:
        started: Future[str] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run(started)), daemon=True)
        self._thread.start()
        self.endpoint = started.result(10)
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.connection.pool.clear()
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(10)
        assert not self._thread.is_alive()

    async def _run(self, started: "Future[str]") -> None:
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        try:
            started.set_result(await self.service.start("127.0.0.1", 0))
        except BaseException as error:
            started.set_exception(error)
            raise
        await self._over.wait()
        await self.service.stop()

    def client(self, instance: str = "test", secret: str = "widerow") -> Any:  # noqa: ANN401  # the SDK has no types
        client = tablestore.OTSClient(
            self.endpoint, "widerow", secret, instance, retry_policy=NoRetryPolicy()
        )
        self._clients.append(client)
        return client

    @property
    def report(self) -> DifferenceReport:
        assert self.service.report is not None
        return self.service.report


@pytest.fixture
def servers() -> Iterator[Callable[..., WiderowServer]]:
    """Makes servers in memory, which end with the test."""
    made: list[WiderowServer] = []

    def start(**options: Any) -> WiderowServer:  # noqa: ANN401  # the SDK has no types
        server = WiderowServer(**options)
        server.start()
        made.append(server)
        return server

    yield start
    for server in made:
        server.stop()
