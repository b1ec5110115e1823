"""Tunnels: their definition in the catalogue.

A tunnel hands out a table's existing rows (base data), its changes (stream), or first one and then
the other to programs that share the work (change §C2). The definition never changes; clients and
positions are the tunnel's state (`engine/tablestore/tunnels/state.py`).
"""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

__all__ = [
    "CreateTunnel",
    "StreamStart",
    "Tunnel",
    "TunnelConfig",
    "TunnelKind",
    "TunnelName",
]


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
