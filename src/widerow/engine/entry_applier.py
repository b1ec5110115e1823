"""Applies intents: makes entries of indexes agree with their rows, for every table model.

Where a transaction reaches one shard, an entry is written in a transaction of its own shard, which
reads the row's present state: a later change of the row leaves an intent of its own. So an entry
does not wait for a row that is written all the time. The intents of a row are removed after its
entries are written, in a transaction of their own. Each of these transactions can be repeated
without harm.

Tables take turns, and in a table partition keys do (`engine/rounds.py`). Intents that could not be
applied stay, and the next round meets them again. Entries of a row that has changed while they were
computed are tried again a few times, while other rows go on.

A table model says which intents are its own, which indexes there are and what is to be written.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeVar, final

from widerow.clock import Clock
from widerow.engine.catalog.catalog import Tables
from widerow.engine.catalog.model import Numbered
from widerow.engine.entry_intents import EntryIntent, decode_entry_intent, entry_intents
from widerow.engine.intents import IntentKind, IntentWalk, pass_over, removals
from widerow.engine.lag import Lag, seconds_behind
from widerow.engine.lease import Lease
from widerow.engine.look_pause import LookPause
from widerow.engine.plan import Plan
from widerow.engine.rounds import Rounds
from widerow.errors import Replan, StoreBusy
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES, SPACE_INTENTS, intent_prefix
from widerow.limits import (
    ENTRY_LAG_PACED_SECONDS,
    FIRST_LOOK_SECONDS,
    INT64_MAX,
)
from widerow.storage.interface import Outcome, Reader, Store, Write

__all__ = ["ATTEMPTS", "STEP_ENTRIES", "EntryApplier", "FollowedIndex", "IntentRow", "Portion"]

T = TypeVar("T", bound=Numbered)
R = TypeVar("R", bound="IntentRow")

STEP_ENTRIES: Final = 512  # entries compared in one step: as many as writes that share a group
STEP_RECORDS: Final = 4096  # read in one step, where intents of another kind lie between
TABLE_ENTRIES_MIN: Final = 32  # of one table in a step, even if many tables have intents
ATTEMPTS: Final = 3  # of a row that has changed, in one step
WAITING_SHOWN: Final = 1000  # intents counted at most for a report
GONE_MAX: Final = 1000  # numbers of dropped tables and indexes that are remembered


class FollowedIndex(NamedTuple):
    """An index whose entries follow by intents.

    `queue`: the number under which its table's intents stand. `table`: the table's qualified name.
    """

    queue: int
    table: str
    name: str
    id: int


class Portion(NamedTuple, Generic[T]):
    """Intents of one table that are applied together, and the number of entries they name."""

    table: T
    intents: list[EntryIntent]
    entries: int


class _Work(NamedTuple, Generic[R]):
    """A write of entries, and the row of the entries."""

    write: Write[Any]
    row: R


class IntentRow:
    """A row with intents."""

    __slots__ = ("intents", "key")

    def __init__(self, key: bytes) -> None:
        self.key = key
        self.intents: list[EntryIntent] = []

    def entries(self) -> Iterator[tuple[int, bytes]]:
        """The index number and key of every entry that the intents of the row name, each once."""
        yield from dict.fromkeys(entry for intent in self.intents for entry in intent.entries)

    def look(self, reader: Reader) -> None:
        """Prepare from a view what a body cannot read."""


class EntryApplier(ABC, Generic[T, R]):
    """Applies the intents of one kind. `step` is for one caller at a time."""

    kind: ClassVar[IntentKind]

    def __init__(self, store: Store, tables: Tables[T], clock: Clock, lease: Lease) -> None:
        """Each intent is applied when it is `lag_us` microseconds old; at first `lag_us` is 0.

        `lease`: of the process that applies intents, which may change.
        """
        self.lag_us = 0
        self._store = store
        self._tables = tables
        self._clock = clock
        self._lease = lease
        self._terms = lease.terms
        self._pause = LookPause()
        self._rounds: Rounds[int, int] = Rounds()  # over tables; names are the numbers of indexes
        self._position = SPACE_INTENTS  # where the pass over all tables continues
        self._pass_worked = False  # whether an intent was applied in this pass
        self._is_needed = True  # False once no intent is left and no more can be left
        self._gone: set[int] = set()  # numbers of dropped tables and indexes

    # --- what a table model says ---------------------------------------------------------------

    @abstractmethod
    def follows(self) -> bool:
        """Whether intents may be left now."""

    @abstractmethod
    def followed(self) -> Iterable[FollowedIndex]:
        """Every index whose entries may follow by intents."""

    @abstractmethod
    def numbers(self, table: T) -> set[int]:
        """The numbers of the indexes that the intents of a table may name."""

    @abstractmethod
    def row(self, table: T, key: bytes) -> R:
        """A row of a table that has intents."""

    @abstractmethod
    def writes(self, row: R) -> Iterator[Write[Any]]:
        """The writes that make the entries agree that a row's intents name.

        Nothing for an index that was dropped. Each may be repeated, and may end with `Replan` where
        the row is to be looked at anew (`IntentRow.look`).
        """

    # --- what is asked -------------------------------------------------------------------------

    def pause(self, seconds: float) -> float:
        """The longest wait before the next step, after a step that found no intent."""
        if not self.follows():
            return seconds
        if next(iter(self.followed()), None) is None:
            return min(seconds, FIRST_LOOK_SECONDS)
        return min(seconds, max(self._pause.seconds, self.lag_us / 4_000_000))

    def waiting(self, table: T) -> tuple[int, dict[int, float]]:
        """How many intents of a table wait, and the age in seconds of each index's oldest one.

        Reads and counts at most `WAITING_SHOWN` intents. Indexes without a waiting intent are left
        out.
        """
        now_us, count = self._clock.now_us(), 0
        ages: dict[int, float] = {}
        found = entry_intents(self._store.snapshot(), intent_prefix(table.id), self.kind)
        for each in islice(found, WAITING_SHOWN):
            count += 1
            age = seconds_behind(now_us, each.intent.time_us)
            for number, _ in each.entries:
                ages[number] = max(age, ages.get(number, 0.0))
        return count, ages

    def tables_behind(self) -> Iterator[int]:
        """The tables with an index that is behind by more than `ENTRY_LAG_PACED_SECONDS`.

        Only those of which more waits than one step takes: where steps are slow all tables are
        behind, and holding back the writers of the others would not help. By the numbers under
        which their intents stand; of an index that is held back on purpose beyond that. Any thread
        may call.
        """
        if not (self.follows() or self._is_needed):
            return
        bound_us = self._clock.now_us() - self.lag_us - ENTRY_LAG_PACED_SECONDS * 1_000_000
        for each in self.followed():
            until = self._rounds.done_until(each.queue, each.id)
            if until is not None and until < bound_us and self._rounds.has_more(each.queue):
                yield each.queue

    def lags(self) -> list[Lag]:
        """The lags of all indexes that may follow, without those whose lag is not known yet.

        Lags are 0 where entries are written with their rows. Any thread may call.
        """
        now_us = self._clock.now_us()
        follows = self.follows() or self._is_needed
        found = []
        for each in self.followed():
            until = self._rounds.done_until(each.queue, each.id) if follows else now_us
            if until is not None:
                found.append(Lag(each.table, each.name, seconds_behind(now_us, until)))
        return found

    def step(self) -> Plan[None] | None:
        """The next step; None where no intent is due.

        Where none can be left any more, there are no steps once all were applied.
        """
        if self.follows():
            self._is_needed = True
        elif not self._is_needed:
            return None
        if self._terms != self._lease.terms:  # another process may have applied intents since
            self._terms = self._lease.terms
            self._rounds, self._position = Rounds(), SPACE_INTENTS
        portions = self._portions()
        if not portions and self._position == SPACE_INTENTS and self._pass_worked:
            portions = self._portions()  # the pass that found intents is over: begin another one
        self._pause.looked(found=bool(portions))
        if portions:
            return self.plan(portions)
        if self._position != SPACE_INTENTS or self._rounds.open:
            return Plan((), pass_over)  # more is to be read
        self._is_needed = self._rounds.met
        return None

    # --- which intents -----------------------------------------------------------------------

    def _portions(self) -> list[Portion[T]]:
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
        walk = IntentWalk(self._store, self.kind, self._position, STEP_RECORDS)
        portions: list[Portion[T]] = []
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

    def _next_table(self, walk: IntentWalk) -> T | None:
        """The table of the next intent; None where the walk ends."""
        known = self._tables.catalog.seen
        while True:
            # The round of a table that is passed over does not end, because it is visited.
            intent = walk.following(lambda: known().by_id, self._rounds.visit)
            if intent is None:
                return None
            prefix = intent.key[:ROW_PREFIX_BYTES]
            table = self._known(int.from_bytes(prefix[len(SPACE_INTENTS) :], "big"))
            if table is not None:
                return table
            walk.skip_to(after_prefix(prefix))  # the table was dropped: skip its intents

    def _portion(self, walk: IntentWalk, table: T, due_us: int, most: int) -> Portion[T]:
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
        return Portion(self._as_named(table, named), intents, len(entries))

    def _known(self, number: int) -> T | None:
        """The table or index of a number that an intent names; None: it was dropped."""
        found = self._tables.by_id(number)
        if found is None and number not in self._gone:
            self._tables.catalog.renew()
            found = self._tables.by_id(number)
            if found is None:
                self._forget(number)
        return found

    def _as_named(self, table: T, indexes: set[int]) -> T:
        """The table with all of these indexes that were not dropped.

        An index that the catalogue last read does not have may be newer than it. An index that is
        missing after the catalogue is read again, with the intent already seen, was dropped.
        """
        if not indexes - self._gone - self.numbers(table):
            return table
        self._tables.catalog.renew()
        newest = self._tables.by_id(table.id) or table
        for number in indexes - self.numbers(newest):
            self._forget(number)
        return newest

    def _forget(self, number: int) -> None:
        if len(self._gone) >= GONE_MAX:
            self._gone.clear()
        self._gone.add(number)

    # --- applying them -------------------------------------------------------------------------

    def plan(self, portions: Sequence[Portion[T]]) -> Plan[None]:
        """What applies these intents, each entry in a transaction of its own shard."""
        rows = [row for each in portions for row in self.rows(each.table, each.intents)]
        return self._attempt(rows, (), ATTEMPTS)

    @final
    def rows(self, table: T, intents: Sequence[EntryIntent]) -> list[R]:
        """The rows of intents, in the order of their first intents, each with all of them."""
        rows: dict[bytes, R] = {}
        for intent in intents:
            row = rows.get(intent.row)
            if row is None:
                row = rows[intent.row] = self.row(table, intent.row)
            row.intents.append(intent)
        return list(rows.values())

    def _attempt(
        self,
        rows: Sequence[R],
        before: tuple[Write[None], ...],
        attempts: int,
        trouble: Exception | None = None,
    ) -> Plan[None]:
        """Write entries of rows, after the writes `before`; the outcome decides the next plan.

        The intents of rows whose entries are all written are removed, and rows that have changed
        are tried again, in one plan. `trouble` is raised when all of it has ended.
        """
        works = [_Work(write, row) for row in rows for write in self.writes(row)]

        def ended(outcomes: Sequence[Outcome[Any]]) -> tuple[list[R], list[R]]:
            """The rows whose entries are written, and the rows to try again."""
            failed: dict[R, Exception] = {}
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

    def _seen_anew(self, rows: Sequence[R]) -> list[R]:
        """The rows as they are now, without rows that cannot be read."""
        seen = []
        for row in rows:
            with suppress(StoreBusy):
                row.look(self._store.snapshot())
                seen.append(row)
        return seen


def _trouble(outcomes: Sequence[Outcome[Any]]) -> Exception | None:
    """The first error that is not temporary."""
    try:
        pass_over(outcomes)
    except Exception as error:  # noqa: BLE001  # any error is returned
        return error
    return None
