"""Locks of partition key values: one holder, released once, and not held beyond their time."""

import threading

import pytest

from widerow.engine.locks import (
    Lock,
    Locks,
    check_unlocked,
    is_locked,
    release_lock,
    take_lock,
)
from widerow.errors import Conflict
from widerow.testing.clock import FakeClock

SHARD = b"shard"
SECOND_NS = 1_000_000_000


def test_one_holds_a_lock_until_it_is_released(clock: FakeClock) -> None:
    locks: Locks = {}
    lock = Lock(SHARD, SECOND_NS)
    check_unlocked(locks, SHARD, clock)
    take_lock(locks, lock, clock)
    assert is_locked(locks, SHARD, clock)
    assert not is_locked(locks, b"other", clock)
    with pytest.raises(Conflict):
        take_lock(locks, Lock(SHARD, SECOND_NS), clock)
    assert release_lock(locks, lock)
    assert not release_lock(locks, lock)
    assert not lock.is_held
    assert locks == {}


def test_a_lock_whose_time_is_over_is_released_by_whoever_meets_it(clock: FakeClock) -> None:
    """And its holder, who comes late, does not release the one behind it."""
    locks: Locks = {}
    late, following = Lock(SHARD, SECOND_NS), Lock(SHARD, 3 * SECOND_NS)
    take_lock(locks, late, clock)
    clock.advance(1)
    take_lock(locks, following, clock)
    assert not late.is_held
    assert not release_lock(locks, late)
    assert locks == {SHARD: following}
    with pytest.raises(Conflict):
        check_unlocked(locks, SHARD, clock)


def test_of_many_threads_one_takes_a_lock_and_one_releases_it(clock: FakeClock) -> None:
    for _ in range(50):
        locks: Locks = {}
        ready = threading.Barrier(4)
        taken: list[Lock] = []
        released: list[bool] = []

        def work(
            locks: Locks = locks,
            ready: threading.Barrier = ready,
            taken: list[Lock] = taken,
            released: list[bool] = released,
        ) -> None:
            lock = Lock(SHARD, SECOND_NS)
            ready.wait()
            try:
                take_lock(locks, lock, clock)
            except Conflict:
                pass
            else:
                taken.append(lock)
            ready.wait()
            released.append(release_lock(locks, taken[0]))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(taken) == 1
        assert sorted(released) == [False, False, False, True]
        assert locks == {}
