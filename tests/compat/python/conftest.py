"""The vendor's newest Python SDK against widerow, in every way it can be set up.

Each test gets a client of an instance that nobody else uses, on a server that the tests share.
"""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
import tablestore
from tablestore.retry import NoRetryPolicy
from tests.compat.conftest import STORES
from tests.support.forked import ForkedServer

from widerow.system import SystemClock
from widerow.testing.server import WiderowServer

# How a client is set up: where it connects to, whether it is the async one, its options.
# The native codec of the SDK is there for some versions of Python only; off means never.
KINDS: dict[str, tuple[str, bool, dict[str, Any]]] = {
    "memory": ("memory", False, {}),
    "rocksdb": ("rocksdb", False, {}),
    "postgres": ("postgres", False, {}),
    "hbase": ("hbase", False, {}),
    "rocksdb-v4-async": ("rocksdb", True, {"region": "cn-hangzhou"}),
    "memory-v4-python-codec": ("memory", False, {"region": "eu-central-1", "enable_native": False}),
}

_instances = itertools.count(1)


class Blocking:
    """An `AsyncOTSClient` that is used like an `OTSClient`."""

    def __init__(self, *identity: str, **options: Any) -> None:  # noqa: ANN401  # the SDK's own
        self._runner = asyncio.Runner()
        self._client = tablestore.AsyncOTSClient(*identity, **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self._call, getattr(self._client, name))

    def _call(self, method: Any, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401  # any action's
        async def wait() -> Any:  # noqa: ANN401  # any action's
            return await method(*arguments, **named)

        return self._runner.run(wait())

    def end(self) -> None:
        self._runner.run(self._client.close())
        self._runner.close()


@dataclass
class Clients:
    """Makes clients and closes them."""

    _ends: list[Callable[[], object]] = field(default_factory=list)

    def connect(
        self,
        endpoint: str,
        instance: str,
        *,
        secret: str = "widerow",
        wait: bool = False,
        **options: Any,  # noqa: ANN401  # the SDK's own
    ) -> tablestore.OTSClient:
        options = {"retry_policy": NoRetryPolicy()} | options
        client: tablestore.OTSClient
        if wait:
            client = Blocking(endpoint, "widerow", secret, instance, **options)
            self._ends.append(client.end)
        else:
            client = tablestore.OTSClient(endpoint, "widerow", secret, instance, **options)
            self._ends.append(client.connection.pool.clear)
        return client

    def close(self) -> None:
        for end in self._ends:
            end()


@pytest.fixture
def clients() -> Iterator[Clients]:
    made = Clients()
    yield made
    made.close()


@pytest.fixture(scope="session")
def memory() -> Iterator[str]:
    """The endpoint of a server inside this process."""
    with WiderowServer(clock=SystemClock()) as server:
        yield server.endpoint


@pytest.fixture(scope="session")
def rocksdb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of `widerow serve` on a directory."""
    with ForkedServer(*STORES["rocksdb"](tmp_path_factory.mktemp("place"))) as process:
        yield process.endpoint


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of `widerow serve` on a database."""
    with ForkedServer(*STORES["postgres"](tmp_path_factory.mktemp("place"))) as process:
        yield process.endpoint


@pytest.fixture(scope="session")
def hbase(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of `widerow serve` on the cluster of this run."""
    with ForkedServer(*STORES["hbase"](tmp_path_factory.mktemp("place"))) as process:
        yield process.endpoint


@pytest.fixture
def instance() -> str:
    """The name of an instance that is empty."""
    return f"instance{next(_instances)}"


@pytest.fixture(params=KINDS)
def ots(request: pytest.FixtureRequest, clients: Clients, instance: str) -> tablestore.OTSClient:
    """A client of an empty instance, set up in each of the ways."""
    place, is_async, options = KINDS[request.param]
    endpoint = request.getfixturevalue(place)
    return clients.connect(endpoint, instance, wait=is_async, **options)


@pytest.fixture
def other(request: pytest.FixtureRequest, clients: Clients) -> tablestore.OTSClient:
    """A client of another empty instance on the same server as `ots`."""
    place = KINDS[request.node.callspec.params["ots"]][0]
    return clients.connect(request.getfixturevalue(place), f"instance{next(_instances)}")


@pytest.fixture
def plain(rocksdb: str, clients: Clients, instance: str) -> tablestore.OTSClient:
    """A client of an empty instance on RocksDB, set up in one way; for what takes long."""
    return clients.connect(rocksdb, instance)
