"""What the founding pages say of partitions, servers and shared throughput (pages 000 and 003).

The service moves partitions between machines; widerow keeps them in one process, and what an
application can see of them is the same: where they meet, what they carry, what is refused. The
machines are those of `widerow simulate`. (semantics §1.2, §9)
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import md5
from itertools import count, cycle, islice, pairwise

import pytest
from tests.support.changes import create, put
from tests.support.engines import open_tablestore

from widerow.engine.partitions.rules import (
    REMEDIES,
    PartitionFacts,
    Reason,
    Report,
    Thresholds,
    decide,
)
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Exhausted
from widerow.keys.encode import encode_key_value
from widerow.model.tablestore.schema import KeyColumn, Table
from widerow.model.values import KeyInput, KeyMarker, KeyType, KeyValue
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

LIMITS = Thresholds(split_units=100.0, hot_seconds=5.0, cold_seconds=30.0)
CARDS = [
    int.from_bytes(md5(b"%d" % number, usedforsecurity=False).digest()[:2], "big")
    for number in range(3000)
]
"""The cards of purchases, in the order in which they happen."""


@pytest.fixture
def engine(store: Store, clock: FakeClock) -> TablestoreEngine:
    return open_tablestore(store, clock, FakeEntropy(), thresholds=LIMITS, enforce_throughput=True)


def make(
    engine: TablestoreEngine,
    *,
    kind: KeyType = KeyType.INTEGER,
    bounds: Iterable[KeyValue] = (),
    write: int = 0,
) -> Table:
    asked = create("t", (KeyColumn("k", kind),))
    edges: list[KeyInput] = [KeyMarker.INF_MIN, *bounds, KeyMarker.INF_MAX]
    ranges = tuple(pairwise(edges)) if len(edges) > 2 else ()
    throughput = replace(asked.throughput, write=write)
    engine.core.run(
        engine.create_table("i", replace(asked, partitions=ranges, throughput=throughput))
    )
    return engine.describe_table("i", "t")


def work(engine: TablestoreEngine, clock: FakeClock) -> None:
    clock.advance(1)
    while (plan := engine.core.partitions.step()) is not None:
        engine.core.run(plan)


def load(
    engine: TablestoreEngine, clock: FakeClock, keys: Iterator[KeyValue], *, seconds: int = 40
) -> Table:
    """So many seconds of 300 new rows each; the table afterwards."""
    table = engine.describe_table("i", "t")
    for _ in range(seconds):
        for key in islice(keys, 300):
            engine.core.partitions.note_load(table.id, encode_key_value(key), 0, 1, 1, 100)
        work(engine, clock)
    return engine.describe_table("i", "t")


def shares(engine: TablestoreEngine) -> list[float]:
    """The part of the load that each partition carries."""
    facts = engine.core.partitions.load_of(engine.describe_table("i", "t")).facts()
    whole = sum(each.rate for each in facts)
    return [each.rate / whole for each in facts]


def taken(engine: TablestoreEngine, keys: Iterable[int]) -> int:
    """How many of these rows are written at once before one is refused."""
    written = 0
    for key in keys:
        try:
            engine.core.run(engine.rows.write_row("i", put("t", {"k": key}, {"v": 1})))
        except Exhausted:
            break
        written += 1
    return written


def test_the_range_of_a_key_decides_its_partition(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    make(engine, bounds=(10, 20))
    for key in (-5, 9, 10, 19, 20, 20, 20):
        engine.core.run(engine.rows.write_row("i", put("t", {"k": key}, {"v": 1})))
    work(engine, clock)
    facts = engine.core.partitions.load_of(engine.describe_table("i", "t")).facts()
    consumed = [round(sum(units for _, units in each.load)) for each in facts]
    assert consumed == [2, 2, 3]  # 10 and 20 themselves lie in the range that they begin


def test_a_partition_holds_many_partition_key_values(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    make(engine)
    for key in range(50):
        engine.core.run(engine.rows.write_row("i", put("t", {"k": key}, {"v": 1})))
    work(engine, clock)
    facts = engine.core.partitions.load_of(engine.describe_table("i", "t")).facts()
    assert [each.rows for each in facts] == [50]


def test_more_than_ten_gigabytes_under_one_key_are_reported() -> None:
    """The advice is kept by nobody but the application; it is told, with what helps."""
    advice = 10 * 1024**3
    facts = PartitionFacts(b"", None, size=advice - 1, largest=(b"card", advice))
    assert list(decide([facts], Thresholds())) == []
    (report,) = decide([replace(facts, largest=(b"card", advice + 1))], Thresholds())
    assert isinstance(report, Report)
    assert (report.key, report.reason) == (b"card", Reason.KEY_TOO_LARGE)
    assert "splice" in REMEDIES[report.reason]


def test_partitions_split_and_merge_by_rules(engine: TablestoreEngine, clock: FakeClock) -> None:
    make(engine)
    assert load(engine, clock, cycle(CARDS)).splits
    for _ in range(300):
        work(engine, clock)
    assert engine.describe_table("i", "t").splits == ()
    changes = engine.core.partitions.changes
    assert changes[Reason.TOO_HOT] == changes[Reason.COLD] > 0


def test_applications_do_nothing_and_notice_nothing(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    make(engine)
    rows = {}
    for key, number in zip(CARDS, range(900), strict=False):
        engine.core.run(engine.rows.write_row("i", put("t", {"k": key}, {"v": number})))
        rows[key] = number
        if number % 100 == 0:
            load(engine, clock, cycle(CARDS), seconds=5)
    assert engine.describe_table("i", "t").splits
    work(engine, clock)
    stored = engine.core.partitions.load_of(engine.describe_table("i", "t"))
    found = [key for key, _ in engine.core.store.snapshot().scan(b"\x10", b"\x11")]
    assert len(found) == len(rows)
    assert found == sorted(found)
    assert stored.bounds == engine.describe_table("i", "t").splits


def test_even_keys_are_spread_over_partitions(engine: TablestoreEngine, clock: FakeClock) -> None:
    make(engine)
    load(engine, clock, cycle(CARDS), seconds=60)
    spread = shares(engine)
    assert len(spread) >= 3
    assert max(spread) <= 2 / len(spread)


def test_growing_order_numbers_load_one_partition(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    make(engine, bounds=(10_000, 20_000))
    load(engine, clock, count(30_000))
    assert shares(engine)[-1] > 0.99
    reports = engine.core.partitions.reports(engine.describe_table("i", "t"))
    assert [each.reason for each in reports] == [Reason.KEYS_GROW]


def test_hashed_order_numbers_load_all_of_them(engine: TablestoreEngine, clock: FakeClock) -> None:
    make(engine, kind=KeyType.STRING)
    orders = (str(number) for number in count(200_001))
    keys = (md5(each.encode(), usedforsecurity=False).hexdigest()[:4] + each for each in orders)
    load(engine, clock, keys, seconds=60)
    spread = shares(engine)
    assert len(spread) >= 3
    assert max(spread) <= 2 / len(spread)
    assert engine.core.partitions.reports(engine.describe_table("i", "t")) == []


def test_reserved_throughput_is_shared_by_the_partitions(engine: TablestoreEngine) -> None:
    make(engine, bounds=(100, 200, 300), write=40)
    assert taken(engine, range(50)) == 10  # a quarter, though the table has forty
    assert taken(engine, range(100, 150)) == 10


def test_a_sorted_import_uses_a_part_of_the_reserve(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    make(engine, bounds=(100, 200, 300), write=40)
    assert taken(engine, range(400)) == 10
    clock.advance(1)
    shuffled = [(number * 101) % 400 for number in range(400)]
    assert 30 <= taken(engine, shuffled) <= 40


def test_cold_partitions_keep_their_part_of_the_reserve(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    make(engine, bounds=(100, 200, 300), write=40)
    for _ in range(60):  # nobody has asked for the cards up to 300 for a minute
        work(engine, clock)
    assert taken(engine, range(300, 400)) == 10
