"""Reading and writing single rows of typed tables, and what every write of rows has (model §5).

A plan may be followed by another one: where a write needs a block of identity values first, and
where its table got an index after the write was planned.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar, final

from widerow.clock import Clock, Entropy
from widerow.engine.budget import Budget
from widerow.engine.capacity import units
from widerow.engine.observer import LoadRecorder, Observers
from widerow.engine.plan import Plan, PlanAgain, failing, single
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.identity import BlockNeeded, Generator, MadeValues
from widerow.engine.typed.prepare import prepare
from widerow.engine.typed.stored import StoredRow
from widerow.engine.typed.tables import TypedTables
from widerow.engine.typed.write import HOUR_US, Moment, TypedRowWrite, WriteResult, write_typed_row
from widerow.errors import Replan
from widerow.keys.layout import ROW_PREFIX_BYTES
from widerow.model.typed.requests import WriteChoice
from widerow.rows.typed import typed_table_and_expiry
from widerow.storage.interface import Outcome, Store, Transaction, Write

__all__ = ["HOUR_MS", "WRITE_BYTES", "SingleRows"]

T = TypeVar("T")

HOUR_MS: Final = 3_600_000
WRITE_BYTES: Final = 100  # of a waiting write beside its key and its values, about


@final
class SingleRows:
    """The single rows of the typed tables of one store. For any thread; nothing waits for a sync.

    `generator`: makes identity values and UUIDs.
    """

    def __init__(
        self,
        store: Store,
        tables: TypedTables,
        clock: Clock,
        entropy: Entropy,
        observers: Observers[TableForm],
        note_load: LoadRecorder,
        note_expiry: Callable[[int, int], None],
    ) -> None:
        """Rows of `tables`. `note_load`: counts the load of a shard.

        `note_expiry`: is told the top table of a durable row, and the hour at which it expires.
        """
        self.generator = Generator(entropy)
        self._store = store
        self._tables = tables
        self._clock = clock
        self._observers = observers
        self._note_load = note_load
        self._note_expiry = note_expiry
        # Versions are unique for ever: eight random bytes of this process, a count of its writes.
        self._session = entropy.token_bytes(8)
        self._writes = 0

    def get(self, form: TableForm, key: Mapping[str, Any]) -> StoredRow | None:
        """The row of a whole key, or None (model §5)."""
        values = form.complete(key.key if isinstance(key, StoredRow) else key)
        shard, encoded = form.row_key(values)
        return self.stored(form, shard, encoded)

    def stored(
        self, form: TableForm, shard: bytes, key: bytes, budget: Budget | None = None
    ) -> StoredRow | None:
        """The row of a stored key, or None. Raises `TooLong` where it is more than `budget`."""
        record = self._store.brief_snapshot().get(key)  # its first read never raises `ViewLost`
        size = 0 if record is None else len(record)
        if budget is not None:
            budget.take(size, 1)
        self.note(shard, size)
        if (
            record is None
            or 0 < typed_table_and_expiry(record)[1] <= self._clock.now_us() // HOUR_US
        ):
            return None
        return StoredRow(form, key, record)

    def write(self, form: TableForm, choice: WriteChoice) -> Plan[WriteResult]:
        """Put or delete one row, as `choice.kind` says (model §5)."""
        return self._plan_write(form, choice, MadeValues(self.generator))

    def _plan_write(
        self, form: TableForm, choice: WriteChoice, values: MadeValues
    ) -> Plan[WriteResult]:
        def again(_: Sequence[Outcome[Any]]) -> Plan[WriteResult]:
            return self._plan_write(self._tables.current(form), choice, values)

        planned = self._tables.catalog.planned()
        try:
            write = prepare(form, choice, values.from_first())
        except BlockNeeded as needed:
            return self.plan_block(needed, again)
        return Plan((self._row_write(write, planned),), single, write.size + WRITE_BYTES, again)

    def plan_block(self, needed: BlockNeeded, again: PlanAgain[T]) -> Plan[T]:
        """Reserve a block of identity values; `again` plans the operation that needs them."""

        def check(txn: Transaction) -> None:
            self._tables.current(needed.form, txn)

        def finish(outcomes: Sequence[Outcome[Any]]) -> T:
            failing(outcomes)
            raise Replan

        write = self.reading(self.generator.reserve(needed, check))
        return Plan((write,), finish, again=again, prepares=True)

    def reading(self, write: Write[T], *forms: TableForm) -> Write[T]:
        """Note on a write the keys that its body reads for the catalogue and for observers."""
        write.reads = self._tables.catalog.reads
        for form in forms:
            write.reads += self._observers.of(form).reads
        return write

    def _row_write(self, write: TypedRowWrite, planned: int) -> Write[WriteResult]:
        shards = self.shards(write.shard, write.form)
        body = partial(self._write_body, write, planned)
        return self.reading(
            Write(
                shards,
                body,
                settled=partial(self.note_write, write),
                frees=write.values is None,
            ),
            write.form,
        )

    def _write_body(self, write: TypedRowWrite, planned: int, txn: Transaction) -> WriteResult:
        form = self.current(write.form, txn, planned)
        return write_typed_row(txn, write, form, self.moment(), self._observers.of(form))

    def current(self, form: TableForm, txn: Transaction, planned: int) -> TableForm:
        """The table as it is when a body runs that was planned with `form`.

        Raises `NotFound` when the table is gone, and `Replan` when it got an index since the write
        was planned: the shards that a write may touch are fixed by its plan.
        """
        current = self._tables.current(form, txn, planned)
        if current is not form and not self._observers.of(form).covers(self._observers.of(current)):
            raise Replan
        return current

    def moment(self) -> Moment:
        """The time, and a version that no other write has."""
        self._writes += 1
        return Moment(self._clock.now_us(), self._session + self._writes.to_bytes(8, "big"))

    def shards(self, shard: bytes, form: TableForm) -> tuple[bytes, ...]:
        """The shards that a write to `shard` may touch: its own, and what observers keep true."""
        watch = self._observers.of(form)
        return (shard, *watch.beside(shard)) if watch else (shard,)

    def shards_of_all(self, shard: bytes, forms: Iterable[TableForm]) -> tuple[bytes, ...]:
        """The shards that writes to `shard` in several tables may touch, each once."""
        return tuple(dict.fromkeys([each for form in forms for each in self.shards(shard, form)]))

    def note_write(self, write: TypedRowWrite, result: WriteResult) -> None:
        """Count a durable write, and tell when its row expires."""
        if result.expires_ms:
            self._note_expiry(write.form.table.top, result.expires_ms // HOUR_MS)
        self._note_load(
            write.form.table.path[0],
            write.shard[ROW_PREFIX_BYTES:],
            0,
            units(write.size),
            result.rows,
            result.size,
        )

    def note(self, shard: bytes, read: int) -> None:
        """Count a read of so many bytes of a shard."""
        table_id = int.from_bytes(shard[1:ROW_PREFIX_BYTES], "big")
        self._note_load(table_id, shard[ROW_PREFIX_BYTES:], units(read), 0)
