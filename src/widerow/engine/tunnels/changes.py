"""Channels of changes: the shards of a table's stream, read in pages (change §C2.3, §C2.8)."""

from collections.abc import Collection
from typing import Final, TypeVar

from widerow.engine.streams.stream_reads import ChangePage, ShardInfo
from widerow.engine.tunnels.hooks import ChangeLog, TunnelledTable
from widerow.engine.tunnels.pages import TunnelPage, TunnelRecord
from widerow.engine.tunnels.state import Channel, ChannelPosition
from widerow.engine.tunnels.tunnel_definitions import start_us
from widerow.errors import InvalidRequest, NotFound
from widerow.limits import TUNNEL_END_PATIENCE_SECONDS, TUNNEL_PAGE_RECORDS_MAX
from widerow.model.tunnels import Tunnel, TunnelRule

__all__ = [
    "change_channels",
    "consumed_until",
    "read_changes",
]

T = TypeVar("T", bound=TunnelledTable)

_AFTER_ALL_US: Final = 2**62  # a time after every change: the tail of a shard


def change_channels(
    log: ChangeLog[T], table: T, tunnel: Tunnel, known: Collection[str], *, first: bool
) -> list[Channel]:
    """A new channel for each shard without one that may have records to consume.

    `first`: the tunnel begins now. If rows come first, changes begin at the shards' tails: every
    change committed before is in the rows, which are read later. Later shards hold no older change.
    """
    from_us = start_us(tunnel)
    if tunnel.kind.has_base and from_us == tunnel.created_us:
        from_us = _AFTER_ALL_US if first else None
    found = []
    shards = {shard.id: shard for shard in log.shards(table)}
    for shard in shards.values():
        if shard.id in known or _begins_behind_end(log, table, tunnel, shard, shards):
            continue
        iterator = log.iterator(table, shard.id, from_us)
        if iterator:
            time_us = min(from_us or 0, tunnel.created_us)
            position = ChannelPosition(iterator=iterator, time_ms=time_us // 1000)
            found.append(
                Channel(shard.id, shard=shard.id, parents=shard.parents, position=position)
            )
    return found


def _begins_behind_end(
    log: ChangeLog[T], table: T, tunnel: Tunnel, shard: ShardInfo, listed: Collection[str]
) -> bool:
    """Whether no change of a shard is before the tunnel's end: a parent has reached that end."""
    end_ns = tunnel.config.end_ns
    parents = [parent for parent in shard.parents if parent in listed]
    return bool(end_ns) and any(log.end_us(table, each) * 1000 >= end_ns for each in parents)


def read_changes(
    log: ChangeLog[T],
    table: T,
    tunnel: Tunnel,
    channel: Channel,
    position: ChannelPosition,
    now_us: int,
) -> TunnelPage:
    """The page of a channel that begins at a position. Raises `InvalidRequest(TUNNEL_TOKEN)`.

    Where the next changes were trimmed, it begins at the oldest one that is kept.
    """
    page = _page_of(log, table, channel, position)
    if page is None:
        return TunnelPage([], ChannelPosition(count=position.count, finished=True), more=False)
    end_ns = tunnel.config.end_ns
    found = page.records()
    within = [each for each in found if not end_ns or each.timestamp_us * 1000 < end_ns]
    records = [TunnelRecord(each.action, each.record, each.origin) for each in within]
    count = position.count + len(records)
    if (
        page.following is None
        or len(within) < len(found)
        or (not found and not page.more and _is_over(end_ns, now_us))
    ):
        return TunnelPage(records, ChannelPosition(count=count, finished=True), more=False)
    time_ms = within[-1].timestamp_us // 1000 if within else position.time_ms
    following = ChannelPosition(iterator=page.following, time_ms=time_ms, count=count)
    return TunnelPage(records, following, page.more)


def _is_over(end_ns: int, now_us: int) -> bool:
    """Whether no change before the tunnel's end can come any more."""
    return bool(end_ns) and end_ns // 1000 + TUNNEL_END_PATIENCE_SECONDS * 1_000_000 <= now_us


def _page_of(
    log: ChangeLog[T], table: T, channel: Channel, position: ChannelPosition
) -> ChangePage | None:
    """The page at a position, or at the oldest change; None where the shard is gone."""
    if not position.iterator or position.key:
        raise InvalidRequest(TunnelRule.TUNNEL_TOKEN)
    try:
        return log.read(table, position.iterator, TUNNEL_PAGE_RECORDS_MAX)
    except InvalidRequest as error:
        raise InvalidRequest(TunnelRule.TUNNEL_TOKEN) from error
    except NotFound:
        pass
    try:
        oldest = log.iterator(table, channel.shard, None)
        return log.read(table, oldest, TUNNEL_PAGE_RECORDS_MAX) if oldest else None
    except NotFound:
        return None


def consumed_until(log: ChangeLog[T], table: T, position: ChannelPosition, now_us: int) -> int:
    """The time up to which changes are consumed at a position: now, where none is left.

    Raises `InvalidRequest(TUNNEL_TOKEN)` for an iterator that is not of the table's stream.
    """
    try:
        page = log.read(table, position.iterator, 1)
    except InvalidRequest as error:
        raise InvalidRequest(TunnelRule.TUNNEL_TOKEN) from error
    except NotFound:
        return position.time_ms * 1000
    return position.time_ms * 1000 if page.stored or page.more else now_us
