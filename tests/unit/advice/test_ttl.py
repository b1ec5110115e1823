"""What is said of expiry and versions: by rows that are known, and by tables of a server.

Times to live are seconds, versions milliseconds (semantics §1.4, §1.6).
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tablestore as ts
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.proxy.conftest import RunningProxy

from widerow.advice.expiry import ExpiryAdvice, TableOptionsSeen, advise_expiry, time_unit
from widerow.advice.sampling import SampleBounds, TableSample, sample_table
from widerow.cli.main import app
from widerow.client.connection import Client, Endpoint
from widerow.proxy.recording import RecordingWriter
from widerow.proxy.service import ProxyService, ServerChoice
from widerow.rows.plain_values import Row, VersionedValue
from widerow.system import SystemClock
from widerow.testing.clock import FakeClock
from widerow.testing.server import WiderowServer

NOW = 1_760_000_000_000
DAY = 86_400_000
FOR_EVER = TableOptionsSeen(-1, 1)


def row(number: int, *cells: VersionedValue) -> Row:
    return Row((("id", number),), cells)


def sample(*rows: Row, whole: bool = True) -> TableSample:
    return TableSample((rows,), whole, None)


def kinds(advice: ExpiryAdvice) -> list[str]:
    return [each.kind for each in advice.findings]


def test_rows_that_nobody_wrote_for_long_are_what_a_time_to_live_gives_back() -> None:
    old = VersionedValue("c", NOW - 500 * DAY, "x" * 83)  # with name and version 92 bytes
    new = VersionedValue("c", NOW - DAY, "x" * 83)
    advice = advise_expiry(FOR_EVER, sample(row(1, old), row(2, new)), NOW, 365)
    (found,) = advice.findings
    assert (found.kind, found.options) == ("never expires", "--ttl 365d")
    assert (advice.bytes, found.bytes, found.share, found.error) == (204, 102, 0.5, 0.0)
    assert advice.reclaimable(found) == 102


def test_a_table_that_expires_or_is_young_has_nothing_to_give_back() -> None:
    old = row(1, VersionedValue("c", NOW - 500 * DAY, 1))
    assert kinds(advise_expiry(TableOptionsSeen(86_400, 1), sample(old), NOW, 365)) == []
    assert kinds(advise_expiry(FOR_EVER, sample(old), NOW, 501)) == []


@pytest.mark.parametrize(("ttl", "days"), [(604_800_000, 7), (2_073_600_000, 24)])
def test_a_time_to_live_of_decades_may_be_milliseconds(ttl: int, days: int) -> None:
    (found,) = advise_expiry(TableOptionsSeen(ttl, 1), sample(), NOW, 365).findings
    assert found.options == f"--ttl {days * 86_400}"
    assert f"{days} days" in found.text


@pytest.mark.parametrize("ttl", [-1, 86_400, 94_608_000, 157_680_001])
def test_other_times_to_live_are_what_they_say(ttl: int) -> None:
    assert kinds(advise_expiry(TableOptionsSeen(ttl, 1), sample(), NOW, 365)) == []


def test_versions_in_seconds_are_seen_and_not_taken_for_old() -> None:
    wrong = row(1, VersionedValue("c", NOW // 1000, "a"))
    assert kinds(advise_expiry(FOR_EVER, sample(wrong), NOW, 365)) == ["versions in another unit"]


def test_columns_of_times_are_named_with_their_units() -> None:
    seconds = [VersionedValue("at", NOW, NOW // 1000 + number) for number in range(20)]
    rows = [row(number, cell) for number, cell in enumerate(seconds)]
    (found,) = advise_expiry(FOR_EVER, sample(*rows), NOW, 365).findings
    assert found.kind == "column of times"
    assert "seconds" in found.text
    mixed = [*rows, row(99, VersionedValue("at", NOW, NOW))]
    (found,) = advise_expiry(FOR_EVER, sample(*mixed), NOW, 365).findings
    assert found.kind == "times in two units"
    assert "1 in milliseconds" in found.text


def test_versions_that_repeat_themselves_are_kept_for_nothing() -> None:
    cells = [VersionedValue("c", NOW - number, "same") for number in range(3)]
    two = TableOptionsSeen(-1, 3)
    (found,) = advise_expiry(two, sample(row(1, *cells)), NOW, 365).findings
    assert (found.kind, found.options) == ("versions for nothing", "--max-versions 1")
    assert found.bytes == 2 * (1 + 4 + 8)
    other = [VersionedValue("c", NOW - number, f"{number}") for number in range(3)]
    assert kinds(advise_expiry(two, sample(row(1, *other)), NOW, 365)) == []
    assert kinds(advise_expiry(two, sample(row(1, *other)), NOW, 365, 0)) == [found.kind]
    assert kinds(advise_expiry(two, sample(row(1, *cells)), NOW, 365, 5)) == []


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=6))
def test_shares_stay_between_nothing_and_all(places: list[list[bool]]) -> None:
    rows = tuple(
        tuple(
            row(number, VersionedValue("c", NOW - 500 * DAY * is_old, 1))
            for number, is_old in enumerate(place)
        )
        for place in places
    )
    advice = advise_expiry(FOR_EVER, TableSample(rows, False, 1000), NOW, 365)  # noqa: FBT003  # a field
    for found in advice.findings:
        assert 0 < found.share <= 1
        assert 0 <= found.error <= 1
        reclaimable = advice.reclaimable(found)
        assert reclaimable is not None
        assert 0 <= reclaimable <= 1000


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_number_is_a_time_in_one_unit_at_most(number: int) -> None:
    years = {"seconds": 1, "milliseconds": 1000, "microseconds": 10**6}
    unit = time_unit(number)
    assert unit == "" or 2000 <= 1970 + number / years[unit] / 86_400 / 365.25 <= 2101


# --- of a server ------------------------------------------------------------------------------


@pytest.fixture
def aged() -> Iterator[WiderowServer]:
    """A server whose rows are two years old."""
    now_ms = SystemClock().now_us() // 1000
    with WiderowServer(clock=FakeClock(now_ms - 730 * DAY)) as server:
        yield server


def fill(server: WiderowServer, rows: int, name: str = "orders", **options: Any) -> None:  # noqa: ANN401  # the SDK has no types
    client = server.client()
    client.create_table(
        ts.TableMeta(name, [("id", "INTEGER")]),
        ts.TableOptions(**options),
        ts.ReservedThroughput(ts.CapacityUnit(0, 0)),
    )
    ignore = ts.Condition(ts.RowExistenceExpectation.IGNORE)
    for number in range(rows):
        client.put_row(name, ts.Row([("id", number)], [("c", "x" * 50)]), ignore)


def advised(server: WiderowServer, *flags: str) -> Any:  # noqa: ANN401  # JSON
    command = ["advise", "ttl", "test", *flags, "--endpoint", server.endpoint, "--json"]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 0, run.output
    return json.loads(run.stdout)


def test_a_table_is_judged_over_the_protocol(aged: WiderowServer) -> None:
    fill(aged, 30)
    fill(aged, 0, "empty")
    found = advised(aged)
    empty, orders = sorted(found["tables"], key=lambda each: str(each["table"]))
    assert empty["findings"] == []
    assert (orders["sample"]["rows"], orders["sample"]["whole"]) == (30, True)
    (finding,) = orders["findings"]
    assert (finding["kind"], finding["share"], finding["error"]) == ("never expires", 1.0, 0.0)
    assert finding["reclaimable_bytes"] == orders["sample"]["bytes"]
    words = finding["command"].split()
    assert words[:4] == ["widerow", "table", "update", "orders"]
    run = CliRunner().invoke(app, words[1:])  # the command makes the change that it promises
    assert run.exit_code == 0, run.output
    assert advised(aged, "orders")["tables"][0]["time_to_live"] == 365 * 86_400


def test_a_sample_is_bounded_and_says_so(aged: WiderowServer) -> None:
    fill(aged, 30)
    (table,) = advised(aged, "orders", "--rows", "10")["tables"]
    assert (table["sample"]["rows"], table["sample"]["whole"]) == (10, False)
    assert table["findings"][0]["error"] > 0
    told: list[int] = []
    with Client(Endpoint(aged.endpoint, "test", "widerow", "widerow")) as client:
        found = sample_table(client, "orders", SampleBounds(30, 0.0), told.append)
    assert not found.whole
    assert told == [0]


def test_a_table_that_is_not_there_is_named(aged: WiderowServer) -> None:
    command = ["advise", "ttl", "test", "nowhere", "--endpoint", aged.endpoint]
    run = CliRunner().invoke(app, command)
    assert "there is no table nowhere" in str(run.exception)


def test_recorded_reads_say_whether_versions_are_read(aged: WiderowServer, tmp_path: Path) -> None:
    fill(aged, 1, max_version=3)
    aged.clock.advance(0.001)
    ignore = ts.Condition(ts.RowExistenceExpectation.IGNORE)
    aged.client().update_row("orders", ts.Row([("id", 0)], {"PUT": [("c", "other")]}), ignore)
    for versions, expected in ((1, True), (2, False)):
        place = tmp_path / str(versions)
        with RecordingWriter(place, "up") as recording:
            service = ProxyService(ServerChoice(aged.endpoint), recording=recording)
            with RunningProxy(service) as proxy:
                proxy.client().get_row("orders", [("id", 0)], max_version=versions)
        (table,) = advised(aged, "orders", "--recording", str(place))["tables"]
        found = {each["kind"] for each in table["findings"]}
        assert ("versions for nothing" in found) is expected
