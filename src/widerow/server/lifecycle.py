"""A server from start to stop.

Start: read the settings, the keys and the instances; then open the store, the engine, the committer
and the port. Stop: accept no new connection, answer the requests in hand (for up to
`DRAIN_SECONDS_MAX`), write down statistics and notes, then end the committer and close the port and
the store. A start that fails half way stops everything that it had started.

A store that can no longer be trusted with writes (`StorePoisoned`) stops the writes and not the
reads: writes are answered 503, `/readyz` says so, the log says why, once. Opening the store again
is a restart, which is the operator's decision.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from widerow.auth.policy import AccessRules
from widerow.clock import Clock, Entropy
from widerow.commit.committer import Committer
from widerow.commit.waiting import Waiting
from widerow.engine.engine import Engine
from widerow.engine.settings import EngineSettings
from widerow.engine.table_models import TABLE_MODELS
from widerow.engine.tablestore.engine import TablestoreEngine, TablestoreSettings
from widerow.engine.tablestore.plug import TABLESTORE
from widerow.engine.timeseries.settings import TimeseriesSettings
from widerow.errors import StorageFailure, StoreAwaited, StorePoisoned
from widerow.limits import (
    BLOCKING_THREADS_MAX,
    DRAIN_SECONDS_MAX,
    FLUSH_SECONDS_MAX,
    REQUEST_SAMPLE_SECONDS,
    STORE_AWAITED_PAUSE_SECONDS,
    STORE_AWAITED_SECONDS_MAX,
    WORKER_PARTING_SECONDS,
    WORKER_THREADS_MIN,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.server.addresses import refused_address
from widerow.server.admission import Admission
from widerow.server.control import Control
from widerow.server.credentials import CredentialsFile, load_identity
from widerow.server.dispatch import Dispatcher
from widerow.server.headers import PORT_HEADERS, KeptHeaders
from widerow.server.housekeeper import Housekeeper
from widerow.server.http import Listener
from widerow.server.lags import LagWatch
from widerow.server.loopback import is_loopback
from widerow.server.membership import Membership, node_name
from widerow.server.metrics import Metrics
from widerow.server.page_thread import MakePages, PageThread, ServerParts
from widerow.server.probes import Probes
from widerow.server.readers import warn_of_key_readers, warn_of_store_readers
from widerow.server.recent import RecentRequests
from widerow.server.schedule import Schedule, rules_for
from widerow.server.scrapes import NO_NAME, NamesShown, Scrapes
from widerow.server.service import Service
from widerow.server.settings import Settings, SettingsInvalid
from widerow.server.tls import TlsFiles
from widerow.server.work_meter import WorkMeter
from widerow.storage.directory import Acceptance
from widerow.storage.interface import Store
from widerow.storage.opener import open_store, store_directory
from widerow.system import SystemClock, SystemEntropy, processors
from widerow.wire.dialect import Dialect, HeaderNames
from widerow.wire.dialects import DIALECTS, nosql_onprem

if TYPE_CHECKING:
    import socket

    from widerow.engine.tablestore.search.host import SearchHost
    from widerow.server.delivery.thread import DeliveryThread
    from widerow.server.dev.handler import DevHandler
    from widerow.server.dev.mode import DevMode
    from widerow.server.search.thread import SearchThread
    from widerow.server.workers.member import Member

__all__ = ["Server"]

_log = logging.getLogger("widerow.server")

_POLL_SECONDS: Final = 0.005  # while draining; nothing tells us that the last answer is out
_REPEAT_NS: Final = 10 * 1_000_000_000  # between two log lines about a store that refuses writes
_CONSOLE_PATH: Final = "/console"
_READ_AGAIN: Final = ("credentials", "tls_cert", "tls_key")  # settings that name a file


class Server:
    """One store behind one port. All methods but `hurry` are for the thread of its loop."""

    def __init__(
        self,
        settings: Settings,
        *,
        store: Store | None = None,
        clock: Clock | None = None,
        engine_clock: Clock | None = None,
        entropy: Entropy | None = None,
        dialects: Sequence[Dialect] | None = None,
        console: MakePages | None = None,
    ) -> None:
        """Starts nothing. A given `store` is closed by the caller.

        `engine_clock` dates rows and tables; `clock`, which it is unless given, keeps the time of
        connections and signatures. A test moves the first, and clients use the second. `dialects`:
        the port's, by default all. `console` makes the pages under `/console/`; without it, or if
        the settings say so, there are none.
        """
        self.settings = settings
        self.endpoint = ""
        self.admission = Admission()
        self.metrics = Metrics()
        self._given = store
        self._store: Store | None = None
        self._clock = clock or SystemClock()
        self._engine_clock = engine_clock or self._clock
        self._entropy = entropy or SystemEntropy()
        served = DIALECTS if dialects is None else tuple(dialects)
        self._dialects = nosql_onprem(served) if settings.nosql_mode == "onprem" else served
        self.dev: DevMode | None = None
        self._dev_handler: DevHandler | None = None
        self._make_console = console if settings.console else None
        self._console: PageThread | None = None
        self._committer: Committer | None = None
        self._dispatcher: Dispatcher | None = None
        self._listener: Listener | None = None
        self._credentials: CredentialsFile | None = None
        self._control: Control | None = None
        self._tls: TlsFiles | None = None
        self._housekeeper: Housekeeper | None = None
        self._membership: Membership | None = None
        self._delivery: DeliveryThread | None = None
        self._search: SearchThread | None = None
        self._search_begins = threading.Lock()
        self._member: Member | None = None
        self._probes: Probes | None = None
        self._tasks: set[asyncio.Task[None]] = set()  # end with the server
        self._hurried = False
        self._leaves = asyncio.Event()  # whether a `start` waits for its store no more
        self._told_ns = -_REPEAT_NS
        self._poisoned = False

    def join(self, member: "Member") -> None:
        """Be one of several processes that serve one port; before `start`.

        Memory for bodies and answers, and the requests that ask the store at one time, are those
        of one server, divided.
        """
        self._member = member
        self.admission.share(member.place.count)

    def take(self, accepted: "socket.socket") -> None:
        """Serve a connection that another process has accepted."""
        if self._listener is None:
            accepted.close()
        else:
            self._listener.take(accepted)

    def figures(self, shown: NamesShown) -> bytes:
        """The metrics of this process, while its store is open."""
        return b"" if self._probes is None else self._probes.figures(shown)

    def open_connections(self) -> int:
        """How many connections this worker has: those in the making are among them."""
        making = 0 if self._listener is None else self._listener.in_the_making()
        return self.admission.connections + making

    async def start(self) -> None:
        """Open everything and listen; `endpoint` is where.

        Raises: `SettingsInvalid` (keys, instances, store or address cannot be used),
        `StorageFailure` (the store cannot be opened). Nothing is left open then.
        """
        if self._member is None and self.settings.workers != 1:
            raise SettingsInvalid("workers: several processes are started by widerow serve alone")
        try:
            identity = self._load_identity()
            self._tls = _load_tls(self.settings)
            self._begin_dev()
            store = self._store = self._given or await self._await_store()
            engine = Engine(
                *(store, self._engine_clock, self._entropy, TABLE_MODELS),
                self._engine_settings(store),
            )
            await self._listen(engine, store, identity)
            await self._join(engine, store)
            await self._begin(engine)
            self._deliver(engine)
            tables = engine.operations(TABLESTORE)
            if tables.has_search():
                _ = tables.search  # its thread opens the indexes
            if self._given is None and store.capabilities.checkpoints:
                directory = store_directory(self.settings.store)
                self._control = Control(directory, store.checkpoint, self._entropy)
                await self._control.start()
        except BaseException:
            await self.stop()
            raise

    async def part(self) -> None:
        """Answer requests for a moment more, each as the last of its connection.

        For one of several processes: its clients connect again, and come to the others. Nobody is
        refused who connected before, or whose request is on its way.
        """
        self.admission.parting = True
        await self._wait(lambda: self.open_connections() == 0, WORKER_PARTING_SECONDS)

    async def stop(self) -> None:
        """Answer what is in hand, then close everything. Idempotent."""
        self.admission.stop()
        for task in self._tasks:
            task.cancel()
        self._tasks.clear()
        if self._listener is not None:
            await self._listener.make_accepted()
            self._listener.stop_accepting()
            if self._dev_handler is not None:
                self._dev_handler.hurry()
            await self._wait(lambda: self.admission.requests_in_flight == 0, DRAIN_SECONDS_MAX)
        if self._control is not None:
            await self._control.stop()
            self._control = None
        if self._dispatcher is not None:
            self._dispatcher.stop_reading()
            await asyncio.to_thread(self._dispatcher.close)
        await self._end_work()
        if self._housekeeper is not None:
            await self._housekeeper.finish(self._housekeeper.cleaning)
            self._housekeeper = None
        if self._committer is not None:
            await asyncio.to_thread(self._committer.stop)
        if self._listener is not None:
            await self._wait(self._listener.is_flushed, FLUSH_SECONDS_MAX)
            self._listener.close()
            self._listener = None
        await self._close_store()

    async def _close_store(self) -> None:
        if self._store is None:
            return
        if self._member is not None:
            await self._member.end(self.figures(NO_NAME))
        if self._given is None:
            self._store.close()
        self._store = None

    async def _end_work(self) -> None:
        """End the work in the background."""
        if self._console is not None:
            await asyncio.to_thread(self._console.close)
        if self._search is not None:
            await asyncio.to_thread(self._search.stop)
            self._search = None
        if self._delivery is not None:
            await asyncio.to_thread(self._delivery.stop)
            self._delivery = None
        if self._housekeeper is not None:
            await self._housekeeper.finish(self._housekeeper.balancing)
        if self._membership is not None:
            await self._membership.leave()
            self._membership = None

    def stop_waiting(self) -> None:
        """Let a `start` that waits for its store end with the reason."""
        self._leaves.set()

    def hurry(self) -> None:
        """Let a running `stop` wait no longer for requests in hand."""
        self._hurried = True

    def reload(self) -> None:
        """Look at the credentials file and the certificate now; for SIGHUP.

        Nothing happens without them, or if they did not change. The credentials file is looked at
        twice a second anyway.
        """
        named = {name: getattr(self.settings, name) for name in _READ_AGAIN}
        files = {name: file for name, file in named.items() if file is not None}
        _log.info(
            "files are read again" if files else "no file to read again", extra={"facts": files}
        )
        if self._tls is not None:
            try:
                self._tls.reload()
            except SettingsInvalid as error:
                _log.error(
                    "the certificate stays as it was", extra={"facts": {"reason": str(error)}}
                )
            else:
                _log.info("certificate read again")
        if self._credentials is not None and self._dispatcher is not None:
            look = asyncio.get_running_loop().create_task(self._credentials.look(self._replace))
            self._tasks.add(look)
            look.add_done_callback(self._tasks.discard)

    def _load_identity(self) -> AccessRules:
        if self.settings.credentials is None:
            return load_identity(self.settings)
        self._credentials = CredentialsFile(self.settings, self.metrics)
        return self._credentials.load()

    def _engine_settings(self, store: Store) -> EngineSettings:
        """The engine's part of the settings. Raises `SettingsInvalid` (delivery_root)."""
        settings = self.settings
        tablestore = TablestoreSettings(
            tables_per_instance=settings.max_tables_per_instance,
            strict_column_names=settings.column_names == "strict",
            transactions_on_by_default=settings.local_transactions_default,
            index_lag=settings.index_lag,
            keeps_indexed_tables=settings.keep_indexed_tables,
            search_host=partial(self._begin_search, store),
            delivery_refusal=self._delivery_refusal(),
        )
        series = TimeseriesSettings(settings.max_tables_per_instance)
        models = (tablestore, series)
        return EngineSettings(settings.thresholds, settings.enforce_throughput, models)

    def _delivery_refusal(self) -> TablestoreRule | None:
        """Why delivery tasks are refused; None: a thread writes their files."""
        if self.settings.delivery_root is None:
            return TablestoreRule.DELIVERY_OFF
        if not Path(self.settings.delivery_root).is_dir():
            root = Path(self.settings.delivery_root).resolve()
            raise SettingsInvalid(f"delivery_root: {root} is not a directory; make it first")
        from widerow.server.delivery.thread import (  # noqa: PLC0415  # few servers deliver
            refusal_of_deliveries,
        )

        return refusal_of_deliveries()

    def _replace(self, identity: AccessRules) -> None:
        """Use the rules of `identity` from the next request on."""
        if self._dispatcher is not None:
            self._dispatcher.identity = identity

    async def _await_store(self) -> Store:
        """Open the store. Raises `StoreAwaited` where what it takes stays away, or on a stop."""
        waited = 0.0
        while True:
            try:
                store = self._open_store()
            except StoreAwaited as error:
                if waited >= STORE_AWAITED_SECONDS_MAX or self._leaves.is_set():
                    raise
                facts = {"reason": str(error), "seconds": waited}
                _log.warning("the store is waited for", extra={"facts": facts})
            else:
                if waited:
                    _log.info("the store is open", extra={"facts": {"seconds": waited}})
                return store
            with suppress(TimeoutError):
                await asyncio.wait_for(self._leaves.wait(), STORE_AWAITED_PAUSE_SECONDS)
            waited += STORE_AWAITED_PAUSE_SECONDS

    def _open_store(self) -> Store:
        settings = self.settings
        with suppress(ValueError):  # a store without a directory
            warn_of_store_readers(store_directory(settings.store))
        try:
            if settings.accept_damaged_store:
                _log.critical("damage in the store is accepted; what was acknowledged may be gone")
            acceptance = Acceptance.DAMAGED if settings.accept_damaged_store else Acceptance.WHOLE
            store = open_store(
                settings.store,
                cache_bytes=settings.cache_bytes,
                acceptance=acceptance,
                requests_max=self._requests_max,
            )
        except ValueError as error:
            raise SettingsInvalid(str(error)) from error
        if store.put_off:
            _log.warning(
                "a check of the store is put off", extra={"facts": {"what": store.put_off}}
            )
        return store

    async def _listen(self, engine: Engine, store: Store, identity: AccessRules) -> None:
        loop, settings = asyncio.get_running_loop(), self.settings

        def post(ended: Sequence[Waiting]) -> None:
            loop.call_soon_threadsafe(dispatcher.told, ended)

        committer = self._committer = Committer(
            store, self._clock, self.metrics, post, self._store_failed, _store_resumed
        )
        rules = rules_for(
            processors(),
            reads_may_block=store.capabilities.reads_may_block,
            blocking_threads=self._requests_max,
        )
        service = Service(engine, committer, self._clock, self._entropy, self.metrics)
        dev_lines = None if self.dev is None else self.dev.metric_lines
        probes = self._probes = Probes(
            engine, committer, self.admission, self.metrics, dev_lines, self._scrapes()
        )
        if self._member is not None:
            probes.gather = self._member.scrape
        dispatcher = self._dispatcher = Dispatcher(
            service,
            probes,
            identity,
            Schedule(rules, loop),
            self._dialects,
        )
        own = settings.credentials is None and is_loopback(settings.host)
        dispatcher.own_names_only = own
        committer.start()
        kept = [*(each.headers for each in self._dialects), HeaderNames(PORT_HEADERS, ())]
        if self._make_console is not None:
            self._serve_pages(self._make_console, engine, committer, dispatcher)
        self._listener = self._listener_of(dispatcher, service, committer, kept)
        self.endpoint = await self._bind(self._listener)

    @property
    def _requests_max(self) -> int:
        """How many requests may wait for a database at one time."""
        sharers = 1 if self._member is None else self._member.place.count
        return max(WORKER_THREADS_MIN, BLOCKING_THREADS_MAX // sharers)

    def _scrapes(self) -> Scrapes:
        """How keys are given to `/metrics`."""
        settings = self.settings
        return Scrapes(
            settings.metrics_open,
            settings.credentials is None
            or settings.tls_cert is not None
            or settings.api_keys_behind_proxy
            or is_loopback(settings.host),
        )

    def _begin_dev(self) -> None:
        """In dev mode, give the engine a clock that can be set. Raises `SettingsInvalid`."""
        if not self.settings.dev:
            if self.settings.dev_remote:
                raise SettingsInvalid("dev_remote: is about dev mode; set dev too")
            return
        from widerow.server.dev.clock import MovableClock  # noqa: PLC0415  # tests only
        from widerow.server.dev.mode import DevMode  # noqa: PLC0415  # tests only

        if not self.settings.dev_remote and not is_loopback(self.settings.host):
            raise SettingsInvalid(
                f"dev: {self.settings.host} can be reached from other machines, which could empty "
                "instances; listen on 127.0.0.1, or set dev_remote to allow it"
            )
        if not isinstance(self._engine_clock, MovableClock):
            self._engine_clock = MovableClock(self._engine_clock)
        self.dev = DevMode(self._engine_clock, self._dialects)

    def _listener_of(
        self,
        dispatcher: Dispatcher,
        service: Service,
        committer: Committer,
        kept: Sequence[HeaderNames],
    ) -> Listener:
        """The listener, with the handler of dev mode before the dispatcher if there is one."""
        if self.dev is None:
            return Listener(dispatcher, self.admission, self._clock, KeptHeaders(kept))
        from widerow.server.dev.connection import DevConnection  # noqa: PLC0415  # tests only
        from widerow.server.dev.handler import DevHandler  # noqa: PLC0415  # tests only
        from widerow.server.dev.pages import DEV_HEADERS  # noqa: PLC0415  # tests only

        self.dev.serve(service.engine, committer)
        handler = self._dev_handler = DevHandler(
            dispatcher,
            service,
            committer,
            self.dev,
            self._dialects,
            remote=self.settings.dev_remote,
        )
        headers = KeptHeaders((*kept, DEV_HEADERS))
        return Listener(handler, self.admission, self._clock, headers, DevConnection)

    def _serve_pages(
        self, make: MakePages, engine: Engine, committer: Committer, dispatcher: Dispatcher
    ) -> None:
        """Serve pages on the port, and keep the recent requests that they show."""
        loop = asyncio.get_running_loop()
        recent = RecentRequests(self.metrics, self._clock)
        parts = ServerParts(
            settings=self.settings,
            engine=engine,
            committer=committer,
            clock=self._clock,
            engine_clock=self._engine_clock,
            entropy=self._entropy,
            metrics=self.metrics,
            admission=self.admission,
            recent=recent,
            identity=lambda: dispatcher.identity,
            endpoint=lambda: self.endpoint,
            loop=loop,
            sessions=None if self._member is None else self._member.sessions,
            worker="" if self._member is None else str(self._member.place),
        )
        pages = PageThread(_CONSOLE_PATH, partial(make, parts), parts)
        self._console = pages
        dispatcher.serve_pages(pages, recent)
        self._tasks.add(loop.create_task(_sample(recent)))

    async def _join(self, engine: Engine, store: Store) -> None:
        """Join the servers of a shared store; before that no row may be written."""
        if not store.capabilities.shared or self._committer is None:
            return
        name = node_name(self.settings.node_name, self.endpoint)
        if self._member is not None:
            name = self._member.place.node_name(name)
            engine.nodes.worker = self._member.place.number
        engine.nodes.name = name
        meter = WorkMeter(engine, self._committer, self.admission, self.metrics, self._clock)
        membership = Membership(engine, self._committer, self.metrics.answered, meter.measure)
        await membership.join()
        self._membership = membership
        self._tasks.add(asyncio.get_running_loop().create_task(membership.run()))

    async def _begin(self, engine: Engine) -> None:
        """Accept requests, and begin housekeeping."""
        assert self._listener is not None, "an address was taken"
        assert self._committer is not None, "it is running"
        loop = asyncio.get_running_loop()
        await self._listener.accept()
        housekeeper = self._housekeeper = Housekeeper(engine, self._committer)
        self._tasks.update(map(loop.create_task, housekeeper.tasks()))
        watch = LagWatch(engine, self._clock, self.settings.index_lag)
        self._tasks.add(loop.create_task(watch.run()))
        if self._credentials is not None:
            self._tasks.add(loop.create_task(self._credentials.watch(self._replace)))

    def _deliver(self, engine: Engine) -> None:
        """Start the thread of delivery tasks, where there is a directory for their files."""
        if self.settings.delivery_root is None or self._committer is None:
            return
        from widerow.server.delivery.thread import (  # noqa: PLC0415  # few servers deliver
            DeliveryThread,
        )

        root = Path(self.settings.delivery_root).resolve()
        wait = self.settings.delivery_seconds
        self._delivery = DeliveryThread(engine, self._committer, self._engine_clock, root, wait)
        self._delivery.start()

    def _begin_search(self, store: Store, tables: TablestoreEngine) -> "SearchHost":
        """The host of search indexes; starts their thread. On any thread, any number of times.

        Indexes have files only if this server has opened an embedded store.
        """
        from widerow.server.search.files import SearchDirectory  # noqa: PLC0415  # imported with the first search index
        from widerow.server.search.host import ServerSearchHost  # noqa: PLC0415  # imported with the first search index
        from widerow.server.search.thread import SearchThread  # noqa: PLC0415  # imported with the first search index

        directory: SearchDirectory | None = None
        if self._given is None and store.capabilities.checkpoints:
            directory = SearchDirectory(store_directory(self.settings.store))
        with self._search_begins:
            if self._search is None:
                self._search = SearchThread(tables, lags=bool(self.settings.search_lag))
                self._search.start()
        return ServerSearchHost(directory, self.settings.search_lag)

    async def _bind(self, listener: Listener) -> str:
        settings = self.settings
        context = None if self._tls is None else self._tls.context
        if self._member is not None:
            listener.begin(context)
            return self._member.place.endpoint
        try:
            return await listener.start(settings.host, settings.port, context)
        except OSError as error:
            raise refused_address(settings.host, settings.port, error) from error

    async def _wait(self, condition: Callable[[], bool], seconds: float) -> None:
        """Until `condition` holds, time is up, or someone is in a hurry."""
        end_ns = self._clock.monotonic_ns() + int(seconds * 1e9)
        while not condition() and not self._hurried:
            if self._clock.monotonic_ns() >= end_ns:
                return
            await asyncio.sleep(_POLL_SECONDS)

    def _store_failed(self, error: StorageFailure) -> None:
        """Log that the store refused a write: once, or now and then."""
        facts = {"reason": str(error)}
        now_ns = self._clock.monotonic_ns()
        if isinstance(error, StorePoisoned):
            if not self._poisoned:
                self._poisoned = True
                _log.critical("no more writes until a restart", extra={"facts": facts})
        elif now_ns - self._told_ns >= _REPEAT_NS:
            self._told_ns = now_ns
            facts["kind"] = type(error).__name__
            _log.warning("the store refuses writes for now", extra={"facts": facts})


async def _sample(recent: RecentRequests) -> None:
    """Sample the counters of requests now and then, until cancelled."""
    while True:
        recent.sample()
        await asyncio.sleep(REQUEST_SAMPLE_SECONDS)


def _store_resumed() -> None:
    """Log that the store takes writes again."""
    _log.warning("the store takes writes again")


def _load_tls(settings: Settings) -> TlsFiles | None:
    """The certificate that the settings name, or None. Raises: `SettingsInvalid`."""
    if settings.tls_cert is None and settings.tls_key is None:
        return None
    if settings.tls_cert is None or settings.tls_key is None:
        raise SettingsInvalid("tls_cert and tls_key: give both files, or neither")
    warn_of_key_readers(Path(settings.tls_key))
    return TlsFiles(Path(settings.tls_cert), Path(settings.tls_key))
