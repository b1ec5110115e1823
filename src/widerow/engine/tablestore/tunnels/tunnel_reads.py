"""Reading for tunnels: pages of rows and of changes, and the bounds of channels of rows."""

from collections.abc import Callable

from widerow.clock import Clock
from widerow.engine.partitions.sizes import SizeMap
from widerow.engine.partitions.split_points import find_split_points
from widerow.engine.tablestore.expiry import live_from
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.engine.tablestore.select import ReadRule
from widerow.engine.tablestore.tunnels.base import TunnelPage, read_base
from widerow.engine.tablestore.tunnels.changes import ChangeLog, read_changes
from widerow.engine.tablestore.tunnels.state import Channel, ChannelPosition
from widerow.limits import INT64_MIN, TUNNEL_BASE_BYTES, TUNNEL_BASE_CHANNELS_MAX
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.selection import Selection
from widerow.model.tablestore.tunnel import Tunnel
from widerow.storage.interface import Reader, Store

__all__ = ["TunnelReads", "channel_bounds"]

_WHOLE_ROWS = Selection()


class TunnelReads:
    """Reads channels from the published view. Any thread may call."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        log: ChangeLog,
        note: Callable[[Table, bytes, int], None],
    ) -> None:
        """`note` is told the read units of a page of rows, and a partition key near them."""
        self._store = store
        self._clock = clock
        self._log = log
        self._note = note

    def page(
        self, table: Table, tunnel: Tunnel, channel: Channel, position: ChannelPosition
    ) -> TunnelPage:
        """The page of a channel that begins at a position.

        Raises `InvalidRequest(TUNNEL_TOKEN)`.
        """
        now_us = self._clock.now_us()
        if channel.shard:
            return read_changes(self._log, table, tunnel, channel, position, now_us)
        alive = INT64_MIN
        if table.options.time_to_live >= 0:
            alive = live_from(table.options, now_us // 1000)
        rule = ReadRule(table, _WHOLE_ROWS, alive)
        page = read_base((self._store.snapshot(), None), table, channel, position, rule)
        self._note(table, channel.start, page.read_units)
        return page


def channel_bounds(reader: Reader, table: Table, sizes: SizeMap) -> list[bytes]:
    """The bounds of a table's channels of rows: where partitions meet, and inside large ones."""
    bounds = set(table.splits)
    if sizes.size > TUNNEL_BASE_BYTES:
        end = TABLESTORE_MODEL.partition_key(table).end
        points = find_split_points(
            reader, (table.id, end), sizes, TUNNEL_BASE_BYTES, TUNNEL_BASE_CHANNELS_MAX - 1
        )
        bounds.update(points)
    return sorted(bounds)
