"""Pages of records for clients, and channels of a table's rows (change §C2.3).

A channel of rows is a range of partition keys. Each page is read from the newest view: no snapshot
is held.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from widerow.engine.tunnels.state import Channel, ChannelPosition
from widerow.errors import InvalidRequest
from widerow.model.tunnels import TunnelRule

__all__ = ["TunnelPage", "TunnelRecord", "base_channels", "check_base"]


class TunnelRecord(NamedTuple):
    """A record for clients: the action, the row, and former values of listed columns."""

    action: int
    record: bytes
    origin: bytes | None = None


class TunnelPage(NamedTuple):
    """Records of a channel, where the next ones begin, and whether more are ready now."""

    records: list[TunnelRecord]
    following: ChannelPosition
    more: bool
    read_units: int = 0


def base_channels(bounds: Sequence[bytes]) -> list[Channel]:
    """A channel for each range between two of `bounds`, which are encoded partition keys.

    They are ascending; together the channels are the whole table.
    """
    ends = (b"", *bounds, b"")
    ranges = pairwise(ends)
    return [
        Channel(
            f"BaseData_{place:04d}", start=start, stop=stop, position=ChannelPosition(key=start)
        )
        for place, (start, stop) in enumerate(ranges)
    ]


def check_base(channel: Channel, position: ChannelPosition) -> None:
    """Raise `InvalidRequest(TUNNEL_TOKEN)` for a position outside the channel."""
    key = position.key
    if position.iterator or key < channel.start or (channel.stop and key >= channel.stop):
        raise InvalidRequest(TunnelRule.TUNNEL_TOKEN)
