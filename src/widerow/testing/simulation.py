"""A whole life of the store in one thread, from a seed: clients, faults, crashes, clocks that jump.

    python -m widerow.testing.simulation --seeds 300           # seeds 1 to 300
    python -m widerow.testing.simulation --seed 17 --trace     # one, told step by step

The engine, its plans and the committer's grouping are the product's. Beneath them is a disk that
forgets (`lossy.py`, whose head has the fault model), around them clients whose requests and replies
are lost, repeated and delayed, and a scheduler that draws the next event from the seed. Nothing
waits and nothing reads a clock, so the same seed is the same run, event by event: `trace` is the
hash of all of them.

What must hold, always:

*   Every answer is what the model says (`scripts.py`), for writes in the order of their commits.
*   A read shows what is committed and synced, also while a sync is under way.
*   After a crash everything acknowledged is there and nothing that was never asked for; the group
    whose outcome was open happened whole or not at all. The store is sound (`check_store`).
*   Versions of a row that the server chose never go backwards, whatever the clock does.
*   The accounts' sum does not change.

And what must happen sometimes, or the run has not looked where it says it looks: `SOMETIMES`.
"""

import argparse
import errno
import hashlib
import json
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random  # noqa: TID251  # seeded: a run must repeat
from typing import Any, Final, NamedTuple

from rich.console import Console
from rich.progress import track

from widerow.commit.committer import Committer
from widerow.engine.check import check_store
from widerow.engine.engine import Engine
from widerow.engine.plan import Plan
from widerow.errors import (
    NotFound,
    OutcomeUnknown,
    StorageFailure,
    StoreFull,
    StorePoisoned,
)
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import row_prefix
from widerow.model.row import Modification
from widerow.model.values import KeyInput, KeyMarker
from widerow.server.metrics import Metrics
from widerow.storage.interface import Transaction, Write
from widerow.testing.answers import decode_answer_rows, decode_row
from widerow.testing.changes import delete, get, scan_all
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.testing.faults import PowerCut, os_failure, power_cut
from widerow.testing.lossy import CAPACITY_BYTES_DEFAULT, Keep, LossyDisk, LossyStore
from widerow.testing.scripts import (
    BANK,
    BRIEF,
    INSTANCE,
    PLAIN,
    REFUSALS,
    REFUSED,
    Ask,
    Models,
    Script,
    ScriptKey,
    TableAsk,
    copied,
    make_tables,
    named_key,
    new_models,
)

__all__ = [
    "SOMETIMES",
    "Life",
    "Violation",
    "World",
    "main",
    "missing_events",
    "simulate",
    "summary",
]

STEPS_DEFAULT: Final = 800  # about 200 requests
_NOBODY: Final = ("nobody", 0)  # a row that nobody writes, so that its delete changes nothing
_CLIENTS: Final = 12  # so that groups of eight happen
_PATIENCE: Final = 40  # events until a client takes its request for lost
_JUMPS: Final = (0.001, 1, -1, 3600, -3600, -86400)  # seconds
_COVERING_SEEDS: Final = 100  # a run of at least so many must have seen everything

SOMETIMES: Final = (
    "a group of eight or more",
    "a condition lost its race",
    "an atomic batch was refused",
    "a torn tail was dropped",
    "the power went inside a commit",
    "the power went while opening",
    "an open outcome turned out done",
    "an open outcome turned out undone",
    "a sync failed",
    "the disk was full",
    "room ended inside a commit",
    "a read came during a sync",
    "a read came while no writes were taken",
    "a row expired during a scan",
    "expired rows were removed",
    "the clock went back a day",
    "a version was held up by the clock",
    "a request was lost",
    "a reply was lost",
    "a request came twice",
    "a request came after a restart",
    "a table was dropped",
    "a write met a dropped table",
    "rows of a dropped table were removed",
)


class Violation(AssertionError):
    """Something that must always hold did not."""


class _Letter(NamedTuple):
    """A request under way: whose it is, and how many restarts there had been when it was sent."""

    client: int
    ask: Ask
    restarts: int


@dataclass(slots=True)
class _Pending:
    """A write that the committer has. `begun_ms`: when its bodies were run."""

    number: int
    client: int
    ask: Ask
    begun_ms: int | None = None


class _Scan(NamedTuple):
    """A range being read page by page, and which rows were to come when its last page was read."""

    table: str
    start: dict[str, KeyInput]
    backward: bool
    awaited: frozenset[ScriptKey]


@dataclass(slots=True)
class Life:
    """What became of one seed."""

    seed: int
    trace: str = ""
    operations: int = 0
    acknowledged: int = 0
    open_outcomes: int = 0
    crashes: int = 0
    saw: Counter[str] = field(default_factory=Counter)
    violation: str = ""


Tell = Callable[[str], None]


class World:
    """One run. `live` it once."""

    def __init__(
        self,
        seed: int,
        *,
        open_store: Callable[[LossyDisk], LossyStore] = LossyStore,
        disk: LossyDisk | None = None,
        tell: Tell | None = None,
    ) -> None:
        """A world before its first event. `tell` hears of every event."""
        self.life = Life(seed)
        self._random = Random(seed)  # noqa: S311  # no secret
        self._open_store = open_store
        self._disk = disk or LossyDisk()
        self._disk.during_sync = self._read_during_sync
        self._tell = tell
        self._trace = hashlib.blake2b(digest_size=16)
        self._clock = FakeClock()
        self._entropy = FakeEntropy(seed)
        self._script = Script(self._random)
        self._models = new_models()
        self._versions: dict[
            tuple[str, ScriptKey], dict[str, int]
        ] = {}  # the newest that were seen
        self._restarts = 0
        self._idle = list(range(_CLIENTS))
        self._waiting: dict[int, int] = {}  # client -> when it gives up
        self._letters: list[_Letter] = []
        self._pending: list[_Pending] = []  # handed to the committer, in order
        self._open: list[_Pending] = []  # ended with an outcome that is not known
        self._ended: list[Ask] = []  # by the group that runs
        self._committing = False
        self._scans: list[_Scan] = []
        self._now = 0
        self._store = self._open_store(self._disk)
        self._start()
        make_tables(self._engine)

    def live(self, steps: int) -> Life:
        """Run `steps` events and then end in order. Raises `Violation`."""
        events, weights = zip(*self._events(), strict=True)
        for self._now in range(steps):
            self._patience()
            event: Callable[[], None] = self._random.choices(events, weights)[0]
            event()
        self._note("end")
        while self._commit_group():
            pass
        self._crash(cut=True)
        self.life.trace = self._trace.hexdigest()
        return self.life

    def _events(self) -> Sequence[tuple[Callable[[], None], int]]:
        """Everything that can happen next, and how often it does."""
        return (
            (self._send, 400),
            (self._deliver, 300),
            (self._commit, 80),
            (self._read_row, 100),
            (self._begin_scan, 20),
            (self._next_page, 80),
            (self._jump, 25),
            (self._sweep, 15),
            (self._compare_all, 15),
            (self._fail_next, 20),
            (self._fill_disk, 4),
            (self._make_room, 30),
            (partial(self._crash, cut=True), 10),
            (partial(self._crash, cut=False), 6),
        )

    # --- telling -----------------------------------------------------------------------------

    def _note(self, event: str) -> None:
        """An event of the trace."""
        self._trace.update(f"{self._now} {event}\n".encode())
        if self._tell is not None:
            self._tell(f"{self._now:5} {event}")

    def _see(self, what: str) -> None:
        assert what in SOMETIMES, what
        self.life.saw[what] += 1

    def _hold(self, claim: bool, told: str) -> None:  # noqa: FBT001  # the claim itself
        if not claim:
            raise Violation(told)

    def _now_ms(self) -> int:
        return self._clock.now_us() // 1000

    # --- clients -----------------------------------------------------------------------------

    def _patience(self) -> None:
        for client, until in list(self._waiting.items()):
            if until <= self._now:
                del self._waiting[client]
                self._idle.append(client)

    def _send(self) -> None:
        """A client that waits for nothing asks for a write."""
        if not self._idle:
            return
        client = self._idle.pop(self._random.randrange(len(self._idle)))
        self._waiting[client] = self._now + _PATIENCE
        ask = self._script.ask(self._models)
        fate = self._random.random()
        self._note(f"{client} asks {ask}")
        if fate < 0.04:
            self._see("a request was lost")
            self._note("lost")
            return
        self._letters.append(_Letter(client, ask, self._restarts))
        # A table's name is used once: one that is created again late would be another table.
        if fate < 0.08 and not isinstance(ask, TableAsk):
            self._letters.append(_Letter(client, ask, self._restarts))
            self._see("a request came twice")

    def _deliver(self) -> None:
        """Some request arrives: not always the oldest."""
        if not self._letters:
            return
        last = min(len(self._letters), 4) - 1
        letter = self._letters.pop(self._random.randint(0, last))
        if letter.restarts != self._restarts:
            self._see("a request came after a restart")
        self.life.operations += 1
        pending = _Pending(self.life.operations, letter.client, letter.ask)
        self._note(f"{pending.number} arrives from {letter.client}")
        try:
            plan = letter.ask.plan(self._engine)
        except REFUSALS as error:
            self._refuse(letter, error)
            return
        except StorageFailure:
            return  # a table's number is taken from the store before anything else
        except PowerCut:
            self._crash(cut=True)
            return
        writes = tuple(
            Write(
                write.shards,
                self._noted(pending, write),
                alone=write.alone,
                settled=write.settle,
                doubted=write.doubt,
                reads=write.reads,
            )
            for write in plan.writes
        )
        self._pending.append(pending)
        self._committer.submit(Plan(writes, plan.finish, plan.size), partial(self._end, pending))

    def _refuse(self, letter: _Letter, error: Exception) -> None:
        """A request is refused before anything is written: what is committed must say so."""
        self._note(f"refused {type(error).__name__}")
        expected = letter.ask.apply(copied(self._models), self._now_ms())
        found = letter.ask.ends(REFUSED)
        self._hold(found == expected, f"{letter.ask} is refused: {error}")
        self._reply(letter.client)

    def _noted(self, pending: _Pending, write: Write[Any]) -> Callable[[Transaction], Any]:
        """The body of a write, which notes when it began."""

        def body(transaction: Transaction) -> Any:  # noqa: ANN401  # whatever the body returns
            pending.begun_ms = self._now_ms()
            return write.run(transaction)

        return body

    def _reply(self, client: int) -> None:
        if self._random.random() < 0.05:
            self._see("a reply was lost")
        elif client in self._waiting:
            del self._waiting[client]
            self._idle.append(client)

    # --- commits -----------------------------------------------------------------------------

    def _commit(self) -> None:
        """The writer takes up what waits."""
        self._commit_group()

    def _commit_group(self) -> bool:
        """Run one group, and settle what it left open. False if nothing waited."""
        self._ended, self._committing = [], True
        try:
            ran = self._committer.step()
        except PowerCut:
            self._see("the power went inside a commit")
            self._crash(cut=True)
            return True
        finally:
            self._committing = False
        if len(self._ended) >= 8:
            self._see("a group of eight or more")
        for ask in self._ended:
            for key, _ in ask.changes:
                self._compare_row(ask.table, key)
        if self._open and self._store.writable:
            self._see("room ended inside a commit")
            self._disk.plan.forget()
            self._make_room()
            before = self._number()
            self._engine.run(
                self._engine.rows.write_row(INSTANCE, delete(PLAIN, named_key(_NOBODY)))
            )
            self._settle(before, self._open)
            self._open = []
        return ran

    def _end(self, pending: _Pending, answer: Any, error: Exception | None) -> None:  # noqa: ANN401  # any plan's
        """The committer says how a write ended."""
        self._hold(self._pending[0] is pending, f"{pending.number} ended out of order")
        self._pending.pop(0)
        self._note(f"{pending.number} ended {type(error).__name__ if error else 'well'}")
        if isinstance(error, StorageFailure):
            if isinstance(error, OutcomeUnknown | StorePoisoned) and pending.begun_ms is not None:
                self.life.open_outcomes += 1
                self._open.append(pending)
            elif isinstance(error, StoreFull):
                self._see("the disk was full")
            return
        if error is not None and not isinstance(error, REFUSALS):
            raise Violation(f"{pending.number} failed: {error!r}") from error
        self.life.acknowledged += 1
        expected = pending.ask.apply(self._models, self._now_ms())
        found = pending.ask.ends(answer if error is None else REFUSED)
        self._hold(found == expected, f"{pending.number} is answered {found}, not {expected}")
        if isinstance(pending.ask, TableAsk) and pending.ask.drop:
            self._see("a table was dropped")
        elif isinstance(error, NotFound):
            self._see("a write met a dropped table")
        elif any(end.refused for end in expected):
            self._see("a condition lost its race")
            if pending.ask.atomic:
                self._see("an atomic batch was refused")
        self._begin_anew(pending.ask)
        self._ended.append(pending.ask)
        self._reply(pending.client)

    # --- reads -------------------------------------------------------------------------------

    def _read_row(self) -> None:
        table = self._script.table(self._models)
        self._compare_row(table, self._script.key(table))
        if not self._store.writable:
            self._see("a read came while no writes were taken")

    def _read_during_sync(self) -> None:
        """What is written and not yet synced is not shown."""
        if self._committing and self._pending and self._random.random() < 0.2:
            self._see("a read came during a sync")
            for key, _ in self._pending[0].ask.changes:
                self._compare_row(self._pending[0].ask.table, key)

    def _compare_row(self, table: str, key: ScriptKey) -> None:
        if table not in self._models:
            return
        now_ms = self._now_ms()
        row = decode_row(self._engine.rows.get_row(INSTANCE, get(table, named_key(key))).row)
        found = None if row is None else row[1]
        expected = self._models[table].visible(key, now_ms)
        self._note(f"{table} {key} is {found}")
        self._hold(found == expected, f"{table} {key} reads {found}, not {expected}")
        former = self._versions.setdefault((table, key), {})
        for name, cells in (found or {}).items():
            newest = cells[0][0]
            told = f"{name} of {table} {key} went from {former.get(name)} back to {newest}"
            self._hold(newest >= former.get(name, newest), told)
            former[name] = newest
            if newest > now_ms:
                self._see("a version was held up by the clock")

    def _begin_anew(self, ask: Ask) -> None:
        """Rows that were deleted may begin again with any version."""
        for key, change in ask.changes:
            if change.modification is Modification.DELETE:
                self._versions.pop((ask.table, key), None)

    def _begin_scan(self) -> None:
        table, backward = self._random.choice((PLAIN, BRIEF)), self._random.random() < 0.5
        edge = KeyMarker.INF_MAX if backward else KeyMarker.INF_MIN
        rows: list[Any] = self._models[table].scan(self._now_ms())
        awaited = frozenset(key for key, _ in rows)
        self._scans.append(_Scan(table, {"k": edge, "n": edge}, backward, awaited))

    def _next_page(self) -> None:
        """Some scan goes on: its page is what is visible now, from where it stood."""
        if not self._scans:
            return
        scanned = self._scans.pop(self._random.randrange(len(self._scans)))
        table, start, backward, awaited = scanned
        limit = self._random.randint(1, 5)
        edge = KeyMarker.INF_MIN if backward else KeyMarker.INF_MAX
        end: dict[str, KeyInput] = {"k": edge, "n": edge}
        request = scan_all(table, start, end, backward=backward, limit=limit)
        page = self._engine.rows.get_range(INSTANCE, request)
        found = [(tuple(key.values()), row) for key, row in decode_answer_rows(page.rows)]
        rest = self._rest(scanned)
        self._note(f"page of {table} {found}")
        self._hold(found == rest[:limit], f"a page of {table} reads {found}, not {rest[:limit]}")
        if awaited & (self._models[table].rows.keys() - {key for key, _ in rest}):
            self._see("a row expired during a scan")
        if page.next_key is None:
            self._hold(len(rest) <= limit, f"a scan of {table} ended before {rest[limit:]}")
            return
        section, crc = page.next_key
        onward: Mapping[str, Any] = decode_answer_rows(section + bytes((9, crc)))[0][0]
        left = frozenset(key for key, _ in rest[limit:])
        self._scans.append(_Scan(table, dict(onward), backward, left))

    def _rest(self, scanned: _Scan) -> list[tuple[ScriptKey, Any]]:
        """The model's rows from where a scan stands, in its direction."""
        rows: list[Any] = self._models[scanned.table].scan(self._now_ms())
        if scanned.backward:
            rows.reverse()
        at = tuple(scanned.start.values())
        if isinstance(at[0], KeyMarker):
            return rows
        return [each for each in rows if (each[0] <= at if scanned.backward else each[0] >= at)]

    def _compare_all(self) -> None:
        """Everything that can be read is what the model says."""
        names = self._engine.list_tables(INSTANCE)
        self._hold(
            names == tuple(sorted(self._models)), f"there are {names}, not {[*self._models]}"
        )
        for table in names:
            found, expected = self._everything(table), self._models[table].scan(self._now_ms())
            self._hold(found == expected, f"{table} holds {found}, not {expected}")
        accounts = [row["c"][0][1] for key, row in self._everything(PLAIN) if key[0] == BANK]
        self._hold(sum(accounts) == 0, f"the accounts hold {accounts}")

    def _everything(self, table: str) -> list[Any]:
        low: dict[str, KeyInput] = {"k": KeyMarker.INF_MIN, "n": KeyMarker.INF_MIN}
        high: dict[str, KeyInput] = {"k": KeyMarker.INF_MAX, "n": KeyMarker.INF_MAX}
        page = self._engine.rows.get_range(INSTANCE, scan_all(table, low, high))
        return [(tuple(key.values()), row) for key, row in decode_answer_rows(page.rows)]

    # --- the world around --------------------------------------------------------------------

    def _jump(self) -> None:
        """Time passes, mostly; sometimes the clock is set, or stands still as it does otherwise."""
        seconds = self._random.choice(_JUMPS) if self._random.random() < 0.5 else 1
        self._clock.advance(seconds)
        self._note(f"clock {seconds:+}")
        if seconds == -86400:
            self._see("the clock went back a day")

    def _sweep(self) -> None:
        """A step of giving space back, between two groups."""
        if not self._store.writable or self._disk.capacity == 0:
            return
        dropped = self._engine.catalog.leftovers()
        plan = self._engine.housekeeping()
        if plan is None:
            return
        self._note(f"sweep of {len(plan.writes)}")
        purged = copied(self._models)
        swept = self._swept(plan)
        purged[BRIEF].purge(self._now_ms(), swept)
        try:
            self._engine.run(plan)
        except PowerCut:
            self._crash(cut=True, instead=purged)
            return
        except StorageFailure:
            self._crash(cut=False, instead=purged)
            return
        if swept:
            self._see("expired rows were removed")
        if len(self._engine.catalog.leftovers()) < len(dropped):
            self._see("rows of a dropped table were removed")
        self._purge(purged)
        self._compare_all()

    def _swept(self, plan: Plan[None]) -> list[Any]:
        """The rows of the model that a step trims: others stay, expired as they may be."""
        table = self._engine.tables.get(INSTANCE, BRIEF)
        if table is None:
            return []
        shards = {shard for write in plan.writes for shard in write.shards}
        prefix = row_prefix(table.id)
        rows = self._models[BRIEF].rows
        return [key for key in rows if prefix + encode_key_value(key[0]) in shards]

    def _purge(self, purged: Models) -> None:
        """The models are without what was swept; rows that are gone begin anew."""
        gone: set[Any] = self._models[BRIEF].rows.keys() - purged[BRIEF].rows.keys()
        for key in gone:
            self._versions.pop((BRIEF, key), None)
        self._models = purged

    def _fail_next(self) -> None:
        """Some call of the disk will fail soon."""
        kind, failure = self._random.choice(
            (
                ("sync", os_failure(errno.EIO)),
                ("write", os_failure(errno.EIO)),
                ("write", os_failure(errno.ENOSPC)),
                ("sync", os_failure(errno.ENOSPC)),
                ("write", power_cut),
                ("sync", power_cut),
                ("synced", power_cut),
            )
        )
        self._note(f"next {kind} fails")
        self._disk.plan.add(kind, failure, after=self._random.randrange(2))

    def _fill_disk(self) -> None:
        """No write finds room any more."""
        self._disk.capacity = 0
        self._note("disk full")

    def _make_room(self) -> None:
        """The disk has room again, if it was full."""
        self._disk.capacity = CAPACITY_BYTES_DEFAULT

    # --- crashes -----------------------------------------------------------------------------

    def _crash(self, *, cut: bool, instead: Models | None = None) -> None:
        """The process dies, or the machine; then the store is opened and looked at.

        `instead`: what the models are if what was under way happened.
        """
        self._committing = False
        before, keep = self._number(), self._random.choice(list(Keep))
        self._note(f"crash {keep.name if cut else 'kill'}")
        self.life.crashes += 1
        # What the committer had begun and what had ended with its outcome open is one group.
        begun = [*self._open, *(each for each in self._pending if each.begun_ms is not None)]
        self.life.open_outcomes += len(begun) - len(self._open)
        self._lose_power(cut=cut, keep=keep)
        self._make_room()
        while not self._reopened():
            self._see("the power went while opening")
        for pending in self._pending:
            self._reply(pending.client)
        self._pending, self._open = [], []
        self._settle(before, begun, instead)

    def _lose_power(self, *, cut: bool, keep: Keep) -> None:
        self._disk.plan.forget()
        if cut:
            self._disk.cut(keep, self._random.getrandbits(32))
        self._store.close()

    def _reopened(self) -> bool:
        """Open the store; False if the power went again meanwhile."""
        if self._random.random() < 0.1:
            kind = self._random.choice(("create", "write", "sync", "rename", "remove"))
            self._disk.plan.add(kind, power_cut)
        try:
            self._store = self._open_store(self._disk)
        except PowerCut:
            self._disk.plan.forget()
            self._disk.cut(self._random.choice(list(Keep)), self._random.getrandbits(32))
            return False
        self._disk.plan.forget()
        if self._store.statistics()["repaired"]:
            self._see("a torn tail was dropped")
        self._restarts += 1
        self._start()
        return True

    def _start(self) -> None:
        """A new process over the store."""
        self._engine = Engine(self._store, self._clock, self._entropy)
        self._committer = Committer(
            self._store, self._clock, Metrics(), failed=lambda _: self._see_poison()
        )

    def _see_poison(self) -> None:
        if not self._store.writable:
            self._see("a sync failed")

    def _number(self) -> int:
        return self._store.statistics()["number"]

    def _settle(
        self, before: int, begun: Sequence[_Pending], instead: Models | None = None
    ) -> None:
        """What was open happened whole or not at all, as the log says by its number of groups."""
        findings = check_store(self._store)
        self._hold(not findings, f"the store is not sound: {findings}")
        done = self._number() > before
        if done:
            if instead is not None:
                self._purge(instead)
            for pending in begun:
                assert pending.begun_ms is not None
                pending.ask.apply(self._models, pending.begun_ms)
                self._begin_anew(pending.ask)
        if begun:
            self._see(f"an open outcome turned out {'done' if done else 'undone'}")
        self._note(f"settled {len(begun)} open: {'done' if done else 'undone'}")
        self._compare_all()


def simulate(
    seed: int,
    steps: int = STEPS_DEFAULT,
    *,
    open_store: Callable[[LossyDisk], LossyStore] = LossyStore,
    disk: LossyDisk | None = None,
    tell: Tell | None = None,
) -> Life:
    """Live one seed. A violation, or an error that nobody foresaw, is told in the result."""
    world = World(seed, open_store=open_store, disk=disk, tell=tell)
    try:
        return world.live(steps)
    except Violation as violation:
        world.life.violation = str(violation)
    except Exception as error:  # noqa: BLE001  # what nobody foresaw must not happen either
        place = traceback.extract_tb(error.__traceback__)[-1]
        world.life.violation = f"{error!r} at {place.filename}:{place.lineno}"
    return world.life


def missing_events(lives: Sequence[Life]) -> list[str]:
    """What should have happened sometimes, and never did."""
    saw = sum((life.saw for life in lives), Counter[str]())
    return [what for what in SOMETIMES if not saw[what]]


def summary(lives: Sequence[Life], seconds: float) -> dict[str, Any]:
    """The JSON line of a run."""
    saw = sum((life.saw for life in lives), Counter[str]())
    failed = [life.seed for life in lives if life.violation]
    return {
        "check": "simulation",
        "seed": failed[0] if failed else lives[0].seed,
        "volume": len(lives),
        "operations": sum(life.operations for life in lives),
        "acks": sum(life.acknowledged for life in lives),
        "indeterminate": sum(life.open_outcomes for life in lives),
        "crashes": sum(life.crashes for life in lives),
        "violations": len(failed),
        "never_seen": missing_events(lives),
        "sometimes": {what: saw[what] for what in SOMETIMES},
        "seconds": round(seconds, 1),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code: 1 if anything did not hold or never happened."""
    parser = argparse.ArgumentParser(
        prog="python -m widerow.testing.simulation",
        description="Live seeds of the simulation; print one JSON line.",
        epilog="examples: --seeds 300 | --seed 17 --trace | --first 1000 --seeds 500 --steps 400",
    )
    parser.add_argument("--seeds", type=int, default=300, help="how many (%(default)s)")
    parser.add_argument("--first", type=int, default=1, help="the first of them (%(default)s)")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--steps", type=int, default=STEPS_DEFAULT, help="events (%(default)s)")
    parser.add_argument("--trace", action="store_true", help="tell every event on stderr")
    options = parser.parse_args(arguments)
    seeds = range(options.first, options.first + options.seeds)
    if options.seed is not None:
        seeds = range(options.seed, options.seed + 1)
    console = Console(stderr=True)
    tell = partial(_write_line, sys.stderr.write) if options.trace else None
    begun = time.monotonic()
    shown = track(seeds, "seeds", console=console, disable=options.trace or not console.is_terminal)
    lives = [simulate(seed, options.steps, tell=tell) for seed in shown]
    line = summary(lives, time.monotonic() - begun)
    sys.stdout.write(json.dumps(line) + "\n")
    for life in lives:
        if life.violation:
            again = f"--seed {life.seed} --steps {options.steps} --trace"
            text = f"seed {life.seed}: {life.violation}\n  python -m {_MODULE} {again}"
            _write_line(sys.stderr.write, text)
    unseen = len(lives) >= _COVERING_SEEDS and line["never_seen"]
    if unseen:
        _write_line(sys.stderr.write, f"never seen: {', '.join(line['never_seen'])}")
    return int(bool(line["violations"] or unseen))


_MODULE: Final = "widerow.testing.simulation"


def _write_line(write: Callable[[str], object], text: str) -> None:
    write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
