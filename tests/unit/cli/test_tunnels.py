"""`widerow tunnels`, of a server (docs/guide/tunnels.md)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from tablestore import CapacityUnit, OTSClient, ReservedThroughput, Row, TableMeta, TableOptions

from widerow.cli.main import app
from widerow.client.connection import Client, Endpoint
from widerow.client.failures import Refused
from widerow.testing import WiderowServer
from widerow.wire.tablestore import tunnel_messages as t

CHANGES, BOTH = 2, 3


@pytest.fixture(scope="module")
def server() -> Iterator[WiderowServer]:
    with WiderowServer(instance="shop") as running:
        client: OTSClient = running.client()
        nothing = ReservedThroughput(CapacityUnit(0, 0))
        for name in ("orders", "quiet"):
            meta = TableMeta(name, [("k", "STRING")])
            client.create_table(meta, TableOptions(), nothing)
        client.put_row("orders", Row([("k", "a")], [("v", 1)]))
        with Client(Endpoint(running.endpoint, "shop", "widerow", "widerow")) as plain:
            for table, name, kind in (("orders", "copy", BOTH), ("quiet", "idle", CHANGES)):
                wish = t.Tunnel(table_name=table, tunnel_name=name, tunnel_type=kind)
                request = t.CreateTunnelRequest(tunnel=wish)
                made = plain.call("tunnel/create", request, t.CreateTunnelResponse)
                if name == "copy":
                    consume(plain, str(made.tunnel_id))
        yield running


def consume(client: Client, tunnel: str) -> None:
    """The rows, up to a checkpoint that is their end; the client stays."""
    config = t.ClientConfig(timeout=60, client_tag="reader")
    wish = t.ConnectRequest(tunnel_id=tunnel, client_config=config)
    name = str(client.call("tunnel/connect", wish, t.ConnectResponse).client_id)
    beat = t.HeartbeatRequest(tunnel_id=tunnel, client_id=name)
    (held,) = client.call("tunnel/heartbeat", beat, t.HeartbeatResponse).channels
    who: dict[str, str] = {
        "tunnel_id": tunnel,
        "client_id": name,
        "channel_id": str(held.channel_id),
    }
    at = client.call("tunnel/getcheckpoint", t.GetCheckpointRequest(**who), t.GetCheckpointResponse)
    page = client.call(
        "tunnel/readrecords",
        t.ReadRecordsRequest(**who, token=str(at.checkpoint)),
        t.ReadRecordsResponse,
    )
    done = t.CheckpointRequest(
        **who, checkpoint=str(page.next_token), sequence_number=at.sequence_number + 1
    )
    client.call("tunnel/checkpoint", done, t.CheckpointResponse)


def shown(server: WiderowServer, *arguments: str) -> str:
    flags = ("--endpoint", server.endpoint, "--instance", "shop")
    result = CliRunner().invoke(app, ["tunnels", *arguments, *flags], env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_all_tunnels_of_an_instance_are_shown(server: WiderowServer) -> None:
    found: list[dict[str, Any]] = json.loads(shown(server, "--json"))["tunnels"]
    told = [(each["table"], each["name"], each["type"], each["stage"]) for each in found]
    assert told == [
        ("orders", "copy", "BaseAndStream", "ProcessBaseData"),
        ("quiet", "idle", "Stream", "ProcessStream"),
    ]
    stream, base = found[0]["channels"]
    assert (base["type"], base["status"], base["records"]) == ("BaseData", "OPEN", 1)
    assert base["client"].startswith("reader_")
    assert (stream["type"], stream["status"], stream["client"]) == ("Stream", "WAIT", "")
    page = shown(server)
    assert "2 tunnels" in page
    assert "1 OPEN, 1 WAIT" in page


def test_one_table_is_asked_for(server: WiderowServer) -> None:
    page = shown(server, "quiet", "--channels")
    assert "quiet: 1 tunnel" in page
    assert "nobody" in page
    assert "copy" not in page


def test_how_far_behind_is_told_in_seconds(server: WiderowServer) -> None:
    (tunnel,) = json.loads(shown(server, "quiet", "--json"))["tunnels"]
    assert tunnel["behind"] is None or 0 <= tunnel["behind"] < 60


def test_a_table_that_is_not_there_is_refused(server: WiderowServer) -> None:
    with pytest.raises(Refused, match="OTSParameterInvalid"):
        shown(server, "nothing")
