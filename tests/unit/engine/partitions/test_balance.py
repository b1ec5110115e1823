"""Partitions beside a store: splits and merges happen, last, and lose nothing (semantics §1.2)."""

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from itertools import count, pairwise
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.changes import create, delete, get, put
from tests.support.engines import open_tablestore
from tests.support.volume import examples

from widerow.engine.check import check_store
from widerow.engine.partitions.balance import FLUSH_SECONDS
from widerow.engine.partitions.document import partitions_document
from widerow.engine.partitions.rules import Reason, Report, Thresholds
from widerow.engine.partitions.table_load import HALF_LIFE_SECONDS, TableLoad
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import SPACE_STATISTICS, statistics_prefix
from widerow.model.tablestore.requests import GetRange
from widerow.model.tablestore.row import PrimaryKey
from widerow.model.tablestore.schema import KeyColumn, Table
from widerow.model.tablestore.selection import RangeDirection, RowRange, Selection
from widerow.model.values import KeyMarker, KeyType
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

LIMITS = Thresholds(split_units=100.0, hot_seconds=5.0, cold_seconds=30.0)


@pytest.fixture
def engine(store: Store, clock: FakeClock) -> TablestoreEngine:
    opened = open_tablestore(store, clock, FakeEntropy(), thresholds=LIMITS)
    opened.core.run(opened.create_table("i", create("t", {"k": KeyType.INTEGER})))
    return opened


def work(engine: TablestoreEngine) -> None:
    """Carry out everything that is due now."""
    for _ in range(10_000):
        plan = engine.core.partitions.step()
        if plan is None:
            return
        engine.core.run(plan)
    raise AssertionError("there is no end to it")


def table(engine: TablestoreEngine) -> Table:
    return engine.describe_table("i", "t")


def pass_time(engine: TablestoreEngine, clock: FakeClock, seconds: int) -> None:
    for _ in range(seconds):
        clock.advance(1)
        work(engine)


def load(
    engine: TablestoreEngine,
    clock: FakeClock,
    keys: Iterator[int],
    *,
    seconds: int,
    rate: int = 300,
) -> None:
    """Note writes of keys, so many a second, without the cost of making them."""
    number = table(engine).id
    for _ in range(seconds):
        for _ in range(rate):
            key = encode_key_value(next(keys))
            engine.core.partitions.note_load(number, key, 0, 1)
        clock.advance(1)
        work(engine)


def evenly(seed: int = 0) -> Iterator[int]:
    for number in count():
        drawn = blake2b(b"%d %d" % (seed, number), digest_size=4).digest()
        yield int.from_bytes(drawn, "big") % 1000


def ascending() -> Iterator[int]:
    yield from count()


# --- splits and merges -------------------------------------------------------------------------


def test_a_hot_table_splits_and_merges_when_the_load_goes(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    load(engine, clock, evenly(), seconds=60)
    bounds = table(engine).splits
    assert 3 <= len(bounds) + 1 <= 8  # 300 units a second, 100 for each, halves of halves
    facts = engine.core.partitions.load_of(table(engine)).facts()
    whole = sum(each.rate for each in facts)
    assert whole == pytest.approx(300, rel=0.2)
    assert max(each.rate for each in facts) <= 2 * whole / len(facts)
    assert engine.core.partitions.changes[Reason.TOO_HOT] == len(bounds)
    pass_time(engine, clock, 300)
    assert table(engine).splits == ()
    assert engine.core.partitions.changes[Reason.COLD] == len(bounds)


def test_every_change_is_told_with_its_reason(engine: TablestoreEngine, clock: FakeClock) -> None:
    load(engine, clock, evenly(), seconds=30)
    events = list(engine.core.partitions.events)
    assert len(events) == len(table(engine).splits) > 0
    assert all(event.decision.words for event in events)


def test_bounds_survive_a_restart_and_the_loss_of_all_statistics(
    engine: TablestoreEngine, clock: FakeClock, store: Store
) -> None:
    load(engine, clock, evenly(), seconds=30)
    bounds = table(engine).splits
    prefix = statistics_prefix(table(engine).id)
    store.transact((prefix,), lambda txn: txn.delete_range(prefix, prefix + b"\xff"))
    again = open_tablestore(store, clock, FakeEntropy(), thresholds=LIMITS)
    assert table(again).splits == bounds != ()
    assert again.core.partitions.load_of(table(again)).bounds == bounds
    assert check_store(store) == []


def test_bounds_that_were_asked_for_stay(engine: TablestoreEngine, clock: FakeClock) -> None:
    edges = (KeyMarker.INF_MIN, 10, 500, KeyMarker.INF_MAX)
    asked = replace(
        create("t", {"k": KeyType.INTEGER}),
        name="pre",
        partitions=tuple(pairwise(edges)),
    )
    engine.core.run(engine.create_table("i", asked))
    pass_time(engine, clock, 200)
    assert len(engine.describe_table("i", "pre").splits) == 2


def test_one_hot_key_is_reported_by_its_own_partition(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    others = evenly()
    mixed = (7 if number % 4 else next(others) for number in ascending())
    load(engine, clock, mixed, seconds=60, rate=400)
    reports = engine.core.partitions.reports(table(engine))
    assert {(each.reason, each.key) for each in reports} == {
        (Reason.KEY_TOO_HOT, encode_key_value(7))
    }
    told = [each for each in engine.core.partitions.events if isinstance(each.decision, Report)]
    assert len(told) == 1  # once, not every second


def test_a_sequential_load_is_reported_and_splits_nothing(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    # Seed 003: the writes of growing keys all go to one partition, whatever is done about it.
    number = table(engine).id
    keys = ascending()
    for _ in range(60):
        for _ in range(300):
            engine.core.partitions.note_load(number, encode_key_value(next(keys)), 0, 1, 1, 80)
        clock.advance(1)
        work(engine)
    assert [each.reason for each in engine.core.partitions.reports(table(engine))] == [
        Reason.KEYS_GROW
    ]
    assert len(table(engine).splits) <= 1
    assert engine.core.partitions.load_of(table(engine)).facts()[-1].append_share > 0.9


def test_partitions_end_at_their_bound(clock: FakeClock, store: Store) -> None:
    limits = replace(LIMITS, partitions_max=3)
    engine = open_tablestore(store, clock, FakeEntropy(), thresholds=limits)
    engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER})))
    load(engine, clock, evenly(), seconds=60, rate=1000)
    assert len(table(engine).splits) == 2


def test_a_table_dropped_in_between_is_forgotten(
    engine: TablestoreEngine, clock: FakeClock, store: Store
) -> None:
    load(engine, clock, evenly(), seconds=8)
    number = table(engine).id
    engine.core.partitions.note_load(number, encode_key_value(1), 1, 0)
    plan = engine.core.partitions.flush()
    assert plan is not None
    engine.core.run(engine.delete_table("i", "t"))
    engine.core.run(plan)  # planned before the drop
    while (left := engine.core.housekeeping()) is not None:
        engine.core.run(left)
    pass_time(engine, clock, 60)
    assert list(store.snapshot().scan(SPACE_STATISTICS, b"\x21")) == []


# What happens in a second: how many requests, among how many keys from where on; or a restart.
seconds = st.lists(
    st.tuples(st.integers(0, 400), st.integers(1, 500), st.integers(0, 800), st.booleans()),
    max_size=25,
)


@settings(max_examples=examples(25), deadline=None)
@given(seconds)
def test_whatever_is_asked_partitions_cover_every_key_once(
    past: list[tuple[int, int, int, bool]],
) -> None:
    clock, entropy = FakeClock(), FakeEntropy()
    limits = replace(LIMITS, hot_seconds=1.0, cold_seconds=3.0, partitions_max=20)
    with open_store("memory:") as store:
        engine = open_tablestore(store, clock, entropy, thresholds=limits)
        engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER})))
        for rate, width, first, restart in past:
            if restart:  # without a word: what was counted since the last write is gone
                engine = open_tablestore(store, clock, entropy, thresholds=limits)
            keys = (first + number % width for number in count())
            load(engine, clock, keys, seconds=1, rate=rate)
            now = table(engine)
            facts = engine.core.partitions.load_of(now).facts()
            assert [each.start for each in facts] == [b"", *now.splits]
            assert [each.stop for each in facts] == [*now.splits, None]
            assert all(before.start < after.start for before, after in pairwise(facts))
            assert len(facts) <= limits.partitions_max
        assert check_store(store) == []
        pass_time(engine, clock, 200)
        assert table(engine).splits == ()


# --- what is counted ---------------------------------------------------------------------------


def test_rows_and_bytes_are_those_of_the_store(
    engine: TablestoreEngine, clock: FakeClock, store: Store
) -> None:
    for number in range(300):
        engine.core.run(
            engine.rows.write_row("i", put("t", {"k": number % 200}, {"v": "x" * number}))
        )
    for number in range(50):
        engine.core.run(engine.rows.write_row("i", delete("t", {"k": number})))
    pass_time(engine, clock, 1)
    sizes = engine.core.partitions.load_of(table(engine)).sizes
    stored = list(store.snapshot().scan(b"\x10", b"\x11"))
    assert sizes.rows == len(stored) == 150
    assert sizes.size == sum(len(key) + len(record) for key, record in stored)


def test_a_store_without_statistics_is_walked(
    engine: TablestoreEngine, clock: FakeClock, store: Store
) -> None:
    for number in range(40):
        rows = [put("t", {"k": number}, {"v": "x" * 50_000})]
        rows += [put("t", {"k": number}, {"w": "x" * 60_000})]
        for row in rows:
            engine.core.run(engine.rows.write_row("i", row))
    again = open_tablestore(store, clock, FakeEntropy(), thresholds=LIMITS)
    again.core.partitions.load_of(table(again))  # whoever asks or writes first starts it
    pass_time(again, clock, 1)
    sizes = again.core.partitions.load_of(table(again)).sizes
    stored = list(store.snapshot().scan(b"\x10", b"\x11"))
    assert sizes.size == sum(len(key) + len(record) for key, record in stored)
    assert len(sizes.pieces) > 2
    assert all(piece.size <= 2**20 for piece in sizes.pieces)


def test_a_large_key_is_found_to_stand_alone(engine: TablestoreEngine, clock: FakeClock) -> None:
    key = (KeyColumn("k", KeyType.STRING), KeyColumn("n", KeyType.INTEGER))
    engine.core.run(engine.create_table("i", create("u", key)))
    for name, rows in (("a", 1), ("big", 30), ("z", 1)):
        for number in range(rows):
            row = put("u", {"k": name, "n": number}, {"v": "x" * 60_000})
            engine.core.run(engine.rows.write_row("i", row))
    pass_time(engine, clock, 2)
    facts = engine.core.partitions.load_of(engine.describe_table("i", "u")).facts()
    assert facts[0].largest is not None
    key_found, size = facts[0].largest
    assert key_found == encode_key_value("big")
    assert size == pytest.approx(30 * 60_100, rel=0.01)


def test_reads_are_counted_where_they_begin(engine: TablestoreEngine, clock: FakeClock) -> None:
    engine.core.run(engine.rows.write_row("i", put("t", {"k": 5}, {"v": 1})))
    engine.rows.get_row("i", get("t", {"k": 5}))
    for direction, first, last in (
        (RangeDirection.FORWARD, KeyMarker.INF_MIN, KeyMarker.INF_MAX),
        (RangeDirection.BACKWARD, KeyMarker.INF_MAX, KeyMarker.INF_MIN),
    ):
        bounds = RowRange(PrimaryKey((("k", first),)), PrimaryKey((("k", last),)), direction, None)
        engine.rows.get_range("i", GetRange("t", bounds, Selection()))
    clock.advance(1)
    work(engine)
    found = engine.core.partitions.load_of(table(engine))
    assert (found.consumed.read, found.consumed.write) == (3, 1)
    assert found.facts()[0].load == ((encode_key_value(5), 2),)  # the ends are not keys


def test_additional_units_are_those_above_the_reserve_of_their_second(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    # semantics §9: a reserve of 100 and seconds of 120, 95 and 110 make 30 additional units.
    asked = create("r", {"k": KeyType.INTEGER})
    asked = replace(asked, throughput=replace(asked.throughput, read=0, write=100))
    engine.core.run(engine.create_table("i", asked))
    reserved = engine.describe_table("i", "r")
    work(engine)
    for units in (120, 95, 110):
        engine.core.partitions.note_load(reserved.id, encode_key_value(1), 2, units)
        clock.advance(1)
        work(engine)
    consumed = engine.core.partitions.load_of(reserved).consumed
    assert (consumed.write, consumed.additional_write) == (325, 30)
    assert (consumed.read, consumed.additional_read) == (6, 6)  # pay-as-you-go


def test_rates_follow_the_load(engine: TablestoreEngine, clock: FakeClock) -> None:
    load(engine, clock, evenly(), seconds=int(5 * HALF_LIFE_SECONDS), rate=50)
    assert engine.core.partitions.load_of(table(engine)).rate == pytest.approx(50, rel=0.05)
    pass_time(engine, clock, int(HALF_LIFE_SECONDS))
    assert engine.core.partitions.load_of(table(engine)).rate == pytest.approx(25, rel=0.05)


class Watched:
    """A table's load that says when it was ticked."""

    def __init__(self, load: TableLoad) -> None:
        self.ticks: list[float] = []
        self._load = load

    def __getattr__(self, name: str) -> object:
        return getattr(self._load, name)

    def tick(self, now: float, reserved: tuple[int, int] = (0, 0)) -> bool:
        self.ticks.append(now)
        return self._load.tick(now, reserved)


def test_idle_tables_cost_nothing_and_are_counted_right_when_they_wake(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    load(engine, clock, evenly(), seconds=5, rate=10)
    pass_time(engine, clock, 1200)
    found = engine.core.partitions.load_of(table(engine))
    watched = Watched(found)
    engine.core.partitions._loads[table(engine).id] = cast("TableLoad", watched)
    pass_time(engine, clock, 100)
    assert watched.ticks == []
    load(engine, clock, evenly(), seconds=20, rate=10)
    assert len(watched.ticks) >= 20
    assert found.rate == pytest.approx(5, rel=0.05)  # half of it after a half-life
    assert found.consumed.additional_write == 250


def test_tables_that_were_split_merge_after_a_restart_without_being_asked(
    engine: TablestoreEngine, clock: FakeClock, store: Store
) -> None:
    load(engine, clock, evenly(), seconds=30)
    assert table(engine).splits
    again = open_tablestore(store, clock, FakeEntropy(), thresholds=LIMITS)
    pass_time(again, clock, 300)
    assert table(again).splits == ()


# --- the history -------------------------------------------------------------------------------


def test_the_history_outlives_the_process(
    engine: TablestoreEngine, clock: FakeClock, store: Store
) -> None:
    began = clock.now_us() // 1_000_000
    load(engine, clock, evenly(), seconds=25, rate=40)
    pass_time(engine, clock, int(FLUSH_SECONDS) + 10)
    intervals = engine.core.partitions.history(table(engine))
    assert sum(write for each in intervals for _, _, write in each.partitions) == 1000
    assert sum(units for each in intervals for _, units in each.bins) == pytest.approx(1000)
    assert intervals[0].start_s == began
    assert [each.start_s for each in intervals] == sorted({each.start_s for each in intervals})
    again = open_tablestore(store, clock, FakeEntropy(), thresholds=LIMITS)
    kept = again.core.partitions.history(table(again))
    assert [each.partitions for each in kept] == [each.partitions for each in intervals]


def test_the_history_ends_after_six_hours(
    engine: TablestoreEngine, clock: FakeClock, store: Store
) -> None:
    load(engine, clock, evenly(), seconds=20, rate=10)
    pass_time(engine, clock, int(FLUSH_SECONDS) + 5)
    old = engine.core.partitions.history(table(engine))
    clock.advance(6 * 3600)
    work(engine)
    load(engine, clock, evenly(), seconds=20, rate=10)
    pass_time(engine, clock, int(FLUSH_SECONDS) + 5)
    again = open_tablestore(store, clock, FakeEntropy(), thresholds=LIMITS)
    kept = again.core.partitions.history(table(again))
    assert kept
    assert not {each.start_s for each in old} & {each.start_s for each in kept}


def test_the_document_tells_it_all(engine: TablestoreEngine, clock: FakeClock) -> None:
    load(engine, clock, evenly(), seconds=20)
    told = partitions_document(engine.core.partitions, table(engine), history=True)
    assert told["key"] == {"name": "k", "type": "INTEGER"}
    assert told["partitions"][0]["start"] is None
    assert sum(each["share"] for each in told["partitions"]) == pytest.approx(1, abs=0.01)
    assert told["history"]
    assert all(len(each["hash"]) == 16 for row in told["partitions"] for each in row["top_keys"])
    assert all(isinstance(key["key"], int) for row in told["partitions"] for key in row["top_keys"])
