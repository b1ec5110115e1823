"""The ranges of a database follow the partitions, whatever is refused or lost in between."""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.changes import create, put
from tests.support.engines import open_tablestore
from tests.support.placement import MemoryPlacement
from tests.support.remote import CALM, MemoryDriver, RemoteSpace, Weather, remote_store
from tests.support.volume import examples

from widerow.engine.partitions.rules import Thresholds
from widerow.engine.partitions.split_points import server_location
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import NotFound, StorageFailure, StoreBusy
from widerow.housekeeping.partition_events import log_events
from widerow.keys.encode import after_prefix, encode_key_value
from widerow.keys.layout import SPACE_ROWS, may_begin_range, ranges_key, row_prefix
from widerow.limits import (
    LEASE_SECONDS,
    RANGE_CHANGE_SECONDS_MAX,
    RANGE_PAUSE_SECONDS_MAX,
    RANGE_REPEAT_SECONDS,
    RANGES_SECONDS,
    TRANSACTION_SECONDS_MAX,
)
from widerow.model.tablestore.requests import ComputeSplitPoints
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyMarker, KeyType
from widerow.server.partition_metrics import partition_lines
from widerow.server.scrapes import NO_NAME
from widerow.testing.clock import FakeClock, FakeEntropy

BAD: Weather = Weather(refused=0.2, busy=0.2, unknown=0.2, cut=0.1)
SPLIT_BYTES = 64_000


class World(NamedTuple):
    """Two processes over one space whose ranges can be divided."""

    space: RemoteSpace
    drivers: list[MemoryDriver]
    engines: list[TablestoreEngine]
    clock: FakeClock

    @property
    def bounds(self) -> list[bytes]:
        return self.space.ranges.starts[1:]


def world(seed: int = 0, processes: int = 1) -> World:
    space, clock = RemoteSpace(), FakeClock()
    drivers = [
        MemoryDriver(space, FakeEntropy(seed + n), placed=True, homes=1) for n in range(processes)
    ]
    thresholds = Thresholds(split_bytes=SPLIT_BYTES, cold_seconds=1e9)  # tests decide
    engines = [
        open_tablestore(
            remote_store(driver, seed + n), clock, FakeEntropy(n), thresholds=thresholds
        )
        for n, driver in enumerate(drivers)
    ]
    return World(space, drivers, engines, clock)


@pytest.fixture
def one() -> World:
    return world()


def table(engine: TablestoreEngine, name: str = "t") -> Table:
    return engine.describe_table("i", name)


def make(engine: TablestoreEngine, name: str = "t") -> Table:
    engine.core.run(engine.create_table("i", create(name, {"k": KeyType.INTEGER})))
    return table(engine, name)


def divide(engine: TablestoreEngine, name: str, keys: Sequence[int | str]) -> None:
    """Let the partitions of a table meet at these keys, as the rules do it."""
    bounds = tuple(sorted(map(encode_key_value, keys)))
    tables = engine.core.partitions._tables
    engine.core.store.transact_group([tables.divide(table(engine, name), lambda _: bounds)])


def at(found: Table, *keys: int | str) -> list[bytes]:
    """Where ranges of a table begin that has partitions from these keys on."""
    start = row_prefix(found.id)
    return [start, *sorted(start + encode_key_value(key) for key in keys)]


def steps(of: World, seconds: int, who: int = 0) -> None:
    """Let a process do what is due, four times a second."""
    for _ in range(seconds * 4):
        of.clock.advance(0.25)
        for _ in range(50):
            try:
                plan = of.engines[who].core.partitions.step()
                if plan is None:
                    break
                of.engines[who].core.run(plan)
            except StorageFailure:
                break


def turn(of: World, weather: Weather) -> None:
    """Let only changes of ranges have this weather from now on."""
    placement = of.drivers[0].placement
    assert isinstance(placement, MemoryPlacement)
    placement.weather = weather


def counts(of: World) -> dict[tuple[str, str], int]:
    return dict(of.engines[0].core.partitions.following.counts)


# --- what follows ---------------------------------------------------------------------------------


def test_partitions_become_ranges_and_go_with_them(one: World) -> None:
    engine = one.engines[0]
    found = make(engine)
    divide(engine, "t", [10, 20, 30])
    steps(one, 20)
    assert one.bounds == at(found, 10, 20, 30)
    divide(engine, "t", [20, 25])
    steps(one, 20)
    assert one.bounds == at(found, 20, 25)
    assert counts(one) == {("split", "done"): 5, ("merge", "done"): 2}
    assert engine.core.partitions.following.pending == 0
    divide(engine, "t", [])
    steps(one, 20)
    assert one.bounds == []


def test_one_change_is_made_at_a_time(one: World) -> None:
    engine = one.engines[0]
    make(engine)
    divide(engine, "t", range(8))
    for _ in range(200):
        steps(one, 1)
        assert len(one.space.ranges.under_way) <= 1
    assert len(one.bounds) == 9


def test_small_tables_share_a_range(one: World) -> None:
    engine = one.engines[0]
    for number in range(20):
        make(engine, f"t{number}")
    steps(one, 60)
    assert one.bounds == []


def test_a_table_that_grows_gets_a_range_of_its_own_and_keeps_it(one: World) -> None:
    engine = one.engines[0]
    make(engine, "small")
    found = make(engine)
    for key in range(20):
        engine.core.run(engine.rows.write_row("i", put("t", {"k": key}, {"v": "x" * 600})))
    steps(one, 20)
    assert one.bounds == at(found)
    for key in range(12):
        engine.core.run(engine.rows.write_row("i", put("t", {"k": key}, {"v": ""})))
    steps(one, 60)
    assert one.bounds == at(found)  # it is half as large, and would not get one now
    for key in range(20):
        engine.core.run(engine.rows.write_row("i", put("t", {"k": key}, {"v": ""})))
    steps(one, 60)
    assert one.bounds == []


def test_a_pre_split_table_is_divided_after_the_answer(one: World) -> None:
    engine = one.engines[0]
    edges = (KeyMarker.INF_MIN, 100, 200, KeyMarker.INF_MAX)
    request = create("t", {"k": KeyType.INTEGER})
    engine.core.run(engine.create_table("i", replace(request, partitions=tuple(pairwise(edges)))))
    assert one.bounds == []
    steps(one, 20)
    assert one.bounds == at(table(engine), 100, 200)


def test_a_dropped_table_leaves_no_range(one: World) -> None:
    engine = one.engines[0]
    found = make(engine)
    divide(engine, "t", [1, 2])
    steps(one, 20)
    engine.core.run(engine.delete_table("i", "t"))
    steps(one, 20)
    assert one.bounds == at(found, 1, 2)  # its rows are not gone
    one.clock.advance(TRANSACTION_SECONDS_MAX + LEASE_SECONDS)
    while (plan := engine.core.housekeeping()) is not None:
        engine.core.run(plan)
    steps(one, 20)
    assert one.bounds == []


def test_no_range_begins_where_a_shard_could_be_cut(one: World) -> None:
    """The statistics of a table stand behind its number, where small keys would."""
    engine = one.engines[0]
    engine.core.run(engine.create_table("i", create("t", {"k": KeyType.STRING})))
    found = table(engine)
    low = ["\x01", "\x0f", "\x10"]
    divide(engine, "t", [*low, "\x11", "a"])
    steps(one, 30)
    assert one.bounds == at(found, "\x10", "\x11", "a")
    assert not any(may_begin_range(row_prefix(found.id) + encode_key_value(key)) for key in low[:2])
    statistics = [ranges_key(found.id), b"\x06" + row_prefix(found.id)[1:] + SPACE_ROWS]
    assert {one.space.ranges.place(key) for key in statistics} == {row_prefix(found.id)}


# --- what others do -------------------------------------------------------------------------------


def test_ranges_that_a_person_made_stay(one: World) -> None:
    engine = one.engines[0]
    found = make(engine)
    by_hand = at(found, 5)[1]
    one.space.ranges.split(by_hand)
    divide(engine, "t", [10])
    steps(one, 20)
    assert one.bounds == [at(found)[0], by_hand, at(found, 10)[1]]
    divide(engine, "t", [])
    steps(one, 20)
    assert one.bounds == [by_hand]


def test_a_range_that_begins_in_no_table_is_merged(one: World) -> None:
    for stray in (row_prefix(77) + b"x", SPACE_ROWS + b"\x00\x00"):
        one.space.ranges.split(stray)
    steps(one, 20)
    assert one.bounds == []


def test_what_a_person_undoes_is_made_again_after_an_hour_only(one: World) -> None:
    engine = one.engines[0]
    found = make(engine)
    divide(engine, "t", [1])
    steps(one, 20)
    one.space.ranges.merge(at(found, 1)[1])
    steps(one, 300)
    assert one.bounds == at(found)
    one.clock.advance(RANGE_REPEAT_SECONDS)
    steps(one, 20)
    assert one.bounds == at(found, 1)


def test_partitions_that_come_back_are_divided_at_once(one: World) -> None:
    engine = one.engines[0]
    found = make(engine)
    for keys in ([1], [], [1], [], [1]):
        divide(engine, "t", keys)
        steps(one, 20)
        assert one.bounds == (at(found, *keys) if keys else [])


def test_the_next_holder_of_the_lease_goes_on() -> None:
    both = world(processes=2)
    found = make(both.engines[0])
    divide(both.engines[0], "t", [1, 2, 3])
    steps(both, 1)
    assert len(both.bounds) < 4
    steps(both, 5, who=1)
    assert len(both.bounds) < 4  # the first one's lease has not ended
    both.clock.advance(LEASE_SECONDS)
    steps(both, 20, who=1)
    steps(both, 1)
    assert both.engines[0].core.partitions.following.pending == 0  # only the holder tells
    assert both.bounds == at(found, 1, 2, 3)
    divide(both.engines[1], "t", [])
    steps(both, 20, who=1)  # it knows what the first one asked for
    assert both.bounds == []


# --- what goes wrong ------------------------------------------------------------------------------


def test_what_is_refused_is_asked_for_less_and_less_often(one: World) -> None:
    engine = one.engines[0]
    make(engine)
    divide(engine, "t", [1])
    steps(one, 1)
    turn(one, Weather(refused=1.0))
    done = counts(one).get(("split", "done"), 0)
    steps(one, 400)
    failed = counts(one)["split", "failed"]
    assert 8 <= failed <= 25
    assert engine.core.partitions.following.pending == 2 - done
    told = {each.failure for each in engine.core.partitions.following.events}
    assert told <= {"", "the change is refused", "the change was given up"}
    turn(one, CALM)
    steps(one, int(RANGE_PAUSE_SECONDS_MAX) + 20)
    assert len(one.bounds) == 2


def test_a_database_that_is_away_is_no_failure(one: World) -> None:
    engine = one.engines[0]
    make(engine)
    divide(engine, "t", [1])
    steps(one, 1)
    turn(one, Weather(busy=1.0))
    before = counts(one)
    for _ in range(100):
        engine.core.partitions.following.step(one.clock.monotonic_ns() / 1e9)
        one.clock.advance(0.25)
    assert counts(one) == before
    turn(one, CALM)
    steps(one, 30)
    assert len(one.bounds) == 2


def no_change_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes of ranges stay under way from now on."""
    monkeypatch.setattr("tests.support.placement._ENDS", 0.0)


def test_a_change_that_does_not_end_is_left_to_itself(
    one: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = one.engines[0]
    found = make(engine)
    divide(engine, "t", [1])
    no_change_ends(monkeypatch)
    following = engine.core.partitions.following
    steps(one, 5)
    for _ in range(round(RANGE_CHANGE_SECONDS_MAX) + 10):
        following.step(one.clock.monotonic_ns() / 1e9)
        one.clock.advance(1)
    assert counts(one)["split", "failed"] >= 1
    monkeypatch.undo()
    steps(one, int(RANGE_PAUSE_SECONDS_MAX) + 60)
    assert one.bounds == at(found, 1)


def test_a_split_that_comes_late_is_known_to_be_ours(
    one: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody wants it any more when it comes, and it was given up before."""
    engine = one.engines[0]
    make(engine)
    divide(engine, "t", [1])
    no_change_ends(monkeypatch)
    steps(one, 2)
    assert one.space.ranges.under_way
    divide(engine, "t", [])
    one.clock.advance(RANGE_CHANGE_SECONDS_MAX + 1)
    steps(one, 20)
    monkeypatch.undo()
    steps(one, 60)
    assert one.space.ranges.made[0][1]  # it was split after all
    assert one.bounds == []


def test_a_change_that_the_database_forgets_is_begun_again(
    one: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = one.engines[0]
    found = make(engine)
    divide(engine, "t", [1])
    no_change_ends(monkeypatch)
    steps(one, 2)
    assert one.space.ranges.under_way
    one.space.ranges.under_way.clear()
    monkeypatch.undo()
    steps(one, 20)
    assert one.bounds == at(found, 1)
    assert counts(one)["split", "failed"] == 1


def test_only_first_keys_of_shards_are_taken(one: World) -> None:
    placement = one.engines[0].core.store.placement
    assert placement is not None
    for key in (SPACE_ROWS, b"\x12" + bytes(8), row_prefix(1) + b"\x01", row_prefix(1)[:4]):
        with pytest.raises(ValueError, match="cut a shard"):
            placement.begin_split(key)
    with pytest.raises(ValueError, match="catalogue"):
        placement.begin_merge(SPACE_ROWS)
    one.drivers[0].is_reachable = False
    with pytest.raises(StoreBusy):
        placement.ranges()
    one.engines[0].core.store.close()
    with pytest.raises(StorageFailure, match="closed"):
        placement.ranges()


# --- the law --------------------------------------------------------------------------------------

KEYS = st.lists(st.integers(0, 6), max_size=5, unique=True)
NAMES = st.sampled_from(["t", "u"])
ACTIONS = st.one_of(
    st.tuples(st.just("divide"), NAMES, KEYS),
    st.tuples(st.just("drop"), NAMES, st.just([])),
    st.tuples(st.just("by hand"), NAMES, st.lists(st.integers(0, 9), min_size=1, max_size=1)),
    st.tuples(st.just("undo"), NAMES, st.lists(st.integers(0, 9), min_size=1, max_size=1)),
    st.tuples(st.just("weather"), st.sampled_from(["fair", "bad"]), st.just([])),
    st.tuples(st.just("other"), NAMES, st.just([])),
    st.tuples(st.just("work"), NAMES, st.just([])),
)


class Story:
    """What happens to two tables, and who looks after them."""

    def __init__(self, seed: int) -> None:
        self.world = world(seed, processes=2)
        self.holder = 0
        for name in ("t", "u"):
            make(self.world.engines[0], name)

    def tell(self, what: str, name: str, keys: list[int]) -> None:
        of, engine = self.world, self.world.engines[self.holder]
        if what == "weather":
            for driver in of.drivers:
                driver.weather = CALM if name == "fair" else BAD
        elif what == "other":
            of.clock.advance(LEASE_SECONDS + 1)
            self.holder = 1 - self.holder
        elif what == "work":
            steps(of, 3, self.holder)
        else:
            self.change(engine, what, name, keys)

    def change(self, engine: TablestoreEngine, what: str, name: str, keys: list[int]) -> None:
        ranges = self.world.space.ranges
        try:
            found = table(engine, name)
        except (NotFound, StorageFailure):
            return
        try:
            if what == "divide":
                divide(engine, name, keys)
            elif what == "drop":
                engine.core.run(engine.delete_table("i", name))
            elif what == "by hand":
                ranges.split(at(found, *keys)[1])
            else:
                ranges.merge(at(found, *keys)[1])
        except StorageFailure:
            pass  # the weather

    def settle(self) -> None:
        """No more decisions, and time."""
        of = self.world
        for driver in of.drivers:
            driver.weather = CALM
        of.clock.advance(RANGE_REPEAT_SECONDS + TRANSACTION_SECONDS_MAX)
        engine = of.engines[self.holder]
        for _ in range(3):
            while (plan := engine.core.housekeeping()) is not None:
                engine.core.run(plan)
            steps(of, round(RANGES_SECONDS) + 40, self.holder)

    def wanted(self) -> set[bytes]:
        found = self.world.engines[self.holder].tables.owned("i")
        return {
            bound
            for each in found
            if each.splits
            for bound in (row_prefix(each.id), *(row_prefix(each.id) + at for at in each.splits))
        }


@settings(max_examples=examples(60))
@given(st.integers(0, 1000), st.lists(ACTIONS, max_size=14))
def test_ranges_are_the_partitions_in_the_end(
    seed: int, actions: list[tuple[str, str, list[int]]]
) -> None:
    """Every bound of a partition is one of a range, and what else is one somebody made by hand."""
    story = Story(seed)
    by_hand: set[int] = set()
    for what, name, keys in actions:
        story.tell(what, name, keys)
        if what == "by hand":
            by_hand |= set(keys)
    story.settle()
    bounds, wanted = set(story.world.bounds), story.wanted()
    assert wanted <= bounds
    living = {each.id for each in story.world.engines[story.holder].tables.owned("i")}
    allowed = {row_prefix(each) + encode_key_value(key) for each in living for key in by_hand}
    assert bounds - wanted <= allowed
    assert story.world.engines[story.holder].core.partitions.following.pending == 0


@settings(max_examples=examples(30))
@given(st.integers(0, 1000), st.lists(KEYS, min_size=1, max_size=5))
def test_writes_go_on_while_ranges_change(seed: int, divisions: list[list[int]]) -> None:
    """The driver refuses a shard that is cut, and nothing is lost."""
    of = world(seed)
    engine = of.engines[0]
    make(engine)
    of.drivers[0].weather = Weather(refused=0.1, busy=0.1, cut=0.3)
    written = 0
    for keys in divisions:
        divide(engine, "t", keys)
        for _ in range(12):
            steps(of, 1)
            engine.core.run(engine.rows.write_row("i", put("t", {"k": written}, {"v": "x"})))
            written += 1
    assert _rows(engine) == written


def _rows(engine: TablestoreEngine) -> int:
    prefix = row_prefix(table(engine).id)
    return sum(1 for _ in engine.core.store.snapshot().scan(prefix, after_prefix(prefix)))


# --- what people see ------------------------------------------------------------------------------


def test_partitions_tell_their_servers(one: World) -> None:
    engine = one.engines[0]
    found = make(engine)
    divide(engine, "t", [10, 20])
    servers = one.space.ranges.servers
    told = engine.core.describe_partitions("i", "t")["partitions"]
    assert [len(each["servers"]) for each in told] == [1, 1, 1]  # one range has all of them
    steps(one, 20)
    one.space.ranges.split(at(found, 15)[1])  # by hand: a partition on two servers
    with pytest.MonkeyPatch.context() as still:
        still.setattr("tests.support.placement._MOVES", 0.0)
        servers.update(zip(at(found, 10, 15, 20), (0, 1, 2, 0), strict=True))
        told = engine.core.describe_partitions("i", "t")["partitions"]
        assert [[each["address"] for each in part["servers"]] for part in told] == [
            *(["one:16020"], ["two:16020", "three:16020"], ["one:16020"])
        ]
        engine.core.store.placement = None
        assert [
            part["servers"] for part in engine.core.describe_partitions("i", "t")["partitions"]
        ] == [*([], [], [])]


def test_locations_are_servers(one: World, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = one.engines[0]
    found = make(engine)
    for key in range(30):
        engine.core.run(engine.rows.write_row("i", put("t", {"k": key}, {"v": "x" * 500})))
    divide(engine, "t", [10, 20])
    steps(one, 30)
    monkeypatch.setattr("tests.support.placement._MOVES", 0.0)
    one.space.ranges.servers.update(zip(at(found, 10, 20), (0, 1, 0), strict=True))
    request = ComputeSplitPoints("t", 1200, None)
    answer = engine.compute_split_points("i", request)
    names = [name for name, _ in answer.locations]
    assert sum(repeat for _, repeat in answer.locations) == len(answer.points) + 1 > 9
    assert len(names) == 3
    assert names[0] == names[2] == server_location("one:16020")
    assert names[1] == server_location("two:16020")
    assert {len(name) for name in names} == {32}
    turn(one, Weather(busy=1.0))  # nobody can tell: each partition has a name
    names = [name for name, _ in engine.compute_split_points("i", request).locations]
    assert len(set(names)) == len(names) == 3
    assert server_location("one:16020") not in names


def test_changes_of_ranges_are_counted_and_logged(
    one: World, caplog: pytest.LogCaptureFixture
) -> None:
    engine = one.engines[0]
    make(engine)
    divide(engine, "t", [1])
    turn(one, Weather(refused=0.5))
    steps(one, 60)
    done = counts(one)
    with caplog.at_level(logging.INFO, "widerow.partitions"):
        log_events(engine.core.partitions)
    said = Counter(record.message for record in caplog.records)
    assert said["range split"] == done["split", "done"] == 2
    assert said["the database does not split a range"] == done["split", "failed"] > 0
    assert not engine.core.partitions.following.events
    page = list(partition_lines(engine.core, NO_NAME))
    assert 'widerow_range_changes_total{kind="split",end="done"} 2' in page
    failed = done["split", "failed"]
    assert f'widerow_range_changes_total{{kind="split",end="failed"}} {failed}' in page
    assert 'widerow_range_changes_total{kind="merge",end="done"} 0' in page
    assert "widerow_range_changes_pending 0" in page
    engine.core.store.placement = None
    assert not [line for line in partition_lines(engine.core, NO_NAME) if "range" in line]
