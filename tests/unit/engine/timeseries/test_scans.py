"""Splits, scans of them, and points as rows (timeseries §7, §8, §12)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conformance.drivers import DRIVERS
from tests.unit.engine.timeseries.world import DAY, Series, of_host

from widerow.engine.scan import WHOLE_TABLE, Bound, RowAccess, columns_of_rows
from widerow.errors import InvalidRequest, NotFound
from widerow.model.timeseries.points import StoredPoint
from widerow.model.timeseries.requests import MetaUpdateMode, PointScan
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import SeriesKey
from widerow.model.timeseries.table import FieldKey, TimeseriesTable
from widerow.model.values import ColumnType, KeyType, Value
from widerow.storage.memory import MemoryStore

HOSTS = [of_host(at, f"m{at % 3}") for at in range(30)]


@pytest.fixture(params=DRIVERS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Series]:
    with request.param(tmp_path) as store:
        yield Series(store)


def filled(world: Series) -> TimeseriesTable:
    table = world.create()
    for at in range(10, 40, 10):
        points = [(host, at, {"v": at, "w": float(at)}) for host in HOSTS]
        world.put(table, *points, mode=MetaUpdateMode.IGNORE)
    return table


def scanned(world: Series, table: TimeseriesTable, scan: PointScan) -> list[StoredPoint]:
    found: list[StoredPoint] = []
    while True:
        page = world.engine.scan_points(table, scan)
        found += page.points
        assert len(page.points) <= scan.limit
        if not page.next:
            return found
        scan = scan._replace(after=page.next)


def test_the_splits_of_a_scan_have_every_point_once(world: Series) -> None:
    table = filled(world)
    everything = {(host, at) for host in HOSTS for at in (10, 20, 30)}
    cases = [
        (None, None, None, everything),
        (None, 20, None, {each for each in everything if each[1] >= 20}),
        (None, 11, 30, {each for each in everything if each[1] == 20}),
        ("m1", None, None, {each for each in everything if each[0].measurement == "m1"}),
        ("m", None, 30, set()),
    ]
    for count in (1, 7, 300):
        for measurement, begin, end, expected in cases:
            splits = world.engine.splits(table, measurement, count)
            assert len(splits) == min(count, 256)
            scan = PointScan(begin_us=begin, end_us=end, limit=4)
            found = [
                (point.series, point.time_us)
                for split in splits
                for point in scanned(world, table, scan._replace(split=split))
            ]
            assert len(found) == len(expected)
            assert set(found) == expected
    assert len(scanned(world, table, PointScan())) == len(everything)
    chosen = PointScan(fields={"v": ColumnType.INTEGER, "w": ColumnType.INTEGER}, limit=50)
    assert {tuple(point.fields.items()) for point in scanned(world, table, chosen)} == {
        (("v", at),) for at in (10, 20, 30)
    }
    assert scanned(world, table, PointScan(fields={"x": None})) == []


def test_splits_and_positions_are_checked_when_they_are_read() -> None:
    world = Series(MemoryStore())
    table = filled(world)
    other = world.create("other")
    (whole,) = world.engine.splits(table, None, 1)
    first, second = world.engine.splits(table, None, 2)
    position = world.engine.scan_points(table, PointScan(second, limit=1)).next
    for scan, rule in (
        (PointScan(world.engine.splits(other, None, 1)[0]), TimeseriesRule.SPLIT),
        (PointScan(whole[:-1]), TimeseriesRule.SPLIT),
        (PointScan(whole + b"m"), TimeseriesRule.SPLIT),
        (PointScan(b"\x02" + whole[1:]), TimeseriesRule.SPLIT),
        (PointScan(first, after=position), TimeseriesRule.POSITION),
        (PointScan(second, after=position[1:]), TimeseriesRule.POSITION),
        (PointScan(begin_us=5, end_us=5), TimeseriesRule.TIME_RANGE),
    ):
        with pytest.raises(InvalidRequest) as refused:
            world.engine.scan_points(table, scan)
        assert refused.value.rule is rule
    with pytest.raises(InvalidRequest):
        world.engine.splits(table, None, 0)


def test_points_are_rows_with_the_columns_of_their_series(world: Series) -> None:
    table = filled(world)
    rows = list(world.engine.scan(table, WHOLE_TABLE))
    order = [(world.engine.hash_of(host), at) for host in HOSTS for at in (10, 20, 30)]
    by_hash = {world.engine.hash_of(host): host for host in HOSTS}
    expected = [
        {
            "_m_name": by_hash[digest].measurement,
            "_data_source": by_hash[digest].source,
            "_tags": '["os=linux"]',
            "_time": at,
            "v": at,
            "w": float(at),
        }
        for digest, at in sorted(order)
    ]
    assert [row.values for row in rows] == expected
    backwards = RowAccess(reverse=True)
    assert [row.values for row in world.engine.scan(table, backwards)] == expected[::-1]
    for access, rest in ((WHOLE_TABLE, expected[8:]), (backwards, expected[::-1][8:])):
        seventh = list(world.engine.scan(table, access))[7]
        found = world.engine.scan(table, access, seventh.position)
        assert [row.values for row in found] == rest
    digest, _ = sorted(order)[4]
    between = RowAccess(low=Bound((digest, 20)), high=Bound((digest,)))
    assert [row.values["_time"] for row in world.engine.scan(table, between)] == [20, 30]
    names = ("_time", "w", "_m_name", "none")
    plain = list(columns_of_rows(iter(rows), names, 3))
    pages = list(world.engine.scan_columns(table, WHOLE_TABLE, names, 3))
    assert [(p.rows, p.columns) for p in pages] == [(p.rows, p.columns) for p in plain]
    with pytest.raises(NotFound):
        next(world.engine.scan(table, RowAccess(index="i")))
    with pytest.raises(InvalidRequest):
        next(world.engine.scan(table, RowAccess(low=Bound(("zz",)))))


def test_expired_points_are_in_no_scan(world: Series) -> None:
    table = world.create(ttl_s=DAY)
    now_us = world.clock.now_us()
    world.put(
        table, *[(host, now_us - at * 1_000_000, {"v": 1}) for host in HOSTS for at in (0, 9)]
    )
    world.put(table, (HOSTS[0], 5, {"v": 1}))
    assert len(scanned(world, table, PointScan(limit=7))) == 60
    world.clock.advance(DAY - 5)
    assert len(scanned(world, table, PointScan(limit=7))) == 30
    assert len(list(world.engine.scan(table, WHOLE_TABLE))) == 30
    assert len(world.read(table, HOSTS[0])) == 1
    world.clean(6)
    assert len(list(world.store.snapshot().scan(b"\x10", b"\x11"))) == 30  # the metas
    world.check()


def test_a_table_names_the_columns_of_its_key_and_of_its_points(world: Series) -> None:
    key_fields = (FieldKey("cores", KeyType.INTEGER), FieldKey("frequency", KeyType.STRING))
    table = world.create(key=("_m_name", "region", "_tags"), field_keys=key_fields)
    series = SeriesKey("cpu", "", (("a", "1"), ("region", "eu")))
    points: list[tuple[SeriesKey, int, dict[str, Value]]] = [
        (series, 5, {"cores": 8, "frequency": f"{at}GHz", "load1": at / 2}) for at in range(9)
    ]
    world.put(table, *points[::-1])
    page = world.engine.scan_points(table, PointScan())
    assert [(point.keys, point.fields) for point in page.points] == [
        ((8, f"{at}GHz"), {"load1": at / 2}) for at in range(9)
    ]
    row = next(world.engine.scan(table, WHOLE_TABLE)).values
    assert row == {
        "_m_name": "cpu",
        "region": "eu",
        "_tags": '["a=1"]',
        "_time": 5,
        "cores": 8,
        "frequency": "0GHz",
        "load1": 0.0,
    }
    good: dict[str, Value] = {"cores": 1, "frequency": "", "load1": 1}
    refusals: list[tuple[SeriesKey, dict[str, Value], TimeseriesRule]] = [
        (series, {"cores": 8, "load1": 1}, TimeseriesRule.FIELD_KEY_MISSING),
        (series, {**good, "cores": "8"}, TimeseriesRule.FIELD_KEY_TYPE),
        (series, {"cores": 8, "frequency": ""}, TimeseriesRule.FIELD_COUNT),
        (series._replace(source="s"), good, TimeseriesRule.KEY_COLUMNS),
        (series._replace(tags=(("a", "1"),)), good, TimeseriesRule.KEY_COLUMNS),
    ]
    for wrong, fields, rule in refusals:
        with pytest.raises(InvalidRequest) as refused:
            world.put(table, (wrong, 1, fields))
        assert refused.value.rule is rule
    world.check()
