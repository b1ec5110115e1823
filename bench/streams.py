"""Streams: what one adds to a PutRow, what reading its records costs, and a tunnel that follows.

The same rows go into a table with a stream and into one without, in turns. The records are read in
pages of five hundred. A tunnel's consumer follows a table into which batches bring 10,000 rows a
second; it is killed and begun again, and every row must reach it behind the checkpoint.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from typing import Final

from bench import rows
from bench.load import LoadFailed
from bench.measure import Case, Result, Settings, percentile
from bench.servers import Place, processor_seconds
from bench.workloads import REQUESTS, ask, measure_case, measure_together, parts, scattered
from google.protobuf.message import Message
from tests.support.http import Wire
from tests.support.requests import create_table_request

from widerow.client.rows import decode_change
from widerow.server.system import SystemClock
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import tunnel_messages as t
from widerow.wire.tablestore.operations.bodies import text

__all__ = ["FOLLOWED", "PUT", "PUT_WITH", "READ", "stream_results"]

PUT: Final = "PutRow without a stream"
PUT_WITH: Final = "PutRow with a stream"
READ: Final = "GetStreamRecord, 500 records"
FOLLOWED: Final = "a tunnel behind 10,000 rows a second"
ROWS: Final = 10_000
PAGE: Final = 500  # an answer has at most 1000, or 1 MB
CONNECTIONS: Final = 32
READERS: Final = 8
RATE: Final = 10_000
BATCHES: Final = 100  # prepared, sent over and over
TIMEOUT_SECONDS: Final = 10  # the shortest: so long a killed client keeps its channels
STEADY_SECONDS: Final = 6.0
CAUGHT_UP_SECONDS: Final = 0.5  # a lag below it is no lag
PATIENCE_SECONDS: Final = 60.0
_HOURS: Final = 24


def stream_results(place: Place, settings: Settings) -> Iterator[Result]:
    """All of them. Raises: `LoadFailed`."""
    with Wire(place.endpoint) as wire:
        for name in ("unwatched", "watched", "read", "followed"):
            ask(wire, _create(name, stream=name != "unwatched"))
        for part in parts(range(ROWS), rows.BATCH_WRITE_ROWS):
            ask(wire, rows.batch_write(part, table="read"))
        pages = _pages(wire, "read")
    numbers = scattered(REQUESTS, ROWS)
    puts = [
        Case("streams", name, [rows.put(each, table=table) for each in numbers], CONNECTIONS)
        for name, table in ((PUT, "unwatched"), (PUT_WITH, "watched"))
    ]
    yield from measure_together(place, puts, None, settings)
    yield measure_case(place, Case("streams", READ, pages, READERS, PAGE), settings)
    yield follow(place, settings)


def _create(name: str, *, stream: bool) -> bytes:
    body = create_table_request(name)
    if stream:
        body.stream_spec.enable_stream = True
        body.stream_spec.expiration_time = _HOURS
    return rows.SENDER.request("CreateTable", body.SerializeToString())


def _pages(wire: Wire, table: str) -> list[bytes]:
    """GetStreamRecord of every full page of the table's only shard."""
    described = m.DescribeTableResponse.FromString(
        ask(wire, _request("DescribeTable", m.DescribeTableRequest(table_name=table)))
    )
    stream = text(described.stream_details.stream_id)
    shards = m.DescribeStreamResponse.FromString(
        ask(wire, _request("DescribeStream", m.DescribeStreamRequest(stream_id=stream)))
    ).shards
    shard = text(shards[0].shard_id)
    begin = m.GetShardIteratorRequest(stream_id=stream, shard_id=shard)
    iterator = m.GetShardIteratorResponse.FromString(
        ask(wire, _request("GetShardIterator", begin))
    ).shard_iterator
    pages: list[bytes] = []
    while True:
        wish = m.GetStreamRecordRequest(shard_iterator=text(iterator), limit=PAGE)
        page = _request("GetStreamRecord", wish)
        answer = m.GetStreamRecordResponse.FromString(ask(wire, page))
        if len(answer.stream_records) < PAGE:
            return pages
        pages.append(page)
        iterator = answer.next_shard_iterator


def _request(action: str, message: Message) -> bytes:
    return rows.SENDER.request(action, message.SerializeToString())


# --- a tunnel that follows ------------------------------------------------------------------------


@dataclass(slots=True)
class _Seen:
    """What a consumer has read: rows behind the last checkpoint, and its lag in milliseconds."""

    rows: int = 0
    lags_ms: list[float] = field(default_factory=list)


class _Consumer:
    """One client of a tunnel: reads a page of each of its channels, then checkpoints."""

    def __init__(self, wire: Wire, tunnel: str) -> None:
        """A client that is connected, and has no channel yet."""
        self._wire = wire
        self._tunnel = tunnel
        config = t.ClientConfig(timeout=TIMEOUT_SECONDS, client_tag="bench")
        wish = t.ConnectRequest(tunnel_id=tunnel, client_config=config)
        self._client = text(t.ConnectResponse.FromString(self._ask("connect", wish)).client_id)
        self._channels: dict[str, t.Channel] = {}
        self._tokens: dict[str, tuple[str, int]] = {}

    @property
    def has_channels(self) -> bool:
        """Whether there is a channel to read."""
        return bool(self._channels)

    def heartbeat(self) -> None:
        """Tell the server of the channels, and take those that it gives."""
        wish = t.HeartbeatRequest(
            tunnel_id=self._tunnel, client_id=self._client, channels=self._channels.values()
        )
        answer = t.HeartbeatResponse.FromString(self._ask("heartbeat", wish))
        self._channels = {text(each.channel_id): each for each in answer.channels}

    def read(self, seen: _Seen) -> bool:
        """Read a page of each channel. Whether there was any."""
        any_rows = False
        for name in self._channels:
            token, number = self._tokens.get(name) or self._checkpoint(name)
            who = {"tunnel_id": self._tunnel, "client_id": self._client, "channel_id": name}
            answer = t.ReadRecordsResponse.FromString(
                self._ask("readrecords", t.ReadRecordsRequest(**who, token=token))
            )
            following = text(answer.next_token)
            if answer.records:
                any_rows = True
                made_us = decode_change(answer.records[-1].record).time_us
                seen.lags_ms.append((SystemClock().now_us() - made_us) / 1000)
                number += 1
                done = t.CheckpointRequest(**who, checkpoint=following, sequence_number=number)
                self._ask("checkpoint", done)
                seen.rows += len(answer.records)
            self._tokens[name] = following, number
        return any_rows

    def _checkpoint(self, name: str) -> tuple[str, int]:
        who = {"tunnel_id": self._tunnel, "client_id": self._client, "channel_id": name}
        found = t.GetCheckpointResponse.FromString(
            self._ask("getcheckpoint", t.GetCheckpointRequest(**who))
        )
        return text(found.checkpoint), found.sequence_number

    def _ask(self, action: str, message: Message) -> bytes:
        return ask(self._wire, _request(f"tunnel/{action}", message))


class _Writer:
    """Sends batches at a rate, on a thread and two connections of its own."""

    def __init__(self, endpoint: str) -> None:
        """Not begun yet."""
        size = rows.BATCH_WRITE_ROWS
        batches = [
            rows.batch_write(range(at * size, at * size + size), table="followed")
            for at in range(BATCHES)
        ]
        self.written = 0
        self._next = cycle(batches)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._send, args=(endpoint,), daemon=True) for _ in range(2)
        ]
        self._began = 0.0

    def start(self) -> None:
        """Begin to send."""
        self._began = time.monotonic()
        for thread in self._threads:
            thread.start()

    def stop(self) -> float:
        """Send no more. How many rows a second were written."""
        self._stopped.set()
        for thread in self._threads:
            thread.join()
        return self.written / (time.monotonic() - self._began)

    def _send(self, endpoint: str) -> None:
        share = rows.BATCH_WRITE_ROWS / RATE * len(self._threads)
        due = time.monotonic()
        with Wire(endpoint) as wire:
            while not self._stopped.wait(max(0.0, due - time.monotonic())):
                with self._lock:
                    batch = next(self._next)
                ask(wire, batch)
                with self._lock:
                    self.written += rows.BATCH_WRITE_ROWS
                due += share


def follow(place: Place, settings: Settings) -> Result:
    """A consumer behind the writer, then killed and begun again. Raises: `LoadFailed`.

    `per_second`: rows written. The times are the consumer's lag before the kill. Also: how long the
    killed client kept its channels (`kept_s`), how long the new one took from its first page until
    its lag was gone (`caught_up_s`), and rows that never came (`lost`).
    """
    with Wire(place.endpoint) as wire:
        wish = t.Tunnel(table_name="followed", tunnel_name="bench", tunnel_type=2)
        made = ask(wire, _request("tunnel/create", t.CreateTunnelRequest(tunnel=wish)))
    tunnel = text(t.CreateTunnelResponse.FromString(made).tunnel_id)
    writer, seen = _Writer(place.endpoint), _Seen()
    with _consumer(place, tunnel) as first:
        _await_channel(first)
        used = processor_seconds(place.process)
        writer.start()
        _read_for(first, seen, STEADY_SECONDS / (3 if settings.quick else 1))
    steady = list(seen.lags_ms)
    began = time.monotonic()
    with _consumer(place, tunnel) as second:
        _await_channel(second)
        kept = time.monotonic() - began
        began = time.monotonic()
        while seen.lags_ms[-1] > CAUGHT_UP_SECONDS * 1000 or len(seen.lags_ms) == len(steady):
            _check_patience(began)
            second.read(seen)
        caught_up = time.monotonic() - began
        rate = writer.stop()
        while second.read(seen):
            pass
    used = processor_seconds(place.process) - used
    also = {"kept_s": kept, "caught_up_s": caught_up, "lost": float(writer.written - seen.rows)}
    p50, p99 = (percentile(steady, share) * 1000 for share in (0.5, 0.99))
    cpu = used / writer.written * 1e6
    return Result("streams", FOLLOWED, 1, rate, p50, p99, cpu, also=also)


@contextmanager
def _consumer(place: Place, tunnel: str) -> Iterator[_Consumer]:
    """A consumer whose connection ends without a word, as a kill ends it."""
    with Wire(place.endpoint) as wire:
        yield _Consumer(wire, tunnel)


def _await_channel(consumer: _Consumer) -> None:
    """Send heartbeats until the server has given a channel."""
    began = time.monotonic()
    while True:
        consumer.heartbeat()
        if consumer.has_channels:
            return
        _check_patience(began)
        time.sleep(0.2)


def _read_for(consumer: _Consumer, seen: _Seen, seconds: float) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if not consumer.read(seen):
            time.sleep(0.01)


def _check_patience(began: float) -> None:
    if time.monotonic() - began > PATIENCE_SECONDS:
        raise LoadFailed(f"the tunnel's consumer did not get on in {PATIENCE_SECONDS:g} s")
