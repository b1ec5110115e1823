"""Bad requests of the tunnel actions: refused by code and message, and nothing else happens."""

import pytest
from tests.support.http import Sender, Wire, assert_refused
from tests.support.requests import TUNNEL_BODIES

from widerow.limits import BODY_BYTES_MAX
from widerow.wire.tablestore.messages import Error

ON_TABLES = ("tunnel/create", "tunnel/list")
ON_TUNNELS = tuple(name for name in TUNNEL_BODIES if name not in ON_TABLES)
NO_TABLE = (400, "OTSParameterInvalid", "Requested table does not exist.")
NO_TUNNEL = (400, "OTSParameterInvalid", "tunnel id not exist")
UNREADABLE = (400, "OTSParameterInvalid", "Failed to parse the ProtoBuf message.")


@pytest.mark.parametrize("action", TUNNEL_BODIES)
def test_a_wrong_signature_is_refused(wire: Wire, sender: Sender, action: str) -> None:
    forger = Sender(access_key_secret="other")  # of nobody
    answer = wire.ask(forger.request(action, TUNNEL_BODIES[action]("T")))
    assert answer.error[:2] == (403, "OTSAuthFailed")
    assert wire.ask(sender.request("ListTable")).status == 200


@pytest.mark.parametrize("action", TUNNEL_BODIES)
@pytest.mark.parametrize("size", [1, BODY_BYTES_MAX])
def test_bytes_that_are_no_message_are_refused(
    wire: Wire, sender: Sender, action: str, size: int
) -> None:
    answer = wire.ask(sender.request(action, b"\xff" * size))
    assert_refused(sender, action, answer, UNREADABLE)


@pytest.mark.parametrize("action", ON_TABLES)
def test_a_table_that_is_not_there_is_a_wrong_parameter(
    wire: Wire, sender: Sender, action: str
) -> None:
    # change §C2.1: not 404, a client's set-up ignores just this code
    answer = wire.ask(sender.request(action, TUNNEL_BODIES[action]("Missing")))
    assert_refused(sender, action, answer, NO_TABLE)


@pytest.mark.parametrize("action", ON_TUNNELS)
@pytest.mark.parametrize(
    "tunnel", ["x", "0" * 100_000, "00000001-0000-8000-8000-000000000000", "中", "\x00"]
)
def test_a_tunnel_that_is_not_there_is_refused(
    wire: Wire, sender: Sender, action: str, tunnel: str
) -> None:
    answer = wire.ask(sender.request(action, TUNNEL_BODIES[action](tunnel)))
    assert_refused(sender, action, answer, NO_TUNNEL)
    # change §0 row 7: a third field would make a client lose the code
    code, message = NO_TUNNEL[1:]
    assert answer.body == Error(code=code, message=message).SerializeToString()
