"""What the tunnel workers of two SDKs go through, said once.

A worker is a program that consumes a tunnel with the vendor's own client, and prints for each
record one JSON array: the channel, the action by its name, the first key column, the columns. Of a
timeseries table it prints all columns of the key as a map.
Everything that workers took, replayed in the order in which it was taken, must be the table (change
§E2 4).
"""

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.compat.series import POINT_KEY, T0
from tests.support.buffers import cell, row_buffer
from tests.support.forked import ForkedServer
from tests.support.http import Sender, Wire
from tests.support.requests import ANY, create_table_request
from tools.cluster.ports import free_ports

from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import timeseries_messages as p
from widerow.wire.tablestore import tunnel_messages as t

INSTANCE: Final = "compat"
TIMEOUT_S, HEARTBEAT_S = 10, 5  # the least that the clients and the server take
PATIENCE_S: Final = 120  # a dead worker's channels are free after its timeout; machines are busy
KEYS: Final = 600
BATCH_ROWS: Final = 50
BATCHES_MAX: Final = 4000  # a split is due after a second of them
FLAGS: Final = (
    *("--partition-split-units", "50"),
    *("--partition-hot-seconds", "1"),
    *("--partition-cold-seconds", "1"),
    *("--partitions-max", "16"),
)
BASE_AND_STREAM: Final = 3
POINTS: Final = 5
Taken = tuple[str, str, Any, dict[str, Any]]


class Worker:
    """The program, and the records that it printed."""

    def __init__(self, command: Sequence[str], place: Path) -> None:
        """Start it in a directory of its own, into which the SDK may write a log."""
        place.mkdir()
        self.place = place
        self.taken: list[Taken] = []
        with (place / "stderr").open("w") as said:
            self.process = subprocess.Popen(  # noqa: S603  # our own program
                command,
                cwd=place,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.taken.extend(tuple(json.loads(line)) for line in self.process.stdout)

    def end(self) -> None:
        """Let it shut down."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(30)
        finally:
            self.kill()

    def kill(self) -> None:
        """Without a word to the server."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


class Table:
    """The table of the test, and what must be in it."""

    def __init__(self, server: ForkedServer) -> None:
        self.server, self.sender = server, Sender(instance=INSTANCE)
        self.rows: dict[str, Any] = {}
        self.written = 0
        self.ask("CreateTable", create_table_request("T"))

    def ask(self, action: str, sent: Any) -> bytes:  # noqa: ANN401  # any message
        """The answer; a server that is busy is asked again, as clients do."""
        deadline, body = time.monotonic() + PATIENCE_S, sent.SerializeToString()
        with Wire(self.server.endpoint) as wire:
            answer = wire.ask(self.sender.request(action, body))
            while answer.status == 503 and time.monotonic() < deadline:
                threading.Event().wait(0.1)
                answer = wire.ask(self.sender.request(action, body))
        assert answer.status == 200, answer.error
        return bytes(answer.body)

    def put(self) -> None:
        """A batch of the next rows; keys come again and again, and all over the table."""
        numbers = range(self.written, self.written + BATCH_ROWS)
        keys = {f"{number * 7 % KEYS:05}": str(number) for number in numbers}
        self.write([(1, row_buffer(key_of(key), [cell("c", keys[key])])) for key in keys])
        self.rows |= {key: {"c": value} for key, value in keys.items()}
        self.written += BATCH_ROWS

    def delete(self, keys: Sequence[str]) -> None:
        self.write([(3, row_buffer(key_of(key), marker=True)) for key in keys])
        for key in keys:
            self.rows.pop(key, None)

    def write(self, changes: list[tuple[int, bytes]]) -> None:
        rows = [
            m.RowInBatchWriteRowRequest(type=kind, row_change=change, condition=ANY)
            for kind, change in changes
        ]
        tables = [m.TableInBatchWriteRowRequest(table_name="T", rows=rows)]
        body = self.ask("BatchWriteRow", m.BatchWriteRowRequest(tables=tables))
        answer = m.BatchWriteRowResponse.FromString(body)
        assert all(row.is_ok for table in answer.tables for row in table.rows)

    def create_tunnel(self, name: str = "T") -> str:
        tunnel = t.Tunnel(table_name=name, tunnel_name="tunnel", tunnel_type=BASE_AND_STREAM)
        body = self.ask("tunnel/create", t.CreateTunnelRequest(tunnel=tunnel))
        return str(t.CreateTunnelResponse.FromString(body).tunnel_id)

    def consumers(self, name: str = "T") -> set[str]:
        """The clients that hold channels of the tunnel; an empty text is nobody."""
        asked = t.DescribeTunnelRequest(table_name=name, tunnel_name="tunnel")
        body = self.ask("tunnel/describe", asked)
        channels = t.DescribeTunnelResponse.FromString(body).channels
        return {str(channel.client_id) for channel in channels}

    def shards(self) -> list[m.StreamShard]:
        """Of the stream, as far as DescribeStream has them in one answer."""
        body = self.ask("ListStream", m.ListStreamRequest(table_name="T"))
        (stream,) = m.ListStreamResponse.FromString(body).streams
        body = self.ask("DescribeStream", m.DescribeStreamRequest(stream_id=str(stream.stream_id)))
        return list(m.DescribeStreamResponse.FromString(body).shards)

    def splits(self) -> int:
        """How many shards were made by a split."""
        shards = self.shards()
        return len([s for s in shards if s.parent_id and not s.parent_sibling_id])

    def merges(self) -> int:
        """How many shards were made by a merge."""
        return len([shard for shard in self.shards() if shard.parent_sibling_id])


def key_of(key: str) -> tuple[tuple[str, str | int], ...]:
    return (("k", key), ("n", 1))


@contextmanager
def serving(*where: str) -> Iterator[Table]:
    """A table on a server that splits and merges soon, and comes back where it was.

    `where`: the flags that say which store it has.
    """
    with ForkedServer(*where, *FLAGS, "--port", str(free_ports(1)[0])) as server:
        yield Table(server)


def replayed(workers: Sequence[Worker]) -> dict[str, Any]:
    """What the records make, in the order in which they were taken."""
    rows: dict[str, Any] = {}
    for worker in workers:
        for _, action, key, columns in list(worker.taken):
            if action == "DELETE":
                rows.pop(key, None)
            else:
                rows[key] = columns if action == "PUT" else {**rows.get(key, {}), **columns}
    return rows


def eventually(worker: Worker, holds: Callable[[], bool]) -> None:
    """What a worker brings about. It is not waited for if the worker has ended."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert worker.process.poll() is None, (worker.place / "stderr").read_text()
        assert time.monotonic() < deadline, "it did not come about in time"
        threading.Event().wait(0.1)


def check_workers_lose_nothing(table: Table, command: Sequence[str], place: Path) -> None:
    """A tunnel of a table that is written, and what happens to those who have to do with it.

    The table splits while a worker consumes it; the server is killed and comes back; the worker is
    killed and another one takes over; parts of the table merge. `command` is the worker's, to be
    given endpoint, instance, tunnel, timeout and interval of heartbeats.
    """
    for _ in range(KEYS // BATCH_ROWS):
        table.put()
    tunnel = table.create_tunnel()
    command = [*command, table.server.endpoint, INSTANCE, tunnel, str(TIMEOUT_S), str(HEARTBEAT_S)]
    splits = table.splits()
    first = Worker(command, place / "first")
    try:
        eventually(first, lambda: len(first.taken) >= KEYS)
        for _ in range(BATCHES_MAX):
            table.put()
            if table.splits() > splits:
                break
        assert table.splits() > splits
        table.put()
        table.server.kill()
        table.server.start()
        table.put()
        eventually(first, lambda: replayed([first]) == table.rows)
    finally:
        first.kill()
    second = Worker(command, place / "second")
    try:
        table.delete([f"{n:05}" for n in range(0, KEYS, 20)])
        table.put()
        eventually(second, lambda: replayed([first, second]) == table.rows)
        eventually(second, lambda: table.merges() > 0)
        table.put()
        table.delete([f"{n:05}" for n in range(0, KEYS, 30)])
        eventually(second, lambda: replayed([first, second]) == table.rows)
    finally:
        second.end()


# --- points (timeseries §9) --------------------------------------------------------------------


def put_points(table: Table, first: int) -> None:
    """The next `POINTS` points of one series, a microsecond apart."""
    series = p.TimeseriesKey(measurement="cpu", source="host", tags='["a=1"]')
    rows = [
        p.TimeseriesRow(
            timeseries_key=series,
            time=T0 + at,
            fields=[p.TimeseriesField(field_name="v", value_int=at)],
        )
        for at in range(first, first + POINTS)
    ]
    sent = p.TimeseriesPBRows(rows=rows).SerializeToString()
    data = p.TimeseriesRows(type=2, rows_data=sent)
    table.ask("PutTimeseriesData", p.PutTimeseriesDataRequest(table_name="P", rows_data=data))


def check_a_worker_takes_points(table: Table, command: Sequence[str], place: Path) -> None:
    """Those that are there when a tunnel is made, and then those that are put."""
    meta = p.TimeseriesTableMeta(table_name="P")
    table.ask("CreateTimeseriesTable", p.CreateTimeseriesTableRequest(table_meta=meta))
    put_points(table, 0)
    tunnel = table.create_tunnel("P")
    command = [*command, table.server.endpoint, INSTANCE, tunnel, str(TIMEOUT_S), str(HEARTBEAT_S)]
    worker = Worker(command, place / "worker")
    try:
        eventually(worker, lambda: len(worker.taken) >= POINTS)
        put_points(table, POINTS)
        eventually(worker, lambda: len(worker.taken) >= 2 * POINTS)
        assert table.consumers("P") != {""}
    finally:
        worker.end()
    assert table.consumers("P") == {""}  # told before its time is over (change §C2.5)
    told = sorted(worker.taken, key=lambda each: each[3]["v:l"])
    assert len({channel for channel, *_ in told}) == 2  # what was there, and the stream
    assert [[*key] for _, _, key, _ in told] == [sorted(POINT_KEY)] * (2 * POINTS)
    series = {"_m_name": "cpu", "_data_source": "host", "_tags": '["a=1"]'}
    assert [(action, {**key, "_#h": ""}, cells) for _, action, key, cells in told] == [
        ("PUT", {"_#h": "", **series, "_time": T0 + at}, {"v:l": at}) for at in range(2 * POINTS)
    ]
    assert len({key["_#h"] for _, _, key, _ in told}) == 1


# --- what is known of tunnels (change §C2.2) ---------------------------------------------------


def check_tunnels_are_described(seen: dict[str, Any], table: str, instance: str) -> None:
    """One of each type, as it was asked for; nobody consumes them."""
    assert seen["listed"] == [
        ["base", "BaseData", table, instance, True],
        ["both", "BaseAndStream", table, instance, True],
        ["stream", "Stream", table, instance, True],
    ]
    base, stream = ["BaseData", "WAIT", ""], ["Stream", "WAIT", ""]
    for name, stage, flag, channels in (
        ("base", "ProcessBaseData", "LATEST", [base]),
        ("stream", "ProcessStream", "EARLIEST", [stream]),
        ("both", "ProcessBaseData", "LATEST", [stream, base]),
    ):
        told = seen[name]
        assert (told["id"], told["expired"]) == (True, False)
        assert (told["stage"], told["flag"]) == (stage, flag)
        assert told["channels"] == channels
        assert (told["start"], told["end"]) == (name == "both", name == "both")
    assert seen["left"] == 0
