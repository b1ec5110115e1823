"""The table store: its tables, its housekeeping, and the parts that carry out everything else.

Operations have their vendor's names. Those on tables are here, those on rows are `rows`
(`row_operations.py`); `indexes`, `transactions`, `streams`, `tunnels`, `deliveries` and `typed` are
as they say.

Reads answer at once from the published view. Writes answer a `Plan`: the caller commits its writes
(in one group with others', or alone through `run`) and reads the answer with `finish`. Every method
raises the errors of `widerow.errors` for requests that break a rule, and leaves nothing behind.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from widerow.clock import Clock, Entropy
from widerow.engine.bodies import BodyContext
from widerow.engine.catalog.catalog import Tables
from widerow.engine.catalog.draft import Draft
from widerow.engine.catalog.partitioned import CatalogPartitions
from widerow.engine.catalog.state import CatalogState
from widerow.engine.chores import ChoreLine, ChoreTurns
from widerow.engine.ends import end_of, outcomes_of
from widerow.engine.index_builds import IndexBuilds
from widerow.engine.indexes.definitions import check_columns_free, check_definitions
from widerow.engine.indexes.indexes import Indexes
from widerow.engine.intents import IntentQueue
from widerow.engine.lag import Lag
from widerow.engine.lease import Lease
from widerow.engine.nodes.document import nodes_document
from widerow.engine.nodes.nodes import LoadOfAll, Nodes
from widerow.engine.observed import ObservedRow
from widerow.engine.observer import Observers, RowObserver
from widerow.engine.once import Once
from widerow.engine.partitions.balance import Partitions
from widerow.engine.partitions.document import partitions_document
from widerow.engine.partitions.places import places_of
from widerow.engine.partitions.rules import Thresholds
from widerow.engine.partitions.split_points import find_locations, find_split_points
from widerow.engine.partitions.tables import Partitioned
from widerow.engine.partitions.throttle import Throttle
from widerow.engine.plan import Plan, failing, single
from widerow.engine.row_operations import RowOperations
from widerow.engine.search.backlog import JournalBacklog
from widerow.engine.search.host import ALONE, SearchHost
from widerow.engine.static import (
    ColumnNames,
    check_table_name,
)
from widerow.engine.streams.log import LogPosition
from widerow.engine.streams.mover import ChangeMover
from widerow.engine.streams.reading import Streams
from widerow.engine.streams.recorder import ChangeRecorder
from widerow.engine.streams.trim import StreamTrim
from widerow.engine.sweep.sweep import Sweep
from widerow.engine.sweep.tablestore import TablestoreSweep
from widerow.engine.table_models import open_catalog
from widerow.engine.tables import (
    check_columns_named,
    check_create,
    check_update,
    new_table,
    updated_table,
    with_columns,
    without_columns,
)
from widerow.engine.tablestore_model import TABLESTORE_MODEL
from widerow.engine.transactions.transactions import Transactions
from widerow.errors import (
    Conflict,
    Exhausted,
    InvalidRequest,
    NotFound,
    Rule,
)
from widerow.keys.layout import NODE_ID_BYTES, SPACE_CATALOG, SPACE_TYPED_CATALOG
from widerow.limits import (
    TABLES_PER_INSTANCE_MAX,
)
from widerow.model.requests import (
    ComputeSplitPoints,
    CreateTable,
    SplitPoints,
    UpdateTable,
)
from widerow.model.schema import DefinedColumn, Table
from widerow.storage.interface import Store

if TYPE_CHECKING:
    from widerow.engine.delivery.service import Deliveries
    from widerow.engine.search.service import SearchIndexes
    from widerow.engine.tunnels.service import Tunnels
    from widerow.engine.typed.engine import TypedEngine
    from widerow.engine.typed.form import TableForm

__all__ = ["Engine"]

T = TypeVar("T")


class Engine:
    """One open table store. Any thread may call; planning and reading never wait for a sync."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        entropy: Entropy,
        *,
        tables_per_instance: int = TABLES_PER_INSTANCE_MAX,
        strict_column_names: bool = False,
        thresholds: Thresholds | None = None,
        enforce_throughput: bool = False,
    ) -> None:
        """Load the catalogue. Raises `StoreDamaged` if the store is not one of ours.

        `strict_column_names`: attribute columns are named as primary key columns are (semantics
        §1.4). `thresholds`: what partitions may be. `enforce_throughput`: refuse what is above the
        reserve.
        """
        self.store = store
        self._clock = clock
        self._entropy = entropy
        self._tables_per_instance = tables_per_instance
        names = ColumnNames(strict=strict_column_names)
        self.catalog = open_catalog(store)
        self.tables = Tables(self.catalog, TABLESTORE_MODEL)
        node_id = entropy.token_bytes(NODE_ID_BYTES) if store.capabilities.shared else b""
        self.lease = Lease(store, clock, node_id.hex())
        self.nodes = Nodes(store, self.catalog, self.lease, clock, node_id)
        self.partitions = Partitions(
            CatalogPartitions(self.catalog), store, clock, self.lease, thresholds
        )
        self.throttle = Throttle(clock) if enforce_throughput else None
        if self.partitions.shared_notes is not None:
            told = self.partitions.told.append
            self.nodes.load = LoadOfAll(self.partitions.shared_notes, told, self.throttle)
        self._typed = Once(self._make_typed)
        self._builds = Once(self._make_builds)
        self._tunnels = Once(self._make_tunnels)
        self._deliveries = Once(self._make_deliveries)
        self._search = Once(self._make_search)
        self.search_host: Callable[[], SearchHost] = lambda: ALONE
        self.backlog = JournalBacklog()
        self.delivery_refusal: Rule | None = Rule.DELIVERY_OFF
        self._note = self.partitions.note_load
        self._context = BodyContext(self.tables, clock, self.partitions.notes)
        queue = IntentQueue(clock, entropy)
        self.indexes = Indexes(
            store, self.tables, clock, queue, tables_per_instance, self.nodes.settled, self.lease
        )
        apart = not store.capabilities.atomic_across_shards
        recorder = ChangeRecorder(self.backlog.note, queue if apart else None)
        self.observe((self.indexes.observer, recorder))
        self.sweep = Sweep(self.catalog, store, clock, self._note)
        self.sweep.add(TablestoreSweep(self._context))
        self.rows = RowOperations(
            *(store, self._context, self.indexes, names, self.throttle), self.backlog.pace
        )
        self.transactions = Transactions(store, self._context, entropy, names, self.rows)
        self.streams = Streams(store, self.tables, self.rows.note_read)
        self._mover = ChangeMover(store, self.tables, clock, self.lease)
        trim = StreamTrim(store, self.tables, clock, self._covered, self.sweep.note_trimmed).step
        self._lines = {
            ChoreLine.ENTRIES: ChoreTurns(self.indexes.intents.step),
            ChoreLine.CHANGES: ChoreTurns(self._mover.step),
            ChoreLine.CLEANING: ChoreTurns(
                *(self._build_step, self.indexes.builds.step, self.sweep.clear),
                *(trim, self.sweep.step, self.nodes.clear),
            ),
        }
        self._all_lines = ChoreTurns(*[each.step for each in self._lines.values()])

    def run(self, plan: Plan[T]) -> T:
        """Commit a plan by itself and return its answer once it is durable.

        Does not wait until other servers know of a change of the catalogue, as a committer does.
        """
        answer: Any = plan
        while isinstance(answer, Plan):
            answer, error = end_of(answer, outcomes_of(answer, self.store.transact_group))
            if error is not None:
                raise error
        return answer  # type: ignore[no-any-return]  # what this plan's finish returned

    def housekeeping(self, line: ChoreLine | None = None) -> Plan[None] | None:
        """The next small step of what the engine does of its own accord; None: nothing to do now.

        `line`: that line alone, for a caller of its own; None: each in its turn, for one caller.
        Where the store is shared, its lease before that, and while another process holds it only
        what was noted here.
        """
        if line in (None, ChoreLine.CLEANING):
            self.transactions.expire()
            taking = self.lease.plan()
            if taking is not None:
                return taking
            if not self.lease.held():
                return self.sweep.save()
            if self._has_typed():
                self.sweep.add(self.typed.sweep)
        elif not self.lease.held():
            return None
        return self._all_lines.step() if line is None else self._lines[line].step()

    def pause(self, seconds: float, line: ChoreLine | None = None) -> float:
        """After how many seconds at most `housekeeping` should be asked again, if it had nothing.

        `seconds` where no row can have left anything to do that somebody waits for.
        """
        pauses = {
            ChoreLine.ENTRIES: self.indexes.intents.pause,
            ChoreLine.CHANGES: self._mover.pause,
        }
        asked = [pause for each, pause in pauses.items() if line in (None, each)]
        return min([seconds, *[pause(seconds) for pause in asked]])

    def index_lags(self) -> list[Lag]:
        """How far the global indexes are behind their tables, as far as this process knows.

        None of them while another process looks after the store. Any thread may call.
        """
        return self.indexes.lags() if self.lease.held() else []

    def log_lags(self) -> list[Lag]:
        """How far streams and journals are behind the rows of their tables, as `index_lags`."""
        return self._mover.lags() if self.lease.held() else []

    def _build_step(self) -> Plan[None] | None:
        return self.index_builds.step() if self._has_typed() else None

    @property
    def index_builds(self) -> "IndexBuilds[TableForm]":
        """The builds of typed tables' indexes."""
        return self._builds.get()

    def _make_builds(self) -> "IndexBuilds[TableForm]":
        from widerow.engine.typed.index_builds import TypedBuilds  # noqa: PLC0415  # as `typed`

        return IndexBuilds(TypedBuilds(self.typed))

    def _has_typed(self) -> bool:
        return self._typed.is_made() or self.catalog.holds(SPACE_TYPED_CATALOG)

    @property
    def typed(self) -> "TypedEngine":
        """The operations of typed tables. Raises `StoreDamaged` if their catalogue is not readable.

        Made when first asked for: a server of the other dialect starts a tenth sooner without.
        """
        return self._typed.get()

    def _make_typed(self) -> "TypedEngine":
        from widerow.engine.typed.engine import TypedEngine  # noqa: PLC0415  # as `typed` says
        from widerow.engine.typed.index_keeper import IndexKeeper  # noqa: PLC0415  # same

        return TypedEngine(
            self.store,
            self.catalog,
            self._clock,
            self._entropy,
            observers=(IndexKeeper(),),
            note_load=self._note,
            note_expiry=self.sweep.note,
        )

    @property
    def tunnels(self) -> "Tunnels":
        """The operations of tunnels."""
        return self._tunnels.get()

    def _make_tunnels(self) -> "Tunnels":
        from widerow.engine.tunnels.opening import open_tunnels  # noqa: PLC0415  # as `typed`

        given = self.store, self._clock, self._entropy
        return open_tunnels(self.tables, given, self.partitions, self.rows.note_read, self.streams)

    @property
    def deliveries(self) -> "Deliveries":
        """The operations of delivery tasks.

        They are refused by the rule `delivery_refusal`, which whoever writes the files sets to
        None.
        """
        return self._deliveries.get()

    def _make_deliveries(self) -> "Deliveries":
        from widerow.engine.delivery.service import (  # noqa: PLC0415  # as `typed`
            Deliveries,
            delivery_tunnels,
        )
        from widerow.engine.tunnels.opening import open_tunnels  # noqa: PLC0415  # as `typed`

        given = self.store, self._clock, self._entropy
        tunnels = open_tunnels(
            self.tables,
            given,
            self.partitions,
            self.rows.note_read,
            self.streams,
            delivery_tunnels,
        )
        return Deliveries(self.tables, given, tunnels, lambda: self.delivery_refusal)

    @property
    def search(self) -> "SearchIndexes":
        """The operations of search indexes.

        Whoever asks from several threads gives `search_host` before that.
        """
        return self._search.get()

    def has_search(self) -> bool:
        """Whether any table has a search index."""
        return any(table.search for table in self.tables.all())

    def _covered(self, table: Table) -> Mapping[int, LogPosition]:
        return self._search.get().covered(table) if self._search.is_made() else {}

    def _make_search(self) -> "SearchIndexes":
        from widerow.engine.search.answers import AnswerRows  # noqa: PLC0415  # as `typed`
        from widerow.engine.search.service import SearchIndexes  # noqa: PLC0415  # as `typed`

        given = self.store, self._clock, self._entropy, self.nodes.settled
        rows = AnswerRows(self.store, self._clock, self.rows.note_read)
        return SearchIndexes(given, self.tables, rows, self.backlog, self.search_host())

    def observe(self, observers: Sequence[RowObserver[Table, ObservedRow]]) -> None:
        """Let these too hear of every change of rows; before the first write is planned."""
        known = self._context.observers
        self._context.observers = Observers(observers) if known is None else known.joined(observers)

    # --- tables ------------------------------------------------------------------------------

    def create_table(self, instance: str, request: CreateTable) -> Plan[None]:
        """CreateTable (semantics §2.1)."""
        check_create(request)
        if request.local_transactions is None:
            request = replace(request, local_transactions=self.transactions.on_by_default)
        check_definitions(request.indexes)
        self._check_room(self.catalog.seen(), instance, request.name)

        def make(draft: Draft) -> Table:
            self._check_room(draft.state, instance, request.name)
            table = new_table(instance, request, draft.number, self._clock.now_us())
            return self.indexes.create_with(draft, table, request.indexes)

        return Plan((self.catalog.change(make),), failing)

    def _check_room(self, state: CatalogState, instance: str, name: str) -> None:
        if (SPACE_CATALOG, instance, name) in state.by_name:
            raise Conflict(Rule.TABLE_EXISTS, instance=instance, table=name)
        if len(state.names(SPACE_CATALOG, instance)) >= self._tables_per_instance:
            raise Exhausted(Rule.TABLE_QUOTA, limit=self._tables_per_instance)

    def list_tables(self, instance: str) -> tuple[str, ...]:
        """ListTable: the instance's tables by name, without indexes (semantics §2.2)."""
        found = self.tables.owned(instance)
        return tuple(table.name for table in found if not table.index_of)

    def describe_table(self, instance: str, table: str) -> Table:
        """DescribeTable (semantics §2.3)."""
        return self._table(instance, table)

    def compute_split_points(self, instance: str, request: ComputeSplitPoints) -> SplitPoints:
        """ComputeSplitPointsBySize: sizes are those that writes added up to (semantics §6).

        Without a write in between, the same question has the same points for an answer.
        """
        if request.split_bytes <= 0:
            raise InvalidRequest(Rule.SPLIT_SIZE)
        if request.limit is not None and request.limit <= 0:
            raise InvalidRequest(Rule.SPLIT_POINT_LIMIT, value=request.limit)
        table = self._table(instance, request.table)
        divided = self._divided(table)
        load, written = self.partitions.load_of(divided), self._written(divided)
        asked = request.split_bytes, request.limit
        numbered = divided.id, TABLESTORE_MODEL.partition_key(divided).end

        def find() -> tuple[bytes, ...]:
            return find_split_points(self.store.snapshot(), numbered, load.sizes, *asked)

        points = load.answered.of(written, asked, find)
        places = places_of(self.store, divided)
        return SplitPoints(table, points, find_locations(divided, points, places))

    def _written(self, table: Table) -> tuple[int, int]:
        """Another value after every write of a table: of an index, whose rows its table writes."""
        partitions = self.partitions
        if not table.index_of:
            return partitions.write_units(table), 0
        later = partitions.load_of(table).sizes.size  # entries may follow their rows
        return partitions.write_units(self.indexes.table_of(table)), later

    def _divided(self, table: Table) -> Table:
        """Whose partitions a table's rows lie in: those of a local index lie beside the rows."""
        return self.indexes.table_of(table) if table.local_index else table

    def describe_partitions(
        self, instance: str, table: str, *, history: bool = False
    ) -> dict[str, Any]:
        """What is known of a table's partitions (docs/operating/partitions.md).

        `[namespace]:table` is a typed table's hierarchy, and `instance` must be its namespace then:
        whoever may open an instance sees what bears its name and nothing else.
        """
        found = self.find_partitioned(instance, table)
        places = places_of(self.store, found)
        return partitions_document(self.partitions, found, places, history=history)

    def describe_nodes(self) -> dict[str, Any]:
        """What is known of the servers of a shared store (docs/operating/cluster.md)."""
        return nodes_document(self.nodes, self._clock)

    def find_partitioned(self, instance: str, name: str) -> Partitioned:
        """The table of that name in an instance or namespace. Raises `NotFound`."""
        if ":" not in name:
            return self._divided(self._table(instance, name))
        form = self.typed.tables.get_qualified(name) if self._has_typed() else None
        if form is None or form.table.shown_namespace.lower() != instance.lower():
            raise NotFound(Rule.TABLE_NOT_FOUND, instance=instance, table=name)
        top = self.typed.tables.by_id(form.table.top)
        assert top is not None  # a table with children cannot be dropped
        return top.table

    def update_table(self, instance: str, request: UpdateTable) -> Plan[Table]:
        """UpdateTable: the table as it is afterwards (semantics §2.4)."""
        check_update(request)
        self._table(instance, request.name)

        def make(table: Table, draft: Draft) -> Table:
            after = updated_table(table, request, self._clock.now_us(), draft.number)
            if after.search:
                from widerow.engine.search.definitions import (  # noqa: PLC0415  # as `typed`
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

    def delete_table(self, instance: str, table: str) -> Plan[None]:
        """DeleteTable: gone when answered, with its indexes; `housekeeping` frees its space.

        (semantics §2.5, change §A7)
        """
        due_us = self.catalog.due_us(self._clock.now_us())
        return Plan((self.indexes.dropping(self._table(instance, table), due_us),), failing)

    def _table(self, instance: str, name: str) -> Table:
        check_table_name(name)
        return self.tables.find(instance, name)
