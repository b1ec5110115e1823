"""Simulation of a store in one thread: clients, faults, crashes and clock jumps, from a seed.

    python -m tests.support.simulation --seeds 300           # seeds 1 to 300
    python -m tests.support.simulation --seed 17 --trace     # one seed, every event on stderr

The engine, its plans and the committer with its groups are the product's. The disk loses what was
not synced (`lossy.py`, whose head is the fault model). Requests and replies of the clients are
lost, repeated and delayed. The seed decides which event comes next. No code waits or reads the real
clock, so a seed always gives equal events; `trace` is the hash of all of them.

What must hold at every moment:

* Every answer is what the model says (`scripts.py`), for writes in the order of their commits.
* A read shows what is committed and synced, also while a sync is under way.
* After a crash every acknowledged write is there, and no write that was not requested. The group
  whose outcome was open happened as a whole or not at all. The store is sound (`check_store`).
* Versions of a row that the server chose never decrease, whatever the clock does.
* The sum of the accounts does not change.
* Each index holds the entries that follow from the rows of its table, and no others. The stream
  tells each committed change once, in order, until it is an hour old (`watched.py`).
* A local transaction happened as a whole or not at all. While it results nobody else writes its
  partition key value, and afterwards nothing holds that value (`clients.py`).

`SOMETIMES` lists what must happen at least once in a run of many seeds. A run in which one of these
events never happened has not tested what it should.
"""

import argparse
import errno
import hashlib
import json
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random  # noqa: TID251  # seeded: a run must repeat
from typing import Any, Final

from rich.console import Console
from rich.progress import track
from tests.support.answers import decode_answer_rows, decode_row
from tests.support.changes import delete, get, scan_all
from tests.support.clients import TransactionClients
from tests.support.engines import open_tablestore
from tests.support.faults import PowerCut, os_failure, power_cut
from tests.support.lossy import CAPACITY_BYTES_DEFAULT, Keep, LossyDisk, LossyStore
from tests.support.scripts import (
    BANK,
    BRIEF,
    INSTANCE,
    PLAIN,
    REFUSALS,
    REFUSED,
    Ask,
    CommitAsk,
    Models,
    RowEnd,
    Script,
    ScriptKey,
    TableAsk,
    WriteAsk,
    copied,
    make_tables,
    named_key,
    new_models,
)
from tests.support.simulated import (
    SOMETIMES,
    Letter,
    PendingAsk,
    RangeScan,
    SeedResult,
    Violation,
    is_lock,
    summary,
    tells_lock,
)
from tests.support.watched import WATCHED, Followers, WatchedTable

from widerow.commit.committer import Committer
from widerow.engine.check import check_store
from widerow.engine.plan import Plan
from widerow.errors import (
    NotFound,
    OutcomeUnknown,
    StorageFailure,
    StoreFull,
    StorePoisoned,
    WiderowError,
)
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import row_prefix
from widerow.model.tablestore.row import Modification
from widerow.model.values import KeyInput, KeyMarker
from widerow.server.metrics import Metrics
from widerow.storage.interface import Transaction, Write
from widerow.testing.clock import FakeClock, FakeEntropy

__all__ = [
    "World",
    "main",
    "simulate",
]

STEPS_DEFAULT: Final = 850  # about 200 requests
_NOBODY: Final = ("nobody", 0)  # a row that no client writes: its delete changes nothing
_CLIENTS: Final = 12  # enough for groups of eight
_PATIENCE: Final = 40  # events after which a client gives a request up
_COMMITS: Final = 0.3  # share of requests that are commits, while a transaction is open
_JUMPS: Final = (0.001, 1, -1, 3600, -3600, -86400)  # seconds
_COVERING_SEEDS: Final = 100  # a run of at least so many seeds must count every event of SOMETIMES

Tell = Callable[[str], None]


class World:
    """One run of the simulation. Call `run` once."""

    def __init__(
        self,
        seed: int,
        *,
        open_store: Callable[[LossyDisk], LossyStore] = LossyStore,
        disk: LossyDisk | None = None,
        tell: Tell | None = None,
    ) -> None:
        """The state before the first event. `tell` is called with the text of every event."""
        self.result = SeedResult(seed)
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
        checks = self._hold, self._see
        self._transactions = TransactionClients(self._script, self._random, self._clock, checks)
        self._followers = Followers(*checks)
        self._versions: dict[tuple[str, ScriptKey], dict[str, int]] = {}  # the newest versions seen
        self._restarts = 0
        self._idle = list(range(_CLIENTS))
        self._waiting: dict[int, int] = {}  # client -> when it gives up
        self._letters: list[Letter] = []
        self._pending: list[PendingAsk] = []  # handed to the committer, in order
        self._open: list[PendingAsk] = []  # ended with an unknown outcome
        self._ended: list[Ask] = []  # ended in the group that runs
        self._committing = False
        self._scans: list[RangeScan] = []
        self._now = 0
        self._store = self._open_store(self._disk)
        self._start()
        make_tables(self._engine)

    def run(self, steps: int) -> SeedResult:
        """Run `steps` events, commit what waits, crash once more. Raises `Violation`."""
        events, weights = zip(*self._events(), strict=True)
        for self._now in range(steps):
            self._patience()
            event: Callable[[], None] = self._random.choices(events, weights)[0]
            event()
        self._note("end")
        while self._commit_group():
            pass
        self._crash(cut=True)
        self.result.trace = self._trace.hexdigest()
        return self.result

    def _events(self) -> Sequence[tuple[Callable[[], None], int]]:
        """The events that can come next, each with its weight."""
        return (
            (self._send, 450),
            (self._deliver, 340),
            (self._commit, 90),
            (self._read_row, 100),
            (self._begin_scan, 20),
            (self._next_page, 80),
            (self._jump, 25),
            (self._sweep, 40),
            (self._compare_all, 15),
            (self._begin_transaction, 25),
            (self._write_inside, 60),
            (self._abort_transaction, 4),
            (self._fail_next, 20),
            (self._fill_disk, 4),
            (self._make_room, 30),
            (partial(self._crash, cut=True), 10),
            (partial(self._crash, cut=False), 6),
        )

    # --- the trace -----------------------------------------------------------------------------

    def _note(self, event: str) -> None:
        """Add an event to the trace."""
        self._trace.update(f"{self._now} {event}\n".encode())
        if self._tell is not None:
            self._tell(f"{self._now:5} {event}")

    def _see(self, what: str) -> None:
        assert what in SOMETIMES, what
        self.result.saw[what] += 1

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
        """A client without a pending request sends one."""
        if not self._idle:
            return
        client = self._idle.pop(self._random.randrange(len(self._idle)))
        self._waiting[client] = self._now + _PATIENCE
        ask = self._ask()
        fate = self._random.random()
        self._note(f"{client} asks {ask}")
        if fate < 0.04:
            self._see("a request was lost")
            self._note("lost")
            return
        self._letters.append(Letter(client, ask, self._restarts))
        # A name is used for one table only: a late request must not create another table of that
        # name.
        if fate < 0.08 and not isinstance(ask, TableAsk):
            self._letters.append(Letter(client, ask, self._restarts))
            self._see("a request came twice")

    def _ask(self) -> Ask:
        """A commit of an open transaction, or another random request."""
        begun = self._transactions.pick()
        if begun is not None and self._random.random() < _COMMITS:
            return CommitAsk(begun)
        return self._script.ask(self._models)

    def _deliver(self) -> None:
        """One of the oldest four requests arrives."""
        if not self._letters:
            return
        last = min(len(self._letters), 4) - 1
        letter = self._letters.pop(self._random.randint(0, last))
        if letter.restarts != self._restarts:
            self._see("a request came after a restart")
        self.result.operations += 1
        locked = self._locked(letter.ask)
        pending = PendingAsk(self.result.operations, letter.client, letter.ask, locked)
        self._note(f"{pending.number} arrives from {letter.client}")
        try:
            plan = letter.ask.plan(self._engine)
        except REFUSALS as error:
            self._refuse(letter, error)
            return
        except StorageFailure:
            return  # creating a table takes a number from the store before other work
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

    def _refuse(self, letter: Letter, error: Exception) -> None:
        """A request is refused while it is planned: the committed state must justify that."""
        self._note(f"refused {type(error).__name__}")
        if isinstance(letter.ask, CommitAsk):
            begun = letter.ask.begun
            gone = begun.over or begun.doubtful or self._transactions.is_late(begun)
            self._hold(gone, f"{letter.ask} is refused: {error}")
            self._reply(letter.client)
            return
        locked = self._locked(letter.ask)
        met_lock = is_lock(error) if locked is None else locked
        if met_lock:
            self._see("a write met the lock of a transaction")
        expected = letter.ask.apply(copied(self._models), self._now_ms(), locked=met_lock)
        found = letter.ask.ends(REFUSED)
        self._hold(found == expected, f"{letter.ask} is refused: {error}")
        self._reply(letter.client)

    def _noted(self, pending: PendingAsk, write: Write[Any]) -> Callable[[Transaction], Any]:
        """The body of a write, which notes the time and the locks when it begins."""

        def body(transaction: Transaction) -> Any:  # noqa: ANN401  # whatever the body returns
            pending.begun_ms = self._now_ms()
            if not pending.locked:
                pending.locked = self._locked(pending.ask)
            if isinstance(pending.ask, CommitAsk):
                pending.late = self._transactions.is_late(pending.ask.begun)
            try:
                return write.run(transaction)
            except WiderowError as error:
                pending.refusal = error
                raise

        return body

    def _locked(self, ask: Ask) -> bool | None:
        """Whether a transaction holds the key of a write now; None where it is unknown.

        It is unknown too whether a commit with an unknown outcome still holds its transaction.
        """
        if isinstance(ask, CommitAsk):
            return None if ask.begun.doubtful else False
        if not isinstance(ask, WriteAsk) or ask.table != WATCHED:
            return False
        return self._transactions.locked(ask.changes[0][0][0])

    def _reply(self, client: int) -> None:
        if self._random.random() < 0.05:
            self._see("a reply was lost")
        elif client in self._waiting:
            del self._waiting[client]
            self._idle.append(client)

    # --- commits -----------------------------------------------------------------------------

    def _commit(self) -> None:
        """The committer runs a group of the pending writes."""
        self._commit_group()

    def _commit_group(self) -> bool:
        """Run one group and settle unknown outcomes. False if no write was pending."""
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
            self._engine.core.run(
                self._engine.rows.write_row(INSTANCE, delete(PLAIN, named_key(_NOBODY)))
            )
            self._settle(before, self._open)
            self._open = []
        return ran

    def _end(self, pending: PendingAsk, answer: Any, error: Exception | None) -> None:  # noqa: ANN401  # any plan's
        """The committer reports how a write ended."""
        self._hold(self._pending[0] is pending, f"{pending.number} ended out of order")
        self._pending.pop(0)
        self._note(f"{pending.number} ended {type(error).__name__ if error else 'well'}")
        if isinstance(error, StorageFailure):
            if isinstance(pending.ask, CommitAsk):
                pending.ask.begun.doubtful = True
            if isinstance(error, OutcomeUnknown | StorePoisoned) and pending.begun_ms is not None:
                self.result.open_outcomes += 1
                self._open.append(pending)
            elif isinstance(error, StoreFull):
                self._see("the disk was full")
            return
        if error is not None and not isinstance(error, REFUSALS):
            raise Violation(f"{pending.number} failed: {error!r}") from error
        self.result.acknowledged += 1
        self._settle_lateness(pending)
        met_lock = pending.met_lock or (pending.locked is None and tells_lock(answer))
        expected = pending.ask.apply(self._models, self._now_ms(), locked=met_lock)
        found = pending.ask.ends(answer if error is None else REFUSED)
        self._hold(found == expected, f"{pending.number} is answered {found}, not {expected}")
        self._see_end(pending.ask, error, expected, met_lock=met_lock)
        self._begin_anew(pending.ask)
        self._ended.append(pending.ask)
        self._reply(pending.client)

    def _see_end(
        self, ask: Ask, error: Exception | None, expected: Sequence[RowEnd], *, met_lock: bool
    ) -> None:
        """Count the events that the end of a write shows."""
        if isinstance(ask, TableAsk) and ask.drop:
            self._see("a table was dropped")
        elif isinstance(ask, CommitAsk):
            if error is None:
                self._see("a transaction was committed")
        elif isinstance(error, NotFound):
            self._see("a write met a dropped table")
        elif met_lock:
            self._see("a write met the lock of a transaction")
        elif any(end.refused for end in expected):
            self._see("a condition lost its race")
            if ask.atomic:
                self._see("an atomic batch was refused")

    def _settle_lateness(self, pending: PendingAsk) -> None:
        """Settle by its answer whether a commit that ran after its time was made."""
        if isinstance(pending.ask, CommitAsk) and pending.late and pending.refusal is not None:
            pending.ask.begun.over = True

    # --- transactions ------------------------------------------------------------------------

    def _begin_transaction(self) -> None:
        """A client begins a local transaction. The first one after a start counts the run."""
        if not self._store.writable or self._disk.capacity == 0:
            return
        table = self._models[WATCHED]
        assert isinstance(table, WatchedTable)
        try:
            self._note(self._transactions.begin(self._engine, table))
        except PowerCut:
            self._crash(cut=True)
        except StorageFailure:
            self._crash(cut=False)

    def _write_inside(self) -> None:
        self._note(self._transactions.write_inside(self._engine, self._now_ms()))

    def _abort_transaction(self) -> None:
        self._note(self._transactions.abort(self._engine))

    # --- reads -------------------------------------------------------------------------------

    def _read_row(self) -> None:
        table = self._script.table(self._models)
        self._compare_row(table, self._script.key(table))
        if not self._store.writable:
            self._see("a read came while no writes were taken")

    def _read_during_sync(self) -> None:
        """Reads during a sync must not show the group that is not synced yet."""
        if self._committing and self._pending and self._random.random() < 0.2:
            self._see("a read came during a sync")
            for key, _ in self._pending[0].ask.changes:
                self._compare_row(self._pending[0].ask.table, key)
            if self._pending[0].ask.table == WATCHED:
                self._compare_followers()

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
        """A deleted row may be made again with any version."""
        for key, change in ask.changes:
            if change.modification is Modification.DELETE:
                self._versions.pop((ask.table, key), None)

    def _begin_scan(self) -> None:
        table, backward = self._random.choice((PLAIN, BRIEF)), self._random.random() < 0.5
        edge = KeyMarker.INF_MAX if backward else KeyMarker.INF_MIN
        rows: list[Any] = self._models[table].scan(self._now_ms())
        awaited = frozenset(key for key, _ in rows)
        self._scans.append(RangeScan(table, {"k": edge, "n": edge}, backward, awaited))

    def _next_page(self) -> None:
        """A scan reads its next page: what is visible now, from where it stopped."""
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
        self._scans.append(RangeScan(table, dict(onward), backward, left))

    def _rest(self, scanned: RangeScan) -> list[tuple[ScriptKey, Any]]:
        """The model's rows after the place where a scan stopped, in its direction."""
        rows: list[Any] = self._models[scanned.table].scan(self._now_ms())
        if scanned.backward:
            rows.reverse()
        at = tuple(scanned.start.values())
        if isinstance(at[0], KeyMarker):
            return rows
        return [each for each in rows if (each[0] <= at if scanned.backward else each[0] >= at)]

    def _compare_all(self) -> None:
        """Compare everything that can be read with the model."""
        names = self._engine.list_tables(INSTANCE)
        self._hold(
            names == tuple(sorted(self._models)), f"there are {names}, not {[*self._models]}"
        )
        for table in names:
            found, expected = self._everything(table), self._models[table].scan(self._now_ms())
            self._hold(found == expected, f"{table} holds {found}, not {expected}")
        accounts = [row["c"][0][1] for key, row in self._everything(PLAIN) if key[0] == BANK]
        self._hold(sum(accounts) == 0, f"the accounts hold {accounts}")
        self._compare_followers()

    def _compare_followers(self) -> None:
        """Compare indexes and stream with the model's rows and changes."""
        table = self._models[WATCHED]
        assert isinstance(table, WatchedTable)
        self._followers.compare(self._engine, INSTANCE, table, self._clock.now_us())

    def _everything(self, table: str) -> list[Any]:
        low: dict[str, KeyInput] = {"k": KeyMarker.INF_MIN, "n": KeyMarker.INF_MIN}
        high: dict[str, KeyInput] = {"k": KeyMarker.INF_MAX, "n": KeyMarker.INF_MAX}
        page = self._engine.rows.get_range(INSTANCE, scan_all(table, low, high))
        return [(tuple(key.values()), row) for key, row in decode_answer_rows(page.rows)]

    # --- clock, housekeeping, disk -----------------------------------------------------------

    def _jump(self) -> None:
        """A second passes, or the clock is set. Only this event changes the clock."""
        seconds = self._random.choice(_JUMPS) if self._random.random() < 0.5 else 1
        self._clock.advance(seconds)
        self._note(f"clock {seconds:+}")
        if seconds == -86400:
            self._see("the clock went back a day")

    def _sweep(self) -> None:
        """One step of housekeeping, between two groups."""
        if not self._store.writable or self._disk.capacity == 0:
            return
        dropped = self._engine.core.catalog.leftovers()
        plan = self._engine.core.housekeeping()
        if plan is None:
            return
        self._note(f"sweep of {len(plan.writes)}")
        self._compare_followers()  # the sweep may trim records that were not read yet
        purged = copied(self._models)
        swept = self._swept(plan)
        purged[BRIEF].purge(self._now_ms(), swept)
        try:
            self._engine.core.run(plan)
        except PowerCut:
            self._crash(cut=True, instead=purged)
            return
        except StorageFailure:
            self._crash(cut=False, instead=purged)
            return
        if swept:
            self._see("expired rows were removed")
        if len(self._engine.core.catalog.leftovers()) < len(dropped):
            self._see("rows of a dropped table were removed")
        self._purge(purged)
        self._compare_all()

    def _swept(self, plan: Plan[None]) -> list[Any]:
        """The model's rows that a step of the sweep trims.

        Other rows stay, even if they have expired.
        """
        table = self._engine.tables.get(INSTANCE, BRIEF)
        if table is None:
            return []
        shards = {shard for write in plan.writes for shard in write.shards}
        prefix = row_prefix(table.id)
        rows = self._models[BRIEF].rows
        return [key for key in rows if prefix + encode_key_value(key[0]) in shards]

    def _purge(self, purged: Models) -> None:
        """Take the swept rows out of the models. They may be made again with any version."""
        gone: set[Any] = self._models[BRIEF].rows.keys() - purged[BRIEF].rows.keys()
        for key in gone:
            self._versions.pop((BRIEF, key), None)
        self._models = purged

    def _fail_next(self) -> None:
        """Plan a failure of one of the disk's next calls."""
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
        """Fill the disk, so that writes find no room."""
        self._disk.capacity = 0
        self._note("disk full")

    def _make_room(self) -> None:
        """Empty the disk again."""
        self._disk.capacity = CAPACITY_BYTES_DEFAULT

    # --- crashes -----------------------------------------------------------------------------

    def _crash(self, *, cut: bool, instead: Models | None = None) -> None:
        """The process or the machine stops; then the store is opened and compared.

        `instead`: the models if the pending group was made.
        """
        self._committing = False
        before, keep = self._number(), self._random.choice(list(Keep))
        self._note(f"crash {keep.name if cut else 'kill'}")
        self.result.crashes += 1
        # Writes that the committer had begun, and writes with an unknown outcome, are one group.
        begun = [*self._open, *(each for each in self._pending if each.begun_ms is not None)]
        self.result.open_outcomes += len(begun) - len(self._open)
        self._lose_power(cut=cut, keep=keep)
        self._make_room()
        while not self._reopened():
            self._see("the power went while opening")
        for pending in self._pending:
            self._reply(pending.client)
        self._pending, self._open = [], []
        self._settle(before, begun, instead)
        self._transactions.crashed()

    def _lose_power(self, *, cut: bool, keep: Keep) -> None:
        self._disk.plan.forget()
        if cut:
            self._disk.cut(keep, self._random.getrandbits(32))
        self._store.close()

    def _reopened(self) -> bool:
        """Open the store; False if the power failed again meanwhile."""
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
        """Make a new engine and a new committer over the store."""
        self._engine = open_tablestore(self._store, self._clock, self._entropy)
        self._committer = Committer(
            self._store, self._clock, Metrics(), failed=lambda _: self._see_poison()
        )

    def _see_poison(self) -> None:
        if not self._store.writable:
            self._see("a sync failed")

    def _number(self) -> int:
        return self._store.statistics()["number"]

    def _settle(
        self, before: int, begun: Sequence[PendingAsk], instead: Models | None = None
    ) -> None:
        """Make unknown writes in the models if the log's number of groups says they were made."""
        findings = check_store(self._store)
        self._hold(not findings, f"the store is not sound: {findings}")
        done = self._number() > before
        if done:
            if instead is not None:
                self._purge(instead)
            for pending in begun:
                assert pending.begun_ms is not None
                self._settle_lateness(pending)
                pending.ask.apply(self._models, pending.begun_ms, locked=pending.met_lock)
                self._begin_anew(pending.ask)
        for pending in begun:
            if isinstance(pending.ask, CommitAsk):
                self._see(f"an open commit turned out {'done' if done else 'undone'}")
                pending.ask.begun.over = True
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
) -> SeedResult:
    """Run one seed. The result names a violation, or an error that was not expected."""
    world = World(seed, open_store=open_store, disk=disk, tell=tell)
    try:
        return world.run(steps)
    except Violation as violation:
        world.result.violation = str(violation)
    except Exception as error:  # noqa: BLE001  # an error that is not expected is a violation
        place = traceback.extract_tb(error.__traceback__)[-1]
        world.result.violation = f"{error!r} at {place.filename}:{place.lineno}"
    return world.result


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code: 1 if a promise was broken or an event never happened."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.simulation",
        description="Run seeds of the simulation; print one JSON line.",
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
    results = [simulate(seed, options.steps, tell=tell) for seed in shown]
    line = summary(results, time.monotonic() - begun)
    sys.stdout.write(json.dumps(line) + "\n")
    for result in results:
        if result.violation:
            again = f"--seed {result.seed} --steps {options.steps} --trace"
            text = f"seed {result.seed}: {result.violation}\n  python -m {_MODULE} {again}"
            _write_line(sys.stderr.write, text)
    unseen = len(results) >= _COVERING_SEEDS and line["never_seen"]
    if unseen:
        _write_line(sys.stderr.write, f"never seen: {', '.join(line['never_seen'])}")
    return int(bool(line["violations"] or unseen))


_MODULE: Final = "tests.support.simulation"


def _write_line(write: Callable[[str], object], text: str) -> None:
    write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
