"""GetCheckpoint: how far a channel is consumed (change §C2.1)."""

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.tunnels.service import ChannelCall
from widerow.engine.tablestore.tunnels.state import ChannelPosition
from widerow.wire.tablestore.operations.bodies import decoder
from widerow.wire.tablestore.operations.tunnels.parts import channel_call
from widerow.wire.tablestore.operations.tunnels.tokens import encode_position
from widerow.wire.tablestore.tunnel_messages import GetCheckpointRequest, GetCheckpointResponse

__all__ = ["call", "decode", "encode"]

decode = decoder(GetCheckpointRequest)(channel_call)


def call(
    engine: TablestoreEngine, instance: str, request: ChannelCall
) -> tuple[ChannelPosition, int]:
    """Ask the engine."""
    return engine.tunnels.get_checkpoint(instance, request)


def encode(result: tuple[ChannelPosition, int]) -> bytes:
    """GetCheckpointResponse."""
    position, number = result
    return GetCheckpointResponse(
        checkpoint=encode_position(position), sequence_number=number
    ).SerializeToString()
