"""`widerow partitions`, of a server and of a store (docs/operating/partitions.md)."""

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner
from rich.cells import cell_len
from tablestore import (
    CapacityUnit,
    OTSClient,
    OTSServiceError,
    ReservedThroughput,
    Row,
    TableMeta,
    TableOptions,
)

from widerow.cli.main import app
from widerow.cli.partitions import print_partitions
from widerow.testing import WiderowServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WiderowServer]:
    with WiderowServer(tmp_path_factory.mktemp("store") / "data", instance="shop") as running:
        client: OTSClient = running.client()
        meta = TableMeta("orders", [("k", "STRING")])
        client.create_table(meta, TableOptions(), ReservedThroughput(CapacityUnit(3, 0)))
        for name in ("a", "b", "c"):
            client.put_row("orders", Row([("k", name)], [("v", "x" * 5000)]))
        yield running


def shown(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["partitions", *arguments], env={"COLUMNS": "160"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def told(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shown(*arguments, "--json"))
    return found


def test_a_server_is_asked(server: WiderowServer) -> None:
    found = told("orders", "--endpoint", server.endpoint, "--instance", "shop")
    assert (found["instance"], found["table"]) == ("shop", "orders")
    assert found["key"] == {"name": "k", "type": "STRING"}
    assert found["reserved"] == {"read": 3, "write": 0}
    assert [(each["start"], each["end"]) for each in found["partitions"]] == [(None, None)]
    assert "history" not in found


def test_the_table_is_shown_with_its_load(server: WiderowServer) -> None:
    text = shown("orders", "--endpoint", server.endpoint, "--instance", "shop")
    assert "shop/orders: 1 partition" in text
    assert "INF_MIN" in text
    assert "write units:" in text


BUSY = {
    "start": "short",
    "rows": 1_234_567_890,
    "bytes": 1023 * 1024**3,
    "read_units_per_second": 123_456.7,
    "write_units_per_second": 98_765.4,
    "share": 1.0,
    "top_keys": [{"key": "0123456789abcdef", "hash": "89abcdef01234567", "share": 0.54}],
    "servers": [],
}


def document_of(*partitions: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "shop/orders",
        "key": {"name": "k", "type": "STRING"},
        "partitions": list(partitions),
        "reserved": {"read": 3, "write": 0},
        "consumed": {"read": 10**12, "write": 10**12},
        "additional": {"read": 1e12, "write": 1e12},
        "reports": [],
    }


def test_servers_are_shown_where_the_store_has_any(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = {"address": "node1.example:16020"}, {"address": "node2.example:16020"}
    placed = document_of({**BUSY, "servers": [one]}, {**BUSY, "servers": [one, two]})
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COLUMNS", "80")
        print_partitions(placed)
        narrow = capsys.readouterr().out
        patched.setenv("COLUMNS", "200")
        print_partitions(placed)
        wide = capsys.readouterr().out
        print_partitions(document_of(BUSY))
        assert "server" not in capsys.readouterr().out
    assert max(cell_len(line) for line in narrow.splitlines()) <= 80
    assert "server" in narrow
    assert "…" not in narrow
    assert wide.count("node1.example:16020") == 2
    assert "node1.example:16020, node2.example:16020" in wide


@pytest.mark.parametrize("start", ["short", "k" * 1024, "杭州" * 340])
def test_80_columns_are_enough(start: str, capsys: pytest.CaptureFixture[str]) -> None:
    """docs/operating/partitions.md: nothing is cut; what does not fit stands below the table."""
    busy = {**BUSY, "start": start}
    document = document_of({**busy, "start": None, "rows": 0, "share": 0.0, "top_keys": []}, busy)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COLUMNS", "80")
        print_partitions(document)
        narrow = capsys.readouterr().out
        patched.setenv("COLUMNS", "200")
        print_partitions(document)
        wide = capsys.readouterr().out
    assert max(cell_len(line) for line in narrow.splitlines()) <= 80
    assert "…" not in narrow
    letters = "".join(line.split("│")[1].strip() for line in narrow.splitlines() if "│" in line)
    assert letters == f"INF_MIN{start}"
    for printed in (narrow, wide):
        assert "54% 0123456789abcdef" in printed
        assert "1.2G" in printed
        assert "123k" in printed
    assert "█" * 20 in wide


def test_the_history_is_json(server: WiderowServer) -> None:
    arguments = ("--endpoint", server.endpoint, "--instance", "shop", "--history")
    assert json.loads(shown("orders", *arguments))["history"] == []


def test_what_a_server_refuses_is_told_in_its_words(server: WiderowServer) -> None:
    with pytest.raises(
        Exception, match=r"OTSObjectNotExist: .*instance='shop', table='nothing': Create the table"
    ):
        shown("nothing", "--endpoint", server.endpoint, "--instance", "shop")
    with pytest.raises(Exception, match="OTSAuthFailed"):
        shown("orders", "--endpoint", server.endpoint, "--access-key-secret", "wrong")


def test_where_nobody_answers_it_says_what_to_do() -> None:
    with pytest.raises(Exception, match=r"nothing listens at .*--endpoint.*--path"):
        shown("orders", "--endpoint", "http://127.0.0.1:1")
    with pytest.raises(Exception, match="is not an endpoint"):
        shown("orders", "--endpoint", "file:///etc/passwd")
    with pytest.raises(Exception, match="there is no store at"):
        shown("orders", "--path", "nowhere")


def test_a_store_is_read_when_no_server_has_it(tmp_path: Path) -> None:
    path = tmp_path / "data"
    with WiderowServer(path) as running:
        client: OTSClient = running.client()
        meta = TableMeta("t", [("k", "INTEGER")])
        client.create_table(meta, TableOptions(), ReservedThroughput(CapacityUnit(0, 0)))
        for number in range(5):
            client.put_row("t", Row([("k", number)], [("v", "x" * 5000)]))
        with pytest.raises(Exception, match="ask the server that has it"):
            told("t", "--path", str(path), "--instance", "test")
    found = told("t", "--path", str(path), "--instance", "test")
    assert found["rows"] == 5
    assert 25_000 < found["bytes"] < 26_000
    assert found["consumed"] == {"read": 0, "write": 10}
    words = f"there is no table t in the instance widerow of the store at {path}"
    with pytest.raises(Exception, match=words):
        told("t", "--path", str(path))


def test_metrics_are_bounded_and_show_no_keys(server: WiderowServer) -> None:
    told("orders", "--endpoint", server.endpoint, "--instance", "shop")  # counts are taken in
    key = b64encode(b"widerow:widerow").decode()
    request = Request(f"{server.endpoint}/metrics", headers={"Authorization": f"Basic {key}"})  # noqa: S310  # our own server
    with urlopen(request) as answer:  # noqa: S310  # of that server
        page = answer.read().decode()
    assert 'widerow_partitions{table="shop/orders"} 1' in page
    assert "widerow_throttled_total 0" in page


def test_a_reserve_is_enforced_over_the_wire() -> None:
    with WiderowServer(settings={"enforce_throughput": True}) as running:
        client: OTSClient = running.client()
        meta = TableMeta("t", [("k", "INTEGER")])
        client.create_table(meta, TableOptions(), ReservedThroughput(CapacityUnit(0, 5)))
        for number in range(5):
            client.put_row("t", Row([("k", number)], [("v", 1)]))
        with pytest.raises(OTSServiceError) as caught:
            client.put_row("t", Row([("k", 5)], [("v", 1)]))
        assert caught.value.get_http_status() == 403
        assert caught.value.get_error_code() == "OTSNotEnoughCapacityUnit"
        assert caught.value.get_error_message() == "Remaining capacity unit is not enough."
        running.clock.advance(1)
        client.put_row("t", Row([("k", 5)], [("v", 1)]))
