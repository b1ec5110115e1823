"""The tunnels of Tablestore's tables, made from the engine's parts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter

from widerow.clock import Clock, Entropy
from widerow.engine.catalog.catalog import Tables
from widerow.engine.partitions.balance import Partitions
from widerow.engine.partitions.sizes import SizeMap
from widerow.engine.partitions.split_points import find_split_points
from widerow.engine.tablestore.expiry import live_from
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.engine.tablestore.select import ReadRule
from widerow.engine.tablestore.static import check_table_name
from widerow.engine.tablestore.table_definitions import updated_table
from widerow.engine.tablestore.tunnels.base import read_base
from widerow.engine.tunnels.hooks import ChangeLog, TunnelHooks
from widerow.engine.tunnels.pages import TunnelPage
from widerow.engine.tunnels.service import Tunnels
from widerow.engine.tunnels.state import Channel, ChannelPosition
from widerow.errors import InvalidRequest
from widerow.limits import INT64_MIN, STREAM_HOURS_MAX, TUNNEL_BASE_BYTES, TUNNEL_BASE_CHANNELS_MAX
from widerow.model.tablestore.requests import StreamChange, UpdateTable
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.selection import Selection
from widerow.model.tunnels import Tunnel, TunnelKind
from widerow.storage.interface import Reader, Store

__all__ = ["open_tunnels", "with_stream_for"]

_WHOLE_ROWS = Selection()


def open_tunnels(
    tables: Tables[Table],
    given: tuple[Store, Clock, Entropy],
    partitions: Partitions,
    note_read: Callable[[Table, bytes, int], None],
    log: ChangeLog[Table],
    held: Callable[[Table], Sequence[Tunnel]] = attrgetter("tunnels"),
) -> Tunnels[Table]:
    """The tunnels of these tables. `log`: the streams.

    `note_read` is told the read units of a page of rows, and a partition key near them. `held`: the
    tunnels of a table; those of its clients unless given.
    """
    store, clock, _ = given

    def bounds(table: Table) -> list[bytes]:
        return _channel_bounds(store.snapshot(), table, partitions.load_of(table).sizes)

    def read_rows(table: Table, channel: Channel, position: ChannelPosition) -> TunnelPage:
        alive = INT64_MIN
        if table.options.time_to_live >= 0:
            alive = live_from(table.options, clock.now_us() // 1000)
        rule = ReadRule(table, _WHOLE_ROWS, alive)
        page = read_base((store.snapshot(), None), table, channel, position, rule)
        note_read(table, channel.start, page.read_units)
        return page

    hooks = TunnelHooks(
        tables,
        log,
        check_table_name,
        _check,
        with_stream_for,
        lambda table, tunnels: replace(table, tunnels=tunnels),
        bounds,
        read_rows,
        held,
    )
    return Tunnels(given, hooks)


def _check(table: Table) -> None:
    if table.index_of:
        raise InvalidRequest(TablestoreRule.INDEX_IS_NO_TABLE, table=table.name)


def with_stream_for(
    table: Table, kind: TunnelKind, number: Callable[[], int], now_us: int
) -> Table:
    """The table, with a new stream if tunnels of this kind need one and it has none."""
    if not kind.has_stream or table.stream is not None:
        return table
    stream = StreamChange(enable=True, expiration_hours=STREAM_HOURS_MAX)
    return updated_table(table, UpdateTable(table.name, stream=stream), now_us, number)


def _channel_bounds(reader: Reader, table: Table, sizes: SizeMap) -> list[bytes]:
    """The bounds of a table's channels of rows: where partitions meet, and inside large ones."""
    bounds = set(table.splits)
    if sizes.size > TUNNEL_BASE_BYTES:
        end = TABLESTORE_MODEL.partition_key(table).end
        points = find_split_points(
            reader, (table.id, end), sizes, TUNNEL_BASE_BYTES, TUNNEL_BASE_CHANNELS_MAX - 1
        )
        bounds.update(points)
    return sorted(bounds)
