"""DeleteTunnel (change §C2.1)."""

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.tablestore.tunnel import TunnelName
from widerow.wire.tablestore.operations.bodies import decoder
from widerow.wire.tablestore.operations.tunnels.parts import tunnel_name
from widerow.wire.tablestore.tunnel_messages import DeleteTunnelRequest

__all__ = ["call", "decode", "encode"]

decode = decoder(DeleteTunnelRequest)(tunnel_name)


def call(engine: TablestoreEngine, instance: str, request: TunnelName) -> Plan[None]:
    """Ask the engine."""
    return engine.tunnels.delete(instance, request)


def encode(_result: None) -> bytes:
    """DeleteTunnelResponse, which is empty."""
    return b""
