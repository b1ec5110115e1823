"""The operations on timeseries tables. Reads, plans and errors: see `engine/engine.py`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from widerow.engine.budget import Budget
from widerow.engine.catalog.catalog import Tables
from widerow.engine.catalog.draft import Draft
from widerow.engine.chores import ChoreLine
from widerow.engine.engine import Engine, OpenModel
from widerow.engine.index_builds import IndexBuilds
from widerow.engine.intents import IntentQueue
from widerow.engine.lag import Lag
from widerow.engine.once import Once
from widerow.engine.plan import Plan, failing, single
from widerow.engine.scan import ColumnPage, RowAccess, ScannedRow
from widerow.engine.streams.appender import LogAppender
from widerow.engine.streams.mover import ChangeMover
from widerow.engine.streams.trim import StreamTrim
from widerow.engine.timeseries.context import TimeseriesContext
from widerow.engine.timeseries.definitions import (
    new_series_table,
    store_named,
    with_changed_options,
    with_lastpoint,
    with_store,
    with_stream,
)
from widerow.engine.timeseries.lastpoint_builds import LastpointBuilds
from widerow.engine.timeseries.lastpoints import (
    LastpointRow,
    lastpoint_named,
    scan_lastpoints,
)
from widerow.engine.timeseries.metas import (
    MetasRead,
    changing_metas,
    deleting_metas,
    find_meta,
    query_metas,
    read_metas,
)
from widerow.engine.timeseries.model import TIMESERIES_MODEL
from widerow.engine.timeseries.point_streams import entry_form, point_streams
from widerow.engine.timeseries.puts import PointsPut
from widerow.engine.timeseries.reads import read_points
from widerow.engine.timeseries.scan import scan_point_columns, scan_points_by_key
from widerow.engine.timeseries.settings import TIMESERIES_DEFAULTS
from widerow.engine.timeseries.splits import make_splits, scan_split
from widerow.engine.timeseries.static import (
    check_name,
    check_request,
    check_store_ttl,
)
from widerow.engine.timeseries.sweep import TimeseriesSweep
from widerow.errors import Exhausted, InvalidRequest, Replan, WiderowError
from widerow.keys.layout import local_index_prefix
from widerow.keys.series import canonical_key, series_hash
from widerow.model.timeseries.requests import (
    MetaChange,
    MetaCondition,
    MetaPage,
    MetaQuery,
    MetaUpdateMode,
    PointPage,
    PointQuery,
    PointScan,
    PutResult,
    SeriesOptionsChange,
    TableRequest,
)
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import SeriesKey
from widerow.model.timeseries.table import (
    TABLES_OF_TIMESERIES,
    AnalyticalStore,
    FieldMapping,
    LastpointIndex,
    TimeseriesTable,
)
from widerow.model.values import KeyInput
from widerow.rows.points import SentPoint
from widerow.storage.interface import Outcome

if TYPE_CHECKING:
    from widerow.engine.copying import CopyMoment
    from widerow.engine.timeseries.copy import TimeseriesCopy
    from widerow.engine.tunnels.service import Tunnels

__all__ = ["TimeseriesEngine"]


class TimeseriesEngine(OpenModel[TimeseriesTable]):
    """The timeseries tables of one open store. Any thread may call; nothing waits for a sync."""

    name: ClassVar[str] = "timeseries"
    copies: ClassVar[bool] = True

    def __init__(self, core: Engine) -> None:
        self.core = core
        self._settings = core.settings.of(TIMESERIES_DEFAULTS)
        self.tables = Tables(core.catalog, TIMESERIES_MODEL)
        deferred = not core.store.capabilities.atomic_across_shards
        appender = LogAppender(IntentQueue(core.clock, core.entropy) if deferred else None)
        notes = core.partitions.notes
        self.context = TimeseriesContext(core.store, self.tables, core.clock, notes, appender)
        self.streams = point_streams(self.context)
        self._tunnels = Once(self._make_tunnels)
        self._mover = ChangeMover(core.store, self.tables, core.clock, core.lease, entry_form)
        trimmed = core.sweep.note_trimmed
        trim = StreamTrim(core.store, self.tables, core.clock, with_stream, trimmed)
        self.sweep = TimeseriesSweep(self.context)
        self._lastpoint_source = LastpointBuilds(self.context, core.nodes.settled)
        self.builds = IndexBuilds(self._lastpoint_source)
        # On a shared store the line of entries looks for work every second.
        shared = core.store.capabilities.shared
        builds = (self.builds.step,)
        self.chores = {
            ChoreLine.ENTRIES: builds if shared else (),
            ChoreLine.CHANGES: (self._mover.step,),
            ChoreLine.CLEANING: (*(() if shared else builds), trim.step),
        }

    # --- tables ------------------------------------------------------------------------------

    def create(self, instance: str, request: TableRequest) -> Plan[TimeseriesTable]:
        """CreateTimeseriesTable (timeseries §3, §3.1, §8)."""
        check_request(request)

        def make(draft: Draft) -> TimeseriesTable:
            held = draft.state.held(TIMESERIES_MODEL.named_with, instance)
            if held + TABLES_OF_TIMESERIES > self._settings.tables_per_instance:
                raise Exhausted(
                    TimeseriesRule.TABLE_QUOTA, limit=self._settings.tables_per_instance
                )
            return new_series_table(instance, request, draft.number, self.core.clock.now_us())

        return Plan((self.tables.create(make),), single)

    def drop(self, instance: str, name: str) -> Plan[None]:
        """DeleteTimeseriesTable: gone when it answers; space is freed later (timeseries §3)."""
        due_us = self.core.catalog.due_us(self.core.clock.now_us())
        return Plan((self.tables.drop(self.find(instance, name), due_us=due_us),), failing)

    def change_options(self, instance: str, name: str, change: SeriesOptionsChange) -> Plan[None]:
        """UpdateTimeseriesTable (timeseries §3.1)."""
        return self._changed(instance, name, lambda table: with_changed_options(table, change))

    def find(self, instance: str, name: str) -> TimeseriesTable:
        """The table of that name (timeseries §3). Raises `NotFound`."""
        return self.tables.find(instance, name)

    def owned(self, instance: str) -> Sequence[TimeseriesTable]:
        """The tables of an instance by name (timeseries §3)."""
        return self.tables.owned(instance)

    # --- points ------------------------------------------------------------------------------

    def put(
        self, table: TimeseriesTable, points: Sequence[SentPoint], mode: MetaUpdateMode
    ) -> Plan[PutResult]:
        """PutTimeseriesData: each series in one transaction, metas before them (timeseries §4).

        Raises `InvalidRequest` for the request as a whole.
        """
        return PointsPut(self.context, table, points, mode).plan()

    def read(
        self, table: TimeseriesTable, query: PointQuery, budget: Budget | None = None
    ) -> PointPage:
        """GetTimeseriesData (timeseries §5). Raises `TooLong` above the budget, if there is one."""
        context = self.context
        series = context.series(table, query.series)
        source = self.core.store.snapshot(), budget
        return read_points(context, source, table, series, query)

    def splits(
        self, table: TimeseriesTable, measurement: str | None, count: int
    ) -> tuple[bytes, ...]:
        """SplitTimeseriesScanTask: as many splits, at most 256 (timeseries §7)."""
        return make_splits(table, measurement, count)

    def scan_points(self, table: TimeseriesTable, scan: PointScan) -> PointPage:
        """ScanTimeseriesData: a page may have no points and lead on (timeseries §7)."""
        return scan_split(self.context, self.core.store.snapshot(), table, scan)

    # --- metas -------------------------------------------------------------------------------

    def query_metas(self, table: TimeseriesTable, query: MetaQuery) -> MetaPage:
        """QueryTimeseriesMeta (timeseries §6)."""
        return query_metas(self.context, self.core.store.snapshot(), table, query)

    def read_metas(
        self, table: TimeseriesTable, condition: MetaCondition | None
    ) -> Iterator[MetasRead]:
        """Every meta that a condition holds for, in parts (timeseries §12)."""
        return read_metas(self.context, self.core.store.snapshot(), table, condition)

    def find_meta(self, table: TimeseriesTable, series: SeriesKey) -> MetasRead:
        """The meta of a series, if it has one (timeseries §12)."""
        known = self.context.series(table, series)
        return find_meta(self.context, self.core.store.snapshot(), table, known)

    def change_metas(
        self, table: TimeseriesTable, changes: Sequence[MetaChange]
    ) -> Plan[dict[int, WiderowError]]:
        """UpdateTimeseriesMeta; it answers the errors of those that failed (timeseries §6)."""
        return changing_metas(self.context, table, changes)

    def delete_metas(
        self, table: TimeseriesTable, keys: Sequence[SeriesKey]
    ) -> Plan[dict[int, WiderowError]]:
        """DeleteTimeseriesMeta, which leaves points; answers as `change_metas` (timeseries §6)."""
        return deleting_metas(self.context, table, keys)

    def hash_of(self, series: SeriesKey) -> str:
        """The hash of a series as `_#h` shows it (timeseries §10)."""
        return series_hash(canonical_key(series)).hex()

    def is_shared_hash(self, table: TimeseriesTable, digest: str) -> bool:
        """Whether two series of a table have this hash, as `hash_of` shows it."""
        second = local_index_prefix(table.id) + bytes.fromhex(digest) + b"\x01"
        return self.core.store.snapshot().get(second) is not None

    # --- analytical stores -------------------------------------------------------------------

    def add_store(self, instance: str, table_name: str, store: AnalyticalStore) -> Plan[None]:
        """CreateTimeseriesAnalyticalStore (timeseries §11)."""
        check_name(store.name, TimeseriesRule.STORE_NAME)
        check_store_ttl(store.ttl_s)
        now_us = self.core.clock.now_us()
        made = replace(store, created_us=now_us, with_table=False)
        return self._changed(instance, table_name, lambda table: with_store(table, made))

    def change_store(self, instance: str, table_name: str, name: str, ttl_s: int) -> Plan[None]:
        """UpdateTimeseriesAnalyticalStore: how long it keeps its data (timeseries §11)."""
        check_store_ttl(ttl_s)

        def make(table: TimeseriesTable) -> TimeseriesTable:
            return replace(table, stores=(replace(store_named(table, name), ttl_s=ttl_s),))

        return self._changed(instance, table_name, make)

    def drop_store(
        self, instance: str, table_name: str, name: str, *, with_mappings: bool = False
    ) -> Plan[None]:
        """DeleteTimeseriesAnalyticalStore, and of the mappings of SQL that use it (timeseries §11).

        Raises `InvalidRequest` for a store with such mappings, unless they are to go with it.
        """

        def make(table: TimeseriesTable) -> TimeseriesTable:
            dropped = store_named(table, name)
            kept = tuple([each for each in table.mappings if not each.of_store])
            if kept != table.mappings and not with_mappings:
                raise InvalidRequest(TimeseriesRule.STORE_MAPPED, table=table.name, store=name)
            stores = tuple([each for each in table.stores if each is not dropped])
            return replace(table, stores=stores, mappings=kept)

        return self._changed(instance, table_name, make)

    def change_mappings(
        self,
        instance: str,
        table_name: str,
        make: Callable[[TimeseriesTable], tuple[FieldMapping, ...]],
    ) -> Plan[None]:
        """Give a table other mappings of SQL; `make` raises where they do not fit."""
        return self._changed(
            instance, table_name, lambda table: replace(table, mappings=make(table))
        )

    def _changed(
        self, instance: str, name: str, make: Callable[[TimeseriesTable], TimeseriesTable]
    ) -> Plan[None]:
        """A change of a table's definition, refused at once if it is refused now."""
        table = self.find(instance, name)
        make(table)
        return Plan((self.tables.change(table, make),), failing)

    # --- last-point indexes ------------------------------------------------------------------

    def add_lastpoint(
        self, instance: str, table_name: str, index_name: str, *, include_base: bool
    ) -> Plan[None]:
        """CreateTimeseriesLastpointIndex; with older points as well if `include_base`.

        The index of a small table is ready when it answers (timeseries §10).
        """
        check_name(index_name, TimeseriesRule.STORE_NAME)
        table = self.find(instance, table_name)
        now_us = self.core.clock.now_us()

        def make(draft: Draft) -> None:
            current = draft.current(TIMESERIES_MODEL, table)
            index = LastpointIndex(index_name, draft.number(), not include_base, now_us)
            draft.put(TIMESERIES_MODEL, with_lastpoint(current, index))

        change = self.core.catalog.change(make)
        if not include_base or self.core.store.capabilities.shared:
            return Plan((change,), failing)

        def finish(outcomes: Sequence[Outcome[None]]) -> None:
            failing(outcomes)
            raise Replan

        source = self._lastpoint_source
        again = lambda _: source.build_if_small(table, index_name)  # noqa: E731  # as plans have it
        return Plan((change,), finish, again=again, prepares=True)

    def drop_lastpoint(self, instance: str, table_name: str, index_name: str) -> Plan[None]:
        """DeleteTimeseriesLastpointIndex (timeseries §10)."""
        table = self.find(instance, table_name)
        lastpoint_named(table, index_name)
        return self._lastpoint_source.drop(table, index_name)

    def find_lastpoint(
        self, instance: str, index_name: str
    ) -> tuple[TimeseriesTable, LastpointIndex] | None:
        """The last-point index of that name in an instance, and its table; None without one."""
        state = self.core.catalog.seen()
        number = state.taken.get((TIMESERIES_MODEL.named_with, instance, index_name), 0)
        table = state.by_id.get(number)
        if not isinstance(table, TimeseriesTable) or table.name == index_name:
            return None
        return table, lastpoint_named(table, index_name)

    def lastpoint_rows(
        self,
        indexed: tuple[TimeseriesTable, LastpointIndex],
        start: Sequence[KeyInput],
        end: Sequence[KeyInput],
        *,
        reverse: bool = False,
    ) -> Iterator[LastpointRow]:
        """GetRange of a last-point index, from a key to before another (timeseries §10).

        A key has `_#h` and the columns of the table's key. Raises `Conflict` while it is built.
        """
        reader = self.core.store.snapshot()
        return scan_lastpoints(self.context, reader, indexed, (start, end), reverse=reverse)

    def lastpoint_row(
        self, indexed: tuple[TimeseriesTable, LastpointIndex], key: Sequence[str]
    ) -> LastpointRow | None:
        """GetRow of a last-point index; raises as `lastpoint_rows`."""
        last = *key[:-1], key[-1] + "\0"
        return next(self.lastpoint_rows(indexed, key, last), None)

    # --- tunnels, whose code is imported with the first request ------------------------------

    @property
    def tunnels(self) -> "Tunnels[TimeseriesTable]":
        """The operations of tunnels."""
        return self._tunnels.get()

    def _make_tunnels(self) -> "Tunnels[TimeseriesTable]":
        from widerow.engine.timeseries.tunnelled import open_point_tunnels  # noqa: PLC0415  # few servers need it

        core = self.core
        return open_point_tunnels(self.context, self.streams, core.partitions, core.entropy)

    # --- what the core asks ------------------------------------------------------------------

    def pause(self, seconds: float, line: ChoreLine) -> float:
        """Seconds until moved changes are due."""
        return self._mover.pause(seconds) if line is ChoreLine.CHANGES else seconds

    def log_lags(self) -> list[Lag]:
        """How far each stream is behind its table."""
        return self._mover.lags()

    def copied(self, moment: "CopyMoment", owner: str, room: int) -> "TimeseriesCopy":
        """The timeseries tables of an instance. Raises `CopyRefused`."""
        from widerow.engine.timeseries.copy import copy_series_tables  # noqa: PLC0415  # for tests only

        return copy_series_tables(moment, owner, room)

    def scan(
        self, table: TimeseriesTable, access: RowAccess, after: bytes = b""
    ) -> Iterator[ScannedRow]:
        """Every live point as a row, by `_#h`, `_time` and key fields (`scan.py`)."""
        reader = self.core.store.snapshot()
        return scan_points_by_key(self.context, reader, table, access, after)

    def scan_columns(
        self, table: TimeseriesTable, access: RowAccess, names: Sequence[str], first: int
    ) -> Iterator[ColumnPage]:
        """Some columns of every live point, in the order of `scan`."""
        reader = self.core.store.snapshot()
        return scan_point_columns(self.context, reader, table, access, (names, first))
