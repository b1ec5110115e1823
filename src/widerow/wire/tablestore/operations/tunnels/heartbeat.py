"""Heartbeat: how a client's channels stand, and which are its own now (change §C2.4)."""

from typing import NamedTuple

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.tunnels.service import TunnelCall
from widerow.engine.tablestore.tunnels.state import Channel, ChannelReport
from widerow.wire.tablestore.operations.bodies import decoder
from widerow.wire.tablestore.operations.tunnels.parts import (
    encode_channels,
    reports_of,
    tunnel_call,
)
from widerow.wire.tablestore.tunnel_messages import HeartbeatRequest, HeartbeatResponse

__all__ = ["HeartbeatCall", "call", "decode", "encode"]


class HeartbeatCall(NamedTuple):
    """The client, and what it says of its channels."""

    who: TunnelCall
    reports: tuple[ChannelReport, ...]


@decoder(HeartbeatRequest)
def decode(sent: HeartbeatRequest) -> HeartbeatCall:
    """The client and its channels. Raises `InvalidRequest`."""
    return HeartbeatCall(tunnel_call(sent), reports_of(sent.channels))


def call(engine: TablestoreEngine, instance: str, request: HeartbeatCall) -> Plan[list[Channel]]:
    """Ask the engine."""
    return engine.tunnels.heartbeat(instance, request.who, request.reports)


def encode(result: list[Channel]) -> bytes:
    """HeartbeatResponse: all channels of the client."""
    return HeartbeatResponse(channels=encode_channels(result)).SerializeToString()
