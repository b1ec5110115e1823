"""What several tunnel actions read and answer: names, channels, descriptions (change §C2.2)."""

import json
from collections.abc import Iterable
from typing import Any, Final

from widerow.engine.tablestore.tunnels.service import ChannelCall, TunnelCall, TunnelShown
from widerow.engine.tablestore.tunnels.state import Channel, ChannelReport, ChannelStatus
from widerow.errors import InvalidRequest, Rule
from widerow.model.tablestore.tunnel import TunnelName
from widerow.wire.tablestore import tunnel_messages as messages
from widerow.wire.tablestore.operations.bodies import text

__all__ = [
    "channel_call",
    "encode_channels",
    "reports_of",
    "rpo_documents",
    "show_channels",
    "show_tunnel",
    "tunnel_call",
    "tunnel_name",
]

_REPORTED: Final = {
    status.value: status for status in ChannelStatus if status is not ChannelStatus.WAIT
}
_RPO_KEY: Final = "0"  # of the inner objects; no document says what else it could be (change §C2.6)


def tunnel_name(
    sent: messages.DeleteTunnelRequest | messages.DescribeTunnelRequest,
) -> TunnelName:
    """How a request names a tunnel."""
    return TunnelName(text(sent.table_name), text(sent.tunnel_name), text(sent.tunnel_id))


def tunnel_call(sent: messages.HeartbeatRequest | messages.ShutdownRequest) -> TunnelCall:
    """Who asks, and of which tunnel."""
    return TunnelCall(text(sent.tunnel_id), text(sent.client_id))


def channel_call(
    sent: messages.GetCheckpointRequest | messages.ReadRecordsRequest | messages.CheckpointRequest,
) -> ChannelCall:
    """Who asks, and of which channel."""
    return ChannelCall(text(sent.tunnel_id), text(sent.client_id), text(sent.channel_id))


def reports_of(channels: Iterable[messages.Channel]) -> tuple[ChannelReport, ...]:
    """How channels stand or shall stand. Raises `InvalidRequest(TUNNEL_CHANNEL_STATUS)`."""
    reports = []
    for channel in channels:
        status = _REPORTED.get(channel.status)
        if status is None:
            raise InvalidRequest(Rule.TUNNEL_CHANNEL_STATUS, value=channel.status)
        reports.append(ChannelReport(text(channel.channel_id), channel.version, status))
    return tuple(reports)


def encode_channels(channels: Iterable[Channel]) -> list[messages.Channel]:
    """Channels of a client."""
    return [
        messages.Channel(channel_id=each.id, version=each.version, status=each.status.value)
        for each in channels
    ]


def show_tunnel(shown: TunnelShown) -> messages.TunnelInfo:
    """A tunnel, with every field that a client reads unseen (change §0)."""
    table, tunnel = shown.table, shown.tunnel
    has_stream = tunnel.kind.has_stream and table.stream is not None
    start, start_ns, end_ns = tunnel.config
    return messages.TunnelInfo(
        tunnel_id=tunnel.id,
        tunnel_type=tunnel.kind.value,
        table_name=table.name,
        instance_name=table.instance,
        stream_id=table.stream.id if has_stream and table.stream is not None else "",
        stage=shown.stage,
        expired=shown.expired,
        tunnel_name=tunnel.name,
        public=True,
        stream_tunnel_config=messages.StreamTunnelConfig(
            flag=start.value, start_offset=start_ns, end_offset=end_ns
        ),
        create_time=tunnel.created_us * 1000,
    )


def show_channels(shown: TunnelShown) -> list[messages.ChannelInfo]:
    """Its channels, sorted by their ids."""
    return [
        messages.ChannelInfo(
            channel_id=each.id,
            channel_type=_type_of(each),
            channel_status=each.status.name,
            client_id=each.owner,
            channel_rpo=each.consumed_us * 1000,
            channel_count=each.position.count,
        )
        for each in _sorted_channels(shown)
    ]


def _sorted_channels(shown: TunnelShown) -> list[Channel]:
    channels = {} if shown.state is None else shown.state.channels
    return [channels[name] for name in sorted(channels)]


def _type_of(channel: Channel) -> str:
    return "Stream" if channel.shard else "BaseData"


def rpo_documents(shown: TunnelShown, limit: int | None) -> tuple[bytes, bytes]:
    """Up to when channels and the tunnel are consumed, as JSON (change §C2.6).

    Of at most `limit` channels. AccessTime is that of the data, like RpoTime.
    """
    channels = _sorted_channels(shown)
    counted = sum(each.position.count for each in channels)
    documents = {
        each.id: {
            _RPO_KEY: {"ChannelTyp": _type_of(each)}
            | _rpo(each.status.name, each.position.count, each.consumed_us)
        }
        for each in channels[:limit]
    }
    whole = {_RPO_KEY: _rpo(shown.stage, counted, shown.consumed_us)}
    return json.dumps(documents).encode(), json.dumps(whole).encode()


def _rpo(status: str, count: int, consumed_us: int) -> dict[str, Any]:
    time_ns = consumed_us * 1000
    return {"Status": status, "TotalCount": count, "AccessTime": time_ns, "RpoTime": time_ns}
