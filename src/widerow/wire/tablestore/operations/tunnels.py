"""Tunnels: clients that consume the rows and the changes of a table (change §C2).

Imported with the first request for one of these actions.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeVar

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tunnels.pages import TunnelPage
from widerow.engine.tunnels.service import ChannelCall, TunnelCall, Tunnels, TunnelShown
from widerow.engine.tunnels.state import (
    Channel,
    ChannelPosition,
    ChannelReport,
    ChannelStatus,
)
from widerow.errors import InvalidRequest, NotYet, Unsupported
from widerow.limits import STREAM_WAIT_SECONDS, TUNNEL_TIMEOUT_SECONDS
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tunnels import (
    CreateTunnel,
    StreamStart,
    TunnelConfig,
    TunnelKind,
    TunnelName,
    TunnelRule,
)
from widerow.wire.tablestore import tunnel_messages as m
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.beside import (
    followed_beside,
    following_beside,
    models_beside,
)
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.tunnel_tokens import decode_position, encode_position

__all__ = [
    "TUNNEL_ACTIONS",
    "AskedTunnel",
    "CheckpointCall",
    "ConnectCall",
    "HeartbeatCall",
    "ReadRecordsCall",
    "RpoCall",
    "RpoShown",
    "ScheduleCall",
]

R = TypeVar("R")

_KINDS: Final = {1: TunnelKind.BASE, 2: TunnelKind.STREAM, 3: TunnelKind.BASE_AND_STREAM}
_STARTS: Final = {start.value: start for start in StreamStart}
_REPORTED: Final = {
    status.value: status for status in ChannelStatus if status is not ChannelStatus.WAIT
}
_RPO_KEY: Final = "0"  # of the inner objects; no document says what else it could be (change §C2.6)


class AskedTunnel(NamedTuple):
    """The tunnel to be made, and whether records of points shall have all of their fields.

    They have in any case; other tables have no points.
    """

    tunnel: CreateTunnel
    whole_points: bool

    @property
    def table(self) -> str:
        """The name of the table that it is to follow."""
        return self.tunnel.table


class ConnectCall(NamedTuple):
    """The tunnel, what the client calls itself, and how many seconds it may be silent."""

    tunnel: str
    tag: str
    timeout_s: int


class HeartbeatCall(NamedTuple):
    """The client, and what it says of its channels."""

    who: TunnelCall
    reports: tuple[ChannelReport, ...]

    @property
    def tunnel(self) -> str:
        """The id of the tunnel."""
        return self.who.tunnel


class CheckpointCall(NamedTuple):
    """Who consumed which channel, how far, and the number of this checkpoint."""

    who: ChannelCall
    position: ChannelPosition
    number: int

    @property
    def tunnel(self) -> str:
        """The id of the tunnel."""
        return self.who.tunnel


class ReadRecordsCall(NamedTuple):
    """Who reads which channel, and where the page begins."""

    who: ChannelCall
    position: ChannelPosition

    @property
    def tunnel(self) -> str:
        """The id of the tunnel."""
        return self.who.tunnel


class ScheduleCall(NamedTuple):
    """The tunnel, and how its channels shall stand."""

    tunnel: str
    wanted: tuple[ChannelReport, ...]


class RpoCall(NamedTuple):
    """The tunnel, and of how many channels at most; None: of all."""

    tunnel: str
    limit: int | None


class RpoShown(NamedTuple):
    """The tunnel, and of how many channels at most."""

    shown: TunnelShown
    limit: int | None


# --- requests --------------------------------------------------------------------------------


@decoder(m.CreateTunnelRequest)
def _create(sent: m.CreateTunnelRequest) -> AskedTunnel:
    tunnel = sent.tunnel
    kind = _KINDS.get(tunnel.tunnel_type)
    if kind is None:
        raise InvalidRequest(TunnelRule.TUNNEL_KIND, value=tunnel.tunnel_type)
    config = _config(tunnel.stream_tunnel_config)
    asked = CreateTunnel(text(tunnel.table_name), text(tunnel.tunnel_name), kind, config)
    return AskedTunnel(asked, tunnel.need_all_time_series_columns)


def _config(sent: m.StreamTunnelConfig) -> TunnelConfig:
    """Where changes begin and end; an offset says more than the flag (change §C2.2)."""
    start = _STARTS.get(sent.flag)
    if start is None:
        raise InvalidRequest(TunnelRule.TUNNEL_START_FLAG, value=sent.flag)
    if sent.start_offset:
        start = StreamStart.LATEST
    return TunnelConfig(start, sent.start_offset, sent.end_offset)


@decoder(m.ConnectRequest)
def _connect(sent: m.ConnectRequest) -> ConnectCall:
    config = sent.client_config
    timeout_s = config.timeout if config.HasField("timeout") else TUNNEL_TIMEOUT_SECONDS
    return ConnectCall(text(sent.tunnel_id), text(config.client_tag), timeout_s)


@decoder(m.HeartbeatRequest)
def _heartbeat(sent: m.HeartbeatRequest) -> HeartbeatCall:
    return HeartbeatCall(_tunnel_call(sent), _reports_of(sent.channels))


@decoder(m.ReadRecordsRequest)
def _read(sent: m.ReadRecordsRequest) -> ReadRecordsCall:
    return ReadRecordsCall(_channel_call(sent), decode_position(text(sent.token)))


@decoder(m.CheckpointRequest)
def _checkpoint(sent: m.CheckpointRequest) -> CheckpointCall:
    position = decode_position(text(sent.checkpoint))
    return CheckpointCall(_channel_call(sent), position, sent.sequence_number)


@decoder(m.GetRpoRequest)
def _decode_rpo(sent: m.GetRpoRequest) -> RpoCall:
    """A limit below one is none."""
    return RpoCall(text(sent.tunnel_id), sent.limit if sent.limit > 0 else None)


@decoder(m.ScheduleRequest)
def _schedule(sent: m.ScheduleRequest) -> ScheduleCall:
    return ScheduleCall(text(sent.tunnel_id), _reports_of(sent.channels))


def _tunnel_name(sent: m.DeleteTunnelRequest | m.DescribeTunnelRequest) -> TunnelName:
    """How a request names a tunnel."""
    return TunnelName(text(sent.table_name), text(sent.tunnel_name), text(sent.tunnel_id))


def _tunnel_call(sent: m.HeartbeatRequest | m.ShutdownRequest) -> TunnelCall:
    """Who asks, and of which tunnel."""
    return TunnelCall(text(sent.tunnel_id), text(sent.client_id))


def _channel_call(
    sent: m.GetCheckpointRequest | m.ReadRecordsRequest | m.CheckpointRequest,
) -> ChannelCall:
    """Who asks, and of which channel."""
    return ChannelCall(text(sent.tunnel_id), text(sent.client_id), text(sent.channel_id))


def _reports_of(channels: Iterable[m.Channel]) -> tuple[ChannelReport, ...]:
    """How channels stand or shall stand. Raises `InvalidRequest(TUNNEL_CHANNEL_STATUS)`."""
    reports = []
    for channel in channels:
        status = _REPORTED.get(channel.status)
        if status is None:
            raise InvalidRequest(TunnelRule.TUNNEL_CHANNEL_STATUS, value=channel.status)
        reports.append(ChannelReport(text(channel.channel_id), channel.version, status))
    return tuple(reports)


# --- answers ---------------------------------------------------------------------------------


def _find_rpo(engine: TablestoreEngine, instance: str, request: RpoCall) -> RpoShown:
    named = TunnelName("", "", request.tunnel)
    shown = _tunnels(engine, request.tunnel).describe(instance, named)
    return RpoShown(shown, request.limit)


def _encode_described(result: TunnelShown) -> bytes:
    return m.DescribeTunnelResponse(
        tunnel=_show_tunnel(result),
        channels=_show_channels(result),
        tunnel_rpo=result.consumed_us * 1000,
    ).SerializeToString()


def _encode_checkpoint(result: tuple[ChannelPosition, int]) -> bytes:
    position, number = result
    return m.GetCheckpointResponse(
        checkpoint=encode_position(position), sequence_number=number
    ).SerializeToString()


def _encode_page(result: TunnelPage) -> bytes:
    """Clients pace themselves by `may_more_record`, so it is always sent."""
    records = [
        m.Record(action_type=each.action, record=each.record, origin_record=each.origin)
        for each in result.records
    ]
    return m.ReadRecordsResponse(
        records=records,
        next_token=encode_position(result.following),
        may_more_record=result.more,
    ).SerializeToString()


def _encode_rpo(result: RpoShown) -> bytes:
    """With every field that a client reads unseen (change §0)."""
    channels, whole = _rpo_documents(*result)
    return m.GetRpoResponse(
        rpo_infos=channels, tunnel_rpo_infos=whole, tunnel_id=result.shown.tunnel.id
    ).SerializeToString()


def _encode_channels(channels: Iterable[Channel]) -> list[m.Channel]:
    return [
        m.Channel(channel_id=each.id, version=each.version, status=each.status.value)
        for each in channels
    ]


def _show_tunnel(shown: TunnelShown) -> m.TunnelInfo:
    """A tunnel, with every field that a client reads unseen (change §0)."""
    table, tunnel = shown.table, shown.tunnel
    has_stream = tunnel.kind.has_stream and table.stream is not None
    start, start_ns, end_ns = tunnel.config
    return m.TunnelInfo(
        tunnel_id=tunnel.id,
        tunnel_type=tunnel.kind.value,
        table_name=table.name,
        instance_name=table.instance,
        stream_id=table.stream.id if has_stream and table.stream is not None else "",
        stage=shown.stage,
        expired=shown.expired,
        tunnel_name=tunnel.name,
        public=True,
        stream_tunnel_config=m.StreamTunnelConfig(
            flag=start.value, start_offset=start_ns, end_offset=end_ns
        ),
        create_time=tunnel.created_us * 1000,
    )


def _show_channels(shown: TunnelShown) -> list[m.ChannelInfo]:
    """Its channels, sorted by their ids."""
    return [
        m.ChannelInfo(
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


def _rpo_documents(shown: TunnelShown, limit: int | None) -> tuple[bytes, bytes]:
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


def _created(engine: TablestoreEngine, instance: str, sent: AskedTunnel) -> Plan[str]:
    """Waits for changes on their way to the stream: they would come behind the rows once more."""
    asked = sent.tunnel
    model: Any = followed_beside(engine, instance, asked.table)
    if sent.whole_points and model is engine:
        raise Unsupported(
            TablestoreRule.FEATURE_UNSUPPORTED, feature="need_all_time_series_columns"
        )
    plan: Plan[str] = model.tunnels.create(instance, asked)
    if asked.kind.has_base and asked.kind.has_stream:
        table = model.tables.get(instance, asked.table)
        if table is not None and model.streams.is_behind(table):
            raise NotYet(plan, STREAM_WAIT_SECONDS)
    return plan


def _named(engine: TablestoreEngine, instance: str, named: TunnelName) -> Tunnels[Any]:
    """The tunnels of the model whose table a request names."""
    if named.id:
        return _tunnels(engine, named.id)
    return followed_beside(engine, instance, named.table).tunnels


def _tunnels(engine: TablestoreEngine, tunnel_id: str) -> Tunnels[Any]:
    """The tunnels of the model that has a tunnel."""
    return following_beside(engine, tunnel_id).tunnels


def _of_tunnel(
    operation: Callable[[Tunnels[Any], str, Any], R],
) -> Callable[[TablestoreEngine, str, Any], R]:
    """An operation of whichever model has the tunnel that a request says the id of."""

    def run(engine: TablestoreEngine, instance: str, asked: Any) -> R:  # noqa: ANN401  # with the id as `tunnel`
        return operation(_tunnels(engine, asked.tunnel), instance, asked)

    return run


def _listed(engine: TablestoreEngine, instance: str, table: str | None) -> list[TunnelShown]:
    """Without a table: of all tables of the instance."""
    if table is not None:
        return followed_beside(engine, instance, table).tunnels.list_tunnels(instance, table)
    return [
        shown
        for model in models_beside(engine)
        for shown in model.tunnels.list_tunnels(instance, None)
    ]


TUNNEL_ACTIONS: Final[dict[str, Action]] = {
    "tunnel/create": Action(
        _create,
        _created,
        lambda id_: m.CreateTunnelResponse(tunnel_id=id_).SerializeToString(),
    ),
    "tunnel/delete": Action(
        decoder(m.DeleteTunnelRequest)(_tunnel_name),
        lambda engine, instance, asked: _named(engine, instance, asked).delete(instance, asked),
    ),
    "tunnel/list": Action(
        # Without a table: of all tables of the instance.
        decoder(m.ListTunnelRequest)(
            lambda sent: text(sent.table_name) if sent.HasField("table_name") else None
        ),
        _listed,
        lambda found: m.ListTunnelResponse(tunnels=map(_show_tunnel, found)).SerializeToString(),
    ),
    "tunnel/describe": Action(
        decoder(m.DescribeTunnelRequest)(_tunnel_name),
        lambda engine, instance, asked: _named(engine, instance, asked).describe(instance, asked),
        _encode_described,
    ),
    "tunnel/connect": Action(
        _connect,
        _of_tunnel(lambda tunnels, instance, asked: tunnels.connect(instance, *asked)),
        lambda id_: m.ConnectResponse(client_id=id_).SerializeToString(),
    ),
    "tunnel/heartbeat": Action(
        _heartbeat,
        _of_tunnel(lambda tunnels, instance, asked: tunnels.heartbeat(instance, *asked)),
        lambda channels: m.HeartbeatResponse(
            channels=_encode_channels(channels)
        ).SerializeToString(),
    ),
    "tunnel/shutdown": Action(
        decoder(m.ShutdownRequest)(_tunnel_call),
        _of_tunnel(lambda tunnels, instance, asked: tunnels.shutdown(instance, asked)),
    ),
    "tunnel/getcheckpoint": Action(
        decoder(m.GetCheckpointRequest)(_channel_call),
        _of_tunnel(lambda tunnels, instance, asked: tunnels.get_checkpoint(instance, asked)),
        _encode_checkpoint,
    ),
    "tunnel/readrecords": Action(
        _read,
        _of_tunnel(lambda tunnels, instance, asked: tunnels.read_records(instance, *asked)),
        _encode_page,
    ),
    "tunnel/checkpoint": Action(
        _checkpoint,
        _of_tunnel(lambda tunnels, instance, asked: tunnels.checkpoint(instance, *asked)),
    ),
    "tunnel/getrpo": Action(_decode_rpo, _find_rpo, _encode_rpo),
    "tunnel/getrpobyoffset": Action(_decode_rpo, _find_rpo, _encode_rpo),
    "tunnel/schedule": Action(
        _schedule,
        _of_tunnel(lambda tunnels, instance, asked: tunnels.schedule(instance, *asked)),
    ),
}
