"""Timeseries tables in the console (docs/operating/console.md#timeseries)."""

import json
import math
from collections.abc import Iterator
from typing import Final

import pytest
from tests.console import stocked
from tests.console.conftest import Asker, Json
from tests.console.stocked import INSTANCE, METERS

from widerow.model.timeseries.points import Point
from widerow.model.timeseries.requests import MetaUpdateMode, TableRequest
from widerow.model.timeseries.series import SeriesKey
from widerow.model.timeseries.table import FieldKey, TimeseriesOptions
from widerow.model.values import KeyType
from widerow.testing.server import WiderowServer

AT: Final = {"instance": INSTANCE, "table": METERS, "model": "timeseries"}


@pytest.fixture(scope="module")
def server() -> Iterator[WiderowServer]:
    with WiderowServer(instance=INSTANCE) as started:
        stocked.stock_points(started)
        yield started


def test_the_overview_lists_timeseries_tables_with_their_model(asker: Asker) -> None:
    found = asker.read("index")["instances"]
    assert [(each["model"], each["tables"][0]["name"]) for each in found] == [
        ("timeseries", METERS)
    ]
    page = asker.get("").text
    assert "Tablestore timeseries" in page
    assert "/console/table?instance=campus&amp;table=meters&amp;model=timeseries" in page
    assert INSTANCE in asker.read("create")["instances"]


def test_a_timeseries_table_shows_key_options_indexes_stores_and_partitions(asker: Asker) -> None:
    found = asker.read("table", **AT)
    assert [(each["name"], each["part"]) for each in found["key"]] == [
        *[(name, "series") for name in ("_m_name", "_data_source", "_tags")],
        ("_time", "time"),
    ]
    assert found["options"]["time_to_live"] == -1
    assert found["options"]["meta_index"]
    assert found["lastpoints"] == [{"name": "newest", "ready": True}]
    assert [(each["name"], each["time_to_live"]) for each in found["stores"]] == [
        ("years", 2_592_000)
    ]
    assert found["size"]["partitions"] == len(found["partitions"]) == 1
    page = asker.get("table", **AT).text
    for words in ("Last-point indexes", "newest", "Analytical stores", "30 d", "for ever"):
        assert words in page
    assert asker.get("heat", **AT).status == 200


def test_a_timeseries_table_is_not_dropped_here(asker: Asker) -> None:
    assert not asker.read("table", **AT)["may_drop"]
    path = f"table?instance={INSTANCE}&table={METERS}&model=timeseries"
    refused = asker.post(path, {"confirm": METERS, "csrf": asker.token("create")})
    assert (refused.status, "DeleteTimeseriesTable" in refused.text) == (405, True)
    assert asker.get("table", **AT).status == 200


SERIES: Final = {**AT, "measurement": "cpu", "source": "rack-7", "tags": "host=web-1, region=eu"}
DAY: Final = {"from": "2026-09-21 14:13:20", "to": "2026-09-21T14:15Z"}


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ({}, 21),
        ({"measurement": "cpu"}, 11),
        ({"measurement": "di*"}, 10),
        ({"source": "rack-7"}, 1),
        ({"tags": "host=db-1*"}, 10),
        ({"measurement": "cpu", "tags": "host=web-1, region=e*"}, 1),
        ({"tags": '["host=web-1","region=eu"]'}, 1),
        ({"measurement": "c"}, 0),
    ],
)
def test_series_are_found_by_measurement_source_and_tags(
    asker: Asker, asked: Json, count: int
) -> None:
    assert len(asker.read("series", **AT, **asked, limit=100)["series"]) == count


def test_pages_of_series_have_every_series_once_and_lead_to_its_points(asker: Asker) -> None:
    seen: list[str] = []
    found = asker.read("series", **AT, limit=8)
    while found["more"]:
        seen += [each["points"] for each in found["series"]]
        path = found["more"].removeprefix("/console").replace("/series?", "/series.json?")
        found = asker.ask("GET", path).document
    seen += [each["points"] for each in found["series"]]
    assert len(seen) == len(set(seen)) == 21
    for each in seen[:3]:
        path = each.removeprefix("/console").replace("/points?", "/points.json?")
        assert asker.ask("GET", path).document["rows"]
    assert f'href="{seen[0].replace("&", "&amp;")}"'[:60] in asker.get("series", **AT).text
    assert asker.read("rows", **AT)["moved"].startswith("/console/series?")


def test_a_series_is_drawn_with_its_spike_its_gap_and_axes(asker: Asker) -> None:
    found = asker.read("points", **SERIES)
    assert found["drawn"]["points"] == 1900
    assert [each["field"] for each in found["charts"]] == ["processes", "usage"]
    usage = found["charts"][1]
    assert 100 < len(usage["marks"]) <= 320
    assert max(each["value"] for each in usage["marks"]) == 100.0
    assert usage["path"].count("M") == 2  # a hundred points are missing
    assert [each["text"] for each in usage["ticks"]] == ["0", "50", "100"]
    assert [each["text"] for each in found["times"]] == ["16:00", "18:00"]
    page = asker.get("points", **SERIES).text
    assert "<title>2026-09-21 17:39:00: 100.0</title>" in page
    assert 'style="' not in page


def test_points_of_a_time_and_of_chosen_fields(asker: Asker) -> None:
    found = asker.read("points", **SERIES, **DAY, **{"show.state": 1, "show.up": 1})
    assert [each["time"] for each in found["rows"]][::9] == [
        "2026-09-21 14:14:50",
        "2026-09-21 14:13:20",
    ]
    assert [each["name"] for each in found["columns"]] == ["state", "up"]
    assert found["charts"] == []
    assert {each["name"] for each in found["known"]} == {"processes", "state", "up", "usage"}


def test_pages_of_points_have_every_point_once_below_the_same_picture(asker: Asker) -> None:
    times: list[int] = []
    found = asker.read("points", **SERIES, to="2026-09-21 14:40", limit=100)
    drawn = found["drawn"]
    while True:
        times += [each["time_us"] for each in found["rows"]]
        assert found["drawn"] == drawn
        if not found["more"]:
            break
        path = found["more"].removeprefix("/console").replace("/points?", "/points.json?")
        found = asker.ask("GET", path).document
    assert times == [stocked.START_US + number * 10_000_000 for number in reversed(range(160))]


def test_a_span_of_time_ends_now(server: WiderowServer, asker: Asker) -> None:
    engine = stocked.series_engine_of(server)
    table = engine.find(INSTANCE, METERS)
    series = SeriesKey("now", "", ())
    now_us = engine.core.clock.now_us()
    points = [Point(series, now_us - ago * 1_000_000, {"v": ago}) for ago in (60, 7200, 200_000)]
    engine.core.run(engine.put(table, points, MetaUpdateMode.NORMAL))
    found = {
        span: len(asker.read("points", **AT, measurement="now", span=span)["rows"])
        for span in ("1h", "24h", "7d", "all")
    }
    assert found == {"1h": 1, "24h": 2, "7d": 3, "all": 3}


def test_a_page_reads_5000_points_and_says_that_there_are_older_ones(
    server: WiderowServer, asker: Asker
) -> None:
    engine = stocked.series_engine_of(server)
    table, series = engine.find(INSTANCE, METERS), SeriesKey("many", "", ())
    points = [Point(series, number, {"v": number}) for number in range(5100)]
    for at in range(0, len(points), 200):
        engine.core.run(engine.put(table, points[at : at + 200], MetaUpdateMode.NORMAL))
    found = asker.read("points", **AT, measurement="many")
    assert found["drawn"]["points"] == 5000
    assert found["drawn"]["is_cut"]
    assert "There are older points" in asker.get("points", **AT, measurement="many").text
    path = found["earlier"].removeprefix("/console").replace("/points?", "/points.json?")
    earlier = asker.ask("GET", path).document
    assert [each["time_us"] for each in earlier["rows"]][:2] == [100, 99]
    assert not earlier["drawn"]["is_cut"]


def test_points_are_downloaded_as_the_page_shows_them(asker: Asker) -> None:
    page = json.loads(asker.get("download", **SERIES, limit=2, **{"show.usage": 1}).text)
    assert page == [
        {
            "_m_name": "cpu",
            "_data_source": "rack-7",
            "_tags": '["host=web-1","region=eu"]',
            "_time": f"2026-09-21T19:46:{second}Z",
            "usage": round(30 + 20 * math.sin(number / 150), 2),
        }
        for second, number in ((30, 1999), (20, 1998))
    ]
    whole = asker.get("download", **SERIES, format="csv", all=1)
    assert whole.headers["content-disposition"] == 'attachment; filename="meters.csv"'
    assert len(whole.text.splitlines()) == 1901


@pytest.mark.parametrize(
    ("path", "asked", "words"),
    [
        ("points", {**SERIES, "from": "yesterday"}, "is not a time from 1970 on"),
        ("points", {**SERIES, "from": "2026-09-22", "to": "2026-09-21"}, "begin before it ends"),
        ("points", {**SERIES, "after": "zz"}, "The address of the page is broken"),
        ("points", {**AT, "measurement": "a b"}, "A measurement is named"),
        ("series", {**AT, "tags": "host"}, "is not a tag"),
    ],
)
def test_what_cannot_be_read_stays_in_its_form_with_the_reason(
    asker: Asker, path: str, asked: Json, words: str
) -> None:
    page = asker.get(path, **asked)
    assert page.status == 400
    assert words in page.text
    assert f'name="instance" value="{INSTANCE}"' in page.text


def test_a_table_without_an_index_of_metas_is_read_by_keys(
    server: WiderowServer, asker: Asker
) -> None:
    engine = stocked.series_engine_of(server)
    request = TableRequest("unlisted", TimeseriesOptions(), meta_index=False)
    engine.core.run(engine.create(INSTANCE, request))
    point = Point(SeriesKey("cpu", "", ()), 5, {"v": 1})
    table = engine.find(INSTANCE, "unlisted")
    engine.core.run(engine.put(table, [point], MetaUpdateMode.IGNORE))
    at = {**AT, "table": "unlisted"}
    page = asker.get("series", **at)
    assert page.status == 200
    assert "its series cannot be listed" in page.text
    assert 'formaction="/console/points"' in page.text
    assert len(asker.read("points", **at, measurement="cpu")["rows"]) == 1


def test_a_search_looks_at_a_bounded_number_of_series_and_leads_on(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widerow.console.series_page.RANGE_ROWS_MAX", 4)
    asked = {**AT, "tags": "host=db-19"}
    found, pages = asker.read("series", **asked), 1
    assert found["series"] == []
    assert "None of the series that were looked at match" in asker.get("series", **asked).text
    while not found["series"]:
        path = found["more"].removeprefix("/console").replace("/series?", "/series.json?")
        found, pages = asker.ask("GET", path).document, pages + 1
    assert pages > 2
    assert found["series"][0]["tags"] == [{"name": "host", "value": "db-19"}]


def test_points_of_one_time_are_told_apart_by_their_key_fields(
    server: WiderowServer, asker: Asker
) -> None:
    engine = stocked.series_engine_of(server)
    keys = (FieldKey("seq", KeyType.INTEGER),)
    engine.core.run(
        engine.create(INSTANCE, TableRequest("keyed", TimeseriesOptions(), field_keys=keys))
    )
    table, series = engine.find(INSTANCE, "keyed"), SeriesKey("cpu", "", ())
    values = (1.5, math.nan, 2.5)
    points = [Point(series, 7, {"seq": n, "v": value}) for n, value in enumerate(values)]
    engine.core.run(engine.put(table, points, MetaUpdateMode.NORMAL))
    at = {**AT, "table": "keyed"}
    assert [each["part"] for each in asker.read("table", **at)["key"]][-2:] == ["time", "field"]
    found = asker.read("points", **at, measurement="cpu")
    assert [each["keys"][0]["value"] for each in found["rows"]] == [2, 1, 0]
    assert [each["values"]["v"]["value"] for each in found["rows"]] == [2.5, "nan", 1.5]
    assert [each["value"] for each in found["charts"][0]["marks"]] == [1.5, 2.5]
    assert found["charts"][0]["path"] == ""  # what is not a number makes a gap
    rows = asker.get("download", **at, measurement="cpu", format="csv", **{"show.v": 1}).text
    assert rows.splitlines()[0] == '"_m_name","_data_source","_tags","_time","seq","v"'
