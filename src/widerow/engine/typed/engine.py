"""The operations of typed tables, by their vendor's names in Python's style (model §5-§10).

Any thread may call. Reads answer at once from the published view; writes answer a `Plan`, which the
caller commits. A plan may be followed by another one (`concluded`): where a write needs a block of
identity values first, and where its table got an index after the write was planned.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Final, TypeVar

from widerow.engine.budget import Budget
from widerow.engine.capacity import units
from widerow.engine.chores import ChoreLine
from widerow.engine.engine import Engine, OpenModel, TableListing
from widerow.engine.index_builds import IndexBuilds
from widerow.engine.intents import IntentQueue
from widerow.engine.lag import Lag
from widerow.engine.observer import Observers, RowObserver
from widerow.engine.plan import Plan, failing, single, slowest
from widerow.engine.scan import RowAccess, ScannedRow
from widerow.engine.typed.access import SCAN_PAGE_ROWS, scan_by_index, select_by_key
from widerow.engine.typed.change_rows import ChangedTypedRow, RowChanger, change_selected
from widerow.engine.typed.execute import check_one_sequence, run_sequence
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.identity import BlockNeeded, MadeValues
from widerow.engine.typed.index_applier import TypedEntryApplier
from widerow.engine.typed.index_builds import TypedBuilds
from widerow.engine.typed.index_keeper import IndexKeeper
from widerow.engine.typed.multi_delete import DeletedRows, delete_selected
from widerow.engine.typed.prepare import prepare
from widerow.engine.typed.row_pages import RowPages
from widerow.engine.typed.scan import MultiRowSelection, scan_rows, select_rows
from widerow.engine.typed.single_rows import HOUR_MS, WRITE_BYTES, SingleRows
from widerow.engine.typed.stored import Key, StoredRow
from widerow.engine.typed.sweep import TypedSweep
from widerow.engine.typed.tables import TypedTables
from widerow.engine.typed.write import HOUR_US, TypedRowWrite, WriteResult
from widerow.errors import Conflict, InvalidRequest
from widerow.keys.layout import PLAN_ID_KEY, ROW_PREFIX_BYTES, sequence_prefix
from widerow.limits import REMOTE_PAGE_ROWS_MAX
from widerow.model.typed.json_rows import dumps, value_to_json
from widerow.model.typed.requests import Direction, FieldRange, WriteChoice
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TypedTable
from widerow.rows.typed import typed_table_and_expiry
from widerow.storage.interface import Outcome, Transaction, Write

__all__ = ["PAGE_ROWS_DEFAULT", "MultiRow", "TypedEngine"]

T = TypeVar("T")

PAGE_ROWS_DEFAULT: Final = 100  # of an iterator: rows of one page, which is read from one view


@dataclass(frozen=True, slots=True)
class MultiRow:
    """The rows that a multi-row operation asks for: those of a partial key.

    `field_range`: bounds of the key column behind it. `ancestors`, `children`: tables of the same
    hierarchy whose rows are included.
    """

    key: Mapping[str, Any]
    field_range: FieldRange | None = None
    ancestors: tuple[TableForm, ...] = ()
    children: tuple[TableForm, ...] = ()


class TypedEngine(OpenModel[TableForm]):
    """Typed tables of one open store. For any thread; no method waits for a sync."""

    name: ClassVar[str] = "nosql"
    index_word: ClassVar[str] = "typed index"
    tables: TypedTables  # type: ignore[mutable-override]  # assigned once

    def __init__(
        self, core: Engine, observers: Sequence[RowObserver[TableForm, StoredRow]] = ()
    ) -> None:
        """The typed tables of `core`. Raises `StoreDamaged` if they are not readable.

        `observers`: are told of changes of rows behind the keeper of indexes.
        """
        store, clock = core.store, core.clock
        can = store.capabilities
        queue = None if can.atomic_across_shards else IntentQueue(clock, core.entropy)
        self.core = core
        self.store = store
        self.tables = TypedTables(core.catalog)
        self.keeper = IndexKeeper(queue, can.key_bytes_max)
        self.observers: Observers[TableForm] = Observers((self.keeper, *observers))
        self._clock = clock
        self._note_load = core.partitions.note_load
        self._note_expiry = core.sweep.note  # of a durable row: its top table, and the hour
        self._rows = SingleRows(
            *(store, self.tables, clock, core.entropy, self.observers),
            *(self._note_load, self._note_expiry),
        )
        self._pages = RowPages(store, self.now_hour, self._rows.note)
        self.sweep = TypedSweep(self.tables, clock, self.observers)
        self.build_source = TypedBuilds(self, clock, core.nodes.settled)
        self.builds = IndexBuilds(self.build_source)
        self._applier = TypedEntryApplier(store, self.tables, clock, self.keeper, core.lease)
        self.chores = {
            ChoreLine.ENTRIES: (self._applier.step,) if self.keeper.deferred else (),
            ChoreLine.CLEANING: (self.builds.step,),
        }

    # --- what the core asks ------------------------------------------------------------------

    def pause(self, seconds: float, line: ChoreLine) -> float:
        """Seconds until entries of indexes are due."""
        return self._applier.pause(seconds) if line is ChoreLine.ENTRIES else seconds

    def tables_behind(self) -> Iterable[int]:
        """Hierarchies of tables with an index that is far behind, by their top tables."""
        return self._applier.tables_behind()

    def _paced(self, plan: Plan[T], *forms: TableForm) -> Plan[T]:
        """A plan of writes to these tables, with what its answer waits for."""
        if self.keeper.deferred:
            tops = {form.table.top for form in forms if form.table.indexes}
            plan.pace = slowest([self.core.entry_pace.of(top) for top in tops])
        return plan

    def index_lags(self) -> list[Lag]:
        """How far each index is behind; 0 where entries are written with their rows."""
        return self._applier.lags()

    def listed(self) -> Iterable[TableListing]:
        """Every table, with its namespace as its owner."""
        for form in self.tables.all():
            owner, name = form.table.shown_namespace, form.table.name
            yield TableListing(owner, name, f"{owner}:{name}")

    def find_partitioned(self, owner: str, address: str) -> TypedTable | None:
        """The top table of `[namespace]:table`, whose partitions are those of its hierarchy."""
        form = self.tables.get_qualified(address) if ":" in address else None
        if form is None or form.table.shown_namespace.lower() != owner.lower():
            return None
        top = self.tables.by_id(form.table.top)
        assert top is not None  # a table with children cannot be dropped
        return top.table

    def scan(self, table: TableForm, access: RowAccess, after: bytes = b"") -> Iterator[ScannedRow]:
        """Rows of one table of a hierarchy; by an index in the order of its entries.

        Raises also `Conflict` while the index is being built, `Exhausted` where it is too far
        behind its table.
        """
        if access.index:
            return scan_by_index(self.store, table, access, self.now_hour, after)
        selection = select_by_key(table, access, after)
        rows = self._pages.rows(selection, SCAN_PAGE_ROWS, reverse=access.reverse)
        return map(_scanned, rows)

    # --- tables ------------------------------------------------------------------------------

    def create_table(self, table: TypedTable) -> Plan[TypedTable]:
        """Create a table that `TableBuilder` made. Raises `Conflict`, `NotFound`."""
        return Plan((self.tables.create_typed(table, self._clock.now_us()),), _definition)

    def alter_table(self, form: TableForm, changed: TypedTable) -> Plan[TypedTable]:
        """Put what `TableEvolver` made of a table.

        An identity column whose start was changed goes on from the new start. Its plan raises
        `Conflict` if the table was changed since the evolver took it.
        """

        def make(newest: TypedTable) -> TypedTable:
            if newest.revision != changed.revision:
                raise Conflict(TypedRule.EVOLVE_STALE, table=newest.qualified)
            return changed

        restart = _start(form.table) != _start(changed)
        together = restart and self.store.capabilities.atomic_across_shards
        due_us = self._due_us()
        write = self.tables.change_typed(form, make, due_us=due_us, restart_sequence=together)
        if not restart:
            return Plan((write,), _definition)
        writes: tuple[Write[Any], ...] = (write,)
        if not together:
            writes = (write, self._restart(form, changed))

        def finish(outcomes: Sequence[Outcome[Any]]) -> TypedTable:
            failing(outcomes)
            self._rows.generator.restart(form.id)
            return _definition(outcomes)

        return Plan(writes, finish)

    def _restart(self, form: TableForm, changed: TypedTable) -> Write[None]:
        """The write that lets the identity column of a changed table begin at its new start.

        It follows the change of the table where transactions of the store hold one shard. A crash
        between the two leaves the column to go on with the values that it had.
        """
        key = sequence_prefix(form.id)

        def body(txn: Transaction) -> None:
            if _start(self.tables.current(form).table) == _start(changed):
                txn.delete(key)

        return Write((key,), body)

    def _due_us(self) -> int:
        return self.tables.catalog.due_us(self._clock.now_us())

    def change_table(
        self, form: TableForm, make: Callable[[TypedTable], TypedTable]
    ) -> Plan[TypedTable]:
        """Replace the newest definition by what `make` makes of it: for indexes."""
        write = self.tables.change_typed(form, make, due_us=self._due_us())
        return Plan((write,), _definition)

    def drop_table(self, form: TableForm) -> Plan[None]:
        """Drop a table. Its rows are gone when the plan ends; housekeeping frees their space.

        Raises: `InvalidRequest` while it has children.
        """
        return Plan((self.tables.drop_typed(form, due_us=self._due_us()),), failing)

    def create_namespace(self, name: str) -> Plan[None]:
        """Create a namespace. Raises `InvalidRequest` for its name; its plan raises `Conflict`."""
        return Plan((self.tables.create_namespace(name),), failing)

    def drop_namespace(self, name: str) -> Plan[None]:
        """Drop a namespace. Its plan raises `NotFound`, or `Conflict` while it has tables."""
        return Plan((self.tables.drop_namespace(name),), failing)

    def next_plan_id(self) -> Plan[int]:
        """The next number of the store's sequence of plans, from 1."""

        def body(txn: Transaction) -> int:
            record = txn.get(PLAN_ID_KEY)
            number = 1 if record is None else int.from_bytes(record, "big")
            txn.put(PLAN_ID_KEY, (number + 1).to_bytes(8, "big"))
            return number

        return Plan((Write((PLAN_ID_KEY,), body),), single)

    # --- single rows -------------------------------------------------------------------------

    def get(self, form: TableForm, key: Mapping[str, Any]) -> StoredRow | None:
        """The row of a whole key, or None (model §5)."""
        return self._rows.get(form, key)

    def stored_row(
        self, form: TableForm, key: bytes, budget: Budget | None = None
    ) -> StoredRow | None:
        """The row of a stored key, or None. Raises `TooLong` where it is more than `budget`."""
        return self._rows.stored(form, form.key.shard_of(key), key, budget)

    def write(self, form: TableForm, choice: WriteChoice) -> Plan[WriteResult]:
        """Put or delete one row, as `choice.kind` says (model §5)."""
        return self._paced(self._rows.write(form, choice), form)

    # --- several rows ------------------------------------------------------------------------

    def multi_get(self, form: TableForm, rows: MultiRow) -> list[StoredRow]:
        """Rows of one shard as one view shows them, in key order (model §6).

        Raises: `InvalidRequest` unless the whole shard key is given.
        """
        selection = self._select(form, rows)
        if selection.leading < form.key.shard_length:
            raise InvalidRequest(TypedRule.MULTI_GET_SHARD)
        found = self._pages.briefly(
            selection,
            REMOTE_PAGE_ROWS_MAX,
            lambda reader: list(scan_rows(reader, selection, self.now_hour())),
        )
        size = sum(len(row.record) for row in found)
        self._rows.note(form.key.shard_of(selection.start), size)
        return found

    def multi_get_keys(self, form: TableForm, rows: MultiRow) -> list[Key]:
        """The keys of the rows that `multi_get` returns."""
        return [row.key for row in self.multi_get(form, rows)]

    def iterate(
        self, form: TableForm, rows: MultiRow, direction: Direction, batch_rows: int
    ) -> Iterator[StoredRow]:
        """Rows of any partial key, in pages of `batch_rows`, each from the newest view (model §6).

        Raises: `InvalidRequest`, before the first row is asked for.
        """
        if batch_rows < 0:
            raise InvalidRequest(TypedRule.BATCH_SIZE)
        selection = self._select(form, rows)
        reverse = direction is Direction.REVERSE
        return self._pages.rows(selection, batch_rows or PAGE_ROWS_DEFAULT, reverse=reverse)

    def scan_selection(
        self,
        selection: MultiRowSelection,
        batch_rows: int,
        *,
        reverse: bool = False,
        budget: Budget | None = None,
    ) -> Iterator[StoredRow]:
        """The rows of a selection in key order, in pages that are each read from a view of its own.

        Memory: `batch_rows` rows. Raises `TooLong` where the records are more than `budget`.
        """
        return self._pages.rows(selection, batch_rows, reverse=reverse, budget=budget)

    def counted(self, form: TableForm, rows: Iterator[StoredRow]) -> Iterator[StoredRow]:
        """The rows that an index led to, each counted at its own shard when it is taken."""
        return map(partial(self._counted, form), rows)

    def _counted(self, form: TableForm, row: StoredRow) -> StoredRow:
        self._rows.note(form.key.shard_of(row.encoded_key), len(row.record))
        return row

    def multi_delete(self, form: TableForm, rows: MultiRow) -> Plan[int]:
        """Delete rows of one shard in one transaction; the plan's answer is how many (model §6).

        Raises: `InvalidRequest` unless the whole shard key is given.
        """
        return self.delete_part(form, rows, 0).answering(lambda gone: gone.rows)

    def delete_part(
        self, form: TableForm, rows: MultiRow, kilobytes_max: int, after: bytes = b""
    ) -> Plan[DeletedRows]:
        """Delete rows of one shard in one transaction, up to a bound of kilobytes; 0: none.

        `after`: the key behind which it goes on, as `DeletedRows.last` told it.
        Raises: `InvalidRequest` unless the whole shard key is given, and `after` is among its rows.
        """
        selection = self._select(form, rows)
        if selection.leading < form.key.shard_length:
            key = _partial_json(form, form.leading(_key_of(rows.key)))
            raise InvalidRequest(TypedRule.MULTI_DELETE_SHARD, key=key)
        shard = form.key.shard_of(selection.start)
        if after:
            if not selection.start <= after < selection.stop:
                raise InvalidRequest(TypedRule.CONTINUATION)
            selection = selection.since(after, reverse=False)
        shards = self._rows.shards_of_all(shard, (*selection.shown.values(), *selection.ancestors))

        planned = self.tables.catalog.planned()

        def body(txn: Transaction) -> DeletedRows:
            for shown in selection.shown.values():
                self._rows.current(shown, txn, planned)
            now = self.now_hour()
            return delete_selected(txn, shard, selection, now, self.observers, kilobytes_max)

        def again(_: Sequence[Outcome[Any]]) -> Plan[DeletedRows]:
            ancestors = tuple(map(self.tables.current, rows.ancestors))
            children = tuple(map(self.tables.current, rows.children))
            newest = replace(rows, ancestors=ancestors, children=children)
            return self.delete_part(self.tables.current(form), newest, kilobytes_max, after)

        write = self._rows.reading(
            Write(shards, body, settled=partial(self._note_deleted, form, shard), frees=True),
            *selection.shown.values(),
            *selection.ancestors,
        )
        return self._paced(Plan((write,), single, again=again), *selection.shown.values())

    def change_rows(
        self, shard: bytes, selections: Sequence[MultiRowSelection], decide: RowChanger
    ) -> Plan[list[ChangedTypedRow]]:
        """Change rows of one table and one shard by a function of each, in one transaction.

        `decide` runs in the transaction, and again where that runs again: it keeps nothing.
        Its plan raises what `decide` raises, `InvalidRequest`, `NotFound`.
        """
        form = selections[0].target
        shards = self._rows.shards(shard, form)
        planned = self.tables.catalog.planned()

        def body(txn: Transaction) -> list[ChangedTypedRow]:
            current = self._rows.current(form, txn, planned)
            newest = [_renewed(each, current) for each in selections]
            return change_selected(txn, shard, newest, decide, self._rows.moment, self.observers)

        def again(_: Sequence[Outcome[Any]]) -> Plan[list[ChangedTypedRow]]:
            current = self.tables.current(form)
            newest = [_renewed(each, current) for each in selections]
            return self.change_rows(shard, newest, decide)

        settled = partial(self._note_changed, form, shard)
        write = self._rows.reading(Write(shards, body, settled=settled), form)
        return self._paced(Plan((write,), single, again=again), form)

    def _note_changed(self, form: TableForm, shard: bytes, changed: list[ChangedTypedRow]) -> None:
        rows = size = written = 0
        for old, new in changed:
            size -= len(old.record)
            if new is None:
                rows -= 1
                size -= len(old.encoded_key)
                continue
            size += len(new.record)
            written += units(len(new.record))
            if new.expires_ms:
                self._note_expiry(form.table.top, new.expires_ms // HOUR_MS)
        key = shard[ROW_PREFIX_BYTES:]
        reads = units(sum(len(old.record) for old, _ in changed))
        self._note_load(form.table.top, key, reads, written - rows, rows, size)

    def _note_deleted(self, form: TableForm, shard: bytes, gone: DeletedRows) -> None:
        key = shard[ROW_PREFIX_BYTES:]
        reads = units(gone.size)
        self._note_load(form.table.top, key, reads, gone.rows, -gone.rows, -gone.size)

    def execute(
        self, operations: Sequence[tuple[TableForm, WriteChoice]]
    ) -> Plan[list[WriteResult]]:
        """Write rows of one shard key in order, all or none (model §7); each with its table.

        Raises: `InvalidRequest`; its plan raises `OperationFailed`.
        """
        plan = self._plan_sequence(operations, MadeValues(self._rows.generator))
        return self._paced(plan, *[form for form, _ in operations])

    def _plan_sequence(
        self, operations: Sequence[tuple[TableForm, WriteChoice]], values: MadeValues
    ) -> Plan[list[WriteResult]]:
        def again(_: Sequence[Outcome[Any]]) -> Plan[list[WriteResult]]:
            newest = [(self.tables.current(form), choice) for form, choice in operations]
            return self._plan_sequence(newest, values)

        planned = self.tables.catalog.planned()
        values.from_first()
        try:
            writes = [prepare(form, choice, values) for form, choice in operations]
        except BlockNeeded as needed:
            return self._rows.plan_block(needed, again)
        check_one_sequence(writes)
        shard = writes[0].shard
        forms = {write.form.id: write.form for write in writes}
        shards = self._rows.shards_of_all(shard, forms.values())

        def body(txn: Transaction) -> list[WriteResult]:
            current = [(write, self._rows.current(write.form, txn, planned)) for write in writes]
            moments = [self._rows.moment() for _ in writes]
            return run_sequence(txn, current, moments, self.observers)

        size = sum([write.size + WRITE_BYTES for write in writes])
        write = self._rows.reading(
            Write(shards, body, settled=partial(self._note_sequence, writes)), *forms.values()
        )
        return Plan((write,), single, size, again)

    def _note_sequence(self, writes: Sequence[TypedRowWrite], results: list[WriteResult]) -> None:
        for write, result in zip(writes, results, strict=True):
            self._rows.note_write(write, result)

    def scan_from(self, form: TableForm, start: bytes, limit: int) -> list[StoredRow]:
        """Up to `limit` rows of one table with keys from `start` on (b"": all), expired ones too.

        For work in steps, such as building an index; the next step starts behind the last key.
        """
        first, stop = form.key.range()
        found: list[StoredRow] = []
        for key, record in self.store.snapshot().scan(max(first, start), stop):
            if typed_table_and_expiry(record)[0] == form.table.id:
                found.append(StoredRow(form, key, record))
                if len(found) == limit:
                    break
        return found

    def _select(self, form: TableForm, rows: MultiRow) -> MultiRowSelection:
        return select_rows(form, _key_of(rows.key), rows.field_range, rows.ancestors, rows.children)

    def now_hour(self) -> int:
        """The hours since 1970: reads do not show rows whose expiry hour is this one or earlier."""
        return self._clock.now_us() // HOUR_US


def _renewed(selection: MultiRowSelection, form: TableForm) -> MultiRowSelection:
    """A selection of one table, of the newest form of that table."""
    if selection.target is form:
        return selection
    return replace(selection, target=form, shown={form.id: form})


def _scanned(row: StoredRow) -> ScannedRow:
    return ScannedRow(row, row.encoded_key[ROW_PREFIX_BYTES:])


def _definition(outcomes: Sequence[Outcome[TableForm]]) -> TypedTable:
    return single(outcomes).table


def _key_of(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return given.key if isinstance(given, StoredRow) else given


def _start(table: TypedTable) -> int | None:
    made = table.generated
    return None if made is None or made.identity is None else made.identity.start


def _partial_json(form: TableForm, values: Sequence[Any]) -> str:
    columns = zip(form.table.primary_key, values, form.table.key_types, strict=False)
    return dumps({name: value_to_json(value, kind) for name, value, kind in columns})
