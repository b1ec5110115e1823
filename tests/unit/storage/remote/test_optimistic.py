"""The layer over drivers of databases across a network (storage/remote/optimistic.py)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.counting import SHARDS, differences, run_writers
from tests.support.changes import create, get, primary_key, put
from tests.support.engines import open_tablestore
from tests.support.remote import CALM, MemoryDriver, RemoteSpace, Weather, remote_store
from tests.support.volume import examples

from widerow.engine.in_order import EarlierFailed, in_order
from widerow.errors import OutcomeUnknown, StoreBusy, StoreHangs
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_INTENTS, revision_key
from widerow.model.tablestore.requests import (
    BatchGet,
    BatchWrite,
    StreamChange,
    TableGet,
    TableWrite,
)
from widerow.model.tablestore.selection import Selection
from widerow.model.values import KeyType
from widerow.storage.interface import Outcome, Transaction, Write
from widerow.storage.remote import optimistic
from widerow.storage.remote.driver import ShardChange
from widerow.storage.remote.optimistic import OptimisticStore
from widerow.testing.clock import FakeClock, FakeEntropy

A, B, C = (b"\x10\x00\x00\x00\x07" + name for name in (b"a", b"b", b"c"))
TABLE = b"\x10\x00\x00\x00\x07"
EPOCH = b"\x01epoch"


class Process(NamedTuple):
    """One process: its driver and its store."""

    driver: MemoryDriver
    store: OptimisticStore


def processes(count: int = 2, weather: Weather = CALM) -> list[Process]:
    space = RemoteSpace()
    drivers = [MemoryDriver(space, FakeEntropy(n), weather) for n in range(count)]
    return [Process(driver, remote_store(driver, n)) for n, driver in enumerate(drivers)]


def add(key: bytes, shard: bytes = b"", reads: tuple[bytes, ...] = ()) -> Write[int]:
    """The write that counts one up under `key`."""

    def body(txn: Transaction) -> int:
        for name in reads:
            txn.get(name)
        count = int(txn.get(key) or b"0") + 1
        txn.put(key, b"%d" % count)
        return count

    return Write((shard or key,), body, reads=reads)


def overtake(process: Process, action: Callable[[], object], times: int = 1) -> None:
    """Do something between the bodies of a group of that process and its commit."""
    left = [action] * times

    def run() -> None:
        if left:
            left.pop()()

    process.driver.before_commit = run


def trips(process: Process, action: Callable[[], object]) -> int:
    before = process.store.statistics()["round_trips"]
    action()
    return process.store.statistics()["round_trips"] - before


# --- round trips ----------------------------------------------------------------------------------


def test_a_write_is_a_read_and_a_commit() -> None:
    (process,) = processes(1)
    process.store.transact_group([add(A, reads=(EPOCH,))])
    # The second time it is known what the key read alone held last, so the body gets further.
    assert trips(process, lambda: process.store.transact_group([add(A, reads=(EPOCH,))])) == 2


def test_a_group_of_many_shards_costs_the_same() -> None:
    (process,) = processes(1)
    shards = [TABLE + b"%03d" % number for number in range(100)]
    group = [add(shard) for shard in shards for _ in range(2)]
    assert trips(process, lambda: process.store.transact_group(group)) == 2
    assert process.store.snapshot().get_many(shards) == [b"2"] * 100


def test_a_read_is_one_round_trip_and_a_snapshot_none() -> None:
    (process,) = processes(1)
    process.store.transact_group([add(A)])
    assert trips(process, process.store.snapshot) == 0
    assert trips(process, lambda: process.store.snapshot().get(A)) == 1
    assert trips(process, lambda: process.store.snapshot().get_many([A, B, C])) == 1


def test_a_body_that_only_reads_commits_nothing() -> None:
    (process,) = processes(1)
    process.store.transact_group([add(A)])
    commits = process.store.statistics()["commits"]
    assert process.store.transact((A,), lambda txn: txn.get(A)) == b"1"
    assert process.store.statistics()["commits"] == commits


# --- homes ----------------------------------------------------------------------------------------


def homes(count: int) -> Process:
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1), homes=count)
    return Process(driver, remote_store(driver))


def test_shards_of_one_home_are_committed_together() -> None:
    process = homes(3)
    shards = [TABLE + b"%03d" % number for number in range(60)]
    process.store.transact_group([add(shard) for shard in shards])
    assert process.store.statistics()["commits"] == 3
    assert process.store.snapshot().get_many(shards) == [b"1"] * 60


def test_writes_in_order_are_made_in_order_in_several_homes() -> None:
    """A, then B, then A again: each home sees what those before it have done, and no more."""
    process = homes(2)
    assert process.driver.home(revision_key(A)) != process.driver.home(revision_key(B))
    seen: list[object] = []

    def look(txn: Transaction) -> None:
        seen.append(process.store.snapshot().get_many([A, B]))
        txn.put(B, b"2")

    outcomes = process.store.transact_group(in_order((add(A), Write((B,), look), add(A))))
    assert [outcome.error for outcome in outcomes] == [None] * 3
    assert seen[-1] == [b"1", None]
    assert process.store.snapshot().get_many([A, B]) == [b"2", b"2"]


def test_nothing_is_made_behind_a_failure_in_another_home() -> None:
    process = homes(2)

    def refuse(_: Transaction) -> None:
        raise LookupError("refused")

    outcomes = process.store.transact_group(in_order([add(A), Write((B,), refuse), add(A)]))
    assert [type(outcome.error) for outcome in outcomes] == [type(None), LookupError, EarlierFailed]
    assert process.store.snapshot().get(A) == b"1"


# --- a part of the database is away -----------------------------------------------------------


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    """A database of two ranges, of which the second begins at B; groups wait a moment only."""
    monkeypatch.setattr(optimistic, "HOME_SECONDS_MAX", 0.05)
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1), placed=True)
    driver.space.ranges.split(B)
    with remote_store(driver) as store:
        yield Process(driver, store)


def test_what_is_away_ends_busy_and_the_rest_is_committed(divided: Process) -> None:
    divided.driver.away = {divided.driver.home(revision_key(B))}
    first, second, third = divided.store.transact_group([add(A), add(B), add(A)])
    assert (first.error, third.error) == (None, None)
    assert isinstance(second.error, StoreBusy)
    assert divided.store.snapshot().get(A) == b"2"


@pytest.mark.parametrize("state", ["away", "full"])
def test_nobody_waits_again_for_what_is_known_to_be_away(divided: Process, state: str) -> None:
    """Or to take no changes, though it can be read."""
    setattr(divided.driver, state, {divided.driver.home(revision_key(B))})
    rests: list[float] = []
    divided.store.transact_group([add(A), add(B)])
    divided.store._rest = rests.append
    for turn in range(20):
        first, second = divided.store.transact_group([add(A), add(B)])
        assert first.result == 2 + turn
        assert isinstance(second.error, StoreBusy)
    assert rests == []


def test_groups_wait_nowhere_but_by_themselves(divided: Process) -> None:
    """Also those that begin with a view, because others have overtaken a read of the same keys."""
    divided.driver.away = {divided.driver.home(revision_key(A))}
    divided.store._lost_keys.note(min(A, revision_key(A)))
    first, second = divided.store.transact_group([add(A), add(B)])
    assert isinstance(first.error, StoreBusy)
    assert second.error is None
    (away,) = divided.store._away._away.values()
    assert isinstance(away.probe.exception(), StoreBusy)
    assert divided.driver.waits == 0


def test_nobody_waits_for_what_hangs(divided: Process) -> None:
    """What is only away may be back in a moment; what hangs is not, and others would wait too."""
    divided.driver.away, divided.driver.hangs = {divided.driver.home(revision_key(B))}, True
    rests: list[float] = []
    divided.store._rest = rests.append
    first, second = divided.store.transact_group([add(A), add(B)])
    assert first.error is None
    assert isinstance(second.error, StoreHangs)
    assert rests == []


@pytest.mark.parametrize("state", ["away", "full"])
def test_a_part_that_answers_again_is_written_to_again(divided: Process, state: str) -> None:
    setattr(divided.driver, state, {divided.driver.home(revision_key(B))})
    divided.store.transact_group([add(A), add(B)])
    setattr(divided.driver, state, set())
    while not _answers(divided):  # until a probe has found it there
        pass
    assert divided.store.transact_group([add(B)])[0].result == 1


def test_a_part_that_is_away_for_a_moment_is_waited_for(divided: Process) -> None:
    divided.driver.away = {divided.driver.home(revision_key(B))}
    divided.store._rest = lambda _: divided.driver.away.clear()
    outcomes = divided.store.transact_group([add(A), add(B)])
    assert [outcome.error for outcome in outcomes] == [None, None]


def test_a_commit_that_stays_open_keeps_no_other_shard_waiting(divided: Process) -> None:
    """It is not known what became of it, and its part is away: only its shards are not written."""
    home = divided.driver.home(revision_key(B))

    def lose() -> None:
        divided.driver.before_commit = None
        divided.driver.away = {home}
        raise OutcomeUnknown("the connection was lost")

    divided.driver.before_commit = lose
    with pytest.raises(OutcomeUnknown):
        divided.store.transact_group([add(B)])
    rests: list[float] = []
    divided.store._rest = rests.append
    first, second = divided.store.transact_group([add(A), add(B)])
    assert first.result == 1
    assert isinstance(second.error, StoreBusy)
    assert rests == [], "it was waited for once"
    divided.driver.away = set()
    while not _answers(divided):
        pass
    assert divided.store.transact_group([add(B)])[0].result == 1


def _answers(process: Process) -> bool:
    """Whether B's part is written to again."""
    try:
        process.store.transact((B,), lambda txn: txn.get(B))
    except StoreBusy:
        return False
    return True


# --- conflicts ------------------------------------------------------------------------------------


def test_an_overtaken_shard_runs_again_and_the_others_do_not() -> None:
    one, other = processes()
    ran: list[str] = []

    def counting(key: bytes, name: str) -> Write[int]:
        made = add(key)

        def body(txn: Transaction) -> int:
            result = made.run(txn)
            ran.append(name)
            return result

        return Write((key,), body)

    overtake(one, lambda: other.store.transact_group([add(A)]))
    outcomes = one.store.transact_group([counting(A, "a"), counting(B, "b")])
    assert outcomes == [Outcome(2, None), Outcome(1, None)]
    assert ran.count("b") == 1
    assert ran.count("a") == 2
    assert one.store.statistics()["conflicts"] == 1


def test_prefixes_of_one_shard_conflict() -> None:
    one, other = processes()
    beside = b"\x11" + A[1:]

    def both(txn: Transaction) -> bytes | None:
        txn.put(A, txn.get(beside) or b"none")
        return txn.get(A)

    overtake(one, lambda: other.store.transact_group([add(beside)]))
    assert one.store.transact((A, beside), both) == b"1"


def test_a_write_that_is_always_overtaken_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("widerow.storage.remote.optimistic.CONFLICT_SECONDS_MAX", 0.02)
    one, other = processes()
    told: list[str] = []
    lost = Write(
        (A,), add(A).run, settled=lambda _: told.append("s"), doubted=lambda: told.append("d")
    )
    overtake(one, lambda: other.store.transact_group([add(A)]), times=10**6)
    outcomes = one.store.transact_group([lost, add(B)])
    assert isinstance(outcomes[0].error, StoreBusy)
    assert outcomes[1] == Outcome(1, None)
    assert told == []
    with pytest.raises(StoreBusy):
        one.store.transact_group([lost])


def test_two_shards_of_one_write_are_refused() -> None:
    (process,) = processes(1)
    outcomes = process.store.transact_group([Write((A, B), lambda _: 1), add(C)])
    assert isinstance(outcomes[0].error, ValueError)
    assert outcomes[1] == Outcome(1, None)


def test_a_removed_table_takes_its_revisions_along() -> None:
    (process,) = processes(1)
    process.store.transact_group([add(A), add(B)])
    process.store.transact((TABLE,), lambda txn: txn.delete_range(TABLE, TABLE[:-1] + b"\x08"))
    view = process.driver.view()
    found = view.read_many([revision_key(A), revision_key(B), revision_key(TABLE)])
    assert found[:2] == [None, None]
    assert found[2] is not None
    assert list(process.store.snapshot().scan(b"", b"\xff")) == []


def test_a_later_write_of_the_group_sees_what_an_overlapping_one_wrote() -> None:
    (process,) = processes(1)
    removal = Write((TABLE,), lambda txn: txn.delete_range(TABLE, TABLE[:-1] + b"\x08"))
    outcomes = process.store.transact_group([add(A), removal, add(A)])
    assert [outcome.result for outcome in outcomes] == [1, None, 1]
    process.store.transact_group([add(A), removal])
    assert process.store.snapshot().get(A) is None


def test_a_key_read_alone_is_that_of_the_writes_before() -> None:
    (process,) = processes(1)
    reading = Write((B,), lambda txn: txn.get(A), reads=(A,))
    outcomes = process.store.transact_group([add(A), reading, add(A)])
    assert outcomes[1].result == b"1"


# --- writes in order ------------------------------------------------------------------------------


def test_nothing_behind_the_first_failure_is_made_however_often_bodies_run() -> None:
    one, other = processes()

    def insert(txn: Transaction) -> None:
        if txn.get(A) is not None:
            raise LookupError
        txn.put(A, b"mine")

    group = in_order([Write((A,), insert), add(B)])
    overtake(one, lambda: other.store.transact_group([add(A)]))
    outcomes = one.store.transact_group([*group, add(C)])
    assert [type(outcome.error) for outcome in outcomes] == [LookupError, EarlierFailed, type(None)]
    assert one.store.snapshot().get_many([A, B, C]) == [b"1", None, b"1"]


def test_nothing_is_made_behind_a_write_of_an_earlier_run_that_is_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("widerow.storage.remote.optimistic.OUTCOME_SECONDS_MAX", 0.01)
    (process,) = processes(1)
    removal = Write((TABLE,), lambda txn: txn.delete_range(TABLE, TABLE[:-1] + b"\x08"))
    overtake(process, lambda: setattr(process.driver, "is_reachable", False))
    with pytest.raises(OutcomeUnknown):
        process.store.transact_group(in_order([add(A), removal]))
    process.driver.is_reachable = True
    process.store.transact_group([add(B)])
    assert process.store.statistics()["commits"] == 2


# --- outcomes that are not known ----------------------------------------------------------------


class Answerless(MemoryDriver):
    """Loses the answer of the next commit, which is made at once, never, or when it arrives.

    `then`: what happens before anybody can look for it.
    """

    lose: str | None = None
    then: Callable[[], object] | None = None

    def commit(self, changes: Sequence[ShardChange]) -> frozenset[bytes]:
        how, self.lose = self.lose, None
        if how is None:
            return super().commit(changes)
        if how == "made":
            super().commit(changes)
        if how == "late":
            self.held = changes
        if self.then is not None:
            self.then()
        raise OutcomeUnknown("no answer")

    def arrive(self) -> None:
        self.space.make(self.held)


@pytest.mark.parametrize("how", ["made", "not made", "late"])
def test_a_commit_without_an_answer_is_looked_up(how: str) -> None:
    driver = Answerless(RemoteSpace(), FakeEntropy(1))
    store = remote_store(driver)
    store.transact_group([add(A)])
    driver.lose = how
    assert store.transact_group([add(A), add(B)]) == [Outcome(2, None), Outcome(1, None)]
    if how == "late":
        driver.arrive()
    assert store.snapshot().get_many([A, B]) == [b"2", b"1"]
    assert store.statistics()["unknown"] == 1


@pytest.mark.parametrize("how", ["made", "not made"])
def test_a_commit_that_others_followed_stays_unknown(how: str) -> None:
    space = RemoteSpace()
    driver = Answerless(space, FakeEntropy(1))
    store, other = remote_store(driver), remote_store(MemoryDriver(space, FakeEntropy(2)), 2)
    told: list[str] = []
    write = Write(
        (A,), add(A).run, settled=lambda _: told.append("s"), doubted=lambda: told.append("d")
    )
    driver.lose = how
    driver.then = lambda: other.transact_group([add(A)])
    with pytest.raises(OutcomeUnknown):
        store.transact_group([write])
    assert told == ["d"]
    assert store.writable
    assert store.snapshot().get(A) == (b"2" if how == "made" else b"1")


def test_a_commit_stays_unknown_where_looking_it_up_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("widerow.storage.remote.optimistic.OUTCOME_SECONDS_MAX", 0.01)
    driver = Answerless(RemoteSpace(), FakeEntropy(1))
    store = remote_store(driver)
    driver.lose = "made"
    driver.then = driver.close  # every later call raises another failure
    with pytest.raises(OutcomeUnknown):
        store.transact_group([add(A)])


def _may_still_commit(store: OptimisticStore) -> bool:
    return store.may_still_commit


def test_a_body_runs_only_when_former_commits_are_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rule 13: a body that sees that the change is not there can rely on it."""
    monkeypatch.setattr("widerow.storage.remote.optimistic.OUTCOME_SECONDS_MAX", 0.01)
    monkeypatch.setattr("widerow.storage.remote.optimistic.CONFLICT_SECONDS_MAX", 0.01)
    driver = Answerless(RemoteSpace(), FakeEntropy(1))
    store = remote_store(driver)
    store.transact_group([add(A)])
    driver.lose = "late"
    driver.then = lambda: setattr(driver, "is_reachable", False)
    with pytest.raises(OutcomeUnknown):
        store.transact_group([add(A)])
    assert _may_still_commit(store)
    with pytest.raises(StoreBusy):
        store.transact((A,), lambda txn: txn.get(A))
    driver.is_reachable = True
    assert store.transact((A,), lambda txn: txn.get(A)) == b"1"
    assert not _may_still_commit(store)
    driver.arrive()
    assert store.snapshot().get(A) == b"1"


def test_an_unreachable_database_makes_writes_wait_and_then_refuses_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("widerow.storage.remote.optimistic.CONFLICT_SECONDS_MAX", 0.01)
    (process,) = processes(1)
    process.driver.is_reachable = False
    with pytest.raises(StoreBusy):
        process.store.transact_group([add(A)])
    with pytest.raises(StoreBusy):
        process.store.snapshot().get(A)
    process.driver.is_reachable = True
    assert process.store.transact_group([add(A)]) == [Outcome(1, None)]


def test_a_read_that_fails_inside_a_body_is_no_answer_of_the_body() -> None:
    """The body runs again; it never gets to see the failure."""
    (process,) = processes(1)
    process.store.transact_group([add(A + b"%02d" % number, A) for number in range(20)])
    seen: list[object] = []
    away = [True]

    def body(txn: Transaction) -> int:
        txn.get(A)
        if away and seen:
            process.driver.is_reachable = False
        seen.append("ran")
        try:
            return len(list(txn.scan(A, A + b"\xff")))  # by itself, behind the first page
        except Exception as error:
            seen.append(error)
            raise

    def rest(_: float) -> None:
        away.clear()
        process.driver.is_reachable = True

    store = OptimisticStore(process.driver, token=FakeEntropy(1).token_bytes, rest=rest)
    assert store.transact((A,), body) == 20
    assert not away
    assert set(map(type, seen)) == {str}


# --- several processes ----------------------------------------------------------------------------


@pytest.mark.parametrize("weather", [CALM, Weather(0.1, 0.1, 0.2, 0.2)], ids=["calm", "bad"])
def test_nothing_is_lost_or_doubled(weather: Weather) -> None:
    stores = [process.store for process in processes(3, weather)]
    tallies = run_writers(stores, turns=30)
    assert differences(stores[0], tallies) == []
    assert all(tally.made.total() > 0 for tally in tallies)
    tallies[0].made[SHARDS[0]] += 1 + sum(tally.unknown[SHARDS[0]] for tally in tallies)
    assert len(differences(stores[0], tallies)) == 1  # a control: a lost write is noticed


# --- what the engine asks for ---------------------------------------------------------------------


def test_rows_of_a_batch_are_read_together() -> None:
    """BatchGetRow: one round trip for the catalogue's epoch, one for all rows."""
    (process,) = processes(1)
    engine = open_tablestore(process.store, FakeClock(), FakeEntropy(1))
    engine.core.run(engine.create_table("i", create("t", {"k": KeyType.STRING})))
    keys = [f"{number:03}" for number in range(100)]
    for key in keys:
        engine.core.run(engine.rows.write_row("i", put("t", {"k": key}, {"x": 1})))
    asked = BatchGet((TableGet("t", tuple(primary_key({"k": key}) for key in keys), Selection()),))
    assert trips(process, lambda: engine.rows.batch_get_row("i", asked)) == 2
    (answered,) = engine.rows.batch_get_row("i", asked)
    assert all(outcome.read is not None and outcome.read.row for outcome in answered)
    request = get("t", {"k": "001"})
    assert trips(process, lambda: engine.rows.get_row("i", request)) == 2


@pytest.mark.parametrize("rows", [1, 100])
def test_what_rows_of_a_stream_leave_is_looked_up_in_one_trip(rows: int) -> None:
    """Two looks at the epoch, the rows, a view that has them again, the intents, a commit."""
    (process,) = processes(1)
    engine = open_tablestore(process.store, FakeClock(), FakeEntropy(1))
    asked = create("t", {"k": KeyType.STRING})
    engine.core.run(engine.create_table("i", replace(asked, stream=StreamChange(enable=True))))

    def write() -> None:
        changes = tuple(put("t", {"k": f"{number:03}"}, {"x": 1}) for number in range(rows))
        batch = BatchWrite((TableWrite("t", changes),))
        engine.core.run(engine.rows.batch_write_row("i", batch))

    write()
    assert trips(process, write) == 6
    waiting = list(process.store.snapshot().scan(SPACE_INTENTS, after_prefix(SPACE_INTENTS)))
    assert len(waiting) == 2 * rows


@given(cut=st.sampled_from([0.0, 0.4]), size=st.sampled_from([1, 400_000]))
@settings(max_examples=examples(20), deadline=None)
def test_bodies_see_whole_ranges_that_they_read_together(cut: float, size: int) -> None:
    """Also those with more than the first page, whether that ends by rows or by bytes."""
    (process,) = processes(1, Weather(cut=cut))
    value = b"v" * size
    counts = {A: 0, B: 3, C: 40}

    def fill(shard: bytes) -> Write[None]:
        def body(txn: Transaction) -> None:
            for number in range(counts[shard]):
                txn.put(shard + b"%02d" % number, value)

        return Write((shard,), body)

    def look(shard: bytes, *, reverse: bool) -> Write[list[bytes]]:
        def body(txn: Transaction) -> list[bytes]:
            txn.put(shard + b"z", b"")
            found = txn.scan(shard, after_prefix(shard), reverse=reverse)
            return [key[len(shard) :] for key, _ in found]

        return Write((shard,), body)

    process.store.transact_group([fill(shard) for shard in counts])
    for reverse in (False, True):
        ends = process.store.transact_group([look(shard, reverse=reverse) for shard in counts])
        for count, end in zip(counts.values(), ends, strict=True):
            wanted = [*[b"%02d" % number for number in range(count)], b"z"]
            assert end.result == (wanted[::-1] if reverse else wanted)


def test_a_refused_write_says_why_the_database_refused_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one that was overtaken blames other processes."""
    monkeypatch.setattr("widerow.storage.remote.optimistic.CONFLICT_SECONDS_MAX", 0.01)
    (process,) = processes(1)

    def refuse(_: object) -> frozenset[bytes]:
        raise StoreBusy("a region ends inside the shard")

    monkeypatch.setattr(process.driver, "commit", refuse)
    with pytest.raises(StoreBusy, match="a region ends inside the shard"):
        process.store.transact_group([add(A)])
