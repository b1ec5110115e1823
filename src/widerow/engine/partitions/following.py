"""Divides a database's data where partitions meet: one change at a time, repeated until made.

Partitions are decided and stand in the catalogue (`balance.py`); where the store divides its data
(`storage/placement.py`), its ranges are compared with them, and changed. The catalogue is durable
first, and each comparison starts from it: so the next keeper of the store begins with a comparison,
and a change under way needs no record. A record of each table says where widerow asked for ranges,
so that those are not taken for ranges that a person made.

A change that fails is tried again after a pause that grows. A change that was made and is found
undone was undone by a person: it is made once more after an hour, and not in a loop.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

from widerow.engine.partitions.partitioned_tables import Partitioned, PartitionedTables
from widerow.engine.partitions.range_rules import (
    RangeChange,
    Wanted,
    changes_wanted,
    table_at,
    wanted_of,
)
from widerow.engine.partitions.records import decode_ranges, encode_ranges
from widerow.engine.plan import Plan, put_off
from widerow.errors import NotFound, StorageFailure, StoreBusy
from widerow.keys.layout import ranges_key, row_prefix, statistics_prefix
from widerow.limits import (
    RANGE_BUSY_SECONDS_MAX,
    RANGE_CHANGE_SECONDS_MAX,
    RANGE_LOOK_SECONDS,
    RANGE_PAUSE_SECONDS,
    RANGE_PAUSE_SECONDS_MAX,
    RANGE_REPEAT_SECONDS,
    RANGES_SECONDS,
)
from widerow.storage.interface import Store, Transaction, Write
from widerow.storage.placement import DataPlacement

__all__ = ["RANGE_ENDS", "Following", "RangeEvent"]

_DONE: Final = "done"
_FAILED: Final = "failed"
RANGE_ENDS: Final = (_DONE, _FAILED)
"""How a change of ranges ends, as it is counted."""

_EVENTS_MAX: Final = 256  # waiting to be logged
_DOUBLED_MAX: Final = 16  # doublings of a pause, before its bound is applied


class RangeEvent(NamedTuple):
    """A change that was made (`failure` is empty), or that failed; `table`: its number."""

    change: RangeChange
    table: int | None
    failure: str


class _Failures(NamedTuple):
    """How often a change failed in a row, and until when it is not tried again."""

    times: int
    until: float


class _Begun(NamedTuple):
    """A change under way: its number (None: unknown, no answer came), its start, whether it ended.

    Whether it was made is seen at the next look.
    """

    change: RangeChange
    number: int | None
    since: float
    is_over: bool = False


class Following:
    """Compares a store's ranges with its partitions.

    One caller at a time; `counts` for any thread.

    `counts`: changes by kind and end (`done`, `failed`) since this process was started; `pending`:
    how many are still to be made, as of the last look.
    """

    def __init__(
        self,
        tables: PartitionedTables,
        store: Store,
        size_of: Callable[[Partitioned, bool], int],
        split_bytes: int,
    ) -> None:
        """No range is read yet. `split_bytes`: of a full partition.

        `size_of`: bytes of a table; if they are not in memory, 0, or read from the store if its
        second argument is true.
        """
        self.events: deque[RangeEvent] = deque(maxlen=_EVENTS_MAX)
        self.counts: Counter[tuple[str, str]] = Counter()
        self.pending = 0
        self._tables = tables
        self._store = store
        self._size_of = size_of
        self._split_bytes = split_bytes
        self._forget()

    def take_over(self) -> None:
        """Forget everything: another process kept the store before."""
        self._forget()

    def _forget(self) -> None:
        self._bounds: tuple[bytes, ...] = ()  # where ranges began at the last look
        self._noted: dict[int, frozenset[bytes]] = {}
        self._doubtful: set[bytes] = set()  # keys at which a begun split may still be made
        self._begun: _Begun | None = None
        self._failures: dict[RangeChange, _Failures] = {}
        self._made: dict[RangeChange, float] = {}
        self._compared: Wanted | None = None  # what was wanted when ranges were last right
        self._next = self._fresh_until = float("-inf")
        self.pending = 0

    # --- steps -------------------------------------------------------------------------------

    def step(self, now: float) -> Plan[None] | None:
        """The next small step; a plan where a record is to be written before the step goes on.

        `now`: seconds of a clock that never goes back. Cost: at most a few round trips; none while
        nothing is to be done, but for a look every ten seconds. Raises: `StorageFailure` where the
        ranges cannot be learnt; they are asked for again later.
        """
        placement = self._store.placement
        if placement is None:
            return None
        begun = self._begun
        if begun is not None and begun.number is not None and not begun.is_over:
            self._ask(placement, begun, begun.number, now)
            return None
        if now < self._next:
            return None
        self._next = now + RANGE_LOOK_SECONDS
        try:
            return self._look(placement, now)
        except StoreBusy:
            return None  # the database is moving something; nothing was begun
        except StorageFailure:
            self._next = now + RANGE_PAUSE_SECONDS_MAX
            raise

    def _ask(self, placement: DataPlacement, begun: _Begun, number: int, now: float) -> None:
        """Ask whether the change under way has ended."""
        try:
            if placement.has_ended(number):
                self._begun = begun._replace(is_over=True)
                self._next = now  # to look at once whether it was made
            elif now - begun.since > RANGE_CHANGE_SECONDS_MAX:
                self._fail(begun.change, now, "the database does not come to an end with it")
        except StoreBusy:
            return
        except StorageFailure as error:
            self._fail(begun.change, now, str(error))

    def _look(self, placement: DataPlacement, now: float) -> Plan[None] | None:
        """Compare ranges with what is wanted, and begin the first change that may be made now."""
        wanted = self._wanted()
        if wanted == self._compared and now < self._fresh_until and self._begun is None:
            return None
        self._bounds = tuple(each.start for each in placement.ranges()[1:])
        self._conclude(now)
        self._read_notes(wanted)
        changes = list(changes_wanted(wanted, self._bounds, self._noted, self._tables.leaving()))
        self.pending = len(changes)
        notes = list(self._notes(wanted))
        if notes:
            self._next = now
            return Plan(tuple(notes), put_off)  # noted before it is asked for
        self._compared = None if changes else wanted
        self._fresh_until = now + RANGES_SECONDS
        self._drop_old(changes, now)
        ready = next((each for each in changes if self._may_make(each, now)), None)
        if ready is not None:
            self._begin(placement, ready, now)
        return None

    def _begin(self, placement: DataPlacement, change: RangeChange, now: float) -> None:
        begin = {"split": placement.begin_split, "merge": placement.begin_merge}[change.kind.value]
        self._begun = _Begun(change, None, now)
        self._doubtful.add(change.key)
        try:
            self._begun = _Begun(change, begin(change.key), now)
        except StoreBusy:
            self._pause(change, now, RANGE_BUSY_SECONDS_MAX)
        except StorageFailure as error:
            self._fail(change, now, str(error))

    def _conclude(self, now: float) -> None:
        """Count the last begun change as made or failed, by the ranges that were just read."""
        if self._begun is None:
            return
        begun, self._begun = self._begun, None
        if begun.change.is_made(self._bounds):
            self.counts[begun.change.kind.value, _DONE] += 1
            self._failures.pop(begun.change, None)
            self._made.pop(begun.change.opposite, None)
            self._made[begun.change] = now
            self.events.append(RangeEvent(begun.change, table_at(begun.change.key), ""))
        elif begun.is_over:
            self._fail(begun.change, now, "the database knows of it no more and has not made it")

    def _fail(self, change: RangeChange, now: float, reason: str) -> None:
        self._begun = None
        self._pause(change, now, RANGE_PAUSE_SECONDS_MAX)
        self.counts[change.kind.value, _FAILED] += 1
        self.events.append(RangeEvent(change, table_at(change.key), reason))

    def _pause(self, change: RangeChange, now: float, longest: float) -> None:
        times = self._failures[change].times + 1 if change in self._failures else 0
        pause = min(RANGE_PAUSE_SECONDS * 2 ** min(times, _DOUBLED_MAX), longest)
        self._failures[change] = _Failures(times, now + pause)

    def _may_make(self, change: RangeChange, now: float) -> bool:
        """Whether a change has not failed lately, and was not made and then undone by a person."""
        failed = self._failures.get(change)
        return change not in self._made and (failed is None or now >= failed.until)

    def _drop_old(self, changes: list[RangeChange], now: float) -> None:
        """Forget changes made over an hour ago, and failures of changes no longer wanted."""
        self._made = {
            change: made for change, made in self._made.items() if now - made < RANGE_REPEAT_SECONDS
        }
        self._failures = {
            change: failed for change, failed in self._failures.items() if change in changes
        }

    # --- what is wanted, and what was asked for ----------------------------------------------

    def _wanted(self) -> Wanted:
        wanted = {}
        for table in self._tables.tables():
            begins = row_prefix(table.id) in self._bounds
            size = 0 if table.splits else self._size_of(table, begins)
            bounds = wanted_of(table, size, self._split_bytes, begins=begins)
            if bounds:
                wanted[table.id] = bounds
        return wanted

    def _read_notes(self, wanted: Wanted) -> None:
        """Read the records of tables that are wanted or in which a range begins."""
        found = {*wanted, *(at for each in self._bounds if (at := table_at(each)) is not None)}
        self._noted = {
            table: noted for table, noted in self._noted.items() if self._tables.by_id(table)
        }
        unread = sorted(at for at in found - self._noted.keys() if self._tables.by_id(at))
        if unread:
            records = self._store.snapshot().get_many([ranges_key(table) for table in unread])
            for table, record in zip(unread, records, strict=True):
                self._noted[table] = frozenset() if record is None else decode_ranges(table, record)
                self._doubtful |= self._noted[table]

    def _notes(self, wanted: Wanted) -> Iterator[Write[None]]:
        """Writes for the records: where ranges are wanted, and former places that have any."""
        self._doubtful.difference_update(self._bounds)
        present = self._doubtful.union(self._bounds)
        for table_id, noted in self._noted.items():
            table = self._tables.by_id(table_id)
            bounds = wanted.get(table_id, frozenset()) | noted & present
            if table is not None and bounds != noted:
                yield self._note(table, bounds)

    def _note(self, table: Partitioned, bounds: frozenset[bytes]) -> Write[None]:
        def settled(_: None) -> None:
            self._noted[table.id] = bounds

        body = partial(_save, partial(self._tables.current, table), bounds)
        shards = (statistics_prefix(table.id),)
        return Write(shards, body, reads=self._tables.reads, settled=settled)


def _save(
    current: Callable[[Transaction], Partitioned], bounds: frozenset[bytes], txn: Transaction
) -> None:
    try:
        table = current(txn)
    except NotFound:
        return  # dropped meanwhile, with its record
    key = ranges_key(table.id)
    if bounds:
        txn.put(key, encode_ranges(table.id, bounds))
    else:
        txn.delete(key)
