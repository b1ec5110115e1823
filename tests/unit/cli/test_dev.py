"""`widerow dev` commands a server in dev mode (docs/guide/testing.md)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.http import Sender, Wire
from tests.support.requests import BODIES

from widerow.cli.command import CommandFailed
from widerow.cli.main import app
from widerow.client.failures import RequestFailed
from widerow.testing import WiderowServer


@pytest.fixture
def server() -> Iterator[WiderowServer]:
    with WiderowServer() as running:
        yield running


def told(server: WiderowServer, *arguments: str, instance: str = "shop") -> Any:  # noqa: ANN401  # JSON
    flags = ("--endpoint", server.endpoint, "--instance", instance)
    result = CliRunner().invoke(app, ["dev", *arguments, "--json", *flags])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_clock(server: WiderowServer) -> None:
    assert told(server, "clock", "set", "2030-01-01T00:00:00Z")["now_ms"] == 1893456000000
    assert told(server, "clock", "set", "1000")["now_ms"] == 1000
    assert told(server, "clock", "advance", "1h")["now_ms"] == 3601000
    assert told(server, "clock", "advance", "0.5")["now_ms"] == 3601500
    assert told(server, "clock", "run")["running"] is True
    assert told(server, "clock", "freeze")["running"] is False
    assert told(server, "clock", "show")["running"] is False


def test_faults(server: WiderowServer) -> None:
    flags = ("--error", "OTSTimeout", "--when", "after", "--count", "1", "--probability", "0.5")
    added = told(server, "faults", "add", *flags)
    assert (added["instance"], added["when"], added["probability"]) == ("shop", "after", 0.5)
    batch = ("--error", "OTSTimeout", "--action", "BatchGetRow")
    assert told(server, "faults", "add", *batch, "--rows", "0,2")["rows"] == [0, 2]
    assert told(server, "faults", "add", *batch, "--rows", "0.5")["rows"] == 0.5
    assert told(server, "faults", "add", "--drop", "--latency-ms", "5")["drop"] is True
    assert told(server, "faults", "remove", "1") == {"removed": 1}
    assert len(told(server, "faults", "list")["faults"]) == 3
    assert told(server, "faults", "remove") == {"removed": 3}


def test_without_json_people_read_names_and_values(server: WiderowServer) -> None:
    """docs/guide/testing.md: a line for each fact, and for each fault."""
    flags = ("--endpoint", server.endpoint, "--instance", "shop")

    def shown(*words: str) -> str:
        return CliRunner().invoke(app, ["dev", *words, *flags]).stdout

    assert "now_ms=1000\n" in shown("clock", "set", "1000")
    shown("faults", "add", "--error", "OTSTimeout", "--action", "PutRow")
    (line,) = shown("faults", "list").splitlines()
    assert "error=OTSTimeout" in line.split()
    assert "action=PutRow" in line.split()


def test_instances(server: WiderowServer) -> None:
    sender = Sender(instance="shop")
    with Wire(server.endpoint) as wire:
        wire.ask(sender.request("CreateTable", BODIES["CreateTable"]("t")))
    assert told(server, "keep", "one")["tables"] == ["t"]
    assert told(server, "reset")["tables"] == []
    assert server.instances() == frozenset()
    assert told(server, "reset", "one")["tables"] == ["t"]
    assert server.instances() == {"shop"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("clock", "advance", "soon"), "advance: must be seconds"),
        (("faults", "add"), "error: or drop or latency_ms"),
        (("faults", "add", "--error", "OTSTimeout", "--rows", "x"), "rows: must be"),
        (("faults", "add", "--error", "OTSTimeout", "--rows", "0.x"), "rows: must be"),
        (("faults", "remove", "9"), "path: must end with the id"),
        (("reset", "unknown"), "snapshot: must be one of"),
    ],
)
def test_what_is_refused_is_said(
    server: WiderowServer, arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(CommandFailed, match=message):
        told(server, *arguments)


def test_a_server_without_dev_mode_is_told_apart() -> None:
    with (
        WiderowServer(settings={"dev": False}) as server,
        pytest.raises(CommandFailed, match="start it with widerow serve --dev"),
    ):
        told(server, "clock", "show")
    server.endpoint = "http://127.0.0.1:1"
    with pytest.raises(CommandFailed, match=r"nothing listens at .*`widerow serve`"):
        told(server, "clock", "show")
    server.endpoint = "ftp://127.0.0.1"
    with pytest.raises(RequestFailed, match="is not an endpoint"):
        told(server, "clock", "show")
