"""The sweep removes what was dropped and what has expired, one bounded step at a time.

Reads hide expired and dropped data at once, and writes remove expired cells of the rows that they
touch. All other expired data is found here. A step reads some hundreds of records of the published
view, at most a quarter of a megabyte or one record more, and plans a write for each that holds
something to give back. The write reads the record again in its transaction, so a change in between
is never undone.

A *pass* goes over all records of a table. When it has ended, its durable record says what the next
one waits for, so a table is not read because a process began, nor while nothing in it can have
expired. A pass that a restart cuts off begins anew. Several tables take turns, a step each.

What a table model contributes stands in `model.py`.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from widerow.clock import Clock
from widerow.engine.catalog.catalog import Catalog
from widerow.engine.catalog.draft import Draft
from widerow.engine.catalog.state import Leftover
from widerow.engine.observer import LoadRecorder
from widerow.engine.plan import Plan, failing
from widerow.engine.sweep.model import Freed, SweptModel, SweptRecord
from widerow.engine.sweep.record import SweepRecord, decode_sweep, encode_sweep, first_of
from widerow.errors import Replan, StorageFailure, StoreBusy
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES, sweep_key
from widerow.limits import (
    CLEAR_STEP_NOTES,
    SWEEP_NOTES_SECONDS,
    SWEEP_STEP_BYTES,
    SWEEP_STEP_RECORDS,
)
from widerow.storage.interface import Outcome, Store, Transaction, Write

__all__ = ["Reclaimed", "Sweep"]

_SECOND_NS: Final = 1_000_000_000


@dataclass(slots=True)
class Reclaimed:
    """Counts since the engine was opened: what was removed, and how many records were read."""

    records_examined: int = 0
    rows_trimmed: int = 0
    rows_removed: int = 0
    cells_removed: int = 0
    sequences_removed: int = 0
    reclaimed_bytes: int = 0
    passes: int = 0
    tables_dropped: int = 0
    logs_trimmed: int = 0


class _Pass:
    """A pass under way: where it goes on, and when the first remaining row expires."""

    __slots__ = ("first", "index", "model", "position", "started_us", "table", "turn")

    def __init__(self, model: SweptModel[Any], table: Any, started_us: int) -> None:  # noqa: ANN401  # of any model
        self.model = model
        self.table = table
        self.started_us = started_us
        self.first: int | None = None
        self.index = 0  # of the range that it reads
        self.position: bytes | None = None  # in the range; None: at its start
        self.turn = 0

    def leaves(self, first: int | None) -> None:
        """Note that a row stays which expires at `first`."""
        self.first = first_of(self.first, first)


class Sweep:
    """Removes dropped and expired data. For one caller at a time; `note` for any thread."""

    def __init__(
        self, catalog: Catalog, store: Store, clock: Clock, note_load: LoadRecorder | None
    ) -> None:
        """`note_load` is told by how much tables shrink."""
        self.reclaimed = Reclaimed()
        self._catalog = catalog
        self._store = store
        self._clock = clock
        self._note_load = note_load
        self._models: dict[type[Any], SweptModel[Any]] = {}
        self._seen_of: dict[int, bytes] = {}  # drop note -> where its rows are looked for
        self._clears = 0  # steps of removing what was dropped
        self._looked_for = self._cleared = 0  # the drop notes that had the last turn of either kind
        self._passes: dict[int, _Pass] = {}
        self._turns = 0
        self._looked_ns = -_SECOND_NS
        self._records: dict[int, SweepRecord | None] = {}
        self._noted: set[tuple[int, int]] = set()  # by writers, on their threads
        self._unsaved: set[int] = set()
        self._saved_ns = clock.monotonic_ns()
        self._endings: list[Write[Any]] = []
        self._hurried = False  # a pass has ended and its record is not written

    def add(self, model: SweptModel[Any]) -> None:
        """Sweep the tables of this model too."""
        self._models.setdefault(model.kind, model)

    def note(self, table_id: int, first: int) -> None:
        """A durable row was written that may expire before all others do (`SweepRecord.first`)."""
        self._noted.add((table_id, first))

    def note_trimmed(self, shards: int) -> None:
        """Old records of so many shards of streams and journals were removed."""
        self.reclaimed.logs_trimmed += shards

    # --- what was dropped --------------------------------------------------------------------

    def clear(self) -> Plan[None] | None:
        """The next step of removing what was dropped, by turns; None where nothing was.

        Rows among those of other tables take a look at all of these, which may be many. So every
        second step is for what is removed by ranges, and what could not be removed is passed over.
        """
        now_us = self._clock.now_us()
        due = [each for each in self._catalog.leftovers() if each.due_us <= now_us]
        unseen = {each.id: self._unseen(each) for each in due}
        looked_for = [each for each in due if unseen[each.id] is not None]
        ready = [each for each in due if unseen[each.id] is None]
        self._clears += 1
        if looked_for and (not ready or self._clears % 2):
            leftover = _behind(looked_for, self._looked_for)[0]
            self._looked_for = leftover.id
            found = unseen[leftover.id]
            assert found is not None, "it is one of those"
            return self._clear_rows(leftover, *found)
        if not ready:
            return None
        leftovers = _behind(ready, self._cleared)[:CLEAR_STEP_NOTES]
        self._cleared = leftovers[-1].id
        return self._clear_ranges(leftovers)

    def _unseen(self, leftover: Leftover) -> tuple[bytes, bytes] | None:
        """Where rows of a dropped table are still looked for among others; None: nowhere."""
        if not leftover.top:
            return None
        prefix = self._model_of(leftover).among(leftover)
        stop = after_prefix(prefix)
        start = self._seen_of.get(leftover.id, prefix)
        return (start, stop) if start < stop else None

    def _model_of(self, leftover: Leftover) -> SweptModel[Any]:
        """The model of the table or index that was dropped."""
        return next(
            each
            for kind, each in self._models.items()
            if leftover.key.startswith(self._catalog.models[kind].space)
        )

    def _clear_ranges(self, leftovers: Sequence[Leftover]) -> Plan[None]:
        """Remove the ranges of dropped tables, then the drop notes whose ranges are all gone."""
        missing: dict[int, int] = {}
        writes: list[Write[Any]] = []
        for leftover in leftovers:
            shards = _by_shard(leftover.prefixes)
            missing[leftover.id] = len(shards)
            writes += [self._removal(leftover, shard, missing) for shard in shards]

        def note_gone(draft: Draft) -> None:
            for leftover in leftovers:
                if missing[leftover.id] <= 0:
                    draft.forget(leftover)

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            if outcomes[-1].error is None:
                gone = [leftover for leftover in leftovers if missing[leftover.id] <= 0]
                for leftover in gone:
                    self._seen_of.pop(leftover.id, None)
                self.reclaimed.tables_dropped += len(gone)
            failing(outcomes)

        return Plan((*writes, self._catalog.change(note_gone)), finish)

    def _removal(
        self, leftover: Leftover, prefixes: tuple[bytes, ...], missing: dict[int, int]
    ) -> Write[None]:
        def remove(txn: Transaction) -> None:
            for prefix in prefixes:
                txn.delete_range(prefix, after_prefix(prefix))

        def removed(_: None) -> None:
            missing[leftover.id] -= 1

        return Write(prefixes, remove, settled=removed, frees=True)

    def _clear_rows(self, leftover: Leftover, start: bytes, stop: bytes) -> Plan[None]:
        """Remove a dropped table's rows from a range that it shares with other tables, one step."""
        model = self._model_of(leftover)
        writes: list[Write[Any]] = []
        following, count, size = stop, 0, 0
        for key, record in self._store.snapshot().scan(start, stop):
            if count == SWEEP_STEP_RECORDS or size >= SWEEP_STEP_BYTES:
                following = key
                break
            count, size = count + 1, size + len(key) + len(record)
            shard = model.place_of(record, key, leftover.id)
            if shard is not None:
                shrunk = (
                    partial(self._shrunk, leftover.top, shard) if model.counts_cleared else None
                )
                prefix = key[:ROW_PREFIX_BYTES] + shard
                removal = partial(_remove, key)
                writes.append(Write((prefix,), removal, settled=shrunk, frees=True))
        self.reclaimed.records_examined += count

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            failing(outcomes)
            self._seen_of[leftover.id] = following

        return Plan(tuple(writes), finish)

    # --- what has expired --------------------------------------------------------------------

    def step(self) -> Plan[None] | None:
        """A step of the pass that has waited longest, or the writing of passes' records.

        None when nothing is due.
        """
        plan = self.save()
        if plan is not None:
            return plan
        now_ns = self._clock.monotonic_ns()
        if not self._passes or now_ns - self._looked_ns >= _SECOND_NS:
            self._looked_ns = now_ns
            self._begin()
        while self._passes:
            running = min(self._passes.values(), key=_turn_of)
            table = self._catalog.seen().by_id.get(running.table.id)
            if table is not None and running.model.is_swept(table):
                self._turns = running.turn = self._turns + 1
                return self._go_on(running, table)
            del self._passes[running.table.id]  # dropped, or its rows do not expire any more
        return None

    def _begin(self) -> None:
        """Begin the passes that are due."""
        self._take_notes()
        now_us = self._clock.now_us()
        tables = self._catalog.seen().by_id
        for table_id, table in tables.items():
            model = self._models.get(type(table))
            if model is None or table_id in self._passes or not model.is_swept(table):
                continue
            with suppress(StoreBusy):  # one that cannot be read now begins at a later look
                if model.due_us(table, self._record(table_id)) <= now_us:
                    self._passes[table_id] = _Pass(model, table, now_us)
                    self._passes[table_id].turn = self._turns
        for known in [each for each in self._records if each not in tables]:
            del self._records[known]

    def _go_on(self, running: _Pass, table: Any) -> Plan[None]:  # noqa: ANN401  # of any model
        """A step of a pass: its writes; the pass goes on behind them once they are durable."""
        start, stop = running.model.ranges(table)[running.index]
        found, following = self._examined(running, table, running.position or start, stop)
        settled = partial(self._count, running)
        writes: list[Write[Any]] = []
        # when the row of a write expires, should the write be refused
        refused: list[int | None] = []
        for seen in found:
            if seen.body is None:
                running.leaves(seen.first)
            else:
                reads = self._catalog.reads + seen.reads
                writes.append(
                    Write(seen.shards, seen.body, settled=settled, reads=reads, frees=True)
                )
                refused.append(seen.first)

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            if not _made(outcomes):
                return
            for outcome, first in zip(outcomes, refused, strict=True):
                if outcome.error is not None:
                    running.leaves(first)  # the write was refused: the next pass tries again
            running.position = following
            if following >= stop:
                self._end_range(running, table)

        return Plan(tuple(writes), finish)

    def _examined(
        self,
        running: _Pass,
        table: Any,  # noqa: ANN401  # of any model
        start: bytes,
        stop: bytes,
    ) -> tuple[list[SweptRecord], bytes]:
        """What the model says of the next records, and the key behind them (`stop`: no more)."""
        reader = self._store.snapshot()
        found: list[SweptRecord] = []
        size = 0
        while start < stop:
            at, start = start, stop
            for key, record in reader.scan(at, stop):
                if len(found) == SWEEP_STEP_RECORDS or size >= SWEEP_STEP_BYTES:
                    return found, key
                size += len(key) + len(record)
                self.reclaimed.records_examined += 1
                found.append(running.model.examine(table, key, record, reader))
                following = found[-1].following
                if following is not None:
                    start = following
                    break
        return found, stop

    def _end_range(self, running: _Pass, table: Any) -> None:  # noqa: ANN401  # of any model
        running.position = None
        running.index += 1
        if running.index < len(running.model.ranges(table)):
            return
        table_id = running.table.id
        self._passes.pop(table_id, None)
        self._records[table_id] = SweepRecord(
            running.started_us, self._clock.now_us(), running.first
        )
        self._unsaved.add(table_id)
        self.reclaimed.passes += 1
        ending = running.model.ended(running.table)
        self._endings += () if ending is None else (ending,)
        self._hurried = True

    def _count(self, running: _Pass, freed: Freed) -> None:
        reclaimed = self.reclaimed
        running.leaves(freed.first)
        reclaimed.cells_removed += freed.cells
        reclaimed.rows_removed += freed.rows
        reclaimed.sequences_removed += freed.sequences
        reclaimed.reclaimed_bytes += freed.size
        reclaimed.rows_trimmed += bool(freed.cells) and not freed.rows
        if freed.rows or freed.cells:
            self._shrunk(running.table.id, freed.shard, freed.size, freed.rows)

    def _shrunk(self, table_id: int, shard: bytes, size: int, rows: int = 1) -> None:
        if size and self._note_load is not None:
            self._note_load(table_id, shard, 0, 0, -rows, -size)

    # --- what is written down ----------------------------------------------------------------

    def save(self) -> Plan[None] | None:
        """What `flush` gives, twice a minute and whenever a pass has ended; else None."""
        rested_ns = self._clock.monotonic_ns() - self._saved_ns
        due = self._hurried or rested_ns >= SWEEP_NOTES_SECONDS * _SECOND_NS
        return self.flush() if due else None

    def flush(self) -> Plan[None] | None:
        """Write the records of passes and notes; None: all are written.

        Also called before closing.
        """
        self._take_notes()
        self._saved_ns = self._clock.monotonic_ns()
        kept = list(self._unsaved)
        endings = list(self._endings)
        self._hurried = False
        if not kept and not endings:
            return None
        writes = [self._keep(table_id) for table_id in kept]

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            if _made(outcomes):
                self._unsaved.difference_update(kept)
                del self._endings[: len(endings)]

        return Plan((*writes, *endings), finish)

    def _keep(self, table_id: int) -> Write[None]:
        key = sweep_key(table_id)

        def body(txn: Transaction) -> None:
            record = self._records.get(table_id)
            if record is None or table_id not in self._catalog.in_body(txn).by_id:
                return
            stored = txn.get(key)
            other = record if stored is None else decode_sweep(stored)
            if other.ended_us >= record.ended_us:  # another process may have ended a pass since
                record = other._replace(first=first_of(other.first, record.first))
            txn.put(key, encode_sweep(record))

        return Write((key,), body, reads=self._catalog.reads, frees=True)

    def _take_notes(self) -> None:
        """Let the records say what writers noted. Each note is of a row that every reader sees."""
        kept: list[tuple[int, int]] = []
        while self._noted:
            table_id, first = self._noted.pop()
            running = self._passes.get(table_id)
            if running is not None:
                running.leaves(first)
            try:
                record = self._record(table_id)
            except StoreBusy:
                kept.append((table_id, first))
                continue
            if record is not None and first_of(record.first, first) != record.first:
                self._records[table_id] = record._replace(first=first)
                self._unsaved.add(table_id)
        self._noted.update(kept)

    def _record(self, table_id: int) -> SweepRecord | None:
        known = table_id in self._records
        if not known or (self._catalog.shared and table_id not in self._unsaved):
            (stored,) = self._store.get_together((sweep_key(table_id),))
            self._records[table_id] = None if stored is None else decode_sweep(stored)
        return self._records[table_id]


def _made(outcomes: Sequence[Outcome[Any]]) -> bool:
    """Whether every write was made or refused; False: the step has to be planned again.

    Raises a failure of the store; the step is repeated then, too.
    """
    for outcome in outcomes:
        if isinstance(outcome.error, StorageFailure):
            raise outcome.error
    return not any(isinstance(outcome.error, Replan) for outcome in outcomes)


def _behind(leftovers: Sequence[Leftover], last: int) -> list[Leftover]:
    """Drop notes in the order of their numbers, from the one behind `last` on and round."""
    return sorted(leftovers, key=lambda each: (each.id <= last, each.id))


def _turn_of(running: _Pass) -> int:
    return running.turn


def _by_shard(prefixes: tuple[bytes, ...]) -> list[tuple[bytes, ...]]:
    """Prefixes grouped by shard: a write is of one shard (storage contract, rule 2)."""
    shards: dict[bytes, tuple[bytes, ...]] = {}
    for prefix in prefixes:
        shards[prefix[1:]] = (*shards.get(prefix[1:], ()), prefix)
    return list(shards.values())


def _remove(key: bytes, txn: Transaction) -> int:
    record = txn.get(key)
    txn.delete(key)
    return 0 if record is None else len(key) + len(record)
