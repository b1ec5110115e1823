"""`widerow import` into timeseries tables: what stands in a file can be read with the SDK."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tablestore import OTSClient
from tablestore.metadata import GetTimeseriesDataRequest, TimeseriesKey

from widerow.client.connection import Endpoint
from widerow.errors import WiderowError

Widerow = Callable[..., Result]

LINES = """\
# a comment
cpu,host=a,region=east usage_user=1.5,userName="x y",n=7i 1000000
cpu,host=a,region=east usage_user=2.5 2000000
cpu,host=b,region=east usage_user=t
no point at all
cpu,host=a x=1 -1000000
cpu,host=a a-b=1,a_b=2 5
"""


def points(endpoint: Endpoint, key: TimeseriesKey) -> list[tuple[int, dict[str, Any]]]:
    client = OTSClient(
        endpoint.url, endpoint.access_key_id, endpoint.access_key_secret, endpoint.instance
    )
    asked = GetTimeseriesDataRequest("metrics")
    asked.timeseriesKey, asked.endTimeInUs = key, 2**62
    return [(row.time_in_us, row.fields) for row in client.get_timeseries_data(asked).rows]


def test_line_protocol_becomes_points(widerow: Widerow, endpoint: Endpoint, tmp_path: Path) -> None:
    file = tmp_path / "metrics.lp"
    file.write_text(LINES, encoding="utf-8")
    with pytest.raises(WiderowError, match="there is no timeseries table metrics"):
        widerow("import", "metrics", "--input", file)
    done = widerow(
        "import", "metrics", "--input", file, "--create", "--source", "host", "--json", expect=1
    )
    told = json.loads(done.stdout)
    assert (told["points"], told["rejected"]) == (3, 3)
    rejected = [
        (row["line"], row["reason"])
        for row in map(json.loads, Path(told["rejected_file"]).read_text().splitlines())
    ]
    assert sorted(line for line, _ in rejected) == [5, 6, 7]
    assert "no fields" in dict(rejected)[5] or "no '='" in dict(rejected)[5]
    assert "OTSParameterInvalid" in dict(rejected)[6]
    east = TimeseriesKey("cpu", "a", {"region": "east"})
    expected = [(1000, {"usage_user": 1.5, "username": "x y", "n": 7}), (2000, {"usage_user": 2.5})]
    assert points(endpoint, east) == expected
    again = widerow("import", "metrics", "--input", file, "--source", "host", expect=1)
    assert "3 points" in again.stdout
    assert points(endpoint, east) == expected


def test_rows_become_points_of_one_measurement(
    widerow: Widerow, endpoint: Endpoint, tmp_path: Path
) -> None:
    file = tmp_path / "cpu.csv"
    rows = [f"2026-01-01T00:{n // 60:02}:{n % 60:02}Z,a,east,{n},{n / 2},on" for n in range(500)]
    file.write_text("\n".join(["at,host,region,n,part,state", *rows, ",a,east,1,1,on", ""]))
    with pytest.raises(WiderowError, match="--time COLUMN"):
        widerow("import", "metrics", "--input", file, "--measurement", "cpu")
    done = widerow(
        *("import", "metrics", "--input", file, "--create", "--measurement", "cpu", "--time", "at"),
        *("--tags", "region", "--source", "host", "--workers", 2),
        expect=1,
    )
    assert "500 points" in done.stdout
    assert "line 502: no time in the column at" in done.stdout
    found = points(endpoint, TimeseriesKey("cpu", "a", {"region": "east"}))
    first_us = 1_767_225_600_000_000
    assert found == [
        (first_us + n * 1_000_000, {"n": n, "part": n / 2, "state": "on"}) for n in range(500)
    ]
