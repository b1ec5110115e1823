"""Checkpoint: a channel is consumed up to here (change §C2.1)."""

from typing import NamedTuple

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.tunnels.service import ChannelCall
from widerow.engine.tablestore.tunnels.state import ChannelPosition
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.tunnels.parts import channel_call
from widerow.wire.tablestore.operations.tunnels.tokens import decode_position
from widerow.wire.tablestore.tunnel_messages import CheckpointRequest

__all__ = ["CheckpointCall", "call", "decode", "encode"]


class CheckpointCall(NamedTuple):
    """Who consumed which channel, how far, and the number of this checkpoint."""

    who: ChannelCall
    position: ChannelPosition
    number: int


@decoder(CheckpointRequest)
def decode(sent: CheckpointRequest) -> CheckpointCall:
    """The checkpoint. Raises `InvalidRequest`."""
    position = decode_position(text(sent.checkpoint))
    return CheckpointCall(channel_call(sent), position, sent.sequence_number)


def call(engine: TablestoreEngine, instance: str, request: CheckpointCall) -> Plan[None]:
    """Ask the engine."""
    return engine.tunnels.checkpoint(instance, *request)


def encode(_result: None) -> bytes:
    """CheckpointResponse, which is empty."""
    return b""
