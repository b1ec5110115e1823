"""Giving space back: expired rows, and what dropped typed tables left behind (design §6).

Reads hide expired rows at once; here they are found and removed in small steps, a few hundred
records of the published view at a time. Each is read again inside its transaction, so a row that
was written meanwhile stays.

A hierarchy of tables is looked through once after opening, and then when the first hour comes at
which one of its rows expires: the pass before found that hour, and writes since have noted theirs.
A pass that removed something is followed by one in the next hour, which finds what was refused.
So tables whose rows live for ever are read once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from widerow.clock import Clock
from widerow.engine.catalog.draft import Draft
from widerow.engine.catalog.state import Leftover
from widerow.engine.plan import Plan, failing
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.model import shard_end
from widerow.engine.typed.observer import LoadRecorder, RowObserver
from widerow.engine.typed.stored import StoredRow
from widerow.engine.typed.tables import TypedTables
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES, row_prefix
from widerow.rows.typed import typed_table_and_expiry
from widerow.storage.interface import Outcome, Store, Transaction, Write

__all__ = ["TypedReclaimed", "TypedSweep"]

STEP_RECORDS: Final = 500  # read in one step: about half a millisecond
_HOUR_US: Final = 3_600_000_000


@dataclass(slots=True)
class TypedReclaimed:
    """What has been given back since the engine was opened."""

    records_examined: int = 0
    rows_removed: int = 0
    tables_dropped: int = 0


class TypedSweep:
    """Where the sweep stands. Used by one caller at a time."""

    def __init__(
        self,
        tables: TypedTables,
        store: Store,
        clock: Clock,
        observer: RowObserver | None,
        note_load: LoadRecorder | None,
    ) -> None:
        """Nothing swept yet. `note_load` hears by how much tables shrink."""
        self.reclaimed = TypedReclaimed()
        self._tables = tables
        self._store = store
        self._clock = clock
        self._observer = observer
        self._note_load = note_load
        self._positions: dict[int, bytes] = {}  # top table -> where its running pass goes on
        self._expiring: dict[int, int] = {}  # top table -> the first hour at which a row expires
        self._passed: set[int] = set()  # top tables that were looked through since opening
        self._noted: set[tuple[int, int]] = set()  # by writers, on their thread

    def note(self, top: int, expiry_hour: int) -> None:
        """A row of the hierarchy was written that expires then. Any thread."""
        self._noted.add((top, expiry_hour))

    def step(self) -> Plan[None] | None:
        """The next step: what was dropped first, then expired rows; None when nothing is due."""
        leftover = next(iter(self._tables.leftovers()), None)
        if leftover is not None:
            return self._clear(leftover)
        while self._noted:
            self._expires(*self._noted.pop())
        form = next((form for form in self._tables.all() if self._due(form)), None)
        return None if form is None else self._expire(form)

    # --- what was dropped --------------------------------------------------------------------

    def _clear(self, leftover: Leftover) -> Plan[None]:
        """Rows among other tables' are looked for in steps; then the ranges, then the note."""
        if leftover.top and not self._all_seen(leftover):
            return self._clear_rows(leftover)
        removed = False

        def remove(txn: Transaction) -> None:
            for prefix in leftover.prefixes:
                txn.delete_range(prefix, after_prefix(prefix))

        def gone(_: None) -> None:
            nonlocal removed
            removed = True

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            failing(outcomes)
            self._positions.pop(-leftover.id, None)
            self.reclaimed.tables_dropped += 1

        def note_gone(draft: Draft) -> None:
            if removed:
                draft.forget(leftover)

        forget = self._tables.catalog.change(note_gone)
        return Plan((Write(leftover.prefixes, remove, alone=True, settled=gone), forget), finish)

    def _all_seen(self, leftover: Leftover) -> bool:
        """Whether every record of the hierarchy was looked at since this process began."""
        return self._positions.get(-leftover.id, b"") == after_prefix(row_prefix(leftover.top))

    def _clear_rows(self, leftover: Leftover) -> Plan[None]:
        """A step through the hierarchy of a dropped child table."""
        prefix = row_prefix(leftover.top)
        stop = after_prefix(prefix)
        start = self._positions.get(-leftover.id, prefix)
        writes: list[Write[Any]] = []
        count = 0
        following = stop
        for key, record in self._store.snapshot().scan(start, stop):
            if count == STEP_RECORDS:
                following = key
                break
            count += 1
            if typed_table_and_expiry(record)[0] == leftover.id:
                count_it = partial(self._shrunk, leftover.top, key)
                writes.append(Write((key,), partial(_remove, key), settled=count_it))
        self.reclaimed.records_examined += count

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            failing(outcomes)
            self._positions[-leftover.id] = following

        return Plan(tuple(writes), finish)

    # --- what has expired --------------------------------------------------------------------

    def _due(self, form: TableForm) -> bool:
        """Whether a hierarchy's pass is running or due; passes go by top tables."""
        top = form.table.id
        if form.table.parent is not None:
            return False
        if top in self._positions or top not in self._passed:
            return True
        expires = self._expiring.get(top)
        return expires is not None and expires <= self._clock.now_us() // _HOUR_US

    def _expires(self, top: int, hour: int) -> None:
        self._expiring[top] = min(hour, self._expiring.get(top, hour))

    def _expire(self, form: TableForm) -> Plan[None]:
        top = form.table.id
        prefix = row_prefix(top)
        now_hour = self._clock.now_us() // _HOUR_US
        writes: list[Write[Any]] = []
        count = 0
        start = self._positions.get(top)
        if start is None:  # a new pass finds out anew when rows expire
            start = prefix
            self._expiring.pop(top, None)
        for key, record in self._store.snapshot().scan(start, after_prefix(prefix)):
            if count >= STEP_RECORDS:
                self._positions[top] = key
                break
            count += 1
            table_id, expiry_hour = typed_table_and_expiry(record)
            owner = self._tables.by_id(table_id)
            if expiry_hour > now_hour:
                self._expires(top, expiry_hour)
            elif expiry_hour and owner is not None:
                writes.append(self._removal(owner, key))
                self._expires(top, now_hour + 1)  # look again, should the removal not succeed
        else:
            self._positions.pop(top, None)
            self._passed.add(top)
        self.reclaimed.records_examined += count
        return Plan(tuple(writes), failing)

    def _removal(self, form: TableForm, key: bytes) -> Write[int]:
        observer = self._observer if form.table.indexes else None
        shards = (key,) if observer is None else (key, *observer.shards(form))

        def body(txn: Transaction) -> int:
            current = self._tables.by_id(form.table.id)
            record = txn.get(key)
            if record is None or current is None:
                return 0  # gone, or its table was dropped since: its rows go with it
            expiry_hour = typed_table_and_expiry(record)[1]
            if not 0 < expiry_hour <= self._clock.now_us() // _HOUR_US:
                return 0
            if observer is not None and current.table.indexes == form.table.indexes:
                observer.changed(txn, current, key, (StoredRow(current, key, record), None))
            elif current.table.indexes:
                return 0  # an index came up meanwhile: the next pass knows it
            txn.delete(key)
            return len(key) + len(record)

        return Write(shards, body, settled=partial(self._count, form.table.top, key))

    def _count(self, top: int, key: bytes, size: int) -> None:
        self.reclaimed.rows_removed += size > 0
        self._shrunk(top, key, size)

    def _shrunk(self, top: int, key: bytes, size: int) -> None:
        form = self._tables.by_id(top)
        if size and form is not None and self._note_load is not None:
            shard = key[ROW_PREFIX_BYTES : shard_end(form, key)]
            self._note_load(top, shard, 0, 0, -1, -size)


def _remove(key: bytes, txn: Transaction) -> int:
    record = txn.get(key)
    txn.delete(key)
    return 0 if record is None else len(key) + len(record)
