"""GetRpo and GetRpoByOffset: up to when channels are consumed (change §C2.6)."""

from typing import NamedTuple

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.tunnels.service import TunnelShown
from widerow.model.tablestore.tunnel import TunnelName
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.tunnels.parts import rpo_documents
from widerow.wire.tablestore.tunnel_messages import GetRpoRequest, GetRpoResponse

__all__ = ["RpoCall", "RpoShown", "call", "decode", "encode"]


class RpoCall(NamedTuple):
    """The tunnel, and of how many channels at most; None: of all."""

    tunnel: str
    limit: int | None


class RpoShown(NamedTuple):
    """The tunnel, and of how many channels at most."""

    shown: TunnelShown
    limit: int | None


@decoder(GetRpoRequest)
def decode(sent: GetRpoRequest) -> RpoCall:
    """The tunnel. A limit below one is none."""
    return RpoCall(text(sent.tunnel_id), sent.limit if sent.limit > 0 else None)


def call(engine: TablestoreEngine, instance: str, request: RpoCall) -> RpoShown:
    """Ask the engine."""
    shown = engine.tunnels.describe(instance, TunnelName("", "", request.tunnel))
    return RpoShown(shown, request.limit)


def encode(result: RpoShown) -> bytes:
    """GetRpoResponse, with every field that a client reads unseen (change §0)."""
    channels, whole = rpo_documents(*result)
    return GetRpoResponse(
        rpo_infos=channels, tunnel_rpo_infos=whole, tunnel_id=result.shown.tunnel.id
    ).SerializeToString()
