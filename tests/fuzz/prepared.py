"""An engine with a table that has an index, a stream and a tunnel, and right requests about it.

Time and chance of the engine repeat, so every engine that is made here gives out the same iterators
and the same ids of transactions, tunnels and clients: the requests are right for each of them.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeVar

from google.protobuf.message import Message
from tests.support.buffers import cell, key_buffer, row_buffer
from tests.support.engines import open_tablestore
from tests.support.requests import ANY, BODIES, create_table_request
from tools.recorded import NOW_MS

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.dialect import WireOperation
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import tunnel_messages as t
from widerow.wire.tablestore.operations.bodies import text
from widerow.wire.tablestore.operations.table import OPERATIONS

__all__ = ["Prepared", "ask"]

_TABLE: Final = "Watched"
_INTEGER: Final = 1

A = TypeVar("A", bound=Message)


def ask(engine: TablestoreEngine, action: WireOperation, body: bytes) -> bytes:
    """The answer's bytes. Raises what the action raises."""
    found: Any = action.call(engine, "i", action.decode(body))
    assert isinstance(found, Plan) or not action.writes
    if isinstance(found, Plan):  # of a statement it is one where the statement writes
        found = engine.core.run(found)
    return action.encode(found)


class Prepared:
    """The engine, with what it has given out. Its store is in memory, and whoever asked closes it.

    `changes`: the rows of the records in the stream.
    """

    def __init__(self) -> None:
        """Make the tables, begin a transaction and a tunnel."""
        self.engine = open_tablestore(open_store("memory:"), FakeClock(NOW_MS), FakeEntropy())
        ask(self.engine, OPERATIONS["CreateTable"], BODIES["CreateTable"]("T"))
        ask(self.engine, OPERATIONS["CreateTable"], _watched_table().SerializeToString())
        for number in range(3):
            ask(self.engine, OPERATIONS["PutRow"], _put(number).SerializeToString())
        begun = self._ask("StartLocalTransaction", _start(), m.StartLocalTransactionResponse)
        self.transaction = text(begun.transaction_id)
        self._begin_tunnel()
        self._read_stream()

    def _ask(self, name: str, request: Message, answer: type[A]) -> A:
        return answer.FromString(ask(self.engine, OPERATIONS[name], request.SerializeToString()))

    def _begin_tunnel(self) -> None:
        tunnel = t.Tunnel(table_name=_TABLE, tunnel_name="tunnel", tunnel_type=3)
        create = t.CreateTunnelRequest(tunnel=tunnel)
        self.tunnel = text(self._ask("tunnel/create", create, t.CreateTunnelResponse).tunnel_id)
        connect = t.ConnectRequest(tunnel_id=self.tunnel)
        self.client = text(self._ask("tunnel/connect", connect, t.ConnectResponse).client_id)
        beat = t.HeartbeatRequest(tunnel_id=self.tunnel, client_id=self.client)
        self.channels = self._ask("tunnel/heartbeat", beat, t.HeartbeatResponse).channels

    def _read_stream(self) -> None:
        listed = self._ask(
            "ListStream", m.ListStreamRequest(table_name=_TABLE), m.ListStreamResponse
        )
        self.stream = text(listed.streams[0].stream_id)
        describe = m.DescribeStreamRequest(stream_id=self.stream)
        shards = self._ask("DescribeStream", describe, m.DescribeStreamResponse).shards
        self.shard = text(shards[0].shard_id)
        start = m.GetShardIteratorRequest(stream_id=self.stream, shard_id=self.shard)
        given = self._ask("GetShardIterator", start, m.GetShardIteratorResponse)
        self.iterator = text(given.shard_iterator)
        read = m.GetStreamRecordRequest(shard_iterator=self.iterator)
        records = self._ask("GetStreamRecord", read, m.GetStreamRecordResponse).stream_records
        self.changes = [each.record for each in records]

    def requests(self) -> Iterator[tuple[str, bytes]]:
        """Action and body of requests that are right for this engine."""
        for name, message in (*self._of_streams(), *self._inside(), *self._of_tunnels()):
            yield name, message.SerializeToString()
        yield "CreateTable", _watched_table("Another").SerializeToString()

    def _of_streams(self) -> Iterator[tuple[str, Message]]:
        stream, shard = self.stream, self.shard
        yield "ListStream", m.ListStreamRequest(table_name=_TABLE)
        yield "DescribeStream", m.DescribeStreamRequest(stream_id=stream, shard_limit=1)
        yield (
            "GetShardIterator",
            m.GetShardIteratorRequest(stream_id=stream, shard_id=shard, timestamp=NOW_MS * 1000),
        )
        yield (
            "GetStreamRecord",
            m.GetStreamRecordRequest(shard_iterator=self.iterator, limit=2, table_name=_TABLE),
        )

    def _inside(self) -> Iterator[tuple[str, Message]]:
        identity = self.transaction
        put = _put(1, "begun")
        put.transaction_id = identity
        yield "PutRow", put
        key = key_buffer((("k", "begun"), ("n", 1)))
        yield (
            "GetRow",
            m.GetRowRequest(
                table_name=_TABLE, primary_key=key, max_versions=1, transaction_id=identity
            ),
        )
        rows = [m.RowInBatchWriteRowRequest(type=1, row_change=_row(2, "begun"), condition=ANY)]
        tables = [m.TableInBatchWriteRowRequest(table_name=_TABLE, rows=rows)]
        yield "BatchWriteRow", m.BatchWriteRowRequest(tables=tables, transaction_id=identity)
        yield "CommitTransaction", m.CommitTransactionRequest(transaction_id=identity)
        yield "StartLocalTransaction", _start()
        yield "AbortTransaction", m.AbortTransactionRequest(transaction_id=identity)

    def _of_tunnels(self) -> Iterator[tuple[str, Message]]:
        tunnel, client = self.tunnel, self.client
        yield (
            "tunnel/describe",
            t.DescribeTunnelRequest(table_name=_TABLE, tunnel_name="tunnel", tunnel_id=tunnel),
        )
        yield (
            "tunnel/heartbeat",
            t.HeartbeatRequest(tunnel_id=tunnel, client_id=client, channels=self.channels),
        )
        yield "tunnel/getrpo", t.GetRpoRequest(tunnel_id=tunnel)
        for channel in self.channels:
            yield from self._of_channel(text(channel.channel_id))
        yield "tunnel/schedule", t.ScheduleRequest(tunnel_id=tunnel, channels=self.channels)
        yield "tunnel/shutdown", t.ShutdownRequest(tunnel_id=tunnel, client_id=client)
        yield "tunnel/delete", t.DeleteTunnelRequest(table_name=_TABLE, tunnel_name="tunnel")

    def _of_channel(self, channel: str) -> Iterator[tuple[str, Message]]:
        tunnel, client = self.tunnel, self.client
        ask_for = t.GetCheckpointRequest(tunnel_id=tunnel, client_id=client, channel_id=channel)
        yield "tunnel/getcheckpoint", ask_for
        begun = self._ask("tunnel/getcheckpoint", ask_for, t.GetCheckpointResponse)
        token = text(begun.checkpoint)
        yield (
            "tunnel/readrecords",
            t.ReadRecordsRequest(
                tunnel_id=tunnel, client_id=client, channel_id=channel, token=token
            ),
        )
        yield (
            "tunnel/checkpoint",
            t.CheckpointRequest(
                tunnel_id=tunnel,
                client_id=client,
                channel_id=channel,
                checkpoint=token,
                sequence_number=begun.sequence_number + 1,
            ),
        )


def _watched_table(name: str = _TABLE) -> m.CreateTableRequest:
    """A table with a global and a local index and a stream."""
    message = create_table_request(name)
    message.stream_spec.CopyFrom(m.StreamSpecification(enable_stream=True, expiration_time=24))
    message.table_meta.defined_column.add(name="d", type=_INTEGER)
    kinds = {"global": (["old"], 0), "local": (["k", "old"], 1)}
    for kind, (key, number) in kinds.items():
        message.index_metas.add(
            name=f"{name}_{kind}",
            primary_key=key,
            defined_column=["d"],
            index_update_mode=number,
            index_type=number,
        )
    return message


def _row(number: int, partition: str = "a") -> bytes:
    return row_buffer((("k", partition), ("n", number)), [cell("old", number), cell("d", 7)])


def _put(number: int, partition: str = "a") -> m.PutRowRequest:
    return m.PutRowRequest(table_name=_TABLE, row=_row(number, partition), condition=ANY)


def _start() -> m.StartLocalTransactionRequest:
    return m.StartLocalTransactionRequest(table_name=_TABLE, key=key_buffer((("k", "begun"),)))
