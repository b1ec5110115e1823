"""The operations on rows of the table store, by their vendor's names (semantics §4, §5).

Reads answer at once from the published view. Writes answer a `Plan`, as all of the engine's do
(`engine.py`).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from widerow.engine.budget import Budget
from widerow.engine.capacity import units
from widerow.engine.locks import check_unlocked
from widerow.engine.partitions.table_load import END
from widerow.engine.partitions.throttle import Throttle
from widerow.engine.plan import Pace, Plan, single, slowest
from widerow.engine.tablestore.batch import (
    arrange,
    atomic_scope_error,
    by_table,
    check_batch_write,
    filled,
    without,
)
from widerow.engine.tablestore.bodies import BodyContext, Planned, RowBody
from widerow.engine.tablestore.declared import check_declared, declared_types
from widerow.engine.tablestore.expiry import live_from
from widerow.engine.tablestore.indexes.indexes import Indexes
from widerow.engine.tablestore.ranges import range_bounds, read_range
from widerow.engine.tablestore.reads import ABSENT, read_record, read_row
from widerow.engine.tablestore.schema import check_key, concrete, key_in_shard, row_key, shard_of
from widerow.engine.tablestore.select import ReadRule
from widerow.engine.tablestore.static import (
    ColumnNames,
    check_change,
    check_point_key,
    check_range_key,
    check_selection,
    check_table_name,
)
from widerow.errors import InvalidRequest, Replan, WiderowError
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import ROW_PREFIX_BYTES, row_prefix
from widerow.limits import (
    BATCH_GET_BYTES_MAX,
    BATCH_GET_ROWS_MAX,
    INT64_MIN,
    RANGE_ROWS_MAX,
    READ_SLICE_ROWS,
    ROW_PAGE_BYTES_MAX,
)
from widerow.model.tablestore.answers import RangePage, RowOutcome, RowRead, RowWritten
from widerow.model.tablestore.condition import RowExpectation
from widerow.model.tablestore.requests import BatchGet, BatchWrite, GetRange, GetRow, TableGet
from widerow.model.tablestore.row import Modification, PrimaryKey, RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.selection import Resume, Selection
from widerow.model.values import KeyInput, KeyMarker, KeyValue, value_bytes
from widerow.rows.record import RecordKind
from widerow.safepoint import safepoint
from widerow.storage.interface import Outcome, Reader, Store, Transaction, Write

__all__ = ["RowOperations"]


class RowOperations:
    """Reading and writing rows of one engine. Any thread may call; nothing waits for a sync."""

    def __init__(
        self,
        store: Store,
        context: BodyContext,
        indexes: Indexes,
        names: ColumnNames,
        throttle: Throttle | None,
        pace: Callable[[Table], Pace | None],
    ) -> None:
        """`names`: the rule for names of columns; `throttle`: enforces reserved throughput.

        `pace`: gives the `Plan.pace` of writes to a table.
        """
        self._store = store
        self._brief = store.capabilities.reads_may_block  # whether brief snapshots cost less
        self._context = context
        self._tables = context.tables
        self._indexes = indexes
        self._names = names
        self._throttle = throttle
        self._pace = pace
        self._note = context.notes.add
        self._last_rule: ReadRule | None = None  # most reads have the selection of the read before

    # --- reads -------------------------------------------------------------------------------

    def _rule(self, table: Table, selection: Selection) -> ReadRule:
        options = table.options
        alive = INT64_MIN
        if options.time_to_live >= 0:
            alive = live_from(options, self._context.clock.now_us() // 1000)
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
        """GetRow (semantics §5). Raises `TooLong` where the read exceeds `budget`.

        Nothing is counted then, and the request may be repeated; so with all reads that take a
        budget. `reader`: what to read instead of the published view.
        """
        check_table_name(request.table)
        check_point_key(request.key, write=False)
        check_selection(request.selection, self._names)
        table = self._tables.find(instance, request.table)
        values = concrete(check_key(table, request.key))
        rule = self._rule(table, request.selection)
        shard = shard_of(table, values[0])
        key = key_in_shard(shard, values)
        partition_key = shard[ROW_PREFIX_BYTES:]
        if self._throttle is not None:
            self._throttle.read(table, partition_key)
        if reader is None:
            reader = self._store.brief_snapshot() if self._brief else self._store.snapshot()
        if table.index_of:
            reader = self._indexes.reading(table, reader)
        read = read_row(reader, key, values, rule, request.resume, budget)
        self.note_read(table, partition_key, read.read_units)
        return read

    def note_read(self, table: Table, partition_key: bytes, read_units: int) -> None:
        """Count a read for its partition and against the reserve.

        For reads of other features, too.
        """
        number = table.index_of if table.local_index else table.id
        self._note(number, partition_key, read_units, 0)
        if self._throttle is not None:
            self._throttle.charge_read(table, partition_key, read_units)

    def batch_get_row(
        self, instance: str, request: BatchGet, budget: Budget | None = None
    ) -> list[list[RowOutcome]]:
        """BatchGetRow: one list a table, one outcome a row, in order (semantics §5.5)."""
        if not request.tables:
            raise InvalidRequest(TablestoreRule.BATCH_GET_EMPTY)
        count = sum(len(table.keys) for table in request.tables)
        if count > BATCH_GET_ROWS_MAX:
            raise InvalidRequest(
                TablestoreRule.BATCH_GET_COUNT, limit=BATCH_GET_ROWS_MAX, count=count
            )
        for get in request.tables:
            check_table_name(get.table)
            check_selection(
                get.selection, self._names, TablestoreRule.VERSION_CONDITION_MISSING_IN_BATCH
            )
            for key in get.keys:
                check_point_key(key, write=False)
        store = self._store
        source = store.brief_snapshot() if self._brief else store.snapshot(), budget
        answered: list[list[RowOutcome]] = []
        notes: list[tuple[Table, KeyValue, int]] = []
        room = BATCH_GET_BYTES_MAX
        for get in request.tables:
            outcomes = self._get_rows(source, instance, get, room, notes)
            room -= sum(map(_row_bytes, outcomes))
            answered.append(outcomes)
        for table, value, read_units in notes:
            self.note_read(table, encode_key_value(value), read_units)
        return answered

    def _get_rows(
        self,
        source: tuple[Reader, Budget | None],
        instance: str,
        get: TableGet,
        room: int,
        notes: list[tuple[Table, KeyValue, int]],
    ) -> list[RowOutcome]:
        """The rows of one table; `notes` gets what is to be counted for them."""
        try:
            table = self._tables.find(instance, get.table)
            if table.index_of:
                source = self._indexes.reading(table, source[0]), source[1]
        except WiderowError as error:
            return [RowOutcome(error=error)] * len(get.keys)
        rule = self._rule(table, get.selection)
        found = [self._admitted(table, _checked(table, key)) for key in get.keys]
        keys = [row_key(table, values) for values in found if isinstance(values, tuple)]
        # Where each read is a round trip, reads wait anyway: other threads need no safepoint.
        together = len(keys) if self._store.capabilities.reads_may_block else READ_SLICE_ROWS
        records = iter(_records(source, keys, together))
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
        """The key of a row that may be read, or the error of the row."""
        if self._throttle is None or isinstance(values, WiderowError):
            return values
        try:
            self._throttle.read(table, encode_key_value(values[0]))
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
            raise InvalidRequest(TablestoreRule.RANGE_LIMIT, value=limit)
        table = self._tables.find(instance, request.table)
        first = check_key(table, start)
        bounds = range_bounds(table, first, check_key(table, end), direction)
        rule = self._rule(table, request.selection)
        if reader is None:
            # One row more than the page shows whether the range goes on.
            rows = 1 + (RANGE_ROWS_MAX if limit is None else limit)
            store = self._store
            reader = store.brief_snapshot(rows) if self._brief else store.snapshot()
        if table.index_of:
            reader = self._indexes.reading(table, reader)
        partition_key = _position(first[0])
        if self._throttle is not None:
            self._throttle.read(table, partition_key)
        page = read_range((reader, budget), table, bounds, rule, limit, request.resume)
        self.note_read(table, partition_key, page.read_units)
        return page

    # --- writes ------------------------------------------------------------------------------

    def write_row(self, instance: str, change: RowChange) -> Plan[RowWritten]:
        """PutRow, UpdateRow or DeleteRow, as `change.modification` says (semantics §4.1-4.7)."""
        check_change(change, self._names)
        planned = self._context.planned()
        table = self._tables.find(instance, change.table)
        write = self.row_body(table, row_prefix(table.id), change, planned)
        if planned.epoch < 0 and self._context.observers is None:
            return Plan((write,), single, _weight(change))
        plan = Plan((write,), single, _weight(change), lambda _: self.write_row(instance, change))
        if table.search or table.indexes:
            plan.pace = self._pace(table)
        return plan

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

    def _pace_of(self, writes: Sequence[RowBody]) -> Pace | None:
        """What the answer waits for, for the sake of any of the tables; None: for nothing."""
        tables: dict[int, Table] = {}
        for write in writes:
            if write.table.search or write.table.indexes:
                tables[write.table.id] = write.table
        return slowest([self._pace(table) for table in tables.values()]) if tables else None

    def _plan_rows(self, instance: str, request: BatchWrite) -> Plan[list[RowOutcome]]:
        """One write a row; the errors of rows that cannot be planned come in their places."""
        writes, errors = self._row_writes(instance, request)

        def finish(outcomes: Sequence[Outcome[RowWritten]]) -> list[RowOutcome]:
            settled = [_row_outcome(outcome) for outcome in outcomes]
            for place in sorted(errors):
                settled.insert(place, RowOutcome(error=errors[place]))
            return settled

        def again(outcomes: Sequence[Outcome[RowWritten]]) -> Plan[list[RowOutcome]]:
            """Plan the rows that ended with `Replan`; the other outcomes stay."""
            made = [None if _is_stale(each) else _row_outcome(each) for each in outcomes]
            for place in sorted(errors):
                made.insert(place, RowOutcome(error=errors[place]))
            rest = without(request, [outcome is not None for outcome in made])
            return self._plan_rows(instance, rest).answering(partial(filled, made))

        may_change = self._store.capabilities.shared or self._context.observers is not None
        plan = Plan(tuple(writes), finish, again=again if may_change else None)
        plan.pace = self._pace_of(writes)
        return plan

    def _row_writes(
        self, instance: str, request: BatchWrite
    ) -> tuple[list[RowBody], dict[int, WiderowError]]:
        """The writes of rows that can be planned, and the errors of the others by their places."""
        writes: list[RowBody] = []
        errors: dict[int, WiderowError] = {}
        planned = self._context.planned()
        for asked in request.tables:
            try:
                table = self._tables.find(instance, asked.table)
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
        """One write of one shard for all rows of a table: all of them are made, or none."""
        refused, together = self._rows_together(instance, request)

        def settled(outcomes: Sequence[Outcome[list[RowWritten]]]) -> list[RowOutcome | None]:
            """One outcome a row; None where a table is to be planned again."""
            made = refused.copy()
            for (places, _), outcome in zip(together, outcomes, strict=True):
                if not _is_stale(outcome):
                    for at, place in enumerate(places):
                        written = None if outcome.result is None else outcome.result[at]
                        made[place] = _row_outcome(Outcome(written, outcome.error))
            return made

        def finish(outcomes: Sequence[Outcome[list[RowWritten]]]) -> list[RowOutcome]:
            made = [outcome for outcome in settled(outcomes) if outcome is not None]
            if len(made) < len(refused):
                raise Replan
            return made

        def again(outcomes: Sequence[Outcome[list[RowWritten]]]) -> Plan[list[RowOutcome]]:
            """Plan the tables that ended with `Replan`; the other outcomes stay."""
            made = settled(outcomes)
            rest = without(request, [outcome is not None for outcome in made])
            return self._plan_atomic(instance, rest).answering(partial(filled, made))

        plan = Plan(tuple([_together(bodies) for _, bodies in together]), finish, again=again)
        plan.pace = self._pace_of([body for _, bodies in together for body in bodies])
        return plan

    def _rows_together(
        self, instance: str, request: BatchWrite
    ) -> tuple[list[RowOutcome | None], list[tuple[list[int], list[RowBody]]]]:
        """The errors of tables of which nothing can be made, and the rows of each other table.

        Errors stand in the places of their rows, and None in those of the others; the rows of a
        table come with their places.
        """
        refused: list[RowOutcome | None] = [None] * sum(
            [len(each.changes) for each in request.tables]
        )
        together: list[tuple[list[int], list[RowBody]]] = []
        for places, asked in by_table(request):
            bodies, failed = self._row_writes(instance, request._replace(tables=(asked,)))
            error = atomic_scope_error(asked.changes)
            if failed:
                error = error or failed[min(failed)]
            if error is None:
                together.append((places, bodies))
                continue
            for place in places:
                refused[place] = RowOutcome(error=error)
        return refused, together

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

        Raises `Conflict(KEY_LOCKED)` where a local transaction holds the key, unless the change is
        made `inside` that transaction.
        """
        if table.index_of:
            raise InvalidRequest(TablestoreRule.INDEX_WRITE, table=table.name)
        values = check_key(table, change.key)
        if table.indexes:
            self._indexes.observer.check(table, change)
        shard = prefix + encode_key_value(concrete(values)[0])
        if self._context.locks and not inside:
            check_unlocked(self._context.locks, shard, self._context.clock)
        if self._throttle is not None:
            self._admit_write(table, change, values, self._throttle)
        if table.auto_increment is not None:
            _check_auto_increment(table, change, values)
        return RowBody(self._context, table, change, values, shard, planned)

    def _admit_write(
        self, table: Table, change: RowChange, values: tuple[KeyInput, ...], throttle: Throttle
    ) -> None:
        """Take the units of a change from the reserve, before the change is queued."""
        partition_key = encode_key_value(concrete(values)[0])
        key_size = sum(
            len(column.name.encode()) + (8 if isinstance(value, KeyMarker) else value_bytes(value))
            for column, value in zip(table.key_columns, values, strict=True)
        )
        if change.condition.row is not RowExpectation.IGNORE or change.condition.columns:
            throttle.read(table, partition_key, units(key_size))
        throttle.write(table, partition_key, units(key_size + change.data_size))


def _position(value: KeyInput) -> bytes:
    """The encoded partition key value where a range begins; b"" and `END` for the table's ends."""
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
    """Whether an error of one row refuses the whole batch."""
    return isinstance(error, InvalidRequest) and error.rule is TablestoreRule.KEY_COLUMN_COUNT


def _records(
    source: tuple[Reader, Budget | None], keys: Sequence[bytes], together: int
) -> list[tuple[bytes, bytes | None]]:
    """The records of these keys, `together` at a time; other threads may run in between.

    Raises `TooLong` where the read exceeds the budget in `source`, if there is one.
    """
    reader, budget = source
    found: list[tuple[bytes, bytes | None]] = []
    for first in range(0, len(keys), together or 1):
        safepoint()
        part = keys[first : first + together]
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
        return RowOutcome(
            error=InvalidRequest(TablestoreRule.BATCH_GET_SIZE, limit=BATCH_GET_BYTES_MAX)
        )
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


def _is_stale(outcome: Outcome[Any]) -> bool:
    return isinstance(outcome.error, Replan)


def _together(rows: list[RowBody]) -> Write[list[RowWritten]]:
    """One write of one shard that makes all rows, or none."""

    def body(txn: Transaction) -> list[RowWritten]:
        return [row.run(txn) for row in rows]

    def settled(made: list[RowWritten]) -> None:
        for row, written in zip(rows, made, strict=True):
            row.settle(written)

    frees = all(row.frees for row in rows)
    return Write(rows[0].shards, body, settled=settled, reads=rows[0].reads, frees=frees)


def _weight(change: RowChange) -> int:
    return len(change.key.encoded) + change.body_bytes + 100


def _check_auto_increment(table: Table, change: RowChange, values: tuple[KeyInput, ...]) -> None:
    """The rules of writes to a table with an auto-increment column (semantics §4.7)."""
    assert table.auto_increment is not None
    expectation = change.condition.row
    if values[table.auto_increment] is not KeyMarker.AUTO_INCREMENT:
        if expectation is RowExpectation.EXPECT_NOT_EXIST:
            raise InvalidRequest(
                TablestoreRule.AUTO_INCREMENT_SPECIFIC, expectation=expectation.name
            )
        return
    if change.modification is Modification.DELETE:
        raise InvalidRequest(TablestoreRule.AUTO_INCREMENT_DELETE)
    if expectation is not RowExpectation.IGNORE:
        raise InvalidRequest(
            TablestoreRule.AUTO_INCREMENT_EXPECTATION, expectation=expectation.name
        )
    if change.condition.columns is not None:
        raise InvalidRequest(TablestoreRule.AUTO_INCREMENT_CONDITION)
