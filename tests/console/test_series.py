"""Timeseries tables in the console (docs/operating/console.md#timeseries)."""

from collections.abc import Iterator
from typing import Final

import pytest
from tests.console import stocked
from tests.console.conftest import Asker
from tests.console.stocked import INSTANCE, METERS

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
