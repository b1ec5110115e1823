"""Temporary keys as the vendor's SDK uses them (change §D6, docs/operating/keys.md)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tablestore import (
    CapacityUnit,
    Condition,
    OTSClient,
    OTSServiceError,
    ReservedThroughput,
    Row,
    RowExistenceExpectation,
    TableMeta,
    TableOptions,
)
from tests.support.http import Sender, Wire
from tests.support.requests import TUNNEL_BODIES

from widerow.auth.keyring import secret_digest
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore.operations.bodies import text
from widerow.wire.tablestore.tunnel_messages import (
    ConnectRequest,
    ConnectResponse,
    CreateTunnelResponse,
    HeartbeatRequest,
)

OWNER = '[[key]]\nid = "owner"\nsecret = "o"\ninstances = ["shop"]\n'
TEMPORARY = """
[[temporary_key]]
id = "{name}"
secret = "secret of {name}"
parent = "owner"
expires = {year}-01-01T00:00:00Z
token_sha256 = "{digest}"
permissions = ["read", "write"]
"""
IGNORE = Condition(RowExistenceExpectation.IGNORE)


def temporary(name: str, year: int = 2100) -> str:
    digest = secret_digest(f"token of {name}").hex()
    return TEMPORARY.format(name=name, year=year, digest=digest)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys.toml"
    path.write_text(OWNER + temporary("one") + temporary("two") + temporary("ended", 2020))
    return path


@pytest.fixture
def server(keys: Path) -> Iterator[WiderowServer]:
    with WiderowServer(instance="shop", settings={"credentials": str(keys)}) as running:
        running.access_key_id, running.access_key_secret = "owner", "o"
        running.client().create_table(
            TableMeta("t", [("pk", "STRING")]),
            TableOptions(),
            ReservedThroughput(CapacityUnit(0, 0)),
        )
        yield running


def client_of(
    server: WiderowServer, name: str, token: str | None = None, region: str | None = None
) -> OTSClient:
    server.access_key_id, server.access_key_secret = name, f"secret of {name}"
    return server.client(sts_token=token or f"token of {name}", region=region)


def refusal(caught: pytest.ExceptionInfo[OTSServiceError]) -> tuple[int, str, str]:
    error = caught.value
    return error.get_http_status(), error.get_error_code(), error.get_error_message()


@pytest.mark.parametrize("region", [None, "cn-hangzhou"])  # signatures of V2 and of V4
def test_a_temporary_key_works_until_its_end(server: WiderowServer, region: str | None) -> None:
    one = client_of(server, "one", region=region)
    one.put_row("t", Row([("pk", "a")], [("c", 1)]), IGNORE)
    assert one.get_row("t", [("pk", "a")])[1] is not None
    with pytest.raises(OTSServiceError) as caught:
        one.delete_table("t")
    assert refusal(caught)[:2] == (403, "OTSNoPermissionAccess")
    with pytest.raises(OTSServiceError) as caught:
        client_of(server, "ended", region=region).list_table()
    assert refusal(caught) == (403, "OTSAuthFailed", "The security token is expired.")
    for name in ("one", "ended"):
        with pytest.raises(OTSServiceError) as caught:
            client_of(server, name, "token of two", region).list_table()
        assert refusal(caught) == (403, "OTSAuthFailed", "The security token is invalid.")


def test_a_transaction_goes_on_with_a_new_key(server: WiderowServer) -> None:
    one = client_of(server, "one")
    transaction = one.start_local_transaction("t", [("pk", "a")])
    row = Row([("pk", "a")], [("c", 1)])
    one.put_row("t", row, IGNORE, transaction_id=transaction)
    two = client_of(server, "two")
    assert two.get_row("t", [("pk", "a")])[1] is None
    two.commit_transaction(transaction)
    assert two.get_row("t", [("pk", "a")])[1] is not None


def test_a_tunnel_goes_on_with_a_new_key(server: WiderowServer) -> None:
    def ask(name: str, action: str, body: bytes) -> bytes:
        secret = "o" if name == "owner" else f"secret of {name}"
        token = "" if name == "owner" else f"token of {name}"
        with Wire(server.endpoint) as wire:
            answer = wire.ask(Sender(name, secret, "shop").request(action, body, ststoken=token))
        assert answer.status == 200, answer.error
        return answer.body

    created = ask("owner", "tunnel/create", TUNNEL_BODIES["tunnel/create"]("t"))
    tunnel = text(CreateTunnelResponse.FromString(created).tunnel_id)
    connect = ConnectRequest(tunnel_id=tunnel).SerializeToString()
    client = text(ConnectResponse.FromString(ask("one", "tunnel/connect", connect)).client_id)
    beat = HeartbeatRequest(tunnel_id=tunnel, client_id=client).SerializeToString()
    ask("two", "tunnel/heartbeat", beat)


def test_who_revokes_a_key_revokes_what_was_made_of_it(server: WiderowServer, keys: Path) -> None:
    one = client_of(server, "one")
    assert list(one.list_table()) == ["t"]
    keys.write_text(OWNER.replace("owner", "other") + temporary("one"))

    def until_refused() -> None:
        while one.list_table():
            pass  # the server looks at its file twice a second; the test's bound ends this

    with pytest.raises(OTSServiceError) as caught:
        until_refused()
    assert refusal(caught) == (403, "OTSAuthFailed", "The AccessKeyID does not exist.")
