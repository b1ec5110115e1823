"""Connect: a client of a tunnel begins (change §C2.1)."""

from typing import NamedTuple

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.limits import TUNNEL_TIMEOUT_SECONDS
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.tunnel_messages import ConnectRequest, ConnectResponse

__all__ = ["ConnectCall", "call", "decode", "encode"]


class ConnectCall(NamedTuple):
    """The tunnel, what the client calls itself, and how many seconds it may be silent."""

    tunnel: str
    tag: str
    timeout_s: int


@decoder(ConnectRequest)
def decode(sent: ConnectRequest) -> ConnectCall:
    """The client. Raises `InvalidRequest`."""
    config = sent.client_config
    timeout_s = config.timeout if config.HasField("timeout") else TUNNEL_TIMEOUT_SECONDS
    return ConnectCall(text(sent.tunnel_id), text(config.client_tag), timeout_s)


def call(engine: TablestoreEngine, instance: str, request: ConnectCall) -> Plan[str]:
    """Ask the engine."""
    return engine.tunnels.connect(instance, request.tunnel, request.tag, request.timeout_s)


def encode(result: str) -> bytes:
    """ConnectResponse."""
    return ConnectResponse(client_id=result).SerializeToString()
