"""Those who compute for long take turns, in the order in which they came."""

from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from widerow.storage.bulk import LONG_WORK, OrderedLock, turn_of

SECONDS_MAX = 30.0  # a turn that never comes ends the test, not the run
ASKED = 100


def waiting(lock: OrderedLock) -> int:
    return len(lock._waiting)


def test_one_that_asks_again_at_once_goes_behind_those_who_wait() -> None:
    """Else an index that is kept up without a pause would keep every search waiting."""
    lock, held = OrderedLock(), list[str]()

    def other() -> None:
        with lock:
            held.append("other")

    with ThreadPoolExecutor(1) as pool:
        for _ in range(ASKED):
            with lock:
                ended: Future[None] = pool.submit(other)
                while not waiting(lock):
                    ended.done()
                held.append("first")
            with lock:
                held.append("again")
            ended.result(SECONDS_MAX)
    assert held == ["first", "other", "again"] * ASKED
    assert not lock.locked()


def test_the_holder_lets_those_who_wait_go_first() -> None:
    """A statement of SQL does so between its chunks; where nobody waits it goes on."""
    lock, held = OrderedLock(), list[str]()

    def other(name: str) -> None:
        with lock:
            held.append(name)

    with ThreadPoolExecutor(2) as pool, lock:
        lock.pass_on()
        ended = [pool.submit(other, "a")]
        while waiting(lock) < 1:
            ended[0].done()
        ended.append(pool.submit(other, "b"))
        while waiting(lock) < 2:
            ended[1].done()
        lock.pass_on()
        assert held == ["a", "b"]
        assert lock.locked()
        for each in ended:
            each.result(SECONDS_MAX)
    assert not lock.locked()


def test_a_turn_is_given_back_with_an_error() -> None:
    lock = OrderedLock()

    def failing() -> None:
        with lock:
            raise KeyError

    with pytest.raises(KeyError):
        failing()
    assert not lock.locked()


def test_one_holds_it_at_a_time() -> None:
    lock, inside, most = OrderedLock(), list[int](), list[int]()

    def work(number: int) -> None:
        for _ in range(ASKED):
            with lock:
                inside.append(number)
                most.append(len(inside))
                inside.remove(number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4), timeout=SECONDS_MAX))
    assert most == [1] * 4 * ASKED
    assert not lock.locked()


def test_small_groups_take_no_turn() -> None:
    with turn_of(1):
        assert not LONG_WORK.locked()
    with turn_of(1000):
        assert LONG_WORK.locked()
    assert not LONG_WORK.locked()
