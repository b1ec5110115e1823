"""Points of series: put, merged, read page by page (timeseries §4, §5)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.drivers import DRIVERS
from tests.unit.engine.timeseries.world import CPU, DISK, Series, of_host

from widerow.engine.partitions.walk import Walk
from widerow.engine.timeseries.model import TIMESERIES_MODEL
from widerow.errors import InvalidRequest, NotFound
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.requests import MetaUpdateMode, PointQuery
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.table import FieldKey
from widerow.model.values import ColumnType, KeyType, Value, column_type
from widerow.rows.points import FieldShape, Layout, PackedPoint


def packed(point: Point) -> PackedPoint:
    """The point as it is read of a FlatBuffer."""
    names = tuple(point.fields)
    types = {name: column_type(value) for name, value in point.fields.items()}
    ordered = sorted(names)
    layout = Layout(tuple(ordered), tuple(types[name] for name in ordered))
    values = layout.pack([point.fields[name] for name in ordered])
    shape = FieldShape(names, tuple(types.values()))
    return PackedPoint(point.series, point.time_us, shape, values)


@pytest.fixture(params=DRIVERS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Series]:
    with request.param(tmp_path) as store:
        yield Series(store)


def test_points_are_read_in_the_order_of_time_and_reversed(world: Series) -> None:
    table = world.create()
    fields: dict[str, Value] = {
        "whole": -5,
        "real": 0.5,
        "yes": True,
        "text": '温度 \t\n"',
        "blob": b"\x00\xff",
    }
    result = world.put(table, (CPU, 30, fields), (DISK, 10, {"a": 1}), (CPU, 20, {"real": 1.0}))
    assert result.failed == {}
    now_s = world.clock.now_us() // 1_000_000
    assert result.metas == {0: now_s, 1: now_s}
    expected = [(20, {"real": 1.0}), (30, fields)]
    assert world.read(table, CPU) == expected
    assert world.read(table, CPU, backward=True) == expected[::-1]
    assert list(world.read(table, CPU)[1][1]) == sorted(fields)
    assert world.read(table, of_host(7)) == []
    world.check()


def test_pages_lead_on_in_both_directions(world: Series) -> None:
    table = world.create()
    world.put(table, *[(CPU, at, {"v": at}) for at in range(19)])
    for backward in (False, True):
        query = PointQuery(CPU, 2, 18, backward=backward, limit=10)
        first = world.engine.read(table, query)
        rest = world.engine.read(table, query._replace(after=first.next))
        times = [point.time_us for page in (first, rest) for point in page.points]
        assert times == sorted(range(2, 18), reverse=backward)
        assert [len(first.points), len(rest.points), rest.next] == [10, 6, b""]
        turned = query._replace(after=first.next, backward=not backward)
        for wrong in (turned, query._replace(after=b"\x01f"), query._replace(end_us=2)):
            with pytest.raises(InvalidRequest):
                world.engine.read(table, wrong)


def test_a_point_that_is_there_keeps_the_fields_that_are_not_given(world: Series) -> None:
    table = world.create()
    world.put(table, (CPU, 5, {"a": 1, "b": "x"}), (CPU, 9, {"a": 1}), (CPU, 5, {"b": 2.5}))
    assert world.read(table, CPU) == [(5, {"a": 1, "b": 2.5}), (9, {"a": 1})]
    world.put(table, (CPU, 5, {"c": True, "a": 7}), (CPU, 9, {"a": "text"}))
    assert world.read(table, CPU) == [(5, {"a": 7, "b": 2.5, "c": True}), (9, {"a": "text"})]
    world.check()


def test_a_field_of_another_type_is_left_out(world: Series) -> None:
    table = world.create()
    world.put(table, (CPU, 1, {"a": 1, "b": 2.0}), (CPU, 2, {"c": True}))
    wanted = {"a": ColumnType.INTEGER, "b": ColumnType.STRING, "c": None}
    assert world.read(table, CPU, fields=wanted) == [(1, {"a": 1}), (2, {"c": True})]
    assert world.read(table, CPU, fields={"b": ColumnType.STRING}) == []


def test_points_of_a_dropped_table_are_refused_and_gone(world: Series) -> None:
    table = world.create()
    world.put(table, (CPU, 1, {"a": 1}))
    world.core.run(world.engine.drop("me", "t"))
    with pytest.raises(NotFound):
        world.put(table, (CPU, 2, {"a": 1}))
    with pytest.raises(NotFound):
        world.engine.find("me", "t")
    assert world.read(world.create(), CPU) == []
    world.clean()
    world.check()


def test_rules_of_points_are_kept(world: Series) -> None:
    table = world.create()
    good = {"a": 1}
    bad: list[tuple[list[Any], TimeseriesRule]] = [
        ([], TimeseriesRule.POINT_COUNT),
        ([(CPU, 1, good)] * 201, TimeseriesRule.POINT_COUNT),
        ([(CPU, -1, good)], TimeseriesRule.POINT_TIME),
        ([(CPU, 1, {})], TimeseriesRule.FIELD_COUNT),
        ([(CPU, 1, {f"f{at}": 1 for at in range(1025)})], TimeseriesRule.FIELD_COUNT),
        ([(CPU, 1, {"A": 1})], TimeseriesRule.FIELD_NAME),
        ([(CPU, 1, {"_time": 1})], TimeseriesRule.FIELD_NAME),
        ([(CPU, 1, {"a": 2**63})], TimeseriesRule.FIELD_NUMBER),
        ([(CPU, 1, {"a": "x" * (2 * 1024 * 1024 + 1)})], TimeseriesRule.FIELD_LENGTH),
        ([(CPU._replace(measurement="aa bb"), 1, good)], TimeseriesRule.MEASUREMENT),
        ([(CPU._replace(measurement=""), 1, good)], TimeseriesRule.MEASUREMENT),
        ([(CPU._replace(source="x" * 257), 1, good)], TimeseriesRule.DATA_SOURCE),
        ([(CPU._replace(tags=(("a=", "b"),)), 1, good)], TimeseriesRule.TAG_NAME),
        ([(CPU._replace(tags=(("a", ""),)), 1, good)], TimeseriesRule.TAG_VALUE),
        ([(CPU._replace(tags=(("a", "x" * 1024),)), 1, good)], TimeseriesRule.TAGS_LENGTH),
    ]
    for points, rule in bad:
        made = [Point(*each) for each in points]
        with pytest.raises(InvalidRequest) as refused:
            world.engine.put(table, made, MetaUpdateMode.NORMAL)
        assert refused.value.rule is rule
        if rule is TimeseriesRule.FIELD_NUMBER:
            continue  # no FlatBuffer has such a number
        with pytest.raises(InvalidRequest) as packed_refused:
            world.engine.put(table, list(map(packed, made)), MetaUpdateMode.NORMAL)
        assert packed_refused.value.rule is rule
        assert packed_refused.value.details == refused.value.details
    assert world.read(table, CPU) == []
    for name in ("温度", "温度.abc", "123Test", "_@?%$A"):
        world.put(table, (CPU._replace(measurement=name), 1, good), mode=MetaUpdateMode.IGNORE)
    world.check()


def test_packed_points_are_stored_as_others(world: Series) -> None:
    """timeseries §4, §8: also points of one time, points that are there, and key fields."""
    fields: dict[str, Value] = {"z": -5, "a": 0.5, "b": True, "text": "温度", "k": 7, "blob": b"\0"}
    points = [
        Point(CPU, 30, fields),
        Point(DISK, 10, {"k": 1, "a": 1}),
        Point(CPU, 20, {"k": 1, "a": 1.0}),
        Point(CPU, 20, {"k": 1, "b": False}),
        Point(CPU, 30, {"k": 7, "a": "x"}),
    ]
    field_keys = (FieldKey("k", KeyType.INTEGER),)
    tables = [
        world.create("plain"),
        world.create("keyed", field_keys=field_keys),
    ]
    for table in tables:
        found = []
        for made in (points, list(map(packed, points))):
            for _ in range(2):
                plan = world.engine.put(table, made, MetaUpdateMode.NORMAL)
                assert world.core.run(plan).failed == {}
                found.append((world.read(table, CPU), world.read(table, DISK)))
        assert found[0] == found[1] == found[2] == found[3]
        assert [time_us for time_us, _ in found[0][0]] == [20, 30]
    missing, wrong = Point(CPU, 1, {"a": 1}), Point(CPU, 1, {"k": "x", "a": 1})
    for point, rule in (
        (missing, TimeseriesRule.FIELD_KEY_MISSING),
        (wrong, TimeseriesRule.FIELD_KEY_TYPE),
        (Point(CPU, 1, {"k": 1}), TimeseriesRule.FIELD_COUNT),
    ):
        with pytest.raises(InvalidRequest) as refused:
            world.engine.put(tables[1], [packed(point)], MetaUpdateMode.NORMAL)
        assert refused.value.rule is rule
    world.check()


def test_points_are_measured_as_rows_are(world: Series) -> None:
    """Whatever fields points have, a walk that looks for splits counts each."""
    table = world.create()
    kinds: list[dict[str, Value]] = [{"l": 1}, {"d": 0.5}, {"s": "x"}, {"b": True}, {"d": 1.5}]
    world.put(table, *[(CPU, at, fields) for at, fields in enumerate(kinds)])
    walk = Walk(table.id, TIMESERIES_MODEL.partition_key(table).end, b"", None, 1 << 20)
    assert walk.step(world.store.snapshot())
    assert [piece.rows for piece in walk.found] == [len(kinds)]
