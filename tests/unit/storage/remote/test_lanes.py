"""Groups wait for no server that is slow (storage/remote/lanes.py; interface.py, rule 18)."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random  # noqa: TID251  # seeded by the law
from time import monotonic
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.remote import MemoryDriver, RemoteSpace, Weather, remote_store
from tests.support.volume import examples

from widerow.commit.committer import Committer, Uncounted
from widerow.engine.plan import Plan, single
from widerow.errors import StoreBusy
from widerow.keys.layout import revision_key
from widerow.limits import LATE_SECONDS
from widerow.storage.interface import Outcome, Transaction, Write
from widerow.storage.late import LateWrites
from widerow.storage.remote import lanes, optimistic
from widerow.storage.remote.optimistic import OptimisticStore
from widerow.system import SystemClock
from widerow.testing.clock import FakeEntropy

A, B, C = (b"\x10\x00\x00\x00\x07" + name for name in (b"a", b"b", b"c"))
WAIT_SECONDS = 20.0  # of the tests


class Divided(NamedTuple):
    """A store of two servers; the second has B and C."""

    driver: MemoryDriver
    store: OptimisticStore

    def hold(self, key: bytes = B) -> threading.Event:
        """Let the server of a key answer nothing, until the event is set."""
        event = self.driver.slow[self.driver.home(revision_key(key))] = threading.Event()
        return event


@pytest.fixture
def divided() -> Iterator[Divided]:
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1), placed=True)
    driver.space.ranges.split(B)
    with remote_store(driver) as store:
        made = Divided(driver, store)
        made.store.transact_promptly([add(A), add(B)])
        yield made
        for event in driver.slow.values():
            event.set()


def add(key: bytes, told: list[Any] | None = None) -> Write[int]:
    """Count one up under a key; `told` hears of it when that is durable."""

    def body(txn: Transaction) -> int:
        count = int(txn.get(key) or b"0") + 1
        txn.put(key, b"%d" % count)
        return count

    return Write((key,), body, settled=None if told is None else told.append)


def ended(late: Sequence[LateWrites]) -> list[Outcome[Any]]:
    """The outcomes of late writes, once they have ended."""
    for each in late:
        over = threading.Event()
        each.when_ended(over.set)
        assert over.wait(WAIT_SECONDS)
    return [outcome for each in late for outcome in each.outcomes]


def test_a_group_ends_without_the_writes_of_a_slow_server(divided: Divided) -> None:
    go_on = divided.hold()
    outcomes, late = divided.store.transact_promptly([add(A), add(B), add(A)])
    assert [outcomes[place].result for place in (0, 2)] == [2, 3]
    assert [list(each.places) for each in late] == [[1]]
    assert divided.store.snapshot().get(A) == b"3"
    assert divided.store.may_still_commit
    assert divided.store.statistics()["late"] == 1
    go_on.set()
    assert [each.result for each in ended(late)] == [2]
    assert not divided.store.may_still_commit


def test_only_the_first_group_waits(divided: Divided) -> None:
    """Behind it no group waits for a server that is known to be slow."""
    go_on = divided.hold()
    divided.store.transact_promptly([add(A), add(B)])
    began = monotonic()
    late: list[LateWrites] = []
    for _ in range(20):
        outcomes, more = divided.store.transact_promptly([add(A), add(B)])
        late += more
        assert outcomes[0].error is None
    assert monotonic() - began < 20 * LATE_SECONDS
    go_on.set()
    assert [each.result for each in ended(late)] == list(range(3, 23))


def test_a_group_of_the_slow_server_alone_holds_nobody_up(divided: Divided) -> None:
    go_on = divided.hold()
    _, late = divided.store.transact_promptly([add(B), add(C)])
    assert [list(each.places) for each in late] == [[0, 1]]
    assert divided.store.transact_promptly([add(A)])[0][0].result == 2
    go_on.set()
    assert [each.result for each in ended(late)] == [2, 1]


def test_late_writes_are_told_before_the_next_of_their_shard_runs(divided: Divided) -> None:
    go_on = divided.hold()
    told: list[Any] = []
    seen: list[list[Any]] = []

    def body(txn: Transaction) -> None:
        seen.append(list(told))
        txn.put(B, b"9")

    _, first = divided.store.transact_promptly([add(B, told)])
    _, second = divided.store.transact_promptly([Write((B,), body)])
    go_on.set()
    ended([*first, *second])
    assert told == [2]
    assert seen[-1] == [2]


def test_a_whole_group_begins_when_all_that_is_late_has_ended(divided: Divided) -> None:
    """Changes of the catalogue are such groups."""
    go_on = divided.hold()
    told: list[Any] = []
    divided.store.transact_promptly([add(B, told)])
    divided.store.transact_promptly([add(B, told)])
    with ThreadPoolExecutor(1) as other:
        whole = other.submit(divided.store.transact_group, [add(A, told)])
        go_on.set()
        assert whole.result(WAIT_SECONDS)[0].result == 2
    assert told == [2, 3, 2]


def test_a_shard_that_moves_stays_where_its_late_writes_are(
    divided: Divided, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two lanes would run bodies of one shard at the same time, on one cache."""
    go_on = divided.hold()
    _, first = divided.store.transact_promptly([add(B)])
    elsewhere = divided.driver.server(revision_key(A))
    monkeypatch.setattr(MemoryDriver, "server", lambda *_: elsewhere)
    running = threading.Event()

    def body(txn: Transaction) -> bytes | None:
        running.set()
        return txn.get(B)

    _, second = divided.store.transact_promptly([Write((B,), body)])
    assert not running.wait(LATE_SECONDS)
    go_on.set()
    assert [each.result for each in ended([*first, *second])] == [2, b"2"]


def test_only_so_many_writes_wait_for_a_slow_server(
    divided: Divided, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "LATE_WRITES_MAX", 2)
    go_on = divided.hold()
    _, late = divided.store.transact_promptly([add(B), add(C)])
    outcomes, more = divided.store.transact_promptly([add(A), add(B)])
    assert outcomes[0].result == 2
    assert isinstance(outcomes[1].error, StoreBusy)
    assert not more
    go_on.set()
    assert [each.error for each in ended(late)] == [None, None]
    assert divided.store.transact_group([add(B)])[0].result == 3


def test_closing_waits_for_what_is_late(divided: Divided) -> None:
    go_on = divided.hold()
    _, late = divided.store.transact_promptly([add(B)])
    with ThreadPoolExecutor(1) as other:
        closing = other.submit(divided.store.close)
        go_on.set()
        closing.result(WAIT_SECONDS)
    assert late[0].outcomes[0].result == 2


def plan(key: bytes) -> Plan[int]:
    return Plan((add(key),), single)


def test_requests_of_other_servers_are_answered_meanwhile(divided: Divided) -> None:
    """Group commit, with its thread: a plan ends with the last of its writes."""
    committer = Committer(divided.store, SystemClock(), Uncounted())
    committer.start()
    go_on = divided.hold()
    slow: list[Any] = []
    over = threading.Event()

    def done(answer: Any, error: Exception | None) -> None:  # noqa: ANN401  # of any plan
        slow.append((answer, error))
        over.set()

    both = Plan((add(A), add(B)), lambda outcomes: [each.result for each in outcomes])
    committer.submit(both, done)
    assert [committer.run(plan(A)) for _ in range(3)] == [3, 4, 5]
    assert slow == []
    go_on.set()
    assert over.wait(WAIT_SECONDS)
    assert slow == [([2, 2], None)]
    committer.stop()


def test_a_caller_that_waits_for_a_slow_server_is_answered_without_the_thread(
    divided: Divided,
) -> None:
    """The library of typed tables has no thread that commits."""
    committer = Committer(divided.store, SystemClock(), Uncounted())
    go_on = divided.hold()
    with ThreadPoolExecutor(1) as other:
        slow = other.submit(committer.run, plan(B))
        while not divided.store.may_still_commit:
            pass
        assert committer.run(plan(A)) == 2
        assert not slow.done()
        go_on.set()
        assert slow.result(WAIT_SECONDS) == 2


def test_stopping_waits_for_late_plans(divided: Divided) -> None:
    committer = Committer(divided.store, SystemClock(), Uncounted())
    committer.start()
    go_on = divided.hold()
    told: list[Any] = []
    committer.submit(plan(B), lambda answer, error: told.append((answer, error)))
    while not divided.store.may_still_commit:
        pass
    with ThreadPoolExecutor(1) as other:
        stopping = other.submit(committer.stop)
        go_on.set()
        stopping.result(WAIT_SECONDS)
    assert told == [(2, None)]


@given(seed=st.integers(0, 2**32), weather=st.sampled_from([Weather(), Weather(refused=0.3)]))
@settings(max_examples=examples(20))
def test_nothing_is_lost_doubled_or_reordered(seed: int, weather: Weather) -> None:
    """Servers are slow by turns; every acknowledged count is one more than the one before it."""
    random = Random(seed)  # noqa: S311  # no secret
    space = RemoteSpace()
    driver = MemoryDriver(space, FakeEntropy(seed), weather, placed=True)
    for key in (B, C):
        space.ranges.split(key)
    counts: dict[bytes, list[int]] = {A: [1], B: [1], C: [1]}

    def note(key: bytes, outcome: Outcome[int]) -> None:
        if not isinstance(outcome.error, StoreBusy):  # refused until its time was over
            counts[key].append(outcome.result or 0)

    with pytest.MonkeyPatch.context() as patch, remote_store(driver) as store:
        patch.setattr(optimistic, "LATE_SECONDS", 0.002)
        store.transact_promptly([add(key) for key in counts])  # so that it has met all servers
        late: list[tuple[list[bytes], LateWrites]] = []
        for _ in range(30):
            turn(driver, random)
            keys = random.choices([A, B, C], k=random.randint(1, 6))
            outcomes, more = store.transact_promptly([add(key) for key in keys])
            late += [(keys, each) for each in more]
            absent = {place for each in more for place in each.places}
            for place in set(range(len(keys))) - absent:
                note(keys[place], outcomes[place])
        for event in driver.slow.values():
            event.set()
        for keys, each in late:
            for place, outcome in zip(each.places, ended([each]), strict=True):
                note(keys[place], outcome)
        for key, found in counts.items():
            assert sorted(found) == list(range(1, 1 + len(found)))
            assert int(store.snapshot().get(key) or b"0") == len(found)


def turn(driver: MemoryDriver, random: Random) -> None:
    """Let a server that is slow go on, or perhaps another one be slow."""
    home = driver.home(revision_key(random.choice([A, B, C])))
    if home in driver.slow:
        driver.slow.pop(home).set()
    elif random.random() < 0.5:
        driver.slow[home] = threading.Event()
