"""DescribeTunnel (change §C2.2)."""

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.tunnels.service import TunnelShown
from widerow.model.tablestore.tunnel import TunnelName
from widerow.wire.tablestore.operations.bodies import decoder
from widerow.wire.tablestore.operations.tunnels.parts import (
    show_channels,
    show_tunnel,
    tunnel_name,
)
from widerow.wire.tablestore.tunnel_messages import DescribeTunnelRequest, DescribeTunnelResponse

__all__ = ["call", "decode", "encode"]

decode = decoder(DescribeTunnelRequest)(tunnel_name)


def call(engine: TablestoreEngine, instance: str, request: TunnelName) -> TunnelShown:
    """Ask the engine."""
    return engine.tunnels.describe(instance, request)


def encode(result: TunnelShown) -> bytes:
    """DescribeTunnelResponse."""
    return DescribeTunnelResponse(
        tunnel=show_tunnel(result),
        channels=show_channels(result),
        tunnel_rpo=result.consumed_us * 1000,
    ).SerializeToString()
