"""The operations on Tablestore's tables, by their vendor's names.

Operations on tables are here, operations on rows are `rows` (`row_operations.py`); `indexes`,
`transactions`, `streams`, `tunnels`, `deliveries` and `search` have the operations of these
features. Reads, plans and errors: see `engine/engine.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from widerow.clock import Clock, Entropy
from widerow.engine.budget import Budget
from widerow.engine.catalog.catalog import Tables
from widerow.engine.catalog.draft import Draft
from widerow.engine.catalog.state import CatalogState
from widerow.engine.chores import ChoreLine
from widerow.engine.engine import Engine, OpenModel, TableListing
from widerow.engine.intents import IntentQueue
from widerow.engine.lag import Lag
from widerow.engine.observer import Observers, RowObserver
from widerow.engine.once import Once
from widerow.engine.partitions.partitioned_tables import Partitioned
from widerow.engine.partitions.places import places_of
from widerow.engine.partitions.split_points import find_locations, find_split_points
from widerow.engine.plan import Pace, Plan, failing, single, slowest
from widerow.engine.scan import ColumnPage, RowAccess, ScannedRow
from widerow.engine.streams.log import LogPosition
from widerow.engine.streams.mover import ChangeMover
from widerow.engine.streams.stream_reads import Streams
from widerow.engine.streams.trim import StreamTrim
from widerow.engine.tablestore.bodies import BodyContext
from widerow.engine.tablestore.columns import ColumnReader
from widerow.engine.tablestore.expiry import live_from
from widerow.engine.tablestore.indexes.index_definitions import (
    check_columns_free,
    check_definitions,
)
from widerow.engine.tablestore.indexes.indexes import Indexes
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.engine.tablestore.newest_views import adding_view, dropping_view
from widerow.engine.tablestore.observed import ObservedRow
from widerow.engine.tablestore.row_operations import RowOperations
from widerow.engine.tablestore.scan import scan_by_columns, scan_by_key
from widerow.engine.tablestore.search.backlog import JournalBacklog
from widerow.engine.tablestore.search.host import ALONE, SearchHost
from widerow.engine.tablestore.static import ColumnNames, check_table_name
from widerow.engine.tablestore.streams.logs import form_of, with_log
from widerow.engine.tablestore.streams.recorder import ChangeRecorder
from widerow.engine.tablestore.sweep import TablestoreSweep
from widerow.engine.tablestore.table_definitions import (
    check_columns_named,
    check_create,
    check_update,
    new_table,
    updated_table,
    with_columns,
    without_columns,
)
from widerow.engine.tablestore.transactions.lock_sweep import LockSweep
from widerow.engine.tablestore.transactions.memory_transactions import MemoryTransactions
from widerow.engine.tablestore.transactions.shard_transactions import ShardTransactions
from widerow.engine.tablestore.transactions.transactions import TransactionParts
from widerow.errors import Conflict, Exhausted, InvalidRequest, NotFound, Rule
from widerow.keys.layout import SPACE_CATALOG
from widerow.limits import TABLES_PER_INSTANCE_MAX
from widerow.model.tablestore.requests import (
    ComputeSplitPoints,
    CreateTable,
    SplitPoints,
    UpdateTable,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import DefinedColumn, Table
from widerow.storage.interface import Reader, Store

if TYPE_CHECKING:
    from widerow.engine.copying import CopyMoment
    from widerow.engine.tablestore.copy import TablestoreCopy
    from widerow.engine.tablestore.delivery.service import Deliveries
    from widerow.engine.tablestore.search.service import SearchIndexes
    from widerow.engine.tablestore.transactions.transactions import Transactions
    from widerow.engine.tunnels.service import Tunnels

__all__ = ["TABLESTORE_DEFAULTS", "TablestoreEngine", "TablestoreSettings"]


@dataclass(frozen=True, slots=True)
class TablestoreSettings:
    """The settings of an engine's Tablestore tables.

    `strict_column_names`: attribute columns are named as primary key columns are (semantics §1.4).
    `transactions_on_by_default`: local transactions may be begun on tables whose definition does
    not say (change §B1). `index_lag`: global indexes follow their tables, and builds begin, so many
    seconds later. `keeps_indexed_tables`: a table is not deleted while it has indexes.
    `search_host`: makes the surroundings of search indexes, with the first index.
    `delivery_refusal`: the rule by which delivery tasks are refused; None: they are allowed.
    """

    tables_per_instance: int = TABLES_PER_INSTANCE_MAX
    strict_column_names: bool = False
    transactions_on_by_default: bool = True
    index_lag: float = 0.0
    keeps_indexed_tables: bool = False
    search_host: "Callable[[TablestoreEngine], SearchHost]" = lambda _: ALONE
    delivery_refusal: TablestoreRule | None = TablestoreRule.DELIVERY_OFF


TABLESTORE_DEFAULTS = TablestoreSettings()


class TablestoreEngine(OpenModel[Table]):
    """Tablestore's tables of one open store. Any thread may call; nothing waits for a sync."""

    name: ClassVar[str] = "tablestore"
    index_word: ClassVar[str] = "global index"
    copies: ClassVar[bool] = True

    def __init__(self, core: Engine) -> None:
        self.core = core
        settings = self._settings = core.settings.of(TABLESTORE_DEFAULTS)
        store, clock, entropy = core.store, core.clock, core.entropy
        names = ColumnNames(strict=settings.strict_column_names)
        self.tables = Tables(core.catalog, TABLESTORE_MODEL)
        self.backlog = JournalBacklog()
        self._context = BodyContext(self.tables, clock, core.partitions.notes)
        queue = IntentQueue(clock, entropy)
        self.indexes = Indexes(
            store,
            self.tables,
            clock,
            queue,
            settings.tables_per_instance,
            core.nodes.settled,
            core.lease,
        )
        self.indexes.hold_back(settings.index_lag)
        self.indexes.keeps_indexed_tables = settings.keeps_indexed_tables
        deferred = not store.capabilities.atomic_across_shards
        recorder = ChangeRecorder(self.backlog.note, queue if deferred else None)
        self.observe((self.indexes.observer, recorder))
        follows = self.indexes.observer.deferred
        self.rows = RowOperations(
            *(store, self._context, self.indexes, names, core.throttle),
            self._pace if follows else self.backlog.pace,
        )
        shared = store.capabilities.shared
        kept = ShardTransactions if shared else MemoryTransactions
        parts = TransactionParts(store, self._context, entropy, names, self.rows)
        self.transactions: Transactions = kept(parts)
        self.streams = Streams(store, self.tables, self.rows.note_read)
        self.sweep = TablestoreSweep(self._context)
        self._mover = ChangeMover(store, self.tables, clock, core.lease, form_of)
        trimmed = core.sweep.note_trimmed
        trim = StreamTrim(store, self.tables, clock, with_log, trimmed, self._covered)
        locks = LockSweep(store, self._context)
        self.chores = {
            ChoreLine.ENTRIES: (self.indexes.intents.step,),
            ChoreLine.CHANGES: (self._mover.step,),
            ChoreLine.CLEANING: (self.indexes.builds.step, trim.step, locks.step),
        }
        self._tunnels = Once(self._make_tunnels)
        self._deliveries = Once(self._make_deliveries)
        self._search = Once(self._make_search)

    # --- features whose code is imported with the first request -----------------------------

    def _given(self) -> tuple[Store, Clock, Entropy]:
        return self.core.store, self.core.clock, self.core.entropy

    @property
    def tunnels(self) -> "Tunnels[Table]":
        """The operations of tunnels."""
        return self._tunnels.get()

    def _make_tunnels(self) -> "Tunnels[Table]":
        from widerow.engine.tablestore.tunnels.opening import open_tunnels  # noqa: PLC0415  # few servers need it

        given = self._given()
        return open_tunnels(
            self.tables, given, self.core.partitions, self.rows.note_read, self.streams
        )

    @property
    def deliveries(self) -> "Deliveries":
        """The operations of delivery tasks.

        They are refused by the rule `TablestoreSettings.delivery_refusal`, if there is one.
        """
        return self._deliveries.get()

    def _make_deliveries(self) -> "Deliveries":
        from widerow.engine.tablestore.delivery.service import (  # noqa: PLC0415  # few servers need it
            Deliveries,
            delivery_tunnels,
        )
        from widerow.engine.tablestore.tunnels.opening import open_tunnels  # noqa: PLC0415  # few servers need it

        given = self._given()
        tunnels = open_tunnels(
            self.tables,
            given,
            self.core.partitions,
            self.rows.note_read,
            self.streams,
            delivery_tunnels,
        )
        return Deliveries(self.tables, given, tunnels, lambda: self._settings.delivery_refusal)

    @property
    def search(self) -> "SearchIndexes":
        """The operations of search indexes."""
        return self._search.get()

    def has_search(self) -> bool:
        """Whether any table has a search index."""
        return any(table.search for table in self.tables.all())

    def _covered(self, table: Table) -> Mapping[int, LogPosition]:
        return self._search.get().covered(table) if self._search.is_made() else {}

    def _make_search(self) -> "SearchIndexes":
        from widerow.engine.tablestore.search.answers import AnswerRows  # noqa: PLC0415  # few servers need it
        from widerow.engine.tablestore.search.service import SearchIndexes  # noqa: PLC0415  # few servers need it

        given = *self._given(), self.core.nodes.settled
        rows = AnswerRows(self.core.store, self.core.clock, self.rows.note_read)
        return SearchIndexes(
            given, self.tables, rows, self.backlog, self._settings.search_host(self)
        )

    def observe(self, observers: Sequence[RowObserver[Table, ObservedRow]]) -> None:
        """Add observers of every change of rows; before the first write is planned."""
        known = self._context.observers
        self._context.observers = Observers(observers) if known is None else known.joined(observers)

    # --- what the core asks ------------------------------------------------------------------

    def pass_time(self) -> None:
        """End local transactions whose time is over."""
        self.transactions.expire()

    def pause(self, seconds: float, line: ChoreLine) -> float:
        """Seconds until entries of indexes, or moved changes, are due."""
        if line is ChoreLine.ENTRIES:
            return self.indexes.intents.pause(seconds)
        return self._mover.pause(seconds) if line is ChoreLine.CHANGES else seconds

    def _pace(self, table: Table) -> Pace | None:
        """What the answers to writers of a table wait for, where entries follow their rows."""
        entries = self.core.entry_pace.of(table.id) if table.indexes else None
        return slowest((self.backlog.pace(table), entries))

    def tables_behind(self) -> Iterable[int]:
        """Tables with a global index that is far behind."""
        return self.indexes.intents.tables_behind()

    def index_lags(self) -> list[Lag]:
        """How far each global index is behind its table."""
        return self.indexes.lags()

    def log_lags(self) -> list[Lag]:
        """How far each stream, and each journal of search indexes, is behind its table."""
        return self._mover.lags()

    def listed(self) -> Iterable[TableListing]:
        """The tables of all instances, without indexes."""
        for table in self.tables.all():
            if not table.index_of:
                yield TableListing(table.instance, table.name, table.name)

    def find_partitioned(self, owner: str, address: str) -> Partitioned | None:
        """The table of that name in an instance. Raises `InvalidRequest`."""
        if ":" in address:  # of another model
            return None
        check_table_name(address)
        found = self.tables.get(owner, address)
        return None if found is None else self._divided(found)

    def scan(self, table: Table, access: RowAccess, after: bytes = b"") -> Iterator[ScannedRow]:
        """Rows of a table, or entries of one of its secondary indexes.

        A row's values are those of its primary key and the newest one of each column; a row whose
        cells have all expired is not there. Raises also `Conflict` while the index is being built.
        """
        scanned, view = self._scanned(table, access)
        now_ms = self.core.clock.now_us() // 1000
        return scan_by_key(view, scanned, access, live_from(scanned.options, now_ms), after)

    def scan_columns(
        self,
        table: Table,
        access: RowAccess,
        names: Sequence[str],
        first: int,
        budget: Budget | None = None,
    ) -> Iterator[ColumnPage]:
        """As `scan`: the newest value of each column. Compiled, some µs a row.

        Raises `TooLong` above the budget, if there is one.
        """
        scanned, view = self._scanned(table, access)
        live = live_from(scanned.options, self.core.clock.now_us() // 1000)
        columns = ColumnReader(scanned, names, live, budget)
        return scan_by_columns(view, access, columns, scanned, first)

    def _scanned(self, table: Table, access: RowAccess) -> tuple[Table, Callable[[], Reader]]:
        """The table or the index that an access reads, and what gives views of it."""
        scanned, view = table, self.core.store.snapshot
        if access.index:
            if all(access.index != each.name for each in table.indexes):
                raise NotFound(Rule.TABLE_NOT_FOUND, instance=table.instance, table=access.index)
            scanned = self.tables.find(table.instance, access.index)
        if scanned.index_of:
            view = partial(self._view_of, scanned)
        return scanned, view

    def _view_of(self, index: Table) -> Reader:
        return self.indexes.reading(index, self.core.store.snapshot())

    def copied(self, moment: "CopyMoment", owner: str, room: int) -> "TablestoreCopy":
        """The tables of an instance. Raises `CopyRefused`."""
        from widerow.engine.tablestore.copy import copy_tables  # noqa: PLC0415  # for tests only

        return copy_tables(self._search.get, moment, owner, room)

    # --- tables ------------------------------------------------------------------------------

    def create_table(self, instance: str, request: CreateTable) -> Plan[None]:
        """CreateTable (semantics §2.1)."""
        check_create(request)
        if request.local_transactions is None:
            request = replace(request, local_transactions=self._settings.transactions_on_by_default)
        check_definitions(request.indexes)
        self._check_room(self.core.catalog.seen(), instance, request.name)

        def make(draft: Draft) -> Table:
            self._check_room(draft.state, instance, request.name)
            table = new_table(instance, request, draft.number, self.core.clock.now_us())
            return self.indexes.create_with(draft, table, request.indexes)

        return Plan((self.core.catalog.change(make),), failing)

    def _check_room(self, state: CatalogState, instance: str, name: str) -> None:
        if (SPACE_CATALOG, instance, name) in state.by_name:
            raise Conflict(TablestoreRule.TABLE_EXISTS, instance=instance, table=name)
        held = state.held(TABLESTORE_MODEL.named_with, instance)
        if held >= self._settings.tables_per_instance:
            raise Exhausted(TablestoreRule.TABLE_QUOTA, limit=self._settings.tables_per_instance)

    def list_tables(self, instance: str) -> tuple[str, ...]:
        """ListTable: the instance's tables by name, without indexes (semantics §2.2)."""
        found = self.tables.owned(instance)
        return tuple(table.name for table in found if not table.index_of)

    def describe_table(self, instance: str, table: str) -> Table:
        """DescribeTable (semantics §2.3)."""
        return self._table(instance, table)

    def compute_split_points(self, instance: str, request: ComputeSplitPoints) -> SplitPoints:
        """ComputeSplitPointsBySize: sizes are counted from writes (semantics §6).

        Without a write in between, equal requests get equal points.
        """
        if request.split_bytes <= 0:
            raise InvalidRequest(TablestoreRule.SPLIT_SIZE)
        if request.limit is not None and request.limit <= 0:
            raise InvalidRequest(TablestoreRule.SPLIT_POINT_LIMIT, value=request.limit)
        table = self._table(instance, request.table)
        divided = self._divided(table)
        load, written = self.core.partitions.load_of(divided), self._written(divided)
        asked = request.split_bytes, request.limit
        numbered = divided.id, TABLESTORE_MODEL.partition_key(divided).end

        def find() -> tuple[bytes, ...]:
            return find_split_points(self.core.store.snapshot(), numbered, load.sizes, *asked)

        points = load.answered.of(written, asked, find)
        places = places_of(self.core.store, divided)
        return SplitPoints(table, points, find_locations(divided, points, places))

    def _written(self, table: Table) -> tuple[int, int]:
        """A value that changes with every write of the table, or, for an index, of its table."""
        partitions = self.core.partitions
        if not table.index_of:
            return partitions.write_units(table), 0
        later = partitions.load_of(table).sizes.size  # entries may be written later than their rows
        return partitions.write_units(self.indexes.table_of(table)), later

    def _divided(self, table: Table) -> Table:
        """The table whose partitions hold the rows: for a local index the table of the index."""
        return self.indexes.table_of(table) if table.local_index else table

    def update_table(self, instance: str, request: UpdateTable) -> Plan[Table]:
        """UpdateTable; the answer is the table after the change (semantics §2.4)."""
        check_update(request)
        self._table(instance, request.name)

        def make(table: Table, draft: Draft) -> Table:
            after = updated_table(table, request, self.core.clock.now_us(), draft.number)
            if after.search:
                from widerow.engine.tablestore.search.search_definitions import (  # noqa: PLC0415  # few servers need it
                    check_options_of_searched,
                )

                check_options_of_searched(after)
            return after

        return Plan((self.indexes.changing(instance, request.name, make),), single)

    def add_defined_columns(
        self, instance: str, name: str, columns: tuple[DefinedColumn, ...]
    ) -> Plan[None]:
        """AddDefinedColumn (semantics §2.6)."""
        check_columns_named(name, tuple(column.name for column in columns))
        self._table(instance, name)

        def make(table: Table, _: Draft) -> Table:
            return with_columns(table, columns)

        return Plan((self.indexes.changing(instance, name, make),), failing)

    def delete_defined_columns(
        self, instance: str, name: str, columns: tuple[str, ...]
    ) -> Plan[None]:
        """DeleteDefinedColumn (semantics §2.6)."""
        check_columns_named(name, columns)
        self._table(instance, name)

        def make(table: Table, _: Draft) -> Table:
            check_columns_free(table, columns)
            return without_columns(table, columns)

        return Plan((self.indexes.changing(instance, name, make),), failing)

    def map_table(self, instance: str, name: str, mapped: Callable[[Table], Table]) -> Plan[Table]:
        """Change how SQL sees a table: `mapped` gives it other mappings, as it is then (sql §2).

        Indexes have mappings as tables have. The answer is the table after the change. `mapped` may
        raise errors of `widerow.errors`.
        """
        number = self._table(instance, name).id

        def body(draft: Draft) -> Table:
            found: Table | None = draft.state.by_id.get(number)
            if found is None:
                raise NotFound(Rule.TABLE_NOT_FOUND, instance=instance, table=name)
            return draft.put(TABLESTORE_MODEL, mapped(found))

        return Plan((self.tables.catalog.change(body),), single)

    def add_newest_view(
        self, instance: str, table: str, view: tuple[str, tuple[str, ...]], *, include_base: bool
    ) -> Plan[None]:
        """CreateTimeseriesLastpointIndex of an ordinary table (timeseries §10).

        `view`: its name, and the first columns of the table's key. Without `include_base` cells of
        older versions than now are not in it.
        """
        since_ms = 0 if include_base else self.core.clock.now_us() // 1000
        change = self.core.catalog.change(adding_view(instance, table, view, since_ms))
        return Plan((change,), failing)

    def drop_newest_view(self, instance: str, table: str, name: str) -> Plan[None]:
        """DeleteTimeseriesLastpointIndex of an ordinary table (timeseries §10)."""
        change = self.core.catalog.change(dropping_view(instance, table, name))
        return Plan((change,), failing)

    def delete_table(self, instance: str, table: str) -> Plan[None]:
        """DeleteTable: the table and its indexes are gone when it answers; space is freed later.

        (semantics §2.5, change §A7)
        """
        due_us = self.core.catalog.due_us(self.core.clock.now_us())
        return Plan((self.indexes.dropping(self._table(instance, table), due_us),), failing)

    def _table(self, instance: str, name: str) -> Table:
        check_table_name(name)
        return self.tables.find(instance, name)
