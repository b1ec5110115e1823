"""Last-point indexes, and names that tables share (timeseries §2, §10)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.drivers import DRIVERS
from tests.support.changes import create
from tests.unit.engine.timeseries.test_metas import steps
from tests.unit.engine.timeseries.world import CPU, DAY, DISK, Series, of_host

from widerow.engine.tablestore.plug import TABLESTORE
from widerow.engine.timeseries.lastpoints import LastpointRow
from widerow.errors import Conflict, Exhausted, NotFound
from widerow.model.tablestore.requests import CreateTable
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.requests import MetaUpdateMode
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import SeriesKey, tags_of_text
from widerow.model.values import KeyMarker, KeyType, Value
from widerow.storage.memory import MemoryStore

LOWEST = (KeyMarker.INF_MIN,) * 4
HIGHEST = (KeyMarker.INF_MAX,) * 4


@pytest.fixture(params=DRIVERS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Series]:
    with request.param(tmp_path) as store:
        yield Series(store)


def rows(world: Series, name: str = "last") -> list[LastpointRow]:
    indexed = world.engine.find_lastpoint("me", name)
    assert indexed is not None
    return list(world.engine.lastpoint_rows(indexed, LOWEST, HIGHEST))


def newest(world: Series, name: str = "last") -> dict[SeriesKey, dict[str, tuple[Value, int]]]:
    return {series_of_row(row): dict(row.cells) for row in rows(world, name)}


def series_of_row(row: LastpointRow) -> SeriesKey:
    _, measurement, source, tags = row.key
    return SeriesKey(measurement, source, tags_of_text(tags))


def test_an_index_has_the_newest_value_of_each_field(world: Series) -> None:
    table = world.create(lastpoints=("last",))
    world.put(
        table, (CPU, 50, {"a": 1, "b": 1}), (CPU, 30, {"a": 0, "c": True}), (DISK, 7, {"a": 2})
    )
    world.put(table, (CPU, 40, {"b": 0, "d": "x"}), (CPU, 60, {"e": 0.5}))
    world.put(table, (CPU, 50, {"a": 9}))
    cells = {"_time": (60, 60), "a": (9, 50), "b": (1, 50), "c": (True, 30), "d": ("x", 40)}
    assert newest(world) == {
        CPU: {**cells, "e": (0.5, 60)},
        DISK: {"_time": (7, 7), "a": (2, 7)},
    }
    found = rows(world)
    assert list(found[0].cells) == sorted(found[0].cells)
    assert found[0].key == (
        *(world.engine.hash_of(series_of_row(found[0])), *series_of_row(found[0])[:2]),
        '["os=linux","region=eu"]' if series_of_row(found[0]) == CPU else "[]",
    )
    world.check()


def test_rows_are_read_between_keys_in_both_directions(world: Series) -> None:
    table = world.create(lastpoints=("last", "other"))
    world.put(table, *[(of_host(at), at, {"v": at}) for at in range(20)])
    indexed = world.engine.find_lastpoint("me", "last")
    assert indexed is not None
    everything = rows(world)
    assert [row.key for row in everything] == sorted(row.key for row in everything)
    read = world.engine.lastpoint_rows
    for low, high in ((0, 20), (3, 11), (5, 6)):
        start = everything[low].key
        end = everything[high].key if high < 20 else HIGHEST
        assert list(read(indexed, start, end)) == everything[low:high]
        back = list(read(indexed, end, start, reverse=True))
        assert back == everything[low + 1 : high + 1][::-1]
    digest = everything[4].key[0]
    cases = ((digest[:3], 4), (digest + "0", 5), (digest[:-1] + "~", 5), ("", 0), ("zz", 20))
    for text, first in cases:
        near = (text, *LOWEST[1:])
        assert list(read(indexed, near, HIGHEST)) == everything[first:]
        assert list(read(indexed, HIGHEST, near, reverse=True)) == everything[first:][::-1]
    for row in everything:
        assert world.engine.lastpoint_row(indexed, row.key) == row
        assert world.engine.lastpoint_row(indexed, (*row.key[:3], "[]")) is None


def test_an_index_is_built_from_points_that_are_there(world: Series) -> None:
    table = world.create()
    for at in range(5):
        world.put(table, *[(of_host(host), at, {f"f{at % 2}": at}) for host in range(8)])
    add = world.engine.add_lastpoint
    world.core.run(add("me", "t", "without", include_base=False))
    world.core.run(add("me", "t", "last", include_base=True))
    shared = world.store.capabilities.shared
    if shared:
        with pytest.raises(Conflict) as refused:
            rows(world)
        assert refused.value.rule is TimeseriesRule.LASTPOINT_BUILDING
    world.put(table, (of_host(3), 2, {"f0": 9, "f2": 9}))
    world.clean(2 * shared)
    expected: dict[SeriesKey, dict[str, tuple[Value, int]]] = {
        of_host(host): {"_time": (4, 4), "f0": (4, 4), "f1": (3, 3)} for host in range(8)
    }
    expected[of_host(3)]["f2"] = (9, 2)
    assert newest(world) == expected
    assert newest(world, "without") == {of_host(3): {"_time": (2, 2), "f0": (9, 2), "f2": (9, 2)}}
    world.check()
    world.core.run(world.engine.drop_lastpoint("me", "t", "last"))
    assert world.engine.find_lastpoint("me", "last") is None
    with pytest.raises(NotFound):
        world.engine.drop_lastpoint("me", "t", "last")
    world.check()
    world.clean(3)
    world.check()
    assert len(list(world.store.snapshot().scan(b"\x13", b"\x14"))) == 8 + 1


def test_last_points_expire_with_the_points() -> None:
    world = Series(MemoryStore())
    table = world.create(ttl_s=DAY, lastpoints=("last",))
    now_us = world.clock.now_us()
    world.put(table, (CPU, now_us, {"v": 1}), (DISK, now_us - DAY * 900_000, {"v": 1}))
    assert set(newest(world)) == {CPU, DISK}
    world.clock.advance(DAY // 2)
    assert set(newest(world)) == {CPU}
    world.clean(40)
    assert list(world.store.snapshot().scan(b"\x13", b"\x14")) == []
    world.check()


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.integers(0, 9),
            st.dictionaries(st.sampled_from("abc"), st.integers(0, 3), min_size=1),
        ),
        max_size=12,
    ),
    st.integers(0, 12),
    st.lists(st.booleans(), max_size=30),
)
def test_a_build_beside_writers_has_what_an_index_from_the_beginning_has(
    points: list[tuple[int, int, dict[str, Value]]], begin: int, turns: list[bool]
) -> None:
    world = Series(MemoryStore())
    table = world.create(lastpoints=("first",))
    made = [Point(of_host(host), at, fields) for host, at, fields in points]
    for each in made[:begin]:
        world.core.run(world.engine.put(table, [each], MetaUpdateMode.NORMAL))
    build = steps(world, world.engine.add_lastpoint("me", "t", "last", include_base=True))
    writers = iter(made[begin:])
    for writes in turns:
        if not writes:
            next(build, None)
        elif (point := next(writers, None)) is not None:
            world.core.run(world.engine.put(table, [point], MetaUpdateMode.NORMAL))
    for _ in build:
        pass
    assert newest(world) == newest(world, "first")
    world.check()


def data_table(name: str) -> CreateTable:
    return create(name, {"k": KeyType.STRING})


def test_names_are_shared_with_data_tables_and_among_indexes() -> None:
    world = Series(MemoryStore())
    tables = world.core.operations(TABLESTORE)
    world.core.run(tables.create_table("me", data_table("data")))
    world.create("series", lastpoints=("last",))
    for name in ("data", "series", "last"):
        with pytest.raises(Conflict):
            world.create(name)
        with pytest.raises(Conflict):
            world.create("fresh", lastpoints=(name,))
        with pytest.raises(Conflict):
            world.core.run(world.engine.add_lastpoint("me", "series", name, include_base=False))
        with pytest.raises(Conflict):
            world.core.run(tables.create_table("me", data_table(name)))
    with pytest.raises(Conflict):
        world.create("fresh", lastpoints=("fresh",))
    world.core.run(world.engine.drop("me", "series"))
    world.core.run(tables.create_table("me", data_table("last")))
    world.create("fresh", lastpoints=("series",))
    other = Series(world.store)
    with pytest.raises(Conflict):
        other.create("last")
    for at in range(9):
        add = world.engine.add_lastpoint("me", "fresh", f"i{at}", include_base=False)
        world.core.run(add)
    with pytest.raises(Exhausted):
        world.core.run(world.engine.add_lastpoint("me", "fresh", "i9", include_base=False))
    world.check()
