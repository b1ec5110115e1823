"""A stream in memory for the tests of tunnels, and a consumer that behaves as the vendor's do."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from widerow.engine.plan import Plan
from widerow.engine.streams.log import (
    LogPosition,
    LogRecord,
    encode_record,
    position_of,
    record_key,
    shard_prefix,
)
from widerow.engine.streams.stream_reads import ChangePage, ShardInfo
from widerow.engine.tunnels.pages import TunnelRecord
from widerow.engine.tunnels.service import ChannelCall, TunnelCall, Tunnels
from widerow.engine.tunnels.state import (
    Channel,
    ChannelPosition,
    ChannelReport,
    ChannelStatus,
)
from widerow.errors import InvalidRequest, NotFound, Rule
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table

Run = Callable[[Callable[[], Plan[Any]]], Any]
"""Plans and commits, as often as it takes."""

Take = Callable[[str, TunnelRecord], None]
"""Hears of a record of a channel."""

__all__ = ["Consumer", "FakeLog"]


_PREFIX = shard_prefix(1, 1, 0)


@dataclass
class _Shard:
    parents: tuple[str, ...]
    first: str  # the smallest key that it takes
    stored: list[tuple[bytes, bytes]] = field(default_factory=list)
    is_open: bool = True
    trimmed: int = 0

    @property
    def end_us(self) -> int:
        """The time of the last record."""
        return position_of(self.stored[-1][0]).timestamp_us if self.stored else 0


class FakeLog:
    """Shards of ranges of keys, that split and are trimmed when a test says so."""

    def __init__(self, page: int = 2) -> None:
        """One open shard; pages of so many records."""
        self.page = page
        self._shards = {"s0": _Shard((), "")}

    # --- what the tests do -------------------------------------------------------------------

    def append(self, key: str, record: bytes, now_us: int, action: int = 1) -> None:
        """A change of a row, in the open shard of its key."""
        shard = self._shards[self.shard_of(key)]
        place = record_key(_PREFIX, LogPosition(max(now_us, shard.end_us + 1), 0))
        shard.stored.append((place, encode_record(LogRecord(action, record, b""))))

    def shard_of(self, key: str) -> str:
        """The open shard of a key."""
        taking = [(s.first, name) for name, s in self._shards.items() if s.is_open]
        return max(pair for pair in taking if pair[0] <= key)[1]

    def split(self, key: str) -> None:
        """Close the shard of a key; two others go on, the second from that key."""
        name = self.shard_of(key)
        parent = self._shards[name]
        parent.is_open = False
        for first in (parent.first, key):
            self._shards[f"s{len(self._shards)}"] = _Shard((name,), first)

    def trim(self, shard_id: str, count: int) -> None:
        """The first records of a shard are gone."""
        self._shards[shard_id].trimmed = count

    # --- what tunnels ask --------------------------------------------------------------------

    def shards(self, table: Table) -> tuple[ShardInfo, ...]:
        """All of them."""
        del table
        return tuple(ShardInfo(n, s.parents, s.is_open) for n, s in self._shards.items())

    def iterator(self, table: Table, shard_id: str, from_us: int | None) -> str:
        """The place of the first record from a time on."""
        del table
        shard = self._shards[shard_id]
        place = shard.trimmed
        if from_us is not None:
            times = [position_of(key).timestamp_us for key, _ in shard.stored]
            place = max(place, bisect_left(times, from_us))
            if place == len(times) and not shard.is_open:
                return ""
        return f"{shard_id}:{place}"

    def read(self, table: Table, iterator: str, limit: int | None) -> ChangePage:
        """A page from there on."""
        del table
        shard_id, _, text = iterator.partition(":")
        if shard_id not in self._shards or not text.isdigit():
            raise InvalidRequest(TablestoreRule.READ_TOKEN)
        shard, place = self._shards[shard_id], int(text)
        if place < shard.trimmed:
            raise NotFound(Rule.TABLE_NOT_FOUND)
        end = min(place + min(limit or self.page, self.page), len(shard.stored))
        stored, more = shard.stored[place:end], end < len(shard.stored)
        if not more and not shard.is_open:
            return ChangePage(stored, None, more=False)
        return ChangePage(stored, f"{shard_id}:{end}", more)

    def end_us(self, table: Table, shard_id: str) -> int:
        """The time of the last record."""
        del table
        return self._shards[shard_id].end_us


@dataclass
class _Held:
    version: int
    status: ChannelStatus
    position: ChannelPosition | None = None
    number: int = 0


class Consumer:
    """A client of a tunnel as change §C2.4 describes one; what it reads goes to `take`."""

    def __init__(self, run: Run, tunnel_id: str, client_id: str) -> None:
        """Connected already. `run` commits a plan of a `Tunnels` and gives its answer."""
        self.run = run
        self.tunnel_id = tunnel_id
        self.id = client_id
        self.held: dict[str, _Held] = {}

    def heartbeat(self, tunnels: Tunnels[Any], instance: str = "i") -> list[Channel]:
        """Say how the channels stand, and take over what the answer says (steps 5 to 8)."""
        reports = tuple(
            ChannelReport(name, each.version, each.status) for name, each in self.held.items()
        )
        call = TunnelCall(self.tunnel_id, self.id)
        answer: list[Channel] = self.run(lambda: tunnels.heartbeat(instance, call, reports))
        told = {channel.id: channel for channel in answer}
        for name in self.held.keys() - told.keys():
            del self.held[name]
        for name, channel in told.items():
            mine = self.held.get(name)
            if mine is None or channel.version >= mine.version:
                fresh = mine is None or mine.status is not ChannelStatus.OPEN
                if fresh or channel.status is not ChannelStatus.OPEN:
                    self.held[name] = _Held(channel.version, channel.status)
                else:
                    assert mine is not None
                    mine.version = channel.version
        for each in self.held.values():
            if each.status is ChannelStatus.CLOSING:
                each.status, each.version = ChannelStatus.CLOSE, each.version + 1
        return answer

    def open_channels(self) -> list[str]:
        """Those that it may read now."""
        return sorted(n for n, each in self.held.items() if each.status is ChannelStatus.OPEN)

    def work(
        self,
        tunnels: Tunnels[Any],
        name: str,
        take: Take,
        *,
        checkpoint: bool = True,
        instance: str = "i",
    ) -> bool:
        """Read one page of a channel (steps 3 and 4). True if it had records or came to its end."""
        mine, call = self.held[name], ChannelCall(self.tunnel_id, self.id, name)
        try:
            if mine.position is None:
                mine.position, mine.number = tunnels.get_checkpoint(instance, call)
            page = tunnels.read_records(instance, call, mine.position)
            for record in page.records:
                take(name, record)
            mine.position = page.following
            if checkpoint or page.following.finished:
                number = mine.number + 1
                position = page.following
                self.run(lambda: tunnels.checkpoint(instance, call, position, number))
                mine.number = number
        except (NotFound, InvalidRequest):  # any error closes the channel (step 7)
            mine.status, mine.version = ChannelStatus.CLOSE, mine.version + 1
            return True
        if mine.position.finished:
            mine.status, mine.version = ChannelStatus.TERMINATED, mine.version + 1
        return bool(page.records) or mine.position.finished
