"""What tunnels of timeseries tables hand out before changes: their points (change §C2.3).

A channel is a range of hashes of series. Every live point comes as a put, as the stream shows it.
"""

from dataclasses import replace
from operator import attrgetter
from typing import Final

from widerow.clock import Entropy
from widerow.engine.capacity import units
from widerow.engine.partitions.balance import Partitions
from widerow.engine.partitions.split_points import find_split_points
from widerow.engine.streams.stream_reads import Streams
from widerow.engine.timeseries.context import TimeseriesContext
from widerow.engine.timeseries.model import TIMESERIES_MODEL
from widerow.engine.timeseries.point_records import PointRecords
from widerow.engine.timeseries.static import check_name
from widerow.engine.timeseries.stored import point_fields
from widerow.engine.timeseries.walk import PointRange, walk_points
from widerow.engine.tunnels.hooks import TunnelHooks
from widerow.engine.tunnels.pages import TunnelPage, TunnelRecord, check_base
from widerow.engine.tunnels.service import Tunnels
from widerow.engine.tunnels.state import Channel, ChannelPosition
from widerow.keys.layout import row_prefix
from widerow.keys.series import TIME_AT
from widerow.limits import (
    RANGE_ROWS_MAX,
    TUNNEL_BASE_BYTES,
    TUNNEL_BASE_CHANNELS_MAX,
    TUNNEL_PAGE_BYTES_MAX,
    TUNNEL_PAGE_RECORDS_MAX,
)
from widerow.model.timeseries.table import TimeseriesTable
from widerow.rows.cells import PLAIN_HEADER
from widerow.rows.record import join_row

__all__ = ["open_point_tunnels"]

_PUT: Final = 1


def open_point_tunnels(
    context: TimeseriesContext,
    streams: Streams[TimeseriesTable],
    partitions: Partitions,
    entropy: Entropy,
) -> Tunnels[TimeseriesTable]:
    """The tunnels of one engine's timeseries tables."""

    def bounds(table: TimeseriesTable) -> list[bytes]:
        found = set(table.splits)
        sizes = partitions.load_of(table).sizes
        if sizes.size > TUNNEL_BASE_BYTES:
            of = table.id, TIMESERIES_MODEL.partition_key(table).end
            most = TUNNEL_BASE_CHANNELS_MAX - 1
            reader = context.store.snapshot()
            found.update(find_split_points(reader, of, sizes, TUNNEL_BASE_BYTES, most))
        return sorted(found)

    def read_rows(
        table: TimeseriesTable, channel: Channel, position: ChannelPosition
    ) -> TunnelPage:
        page = _read_points(context, table, channel, position)
        context.notes.add(table.id, channel.start, page.read_units, 0)
        return page

    hooks = TunnelHooks(
        context.tables,
        streams,
        check_name,
        lambda _: None,
        lambda table, _kind, _number, _now_us: table,
        lambda table, tunnels: replace(table, tunnels=tunnels),
        bounds,
        read_rows,
        attrgetter("tunnels"),
    )
    return Tunnels((context.store, context.clock, entropy), hooks)


def _read_points(
    context: TimeseriesContext, table: TimeseriesTable, channel: Channel, position: ChannelPosition
) -> TunnelPage:
    """The page of a channel that begins at a position.

    Ends at 1000 records or 1 MB, or 5000 points that have expired. Raises
    `InvalidRequest(TUNNEL_TOKEN)`.
    """
    check_base(channel, position)
    prefix = row_prefix(table.id)
    found = PointRange(table.id)
    found.start = prefix + position.key
    if channel.stop:
        found.stop = prefix + channel.stop
    found.begin_us = context.live_from_us(table)
    layouts, shown = context.layouts, PointRecords(context.layouts, table)
    records: list[TunnelRecord] = []
    passed = size = read = 0
    for series, key, stored in walk_points(context.store.snapshot(), found):
        full = len(records) >= TUNNEL_PAGE_RECORDS_MAX or size >= TUNNEL_PAGE_BYTES_MAX
        if full or passed >= RANGE_ROWS_MAX:
            following = ChannelPosition(key=key[len(prefix) :], count=position.count + len(records))
            return TunnelPage(records, following, more=True, read_units=max(1, units(read)))
        passed += 1
        read += len(key) + len(stored)
        if series is None:
            continue
        suffix = key[TIME_AT:]
        cells = shown.cells(suffix, point_fields(layouts, series.record, stored))
        section, crc = shown.key(series.record.canonical, suffix)
        row = PLAIN_HEADER + join_row(section, crc, cells)
        records.append(TunnelRecord(_PUT, row))
        size += len(row)
    ended = ChannelPosition(count=position.count + len(records), finished=True)
    return TunnelPage(records, ended, more=False, read_units=max(1, units(read)))
