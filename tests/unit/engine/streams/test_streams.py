"""Change streams in the engine: records, shards, iterators, trimming (change §C1)."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from tests.support.changes import (
    create,
    delete,
    delete_all,
    delete_one,
    increment,
    put,
    put_cells,
    update,
)
from tests.support.engines import open_tablestore

from widerow.engine.check import check_store
from widerow.engine.streams.log import LogPosition, record_key, shard_prefix
from widerow.engine.streams.stream_reads import ChangePage, ChangeRecord, stream_id_in
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.table_record import decode_table, encode_table
from widerow.errors import InvalidRequest, NotFound
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import change_prefix
from widerow.model.streams import StreamRule
from widerow.model.tablestore.requests import StreamChange, UpdateTable
from widerow.model.tablestore.schema import KeyColumn, Table
from widerow.model.values import KeyInput, KeyMarker, KeyType
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

HOUR = 3600
PUT, UPDATE, DELETE = 1, 2, 3


def make(
    engine: TablestoreEngine, *columns: str, hours: int | None = None, bounds: tuple[int, ...] = ()
) -> Table:
    """Table t with a stream that keeps the former values of these columns."""
    ends: list[KeyInput] = [KeyMarker.INF_MIN, *bounds, KeyMarker.INF_MAX]
    request = replace(
        create("t", {"pk": KeyType.INTEGER}, max_version_offset=10**9),
        stream=StreamChange(enable=True, expiration_hours=hours, columns=columns),
        partitions=tuple(pairwise(ends)) if bounds else (),
    )
    engine.core.run(engine.create_table("i", request))
    return engine.describe_table("i", "t")


def write(engine: TablestoreEngine, *changes: Any) -> None:  # noqa: ANN401  # row changes
    for change in changes:
        engine.core.run(engine.rows.write_row("i", change))


def page(engine: TablestoreEngine, shard: str = "0", limit: int | None = None) -> ChangePage:
    table = engine.describe_table("i", "t")
    return engine.streams.read(table, engine.streams.iterator(table, shard, None), limit)


def records(engine: TablestoreEngine, shard: str = "0") -> list[ChangeRecord]:
    return page(engine, shard).records()


def switch(engine: TablestoreEngine, stream: StreamChange) -> Table:
    return engine.core.run(engine.update_table("i", UpdateTable("t", stream=stream)))


def divide(engine: TablestoreEngine, *bounds: int) -> Table:
    """Let partitions meet at these keys."""
    table = engine.describe_table("i", "t")
    splits = tuple(encode_key_value(each) for each in bounds)
    model = engine.tables.model
    engine.core.store.transact_group(
        [engine.tables.change(table, lambda t: model.with_bounds(t, splits))]
    )
    return engine.describe_table("i", "t")


def tidy(engine: TablestoreEngine, seconds: float = 61) -> None:
    """Let housekeeping run dry, a minute later."""
    engine.core.clock.advance(seconds)  # type: ignore[attr-defined]  # the fake one
    while (plan := engine.core.housekeeping()) is not None:
        engine.core.run(plan)


# --- records -----------------------------------------------------------------------------------

_KEY = "7500000001030402000000706b05090000000001000000000000000a4c"
_TIME = "0b180000000c130000000d000000000e00401e18240a06000f"


def test_records_are_the_published_bytes(engine: TablestoreEngine, clock: FakeClock) -> None:
    """change §C1.7."""
    clock.set(1_700_000_000_000)
    make(engine, "c")
    write(
        engine,
        put("t", {"pk": 1}, {"c": [(1_499_999_999_998, "t")]}),
        put("t", {"pk": 1}, {"c": [(1_499_999_999_999, "u")]}),
        put("t", {"pk": 1}, {"c": [(1_500_000_000_000, "v")]}),
        update(
            "t",
            {"pk": 1},
            [
                delete_all("a"),
                delete_one("b", 1_500_000_000_000),
                *put_cells({"c": [(1_500_000_000_001, "v")]}),
            ],
        ),
        delete("t", {"pk": 1}),
    )
    found = records(engine)
    assert found[2] == ChangeRecord(
        PUT,
        bytes.fromhex(
            f"{_KEY}02030401000000630506000000030100000076070098f73e5d0100000a98{_TIME}020000000935"
        ),
        bytes.fromhex(f"{_KEY}0203040100000063050600000003010000007507ff97f73e5d0100000a310990"),
        1_700_000_000_000_000,
        2,
    )
    assert (found[3].action, found[3].record.hex()) == (
        UPDATE,
        _KEY
        + "020304010000006106010ae7030401000000620603070098f73e5d0100000a06"
        + f"030401000000630506000000030100000076070198f73e5d0100000a8b{_TIME}030000000904",
    )
    assert (found[4].action, found[4].record.hex()) == (DELETE, f"{_KEY}{_TIME}0400000009a7")


def test_an_increment_is_a_put_of_its_result(engine: TablestoreEngine) -> None:
    """change §0 rule 5."""
    make(engine)
    write(engine, update("t", {"pk": 1}, [increment("n", 2)]))
    write(engine, update("t", {"pk": 1}, [increment("n", 3)]))
    write(engine, put("t", {"pk": 2}, {"n": 5}))
    summed, plain = records(engine)[1:]
    # What differs is the key's cell before, the position behind and the checksum of the row.
    start = summed.record.index(b"\x02\x03\x04")
    assert summed.record[start : start + 30] == plain.record[start : start + 30]


def test_deletes_and_updates_of_nothing_are_recorded(engine: TablestoreEngine) -> None:
    """change §C1.4."""
    make(engine)
    write(engine, delete("t", {"pk": 1}), update("t", {"pk": 1}, [delete_all("a")]))
    assert [each.action for each in records(engine)] == [DELETE, UPDATE]


def test_a_generated_key_is_in_the_record(engine: TablestoreEngine) -> None:
    """change §C1.4: the assigned value."""
    columns = (
        KeyColumn("pk", KeyType.INTEGER),
        KeyColumn("n", KeyType.INTEGER, auto_increment=True),
    )
    request = replace(create("t", columns), stream=StreamChange(enable=True))
    engine.core.run(engine.create_table("i", request))
    write(engine, put("t", {"pk": 1, "n": KeyMarker.AUTO_INCREMENT}, {}))
    (found,) = records(engine)
    assert bytes.fromhex("0304010000006e050900000000") in found.record


def test_the_former_row_is_there_once_there_was_one(engine: TablestoreEngine) -> None:
    """change §C1.4: of a new row there is none, of a delete there is."""
    make(engine, "a")
    write(engine, put("t", {"pk": 1}, {"a": "x", "b": "y"}), delete("t", {"pk": 1}))
    first, second = records(engine)
    assert first.origin is None
    assert second.origin is not None
    assert b"x" in second.origin
    assert b"y" not in second.origin


def test_the_column_list_in_force_counts(engine: TablestoreEngine) -> None:
    """change §C1.1: enabling again replaces the list and keeps id and records."""
    before = make(engine, "a")
    write(engine, put("t", {"pk": 1}, {"a": 1, "b": 2}))
    after = switch(engine, StreamChange(enable=True, expiration_hours=24, columns=("b",)))
    write(engine, put("t", {"pk": 1}, {"a": 3}))
    assert before.stream is not None
    assert after.stream is not None
    assert after.stream.id == before.stream.id == f"t_{before.stream.enabled_at_us}"
    assert (after.stream.expiration_hours, after.stream.columns) == (24, ("b",))
    origin = records(engine)[1].origin
    assert origin is not None
    assert bytes.fromhex("030401000000620509") in origin


def test_times_never_go_back(engine: TablestoreEngine, clock: FakeClock) -> None:
    """change §C1.4: strictly ascending positions whatever the clock does."""
    make(engine)
    for seconds in (0, -10, 0, 20, 0):
        clock.advance(seconds)
        write(engine, put("t", {"pk": 1}, {}))
    found = [(each.timestamp_us, each.row_index) for each in records(engine)]
    start = found[0][0]
    ahead = start + 10_000_000
    assert found == [(start, 0), (start, 1), (start, 2), (ahead, 0), (ahead, 1)]


# --- reading -----------------------------------------------------------------------------------


def test_pages_say_whether_a_limit_ended_them(engine: TablestoreEngine) -> None:
    """change §C1.5: ten records one by one say that there may be more, then none does."""
    table = make(engine)
    write(engine, *[put("t", {"pk": number}, {}) for number in range(10)])
    iterator: str | None = engine.streams.iterator(table, "0", None)
    more = []
    for _ in range(11):
        assert iterator is not None
        found = engine.streams.read(table, iterator, 1)
        more.append((len(found.stored), found.more))
        iterator = found.following
    assert more == [(1, True)] * 10 + [(0, False)]
    assert len(page(engine).stored) == 10
    assert not page(engine).more
    assert page(engine, limit=10).more


def test_equal_positions_are_equal_iterators(engine: TablestoreEngine, clock: FakeClock) -> None:
    """change §C1.5: also where one was asked for by time."""
    table = make(engine)
    assert engine.streams.iterator(table, "0", 5) == engine.streams.iterator(table, "0", None)
    times = []
    for number in range(3):
        clock.advance(1)
        times.append(clock.now_us())
        write(engine, put("t", {"pk": number}, {}))
    iterator = engine.streams.iterator(table, "0", None)
    for time in times:
        assert engine.streams.iterator(table, "0", time) == iterator
        iterator = engine.streams.read(table, iterator, 1).following or ""
    assert engine.streams.iterator(table, "0", times[-1] + 1) == iterator
    assert engine.streams.read(table, iterator, None).following == iterator


def test_iterators_outlive_the_server(
    engine: TablestoreEngine, store: Store, clock: FakeClock
) -> None:
    """change §C1.5."""
    make(engine)
    write(engine, put("t", {"pk": 1}, {}))
    following = page(engine).following
    assert following is not None
    write(engine, put("t", {"pk": 2}, {}))
    again = open_tablestore(store, clock, FakeEntropy())
    found = again.streams.read(again.describe_table("i", "t"), following, None)
    assert [each.row_index for each in found.records()] == [1]
    write(again, put("t", {"pk": 3}, {}))
    assert [each.row_index for each in records(again)] == [0, 1, 2]


@pytest.mark.parametrize("text", ["", "x", "AAAA", "é", "x" * 5000])
def test_what_is_no_iterator_is_refused(engine: TablestoreEngine, text: str) -> None:
    """change §C1.2."""
    make(engine)
    with pytest.raises(InvalidRequest) as error:
        engine.streams.find("i", stream_id_in(text))
    assert error.value.rule is StreamRule.SHARD_ITERATOR


def test_a_limit_is_one_or_more(engine: TablestoreEngine) -> None:
    """change §C1.2."""
    make(engine)
    with pytest.raises(InvalidRequest) as error:
        page(engine, limit=0)
    assert error.value.rule is StreamRule.STREAM_LIMIT


# --- shards ------------------------------------------------------------------------------------


def test_a_fresh_table_has_one_shard(engine: TablestoreEngine) -> None:
    """change §C1.3."""
    table = make(engine)
    assert [tuple(each) for each in engine.streams.shards(table)] == [("0", (), True)]


def test_a_table_in_partitions_has_a_shard_for_each(engine: TablestoreEngine) -> None:
    """change §C1.3."""
    make(engine, bounds=(10, 20))
    write(engine, *[put("t", {"pk": key}, {}) for key in (5, 15, 25, 10)])
    assert [len(records(engine, shard)) for shard in "012"] == [1, 2, 1]


def test_a_split_closes_the_parent_and_a_merge_both(engine: TablestoreEngine) -> None:
    """change §C1.3: and every record of a child is later than its parents'."""
    make(engine)
    write(engine, put("t", {"pk": 1}, {}))
    table = divide(engine, 10)
    write(engine, put("t", {"pk": 1}, {}), put("t", {"pk": 10}, {}))
    assert page(engine, "0").following is None
    table = divide(engine)
    write(engine, put("t", {"pk": 1}, {}))
    assert [tuple(each) for each in engine.streams.shards(table)] == [
        ("0", (), False),
        ("1", ("0",), False),
        ("2", ("0",), False),
        ("3", ("1", "2"), True),
    ]
    times = [engine.streams.end_us(table, shard) for shard in "0123"]
    assert times[0] < times[1] == times[2] < times[3]
    end = engine.streams.iterator(table, "0", times[0] + 1)
    assert end == ""


# --- life --------------------------------------------------------------------------------------


def test_switching_off_ends_the_stream(
    engine: TablestoreEngine, store: Store, clock: FakeClock
) -> None:
    """change §C1.1: enabling again gives a new id and starts at the present moment."""
    table = make(engine)
    write(engine, put("t", {"pk": 1}, {}))
    iterator = engine.streams.iterator(table, "0", None)
    switch(engine, StreamChange(enable=False))
    write(engine, put("t", {"pk": 2}, {}))
    with pytest.raises(NotFound) as error:
        engine.streams.find("i", stream_id_in(iterator))
    assert error.value.rule is StreamRule.STREAM_NOT_FOUND
    clock.advance(1)
    switch(engine, StreamChange(enable=True))
    assert records(engine) == []
    assert check_store(store) == []
    tidy(engine)
    assert not list(store.snapshot().scan(change_prefix(table.id), change_prefix(table.id + 1)))


def test_nothing_stays_of_a_dropped_table(engine: TablestoreEngine, store: Store) -> None:
    """change §E2."""
    table = make(engine)
    write(engine, put("t", {"pk": 1}, {}))
    engine.core.run(engine.delete_table("i", "t"))
    tidy(engine)
    assert not list(store.snapshot().scan(change_prefix(table.id), change_prefix(table.id + 1)))


def test_old_records_go_and_iterators_to_them_say_so(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    """change §C1.6: an iterator exactly at the first kept position stays good."""
    table = make(engine, hours=1)
    write(engine, put("t", {"pk": 1}, {}), put("t", {"pk": 2}, {}))
    start = engine.streams.iterator(table, "0", None)
    old = engine.streams.read(table, start, 1).following
    kept = page(engine).following
    assert old is not None
    assert kept is not None
    clock.advance(HOUR / 2)
    write(engine, put("t", {"pk": 3}, {}))
    tidy(engine, HOUR / 2 + 61)
    for iterator in (start, kept):
        assert len(engine.streams.read(table, iterator, None).records()) == 1
    assert engine.streams.iterator(table, "0", 1) == kept
    with pytest.raises(NotFound) as error:
        engine.streams.read(table, old, None)
    assert error.value.rule is StreamRule.STREAM_TRIMMED
    tidy(engine, HOUR)
    tail = engine.streams.read(table, start, None)
    assert tail.records() == []
    assert engine.streams.end_us(table, "0") > 0


def test_the_tail_of_a_quiet_shard_is_never_too_old(engine: TablestoreEngine) -> None:
    """change §C1.6."""
    table = make(engine, hours=1)
    write(engine, put("t", {"pk": 1}, {}))
    tail = page(engine).following
    assert tail is not None
    tidy(engine, 3 * HOUR)
    assert engine.streams.read(table, tail, None) == ChangePage([], tail, more=False)


def test_who_reads_a_quiet_shard_is_led_to_its_children(engine: TablestoreEngine) -> None:
    """change §C1.3: a closed shard stays for the stream's hours, though nothing is left in it."""
    make(engine, hours=1)
    write(engine, put("t", {"pk": 1}, {}))
    tail = page(engine).following
    assert tail is not None
    tidy(engine, 3 * HOUR)
    table = divide(engine, 10)
    tidy(engine)
    tidy(engine)
    table = engine.describe_table("i", "t")
    assert engine.streams.read(table, tail, None) == ChangePage([], None, more=False)
    assert [each.id for each in engine.streams.shards(table)] == ["0", "1", "2"]
    tidy(engine, 2 * HOUR)
    table = engine.describe_table("i", "t")
    assert [each.id for each in engine.streams.shards(table)] == ["1", "2"]


def test_closed_shards_leave_and_their_children_stay_later(
    engine: TablestoreEngine, store: Store, clock: FakeClock
) -> None:
    """change §C1.4: also where the clock is set back behind the parent's records."""
    make(engine, hours=1)
    write(engine, put("t", {"pk": 1}, {}))
    last = engine.streams.end_us(divide(engine, 10), "0")
    tidy(engine, 3 * HOUR)  # the records; the shard is seen to be closed
    tidy(engine, 3 * HOUR)  # and then the shard
    table = engine.describe_table("i", "t")
    assert [tuple(each) for each in engine.streams.shards(table)] == [
        ("1", ("0",), True),
        ("2", ("0",), True),
    ]
    clock.set(last // 1000 - 1000)
    write(engine, put("t", {"pk": 1}, {}), put("t", {"pk": 1}, {}))
    found = records(engine, "1")
    assert [(each.timestamp_us, each.row_index) for each in found] == [(last + 1, 0), (last + 1, 1)]
    assert check_store(store) == []


def test_streams_of_records_that_name_no_log_begin_now(engine: TablestoreEngine) -> None:
    """docs/formats/catalog.md: four fields are those of versions that recorded no changes."""
    table = make(engine, "a", bounds=(10,))
    assert table.stream is not None
    stream = table.stream
    record = encode_table(table)
    begin = record.index(b'"stream":[')
    end = record.index(b"}", begin)
    fields = f'"stream":["0123abcd",{stream.expiration_hours},{stream.enabled_at_us},["a"]]'
    found = decode_table(record[:begin] + fields.encode() + record[end:])
    assert found.stream == replace(stream, number=table.id)


# --- the walk of a store -----------------------------------------------------------------------


@pytest.mark.parametrize("place", [20, 32, -3, -30])
def test_damaged_records_are_found(engine: TablestoreEngine, store: Store, place: int) -> None:
    """docs/operating/doctor: a flipped bit of a cell, of the position, of the checksum."""
    table = make(engine)
    write(engine, put("t", {"pk": 1}, {"a": "some text"}))
    assert check_store(store) == []
    (found,) = records(engine)
    assert table.stream is not None
    prefix = shard_prefix(table.id, table.stream.number, 0)
    key = record_key(prefix, LogPosition(found.timestamp_us, found.row_index))
    value = store.snapshot().get(key)
    assert value is not None
    damaged = bytearray(value)
    damaged[place] ^= 1
    store.transact((change_prefix(table.id),), lambda txn: txn.put(key, bytes(damaged)))
    assert check_store(store)
    store.transact((change_prefix(table.id),), lambda txn: txn.put(key, value))


@pytest.mark.parametrize("busy", ["a", "z"])
def test_a_busy_stream_holds_up_no_other_one_that_is_to_be_trimmed(
    engine: TablestoreEngine, clock: FakeClock, busy: str
) -> None:
    """change §C1.6: it always has records that have just grown too old."""
    for name in (busy, "m"):
        stream = StreamChange(enable=True, expiration_hours=1)
        asked = replace(create(name, {"pk": KeyType.INTEGER}), stream=stream)
        engine.core.run(engine.create_table("i", asked))
    write(engine, put("m", {"pk": 1}, {"x": 1}))
    for number in range(100):
        clock.advance(0.01)
        write(engine, put(busy, {"pk": 1}, {"x": number}))
    clock.advance(HOUR - 0.9)
    for _ in range(20):
        clock.advance(0.01)
        plan = engine.core.housekeeping()
        if plan is not None:
            engine.core.run(plan)
    table = engine.describe_table("i", "m")
    found = engine.streams.read(table, engine.streams.iterator(table, "0", None), None)
    assert found.records() == []
    assert engine.core.sweep.reclaimed.logs_trimmed > 1
