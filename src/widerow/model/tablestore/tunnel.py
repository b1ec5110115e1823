"""Tunnels: what stands in the catalogue of one, and how a table's data is handed to consumers.

A tunnel hands a table's rows as they are (base data), what becomes of them (stream), or first one
and then the other to programs that consume them together (change §C2). Here is the definition,
which never changes; who consumes and how far is state of its own
(`engine/tablestore/tunnels/state.py`).
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
    """What a tunnel hands out. Values are the protocol's names."""

    BASE = "BaseData"
    STREAM = "Stream"
    BASE_AND_STREAM = "BaseAndStream"

    @property
    def has_base(self) -> bool:
        """Whether rows as they are belong to it."""
        return self is not TunnelKind.STREAM

    @property
    def has_stream(self) -> bool:
        """Whether changes belong to it."""
        return self is not TunnelKind.BASE


class StreamStart(Enum):
    """Where changes begin: with the tunnel's creation, or with the oldest one that is kept."""

    LATEST = 0
    EARLIEST = 1


class TunnelConfig(NamedTuple):
    """Which changes a tunnel hands out: offsets in nanoseconds since 1970, 0: none is given.

    Changes from `start_ns` on, or as `start` says; those at `end_ns` and later are left out.
    """

    start: StreamStart = StreamStart.LATEST
    start_ns: int = 0
    end_ns: int = 0


@dataclass(frozen=True, slots=True)
class Tunnel:
    """A tunnel of a table, as it was created.

    `number` is never used again and stands in the keys of its state; `id` is what clients call it;
    `created_us`: microseconds since 1970.
    """

    id: str
    number: int
    name: str
    kind: TunnelKind
    config: TunnelConfig
    created_us: int


class CreateTunnel(NamedTuple):
    """A tunnel that is asked for."""

    table: str
    name: str
    kind: TunnelKind
    config: TunnelConfig = TunnelConfig()


class TunnelName(NamedTuple):
    """How a client names a tunnel: by `id`, or where that is empty by table and name."""

    table: str
    name: str
    id: str = ""
