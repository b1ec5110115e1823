"""A check of a shared store begins anew where the store lost its snapshot (`storage/read_anew.py`).

What the lost attempt had found is not told: it is of another moment.
"""

from collections.abc import Callable, Iterator

import pytest
from tests.support.changes import create, put
from tests.support.engines import open_tablestore

from widerow.engine.check import check_store
from widerow.errors import ViewLost
from widerow.keys.encode import after_prefix
from widerow.keys.layout import row_prefix
from widerow.limits import BRIEF_READS_MAX
from widerow.model.values import KeyType
from widerow.storage.interface import Snapshot, Store, Transaction
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

STRAY = row_prefix(99) + b"k"  # a row of a table that nobody made


def damaged() -> Store:
    store = open_store("memory:")
    engine = open_tablestore(store, FakeClock(), FakeEntropy())
    engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER})))
    engine.core.run(engine.rows.write_row("i", put("t", {"k": 1}, {"v": 1})))

    def stray(transaction: Transaction) -> None:
        transaction.put(STRAY, b"x")

    store.transact([STRAY], stray)
    return store


def losing(store: Store, times: int) -> Callable[[], Snapshot]:
    """Snapshots of a store; those of the first attempts are lost behind the stray row."""
    left, snapshot = [None] * times, store.snapshot

    class Losing:
        def __init__(self) -> None:
            self.view = snapshot()

        def scan(self, start: bytes, stop: bytes) -> Iterator[tuple[bytes, bytes]]:
            if start == after_prefix(row_prefix(99)) and left:
                left.pop()
                raise ViewLost("a region was split")
            return self.view.scan(start, stop)

        def __getattr__(self, name: str) -> object:
            return getattr(self.view, name)

    return Losing  # type: ignore[return-value]  # what a check reads of one


@pytest.mark.parametrize("times", [0, 1, BRIEF_READS_MAX - 1])
def test_what_is_wrong_is_told_once(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    store = damaged()
    found = check_store(store)
    assert len(found) == 1
    monkeypatch.setattr(store, "snapshot", losing(store, times))
    assert check_store(store) == found


def test_a_snapshot_that_is_always_lost_ends_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    store = damaged()
    monkeypatch.setattr(store, "snapshot", losing(store, BRIEF_READS_MAX))
    with pytest.raises(ViewLost):
        check_store(store)
