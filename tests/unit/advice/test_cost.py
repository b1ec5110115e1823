"""Capacity units of recorded workloads: sums are those that clients were told (semantics §9)."""

import json
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import tablestore as ts
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.proxy.conftest import RunningProxy
from tests.unit.proxy.sessions import TABLE, Step, do, make_table, steps

from widerow.advice.cost import UnitPrices, WorkloadCost, consumed_units
from widerow.advice.counters import read_counters
from widerow.advice.unit_rules import Units, unit_rules
from widerow.cli.main import app
from widerow.client.http import HttpAnswer
from widerow.errors import WiderowError
from widerow.proxy.decoding import message_types, parse_message
from widerow.proxy.exchange import Exchange, ProxiedRequest
from widerow.proxy.recording import RecordingWriter, read_exchanges
from widerow.proxy.service import ProxyService, ServerChoice
from widerow.system import SystemClock
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.errors.answers import encode_error

IGNORE = ts.Condition(ts.RowExistenceExpectation.IGNORE)


class Told:
    """What the vendor's SDK was told, added up."""

    def __init__(self) -> None:
        self.read = self.write = 0

    def add(self, consumed: Any) -> None:  # noqa: ANN401  # the SDK has no types
        self.read += consumed.read
        self.write += consumed.write


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, Told]:
    """A workload: 30 rows of 5 KB and 25 columns, a scan with a filter, reads, batches, errors."""
    told = Told()
    with WiderowServer() as server, RecordingWriter(tmp_path, "up") as recording:
        service = ProxyService(ServerChoice(server.endpoint), recording=recording)
        with RunningProxy(service) as proxy:
            client = proxy.client()
            make_table(client)
            columns = [(f"c{number:02}", "x" * 200) for number in range(25)]
            for number in range(30):
                row = ts.Row([("day", "mon"), ("id", number)], [*columns, ("n", number)])
                told.add(client.put_row(TABLE, row, IGNORE)[0])
            for number in (1, 99):
                key = [("day", "mon"), ("id", number)]
                told.add(client.get_row(TABLE, key, max_version=1)[0])
            only = ts.SingleColumnCondition("n", 3, ts.ComparatorType.EQUAL)
            low = [("day", ts.INF_MIN), ("id", ts.INF_MIN)]
            high = [("day", ts.INF_MAX), ("id", ts.INF_MAX)]
            found = client.get_range(
                TABLE, ts.Direction.FORWARD, low, high, column_filter=only, max_version=1
            )
            assert len(found[2]) == 1
            told.add(found[0])
            request = ts.BatchGetRowRequest()
            keys = [[("day", "mon"), ("id", number)] for number in range(5)]
            request.add(ts.TableInBatchGetRowItem(TABLE, keys, max_version=1))
            for each in client.batch_get_row(request).get_result_by_table(TABLE):
                told.add(each.consumed)
    return tmp_path, told


def cost_of(place: Path, *flags: str) -> Any:  # noqa: ANN401  # JSON
    run = CliRunner().invoke(app, ["advise", "cost", "--recording", str(place), "--json", *flags])
    assert run.exit_code == 0, run.output
    return json.loads(run.stdout)


def test_units_are_those_that_clients_were_told(recorded: tuple[Path, Told]) -> None:
    place, told = recorded
    found = cost_of(place)
    assert (found["read_units"], found["write_units"]) == (told.read, told.write)
    by_action = {each["action"]: each for each in found["actions"]}
    assert by_action["PutRow"]["requests"] == 30
    assert by_action["PutRow"]["write_units"] == 60  # 5 KB are two units
    assert {each["table"] for each in found["actions"]} == {TABLE}


def test_the_rules_give_what_a_server_tells(recorded: tuple[Path, Told]) -> None:
    """semantics §9: units follow from sizes; of a filter the least that it can have cost."""
    compared = 0
    for each in read_exchanges(recorded[0]):
        exchange = each.exchange
        types = message_types(exchange.request.action)
        assert types is not None
        asked = parse_message(types.request, exchange.request.body)
        told = parse_message(types.answer, exchange.answer.body)
        by_rules = unit_rules(exchange.request.action, asked, told)
        units = consumed_units(exchange)
        if exchange.request.action == "GetRange":
            assert by_rules[TABLE].read <= units[TABLE].read
        else:
            assert by_rules == units
            compared += bool(units)
    assert compared == 33


@settings(max_examples=10)
@given(steps())
def test_they_do_so_for_any_session(session: list[Step]) -> None:
    with WiderowServer() as server, TemporaryDirectory() as place:
        with RecordingWriter(Path(place), "up") as recording:
            service = ProxyService(ServerChoice(server.endpoint), recording=recording)
            with RunningProxy(service) as proxy:
                make_table(proxy.client())
                for step in session:
                    do(proxy.client(), step)
        for each in read_exchanges(Path(place)):
            exchange = each.exchange
            types = message_types(exchange.request.action)
            if types is None or exchange.answer.status != 200:
                continue
            asked = parse_message(types.request, exchange.request.body)
            told = parse_message(types.answer, exchange.answer.body)
            expected = consumed_units(exchange)
            assert unit_rules(exchange.request.action, asked, told) == expected


def test_the_dearest_request_comes_first_and_with_the_reason(recorded: tuple[Path, Told]) -> None:
    place, _ = recorded
    first, *others = cost_of(place, "--dearest", "3")["dearest"]
    assert first["action"] == "GetRange"
    assert any("filter kept 1 rows" in hint for hint in first["hints"])
    assert any("columns_to_get" in hint for hint in first["hints"])
    assert len(others) == 2


def test_prices_are_for_ten_thousand_units(recorded: tuple[Path, Told]) -> None:
    place, told = recorded
    found = cost_of(place, "--price-read", "2", "--price-storage", "1")["prices"]
    assert found["read"] == pytest.approx(2 * told.read / 10_000)
    assert 0 < found["storage_month"] < 1e-3
    assert "write" not in found


def test_the_table_for_people_has_the_hints(recorded: tuple[Path, Told]) -> None:
    run = CliRunner().invoke(app, ["advise", "cost", "--recording", str(recorded[0])])
    assert run.exit_code == 0
    assert "filter" in run.stdout
    assert "units in" in run.stdout


@pytest.mark.parametrize(
    ("action", "status", "code", "expected"),
    [
        ("PutRow", 403, "OTSConditionCheckFail", Units(1, 1)),
        ("PutRow", 400, "OTSParameterInvalid", Units(0, 1)),
        ("GetRow", 404, "OTSObjectNotExist", Units(1, 0)),
        ("UpdateRow", 404, "OTSObjectNotExist", Units(1, 1)),
        ("PutRow", 503, "OTSServerBusy", Units(0, 0)),
        ("ListTable", 403, "OTSAuthFailed", Units(0, 0)),
    ],
)
def test_errors_are_booked_as_the_service_does(
    action: str, status: int, code: str, expected: Units
) -> None:
    """semantics §9, the rows of errors."""
    bodies = {
        "PutRow": m.PutRowRequest(table_name="t", row=b"", condition=m.Condition(row_existence=0)),
        "UpdateRow": m.UpdateRowRequest(
            table_name="t", row_change=b"", condition=m.Condition(row_existence=0)
        ),
        "GetRow": m.GetRowRequest(table_name="t", primary_key=b""),
        "ListTable": m.ListTableRequest(),
    }
    request = ProxiedRequest(action, "test", {}, bodies[action].SerializeToString())
    exchange = Exchange(request, HttpAnswer(status, {}, encode_error(code, "")), 0, 0)
    assert consumed_units(exchange).get("t", Units(0, 0)) == expected


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(1, 50)), min_size=1, max_size=60))
def test_a_reserve_of_p99_covers_all_but_one_second_of_a_hundred(
    loads: list[tuple[int, int]],
) -> None:
    cost = WorkloadCost()
    for second, units in loads:
        cost.reach(second * 1_000_000)
        cost.note("t", "GetRow", Units(units, 0), second)
    (found,) = cost.reserves()
    spent = [sum(units for at, units in loads if at == second) for second in range(201)]
    begin, end = min(at for at, _ in loads), max(at for at, _ in loads)
    window = spent[begin : end + 1]
    assert found.peak == max(window)
    assert sum(load > found.p99 for load in window) <= len(window) * 0.01
    beyond = sum(max(0, load - found.p99) for load in window)
    assert found.additional == pytest.approx(beyond / sum(window))
    assert cost.prices(UnitPrices()) == {}


def test_a_running_server_is_watched_by_its_counters() -> None:
    with WiderowServer(clock=SystemClock()) as server:
        client = server.client()
        make_table(client)
        over = threading.Event()

        def load() -> None:
            while not over.is_set():
                client.put_row(TABLE, ts.Row([("day", "mon"), ("id", 1)], [("c", 1)]), IGNORE)

        writer = threading.Thread(target=load)
        writer.start()
        try:
            run = CliRunner().invoke(
                app, ["advise", "cost", "--live", server.endpoint, "--seconds", "2", "--json"]
            )
        finally:
            over.set()
            writer.join()
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)
    assert found["since_start"]["PutRow"]["write"] > 0
    assert found["actions"][0]["table"] == f"test/{TABLE}"
    assert found["write_units"] > 0


def test_what_cannot_be_added_up_is_refused() -> None:
    for flags, reason in (
        ([], "one of them"),
        (["--live", "http://127.0.0.1:1"], "does not tell its counters"),
        (["--recording", "nowhere"], "is not a recording"),
    ):
        run = CliRunner().invoke(app, ["advise", "cost", *flags])
        assert isinstance(run.exception, WiderowError)
        assert reason in str(run.exception)
    assert read_counters("garbage\n") == ({}, {})
