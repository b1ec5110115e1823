"""Metas of series: queries, changes, deletes, and puts at the same time (timeseries §4, §6)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.drivers import DRIVERS
from tests.support.strict import StrictSpace, StrictStore
from tests.unit.engine.timeseries.world import CPU, DAY, DISK, Series, of_host

from widerow.engine.ends import outcomes_of
from widerow.engine.plan import Plan, concluded
from widerow.engine.timeseries import metas as metas_module
from widerow.errors import Exhausted, InvalidRequest, Unsupported
from widerow.keys.layout import local_index_prefix
from widerow.keys.series import canonical_key, series_hash
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.requests import (
    AllOf,
    AnyOf,
    MetaChange,
    MetaComparator,
    MetaCondition,
    MetaField,
    MetaMatch,
    MetaQuery,
    MetaUpdateMode,
    NotThis,
)
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import SeriesKey, SeriesMeta
from widerow.model.timeseries.table import TimeseriesTable
from widerow.rows.series import decode_series
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeEntropy

EQUAL, PREFIX, AT_LEAST = MetaComparator.EQUAL, MetaComparator.PREFIX, MetaComparator.GREATER_EQUAL
MEASUREMENT, SOURCE, TAG = MetaField.MEASUREMENT, MetaField.SOURCE, MetaField.TAG


@pytest.fixture(params=DRIVERS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Series]:
    with request.param(tmp_path) as store:
        yield Series(store)


def metas(
    world: Series, table: TimeseriesTable, condition: MetaCondition | None = None
) -> list[SeriesMeta]:
    """All pages of a query, of three metas each."""
    found: list[SeriesMeta] = []
    query = MetaQuery(condition, limit=3)
    while True:
        page = world.engine.query_metas(table, query)
        found += page.metas
        if not page.next:
            return found
        query = query._replace(after=page.next)


def keys(
    world: Series, table: TimeseriesTable, condition: MetaCondition | None = None
) -> list[SeriesKey]:
    return [meta.key for meta in metas(world, table, condition)]


def test_a_page_ends_where_many_metas_are_looked_at_in_vain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One query does not hold its thread for a whole table; its pages lead on to what it finds."""
    monkeypatch.setattr(metas_module, "SERIES_SCAN_RECORDS_MAX", 5)
    world = Series(MemoryStore())
    table = world.create()
    world.put(table, *((of_host(number), DAY, {"f": 1}) for number in range(10, 33)))
    wanted = MetaMatch(SOURCE, EQUAL, "host32")
    pages = [world.engine.query_metas(table, MetaQuery(wanted))]
    while pages[-1].next:
        pages.append(world.engine.query_metas(table, MetaQuery(wanted, after=pages[-1].next)))
    assert [len(page.metas) for page in pages] == [0, 0, 0, 0, 1]
    assert world.engine.query_metas(table, MetaQuery(wanted, total=True)).total == 1
    monkeypatch.setattr(metas_module, "SERIES_TOTAL_RECORDS_MAX", 22)
    with pytest.raises(Exhausted) as refused:
        world.engine.query_metas(table, MetaQuery(wanted, total=True))
    assert refused.value.rule is TimeseriesRule.META_TOTAL
    monkeypatch.setattr(metas_module, "SERIES_TOTAL_RECORDS_MAX", 23)
    assert world.engine.query_metas(table, MetaQuery(total=True)).total == 23


def test_series_that_are_written_are_found_in_order_and_by_conditions(world: Series) -> None:
    table = world.create()
    some = [
        SeriesKey(f"test_{at % 3}", f"source{at}", (("tag", f"value{at % 7}"),)) for at in range(20)
    ]
    world.put(table, *[(each, 1, {"v": 1}) for each in some])
    ordered = sorted(some, key=canonical_key)
    assert keys(world, table) == ordered
    now_us = world.clock.now_us()
    cases: list[tuple[MetaCondition, Any]] = [
        (MetaMatch(MEASUREMENT, EQUAL, "test_1"), lambda k: k.measurement == "test_1"),
        (MetaMatch(MEASUREMENT, EQUAL, "test_"), lambda _: False),
        (MetaMatch(MEASUREMENT, PREFIX, "test_"), lambda _: True),
        (MetaMatch(MEASUREMENT, AT_LEAST, ""), lambda _: True),
        (MetaMatch(SOURCE, MetaComparator.LESS_THAN, "source2"), lambda k: k.source < "source2"),
        (
            MetaMatch(TAG, MetaComparator.GREATER_THAN, "value4", "tag"),
            lambda k: k.tags[0][1] > "value4",
        ),
        (MetaMatch(TAG, MetaComparator.LESS_EQUAL, "", "other"), lambda _: False),
        (MetaMatch(MetaField.UPDATE_TIME, AT_LEAST, now_us), lambda _: True),
        (
            MetaMatch(MetaField.UPDATE_TIME, MetaComparator.LESS_THAN, now_us),
            lambda _: False,
        ),
        (
            AllOf(
                (
                    MetaMatch(MEASUREMENT, EQUAL, "test_0"),
                    MetaMatch(SOURCE, PREFIX, "source1"),
                    MetaMatch(TAG, AT_LEAST, "value1", "tag"),
                )
            ),
            lambda k: (
                k.measurement == "test_0"
                and k.source.startswith("source1")
                and k.tags[0][1] >= "value1"
            ),
        ),
        (
            AllOf((MetaMatch(MEASUREMENT, EQUAL, "test_0"), MetaMatch(SOURCE, EQUAL, "source12"))),
            lambda k: k[:2] == ("test_0", "source12"),
        ),
        (
            AnyOf((MetaMatch(MEASUREMENT, EQUAL, "test_0"), MetaMatch(SOURCE, EQUAL, "source1"))),
            lambda k: k.measurement == "test_0" or k.source == "source1",
        ),
        (NotThis(MetaMatch(MEASUREMENT, EQUAL, "test_0")), lambda k: k.measurement != "test_0"),
    ]
    for condition, expected in cases:
        wanted = [each for each in ordered if expected(each)]
        assert keys(world, table, condition) == wanted, condition
        page = world.engine.query_metas(table, MetaQuery(condition, total=True, limit=2))
        assert (page.total, [m.key for m in page.metas]) == (len(wanted), wanted[:2])
    world.check()


def test_conditions_that_compare_nothing_are_refused() -> None:
    world = Series(MemoryStore())
    table = world.create()
    nested: MetaCondition = MetaMatch(SOURCE, EQUAL, "")
    for _ in range(40):
        nested = NotThis(nested)
    for condition in (
        AllOf(()),
        AnyOf((AllOf(()),)),
        MetaMatch(MetaField.UPDATE_TIME, PREFIX, 1),
        MetaMatch(MetaField.UPDATE_TIME, EQUAL, "1"),
        MetaMatch(SOURCE, EQUAL, 1),
        nested,
    ):
        with pytest.raises(InvalidRequest) as refused:
            metas(world, table, condition)
        assert refused.value.rule is TimeseriesRule.META_CONDITION
    with pytest.raises(InvalidRequest):
        world.engine.query_metas(table, MetaQuery(after=b"?"))
    with pytest.raises(Unsupported):
        metas(world, world.create("other", meta_index=False))


def test_attributes_are_kept_replaced_and_cleared(world: Series) -> None:
    table = world.create()
    changes = [MetaChange(CPU, (("a", "1"),)), MetaChange(DISK)]
    assert world.core.run(world.engine.change_metas(table, changes)) == {}
    assert [(m.key, m.attributes) for m in metas(world, table)] == [
        (CPU, (("a", "1"),)),
        (DISK, ()),
    ]
    by_attribute = MetaMatch(MetaField.ATTRIBUTE, EQUAL, "1", "a")
    assert keys(world, table, by_attribute) == [CPU]
    world.clock.advance(5)
    world.core.run(world.engine.change_metas(table, [MetaChange(CPU)]))
    (cpu, disk) = metas(world, table)
    assert (cpu.attributes, cpu.updated_us - disk.updated_us) == ((("a", "1"),), 5_000_000)
    world.put(table, (CPU, 1, {"v": 1}))
    assert metas(world, table)[0] == cpu
    world.core.run(world.engine.change_metas(table, [MetaChange(CPU, ())]))
    assert metas(world, table)[0].attributes == ()
    for wrong in ([], [MetaChange(CPU)] * 201, [MetaChange(CPU, (("a", ""),))]):
        with pytest.raises(InvalidRequest):
            world.engine.change_metas(table, wrong)
    world.check()


def test_attributes_may_be_fixed() -> None:
    world = Series(MemoryStore())
    table = world.create(update_attributes=False)
    with pytest.raises(InvalidRequest) as refused:
        world.engine.change_metas(table, [MetaChange(DISK), MetaChange(CPU, ())])
    assert refused.value.rule is TimeseriesRule.ATTRIBUTES_FIXED
    world.core.run(world.engine.change_metas(table, [MetaChange(DISK)]))
    assert keys(world, table) == [DISK]


def test_a_put_refreshes_a_meta_after_an_hour(world: Series) -> None:
    table = world.create()
    world.put(table, (CPU, 1, {"v": 1}))
    before = metas(world, table)[0].updated_us
    world.clock.advance(3500)
    world.put(table, (CPU, 2, {"v": 1}))
    assert metas(world, table)[0].updated_us == before
    world.clock.advance(200)
    result = world.put(table, (CPU, 3, {"v": 1}))
    after = metas(world, table)[0].updated_us
    assert after == world.clock.now_us() > before
    assert result.metas == {0: after // 1_000_000}


def test_a_put_may_leave_metas_alone(world: Series) -> None:
    table = world.create()
    result = world.put(table, (CPU, 1, {"v": 1}), mode=MetaUpdateMode.IGNORE)
    assert (result.metas, keys(world, table)) == ({}, [])
    assert world.read(table, CPU) == [(1, {"v": 1})]
    world.put(table, (CPU, 2, {"v": 1}))
    assert keys(world, table) == [CPU]


def test_a_deleted_meta_leaves_points_and_comes_back_with_the_next_put(world: Series) -> None:
    table = world.create()
    world.put(table, (CPU, 1, {"v": 1}), (DISK, 1, {"v": 1}))
    assert world.core.run(world.engine.delete_metas(table, [CPU, of_host(9)])) == {}
    assert keys(world, table) == [DISK]
    assert world.read(table, CPU) == [(1, {"v": 1})]
    world.put(table, (CPU, 2, {"v": 1}))
    assert keys(world, table) == [CPU, DISK]
    world.check()


def test_metas_expire_and_are_swept(world: Series) -> None:
    table = world.create(ttl_s=DAY, meta_ttl_s=7 * DAY, update_attributes=False)
    world.put(table, (CPU, world.clock.now_us(), {"v": 1}))
    world.clock.advance(6 * DAY)
    world.clean(23)
    assert keys(world, table) == [CPU]
    world.clock.advance(3601)
    assert keys(world, table) == []
    world.clean(12)
    world.check()
    for prefix in (b"\x10", b"\x13"):  # of the table's points, series and metas nothing is left
        assert list(world.store.snapshot().scan(prefix, prefix + b"\xff")) == []


# --- puts and deletes at the same time --------------------------------------------------------


def steps(world: Series, plan: Plan[Any]) -> Iterator[None]:
    """Commit a plan one group at a time; others come in between."""
    answer: Any = plan
    while isinstance(answer, Plan):
        yield
        answer = concluded(answer, outcomes_of(answer, world.store.transact_group))


STARTS = ("unknown", "written", "without meta", "deleted")


@given(st.sampled_from(STARTS), st.lists(st.integers(0, 2), max_size=16), st.booleans())
def test_a_put_behind_a_delete_has_a_meta_whatever_was_under_way(
    start: str,
    turns: list[int],
    shared: bool,  # noqa: FBT001  # what a strategy draws
) -> None:
    store = StrictStore(StrictSpace(), FakeEntropy(1)) if shared else MemoryStore()
    world = Series(store)
    table = world.create()
    if start != "unknown":
        mode = MetaUpdateMode.IGNORE if start == "without meta" else MetaUpdateMode.NORMAL
        world.put(table, (CPU, 1, {"v": 1}), mode=mode)
    if start == "deleted":
        world.core.run(world.engine.delete_metas(table, [CPU]))

    def put(at: int) -> Plan[Any]:
        return world.engine.put(table, [Point(CPU, at, {"v": at})], MetaUpdateMode.NORMAL)

    actors = [steps(world, put(2)), steps(world, put(3))]
    actors.append(steps(world, world.engine.delete_metas(table, [CPU])))
    for turn in [*turns, *[0] * 20, *[1] * 20, *[2] * 20]:
        next(actors[turn], None)
    has_meta = keys(world, table) == [CPU]
    (record,) = [
        decode_series(found)
        for _, found in store.snapshot().scan(
            local_index_prefix(table.id) + series_hash(canonical_key(CPU)),
            local_index_prefix(table.id) + b"\xff" * 9,
        )
    ]
    assert has_meta or not record.refreshed_us
    world.put(table, (CPU, 4, {"v": 4}))
    assert keys(world, table) == [CPU]
    assert [at for at, _ in world.read(table, CPU)][-3:] == [2, 3, 4]
