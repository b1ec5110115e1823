"""The operations of the table store, by their vendor's names.

Reads answer at once from the published view. Writes answer a `Plan`: the caller commits its writes
(in one group with others', or alone through `run`) and reads the answer with `finish`. Every method
raises the errors of `widerow.errors` for requests that break a rule, and leaves nothing behind.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from widerow.clock import Clock, Entropy
from widerow.engine.batch import (
    arrange,
    atomic_scope_error,
    check_batch_write,
    filled,
    without,
)
from widerow.engine.bodies import BodyContext, Planned, RowBody
from widerow.engine.budget import Budget
from widerow.engine.capacity import units
from widerow.engine.catalog.catalog import Tables
from widerow.engine.catalog.draft import Draft
from widerow.engine.catalog.partitioned import CatalogPartitions
from widerow.engine.catalog.state import CatalogState
from widerow.engine.declared import check_declared, declared_types
from widerow.engine.ends import end_of, outcomes_of
from widerow.engine.expiry import live_from
from widerow.engine.index_builds import IndexBuilds
from widerow.engine.indexes.definitions import check_columns_free, check_definitions
from widerow.engine.indexes.indexes import Indexes
from widerow.engine.lease import Lease
from widerow.engine.locks import check_unlocked
from widerow.engine.observed import ObservedRow
from widerow.engine.observer import Observers, RowObserver
from widerow.engine.once import Once
from widerow.engine.partitions.balance import Partitions
from widerow.engine.partitions.document import partitions_document
from widerow.engine.partitions.rules import Thresholds
from widerow.engine.partitions.split_points import find_locations, find_split_points
from widerow.engine.partitions.table_load import END
from widerow.engine.partitions.tables import Partitioned
from widerow.engine.partitions.throttle import Throttle
from widerow.engine.plan import Plan, failing, single
from widerow.engine.ranges import range_bounds, read_range
from widerow.engine.reads import ABSENT, read_record, read_row
from widerow.engine.schema import check_key, concrete, key_in_shard, row_key, shard_of
from widerow.engine.select import ReadRule
from widerow.engine.static import (
    ColumnNames,
    check_change,
    check_point_key,
    check_range_key,
    check_selection,
    check_table_name,
)
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
    Replan,
    Rule,
    Unsupported,
    WiderowError,
)
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import ROW_PREFIX_BYTES, SPACE_CATALOG, SPACE_TYPED_CATALOG, row_prefix
from widerow.limits import (
    BATCH_GET_BYTES_MAX,
    BATCH_GET_ROWS_MAX,
    INT64_MIN,
    READ_SLICE_ROWS,
    ROW_PAGE_BYTES_MAX,
    TABLES_PER_INSTANCE_MAX,
)
from widerow.model.answers import RangePage, RowOutcome, RowRead, RowWritten
from widerow.model.condition import RowExpectation
from widerow.model.requests import (
    BatchGet,
    BatchWrite,
    ComputeSplitPoints,
    CreateTable,
    GetRange,
    GetRow,
    SplitPoints,
    TableGet,
    UpdateTable,
)
from widerow.model.row import Modification, PrimaryKey, RowChange
from widerow.model.schema import DefinedColumn, Table
from widerow.model.selection import Resume, Selection
from widerow.model.values import KeyInput, KeyMarker, KeyValue, value_bytes
from widerow.rows.record import RecordKind
from widerow.safepoint import safepoint
from widerow.storage.interface import Outcome, Reader, Store, Transaction, Write

if TYPE_CHECKING:
    from widerow.engine.tunnels.changes import ChangeLog
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
        self._names = ColumnNames(strict=strict_column_names)
        self.catalog = open_catalog(store)
        self.tables = Tables(self.catalog, TABLESTORE_MODEL)
        self.lease = Lease(store, clock, entropy)
        divided = CatalogPartitions(self.catalog)
        self.partitions = Partitions(divided, store, clock, self.lease, thresholds)
        self.throttle = Throttle(clock) if enforce_throughput else None
        self._typed = Once(self._make_typed)
        self._builds = Once(self._make_builds)
        self._tunnels = Once(self._make_tunnels)
        self._note = self.partitions.note_load
        self._context = BodyContext(self.tables, clock, self.partitions.notes)
        self.indexes = Indexes(store, self.tables, clock, tables_per_instance)
        self.observe((self.indexes.observer, ChangeRecorder()))
        self.sweep = Sweep(self.catalog, store, clock, self._note)
        self.sweep.add(TablestoreSweep(self._context))
        self.transactions = Transactions(store, self._context, entropy, self._names, self)
        self.streams = Streams(store, self.tables)
        trim = StreamTrim(store, self.tables, clock)
        clearing = (self.sweep.clear, self._build_step, self.indexes.step)
        self._chores = deque((*clearing, trim.step, self.sweep.step))
        self._last_rule: ReadRule | None = None  # most reads ask for the same as the one before

    def run(self, plan: Plan[T]) -> T:
        """Commit a plan by itself and return its answer once it is durable."""
        answer: Any = plan
        while isinstance(answer, Plan):
            answer, error = end_of(answer, outcomes_of(answer, self.store.transact_group))
            if error is not None:
                raise error
        return answer  # type: ignore[no-any-return]  # what this plan's finish returned

    def housekeeping(self) -> Plan[None] | None:
        """The next small step of giving space back; None when there is nothing to do now.

        What was dropped, indexes that nobody waits for, and what expired take turns, of all table
        models (`sweep/sweep.py`). Where the store is shared, its lease before that, and while
        another process holds it only what was noted here. One caller at a time.
        """
        self.transactions.expire()
        taking = self.lease.plan()
        if taking is not None:
            return taking
        if not self.lease.held():
            return self.sweep.save()
        if self._has_typed():
            self.sweep.add(self.typed.sweep)
        for _ in range(len(self._chores)):
            self._chores.rotate(-1)
            step = self._chores[-1]()
            if step is not None:
                return step
        return None

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
        return open_tunnels(self.tables, given, self.partitions, self._note_read, self._change_log)

    def _change_log(self) -> "ChangeLog":
        if not self.store.capabilities.atomic_across_shards:
            raise Unsupported(Rule.STREAM_ACROSS_SHARDS)
        return self.streams

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
        self._check_stream(request)
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
        load, written = self.partitions.load_of(divided), self.partitions.write_units(divided)
        asked = request.split_bytes, request.limit
        numbered = divided.id, TABLESTORE_MODEL.partition_key(divided).end

        def find() -> tuple[bytes, ...]:
            return find_split_points(self.store.snapshot(), numbered, load.sizes, *asked)

        points = load.answered.of(written, asked, find)
        return SplitPoints(table, points, find_locations(divided, points))

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
        return partitions_document(self.partitions, found, history=history)

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
        self._check_stream(request)
        self._table(instance, request.name)

        def make(table: Table, draft: Draft) -> Table:
            return updated_table(table, request, self._clock.now_us(), draft.number)

        return Plan((self.indexes.changing(instance, request.name, make),), single)

    def _check_stream(self, request: CreateTable | UpdateTable) -> None:
        """A record is made with its row only where transactions reach over shards."""
        begins = request.stream is not None and request.stream.enable
        if begins and not self.store.capabilities.atomic_across_shards:
            raise Unsupported(Rule.STREAM_ACROSS_SHARDS)

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

    # --- reads -------------------------------------------------------------------------------

    def _rule(self, table: Table, selection: Selection) -> ReadRule:
        options = table.options
        alive = INT64_MIN
        if options.time_to_live >= 0:
            alive = live_from(options, self._clock.now_us() // 1000)
        rule = self._last_rule
        if (
            rule is None
            or rule.selection is not selection
            or rule.table is not table
            or rule.live_from != alive
        ):
            rule = self._last_rule = ReadRule(table, selection, alive)
        return rule

    def get_row(
        self,
        instance: str,
        request: GetRow,
        budget: Budget | None = None,
        reader: Reader | None = None,
    ) -> RowRead:
        """GetRow (semantics §5). Raises `TooLong` where it takes more than `budget`.

        So do the other reads that take a budget: nothing is counted then, and the request may be
        asked again. `reader`: what is read, if not what is published.
        """
        check_table_name(request.table)
        check_point_key(request.key, write=False)
        check_selection(request.selection, self._names)
        table = self.tables.find(instance, request.table)
        values = concrete(check_key(table, request.key))
        rule = self._rule(table, request.selection)
        shard = shard_of(table, values[0])
        key = key_in_shard(shard, values)
        partition_key = shard[ROW_PREFIX_BYTES:]
        if self.throttle is not None:
            self.throttle.read(table, partition_key)
        if reader is None:
            reader = self.store.snapshot()
        if table.index_of:
            reader = self.indexes.reading(table, reader)
        read = read_row(reader, key, values, rule, request.resume, budget)
        self._note_read(table, partition_key, read.read_units)
        return read

    def _note_read(self, table: Table, partition_key: bytes, read_units: int) -> None:
        number = table.index_of if table.local_index else table.id
        self._note(number, partition_key, read_units, 0)
        if self.throttle is not None:
            self.throttle.charge_read(table, partition_key, read_units)

    def batch_get_row(
        self, instance: str, request: BatchGet, budget: Budget | None = None
    ) -> list[list[RowOutcome]]:
        """BatchGetRow: one list a table, one outcome a row, in order (semantics §5.5)."""
        if not request.tables:
            raise InvalidRequest(Rule.BATCH_GET_EMPTY)
        count = sum(len(table.keys) for table in request.tables)
        if count > BATCH_GET_ROWS_MAX:
            raise InvalidRequest(Rule.BATCH_GET_COUNT, limit=BATCH_GET_ROWS_MAX, count=count)
        for get in request.tables:
            check_table_name(get.table)
            check_selection(get.selection, self._names, Rule.VERSION_CONDITION_MISSING_IN_BATCH)
            for key in get.keys:
                check_point_key(key, write=False)
        source = self.store.snapshot(), budget
        answered: list[list[RowOutcome]] = []
        notes: list[tuple[Table, KeyValue, int]] = []
        room = BATCH_GET_BYTES_MAX
        for get in request.tables:
            outcomes = self._get_rows(source, instance, get, room, notes)
            room -= sum(map(_row_bytes, outcomes))
            answered.append(outcomes)
        for table, value, read_units in notes:
            self._note_read(table, encode_key_value(value), read_units)
        return answered

    def _get_rows(
        self,
        source: tuple[Reader, Budget | None],
        instance: str,
        get: TableGet,
        room: int,
        notes: list[tuple[Table, KeyValue, int]],
    ) -> list[RowOutcome]:
        """The rows of one table; in `notes` what is to be counted for them."""
        try:
            table = self.tables.find(instance, get.table)
            if table.index_of:
                source = self.indexes.reading(table, source[0]), source[1]
        except WiderowError as error:
            return [RowOutcome(error=error)] * len(get.keys)
        rule = self._rule(table, get.selection)
        found = [self._admitted(table, _checked(table, key)) for key in get.keys]
        keys = [row_key(table, values) for values in found if isinstance(values, tuple)]
        records = iter(_records(source, keys))
        outcomes: list[RowOutcome] = []
        resumes = get.resumes or (None,) * len(found)
        for values, resume in zip(found, resumes, strict=True):
            if isinstance(values, WiderowError):
                outcomes.append(RowOutcome(error=values))
                continue
            safepoint()
            outcome = _read_in_batch(source, next(records), values, rule, resume, room)
            if outcome.read is not None:
                notes.append((table, values[0], outcome.read.read_units))
            outcomes.append(outcome)
            room -= _row_bytes(outcomes[-1])
        return outcomes

    def _admitted(
        self, table: Table, values: tuple[KeyValue, ...] | WiderowError
    ) -> tuple[KeyValue, ...] | WiderowError:
        """The key of a row that may be read, or the error instead."""
        if self.throttle is None or isinstance(values, WiderowError):
            return values
        try:
            self.throttle.read(table, encode_key_value(values[0]))
        except WiderowError as error:
            return error
        return values

    def get_range(
        self,
        instance: str,
        request: GetRange,
        budget: Budget | None = None,
        reader: Reader | None = None,
    ) -> RangePage:
        """GetRange (semantics §5.6); `reader` as of `get_row`."""
        check_table_name(request.table)
        start, end, direction, limit = request.range
        check_range_key(start)
        check_range_key(end)
        check_selection(request.selection, self._names)
        if limit is not None and limit <= 0:
            raise InvalidRequest(Rule.RANGE_LIMIT, value=limit)
        table = self.tables.find(instance, request.table)
        first = check_key(table, start)
        bounds = range_bounds(table, first, check_key(table, end), direction)
        rule = self._rule(table, request.selection)
        if reader is None:
            reader = self.store.snapshot()
        if table.index_of:
            reader = self.indexes.reading(table, reader)
        partition_key = _position(first[0])
        if self.throttle is not None:
            self.throttle.read(table, partition_key)
        page = read_range((reader, budget), table, bounds, rule, limit, request.resume)
        self._note_read(table, partition_key, page.read_units)
        return page

    # --- writes ------------------------------------------------------------------------------

    def write_row(self, instance: str, change: RowChange) -> Plan[RowWritten]:
        """PutRow, UpdateRow or DeleteRow, as `change.modification` says (semantics §4.1-4.7)."""
        check_change(change, self._names)
        planned = self._context.planned()
        table = self.tables.find(instance, change.table)
        write = self.row_body(table, row_prefix(table.id), change, planned)
        if planned.epoch < 0 and self._context.observers is None:
            return Plan((write,), single, _weight(change))
        return Plan((write,), single, _weight(change), lambda _: self.write_row(instance, change))

    def batch_write_row(self, instance: str, request: BatchWrite) -> Plan[list[list[RowOutcome]]]:
        """BatchWriteRow: one list a table, one outcome a row, in order (semantics §4.8)."""
        check_batch_write(request)
        size = 0
        for asked in request.tables:
            for change in asked.changes:
                check_change(change, self._names)
                size += _weight(change)
        plan = self._plan_atomic if request.atomic else self._plan_rows
        rows = plan(instance, request)
        rows.size = size
        return rows.answering(partial(arrange, request))

    def _plan_rows(self, instance: str, request: BatchWrite) -> Plan[list[RowOutcome]]:
        """Every row for itself: one write each, errors found beforehand in their places."""
        writes, errors = self._row_writes(instance, request)

        def finish(outcomes: Sequence[Outcome[RowWritten]]) -> list[RowOutcome]:
            settled = [_row_outcome(outcome) for outcome in outcomes]
            for place in sorted(errors):
                settled.insert(place, RowOutcome(error=errors[place]))
            return settled

        def again(outcomes: Sequence[Outcome[RowWritten]]) -> Plan[list[RowOutcome]]:
            """Plan the rows that were not judged; the others stay as they are."""
            made = [None if _is_stale(each) else _row_outcome(each) for each in outcomes]
            for place in sorted(errors):
                made.insert(place, RowOutcome(error=errors[place]))
            rest = without(request, [outcome is not None for outcome in made])
            return self._plan_rows(instance, rest).answering(partial(filled, made))

        may_change = self.catalog.shared or self._context.observers is not None
        return Plan(tuple(writes), finish, again=again if may_change else None)

    def _row_writes(
        self, instance: str, request: BatchWrite
    ) -> tuple[list[RowBody], dict[int, WiderowError]]:
        """The writes of rows that can be planned, and the errors of the others by their places."""
        writes: list[RowBody] = []
        errors: dict[int, WiderowError] = {}
        planned = self._context.planned()
        for asked in request.tables:
            try:
                table = self.tables.find(instance, asked.table)
            except WiderowError as error:
                first = len(writes) + len(errors)
                errors.update(dict.fromkeys(range(first, first + len(asked.changes)), error))
                continue
            prefix = row_prefix(table.id)
            declared = declared_types(table) if request.declared else None
            for change in asked.changes:
                try:
                    write = self.row_body(table, prefix, change, planned)
                    if declared is not None:
                        check_declared(declared, change)
                    writes.append(write)
                except WiderowError as error:
                    if _concerns_batch(error):
                        raise
                    errors[len(writes) + len(errors)] = error
        return writes, errors

    def _plan_atomic(self, instance: str, request: BatchWrite) -> Plan[list[RowOutcome]]:
        """All rows in one write of one shard: all of them happen or none."""
        changes = [change for asked in request.tables for change in asked.changes]
        error = atomic_scope_error(changes)
        writes, errors = self._row_writes(instance, request)
        if errors:
            error = error or errors[min(errors)]
        if error is not None:
            refused = [RowOutcome(error=error)] * len(changes)
            return Plan((), lambda _: refused)

        def body(txn: Transaction) -> list[RowWritten]:
            return [write.run(txn) for write in writes]

        def settled(rows: list[RowWritten]) -> None:
            for write, written in zip(writes, rows, strict=True):
                write.settle(written)

        def finish(outcomes: Sequence[Outcome[list[RowWritten]]]) -> list[RowOutcome]:
            result, failed = outcomes[0].result, outcomes[0].error
            if failed is None and result is not None:
                return [RowOutcome(written=written) for written in result]
            if isinstance(failed, Replan):
                raise failed
            return [_row_outcome(Outcome(None, failed))] * len(changes)

        reads = writes[0].reads
        write = Write(writes[0].shards, body, settled=settled, reads=reads)
        return Plan((write,), finish, again=lambda _: self._plan_atomic(instance, request))

    def row_body(
        self,
        table: Table,
        prefix: bytes,
        change: RowChange,
        planned: Planned,
        *,
        inside: bool = False,
    ) -> RowBody:
        """The write of one checked change; `prefix`: of the table's rows.

        Raises `Conflict(KEY_LOCKED)` where a local transaction holds its key. `inside` one nobody
        else holds what the caller may write.
        """
        if table.index_of:
            raise InvalidRequest(Rule.INDEX_WRITE, table=table.name)
        values = check_key(table, change.key)
        if table.indexes:
            self.indexes.observer.check(table, change)
        shard = prefix + encode_key_value(concrete(values)[0])
        if self._context.locks and not inside:
            check_unlocked(self._context.locks, shard, self._clock)
        if self.throttle is not None:
            self._admit_write(table, change, values, self.throttle)
        if table.auto_increment is not None:
            _check_auto_increment(table, change, values)
        return RowBody(self._context, table, change, values, shard, planned)

    def _admit_write(
        self, table: Table, change: RowChange, values: tuple[KeyInput, ...], throttle: Throttle
    ) -> None:
        """Take from the reserve what a change will consume, before it waits for its turn."""
        partition_key = encode_key_value(concrete(values)[0])
        key_size = sum(
            len(column.name.encode()) + (8 if isinstance(value, KeyMarker) else value_bytes(value))
            for column, value in zip(table.key_columns, values, strict=True)
        )
        if change.condition.row is not RowExpectation.IGNORE or change.condition.columns:
            throttle.read(table, partition_key, units(key_size))
        throttle.write(table, partition_key, units(key_size + change.data_size))


def _position(value: KeyInput) -> bytes:
    """The partition key value that a range begins with; the ends of the table have one each."""
    if isinstance(value, KeyMarker):
        return b"" if value is KeyMarker.INF_MIN else END
    return encode_key_value(value)


def _checked(table: Table, key: PrimaryKey) -> tuple[KeyValue, ...] | WiderowError:
    """The key's values, or the error that concerns the row alone (semantics §3)."""
    try:
        return concrete(check_key(table, key))
    except InvalidRequest as error:
        if _concerns_batch(error):
            raise
        return error


def _concerns_batch(error: WiderowError) -> bool:
    """Whether an error of one row is that of the batch as a whole."""
    return isinstance(error, InvalidRequest) and error.rule is Rule.KEY_COLUMN_COUNT


def _records(
    source: tuple[Reader, Budget | None], keys: Sequence[bytes]
) -> list[tuple[bytes, bytes | None]]:
    """The records of these keys, read in slices: others are let through between them.

    Raises `TooLong` where they are more than `budget`, if there is one.
    """
    reader, budget = source
    found: list[tuple[bytes, bytes | None]] = []
    for first in range(0, len(keys), READ_SLICE_ROWS):
        safepoint()
        part = keys[first : first + READ_SLICE_ROWS]
        records = reader.get_many(part)
        if budget is not None:
            for record in records:
                budget.take(0 if record is None else len(record), 1)
        found.extend(zip(part, records, strict=True))
    return found


def _read_in_batch(
    source: tuple[Reader, Budget | None],
    stored: tuple[bytes, bytes | None],
    values: tuple[KeyValue, ...],
    rule: ReadRule,
    resume: Resume | None,
    room: int,
) -> RowOutcome:
    """One row of a BatchGetRow, whose answer has `room` bytes left; small rows always fit."""
    key, record = stored
    if record is None:
        return RowOutcome(read=ABSENT)
    if room <= 0 and record[0] == RecordKind.WIDE:
        return RowOutcome(error=InvalidRequest(Rule.BATCH_GET_SIZE, limit=BATCH_GET_BYTES_MAX))
    page = min(room, ROW_PAGE_BYTES_MAX)
    read = read_record(source, (key, record), values, rule, resume, page)
    answer = ABSENT if read is None else RowRead(read.row, units(read.size), read.resume)
    return RowOutcome(read=answer)


def _row_bytes(outcome: RowOutcome) -> int:
    return 0 if outcome.read is None else len(outcome.read.row)


def _row_outcome(outcome: Outcome[RowWritten]) -> RowOutcome:
    if outcome.error is None:
        return RowOutcome(written=outcome.result)
    if isinstance(outcome.error, WiderowError) and not isinstance(outcome.error, Replan):
        return RowOutcome(error=outcome.error)
    raise outcome.error


def _is_stale(outcome: Outcome[RowWritten]) -> bool:
    return isinstance(outcome.error, Replan)


def _weight(change: RowChange) -> int:
    return len(change.key.encoded) + change.body_bytes + 100


def _check_auto_increment(table: Table, change: RowChange, values: tuple[KeyInput, ...]) -> None:
    """The rules of writes to a table with an auto-increment column (semantics §4.7)."""
    assert table.auto_increment is not None
    expectation = change.condition.row
    if values[table.auto_increment] is not KeyMarker.AUTO_INCREMENT:
        if expectation is RowExpectation.EXPECT_NOT_EXIST:
            raise InvalidRequest(Rule.AUTO_INCREMENT_SPECIFIC, expectation=expectation.name)
        return
    if change.modification is Modification.DELETE:
        raise InvalidRequest(Rule.AUTO_INCREMENT_DELETE)
    if expectation is not RowExpectation.IGNORE:
        raise InvalidRequest(Rule.AUTO_INCREMENT_EXPECTATION, expectation=expectation.name)
    if change.condition.columns is not None:
        raise InvalidRequest(Rule.AUTO_INCREMENT_CONDITION)
