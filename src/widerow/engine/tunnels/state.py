"""Assigns the channels of a tunnel to its clients. Pure: values in, values out.

A channel is a part of the tunnel that one client at a time consumes, a range of rows or a shard of
the stream. Clients say in heartbeats how their channels stand, and are told which are theirs; a
version tells the newer of two reports about a channel (change §C2.4, §C2.5).

    WAIT ──a client has room──► OPEN ──the client has too many──► CLOSING
      ▲                          │                                   │
      └────── its client closed it, shut down or fell silent ◄───────┘
                                 │ and its checkpoint is the end
                                 ▼
                             TERMINATED

Two rules hold whatever happens: a channel is OPEN or CLOSING with one client or with none, and its
version never decreases. A channel that was given away is given with a greater version.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, NamedTuple

__all__ = [
    "Channel",
    "ChannelPosition",
    "ChannelReport",
    "ChannelStatus",
    "TunnelClient",
    "TunnelState",
    "assigned",
    "base_is_done",
    "checkpointed",
    "connected",
    "heard",
    "is_runnable",
    "owned_by",
    "relieved",
    "scheduled",
    "with_channels",
    "without_clients",
    "without_ended",
]

# of a report; a greater one would leave no room for the versions after it
VERSION_MAX: Final = 2**62


class ChannelStatus(Enum):
    """The state of a channel. Values are the protocol's numbers; WAIT is never sent as one."""

    WAIT = 0
    OPEN = 1
    CLOSING = 2
    CLOSE = 3
    TERMINATED = 4


@dataclass(frozen=True, slots=True)
class ChannelPosition:
    """The position up to which a channel is consumed.

    `key`: of base data, where the next page begins, as encoded keys without the table's prefix, and
    where inside the row. `iterator`: of a stream. `time_ms`: of the last change before it. `count`:
    records before it. `finished`: nothing is left; then only `count` counts.
    """

    key: bytes = b""
    iterator: str = ""
    time_ms: int = 0
    count: int = 0
    finished: bool = False


@dataclass(frozen=True, slots=True)
class TunnelClient:
    """A consumer. `seen_us`: the time of a heartbeat, on this server or another one.

    `timeout_s`: how long it may be silent before its channels are given to others.
    """

    id: str
    tag: str
    timeout_s: int
    seen_us: int


@dataclass(frozen=True, slots=True)
class Channel:
    """A part of a tunnel. It is of a stream where `shard` is not empty, else a range of rows.

    `start` and `stop`: of the range, as encoded keys without the table's prefix; b"" are its ends.
    `parents`: channels that come before it. `number`: of the last checkpoint. `consumed_us`: up to
    when it is consumed. `moved_us`: when it was last taken from a client for the sake of another.
    `suspended`: paused by a client; given to no client.
    """

    id: str
    shard: str = ""
    parents: tuple[str, ...] = ()
    start: bytes = b""
    stop: bytes = b""
    owner: str = ""
    status: ChannelStatus = ChannelStatus.WAIT
    version: int = 0
    position: ChannelPosition = field(default_factory=ChannelPosition)
    number: int = 0
    consumed_us: int = 0
    moved_us: int = 0
    suspended: bool = False


class ChannelReport(NamedTuple):
    """A client's report about a channel, or the wanted state of a channel."""

    id: str
    version: int
    status: ChannelStatus


@dataclass(frozen=True, slots=True)
class TunnelState:
    """All clients and channels of a tunnel, by their ids. Never changed in place."""

    clients: Mapping[str, TunnelClient] = field(default_factory=dict)
    channels: Mapping[str, Channel] = field(default_factory=dict)


_HELD: Final = (ChannelStatus.OPEN, ChannelStatus.CLOSING)
_GIVEN_UP: Final = (ChannelStatus.CLOSE, ChannelStatus.TERMINATED)


def base_is_done(state: TunnelState) -> bool:
    """Whether all rows are consumed, so that changes may follow."""
    return all(
        channel.status is ChannelStatus.TERMINATED
        for channel in state.channels.values()
        if not channel.shard
    )


def is_runnable(state: TunnelState, channel: Channel) -> bool:
    """Whether a channel may be consumed: its parents are consumed, and it is not paused."""
    if channel.suspended or channel.status is ChannelStatus.TERMINATED:
        return False
    if channel.shard and not base_is_done(state):
        return False
    parents = (state.channels.get(parent) for parent in channel.parents)
    return all(each is None or each.status is ChannelStatus.TERMINATED for each in parents)


def owned_by(state: TunnelState, client_id: str) -> list[Channel]:
    """The channels that a client holds, sorted by their ids."""
    held = (each for each in state.channels.values() if each.owner == client_id and client_id)
    return sorted(held, key=lambda channel: channel.id)


# --- clients come and go ---------------------------------------------------------------------


def connected(state: TunnelState, client: TunnelClient) -> TunnelState:
    """The state with a client, new or with a later `seen_us`."""
    return replace(state, clients={**state.clients, client.id: client})


def without_clients(state: TunnelState, client_ids: Collection[str]) -> TunnelState:
    """The state without these clients; their channels are free, with the next greater version."""
    freed = [
        _freed(channel, channel.version + 1)
        for channel in state.channels.values()
        if channel.owner in client_ids
    ]
    kept = {name: each for name, each in state.clients.items() if name not in client_ids}
    return with_channels(TunnelState(kept, state.channels), freed)


def with_channels(state: TunnelState, channels: Iterable[Channel]) -> TunnelState:
    """The state with these channels, new or changed."""
    changed = {channel.id: channel for channel in channels}
    return replace(state, channels={**state.channels, **changed}) if changed else state


def without_ended(state: TunnelState, listed: Collection[str]) -> TunnelState:
    """The state without consumed channels whose shards the stream does not list any more.

    Channels of rows stay: changes wait until these are consumed.
    """
    kept = {
        name: each
        for name, each in state.channels.items()
        if not each.shard or each.shard in listed or each.status is not ChannelStatus.TERMINATED
    }
    return state if len(kept) == len(state.channels) else replace(state, channels=kept)


def _freed(channel: Channel, version: int) -> Channel:
    """The channel without a client; TERMINATED if its checkpoint is the end."""
    status = ChannelStatus.TERMINATED if channel.position.finished else ChannelStatus.WAIT
    return replace(channel, owner="", status=status, version=version)


# --- a heartbeat -----------------------------------------------------------------------------


def heard(
    state: TunnelState, client_id: str, reports: Iterable[ChannelReport]
) -> tuple[TunnelState, frozenset[str]]:
    """The state after a client's reports, and the ids of channels that it gave up.

    A report of a lower version is outdated, and one of a channel that the client does not hold is
    ignored: the answer corrects both. A CLOSING channel without a report has been closed.
    """
    said = {report.id: report for report in reports if report.version <= VERSION_MAX}
    changed = []
    for channel in owned_by(state, client_id):
        report = said.get(channel.id)
        after = _closed_unsaid(channel) if report is None else _reported(channel, report)
        if after is not channel:
            changed.append(after)
    given_up = frozenset(channel.id for channel in changed if not channel.owner)
    return with_channels(state, changed), given_up


def _closed_unsaid(channel: Channel) -> Channel:
    closing = channel.status is ChannelStatus.CLOSING
    return _freed(channel, channel.version) if closing else channel


def _reported(channel: Channel, report: ChannelReport) -> Channel:
    if report.version < channel.version:
        return channel
    newer = report.version > channel.version
    if report.status in _GIVEN_UP and (newer or channel.status is ChannelStatus.CLOSING):
        return _freed(channel, report.version)
    return replace(channel, version=report.version) if newer else channel


def assigned(
    state: TunnelState, client_id: str, withheld: Collection[str] = frozenset()
) -> TunnelState:
    """The state in which a client gets free channels until it has its share.

    `withheld` channels are not given to it: it gave them up in this heartbeat, perhaps because it
    cannot consume them.
    """
    room = _share(state, client_id, yields=False) - _open_count(state, client_id)
    free = sorted(
        channel.id
        for channel in state.channels.values()
        if channel.status is ChannelStatus.WAIT
        and channel.id not in withheld
        and is_runnable(state, channel)
    )
    given = [state.channels[channel_id] for channel_id in free[: max(0, room)]]
    return with_channels(
        state,
        [
            replace(each, owner=client_id, status=ChannelStatus.OPEN, version=each.version + 1)
            for each in given
        ],
    )


def relieved(state: TunnelState, client_id: str, now_us: int) -> TunnelState:
    """The state in which a client closes channels beyond its share, if others lack channels.

    A channel that was moved to another client is not moved again within a timeout.
    """
    surplus = _open_count(state, client_id) - _share(state, client_id, yields=True)
    rest_us = state.clients[client_id].timeout_s * 1_000_000
    movable = [
        channel
        for channel in reversed(owned_by(state, client_id))
        if channel.status is ChannelStatus.OPEN
        and (not channel.moved_us or channel.moved_us + rest_us <= now_us)
    ]
    closing = [
        replace(
            channel,
            status=ChannelStatus.CLOSING,
            version=channel.version + 1,
            moved_us=now_us,
        )
        for channel in movable[: max(0, surplus)]
    ]
    return with_channels(state, closing)


def _open_count(state: TunnelState, client_id: str) -> int:
    held = owned_by(state, client_id)
    return sum(1 for channel in held if channel.status is ChannelStatus.OPEN)


def _share(state: TunnelState, client_id: str, *, yields: bool) -> int:
    """How many channels a client should have: an equal share, which differs by one at most.

    Clients with most channels get the remainder, so that few channels move. Of equal ones, the
    asking client gets it; where it `yields`, the client whose id sorts first.
    """
    active = sum(1 for channel in state.channels.values() if is_runnable(state, channel))
    each, more = divmod(active, max(1, len(state.clients)))
    mine = _open_count(state, client_id)
    counts = [(_open_count(state, name), name) for name in state.clients]
    ahead = sum(
        count > mine or (yields and count == mine and name < client_id) for count, name in counts
    )
    return each + (ahead < more)


# --- checkpoints and what is asked for from outside -------------------------------------------


def checkpointed(
    state: TunnelState, channel_id: str, position: ChannelPosition, number: int, consumed_us: int
) -> TunnelState:
    """The state in which a channel is consumed up to a position."""
    channel = replace(
        state.channels[channel_id], position=position, number=number, consumed_us=consumed_us
    )
    return with_channels(state, [channel])


def scheduled(state: TunnelState, wanted: Iterable[ChannelReport]) -> TunnelState:
    """The state with wanted changes: paused (CLOSING, CLOSE), resumed (OPEN) or TERMINATED.

    Versions in `wanted` mean nothing. A channel at its end stays there (change §C2.5).
    """
    for report in wanted:
        channel = state.channels[report.id]
        after = _wanted(channel, report.status)
        if after is not channel:
            state = with_channels(state, [replace(after, version=channel.version + 1)])
    return state


def _wanted(channel: Channel, status: ChannelStatus) -> Channel:
    if channel.status is ChannelStatus.TERMINATED:
        return channel
    if status is ChannelStatus.TERMINATED:
        return replace(channel, owner="", status=ChannelStatus.TERMINATED, suspended=False)
    if status is ChannelStatus.OPEN:
        return replace(channel, suspended=False) if channel.suspended else channel
    if channel.suspended:
        return channel
    held = channel.status in _HELD
    paused = ChannelStatus.CLOSING if held else channel.status
    return replace(channel, suspended=True, status=paused)
