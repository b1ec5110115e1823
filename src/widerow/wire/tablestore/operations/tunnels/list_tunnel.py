"""ListTunnel (change §C2.1)."""

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.tunnels.service import TunnelShown
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.tunnels.parts import show_tunnel
from widerow.wire.tablestore.tunnel_messages import ListTunnelRequest, ListTunnelResponse

__all__ = ["call", "decode", "encode"]


@decoder(ListTunnelRequest)
def decode(sent: ListTunnelRequest) -> str | None:
    """The table whose tunnels are asked for; None: all tables of the instance."""
    return text(sent.table_name) if sent.HasField("table_name") else None


def call(engine: TablestoreEngine, instance: str, request: str | None) -> list[TunnelShown]:
    """Ask the engine."""
    return engine.tunnels.list_tunnels(instance, request)


def encode(result: list[TunnelShown]) -> bytes:
    """ListTunnelResponse."""
    return ListTunnelResponse(tunnels=map(show_tunnel, result)).SerializeToString()
