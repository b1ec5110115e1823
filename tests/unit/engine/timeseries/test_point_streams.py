"""Change streams of timeseries tables (timeseries §9, change §C1)."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.drivers import DRIVERS
from tests.unit.engine.timeseries.world import CPU, DAY, DISK, Series, of_host, put_in

from widerow.engine.check import check_store
from widerow.engine.engine import Engine
from widerow.engine.instance_copy import copy_instance, reset_instance
from widerow.engine.partitions.rules import Thresholds
from widerow.engine.settings import EngineSettings
from widerow.engine.streams.log import (
    decode_head,
    encode_head,
    position_of,
    record_key,
    shard_prefix,
)
from widerow.engine.streams.stream_reads import ChangeRecord
from widerow.engine.timeseries.table_record import (
    decode_timeseries_table,
    encode_timeseries_table,
)
from widerow.errors import NotFound
from widerow.keys.encode import after_prefix
from widerow.keys.layout import change_prefix, intent_prefix
from widerow.model.timeseries.requests import SeriesOptionsChange
from widerow.model.timeseries.table import FieldKey, TimeseriesTable
from widerow.model.values import KeyType
from widerow.rows.plain_values import VersionedValue, decode_plain_change
from widerow.storage.interface import Transaction, Write
from widerow.storage.memory import MemoryStore

LIMITS = EngineSettings(thresholds=Thresholds(split_units=2.0, hot_seconds=2.0))


@pytest.fixture(params=DRIVERS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Series]:
    with request.param(tmp_path) as store:
        yield Series(store, settings=LIMITS)


def said(record: ChangeRecord) -> tuple[list[tuple[str, object]], list[tuple[str, int, object]]]:
    row = decode_plain_change(record.record)
    cells = [each for each in row.cells if isinstance(each, VersionedValue)]
    assert len(cells) == len(row.cells)
    return list(row.key), [(each.column, each.version, each.value) for each in cells]


def log_of(world: Series, table: TimeseriesTable) -> list[tuple[bytes, bytes]]:
    prefix = change_prefix(table.id)
    return list(world.store.snapshot().scan(prefix, after_prefix(prefix)))


def test_a_table_has_a_stream_unasked_with_a_record_for_each_point(world: Series) -> None:
    """timeseries §9: ListStream lists it; records are puts, in the order of the request."""
    table = world.create()
    assert world.engine.streams.list("me", None) == [table]
    assert table.stream.id == f"t_{world.clock.now_us():016}"
    first, second, third = (CPU, 7, {"v": 1}), (DISK, 5, {"v": 2.0}), (CPU, 3, {"v": 3, "w": 4})
    world.put(table, first, second, third)
    world.move_changes(table)
    found = world.stream(table)
    assert [put_in(each) for each in found if put_in(each)[0] == CPU] == [first, third]
    assert [put_in(each) for each in found if put_in(each)[0] == DISK] == [second]
    assert sorted((each.timestamp_us, each.row_index) for each in found) == [
        (found[0].timestamp_us, at) for at in range(3)
    ]
    assert world.engine.streams.find("me", table.stream.id) == table
    world.check()


def test_a_record_has_the_key_and_the_columns_of_the_row_of_its_point() -> None:
    """As GetRow of `#timeseries` shows it, by which clients read it (timeseries §9)."""
    world = Series(MemoryStore())
    keys = FieldKey("core", KeyType.INTEGER), FieldKey("mode", KeyType.STRING)
    table = world.create(key=("_m_name", "region"), field_keys=keys)
    series = CPU._replace(source="", tags=(("region", "eu"),))
    world.put(table, (series, 5_000, {"core": 3, "mode": "x", "a": 1, "a1": True, "n": b"\0"}))
    key, cells = said(world.stream(table)[0])
    assert key[1:] == [
        *(("_m_name", "cpu"), ("region", "eu"), ("_time", 5_000)),
        *(("core", 3), ("mode", "x")),
    ]
    assert cells == [("a1:b", 5, True), ("a:l", 5, 1), ("n:n", 5, b"\0")]
    world.check()


def test_a_put_over_a_point_says_all_that_the_point_has_then() -> None:
    """timeseries §4: fields are merged, and the stream shows a put."""
    world = Series(MemoryStore())
    table = world.create()
    world.put(table, (CPU, 1, {"v": 1, "w": 1}))
    world.put(table, (CPU, 1, {"v": "x"}), (CPU, 1, {"z": 0.5}))
    found = [put_in(each) for each in world.stream(table)]
    assert found == [(CPU, 1, {"v": 1, "w": 1}), (CPU, 1, {"v": "x", "w": 1, "z": 0.5})]


def test_an_iterator_stands_between_any_two_points(world: Series) -> None:
    """change §C1.5: with a limit of n the next n records, whatever a request has put together."""
    table = world.create()
    for at in range(0, 12, 4):
        world.put(table, *[(CPU, at + each, {"v": each}) for each in range(4)])
        world.clock.advance(1)
    world.move_changes(table)
    streams = world.engine.streams
    times: list[int] = []
    iterator: str | None = streams.iterator(table, "0", None)
    seen = []
    while iterator:
        seen.append(iterator)
        page = streams.read(table, iterator, 1)
        assert page.more == (len(times) < 12)
        times += [put_in(each)[1] for each in page.records()]
        iterator = page.following if page.more else None
    assert times == list(range(12))
    for at, each in enumerate(seen):
        rest = streams.read(table, each, None).records()
        assert [put_in(record)[1] for record in rest] == list(range(at, 12))
    second = streams.read(table, seen[5], 2).records()[0].timestamp_us
    from_time = streams.read(table, streams.iterator(table, "0", second), 2).records()
    assert [put_in(record)[1] for record in from_time] == [4, 5]


def test_a_last_point_index_sees_an_update_of_its_row_for_each_point() -> None:
    """timeseries §9: even of points that are older than the newest one."""
    world = Series(MemoryStore())
    table = world.create(lastpoints=("last",))
    world.put(table, (CPU, 9_000, {"v": 1, "_x": 2}), (CPU, 4_000, {"v": 0}))
    found = world.stream(table, "last")
    assert [each.action for each in found] == [2, 2]
    key, cells = said(found[0])
    assert [name for name, _ in key] == ["_#h", "_m_name", "_data_source", "_tags"]
    assert cells == [("_time", 9, 9_000), ("_x", 9, 2), ("v", 9, 1)]
    assert said(found[1]) == (key, [("_time", 4, 4_000), ("v", 4, 0)])
    for name in ("t", "t#timeseries"):
        assert world.stream(table, name) == world.stream(table)
    with pytest.raises(NotFound):
        world.stream(table, "other")


def test_a_failed_put_leaves_no_record() -> None:
    """A put that has to write the meta first writes points and record together, once."""
    world = Series(MemoryStore())
    table = world.create()
    world.put(table, (CPU, 1, {"v": 1}))
    heads = [key for key, _ in log_of(world, table) if len(key) == 17]
    assert len(log_of(world, table)) == 1 + len(heads)


def test_records_go_after_a_week_or_with_the_points(world: Series) -> None:
    """change §C1.6: iterators before what is kept are told so."""
    table = world.create()
    assert table.stream.expiration_hours == 168
    short = world.create("short", ttl_s=DAY + 1)
    assert short.stream.expiration_hours == 25
    world.core.run(world.engine.change_options("me", "t", SeriesOptionsChange(ttl_s=2 * DAY)))
    table = world.engine.find("me", "t")
    assert table.stream.expiration_hours == 48
    now_us = world.clock.now_us()
    world.put(table, *[(CPU, now_us + at, {"v": at}) for at in range(3)])
    world.move_changes(table)
    streams = world.engine.streams
    first = streams.iterator(table, "0", None)
    second = streams.read(table, first, 1).following
    assert second is not None
    world.clean(24)
    assert len(world.stream(table)) == 3
    world.put(table, (CPU, now_us + 9, {"v": 9}))
    world.clean(25)
    assert [put_in(each)[1] for each in world.stream(table)] == [now_us + 9]
    with pytest.raises(NotFound, match="stream_trimmed"):
        streams.read(table, second, None)
    world.check()


def test_shards_follow_the_partitions_of_the_table(world: Series) -> None:
    """change §C1.3: children begin behind their parents, and nothing is lost or told twice."""
    table = world.create()
    put, divided = world.put_until_divided(table)
    opened = [each for each in divided.stream.shards if each.is_open]
    assert [each.start for each in sorted(opened, key=lambda each: each.start)] == [
        *(b"", *divided.splits)
    ]
    world.move_changes(divided)
    found = world.stream(divided)
    assert len(found) == put
    told = [put_in(each)[:2] for each in found]
    assert sorted(told) == sorted((of_host(host), at) for host in range(20) for at in range(12))
    assert len({(each.timestamp_us, each.row_index, each.record) for each in found}) == put
    world.check()


def test_a_dropped_table_leaves_nothing_of_its_stream(world: Series) -> None:
    table = world.create()
    world.put(table, (CPU, 1, {"v": 1}))
    world.core.run(world.engine.drop("me", "t"))
    world.clean()
    assert log_of(world, table) == []
    intents = intent_prefix(table.id)
    assert list(world.store.snapshot().scan(intents, after_prefix(intents))) == []
    assert world.engine.streams.list("me", None) == []
    world.check()


def test_a_copy_has_the_stream_and_iterators_stay_good() -> None:
    """As copies of Tablestore's tables (docs/guide/testing.md)."""
    world = Series(MemoryStore())
    table = world.create()
    world.put(table, (CPU, 1, {"v": 1}), (CPU, 2, {"v": 2}))
    streams = world.engine.streams
    iterator = streams.read(table, streams.iterator(table, "0", None), 1).following
    assert iterator is not None
    before = world.stream(table)
    copy = copy_instance(world.core, "me")
    world.put(table, (CPU, 3, {"v": 3}))
    world.core.run(reset_instance(world.core, "me", copy, world.clock.now_us()))
    again = world.engine.find("me", "t")
    assert (again.stream.id, world.stream(again)) == (table.stream.id, before)
    assert streams.read(again, iterator, None).records() == before[1:]
    world.put(again, (CPU, 4, {"v": 4}))
    assert [put_in(each)[1] for each in world.stream(again)] == [1, 2, 4]
    world.check()


def test_a_check_finds_damaged_records() -> None:
    world = Series(MemoryStore())
    table = world.create()
    world.put(table, (CPU, 1, {"v": 1}), (CPU, 2, {"v": "text"}))
    prefix = shard_prefix(table.id, table.stream.number, 0)
    [(key, entry)] = [each for each in log_of(world, table) if each[0] != prefix]
    [head] = [value for each, value in log_of(world, table) if each == prefix]
    last = position_of(key)
    damages = [
        (key, entry[:-1]),
        (key, entry + b"\0"),
        (key, b"\x02" + entry[1:]),
        (key, entry[:4] + b"\x03" + entry[5:]),  # another count
        (prefix, encode_head(decode_head(head)._replace(trimmed=last))),
        (record_key(prefix, last.behind), entry),
    ]
    for at, value in damages:

        def damage(txn: Transaction, at: bytes = at, value: bytes = value) -> None:
            txn.put(at, value)

        def mend(txn: Transaction, at: bytes = at) -> None:
            txn.delete(at)
            txn.put(prefix, head)
            txn.put(key, entry)

        world.store.transact_group([Write((prefix,), damage)])
        assert check_store(world.store) != [], (at, value)
        world.store.transact_group([Write((prefix,), mend)])
        world.check()


def test_a_table_of_an_earlier_version_has_a_stream_that_begins_now() -> None:
    world = Series(MemoryStore())
    table = world.create()
    record = json.loads(encode_timeseries_table(table))
    del record["stream"]
    found = decode_timeseries_table(json.dumps(record).encode())
    assert replace(found, stream=table.stream) == table
    assert (found.stream.id, found.stream.number) == ("t_0000000000000000", table.id)
    assert (len(found.stream.shards), found.stream.expiration_hours) == (1, 168)


def test_another_engine_goes_on_behind_the_last_record() -> None:
    """Positions never decrease, whatever the clock says (change §C1.4)."""
    store = MemoryStore()
    world = Series(store)
    table = world.create()
    world.clock.advance(100)
    world.put(table, (CPU, 1, {"v": 1}))
    again = Series(store, seed=1)  # its clock is behind
    assert isinstance(again.core, Engine)
    again.put(table, (CPU, 2, {"v": 2}), (CPU, 3, {"v": 3}))
    found = again.stream(table)
    assert [each.row_index for each in found] == [0, 1, 2]
    assert len({each.timestamp_us for each in found}) == 1
