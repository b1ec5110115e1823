"""Runs one delivery task: a client of its tunnel, which writes records into files.

Rows wait in a buffer for each channel until there are enough of them or they have waited long
enough. Then their files are written and made durable, and only then is the channel's checkpoint
set. The sequence number in the files' names is that of the checkpoint: so a server that repeats the
work of a killed one overwrites its files.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple, TypeVar

from widerow.clock import Clock
from widerow.engine.plan import Plan
from widerow.engine.tablestore.delivery.names import (
    DeliveredFile,
    dirty_file,
    expanded,
    parquet_file,
)
from widerow.engine.tablestore.delivery.service import Deliveries, FoundTask
from widerow.engine.tablestore.delivery.values import DeliveredRow, delivered_row
from widerow.engine.tunnels.service import ChannelCall, TunnelCall
from widerow.engine.tunnels.state import Channel, ChannelReport, ChannelStatus
from widerow.errors import NotFound
from widerow.limits import (
    DELIVERY_BUFFER_BYTES_MAX,
    DELIVERY_BUFFER_ROWS_MAX,
    DELIVERY_CLIENT_SECONDS,
    DELIVERY_HEARTBEAT_SECONDS,
)
from widerow.model.tunnels import TunnelName, TunnelRule
from widerow.server.delivery.files import DeliveryRoot
from widerow.server.delivery.parquet import write_parquet

__all__ = ["ChannelBuffer", "Delivering", "DeliveryParts"]

_TAG: Final = "delivery"
_MINUTE_US: Final = 60_000_000
CHANNELS_AT_ONCE: Final = 16  # of a task, before other tasks have their turn: as many pages

T = TypeVar("T")


class DeliveryParts(NamedTuple):
    """What all tasks share.

    `run` commits a plan and waits for it. `turn` is held while much is computed. `wait_ns`: how
    long rows may wait for their file.
    """

    deliveries: Deliveries
    run: Callable[[Plan[Any]], Any]
    clock: Clock
    root: DeliveryRoot
    turn: AbstractContextManager[object]
    wait_ns: int


class ChannelBuffer:
    """Rows taken from a channel since its checkpoint. `size`: about their bytes in memory."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.rows: list[DeliveredRow] = []
        self.size = 0
        self.position = channel.position
        self.number = channel.number
        self.since_ns: int | None = None  # when the position left the checkpoint
        self.more = True

    def take(self, rows: list[DeliveredRow]) -> None:
        """Add rows to the buffer."""
        self.rows += rows
        self.size += sum(row.size for row in rows)

    def is_due(self, now_ns: int, wait_ns: int) -> bool:
        """Whether the rows are to be written now."""
        if self.since_ns is None:
            return False
        return (
            self.position.finished
            or self.size >= DELIVERY_BUFFER_BYTES_MAX
            or len(self.rows) >= DELIVERY_BUFFER_ROWS_MAX
            or now_ns - self.since_ns >= wait_ns
        )

    def written(self) -> None:
        """Empty the buffer, after its rows are in files and the checkpoint is set."""
        self.rows = []
        self.size = 0
        self.number += 1
        self.since_ns = None


class Delivering:
    """A running task, on one thread. After an error it must not be used any more."""

    def __init__(self, found: FoundTask, parts: DeliveryParts) -> None:
        """Does nothing before `step`."""
        self.found = found
        self.buffers: dict[str, ChannelBuffer] = {}
        self._parts = parts
        self._tunnels = parts.deliveries.tunnels
        self._instance = found.table.instance
        self._client = ""
        self._heard_ns = 0
        self._turn = 0  # of the channels: the next one
        self._more = False  # whether there was more in one of those before
        self._suffers = parts.deliveries.trouble(found) is not None

    def step(self) -> bool:
        """Take a page of each of some channels, and write what is due; whether more is there now.

        Channels take turns, and other tasks have theirs between: a table may have a thousand.

        Raises: `DeliveryFailed`; `NotFound` where the task was deleted or another server runs it;
        errors of commits.
        """
        if not self._client:
            self._connect()
        self._beat()
        buffers = list(self.buffers.values())[self._turn : self._turn + CHANNELS_AT_ONCE]
        for buffer in buffers:
            self._more |= self._advance(buffer)
        self._turn += len(buffers)
        if self._turn < len(self.buffers):
            return True
        more, self._turn, self._more = self._more, 0, False
        return more

    def finish(self) -> None:
        """Write all buffers, and give the channels back. Raises as `step`."""
        for buffer in self.buffers.values():
            if buffer.since_ns is not None:
                self.flush(buffer)
        if self._client:
            self._parts.run(self._tunnels.shutdown(self._instance, self._call(self._client)))

    def _call(self, client: str) -> TunnelCall:
        return TunnelCall(self.found.task.tunnel.id, client)

    def _channel_call(self, buffer: ChannelBuffer) -> ChannelCall:
        return ChannelCall(self.found.task.tunnel.id, self._client, buffer.channel.id)

    # --- channels ------------------------------------------------------------------------------

    def _connect(self) -> None:
        """Become the tunnel's only client: clients of other servers are shut down."""
        run, tunnel = self._parts.run, self.found.task.tunnel
        shown = self._tunnels.describe(self._instance, TunnelName("", "", tunnel.id))
        for client in shown.state.clients if shown.state is not None else ():
            run(self._tunnels.shutdown(self._instance, self._call(client)))
        self._client = run(
            self._tunnels.connect(self._instance, tunnel.id, _TAG, DELIVERY_CLIENT_SECONDS)
        )
        self._heard_ns = 0

    def _beat(self) -> None:
        """Send a heartbeat, if due: report consumed channels, take over assigned ones."""
        now_ns = self._parts.clock.monotonic_ns()
        ended = [
            ChannelReport(each.channel.id, each.channel.version + 1, ChannelStatus.TERMINATED)
            for each in self.buffers.values()
            if each.position.finished and each.since_ns is None
        ]
        rest_ns = self._heard_ns + DELIVERY_HEARTBEAT_SECONDS * 1_000_000_000 - now_ns
        if self._heard_ns and not ended and rest_ns > 0:
            return
        going = {report.id for report in ended}
        kept = [
            ChannelReport(each.channel.id, each.channel.version, ChannelStatus.OPEN)
            for each in self.buffers.values()
            if each.channel.id not in going
        ]
        plan = self._tunnels.heartbeat(self._instance, self._call(self._client), (*kept, *ended))
        channels: list[Channel] = self._parts.run(plan)
        self._heard_ns = max(1, now_ns)
        self.buffers = {channel.id: self._buffer_of(channel) for channel in channels}

    def _buffer_of(self, channel: Channel) -> ChannelBuffer:
        """The buffer of a channel; a new one if the channel was assigned elsewhere meanwhile."""
        known = self.buffers.get(channel.id)
        if known is not None and known.channel.version == channel.version:
            return known
        return ChannelBuffer(channel)

    def _advance(self, buffer: ChannelBuffer) -> bool:
        """Read a page of a channel; whether more can be read."""
        now_ns = self._parts.clock.monotonic_ns()
        if not buffer.position.finished:
            self._take_page(buffer, now_ns)
        due = buffer.is_due(now_ns, self._parts.wait_ns)
        if due or (self._suffers and buffer.since_ns is not None and not buffer.more):
            self.flush(buffer)
        return buffer.more or buffer.position.finished

    def _take_page(self, buffer: ChannelBuffer, now_ns: int) -> None:
        task, before = self.found.task, buffer.position
        with self._parts.turn:
            page = self._tunnels.read_records(self._instance, self._channel_call(buffer), before)
            created_us = task.tunnel.created_us
            rows = [
                row
                for each in page.records
                if (row := delivered_row(task.config, each.action, each.record, created_us))
            ]
        buffer.take(rows)
        buffer.position, buffer.more = page.following, page.more
        if buffer.since_ns is None and buffer.position != before:
            buffer.since_ns = now_ns

    # --- files ---------------------------------------------------------------------------------

    def flush(self, buffer: ChannelBuffer) -> None:
        """Write a channel's rows into files, then set its checkpoint."""
        for file, rows in self._files(buffer).items():
            self._write(buffer, file, rows)
        number = buffer.number + 1
        self._parts.run(
            self._tunnels.checkpoint(
                self._instance, self._channel_call(buffer), buffer.position, number
            )
        )
        buffer.written()
        if self._suffers:
            self._parts.run(self._parts.deliveries.note(self.found, None))
            self._suffers = False

    def _files(self, buffer: ChannelBuffer) -> dict[DeliveredFile, list[DeliveredRow]]:
        """Rows by file, in their order.

        Rows that do not fit are dropped without a place for them.
        """
        task, concurrent = self.found.task, self._concurrent_id(buffer.channel)
        minutes: dict[tuple[bool, int], list[DeliveredRow]] = {}  # rows of one minute share a file
        files: dict[DeliveredFile, list[DeliveredRow]] = {}
        for row in buffer.rows:
            key = bool(row.dirty), row.time_us // _MINUTE_US
            rows = minutes.get(key)
            if rows is None:
                prefix = task.config.dirty_prefix if row.dirty else task.config.prefix
                form = dirty_file if row.dirty else parquet_file
                filled = expanded(prefix, row.time_us)
                place = form(filled, task.name, concurrent, buffer.number + 1)
                dropped = row.dirty and not prefix
                rows = [] if dropped else files.setdefault(place, [])
                minutes[key] = rows
            rows.append(row)
        return files

    def _concurrent_id(self, channel: Channel) -> str:
        """The number of the task's tunnel, and a number for the channel.

        Channels of rows have the first numbers, then come the shards of the stream. Tunnels'
        numbers are never used again: a task never overwrites files of a former one of its name.
        """
        ranges = self._parts.deliveries.row_channels(self.found)
        place = ranges.index(channel.id) if not channel.shard else len(ranges) + int(channel.shard)
        return f"{self.found.task.tunnel.number}-{place}"

    def _write(self, buffer: ChannelBuffer, file: DeliveredFile, rows: list[DeliveredRow]) -> None:
        config = self.found.task.config
        with self._parts.root.draft(config.bucket, file) as draft:
            if rows[0].dirty:
                draft.stream.writelines(f"{row.dirty}\n".encode() for row in rows)
            else:
                write_parquet(draft.stream, config.columns, rows, self._parts.turn)
            draft.sync()
            self._check_held(buffer)
            draft.publish()

    def _check_held(self, buffer: ChannelBuffer) -> None:
        """Raise `NotFound` where another client has consumed the channel meanwhile.

        Called with the lock of the file held: the next client gets the lock later, and overwrites
        the file.
        """
        call = self._channel_call(buffer)
        if self._tunnels.get_checkpoint(self._instance, call)[1] != buffer.number:
            raise NotFound(TunnelRule.TUNNEL_CHANNEL_TAKEN)
