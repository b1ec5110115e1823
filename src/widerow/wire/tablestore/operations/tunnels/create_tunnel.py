"""CreateTunnel (change §C2.1)."""

from typing import Final

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, Rule, Unsupported
from widerow.model.tablestore.tunnel import CreateTunnel, StreamStart, TunnelConfig, TunnelKind
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.tunnel_messages import (
    CreateTunnelRequest,
    CreateTunnelResponse,
    StreamTunnelConfig,
)

__all__ = ["call", "decode", "encode"]

_KINDS: Final = {1: TunnelKind.BASE, 2: TunnelKind.STREAM, 3: TunnelKind.BASE_AND_STREAM}
_STARTS: Final = {start.value: start for start in StreamStart}


@decoder(CreateTunnelRequest)
def decode(sent: CreateTunnelRequest) -> CreateTunnel:
    """The tunnel asked for. Raises `InvalidRequest`, `Unsupported`."""
    tunnel = sent.tunnel
    if tunnel.need_all_time_series_columns:
        raise Unsupported(Rule.FEATURE_UNSUPPORTED, feature="need_all_time_series_columns")
    kind = _KINDS.get(tunnel.tunnel_type)
    if kind is None:
        raise InvalidRequest(Rule.TUNNEL_KIND, value=tunnel.tunnel_type)
    config = _config(tunnel.stream_tunnel_config)
    return CreateTunnel(text(tunnel.table_name), text(tunnel.tunnel_name), kind, config)


def _config(sent: StreamTunnelConfig) -> TunnelConfig:
    """Where changes begin and end; an offset says more than the flag (change §C2.2)."""
    start = _STARTS.get(sent.flag)
    if start is None:
        raise InvalidRequest(Rule.TUNNEL_START_FLAG, value=sent.flag)
    if sent.start_offset:
        start = StreamStart.LATEST
    return TunnelConfig(start, sent.start_offset, sent.end_offset)


def call(engine: TablestoreEngine, instance: str, request: CreateTunnel) -> Plan[str]:
    """Ask the engine."""
    return engine.tunnels.create(instance, request)


def encode(result: str) -> bytes:
    """CreateTunnelResponse."""
    return CreateTunnelResponse(tunnel_id=result).SerializeToString()
