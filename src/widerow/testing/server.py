"""A whole server inside the process, for the tests of programs that use Tablestore.

It is the server of `widerow serve`, on a thread and a loop of its own: clients reach it over a
socket of this machine, and only the time is simulated. Its console, under `/console/` of the
endpoint, shows the data of a test.

Two clocks. Clients sign with the time of day and refuse answers that are 15 minutes off (wire
§1.2), so signatures, connections and `x-ots-date` keep the machine's time. What is stored is dated
by `WiderowServer.clock`: versions, expiry, creation times, the two minutes between changes of the
throughput. It starts at the machine's time and stands still until a test moves it. Versions that a
test takes from the time of day are therefore inside the window that tables allow (semantics §1.6).

The loop is the standard one: it is there wherever Python is, and costs nothing to load.
"""

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from widerow.cli.console_pages import open_console
from widerow.clock import Clock
from widerow.server.dev.mode import DevMode
from widerow.server.lifecycle import Server
from widerow.server.settings import Settings
from widerow.system import SystemClock
from widerow.testing.clock import FakeClock
from widerow.testing.kit import FaultList, InstanceClients

__all__ = ["WiderowServer"]

T = TypeVar("T")

_DEFAULT_KEY: Final = "widerow"  # both halves of the default key pair


class WiderowServer:
    """A server from `start` to `stop`, or from the top of a `with` block to its end.

    `access_key_id`, `access_key_secret`, `instance` and, once started, `endpoint` are what SDKs
    need. Starts in a few milliseconds once its modules are loaded, so that each test can have its
    own.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        clock: Clock | None = None,
        instance: str = "test",
        port: int = 0,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Starts nothing.

        `path`: a directory to keep the data in; in memory if not given. `clock` dates stored data;
        a `FakeClock` at the machine's time if not given, `SystemClock()` to let it run. Every
        instance is served; `instance` is the one of `client`. Port 0 is a free one. `settings`:
        more of what `widerow serve` can be told, by the names of docs/operating/configure.md.
        """
        self.endpoint = ""
        self.instance = instance
        self.access_key_id = _DEFAULT_KEY
        self.access_key_secret = _DEFAULT_KEY
        store = "memory:" if path is None else f"rocksdb:{path}"
        self._settings = Settings(**{"port": port, "store": store, "dev": True, **(settings or {})})
        self._clock = clock or FakeClock(SystemClock().now_us() // 1000)
        self._clients = InstanceClients(self, instance)
        self._dev: DevMode | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop
        self._asked: asyncio.Event
        self._server: Server
        self._ended: Future[None]

    @property
    def clock(self) -> FakeClock:
        """The clock that dates stored data, to be moved.

        Raises: `TypeError` if the server was given a clock of another kind.
        """
        if not isinstance(self._clock, FakeClock):
            raise TypeError("this server was started with a clock that tests do not move")
        return self._clock

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Return when the server answers. After a `stop` it may be started again.

        A store in memory is empty then; one on disk has its data. Raises: `WiderowError` when the
        store, the port or the directory cannot be used.
        """
        assert self._thread is None, "already started"
        started: Future[str] = Future()
        self._ended = Future()
        # A test run without a stop still ends.
        self._thread = threading.Thread(
            target=self._run, args=(started,), name="widerow-server", daemon=True
        )
        self._thread.start()
        try:
            self.endpoint = started.result()
        except BaseException:
            self._join()
            raise

    def stop(self) -> None:
        """Answer running requests, close the clients, the port and the store. Idempotent.

        Raises: whatever closing raised.
        """
        if self._thread is None:
            return
        self._clients.close()
        self._loop.call_soon_threadsafe(self._asked.set)
        self._join()
        self._ended.result()

    def client(self, **options: Any) -> Any:  # noqa: ANN401  # the SDK has no types
        """A `tablestore.OTSClient` of this server; `stop` closes its connections.

        It does not retry, so that a test sees the first error; `options` are the client's own and
        may say otherwise. Raises: `SdkMissing`.
        """
        return self._clients.client(**options)

    # --- between tests -----------------------------------------------------------------------

    @property
    def faults(self) -> FaultList:
        """The faults of the server, in any instance."""
        return FaultList(self._mode())

    def instances(self) -> frozenset[str]:
        """The instances that have tables."""
        return self._mode().instances()

    def keep(self, name: str, instance: str | None = None) -> None:
        """Keep a snapshot of an instance, for `reset`.

        Raises: `CopyRefused` for what a snapshot cannot hold, such as search indexes and tunnels.
        Cost: a read of all its rows, which stay in memory until the server stops.
        """
        self._await(self._mode().keep(instance or self.instance, name))

    def reset(self, name: str | None = None, instance: str | None = None) -> None:
        """Replace an instance's content by the snapshot `name`; without a name, remove it.

        Cost: milliseconds for a thousand rows. Raises: `FieldRefused` for an unknown name.
        """
        self._await(self._mode().reset(instance or self.instance, name))

    def forget(self, instance: str | None = None) -> None:
        """Remove all snapshots of an instance."""
        self._await(self._forget(instance or self.instance))

    async def _forget(self, instance: str) -> None:
        self._mode().forget_all(instance)

    def _mode(self) -> DevMode:
        if self._dev is None:
            raise RuntimeError("the server does not run, or not in dev mode")
        return self._dev

    def _await(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something on the server's loop, from any other thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _join(self) -> None:
        assert self._thread is not None
        self._thread.join()
        self._thread = None
        self._dev = None
        self.endpoint = ""

    # --- the server's thread -----------------------------------------------------------------

    def _run(self, started: "Future[str]") -> None:
        try:
            asyncio.run(self._serve(started))
        except BaseException as error:  # noqa: BLE001  # raised on the thread that waits
            if started.done():
                self._ended.set_exception(error)
            else:
                started.set_exception(error)
        else:
            self._ended.set_result(None)

    async def _serve(self, started: "Future[str]") -> None:
        self._loop = asyncio.get_running_loop()
        self._asked = asyncio.Event()
        server = Server(self._settings, engine_clock=self._clock, console=open_console)
        self._server = server
        await server.start()
        self._dev = server.dev
        try:
            started.set_result(server.endpoint)
            await self._asked.wait()
        finally:
            await server.stop()
