"""Applies intents: makes entries of global indexes agree with their rows (change §A10).

Where transactions reach over shards, entries are compared with the row and the intents removed in
one transaction. Elsewhere an entry is written in a transaction of its own shard, which reads the
row's present state: a later change of the row leaves an intent of its own. So an entry does not
wait for a row that is written all the time. The intents of a row are removed after its entries are
written, in a transaction of their own. Each of these transactions can be repeated without harm.

A wide row has more than one key, so its entries are computed from a view beforehand, and given up
if the row has changed since; then the row is tried again from a newer view, a few times, while
other rows go on.

Tables take turns, and in a table partition keys do (`engine/rounds.py`). Intents that could not be
applied stay, and the next round meets them again.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple, final

from widerow.clock import Clock
from widerow.engine.catalog.catalog import Tables
from widerow.engine.intents import IntentKind, IntentWalk, pass_over, removals
from widerow.engine.lag import Lag, seconds_behind
from widerow.engine.lease import Lease
from widerow.engine.plan import Plan
from widerow.engine.rounds import Rounds
from widerow.engine.tablestore.indexes.form import TableForms
from widerow.engine.tablestore.indexes.intents import (
    EntryIntent,
    decode_entry_intent,
    entry_intents,
)
from widerow.engine.tablestore.indexes.keeper import SecondaryIndexKeeper
from widerow.engine.tablestore.observed import ObservedRow
from widerow.errors import Replan, StoreBusy
from widerow.keys.decode import key_value_end
from widerow.keys.encode import after_prefix
from widerow.keys.layout import (
    ROW_PREFIX_BYTES,
    SPACE_INTENTS,
    intent_prefix,
    row_prefix,
    segment_range,
)
from widerow.limits import FIRST_LOOK_SECONDS, HOUSEKEEPING_PAUSE_SECONDS, INT64_MAX
from widerow.model.tablestore.schema import Table
from widerow.rows.record import RecordKind, header_of
from widerow.storage.interface import Outcome, Reader, Store, Transaction, Write

__all__ = ["IntentApplier"]

STEP_ENTRIES: Final = 512  # entries compared in one step: as many as writes that share a group
STEP_RECORDS: Final = 4096  # read in one step, where intents of another kind lie between
TABLE_ENTRIES_MIN: Final = 32  # of one table in a step, even if many tables have intents
ATTEMPTS: Final = 3  # of a wide row in one step
WAITING_SHOWN: Final = 1000  # intents counted at most for a report
GONE_MAX: Final = 1000  # numbers of dropped tables and indexes that are remembered


class _Portion(NamedTuple):
    """Intents of one table that are applied together, and the number of entries they name."""

    table: Table
    intents: list[EntryIntent]
    entries: int


class _Work(NamedTuple):
    """The write of an entry, and the row of the entry."""

    write: Write[Any]
    row: "_Row"


@final
class _Row:
    """A row with intents, and its entries as computed from its state when it was read."""

    __slots__ = ("_forms", "_known", "_planned", "intents", "key", "table")

    def __init__(self, table: Table, forms: TableForms, key: bytes) -> None:
        """A row without intents so far."""
        self.table = table
        self.key = key
        self.intents: list[EntryIntent] = []
        self._forms = forms
        self._known: tuple[bytes, dict[bytes, bytes]] | None = None
        self._planned: tuple[bytes, dict[bytes, bytes]] | None = None

    def entries(self) -> Iterator[tuple[int, bytes]]:
        """The index number and key of every entry that the intents of the row name, each once."""
        yield from dict.fromkeys(entry for intent in self.intents for entry in intent.entries)

    def look(self, reader: Reader) -> None:
        """Compute the entries of a wide row from a view."""
        record = reader.get(self.key)
        if record is not None and header_of(record).kind == RecordKind.WIDE:
            self._planned = record, self._made(ObservedRow(reader, self.key, record))

    def wanted(self, txn: Transaction) -> dict[bytes, bytes]:
        """The records of all entries that the row has in global indexes, by key, read in a body.

        Raises `Replan` for a wide row that has changed since `look`.
        """
        record = txn.get(self.key)
        if record is None:
            return {}
        for known in (self._known, self._planned):
            if known is not None and known[0] == record:
                return known[1]
        if header_of(record).kind == RecordKind.WIDE:
            raise Replan
        self._known = record, self._made(ObservedRow(txn, self.key, record))
        return self._known[1]

    def _made(self, row: ObservedRow) -> dict[bytes, bytes]:
        end = key_value_end(self.key, ROW_PREFIX_BYTES, self.table.key_columns[0].type)
        indexed = self._forms.row(row, self.key[:end])
        records: dict[bytes, bytes] = {}
        for form in self._forms.forms:
            if not form.index.is_local:
                records |= form.entries(indexed)
        return records


@final
class IntentApplier:
    """Applies the intents of all tables. `step` is for one caller at a time."""

    def __init__(
        self,
        store: Store,
        tables: Tables[Table],
        clock: Clock,
        keeper: SecondaryIndexKeeper,
        lease: Lease,
    ) -> None:
        """Each intent is applied when it is `lag_us` microseconds old; at first `lag_us` is 0.

        `lease`: of the process that applies intents, which may change.
        """
        self._store = store
        self._tables = tables
        self._clock = clock
        self._keeper = keeper
        self._lease = lease
        self._terms = lease.terms
        self.lag_us = 0
        self._rounds: Rounds[int, int] = Rounds()  # over tables; names are the numbers of indexes
        self._position = SPACE_INTENTS  # where the pass over all tables continues
        self._pass_worked = False  # whether an intent was applied in this pass
        self._is_needed = True  # False once no intent is left and no more can be left
        self._gone: set[int] = set()  # numbers of dropped tables and indexes

    def pause(self, seconds: float) -> float:
        """The longest wait before the next step, after a step that found no intent."""
        if not self._keeper.deferred:
            return seconds
        if not any(each.indexes for each in self._tables.all()):
            return min(seconds, FIRST_LOOK_SECONDS)
        return min(seconds, max(HOUSEKEEPING_PAUSE_SECONDS, self.lag_us / 4_000_000))

    def waiting(self, table: Table) -> tuple[int, dict[int, float]]:
        """How many intents of a table wait, and the age in seconds of each index's oldest one.

        Reads and counts at most `WAITING_SHOWN` intents. Indexes without a waiting intent are left
        out.
        """
        now_us, count = self._clock.now_us(), 0
        ages: dict[int, float] = {}
        for each in islice(entry_intents(self._store.snapshot(), table), WAITING_SHOWN):
            count += 1
            age = seconds_behind(now_us, each.intent.time_us)
            for number, _ in each.entries:
                ages[number] = max(age, ages.get(number, 0.0))
        return count, ages

    def lags(self) -> list[Lag]:
        """The lags of all global indexes, without indexes whose lag is not known yet.

        Lags are 0 where entries are written with their rows. Any thread may call.
        """
        now_us = self._clock.now_us()
        follows = self._keeper.deferred or self._is_needed
        found = []
        for table in self._tables.all():
            for index in table.indexes:
                if not index.is_local:
                    until = self._rounds.done_until(table.id, index.id) if follows else now_us
                    if until is not None:
                        lag = seconds_behind(now_us, until)
                        found.append(Lag(table.qualified, index.name, lag))
        return found

    def step(self) -> Plan[None] | None:
        """The next step; None where no intent is due.

        Where transactions reach the indexes and no lag is set, no intent comes any more once all
        were applied.
        """
        if not self._keeper.deferred and not self._is_needed:
            return None
        if self._terms != self._lease.terms:  # another process may have applied intents since
            self._terms = self._lease.terms
            self._rounds, self._position = Rounds(), SPACE_INTENTS
        portions = self._portions()
        if not portions and self._position == SPACE_INTENTS and self._pass_worked:
            portions = self._portions()  # the pass that found intents is over: begin another one
        if portions:
            across = self._store.capabilities.atomic_across_shards
            return self._together(portions) if across else self._apart(portions)
        if self._position != SPACE_INTENTS or self._rounds.open:
            return Plan((), pass_over)  # more is to be read
        self._is_needed = self._rounds.met
        return None

    # --- which intents -----------------------------------------------------------------------

    def _portions(self) -> list[_Portion]:
        """The intents of this step.

        After the end of the pass, the position is at the start again.
        """
        rounds, now_us = self._rounds, self._clock.now_us()
        rounds.begin(now_us)
        if self._position == SPACE_INTENTS:
            self._pass_worked = False
        # Without a lag every intent is due, whatever the clock of the server that left it says.
        due_us = now_us - self.lag_us if self.lag_us else INT64_MAX
        share = max(TABLE_ENTRIES_MIN, STEP_ENTRIES // max(1, rounds.open))
        walk = IntentWalk(self._store, IntentKind.ENTRIES, self._position, STEP_RECORDS)
        portions: list[_Portion] = []
        room = STEP_ENTRIES
        while room > 0:
            table = self._next_table(walk)
            if table is None:
                break
            portion = self._portion(walk, table, due_us, min(share, room))
            room -= portion.entries
            if portion.intents:
                portions.append(portion)
        self._pass_worked |= bool(portions)
        self._position = SPACE_INTENTS if walk.is_over else walk.position
        if walk.is_over:
            rounds.pass_ends()
        return portions

    def _next_table(self, walk: IntentWalk) -> Table | None:
        """The table of the next intent; None where the walk ends."""
        while True:
            try:
                intent = walk.peek()
            except StoreBusy:
                passed = walk.pass_by(self._tables.catalog.seen().by_id)
                if passed is not None:
                    self._rounds.visit(passed)  # so that its round does not end
                continue
            if intent is None:
                return None
            prefix = intent.key[:ROW_PREFIX_BYTES]
            table = self._known(int.from_bytes(prefix[len(SPACE_INTENTS) :], "big"))
            if table is not None:
                return table
            walk.skip_to(after_prefix(prefix))  # the table was dropped: skip its intents

    def _portion(self, walk: IntentWalk, table: Table, due_us: int, most: int) -> _Portion:
        """The next intents of a table, of at most `most` entries; the walk continues after them."""
        rounds, number = self._rounds, table.id
        intents: list[EntryIntent] = []
        entries: set[tuple[int, bytes]] = set()
        walk.skip_to(rounds.visit(number))
        stop = after_prefix(intent_prefix(number))
        with suppress(StoreBusy):  # the next portion begins where this one began
            while len(entries) < most:
                found = walk.peek(stop)
                if found is None and walk.position >= stop:
                    rounds.ends(number)
                    break
                if found is None:  # the walk has read enough
                    rounds.goes_on(number, walk.position)
                    break
                walk.skip_to(found.key + b"\x00")
                intent = decode_entry_intent(found)
                names = tuple([index for index, _ in intent.entries])
                if found.time_us > due_us:
                    rounds.leave(number, names, found.time_us)
                    continue
                rounds.take(number, found.key, names, found.time_us)
                intents.append(intent)
                entries.update(intent.entries)
            else:
                rounds.goes_on(number, walk.position)
        walk.skip_to(stop)
        named = {index for index, _ in entries}
        return _Portion(self._as_named(table, named), intents, len(entries))

    def _known(self, number: int) -> Table | None:
        """The table or index of a number that an intent names; None: it was dropped."""
        found = self._tables.by_id(number)
        if found is None and number not in self._gone:
            self._tables.catalog.renew()
            found = self._tables.by_id(number)
            if found is None:
                self._forget(number)
        return found

    def _as_named(self, table: Table, indexes: set[int]) -> Table:
        """The table with all of these indexes that were not dropped.

        An index that the catalogue last read does not have may be newer than it. An index that is
        missing after the catalogue is read again, with the intent already seen, was dropped.
        """
        if not indexes - self._gone - {index.id for index in table.indexes}:
            return table
        self._tables.catalog.renew()
        newest = self._tables.by_id(table.id) or table
        for number in indexes - {index.id for index in newest.indexes}:
            self._forget(number)
        return newest

    def _forget(self, number: int) -> None:
        if len(self._gone) >= GONE_MAX:
            self._gone.clear()
        self._gone.add(number)

    # --- where transactions reach over shards ------------------------------------------------

    def _together(self, portions: Sequence[_Portion]) -> Plan[None]:
        writes = tuple([self._agreement(each) for each in portions])

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            for portion, outcome in zip(portions, outcomes, strict=True):
                if outcome.error is None:
                    self._rounds.done(intent.key for intent in portion.intents)
            pass_over(outcomes)

        return Plan(writes, finish)

    def _agreement(self, portion: _Portion) -> Write[None]:
        """The write that makes all entries of a portion agree and removes its intents."""
        table = portion.table
        indexes = sorted([index.id for index in table.indexes if not index.is_local])
        shards = (row_prefix(table.id), intent_prefix(table.id), *map(row_prefix, indexes))

        def body(txn: Transaction) -> None:
            forms = self._keeper.forms(self._tables.current(table, txn))
            for row in _rows_of(table, forms, portion.intents):
                row.look(txn)
                wanted = row.wanted(txn)
                for number, key in row.entries():
                    if number in indexes:
                        _make_agree(txn, key, wanted)
                for intent in row.intents:
                    txn.delete(intent.key)

        return Write(shards, body, reads=self._tables.catalog.reads)

    # --- where transactions reach one shard --------------------------------------------------

    def _apart(self, portions: Sequence[_Portion]) -> Plan[None]:
        rows = [
            row
            for portion in portions
            for row in _rows_of(portion.table, self._keeper.forms(portion.table), portion.intents)
        ]
        return self._attempt(rows, (), ATTEMPTS)

    def _attempt(
        self,
        rows: Sequence[_Row],
        before: tuple[Write[None], ...],
        attempts: int,
        trouble: Exception | None = None,
    ) -> Plan[None]:
        """Write entries of rows, after the writes `before`; the outcome decides the next plan.

        The intents of rows whose entries are all written are removed, and rows that have changed
        are tried again, in one plan. `trouble` is raised when all of it has ended.
        """
        works = [work for row in rows for work in self._works(row)]

        def ended(outcomes: Sequence[Outcome[Any]]) -> tuple[list[_Row], list[_Row]]:
            """The rows whose entries are written, and the rows to try again."""
            failed: dict[_Row, Exception] = {}
            for work, outcome in zip(works, outcomes[len(before) :], strict=True):
                if outcome.error is not None:
                    failed[work.row] = outcome.error
            done = [row for row in rows if row not in failed]
            changed = [row for row, error in failed.items() if isinstance(error, Replan)]
            return done, changed if attempts > 1 else []

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            done, changed = ended(outcomes)
            self._rounds.done(intent.key for row in done for intent in row.intents)
            if done or changed:
                raise Replan
            error = trouble or _trouble(outcomes)
            if error is not None:
                raise error

        def again(outcomes: Sequence[Outcome[Any]]) -> Plan[None]:
            done, changed = ended(outcomes)
            gone = removals(intent.intent for row in done for intent in row.intents)
            error = trouble or _trouble(outcomes)
            return self._attempt(self._seen_anew(changed), gone, attempts - 1, error)

        return Plan((*before, *[work.write for work in works]), finish, again=again)

    def _seen_anew(self, rows: Sequence[_Row]) -> list[_Row]:
        """The rows as they are now, without rows that cannot be read."""
        seen = []
        for row in rows:
            with suppress(StoreBusy):
                row.look(self._store.snapshot())
                seen.append(row)
        return seen

    def _works(self, row: _Row) -> Iterator[_Work]:
        """A write for each entry that a row's intents name, unless its index was dropped."""
        reads = (*self._tables.catalog.reads, row.key)
        for number, key in row.entries():
            index = self._tables.by_id(number)
            if index is not None:
                end = key_value_end(key, ROW_PREFIX_BYTES, index.key_columns[0].type)
                body = partial(self._agree, row, index, key)
                yield _Work(Write((key[:end],), body, reads=reads), row)

    def _agree(self, row: _Row, index: Table, key: bytes, txn: Transaction) -> None:
        self._tables.current(index, txn)
        _make_agree(txn, key, row.wanted(txn))


def _rows_of(table: Table, forms: TableForms, intents: Sequence[EntryIntent]) -> list[_Row]:
    """The rows of the intents, in the order of their first intents, each with all of them."""
    rows: dict[bytes, _Row] = {}
    for intent in intents:
        row = rows.get(intent.row)
        if row is None:
            row = rows[intent.row] = _Row(table, forms, intent.row)
        row.intents.append(intent)
    return list(rows.values())


def _trouble(outcomes: Sequence[Outcome[Any]]) -> Exception | None:
    """The first error that is not temporary."""
    try:
        pass_over(outcomes)
    except Exception as error:  # noqa: BLE001  # any error is returned
        return error
    return None


def _make_agree(txn: Transaction, key: bytes, wanted: dict[bytes, bytes]) -> None:
    """Put the entry under `key` as in `wanted`, or remove it; with the segments of wide entries.

    The entry is written even if it is unchanged: then a body of another process that has read an
    older state of the row cannot be committed after this one.
    """
    before = txn.get(key)
    if before is not None and before[0] == RecordKind.WIDE:
        txn.delete_range(*segment_range(key))
    if key not in wanted:
        txn.delete(key)
        return
    start, stop = segment_range(key)
    for place, record in wanted.items():
        if place == key or start <= place < stop:
            txn.put(place, record)
