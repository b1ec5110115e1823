"""Working off intents: making entries of global indexes agree with their rows (change §A10).

Where transactions reach over shards, entries are compared with the row and the intents removed in
one transaction. Elsewhere an entry is written in the transaction of its own shard, which reads the
row as it is by then: whatever changes the row later leaves an intent of its own. So a row that is
written all the time keeps no entry waiting. The intents of a row go behind its entries, in a
transaction of their own. Doing any of it again does no harm.

A wide row is more than one key, so what its entries are is worked out from a view beforehand, and
given up if the row has changed since; then that row is tried again from a newer view, a few times,
and no other one waits for it.

Tables take turns, and in a table partition keys do (`engine/rounds.py`). What could not be done
stays where it is and is met again in the next round.
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

STEP_ENTRIES: Final = 512  # looked at in one step: as many writes as share a group
STEP_RECORDS: Final = 4096  # read in one step, where intents of another kind lie between
TABLE_ENTRIES_MIN: Final = 32  # of one table in a step, however many have more
ATTEMPTS: Final = 3  # of a wide row in one step
WAITING_SHOWN: Final = 1000  # intents counted at most for a report
GONE_MAX: Final = 1000  # numbers of what was dropped that are remembered


class _Portion(NamedTuple):
    """Intents of one table that are worked off together, and how many entries they name."""

    table: Table
    intents: list[EntryIntent]
    entries: int


class _Work(NamedTuple):
    """A write of an entry, and the row that it is for."""

    write: Write[Any]
    row: "_Row"


@final
class _Row:
    """A row that left intents, and what its entries are as of the moment at which it is read."""

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
        """The number of the index and the key of every entry that its intents name, each once."""
        yield from dict.fromkeys(entry for intent in self.intents for entry in intent.entries)

    def look(self, reader: Reader) -> None:
        """Work out the entries of a wide row as a view shows it."""
        record = reader.get(self.key)
        if record is not None and header_of(record).kind == RecordKind.WIDE:
            self._planned = record, self._made(ObservedRow(reader, self.key, record))

    def wanted(self, txn: Transaction) -> dict[bytes, bytes]:
        """The records of all its entries of global indexes, by their keys, as a body reads it.

        Raises `Replan` for a wide row that is another one than was looked at.
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
    """Works off the intents of all tables. `step` is for one caller at a time."""

    def __init__(
        self,
        store: Store,
        tables: Tables[Table],
        clock: Clock,
        keeper: SecondaryIndexKeeper,
        lease: Lease,
    ) -> None:
        """Each intent is worked off when it is `lag_us` microseconds old: at once.

        `lease`: of whoever works them off, which this process may take over from another one.
        """
        self._store = store
        self._tables = tables
        self._clock = clock
        self._keeper = keeper
        self._lease = lease
        self._terms = lease.terms
        self.lag_us = 0
        self._rounds: Rounds[int, int] = Rounds()  # over tables; names are the numbers of indexes
        self._position = SPACE_INTENTS  # where the pass over all tables goes on
        self._pass_worked = False  # whether anything was worked off in this pass
        self._is_needed = True  # whether there may be intents where none are left any more
        self._gone: set[int] = set()  # numbers of tables and indexes that were dropped

    def pause(self, seconds: float) -> float:
        """How long to wait at most for the next look, where there was nothing to do."""
        if not self._keeper.deferred:
            return seconds
        if not any(each.indexes for each in self._tables.all()):
            return min(seconds, FIRST_LOOK_SECONDS)
        return min(seconds, max(HOUSEKEEPING_PAUSE_SECONDS, self.lag_us / 4_000_000))

    def waiting(self, table: Table) -> tuple[int, dict[int, float]]:
        """How many intents of a table wait, and how old the oldest is for each index, in seconds.

        Of at most `WAITING_SHOWN`, which are read. An index without any is not among them.
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
        """The lags of all global indexes, without those of which nothing is known yet.

        Nothing is behind where entries come with their rows. Any thread may call.
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

        Without a lag none is left where a transaction reaches the indexes, once all were looked at.
        """
        if not self._keeper.deferred and not self._is_needed:
            return None
        if self._terms != self._lease.terms:  # another process may have worked off some since
            self._terms = self._lease.terms
            self._rounds, self._position = Rounds(), SPACE_INTENTS
        portions = self._portions()
        if not portions and self._position == SPACE_INTENTS and self._pass_worked:
            portions = self._portions()  # the pass is over that found some: another one begins
        if portions:
            across = self._store.capabilities.atomic_across_shards
            return self._together(portions) if across else self._apart(portions)
        if self._position != SPACE_INTENTS or self._rounds.open:
            return Plan((), pass_over)  # there is more to look at
        self._is_needed = self._rounds.met
        return None

    # --- which intents -----------------------------------------------------------------------

    def _portions(self) -> list[_Portion]:
        """The intents of this step; the pass is over where the position is at its start again."""
        rounds, now_us = self._rounds, self._clock.now_us()
        rounds.begin(now_us)
        if self._position == SPACE_INTENTS:
            self._pass_worked = False
        # Without a lag none is early, whatever the clock of the server says that left it.
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
        """The table of the next intent; None: the walk ends here."""
        while True:
            try:
                intent = walk.peek()
            except StoreBusy:
                passed = walk.pass_by(self._tables.catalog.seen().by_id)
                if passed is not None:
                    self._rounds.visit(passed)  # and do not end its round
                continue
            if intent is None:
                return None
            prefix = intent.key[:ROW_PREFIX_BYTES]
            table = self._known(int.from_bytes(prefix[len(SPACE_INTENTS) :], "big"))
            if table is not None:
                return table
            walk.skip_to(after_prefix(prefix))  # dropped: its intents go with it

    def _portion(self, walk: IntentWalk, table: Table, due_us: int, most: int) -> _Portion:
        """The next intents of a table, of at most so many entries; the walk is behind it then."""
        rounds, number = self._rounds, table.id
        intents: list[EntryIntent] = []
        entries: set[tuple[int, bytes]] = set()
        walk.skip_to(rounds.visit(number))
        stop = after_prefix(intent_prefix(number))
        with suppress(StoreBusy):  # then the next portion begins where this one does
            while len(entries) < most:
                found = walk.peek(stop)
                if found is None and walk.position >= stop:
                    rounds.ends(number)
                    break
                if found is None:  # enough was read
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
        """The table with every index of these that was not dropped.

        What the catalogue as it was read last does not have may have come since. What it does not
        have after an intent that names it was seen is gone for good.
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

    # --- where they do not -------------------------------------------------------------------

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
        """Write entries of rows, behind other writes; then what follows from how that ended.

        The intents of rows whose entries are all written are removed, and rows that have changed
        are tried again, in one plan. `trouble` is raised when all of it has ended.
        """
        works = [work for row in rows for work in self._works(row)]

        def ended(outcomes: Sequence[Outcome[Any]]) -> tuple[list[_Row], list[_Row]]:
            """The rows whose entries are written, and those to be tried again."""
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
        """These rows as they are now, without those that cannot be read."""
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
    """The rows that left intents, each with all of its own, in the order of the first ones."""
    rows: dict[bytes, _Row] = {}
    for intent in intents:
        row = rows.get(intent.row)
        if row is None:
            row = rows[intent.row] = _Row(table, forms, intent.row)
        row.intents.append(intent)
    return list(rows.values())


def _trouble(outcomes: Sequence[Outcome[Any]]) -> Exception | None:
    """The first error that does not go away by itself."""
    try:
        pass_over(outcomes)
    except Exception as error:  # noqa: BLE001  # whatever it is
        return error
    return None


def _make_agree(txn: Transaction, key: bytes, wanted: dict[bytes, bytes]) -> None:
    """Make the entry under `key` what `wanted` says, or remove it; with the segments of either.

    It is written in any case: so a body that has read an older state of the row, of another
    process, is not committed behind this one.
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
