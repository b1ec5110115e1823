"""The benchmark of partitions in short: a made-up clock, and loads that are noted, not sent."""

from collections.abc import Iterator
from itertools import count

import pytest
from bench.choosers import Zipfian
from bench.partitions import Look, document, judged
from bench.rows import source
from tests.support.changes import create
from tests.support.engines import open_tablestore

from widerow.engine.partitions.document import partitions_document
from widerow.engine.partitions.rules import Reason, Thresholds
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.keys.encode import encode_key_value
from widerow.model.values import KeyType
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

KEYS = 10_000
LIMITS = Thresholds(split_units=50.0, hot_seconds=3.0, cold_seconds=5.0)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def engine(clock: FakeClock) -> Iterator[TablestoreEngine]:
    with open_store("memory:") as store:
        opened = open_tablestore(store, clock, FakeEntropy(), thresholds=LIMITS)
        opened.core.run(opened.create_table("bench", create("t", {"k": KeyType.INTEGER})))
        yield opened


def load(
    engine: TablestoreEngine,
    clock: FakeClock,
    keys: Iterator[int],
    *,
    seconds: int,
    new: bool = False,
) -> Look:
    """A thousand writes a second; the partitions afterwards."""
    table = engine.describe_table("bench", "t")
    for _ in range(seconds):
        for _ in range(1000):
            key = encode_key_value(next(keys))
            engine.core.partitions.note_load(table.id, key, 0, 1, int(new), 100 * new)
        rest(engine, clock)
    found = partitions_document(engine.core.partitions, engine.describe_table("bench", "t"))
    reports = ", ".join(sorted({each["reason"] for each in found["reports"]}))
    return judged(found["partitions"], Look("", 0, 1000, 0, 0, 0, reports))


def rest(engine: TablestoreEngine, clock: FakeClock, seconds: int = 1) -> None:
    for _ in range(seconds):
        clock.advance(1)
        while (plan := engine.core.partitions.step()) is not None:
            engine.core.run(plan)


def skewed() -> Iterator[int]:
    chooser = Zipfian(source(), KEYS)
    while True:
        yield chooser.choose(KEYS)


def test_a_skewed_load_splits_a_growing_one_is_told_and_idle_partitions_merge(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    zipf = load(engine, clock, skewed(), seconds=60)
    assert zipf.partitions > 10
    assert zipf.largest_divisible <= 2
    assert (
        zipf.largest > zipf.largest_divisible
    )  # the most popular key is alone, and more than that
    assert "key-too-hot" in zipf.reports
    growing = load(engine, clock, count(KEYS), seconds=40, new=True)
    assert "keys-grow" in growing.reports
    rest(engine, clock, 400)
    assert engine.describe_table("bench", "t").splits == ()
    changes = engine.core.partitions.changes
    assert changes[Reason.COLD] == changes[Reason.TOO_HOT] + changes[Reason.UNEVEN] > 10


def test_a_run_is_judged_by_its_looks() -> None:
    zipf = Look("zipf", 5, 100, 8, 3.0, 1.5, "key-too-hot")
    looks = [
        zipf,
        zipf._replace(phase="append", reports="keys-grow"),
        Look("idle", 5, 0, 1, 1, 1, ""),
    ]
    found = document(looks)
    assert (found["zipf_balanced"], found["append_reported"], found["merged"]) == (True,) * 3
    assert (found["requests_answered"], found["most_partitions"]) == (200, 8)
    spoilt = document([zipf._replace(largest_divisible=2.1), *looks[1:-1]])
    assert (spoilt["zipf_balanced"], spoilt["merged"]) == (False, False)
