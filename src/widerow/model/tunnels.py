"""Tunnels: their definition in the catalogue.

A tunnel hands out a table's existing rows (base data), its changes (stream), or first one and then
the other to programs that share the work (change §C2). The definition never changes; clients and
positions are the tunnel's state (`engine/tunnels/state.py`).
"""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from widerow.errors import AnyRule

__all__ = [
    "CreateTunnel",
    "StreamStart",
    "Tunnel",
    "TunnelConfig",
    "TunnelKind",
    "TunnelName",
    "TunnelRule",
]


class TunnelRule(AnyRule):
    """A rule that a request to a tunnel can break (change §C2). The value is sent as a hint."""

    TUNNEL_NAME = "Tunnels are named as tables: 1 to 255 of A-Z a-z 0-9 _, not a digit first."
    TUNNEL_KIND = "Use BaseData, Stream or BaseAndStream."
    TUNNEL_START_FLAG = "Use LATEST or EARLIEST, or give a start offset."
    TUNNEL_RANGE = "Let the end offset be the start offset or a later one."
    TUNNEL_START = "Start now or earlier, and five minutes after the oldest change that is kept."
    TUNNEL_COUNT = "Delete a tunnel of the table first."
    TUNNEL_EXISTS = "Choose another name, or delete the tunnel first."
    TUNNEL_NOT_FOUND = "Create the tunnel, or check its id or its table and name."
    TUNNEL_EXPIRED = (
        "Its changes went before all rows were consumed: delete the tunnel and create it again."
    )
    TUNNEL_TIMEOUT = "Let clients time out after 10 to 3600 seconds."
    TUNNEL_CLIENT_TAG = "Use a shorter client tag."
    TUNNEL_CLIENTS = "Shut clients down that consume nothing; one process needs one of them."
    TUNNEL_CLIENT_GONE = "Connect again: this client is not known or was silent for its timeout."
    TUNNEL_CHANNEL_NOT_FOUND = "Use the channels that a heartbeat or DescribeTunnel names."
    TUNNEL_CHANNEL_TAKEN = "Another client consumes this channel; wait for the next heartbeat."
    TUNNEL_CHANNEL_STATUS = "Use OPEN, CLOSING, CLOSE or TERMINATED."
    TUNNEL_TOKEN = "Send the token exactly as an answer for this channel returned it."  # noqa: S105  # a hint
    TUNNEL_SEQUENCE = "Ask GetCheckpoint for the last number, and send one more than it."


class TunnelKind(Enum):
    """The data that a tunnel hands out. Values are the protocol's names."""

    BASE = "BaseData"
    STREAM = "Stream"
    BASE_AND_STREAM = "BaseAndStream"

    @property
    def has_base(self) -> bool:
        """Whether the tunnel hands out existing rows."""
        return self is not TunnelKind.STREAM

    @property
    def has_stream(self) -> bool:
        """Whether the tunnel hands out changes."""
        return self is not TunnelKind.BASE


class StreamStart(Enum):
    """Where changes begin: at the tunnel's creation, or at the oldest change that is kept."""

    LATEST = 0
    EARLIEST = 1


class TunnelConfig(NamedTuple):
    """The changes of a tunnel: bounds in nanoseconds since 1970; 0: no bound.

    Changes from `start_ns` on, or as `start` says; those at `end_ns` and later are left out.
    """

    start: StreamStart = StreamStart.LATEST
    start_ns: int = 0
    end_ns: int = 0


@dataclass(frozen=True, slots=True)
class Tunnel:
    """A tunnel of a table, as it was created.

    `number` is never used again, and is in the keys of its state; `id`: the name that clients use;
    `created_us`: microseconds since 1970.
    """

    id: str
    number: int
    name: str
    kind: TunnelKind
    config: TunnelConfig
    created_us: int


class CreateTunnel(NamedTuple):
    """The request for a new tunnel."""

    table: str
    name: str
    kind: TunnelKind
    config: TunnelConfig = TunnelConfig()


class TunnelName(NamedTuple):
    """The name of a tunnel in a request: its `id`, or if that is empty its table and name."""

    table: str
    name: str
    id: str = ""
