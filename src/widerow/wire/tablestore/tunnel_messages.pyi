# Made by tools/gen_messages.py from the .proto files beside it; do not edit.

from collections.abc import Iterable

from google.protobuf.internal.containers import (
    RepeatedCompositeFieldContainer,
)
from google.protobuf.message import Message

class StreamTunnelConfig(Message):
    flag: int
    start_offset: int
    end_offset: int
    def __init__(
        self,
        *,
        flag: int | None = ...,
        start_offset: int | None = ...,
        end_offset: int | None = ...,
    ) -> None: ...

class Tunnel(Message):
    table_name: str | bytes
    tunnel_name: str | bytes
    tunnel_type: int
    @property
    def stream_tunnel_config(self) -> StreamTunnelConfig: ...
    need_all_time_series_columns: bool
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        tunnel_name: str | None = ...,
        tunnel_type: int | None = ...,
        stream_tunnel_config: StreamTunnelConfig | None = ...,
        need_all_time_series_columns: bool | None = ...,
    ) -> None: ...

class CreateTunnelRequest(Message):
    @property
    def tunnel(self) -> Tunnel: ...
    def __init__(
        self,
        *,
        tunnel: Tunnel | None = ...,
    ) -> None: ...

class CreateTunnelResponse(Message):
    tunnel_id: str | bytes
    def __init__(
        self,
        *,
        tunnel_id: str | None = ...,
    ) -> None: ...

class DeleteTunnelRequest(Message):
    table_name: str | bytes
    tunnel_name: str | bytes
    tunnel_id: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        tunnel_name: str | None = ...,
        tunnel_id: str | None = ...,
    ) -> None: ...

class DeleteTunnelResponse(Message):
    def __init__(self) -> None: ...

class ListTunnelRequest(Message):
    table_name: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
    ) -> None: ...

class TunnelInfo(Message):
    tunnel_id: str | bytes
    tunnel_type: str | bytes
    table_name: str | bytes
    instance_name: str | bytes
    stream_id: str | bytes
    stage: str | bytes
    expired: bool
    tunnel_name: str | bytes
    public: bool
    @property
    def stream_tunnel_config(self) -> StreamTunnelConfig: ...
    create_time: int
    def __init__(
        self,
        *,
        tunnel_id: str | None = ...,
        tunnel_type: str | None = ...,
        table_name: str | None = ...,
        instance_name: str | None = ...,
        stream_id: str | None = ...,
        stage: str | None = ...,
        expired: bool | None = ...,
        tunnel_name: str | None = ...,
        public: bool | None = ...,
        stream_tunnel_config: StreamTunnelConfig | None = ...,
        create_time: int | None = ...,
    ) -> None: ...

class ListTunnelResponse(Message):
    @property
    def tunnels(self) -> RepeatedCompositeFieldContainer[TunnelInfo]: ...
    def __init__(
        self,
        *,
        tunnels: Iterable[TunnelInfo] | None = ...,
    ) -> None: ...

class DescribeTunnelRequest(Message):
    table_name: str | bytes
    tunnel_name: str | bytes
    tunnel_id: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        tunnel_name: str | None = ...,
        tunnel_id: str | None = ...,
    ) -> None: ...

class ChannelInfo(Message):
    channel_id: str | bytes
    channel_type: str | bytes
    channel_status: str | bytes
    client_id: str | bytes
    channel_rpo: int
    channel_count: int
    def __init__(
        self,
        *,
        channel_id: str | None = ...,
        channel_type: str | None = ...,
        channel_status: str | None = ...,
        client_id: str | None = ...,
        channel_rpo: int | None = ...,
        channel_count: int | None = ...,
    ) -> None: ...

class DescribeTunnelResponse(Message):
    @property
    def tunnel(self) -> TunnelInfo: ...
    @property
    def channels(self) -> RepeatedCompositeFieldContainer[ChannelInfo]: ...
    tunnel_rpo: int
    def __init__(
        self,
        *,
        tunnel: TunnelInfo | None = ...,
        channels: Iterable[ChannelInfo] | None = ...,
        tunnel_rpo: int | None = ...,
    ) -> None: ...

class GetRpoRequest(Message):
    tunnel_id: str | bytes
    limit: int
    def __init__(
        self,
        *,
        tunnel_id: str | None = ...,
        limit: int | None = ...,
    ) -> None: ...

class GetRpoResponse(Message):
    rpo_infos: bytes
    tunnel_rpo_infos: bytes
    tunnel_id: str | bytes
    def __init__(
        self,
        *,
        rpo_infos: bytes | None = ...,
        tunnel_rpo_infos: bytes | None = ...,
        tunnel_id: str | None = ...,
    ) -> None: ...

class ClientConfig(Message):
    timeout: int
    client_tag: str | bytes
    def __init__(
        self,
        *,
        timeout: int | None = ...,
        client_tag: str | None = ...,
    ) -> None: ...

class ConnectRequest(Message):
    tunnel_id: str | bytes
    @property
    def client_config(self) -> ClientConfig: ...
    def __init__(
        self,
        *,
        tunnel_id: str | None = ...,
        client_config: ClientConfig | None = ...,
    ) -> None: ...

class ConnectResponse(Message):
    client_id: str | bytes
    def __init__(
        self,
        *,
        client_id: str | None = ...,
    ) -> None: ...

class Channel(Message):
    channel_id: str | bytes
    version: int
    status: int
    detail: bytes
    def __init__(
        self,
        *,
        channel_id: str | None = ...,
        version: int | None = ...,
        status: int | None = ...,
        detail: bytes | None = ...,
    ) -> None: ...

class HeartbeatRequest(Message):
    tunnel_id: str | bytes
    client_id: str | bytes
    @property
    def channels(self) -> RepeatedCompositeFieldContainer[Channel]: ...
    def __init__(
        self,
        *,
        tunnel_id: str | None = ...,
        client_id: str | None = ...,
        channels: Iterable[Channel] | None = ...,
    ) -> None: ...

class HeartbeatResponse(Message):
    @property
    def channels(self) -> RepeatedCompositeFieldContainer[Channel]: ...
    def __init__(
        self,
        *,
        channels: Iterable[Channel] | None = ...,
    ) -> None: ...

class ShutdownRequest(Message):
    tunnel_id: str | bytes
    client_id: str | bytes
    def __init__(
        self,
        *,
        tunnel_id: str | None = ...,
        client_id: str | None = ...,
    ) -> None: ...

class ShutdownResponse(Message):
    def __init__(self) -> None: ...

class GetCheckpointRequest(Message):
    tunnel_id: str | bytes
    client_id: str | bytes
    channel_id: str | bytes
    def __init__(
        self,
        *,
        tunnel_id: str | None = ...,
        client_id: str | None = ...,
        channel_id: str | None = ...,
    ) -> None: ...

class GetCheckpointResponse(Message):
    checkpoint: str | bytes
    sequence_number: int
    def __init__(
        self,
        *,
        checkpoint: str | None = ...,
        sequence_number: int | None = ...,
    ) -> None: ...

class CheckpointRequest(Message):
    tunnel_id: str | bytes
    client_id: str | bytes
    channel_id: str | bytes
    checkpoint: str | bytes
    sequence_number: int
    def __init__(
        self,
        *,
        tunnel_id: str | None = ...,
        client_id: str | None = ...,
        channel_id: str | None = ...,
        checkpoint: str | None = ...,
        sequence_number: int | None = ...,
    ) -> None: ...

class CheckpointResponse(Message):
    def __init__(self) -> None: ...

class ReadRecordsRequest(Message):
    tunnel_id: str | bytes
    client_id: str | bytes
    channel_id: str | bytes
    token: str | bytes
    def __init__(
        self,
        *,
        tunnel_id: str | None = ...,
        client_id: str | None = ...,
        channel_id: str | None = ...,
        token: str | None = ...,
    ) -> None: ...

class Record(Message):
    action_type: int
    record: bytes
    origin_record: bytes
    def __init__(
        self,
        *,
        action_type: int | None = ...,
        record: bytes | None = ...,
        origin_record: bytes | None = ...,
    ) -> None: ...

class ReadRecordsResponse(Message):
    @property
    def records(self) -> RepeatedCompositeFieldContainer[Record]: ...
    next_token: str | bytes
    may_more_record: bool
    def __init__(
        self,
        *,
        records: Iterable[Record] | None = ...,
        next_token: str | None = ...,
        may_more_record: bool | None = ...,
    ) -> None: ...

class Token(Message):
    version: int
    content: bytes
    def __init__(
        self,
        *,
        version: int | None = ...,
        content: bytes | None = ...,
    ) -> None: ...

class TokenContentV2(Message):
    primary_key: bytes
    iterator: str | bytes
    timestamp: int
    total_count: int
    def __init__(
        self,
        *,
        primary_key: bytes | None = ...,
        iterator: str | None = ...,
        timestamp: int | None = ...,
        total_count: int | None = ...,
    ) -> None: ...

class ScheduleRequest(Message):
    tunnel_id: str | bytes
    @property
    def channels(self) -> RepeatedCompositeFieldContainer[Channel]: ...
    def __init__(
        self,
        *,
        tunnel_id: str | None = ...,
        channels: Iterable[Channel] | None = ...,
    ) -> None: ...

class ScheduleResponse(Message):
    def __init__(self) -> None: ...
