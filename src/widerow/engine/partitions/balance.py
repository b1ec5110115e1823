"""The partitions of a store: requests are counted, changes are planned, counts are stored.

Any thread may note a load, which appends to a bounded queue and nothing else. One caller, the
server's housekeeping, then calls `step` a few times a second. A step takes in what was noted, lets
the rules decide once a second, and answers the next small piece of work as a plan: a change of the
catalogue, a few hundred records read to learn sizes, the counts written to the store. Bounds of
partitions stand in the table's catalogue record and change with it, atomically; statistics are
written now and then. While a table is written, its record says that nothing of it is known, so
after a crash its rows are counted again. Where the store divides its data into ranges, these follow
the partitions (`following.py`).
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple

from widerow.clock import Clock
from widerow.engine.lease import Lease
from widerow.engine.partitions.following import Following
from widerow.engine.partitions.history import Interval, decode_interval, encode_interval
from widerow.engine.partitions.index_sizes import SMALL_ROWS, IndexSizes
from widerow.engine.partitions.notes import Notes
from widerow.engine.partitions.partitioned_tables import (
    Bounds,
    Partitioned,
    PartitionedTables,
    PartitionKey,
)
from widerow.engine.partitions.records import decode_counts, encode_counts
from widerow.engine.partitions.rules import (
    Decision,
    Merge,
    Reason,
    Report,
    Split,
    Thresholds,
    decide,
)
from widerow.engine.partitions.shared_notes import LoadNote, SharedNotes
from widerow.engine.partitions.sizes import SizeMap
from widerow.engine.partitions.table_load import INTERVAL_SECONDS, INTERVALS_MAX, TableLoad
from widerow.engine.partitions.walk import Walk
from widerow.engine.plan import Plan, put_off
from widerow.errors import NotFound, StoreBusy
from widerow.keys.layout import load_key, statistics_key, statistics_prefix
from widerow.storage.interface import Store, Transaction, Write

__all__ = ["Event", "Partitions"]

NOTES_MAX: Final = 65_536  # waiting to be counted; beyond that the oldest are dropped
TOLD_MAX: Final = 256  # messages of other servers that wait; beyond that the oldest are dropped
EVENTS_MAX: Final = 256  # waiting to be logged
LOOK_SECONDS: Final = 1.0  # between two decisions about a table
FLUSH_SECONDS: Final = 30.0  # between two writes of the statistics
REPEAT_SECONDS: Final = 3600.0  # between two events that report the same
ASLEEP_RATE: Final = 0.01  # units a second, decayed: nothing for some minutes
LOADS_MAX: Final = 1000  # tables kept in memory beside those with load
RECENT_INTERVALS: Final = 60  # kept in memory; the history is read from the store


class Event(NamedTuple):
    """A change that was made, or a report, and why."""

    table: Partitioned
    decision: Decision


class Partitions:
    """The partitions of all tables of a store."""

    def __init__(
        self,
        tables: PartitionedTables,
        store: Store,
        clock: Clock,
        lease: Lease,
        thresholds: Thresholds | None = None,
    ) -> None:
        """No counts in memory yet; stored counts are read when a table is first needed.

        Only the holder of the `lease` decides and writes.
        """
        self._lease = lease
        self._terms = lease.terms
        self.thresholds = thresholds or Thresholds()
        self.events: deque[Event] = deque(maxlen=EVENTS_MAX)
        self.changes: Counter[Reason] = Counter()
        self._tables = tables
        self._store = store
        self._clock = clock
        self.notes = Notes(NOTES_MAX)
        # called for every row, so not through a method of this class
        self.note_load = self.notes.add
        # Where the store is shared: notes for the other servers, and notes that they sent.
        self.shared_notes = SharedNotes() if store.capabilities.shared else None
        self.told: deque[Sequence[LoadNote]] = deque(maxlen=TOLD_MAX)
        self._loads: dict[int, TableLoad] = {}
        self._reports: dict[int, list[Report]] = {}
        self._told: dict[tuple[int, Reason, bytes], float] = {}
        self._walk: tuple[Partitioned, Walk] | None = None
        # Tables that are looked at: those with load, or with partitions that may merge.
        self._awake = {table.id for table in tables.tables() if table.splits != table.asked}
        self._unsaved: set[int] = set()
        # Tables whose record will be wrong as soon as they change, and those that did change.
        self._vouched: set[int] = set()
        self._changed: set[int] = set()
        # Tables in which sizes may have to be learnt again, those first that had a turn long ago.
        self._grown: dict[int, None] = {}
        self._index_sizes = IndexSizes()
        self._epoch = -1
        self.following = Following(tables, store, self._size_of, self.thresholds.split_bytes)
        # Everything in the queue was noted after `_drained`, where the counting of a table begins.
        self._drained = self._looked = self._flushed = self._seconds()

    def table_name(self, table_id: int | None) -> str:
        """The name that logs show; empty for a number that no table has any more."""
        table = None if table_id is None else self._tables.by_id(table_id)
        return "" if table is None else table.qualified

    def partition_key(self, table: Partitioned) -> PartitionKey:
        """What a table's rows are divided by. Raises `NotFound` if it was dropped."""
        return self._tables.partition_key(table)

    # --- counting ----------------------------------------------------------------------------

    def absorb(self, count: int = NOTES_MAX) -> bool:
        """Take in at most `count` notes; whether more wait. One to two µs for each key."""
        self._follow_indexes()
        self._count_lost()
        notes = self.notes
        taken = notes.taken(min(count, len(notes)))
        self._take_in(taken if self.shared_notes is None else self.shared_notes.heard(taken))
        while self.told:
            self._take_in(self.told.popleft())
        if notes:
            return True
        self._drained = self._seconds()
        return False

    def _take_in(self, notes: Iterable[tuple[int, bytes, int, int, int, int]]) -> None:
        loads, indexed = self._loads, self._index_sizes.of_tables
        for table_id, key, reads, writes, rows, size in notes:
            load = loads.get(table_id)
            if load is None:
                try:
                    load = self._load(table_id)
                except StoreBusy:
                    self.notes.add(table_id, key, reads, writes, rows, size)
                    continue  # it cannot be read now, and others are not to wait for it
                if load is None:
                    continue  # dropped meanwhile
            if table_id not in self._awake:
                self._wake(table_id, load)
            load.note(key, reads, writes, rows, size)
            self._unsaved.add(table_id)
            if table_id in indexed and writes:
                self._index_sizes.note(table_id, writes, self._drained)
            if rows or size:
                self._changed.add(table_id)
            if size > 0:
                self._grown[table_id] = None

    def _count_lost(self) -> None:
        """Have tables counted again of which notes were dropped."""
        lost = self.notes.lost
        for table_id in list(lost):
            with suppress(StoreBusy):
                load = self._load(table_id)
                lost.discard(table_id)
                if load is not None:
                    load.sizes.outdate()
                    self._grown[table_id] = None
                    self._changed.add(table_id)

    def _follow_indexes(self) -> None:
        epoch = self._tables.epoch()
        if epoch != self._epoch:
            self._epoch = epoch
            self._index_sizes.follow(self._tables.tables())

    def _wake(self, table_id: int, load: TableLoad) -> None:
        self._awake.add(table_id)
        load.tick(self._drained)  # no request until then

    # --- looking -----------------------------------------------------------------------------

    def load_of(self, table: Partitioned) -> TableLoad:
        """What is known of a table's partitions. Raises `NotFound` if it was dropped."""
        load = self._load(table.id)
        if load is None:
            raise self._tables.gone(table)
        return load

    def write_units(self, table: Partitioned) -> int:
        """Write units of a table so far, with those that wait to be counted. Raises `NotFound`."""
        return self.load_of(table).consumed.write + self.notes.write_units(table.id)

    def reports(self, table: Partitioned) -> list[Report]:
        """Problems of the table that no split solves, as of the last look."""
        return list(self._reports.get(table.id, ()))

    def loads(self) -> list[tuple[Partitioned, TableLoad]]:
        """Every table of which anything was counted since the engine was opened."""
        return [
            (table, load)
            for table in self._tables.tables()
            if (load := self._loads.get(table.id)) is not None
        ]

    def history(self, table: Partitioned, *, since_s: int = 0) -> tuple[Interval, ...]:
        """The load of the last hours, oldest first; seconds without load are left out.

        Of intervals that began at `since_s` (since 1970) or later. Cost: decodes their records, of
        which there are up to 2160. Raises `NotFound`, `StoreDamaged`.
        """
        start, stop = load_key(table.id, since_s), statistics_prefix(table.id) + b"\x03"
        found = {}
        for key, record in self._store.snapshot().scan(start, stop):
            second = int.from_bytes(key[-8:], "big")
            found[second] = decode_interval(second, record)
        recent = tuple(self.load_of(table).intervals)
        found |= {each.start_s: each for each in recent if each.start_s >= since_s}
        return tuple(found[second] for second in sorted(found))[-INTERVALS_MAX:]

    def _load(self, table_id: int) -> TableLoad | None:
        load = self._loads.get(table_id)
        table = self._tables.by_id(table_id)
        if table is None:
            return None
        if load is None:
            load = self._loads.setdefault(table_id, self._read(table))
            self._grown[table_id] = None
            base = self._index_sizes.base_of(table_id)
            if base is not None:
                self._load(base)  # whether an index is to be counted is told by its table's record
        if load.follow(table.splits):
            self._grown[table_id] = None
        return load

    def _size_of(self, table: Partitioned, is_read: bool) -> int:  # noqa: FBT001  # for `Following`
        load = self._load(table.id) if is_read else self._loads.get(table.id)
        return 0 if load is None else load.sizes.size

    def _read(self, table: Partitioned) -> TableLoad:
        (record,) = self._store.get_together((statistics_key(table.id),))
        origin = self._clock.now_us() / 1e6 - self._seconds()
        sizes, consumed = (None, None) if record is None else decode_counts(record)
        self._vouch(table.id, sizes)
        load = TableLoad(table.asked, self._drained, self.thresholds, origin=origin, sizes=sizes)
        load.keep(RECENT_INTERVALS)
        if consumed is not None:
            load.go_on_from(consumed)
        return load

    def _vouch(self, table_id: int, sizes: SizeMap | None) -> None:
        """Trust sizes that were read, or have a table and its indexes counted.

        A small one is counted once after each opening: the process before may have died before it
        wrote that the table had changed.
        """
        if table_id in self._vouched:
            return
        if sizes is not None and sizes.rows <= SMALL_ROWS and not self._store.capabilities.shared:
            sizes.outdate()
        if sizes is not None and sizes.known:
            self._vouched.add(table_id)
        else:
            self._follow_indexes()
            self._index_sizes.note(table_id, 0, self._drained)

    # --- working -----------------------------------------------------------------------------

    def step(self) -> Plan[None] | None:
        """The next small piece of work, or None when there is none now. One caller at a time."""
        self.absorb()
        taking = self._lease.plan()
        if taking is not None or not self._lease.held():
            if taking is None:
                self.following.pending = 0  # only the holder of the lease knows
            self._follow()
            return taking
        if self._terms != self._lease.terms:
            self._take_over()
        now = self._seconds()
        if now - self._looked >= LOOK_SECONDS:
            self._looked = now
            writes = self._look(now)
            if writes:
                return Plan(tuple(writes), put_off)
        untrue = self._vouched & self._changed
        if untrue:
            return Plan(tuple(self._saved(untrue)), put_off)
        change = self.following.step(now)
        if change is not None:
            return change
        if now - self._flushed >= FLUSH_SECONDS:
            plan = self._write_down()
            if plan is not None:
                return plan
        return Plan((), put_off) if self.learn_sizes() else None

    def flush(self) -> Plan[None] | None:
        """Write the counts that changed, before closing; None if there are none."""
        self.absorb()
        if not self._lease.held():
            return None
        self._changed.clear()  # no write is told of any more
        return self._write_down()

    def _write_down(self) -> Plan[None] | None:
        """Write the counts that changed; tables that rest meanwhile get a record to trust."""
        self._flushed = self._seconds()
        writes = tuple(self._saved(self._unsaved))
        self._unsaved = self._changed & self._loads.keys()
        self._changed.clear()
        return Plan(writes, put_off) if writes else None

    def _follow(self) -> None:
        """Decay the loads of busy tables, while another process decides on their partitions."""
        now = self._seconds()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        for table_id in list(self._awake):
            with suppress(StoreBusy):
                load, table = self._load(table_id), self._tables.by_id(table_id)
                if load is None or table is None:
                    self._awake.discard(table_id)
                else:
                    load.tick(now, table.reserved_units)
        self._forget()

    def _take_over(self) -> None:
        """Forget what is in memory: another process has decided, and its counts are right."""
        self._terms = self._lease.terms
        self._walk = None
        self._loads.clear()
        self._unsaved.clear()
        self._vouched.clear()
        self._changed.clear()
        self.following.take_over()
        self._awake |= {table.id for table in self._tables.tables() if table.splits != table.asked}

    def _look(self, now: float) -> list[Write[Any]]:
        writes: list[Write[Any]] = []
        self._outdate_indexes(now)
        for table_id in list(self._awake):
            with suppress(StoreBusy):  # what cannot be read now is looked at a second later
                write = self._look_at(table_id, now)
                writes += () if write is None else (write,)
        self._told = {
            name: told for name, told in self._told.items() if now - told < REPEAT_SECONDS
        }
        self._forget()
        return writes

    def _look_at(self, table_id: int, now: float) -> Write[Any] | None:
        """Decide about one table; the change that is to be made, if any."""
        load, table = self._load(table_id), self._tables.by_id(table_id)
        if load is None or table is None:
            self._awake.discard(table_id)
            return None
        is_known = load.sizes.known
        if not is_known:
            self._grown[table_id] = None
        if not load.tick(now, table.reserved_units):
            return None
        if load.unsaved:
            self._unsaved.add(table.id)
        decisions = decide(load.facts(), self.thresholds) if self._matters(load) else []
        self._report(table, [each for each in decisions if isinstance(each, Report)], now)
        changes = [each for each in decisions if not isinstance(each, Report)]
        if changes:
            return self._change(table, changes)
        if load.rate < ASLEEP_RATE and table.splits == table.asked and is_known:
            self._awake.discard(table_id)
        return None

    def _outdate_indexes(self, now: float) -> None:
        for table_id in self._index_sizes.due(self._rows_of, now):
            with suppress(StoreBusy):
                load = self._load(table_id)
                if load is not None:
                    load.sizes.outdate()
                    self._grown[table_id] = None

    def _rows_of(self, table_id: int) -> int:
        with suppress(StoreBusy):
            load = self._load(table_id)
            return 0 if load is None else load.sizes.rows
        return 0

    def _matters(self, load: TableLoad) -> bool:
        """Whether any rule can apply. False for most tables, at little cost."""
        thresholds = self.thresholds
        large = load.sizes.size > min(thresholds.split_bytes, thresholds.key_bytes)
        return large or bool(load.bounds) or load.rate >= thresholds.split_units / 2

    def _report(self, table: Partitioned, reports: list[Report], now: float) -> None:
        self._reports[table.id] = reports
        for report in reports:
            name = (table.id, report.reason, report.key)
            if now - self._told.get(name, -REPEAT_SECONDS) >= REPEAT_SECONDS:
                self._told[name] = now
                self.events.append(Event(table, report))

    def _change(self, table: Partitioned, changes: list[Split | Merge]) -> Write[Any]:
        write = self._tables.divide(table, partial(_changed, changes))

        def settled(changed: Partitioned) -> None:
            write.settle(changed)
            for change in changes:
                self.changes[change.reason] += 1
                self.events.append(Event(changed, change))

        return Write(
            write.shards, write.run, alone=write.alone, settled=settled, doubted=write.doubt
        )

    def _forget(self) -> None:
        """Forget dropped tables, and, if there are many, idle ones whose counts are stored."""
        crowded = len(self._loads) > LOADS_MAX
        busy = self._awake | self._unsaved | self._grown.keys()
        for table_id in list(self._loads):
            idle = crowded and table_id not in busy
            if idle or self._tables.by_id(table_id) is None:
                del self._loads[table_id]
                if not idle:
                    self._vouched.discard(table_id)
                self._reports.pop(table_id, None)

    def learn_sizes(self) -> bool:
        """Read a few hundred records where it is not known what lies where; False: nowhere.

        Tables take turns, of one range each.
        """
        if self._walk is None:
            self._walk = next(self._walks(), None)
        if self._walk is None:
            return False
        table, walk = self._walk
        load: TableLoad | None = None
        try:
            load = self._load(table.id)
            is_over = load is None or walk.step(self._store.snapshot())
        except StoreBusy:
            self._walk = None  # it cannot be read now: others have their turn before it
            return False
        if is_over:
            self._walk = None
        if load is not None and is_over:
            load.sizes.replace(walk.start, walk.stop, walk.found, self._seconds())
            load.sizes.simplify(table.splits)
            self._unsaved.add(table.id)
            if table.id not in self._awake:
                self._wake(table.id, load)  # it may turn out large enough for a split
        return True

    def _walks(self) -> Iterator[tuple[Partitioned, Walk]]:
        for table_id in list(self._grown):
            with suppress(StoreBusy):
                load, table = self._load(table_id), self._tables.by_id(table_id)
                piece = None if load is None else load.sizes.overdue(self._seconds())
                del self._grown[table_id]
                if load is None or table is None or piece is None:
                    continue
                self._grown[table_id] = None  # behind the others
                piece.touched = False
                stop = load.sizes.stop_of(piece)
                end = self.partition_key(table).end
                yield table, Walk(table.id, end, piece.key, stop, load.sizes.unit)

    def _saved(self, tables: Iterable[int]) -> Iterator[Write[None]]:
        """Writes of the records of tables, which vouch for sizes that have not changed lately."""
        for table_id in tables:
            load = self._load(table_id)
            table = self._tables.by_id(table_id)
            if load is None or table is None:
                continue
            is_known = table_id not in self._changed
            settled = partial(self._record_is, table_id, vouches=is_known and load.sizes.known)
            counts = encode_counts(load.sizes, load.consumed, is_known=is_known)
            pairs = [(statistics_key(table_id), counts)]
            pairs += [
                (load_key(table_id, each.start_s), encode_interval(each))
                for each in load.take_unsaved()
            ]
            oldest = round(self._clock.now_us() / 1e6 - INTERVALS_MAX * INTERVAL_SECONDS)
            current = partial(self._tables.current, table)
            body = partial(_save, current, pairs, load_key(table_id, max(0, oldest)))
            shards = (statistics_prefix(table_id),)
            yield Write(shards, body, reads=self._tables.reads, settled=settled)

    def _record_is(self, table_id: int, _: None, *, vouches: bool) -> None:
        (self._vouched.add if vouches else self._vouched.discard)(table_id)

    def _seconds(self) -> float:
        return self._clock.monotonic_ns() / 1e9


def _changed(changes: list[Split | Merge], splits: Bounds) -> Bounds:
    bounds = set(splits)
    bounds |= {change.at for change in changes if isinstance(change, Split)}
    bounds -= {change.start for change in changes if isinstance(change, Merge)}
    return tuple(sorted(bounds))


def _save(
    current: Callable[[Transaction], Partitioned],
    pairs: list[tuple[bytes, bytes]],
    oldest: bytes,
    txn: Transaction,
) -> None:
    try:
        table = current(txn)
    except NotFound:
        return  # dropped meanwhile, with its statistics
    txn.delete_range(load_key(table.id, 0), oldest)
    for key, record in pairs:
        txn.put(key, record)
