"""Reads that are found out before they are made (storage/foresight.py)."""

import threading

import pytest
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store

from widerow.storage.foresight import ForeseenReads, NotForeseen, foreseen_reads
from widerow.testing.clock import FakeEntropy

KEY = b"\x10\x00\x00\x00\x07a"


def test_in_an_attempt_a_store_reads_nothing() -> None:
    store = remote_store(MemoryDriver(RemoteSpace(), FakeEntropy(1)))
    store.transact((KEY,), lambda txn: txn.put(KEY, b"v"))
    trips = store.statistics()["round_trips"]
    reads = ForeseenReads({})
    assert reads.knows_nothing
    with pytest.raises(NotForeseen):
        reads.attempt(lambda: store.brief_snapshot().get_many([KEY, KEY + b"x"]))
    assert reads.wanted == [KEY, KEY + b"x"]
    for use in (
        lambda: next(iter(store.snapshot().scan(KEY, KEY + b"x"))),
        lambda: store.transact((KEY,), lambda txn: txn.put(KEY, b"w")),
    ):
        with pytest.raises(NotForeseen):
            reads.attempt(use)
    assert store.statistics()["round_trips"] == trips
    values = dict(zip(reads.wanted, store.get_together(reads.wanted), strict=True))
    assert ForeseenReads(values).attempt(lambda: store.snapshot().get(KEY)) == b"v"
    assert store.snapshot().get(KEY) == b"v"


def test_an_attempt_is_that_of_its_thread_and_ends() -> None:
    reads, seen = ForeseenReads({}), list[object]()

    def work() -> None:
        assert foreseen_reads() is reads
        other = threading.Thread(target=lambda: seen.append(foreseen_reads()))
        other.start()
        other.join()
        raise LookupError

    with pytest.raises(LookupError):
        reads.attempt(work)
    assert seen == [None]
    assert foreseen_reads() is None
