"""What holds for every table model, shown for timeseries tables (tests/support/toy_model.py)."""

import json
import re
from collections.abc import Iterator
from itertools import combinations, permutations
from pathlib import Path

import pytest
from tests.conformance.drivers import DRIVERS
from tests.support.asking import asked_again
from tests.support.lossy import Keep, LossyDisk, LossyStore
from tests.unit.engine.timeseries.test_lastpoints import newest
from tests.unit.engine.timeseries.test_metas import keys
from tests.unit.engine.timeseries.world import CPU, DAY, DISK, Series, of_host

from widerow.engine.budget import Budget
from widerow.engine.check import check_store
from widerow.engine.copying import CopyRefused
from widerow.engine.instance_copy import EMPTY_COPY, copy_instance, reset_instance
from widerow.engine.partitions.rules import Thresholds
from widerow.engine.scan import WHOLE_TABLE
from widerow.engine.settings import EngineSettings
from widerow.engine.tablestore.plug import TABLESTORE
from widerow.engine.timeseries.table_record import (
    decode_timeseries_table,
    encode_timeseries_table,
)
from widerow.errors import InvalidRequest, NotFound, StoreDamaged, TooLong
from widerow.keys.layout import (
    SPACE_LOCAL_INDEXES,
    SPACE_ROWS,
    SPACE_STATISTICS,
    local_index_prefix,
    row_prefix,
)
from widerow.model.timeseries.requests import PointQuery, SeriesOptionsChange
from widerow.model.timeseries.series import SeriesKey
from widerow.model.timeseries.table import AnalyticalStore, SyncOption
from widerow.model.values import KeyMarker
from widerow.storage.interface import Transaction
from widerow.storage.memory import MemoryStore
from widerow.wire.tablestore.operations.timeseries.seen_tables import seen_table

LIMITS = EngineSettings(thresholds=Thresholds(split_units=2.0, hot_seconds=2.0))


@pytest.fixture(params=DRIVERS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Series]:
    with request.param(tmp_path) as store:
        yield Series(store, settings=LIMITS)


def stored(world: Series) -> int:
    """How many records of tables there are."""
    spaces = SPACE_ROWS, SPACE_LOCAL_INDEXES, SPACE_STATISTICS
    view = world.store.snapshot
    return sum(len(list(view().scan(space, space + b"\xff" * 8))) for space in spaces)


def test_a_table_is_created_listed_found_and_dropped(world: Series) -> None:
    table = world.create(
        lastpoints=("last",), stores=(AnalyticalStore("s", 2592000, SyncOption.INCREMENTAL),)
    )
    world.put(table, (CPU, 1, {"v": 1}), (DISK, 2, {"v": 2.0}))
    world.check()
    assert [each.name for model in world.core.open_models() for each in model.listed()] == ["t"]
    assert world.core.find_partitioned("me", "t") == table
    tables = world.core.operations(TABLESTORE)  # with another model beside it, too
    assert world.core.find_partitioned("me", "t") == table
    assert tables.list_tables("me") == ()
    again = Series(world.store, world.clock, seed=1)
    assert again.engine.find("me", "t") == table
    assert again.engine.owned("me") == [table]
    world.core.run(world.engine.drop("me", "t"))
    with pytest.raises(NotFound):
        world.core.find_partitioned("me", "t")
    world.check()
    world.clean()
    assert stored(world) == 0
    world.check()


def test_a_hot_table_is_divided_and_stays_so(world: Series) -> None:
    table = world.create()
    for at in range(12):
        world.put(table, *[(of_host(host), at, {"v": at}) for host in range(20)])
        world.clock.advance(1)
        while (plan := world.core.partitions.step()) is not None:
            world.core.run(plan)
    divided = world.engine.find("me", "t")
    assert divided.splits != ()
    assert world.core.partitions.partition_key(divided).name == "_#h"
    shown = world.core.describe_partitions("me", "t")
    assert len(shown["partitions"]) == len(divided.splits) + 1
    # A view that is held is lost where HBase divides its region, which clients see as a busy store.
    rows = asked_again(lambda: list(world.engine.scan(divided, WHOLE_TABLE)))
    assert len(rows) == 240
    again = Series(world.store, world.clock, seed=1)
    assert again.engine.find("me", "t").splits == divided.splits
    world.check()


def test_points_and_bytes_are_counted_until_they_are_swept() -> None:
    world = Series(MemoryStore(), settings=LIMITS)
    table = world.create(ttl_s=DAY)
    now_us = world.clock.now_us()
    for _ in range(2):
        world.put(
            table, *[(of_host(host), now_us - at, {"v": 1}) for host in range(5) for at in range(4)]
        )
    world.put(table, (of_host(1), now_us, {"w": "text"}))
    world.read(table, of_host(1))

    def counted() -> tuple[int, int]:
        world.clock.advance(2)
        while (plan := world.core.partitions.step()) is not None:
            world.core.run(plan)
        shown = world.core.describe_partitions("me", "t")
        return shown["rows"], shown["bytes"]

    prefix = row_prefix(table.id)
    stored = list(world.store.snapshot().scan(prefix, prefix + b"\xff" * 9))
    assert counted() == (20, sum(len(key) + len(record) for key, record in stored))
    assert world.core.describe_partitions("me", "t")["consumed"] == {"read": 1, "write": 11}
    world.clean(30)
    assert counted() == (0, 0)


def test_a_long_read_is_given_up_where_others_wait() -> None:
    world = Series(MemoryStore())
    table = world.create()
    for at in range(0, 2000, 200):
        world.put(table, *[(CPU, at + each, {"v": 1}) for each in range(200)])
    query = PointQuery(CPU, 0, 2000)
    with pytest.raises(TooLong):
        world.engine.read(table, query, Budget(steps=1000))
    few = query._replace(limit=10)
    assert len(world.engine.read(table, few, Budget(steps=1000)).points) == 10


def test_an_instance_is_copied_and_put_back(world: Series) -> None:
    """Where transactions reach over shards; elsewhere an instance can be emptied only."""
    table = world.create(lastpoints=("dropped", "last"))
    world.put(table, (CPU, 1, {"v": 1}), (DISK, 2, {"v": 2}))
    world.core.run(world.engine.drop_lastpoint("me", "t", "dropped"))
    now_us = world.clock.now_us()
    if not world.store.capabilities.atomic_across_shards:
        with pytest.raises(CopyRefused):
            copy_instance(world.core, "me")
        world.core.run(reset_instance(world.core, "me", EMPTY_COPY, now_us))
        assert world.engine.owned("me") == []
        return
    copy = copy_instance(world.core, "me")
    assert (copy.names, copy.rows) == (("t",), 2)
    world.put(table, (CPU, 5, {"v": 5}), (of_host(1), 1, {"v": 1}))
    world.create("other")
    for _ in range(2):
        world.core.run(reset_instance(world.core, "me", copy, now_us))
        assert [each.name for each in world.engine.owned("me")] == ["t"]
        again = world.engine.find("me", "t")
        assert again.id != table.id
        assert world.read(again, CPU) == [(1, {"v": 1})]
        assert keys(world, again) == [CPU, DISK]
        assert {key: cells["v"] for key, cells in newest(world).items()} == {
            CPU: (1, 1),
            DISK: (2, 2),
        }
        world.check()
        world.put(again, (CPU, 1, {"v": 7}), (CPU, 3, {"w": 3}))
        assert world.read(again, CPU) == [(1, {"v": 7}), (3, {"w": 3})]
    world.clean()
    world.check()


@pytest.mark.parametrize("keep", list(Keep))
def test_a_crash_leaves_all_that_was_acknowledged(keep: Keep) -> None:
    disk = LossyDisk()
    world = Series(LossyStore(disk))
    table = world.create()
    world.put(table, (CPU, 1, {"v": 1}))
    gone = world.create("gone")
    world.put(gone, (CPU, 1, {"v": 1}))
    world.core.run(world.engine.drop("me", "gone"))
    disk.cut(keep, 1)
    again = Series(LossyStore(disk), world.clock, seed=1)
    table = again.engine.find("me", "t")
    assert again.read(table, CPU) == [(1, {"v": 1})]
    assert keys(again, table) == [CPU]
    again.put(table, (CPU, 1, {"w": 1}))
    assert again.read(table, CPU) == [(1, {"v": 1, "w": 1})]
    again.check()
    again.clean()
    again.check()


def test_the_record_of_a_table_is_as_its_page_says() -> None:
    page = (Path(__file__).parents[4] / "docs/formats/catalog.md").read_text()
    found = re.search(r"```timeseries\n(.*)\n```", page)
    assert found is not None
    record = found[1].encode()
    table = decode_timeseries_table(record)
    assert encode_timeseries_table(table) == record
    assert table.key_values(SeriesKey("cpu", "", (("a", "1"), ("region", "eu")))) == [
        *("cpu", "eu", '["a=1"]')
    ]
    fields = json.loads(record)
    wrong = [{**fields, "format": 2}, {**fields, "new": 1}, {**fields, "options": [1, 2]}]
    wrong += [{**fields, "hashed": 1}, {**fields, "lastpoints": [["x", "9", True, 0]]}]
    needed = fields.keys() - {"stream"}
    wrong += [{each: fields[each] for each in fields if each != name} for name in needed]
    shards: tuple[object, ...] = (
        [["0", "", [], True, 0]],
        [[0, "", ["1"], True, 0]],
        [[0, "", [], 1, 0]],
        [[0]],
        {},
    )
    wrong += [{**fields, "stream": [*fields["stream"][:5], each]} for each in shards]
    wrong += [{**fields, "stream": fields["stream"][:4]}, {**fields, "stream": "cpu"}]
    for each in wrong:
        with pytest.raises(StoreDamaged):
            decode_timeseries_table(json.dumps(each).encode())


def test_series_with_one_hash_are_kept_apart() -> None:
    world = Series(MemoryStore())
    table = world.create(lastpoints=("last",))
    some = [of_host(at) for at in range(4)]
    digest = world.engine.context.series(table, some[0]).digest
    for each in some[:3]:
        world.engine.context.series(table, each).digest = digest
    for at, each in enumerate(some):
        world.put(table, (each, 5, {"v": at}), (each, 6, {f"f{at}": at}))
    world.put(table, (some[1], 5, {"w": True}))
    for at, each in enumerate(some):
        more = {"w": True} if at == 1 else {}
        assert world.read(table, each) == [(5, {"v": at, **more}), (6, {f"f{at}": at})]
    assert {key: cells["v"][0] for key, cells in newest(world).items()} == {
        each: at for at, each in enumerate(some)
    }
    assert world.core.run(world.engine.delete_metas(table, [some[2]])) == {}
    world.put(table, (some[2], 9, {"v": 9}))
    assert keys(world, table) == some
    assert len(list(world.engine.scan(table, WHOLE_TABLE))) == 9


@pytest.mark.parametrize("made", list(permutations(range(3))))
def test_rows_of_series_with_one_hash_are_in_the_order_of_keys(made: tuple[int, ...]) -> None:
    """timeseries §9, §10: pages go on behind the key of their last row, in both directions."""
    world = Series(MemoryStore())
    tablestore = world.core.operations(TABLESTORE)
    table = world.create(lastpoints=("last",))
    some = [of_host(at) for at in range(4)]
    digest = world.engine.context.series(table, some[0]).digest
    for each in some[:3]:
        world.engine.context.series(table, each).digest = digest
    for at in made:
        world.put(table, (some[at], 5, {"v": at}), (some[at], 9 - at, {"v": at}))
    world.put(table, (some[3], 5, {"v": 3}))
    for name, count in (("last", 4), ("t#timeseries", 7)):
        seen = seen_table(tablestore, "me", name)
        assert seen is not None
        width = len(seen.table.key_columns)
        low, high = (KeyMarker.INF_MIN,) * width, (KeyMarker.INF_MAX,) * width
        found = [row.key for row in seen.rows(low, high, reverse=False)]
        assert len(found) == count
        assert found == sorted(found)
        assert [row.key for row in seen.rows(high, low, reverse=True)] == found[::-1]
        for begin, end in combinations(range(count), 2):
            some_rows = seen.rows(found[begin], found[end], reverse=False)
            assert [row.key for row in some_rows] == found[begin:end]
            back = seen.rows(found[end], found[begin], reverse=True)
            assert [row.key for row in back] == found[begin + 1 : end + 1][::-1]


def test_a_field_named_as_an_own_key_column_does_not_hide_it() -> None:
    """timeseries §8; docs/protocol/differences.md, "Timeseries tables"."""
    world = Series(MemoryStore())
    table = world.create(key=("_m_name", "host"))
    series = SeriesKey("cpu", "", (("host", "h1"),))
    world.put(table, (series, 5, {"host": 1, "v": 2}))
    row = {"_m_name": "cpu", "host": "h1", "_time": 5, "v": 2}
    assert [each.values for each in world.engine.scan(table, WHOLE_TABLE)] == [row]
    (page,) = world.engine.scan_columns(table, WHOLE_TABLE, list(row), 10)
    assert [column[0] for column in page.columns] == list(row.values())
    assert world.read(table, series) == [(5, {"host": 1, "v": 2})]


def test_options_change_by_the_rules_of_the_vendor() -> None:
    """The sequences of the Java SDK's tests (timeseries §3.1)."""
    world = Series(MemoryStore())
    a, b, c = 86400, 604800, 10**7
    created = [
        ((-1, -1, True), True),
        ((-1, -1, False), True),
        ((c, -1, True), True),
        ((c, c, False), True),
        ((c, 2 * c, False), True),
        ((-1, c, True), False),
        ((c, c, True), False),
        ((-1, c, False), False),
        ((c + 1, c, False), False),
        ((100, -1, True), False),
        ((a, a, False), False),
        ((a - 1, b, False), False),
    ]
    for at, ((ttl_s, meta_ttl_s, update), good) in enumerate(created):
        asked = {"ttl_s": ttl_s, "meta_ttl_s": meta_ttl_s}
        if good:
            world.create(f"t{at}", update_attributes=update, **asked)
        else:
            with pytest.raises(InvalidRequest):
                world.create(f"t{at}", update_attributes=update, **asked)
    world.create()
    changes = [
        ((None, c, False), False),
        ((a, -1, None), False),
        ((a, None, False), False),
        ((a, None, None), True),
        ((b, None, None), True),
        ((None, -1, None), True),
        ((None, -1, False), True),
        ((None, None, True), True),
        ((None, c, False), True),
        ((None, -1, False), True),
        ((None, c, None), True),
        ((None, -1, True), True),
        ((c, None, None), True),
        ((None, 2 * c, False), True),
        ((None, None, True), False),
        ((3 * c, None, None), False),
        ((None, c - 1, None), False),
    ]
    for values, good in changes:
        before = world.engine.find("me", "t").options
        change = SeriesOptionsChange(*values)
        if good:
            world.core.run(world.engine.change_options("me", "t", change))
        else:
            with pytest.raises(InvalidRequest):
                world.core.run(world.engine.change_options("me", "t", change))
            assert world.engine.find("me", "t").options == before
    options = world.engine.find("me", "t").options
    assert (options.ttl_s, options.meta_ttl_s, options.update_attributes) == (c, 2 * c, False)


def test_a_walk_of_the_store_finds_what_must_not_be() -> None:
    def damaged(space: bytes, change: str) -> list[str]:
        world = Series(MemoryStore())
        table = world.create(lastpoints=("last",))
        world.put(table, (CPU, 1, {"v": 1, "w": "x"}))
        prefix = {b"p": row_prefix(table.id), b"m": row_prefix(table.meta_id)}.get(
            space, local_index_prefix(table.id)
        )
        pairs = list(world.store.snapshot().scan(prefix, prefix + b"\xff" * 9))
        key, record = pairs[-1 if space == b"l" else 0]
        shard = key if space == b"m" else key[:13]

        def write(txn: Transaction) -> None:
            if change == "key":
                txn.put(key + b"x", record)
            elif change == "gone":
                txn.delete(key)
            else:
                txn.put(key, record[:-1] if change == "short" else b"\x09" + record[1:])

        world.store.transact((shard,), write)
        return [each.problem for each in check_store(world.store)]

    for space in (b"p", b"m", b"s", b"l"):
        for change in ("key", "short", "kind"):
            assert damaged(space, change), (space, change)
    assert damaged(b"s", "gone")
