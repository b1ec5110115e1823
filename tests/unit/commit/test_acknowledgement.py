"""A change is answered when every server has acknowledged it; other plans do not wait."""

import threading
from collections.abc import Iterator
from queue import SimpleQueue

import pytest

from widerow.commit.committer import Committer, Uncounted
from widerow.commit.places import Caller
from widerow.engine.plan import Plan, single
from widerow.errors import Conflict
from widerow.keys.layout import SPACE_ROWS
from widerow.model.tablestore.rules import TablestoreRule
from widerow.storage.interface import Transaction, Write
from widerow.storage.memory import MemoryStore
from widerow.system import SystemClock

SHARD = SPACE_ROWS + b"shard"
SECONDS = 10.0


class _Announced(Write[str]):
    """A write of which others hear when they are told to."""

    def __init__(self, *, refused: bool = False) -> None:
        super().__init__((SHARD,), alone=True)
        self.heard = threading.Event()
        self.asked = threading.Semaphore(0)
        self._refused = refused

    def run(self, txn: Transaction) -> str:
        if self._refused:
            raise Conflict(TablestoreRule.TABLE_EXISTS, instance="i", table="t")
        txn.put(SHARD, b"value")
        return "done"

    def is_acknowledged(self) -> bool:
        self.asked.release()
        return self.heard.is_set()


@pytest.fixture
def committer() -> Iterator[Committer]:
    found = Committer(MemoryStore(), SystemClock(), Uncounted())
    found.start()
    yield found
    found.stop()


Told = SimpleQueue[tuple[str | None, Exception | None]]


def _submit(committer: Committer, write: Write[str]) -> Told:
    told: Told = SimpleQueue()
    end = committer.submit(
        Plan((write,), single), lambda answer, error: told.put((answer, error)), Caller.ELSEWHERE
    )
    assert end is None
    return told


def _small(name: str) -> Write[str]:
    def body(txn: Transaction) -> str:
        txn.put(SHARD + name.encode(), b"value")
        return name

    return Write((SHARD,), body)


def test_a_change_is_told_when_it_is_known(committer: Committer) -> None:
    write = _Announced()
    told = _submit(committer, write)
    for _ in range(3):
        assert write.asked.acquire(timeout=SECONDS)
    assert told.empty()
    write.heard.set()
    assert told.get(timeout=SECONDS) == ("done", None)


def test_others_are_committed_and_told_meanwhile(committer: Committer) -> None:
    write = _Announced()
    told = _submit(committer, write)
    assert write.asked.acquire(timeout=SECONDS)
    assert _submit(committer, _small("other")).get(timeout=SECONDS) == ("other", None)
    assert committer.run(Plan((_small("third"),), single)) == "third"
    assert told.empty()
    write.heard.set()
    assert told.get(timeout=SECONDS) == ("done", None)


def test_several_wait_each_for_its_own_word(committer: Committer) -> None:
    writes = [_Announced() for _ in range(3)]
    told = [_submit(committer, write) for write in writes]
    writes[1].heard.set()
    assert told[1].get(timeout=SECONDS) == ("done", None)
    assert told[0].empty()
    assert told[2].empty()
    for write in writes:
        write.heard.set()
    assert told[0].get(timeout=SECONDS) == told[2].get(timeout=SECONDS) == ("done", None)


def test_a_blocked_caller_waits_itself(committer: Committer) -> None:
    write = _Announced()

    def hear() -> None:
        write.asked.acquire()
        write.heard.set()

    opener = threading.Thread(target=hear)
    opener.start()
    assert committer.run(Plan((write,), single)) == "done"
    opener.join()


def test_what_is_refused_waits_for_nobody(committer: Committer) -> None:
    write = _Announced(refused=True)
    answer, error = _submit(committer, write).get(timeout=SECONDS)
    assert answer is None
    assert isinstance(error, Conflict)
    assert not write.asked.acquire(blocking=False)


def test_stopping_waits_for_what_is_not_known_yet() -> None:
    committer = Committer(MemoryStore(), SystemClock(), Uncounted())
    committer.start()
    write = _Announced()
    told = _submit(committer, write)
    assert write.asked.acquire(timeout=SECONDS)
    ending = threading.Thread(target=committer.stop)
    ending.start()
    assert write.asked.acquire(timeout=SECONDS)
    write.heard.set()
    ending.join(timeout=SECONDS)
    assert told.get(timeout=SECONDS) == ("done", None)
