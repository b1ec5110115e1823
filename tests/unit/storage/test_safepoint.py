"""Long work lets other threads run, compiled as well (docs/internals/performance.md).

What is looked at appends to one list, in C, so that nothing but the code that is tested hands over
the interpreter's lock; another thread appends to it whenever it may.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.support.changes import create, put
from tests.support.engines import open_tablestore

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.ranges import RangeBounds, read_range
from widerow.engine.tablestore.select import ReadRule
from widerow.keys.encode import after_prefix
from widerow.keys.layout import row_prefix
from widerow.limits import INT64_MIN
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.tablestore.selection import RangeDirection, Selection
from widerow.model.values import KeyType
from widerow.storage.interface import Store, Transaction, Write
from widerow.storage.opener import open_store
from widerow.storage.pending import run_bodies
from widerow.testing.clock import FakeClock, FakeEntropy

ATTEMPTS = 200  # the scheduler of a busy machine may leave the other thread out of some of them
COUNT = 2000
OTHER = "other"


@pytest.fixture(autouse=True)
def _short_slices() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


def gives_way(work: Callable[[list[object]], object]) -> bool:
    """Whether another thread ran between the first thing that `work` appends and the last."""
    seen: list[object] = []
    over = Event()

    def other() -> None:
        while not over.wait(1e-6):
            seen.append(OTHER)

    thread = Thread(target=other)
    thread.start()
    try:
        return any(_is_interrupted(seen, work) for _ in range(ATTEMPTS))
    finally:
        over.set()
        thread.join()


def _is_interrupted(seen: list[object], work: Callable[[list[object]], object]) -> bool:
    seen.clear()
    work(seen)
    ran = seen.copy()
    while ran and ran[-1] == OTHER:
        ran.pop()
    while ran and ran[0] == OTHER:
        ran.pop(0)
    return OTHER in ran


def test_a_group() -> None:
    with open_store("memory:") as store:
        view = store.snapshot()
        assert gives_way(lambda seen: run_bodies(view, [Write((), seen.append)] * COUNT))


def test_what_is_looked_at_in_c_does_not() -> None:
    assert not gives_way(lambda seen: deque(map(seen.append, range(COUNT)), maxlen=0))


def test_a_scan_of_the_engine(tmp_path: Path) -> None:
    def fill(txn: Transaction) -> None:
        for number in range(COUNT):
            txn.put(b"k%05d" % number, bytes(1000))

    with open_store(str(tmp_path / "store")) as store:
        store.transact((b"k",), fill)
        view = store.snapshot()
        assert gives_way(lambda seen: deque(map(seen.append, view.scan(b"k", b"l")), maxlen=0))


def test_a_page_of_rows() -> None:
    with open_store("memory:") as store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy())
        rows = _rows(engine, store)
        table = engine.describe_table("i", "t")
        prefix = row_prefix(table.id)
        bounds = RangeBounds(prefix, after_prefix(prefix), RangeDirection.FORWARD)
        rule = ReadRule(table, Selection(max_versions=1), INT64_MIN)
        assert gives_way(
            lambda seen: read_range((Rows(rows, seen), None), table, bounds, rule, None)
        )


def _rows(engine: TablestoreEngine, store: Store) -> list[tuple[bytes, bytes]]:
    engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER})))
    for start in range(0, COUNT, 200):
        changes = tuple(put("t", {"k": k}, {"n": k}) for k in range(start, start + 200))
        engine.core.run(engine.rows.batch_write_row("i", BatchWrite((TableWrite("t", changes),))))
    prefix = row_prefix(engine.describe_table("i", "t").id)
    return list(store.snapshot().scan(prefix, after_prefix(prefix)))


class Rows:
    """A reader whose scans are made in C, and append each row to a list."""

    def __init__(self, rows: Sequence[tuple[bytes, bytes]], seen: list[object]) -> None:
        self._rows = rows
        self._seen = seen

    def get(self, key: bytes) -> bytes | None:
        raise AssertionError(key)

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        raise AssertionError(keys)

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        del start, stop, reverse
        noted = zip(self._rows, map(self._seen.append, self._rows), strict=True)
        return map(itemgetter(0), noted)
