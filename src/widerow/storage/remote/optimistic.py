"""A store over a driver of a database across a network: transactions are optimistic.

Each shard has a revision, a random token under a key of its own (`keys/layout.py`). A group goes
through these steps:

1. The revisions of its shards are read with what its bodies read, all from one view of the driver:
   so a body sees one state of its shard and knows the revision of that state. To read much at once,
   bodies run first to find out what they ask for; what they did then is forgotten.
   What this process committed last is cached and not read (`shard_cache.py`).
2. Bodies run over overlays. Writes of one shard run one after another on each other's results, and
   become one change of that shard with one new revision (`units.py`).
3. All changes of shards with the same home (`driver.py`) are committed by one call, the calls
   of several homes at the same time, on condition that every revision is still the one that was
   read. Where some are not, the others are committed again, and the writes of these shards
   begin anew, after a random pause that grows. A write that was overtaken for
   `CONFLICT_SECONDS_MAX` ends with `StoreBusy`, and nothing of it was written.
4. A commit without an answer is looked up. The new revision stands there: it was made. The old one
   does: it was not made yet, so the layer writes a revision of its own under the condition of the
   old one. When that has succeeded, the lost commit can come no more, and the bodies run again. If
   somebody else has changed every shard of the commit since, or the database cannot be reached for
   `OUTCOME_SECONDS_MAX`, the writes end with `OutcomeUnknown`. In the latter case the shards are
   looked up again before any later body runs on them.

A body that wrote nothing needs no commit: what it read is one state of its shard that was current
after the group began. Keys that a write reads alone (`Write.reads`) come from the same view.

Groups run one at a time, so writers of one process never overtake each other. Where a database is
divided (`Store.placement`) and a part of it is away, a group waits for that part for
`HOME_SECONDS_MAX`, beside the others, and not at all where a server hangs; after that its writes
end with `StoreBusy`, and those of later groups do so at once until it answers (`away.py`). A group
that `transact_promptly` runs waits for no server that is slower than the others (`lanes.py`).
"""

import secrets
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from enum import Enum
from functools import partial
from time import monotonic, perf_counter_ns, sleep
from typing import Any, Final, Protocol, TypeVar

from widerow.errors import (
    OutcomeUnknown,
    StorageFailure,
    StoreBusy,
    StoreHangs,
    StorePoisoned,
)
from widerow.limits import (
    ATTEMPT_SECONDS_MAX,
    BACK_OFF_SECONDS,
    BACK_OFF_SECONDS_MAX,
    COMMITS_TOGETHER_MAX,
    CONFLICT_SECONDS_MAX,
    FIRST_PAGES_BYTES_MAX,
    HOME_SECONDS_MAX,
    LATE_SECONDS,
    MERGED_COMMITS_MAX,
    OUTCOME_SECONDS_MAX,
    READ_ROUNDS_MAX,
    TRANSACTION_SECONDS_MAX,
)
from widerow.storage.foresight import foreseen_reads, refuse_in_attempt
from widerow.storage.group import conclude, doubt, succeeded
from widerow.storage.interface import Outcome, Snapshot, Store, Write
from widerow.storage.late import LateWrites
from widerow.storage.page import Page, PageWanted
from widerow.storage.remote.away import AwayHomes
from widerow.storage.remote.driver import Driver, ShardChange
from widerow.storage.remote.lanes import Lanes, Part
from widerow.storage.remote.readers import (
    LostKeys,
    ReadFailed,
    RemoteSnapshot,
    UnitReader,
    WantedReads,
    without_revisions,
)
from widerow.storage.remote.shard_cache import ShardCache
from widerow.storage.remote.units import Placed, Unit, placed_writes, runs_of, units_of
from widerow.storage.server_state import ServerState
from widerow.storage.sockets import LoopReads, Sockets

__all__ = ["REVISION_BYTES", "OptimisticStore"]

T = TypeVar("T")

REVISION_BYTES: Final = 16
_OVERTAKEN: Final = "other processes change the same keys all the time"
_GUESSES_MAX: Final = 64  # keys read alone whose last value is kept: the epoch of the catalogue


_NOT_ENDED: Final[Outcome[Any]] = Outcome(None, None)


class _Each(Protocol):
    """Runs all of some works, one after the other or at the same time."""

    def __call__(self, works: Sequence[Callable[[], T]], /) -> list[T]:
        """What they give, in their order."""
        ...


class _CommitOutcome(Enum):
    """What became of a commit that had no answer."""

    MADE = "it was made"
    NOT_MADE = "it was not made, and can be made no more"
    OVERTAKEN = "others have changed every one of its shards since"
    OPEN = "the database does not answer"


class _Pause:
    """Random, growing pauses between attempts, and the time since the first one."""

    def __init__(self, token: Callable[[int], bytes], rest: Callable[[float], None]) -> None:
        self._token = token
        self._rest = rest
        self._began = monotonic()
        self._bound = BACK_OFF_SECONDS

    def passed(self, seconds: float) -> bool:
        """Whether `seconds` have passed since this object was made."""
        return monotonic() - self._began >= seconds

    def wait(self) -> None:
        """Wait for a random time."""
        share = int.from_bytes(self._token(4), "big") / 2**32
        self._rest(self._bound * share)
        self._bound = min(2 * self._bound, BACK_OFF_SECONDS_MAX)


class OptimisticStore(Store):
    """A store of several processes over one driver. See the module."""

    def __init__(
        self,
        driver: Driver,
        *,
        token: Callable[[int], bytes] = secrets.token_bytes,
        rest: Callable[[float], None] = sleep,
    ) -> None:
        """Over an open driver, which the store closes. `token` gives random bytes, `rest` waits."""
        self.capabilities = driver.capabilities
        self.placement = driver.placement
        # Where data is divided, a group waits itself for a part that is away.
        self._patient = driver.placement is None
        self._driver = driver
        self._token = token
        self._rest = rest
        self._lock = threading.Lock()
        self._writing = self._lock
        self._closed = False
        self._poison: str | None = None
        self._guesses: dict[bytes, bytes | None] = {}
        self._cache = ShardCache()
        self._lost_keys = LostKeys()
        self._away = AwayHomes(driver.try_home)
        self._open_commits: list[list[ShardChange]] = []  # commits with unknown outcome
        self._open_until: float | None = None  # until when the last of them may still be made
        self._threads: ThreadPoolExecutor | None = None
        self._lanes = Lanes(self._run_part, self._conclude_late)
        self._counting = threading.Lock()
        self._counts = dict.fromkeys(
            (
                *("groups", "writes", "syncs", "written_bytes", "conflicts", "unknown", "commits"),
                "late",
            ),
            0,
        )

    # --- reads -------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """A view of each shard at a moment of its own, from the first read on."""
        self._check_open()
        return foreseen_reads() or RemoteSnapshot(self._driver)

    def brief_snapshot(self, rows: int = 0) -> Snapshot:
        """A snapshot whose first read is one round trip; it may be lost before the second."""
        self._check_open()
        return foreseen_reads(rows) or RemoteSnapshot(self._driver, self._lost_keys, rows)

    def get_together(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Values of `keys`, by one round trip, which waits for no part that is away."""
        self._check_open()
        return self._driver.read_many(keys, patient=False)

    def server_of(self, key: bytes) -> str:
        """The server that has a key, as far as is known."""
        return "" if self.placement is None else self._driver.server(key)

    def loop_reads(self, sockets: Sockets) -> LoopReads | None:
        """The driver's reads on a loop; None where it has none."""
        return self._driver.loop_reads(sockets)

    def get_pages_together(self, wanted: Sequence[PageWanted]) -> list[Page]:
        """Pages, by about one round trip, which waits for no part that is away."""
        self._check_open()
        return [without_revisions(page) for page in self._driver.read_pages(wanted)]

    # --- groups ------------------------------------------------------------------------------

    def _run_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        """Run the writes in runs (`units.py`), each run until every unit of it has ended."""
        self._check_writable()
        outcomes: list[Outcome[Any] | None] = [None] * len(writes)
        runs = list(runs_of(list(placed_writes(writes, outcomes, self._driver.home))))
        return self._run_whole(runs, outcomes)

    def transact_promptly(
        self, writes: Sequence[Write[T]]
    ) -> tuple[list[Outcome[T]], Sequence[LateWrites]]:
        """As `transact_group`, but for servers that are slow, whose writes are late."""
        if self.placement is None or any(write.alone for write in writes):
            return self.transact_group(writes), ()
        try:
            with self._writing:
                return self._transact_parts(writes)
        finally:
            self._conclude_late()  # what has ended meanwhile

    def _transact_parts(
        self, writes: Sequence[Write[T]]
    ) -> tuple[list[Outcome[T]], Sequence[LateWrites]]:
        """Run a group in parts, and tell the writes that are not late how they ended."""
        try:
            outcomes, late = self._run_promptly(writes)
            absent = {place for each in late for place in each.places}
            ended = [place for place in range(len(writes)) if place not in absent]
            conclude([writes[place] for place in ended], [outcomes[place] for place in ended])
        except BaseException as error:
            if isinstance(error, OutcomeUnknown) or not isinstance(error, StorageFailure):
                doubt(writes)
            raise
        return outcomes, late

    def _check_writable(self) -> None:
        refuse_in_attempt()
        self._check_open()
        if self._poison is not None:
            raise StorePoisoned(self._poison)

    def _run_whole(
        self, runs: Sequence[list[Placed]], outcomes: list[Outcome[Any] | None]
    ) -> list[Outcome[Any]]:
        """Run all writes of a group, behind everything that is late."""
        while self._lanes.any_late:
            self._lanes.await_ended()
            self._conclude_ended()
        failed: dict[object, Exception] = {}  # chains, each with the error of its failed write
        waited_ns = 0
        for run in runs:
            going = [each for each in run if each.write.chain not in failed]
            units = units_of(going, self.capabilities.key_bytes_max)
            waited_ns += self._run_units(units)
            _take(units, outcomes)
            for unit in units:
                for placed, outcome in zip(unit.writes, unit.outcomes, strict=True):
                    if isinstance(outcome.error, StorageFailure) and placed.write.chain is not None:
                        failed[placed.write.chain] = outcome.error
            for placed in run:
                if placed.write.chain in failed and outcomes[placed.place] is None:
                    outcomes[placed.place] = Outcome(None, failed[placed.write.chain])
        return self._ended(outcomes, waited_ns)

    # --- parts of groups, by servers ---------------------------------------------------------

    def _run_promptly(
        self, writes: Sequence[Write[Any]]
    ) -> tuple[list[Outcome[Any]], Sequence[LateWrites]]:
        """Run a group in parts, as long as all but slow ones take; what is late."""
        self._check_writable()
        self._conclude_ended()
        outcomes: list[Outcome[Any] | None] = [None] * len(writes)
        runs = list(runs_of(list(placed_writes(writes, outcomes, self._driver.home))))
        if len(runs) != 1:
            return self._run_whole(runs, outcomes), ()
        units = units_of(runs[0], self.capabilities.key_bytes_max)
        parts = self._lanes.parts(units, self._driver.server)
        if len(self._lanes) == 1 and not self._lanes.any_late:
            waited_ns = self._run_units(units)
            _take(units, outcomes)
            return self._ended(outcomes, waited_ns), ()
        self._lanes.begin(parts)
        late = self._lanes.wait(parts, LATE_SECONDS)
        told = [part.late for part in late if part.late is not None]
        for part in parts:
            if part.late is None and part.error is not None:
                raise part.error
        going_on = {unit for part in late for unit in part.units}
        _take([unit for unit in units if unit not in going_on], outcomes)
        self._count("late", sum(len(each.places) for each in told))
        waited_ns = max((part.waited_ns for part in parts if part.late is None), default=0)
        if not told:
            return self._ended(outcomes, waited_ns), ()
        for each in told:
            for place in each.places:
                outcomes[place] = _NOT_ENDED
        ends = [each for each in outcomes if each is not None]
        self.durable_ns = waited_ns
        self._count("groups", 1)
        self._count("writes", sum(each.error is None for each in ends if each is not _NOT_ENDED))
        return ends, told

    def _run_part(self, part: Part) -> int:
        """Run the units of one server; the nanoseconds that commits took. In its lane."""
        each = part.lane.each
        waited_ns, left = self._run_together(self._served(part.units), 0.0, each)
        apart = self._by_home(left)
        waits = each([partial(self._run_home, *home) for home in apart.items()])
        return waited_ns + max(waits, default=0)

    def _conclude_late(self) -> None:
        """Tell the writes of late parts that have ended, unless whoever holds the lock does so."""
        while self._lanes.any_ended and self._lock.acquire(blocking=False):
            try:
                self._conclude_ended()
            finally:
                self._lock.release()

    def _conclude_ended(self) -> None:
        """Tell the writes of late parts that have ended. The caller holds the lock."""
        while (part := self._lanes.next_ended()) is not None:
            if part.error is not None:
                error = OutcomeUnknown(f"a late write has failed: {part.error!r}")
                for unit in part.units:
                    unit.fail(error)
            writes = [placed.write for unit in part.units for placed in unit.writes]
            outcomes = [outcome for unit in part.units for outcome in unit.outcomes]
            self._count("writes", succeeded(outcomes))
            try:
                conclude(writes, outcomes)
            finally:
                self._lanes.concluded(part)
                assert part.late is not None, "a part that is concluded behind its group is late"
                part.late.end(outcomes)

    def _ended(self, outcomes: Sequence[Outcome[Any] | None], waited_ns: int) -> list[Outcome[Any]]:
        """Count a group. Raises the database's error if every write ended with that error."""
        ends = [each for each in outcomes if each is not None]
        assert len(ends) == len(outcomes), "every write of a group has an outcome"
        self.durable_ns = waited_ns
        self._count("groups", 1)
        self._count("writes", succeeded(ends))
        failures = [each.error for each in ends if isinstance(each.error, StorageFailure)]
        if failures and len(failures) == len(ends):
            raise next((each for each in failures if isinstance(each, OutcomeUnknown)), failures[0])
        return ends

    def _run_units(self, units: list[Unit]) -> int:
        """Run and commit units until each has its outcomes; the nanoseconds that commits took.

        All together at first. Where a part of a divided database is away, the units of each home by
        themselves, and units of a home that is known to be away not at all.
        """
        if self.placement is None:
            return self._run_together(units, CONFLICT_SECONDS_MAX, _in_turn)[0]
        waited_ns, left = self._run_together(self._served(units), 0.0, self._each_home)
        apart = self._by_home(left)
        waits = self._each_home([partial(self._run_home, *each) for each in apart.items()])
        return waited_ns + max(waits, default=0)

    def _served(self, units: Sequence[Unit]) -> list[Unit]:
        """The units whose homes are not known to be away; the others end with an error."""
        if not self._away:
            return list(units)
        served = []
        for home, theirs in self._by_home(units).items():
            refusal = self._away.refusal(home)
            if refusal is None:
                served += theirs
                continue
            for unit in theirs:
                unit.fail(refusal)
        return served

    def _run_home(self, home: bytes, units: list[Unit]) -> int:
        """Run the units of one home; a home that does not answer for long is noted as away."""
        # A thread that works for one home must not wait for another thread of the same pool.
        waited_ns, left = self._run_together(units, HOME_SECONDS_MAX, _in_turn)
        if left and left[0].revisions:
            assert isinstance(left[0].busy, StoreBusy), "units are left where the database is busy"
            self._away.note(home, next(iter(left[0].revisions)), left[0].busy)
        return waited_ns

    def _run_together(
        self, units: list[Unit], away_seconds: float, each: "_Each"
    ) -> tuple[int, list[Unit]]:
        """Run units until each has ended, or the database is away for so long.

        Answers the nanoseconds that commits took, and the units that it was away for, which have
        ended with that, unless they run again. With no seconds nothing is waited for. `each`: makes
        the commits of several homes.
        """
        pause = _Pause(self._token, self._rest)
        waiting, waited_ns = units, 0
        while waiting:
            busy: StoreBusy | None = None
            try:
                began = monotonic()
                self._read_and_run(waiting)
                changing = [unit for unit in waiting if unit.writes_anything]
                started_ns = perf_counter_ns()
                until = began + ATTEMPT_SECONDS_MAX
                waiting = self._commit(changing, until, each)
                waited_ns += perf_counter_ns() - started_ns
                busy = next((unit.busy for unit in waiting if unit.busy is not None), None)
            except StoreBusy as error:
                busy = error  # nothing of these units was written
            except StorageFailure as error:
                for unit in waiting:
                    unit.fail(error)
                break
            hangs = isinstance(busy, StoreHangs)
            if busy is not None and waiting and (hangs or pause.passed(away_seconds)):
                for unit in waiting:
                    unit.refuse(busy)
                return waited_ns, waiting
            if waiting and pause.passed(CONFLICT_SECONDS_MAX):
                for unit in waiting:
                    unit.fail(busy or StoreBusy(_OVERTAKEN))
                break
            if waiting:
                pause.wait()
        return waited_ns, []

    def _by_home(self, units: Sequence[Unit]) -> dict[bytes, list[Unit]]:
        """Units by the homes of their shards, as far as homes are known."""
        found: dict[bytes, list[Unit]] = {}
        for unit in units:
            found.setdefault(self._home_of(unit), []).append(unit)
        return found

    def _home_of(self, unit: Unit) -> bytes:
        revision = next(iter(unit.revisions), None)
        return b"" if revision is None else self._known_home(revision)

    def _known_home(self, revision: bytes) -> bytes:
        """The home of a shard; empty where it is not known now."""
        try:
            return self._driver.home(revision)
        except StoreBusy:
            return b""

    def _each_home(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Run all of `works`, the first on this thread, the others on threads of their own."""
        if not works:
            return []
        sent = [self._home_threads().submit(work) for work in works[1:]]
        try:
            first = works[0]()
        finally:
            wait(sent)
        return [first, *[each.result() for each in sent]]

    def _home_threads(self) -> ThreadPoolExecutor:
        """Threads for the second and further homes of a group."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(COMMITS_TOGETHER_MAX - 1, "widerow-commit")
        return self._threads

    # --- bodies ------------------------------------------------------------------------------

    def _read_and_run(self, units: Sequence[Unit]) -> None:
        """Run the bodies of all units on one view, reading together what they ask for.

        Units whose shards are all in the cache run on it instead.
        """
        self._decide_open(units)
        units = [unit for unit in units if not self._run_first(unit)]
        if not units:
            return
        view = RemoteSnapshot(self._driver, self._lost_keys, patient=self._patient)
        try:
            self._run_on(view, units)
        except ReadFailed as failed:
            raise failed.error from failed
        finally:
            view.close()

    def _run_first(self, unit: Unit) -> bool:
        """Run a unit's bodies without reading; False: they need the reads in `unit.wanted`."""
        unit.is_cached = False
        alone = unit.alone()
        cached = None if alone else self._cache.of(unit.revisions)
        if cached is not None:
            return unit.run_cached(cached)
        if not unit.wanted:  # else an earlier run has filled it
            unit.run(UnitReader(self._guessed(alone), {}, unit.wanted))
        return False

    def _run_on(self, view: RemoteSnapshot, units: Sequence[Unit]) -> None:
        values: dict[bytes, bytes | None] = {}
        pages: dict[PageWanted, Page] = {}
        asked = WantedReads()
        for unit in units:
            asked.keys |= unit.revisions.keys() | unit.alone()
            asked.add(unit.wanted)
        left = list(units)
        for _ in range(READ_ROUNDS_MAX):
            if asked.keys:
                keys = sorted(asked.keys)
                values.update(zip(keys, view.get_many(keys), strict=True))
            if asked.pages:
                ranges = sorted(asked.pages)
                found = view.read_pages(ranges, FIRST_PAGES_BYTES_MAX // len(ranges))
                pages.update(zip(ranges, found, strict=True))
            asked = WantedReads()
            running, left = left, []
            for unit in running:
                missed = WantedReads()
                if not unit.run(UnitReader(values, pages, missed)):
                    left.append(unit)
                unit.wanted.add(missed)
                asked.add(missed)
            if not asked:
                break
        for unit in left:
            unit.run(UnitReader(values, pages, unit.wanted, view))
        for unit in units:
            unit.saw(values)
            self._cache.read(unit.revisions)
            self._keep_guesses(unit, values)

    def _guessed(self, alone: set[bytes]) -> dict[bytes, bytes | None]:
        """The last known values of the keys that a unit reads alone."""
        guesses = self._guesses
        return {key: guesses[key] for key in alone if key in guesses}

    def _keep_guesses(self, unit: Unit, values: dict[bytes, bytes | None]) -> None:
        if len(self._guesses) > _GUESSES_MAX:
            self._guesses = {}
        for key in unit.alone():
            self._guesses[key] = values[key]

    # --- commits -----------------------------------------------------------------------------

    def _commit(self, units: Sequence[Unit], until: float, each: "_Each") -> list[Unit]:
        """Commit what units wrote, by one call or more for each home; those to be run again.

        What was read is too old from the moment `until` on: the catalogue counts on it that nothing
        is committed `TRANSACTION_SECONDS_MAX` after its body has read.
        """
        by_home: dict[bytes, list[Unit]] = {}
        for unit in units:
            unit.busy = None
            by_home.setdefault(self._driver.home(next(iter(unit.changes))), []).append(unit)
        if len(by_home) == 1:
            return self._commit_merged(units, until)
        works = [partial(self._commit_merged, theirs, until) for theirs in by_home.values()]
        return [unit for again in each(works) for unit in again]

    def _count(self, name: str, number: int) -> None:
        with self._counting:
            self._counts[name] += number

    def _commit_merged(self, units: Sequence[Unit], until: float) -> list[Unit]:
        """Commit units, by one call if none is refused; those whose bodies have to run again."""
        again: list[Unit] = []
        rest = list(units)
        for _ in range(MERGED_COMMITS_MAX):
            if not rest or monotonic() >= until:
                return again + rest
            refused = self._commit_once(rest)
            again += [unit for unit in rest if not refused.isdisjoint(unit.changes)]
            if not refused:
                return again
            rest = [unit for unit in rest if refused.isdisjoint(unit.changes)]
        return again + [unit for unit in rest if monotonic() >= until or self._commit_once([unit])]

    def _commit_once(self, units: Sequence[Unit]) -> frozenset[bytes]:
        """Commit units by one call; the revision keys of shards whose bodies have to run again.

        An empty answer: every unit has its outcome.
        """
        changes = [
            change
            for unit in units
            for change in unit.shard_changes({key: self._new_revision() for key in unit.changes})
        ]
        self._count("commits", 1)
        every = frozenset(change.revision_key for change in changes)
        try:
            refused = self._driver.commit(changes)
        except StoreBusy as error:
            self._cache.refused(every, relied_on=False)
            for unit in units:
                unit.busy = error
            return every
        except OutcomeUnknown as error:
            self._count("unknown", 1)
            outcome = self._outcome_of(changes)
            if outcome is not _CommitOutcome.MADE:
                self._cache.refused(every, relied_on=False)
            if outcome is _CommitOutcome.NOT_MADE:
                return every
            if outcome is not _CommitOutcome.MADE:
                self._leave_open(units, changes, outcome, error)
                return frozenset()
            refused = frozenset()
        except StorageFailure as error:
            self._cache.refused(every, relied_on=False)
            if len(units) > 1:  # one of them may have caused it
                return frozenset().union(*[self._commit_once([unit]) for unit in units])
            units[0].fail(error)
            return frozenset()
        self._note_commit(units, changes, refused)
        return refused

    def _note_commit(
        self, units: Sequence[Unit], changes: Sequence[ShardChange], refused: frozenset[bytes]
    ) -> None:
        """Count a commit, made or refused because of the shards `refused`; tell the cache."""
        self._count("conflicts", len(refused))
        if refused:
            for unit in units:
                theirs = refused.intersection(unit.changes)
                self._cache.refused(theirs, relied_on=unit.is_cached)
            return
        absent = {key: unit.absent for unit in units if unit.absent for key in unit.revisions}
        self._cache.committed(changes, absent)
        self._count("syncs", int(self.capabilities.persistent))
        self._count("written_bytes", sum(map(_bytes_of, changes)))

    def _leave_open(
        self,
        units: Sequence[Unit],
        changes: list[ShardChange],
        outcome: _CommitOutcome,
        cause: Exception,
    ) -> None:
        """End units without knowing whether they were committed."""
        error = OutcomeUnknown(
            f"no answer to a commit ({cause}), and {outcome.value}: read what it wrote before "
            "repeating it"
        )
        for unit in units:
            unit.doubt(error)
        if outcome is _CommitOutcome.OPEN:
            self._open_until = monotonic() + TRANSACTION_SECONDS_MAX
            self._open_commits.append(changes)
            if self.placement is not None:  # the home was waited for already
                key = changes[0].revision_key
                self._away.note(self._known_home(key), key, StoreBusy(f"{cause}"))

    def _decide_open(self, units: Sequence[Unit]) -> None:
        """Find out what became of earlier commits to these units' shards that had no answer.

        Raises `StoreBusy` while that is unknown, because such a commit may still be made.
        """
        if not self._open_commits:
            return
        shards = {revision for unit in units for revision in unit.revisions}
        for changes in list(self._open_commits):
            if shards.isdisjoint(change.revision_key for change in changes):
                continue
            if self._looked_up(changes, set()) is None:
                raise StoreBusy("it is not known yet what became of an earlier commit")
            with suppress(ValueError):  # another lane has found it out too
                self._open_commits.remove(changes)

    def _outcome_of(self, changes: Sequence[ShardChange]) -> _CommitOutcome:
        """What became of a commit that had no answer."""
        pause = _Pause(self._token, self._rest)
        fences: set[bytes] = set()
        while True:
            try:
                outcome = self._looked_up(changes, fences)
            except StorageFailure:  # no error of a look tells what became of the commit
                outcome = None
            if outcome is not None:
                return outcome
            if pause.passed(OUTCOME_SECONDS_MAX if self.placement is None else HOME_SECONDS_MAX):
                return _CommitOutcome.OPEN
            pause.wait()

    def _looked_up(
        self, changes: Sequence[ShardChange], fences: set[bytes]
    ) -> _CommitOutcome | None:
        """Read the revisions once, and commit a fence if nothing was made; None: try again.

        The changes were made together or not at all, so one made change proves all. `fences`: the
        revisions that this layer set itself to keep the commit from being made later.
        """
        revisions = [change.revision_key for change in changes]
        found = self._driver.read_many(revisions, patient=self._patient)
        pairs = list(zip(changes, found, strict=True))
        if any(revision == change.revision for change, revision in pairs):
            return _CommitOutcome.MADE
        if any(revision in fences for revision in found):
            return _CommitOutcome.NOT_MADE
        still = [change for change, revision in pairs if revision == change.expected]
        if not still:
            return _CommitOutcome.OVERTAKEN
        fence = ShardChange(still[0].revision_key, still[0].expected, self._new_revision(), {})
        fences.add(fence.revision)
        try:
            refused = self._driver.commit([fence])
        except OutcomeUnknown:
            return None
        return None if refused else _CommitOutcome.NOT_MADE

    def _new_revision(self) -> bytes:
        return self._token(REVISION_BYTES)

    # --- the rest of the contract ------------------------------------------------------------

    def statistics(self) -> dict[str, int]:
        """`groups`, `writes`, `syncs` (commits that wrote), `written_bytes` of this process.

        And `commits` asked for, `conflicts`: shards whose writes ran again; `unknown`: commits
        without an answer; and what the driver counts.
        """
        self._check_open()
        return {**self._driver.statistics(), **self._counts}

    def server_states(self) -> Sequence[ServerState]:
        """Those that the driver has asked, with the writes that are late at each."""
        self._check_open()
        late = {lane.server: lane.late_writes for lane in self._lanes.lanes()}
        known = self._driver.server_states()
        return [each._replace(late_writes=late.get(each.server, 0)) for each in known]

    @property
    def writable(self) -> bool:
        """False once the store is closed or distrusted; a database that is away comes back."""
        return not self._closed and self._poison is None

    @property
    def may_still_commit(self) -> bool:
        """Whether a commit without an answer is recent enough that it may still be made."""
        until = self._open_until
        if self._lanes.any_late:
            return True
        return bool(self._open_commits) and until is not None and monotonic() < until

    def distrust(self, reason: str) -> None:
        """Take no more writes by way of this process."""
        if self._poison is None:
            self._poison = f"damage was found in the store ({reason})"

    def close(self) -> None:
        """Close the driver, once the group that is running has ended, and what is late."""
        with self._writing:
            if self._closed:
                return
            while self._lanes.any_late:
                self._lanes.await_ended()
                self._conclude_ended()
            self._closed = True
            self._lanes.close()
            self._away.close()
            if self._threads is not None:
                self._threads.shutdown()
            self._driver.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StorageFailure("the store is closed")


def _in_turn(works: Sequence[Callable[[], T]]) -> list[T]:
    return [work() for work in works]


def _take(units: Iterable[Unit], outcomes: list[Outcome[Any] | None]) -> None:
    """Put the outcomes of units at their places in the group."""
    for unit in units:
        for placed, outcome in zip(unit.writes, unit.outcomes, strict=True):
            outcomes[placed.place] = outcome


def _bytes_of(change: ShardChange) -> int:
    return sum(len(key) + len(value) for key, value in change.puts.items())
