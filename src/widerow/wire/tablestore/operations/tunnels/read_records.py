"""ReadRecords: a page of a channel (change §C2.3)."""

from typing import NamedTuple

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.tunnels.base import TunnelPage
from widerow.engine.tablestore.tunnels.service import ChannelCall
from widerow.engine.tablestore.tunnels.state import ChannelPosition
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.tunnels.parts import channel_call
from widerow.wire.tablestore.operations.tunnels.tokens import decode_position, encode_position
from widerow.wire.tablestore.tunnel_messages import (
    ReadRecordsRequest,
    ReadRecordsResponse,
    Record,
)

__all__ = ["ReadRecordsCall", "call", "decode", "encode"]


class ReadRecordsCall(NamedTuple):
    """Who reads which channel, and where the page begins."""

    who: ChannelCall
    position: ChannelPosition


@decoder(ReadRecordsRequest)
def decode(sent: ReadRecordsRequest) -> ReadRecordsCall:
    """The channel and the position. Raises `InvalidRequest`."""
    return ReadRecordsCall(channel_call(sent), decode_position(text(sent.token)))


def call(engine: TablestoreEngine, instance: str, request: ReadRecordsCall) -> TunnelPage:
    """Ask the engine."""
    return engine.tunnels.read_records(instance, request.who, request.position)


def encode(result: TunnelPage) -> bytes:
    """ReadRecordsResponse; clients pace themselves by `may_more_record`, so it is always sent."""
    records = [
        Record(action_type=each.action, record=each.record, origin_record=each.origin)
        for each in result.records
    ]
    return ReadRecordsResponse(
        records=records,
        next_token=encode_position(result.following),
        may_more_record=result.more,
    ).SerializeToString()
