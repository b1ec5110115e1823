"""Faults of every family of actions: rows, batches, indexes, streams, tunnels, searches, and so on.

A fault is for the requests that it names, by their table too where they name a transaction, a
tunnel or a stream of it; a request that it strikes has no effect; a batch that fails in part says
which rows did; and the same seed strikes the same requests (docs/guide/testing.md, "Faults").
"""

from collections.abc import Iterator
from random import Random  # noqa: TID251  # seeded: a failure must repeat
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.http import Answer, Sender, Wire
from tests.support.requests import (
    ANY,
    BODIES,
    DELIVERY_BODIES,
    SEARCH_BODIES,
    SERIES_BODIES,
    SQL_BODIES,
    STREAM_BODIES,
    TUNNEL_BODIES,
)
from tests.support.volume import examples
from tests.unit.engine.reading_all import everything

from widerow.client.rows import CellEdit, encode_edits, encode_plain_key
from widerow.engine.tablestore.plug import TABLESTORE
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import tunnel_messages as t
from widerow.wire.tablestore.operations.table import OPERATIONS

SENDER: Final = Sender(instance="test")
ALL: Final = {
    **BODIES,
    **SEARCH_BODIES,
    **TUNNEL_BODIES,
    **STREAM_BODIES,
    **DELIVERY_BODIES,
    **SERIES_BODIES,
    **SQL_BODIES,
}
OF_NO_TABLE: Final = frozenset(("ListTable", "ListTimeseriesTable"))
CODES: Final = ("OTSServerBusy", "OTSPartitionUnavailable", "OTSRowOperationConflict")
PUT: Final = 1
GRANTED: Final = 200


class World:
    """A server whose table `t` has everything that a request can name."""

    def __init__(self, server: WiderowServer) -> None:
        self.server = server
        self.wire = Wire(server.endpoint)
        for action in ("CreateTable", "PutRow", "CreateIndex", "CreateSearchIndex"):
            self.granted(action, ALL[action]("t"))
        tunnel = t.Tunnel(table_name="t", tunnel_name="tunnel", tunnel_type=3)
        sent = t.CreateTunnelRequest(tunnel=tunnel).SerializeToString()
        made = t.CreateTunnelResponse.FromString(self.granted("tunnel/create", sent))
        self.tunnel = str(made.tunnel_id)
        listed = m.ListStreamRequest(table_name="t").SerializeToString()
        (stream,) = m.ListStreamResponse.FromString(self.granted("ListStream", listed)).streams
        self.stream = str(stream.stream_id)
        asked = m.GetShardIteratorRequest(
            stream_id=self.stream, shard_id="shard-0"
        ).SerializeToString()
        told = m.GetShardIteratorResponse.FromString(self.granted("GetShardIterator", asked))
        self.iterator = str(told.shard_iterator)
        asked = BODIES["StartLocalTransaction"]("t")
        begun = self.granted("StartLocalTransaction", asked)
        self.transaction = str(m.StartLocalTransactionResponse.FromString(begun).transaction_id)

    def ask(self, action: str, body: bytes) -> Answer:
        return self.wire.ask(SENDER.request(action, body))

    def granted(self, action: str, body: bytes) -> bytes:
        answer = self.ask(action, body)
        assert answer.status == 200, (action, answer.error)
        return answer.body

    def body(self, action: str) -> bytes:
        """A request of this action about the table, or about what is of it."""
        if action in {"CommitTransaction", "AbortTransaction"}:
            return ALL[action](self.transaction)
        if action == "DescribeStream":
            return m.DescribeStreamRequest(stream_id=self.stream).SerializeToString()
        if action == "GetShardIterator":
            asked = m.GetShardIteratorRequest(stream_id=self.stream, shard_id="shard-0")
            return asked.SerializeToString()
        if action == "GetStreamRecord":
            return m.GetStreamRecordRequest(shard_iterator=self.iterator).SerializeToString()
        if action in TUNNEL_BODIES and action not in {"tunnel/create", "tunnel/list"}:
            return ALL[action](self.tunnel)
        return ALL[action]("t")

    def everything(self) -> Any:  # noqa: ANN401  # to compare
        engine = self.server._mode()._open()[0].operations(TABLESTORE)
        return everything(engine, "test"), len(engine.transactions)


@pytest.fixture
def world() -> Iterator[World]:
    with WiderowServer(settings={"local_transactions_default": True}) as server:
        made = World(server)
        yield made
        made.wire.__exit__()


@pytest.mark.parametrize("action", sorted(OPERATIONS))
def test_a_struck_request_has_no_effect_and_others_are_left_alone(
    world: World, action: str
) -> None:
    faults, body = world.server.faults, world.body(action)
    before = world.everything()
    other = faults.add("OTSServerBusy", action=action, table="other")
    for code in CODES:
        table = None if action in OF_NO_TABLE else "t"
        fault = faults.add(code, action=action, table=table, count=1, seed=7)
        assert world.ask(action, body).error[1] == code
        assert faults.struck(fault) == 1
    assert world.everything() == before
    assert faults.struck(other) == 0


@pytest.mark.parametrize("action", sorted(OPERATIONS))
def test_a_request_that_is_held_back_is_answered_as_ever(world: World, action: str) -> None:
    table = None if action in OF_NO_TABLE else "t"
    fault = world.server.faults.add(latency_ms=1, action=action, table=table)
    answer = world.ask(action, world.body(action))
    assert answer.status < 500
    assert world.server.faults.struck(fault) == 1


# --- the same seed ----------------------------------------------------------------------------

SPECIAL: Final = frozenset(("CommitTransaction", "AbortTransaction", "StartLocalTransaction"))
MIXED: Final = sorted(action for action in OPERATIONS if action not in SPECIAL)


def played(world: World, actions: list[str], seed: int, probability: float) -> list[Any]:
    """Which of these requests faults of one seed strike, and with what."""
    faults = world.server.faults
    faults.clear()
    for code in CODES:
        faults.add(code, probability=probability, seed=seed)
    rows = faults.add("OTSTimeout", rows=probability, seed=seed)
    answers = [world.ask(action, world.body(action)) for action in actions]
    found = [answer.error[1] if answer.status != GRANTED else "" for answer in answers]
    struck = faults.struck(rows)
    faults.clear()
    return [*[code if code in CODES else "" for code in found], struck]


def test_the_same_seed_strikes_the_same_of_the_same_requests(world: World) -> None:
    """Whatever the requests come to, and whatever the families are."""
    world.server.keep("begin")
    random = Random(4)  # noqa: S311  # to repeat, not to keep a secret
    different = set()
    for seed in range(8):
        actions = [random.choice(MIXED) for _ in range(40)]
        runs = []
        for _ in range(2):
            world.server.reset("begin")
            runs.append(played(world, actions, seed, probability=0.3))
        assert runs[0] == runs[1]
        different.add(tuple(runs[0]))
    assert len(different) == 8


# --- batches that fail in part ------------------------------------------------------------------


def rows_of(numbers: range) -> list[bytes]:
    return [encode_edits([("k", "b"), ("n", each)], [CellEdit("c", each)]) for each in numbers]


def batch(action: str, numbers: range) -> bytes:
    """A write of these rows."""
    if action == "BulkImport":
        sent = [m.RowInBulkImportRequest(type=PUT, row_change=each) for each in rows_of(numbers)]
        return m.BulkImportRequest(table_name="t", rows=sent).SerializeToString()
    puts = [
        m.RowInBatchWriteRowRequest(type=PUT, row_change=each, condition=ANY)
        for each in rows_of(numbers)
    ]
    tables = [m.TableInBatchWriteRowRequest(table_name="t", rows=puts)]
    return m.BatchWriteRowRequest(tables=tables).SerializeToString()


def failed_rows(action: str, body: bytes) -> dict[int, str]:
    """The rows that an answer names, with their codes."""
    if action == "BulkImport":
        rows: list[Any] = list(m.BulkImportResponse.FromString(body).rows)
    else:
        (table,) = m.BatchWriteRowResponse.FromString(body).tables
        rows = list(table.rows)
    return {at: str(row.error.code) for at, row in enumerate(rows) if not row.is_ok}


def stored(world: World) -> set[int]:
    """Which of the rows are there."""
    found = set()
    for number in range(20):
        key = encode_plain_key([("k", "b"), ("n", number)])
        asked = m.GetRowRequest(table_name="t", primary_key=key, max_versions=1)
        if m.GetRowResponse.FromString(world.granted("GetRow", asked.SerializeToString())).row:
            found.add(number)
    return found


@pytest.fixture(scope="module")
def lasting() -> Iterator[World]:
    with WiderowServer(settings={"local_transactions_default": True}) as server:
        made = World(server)
        server.keep("begin")
        yield made
        made.wire.__exit__()


Part = st.floats(0.01, 1) | st.frozensets(st.integers(0, 19), min_size=1, max_size=6).map(sorted)


@given(
    action=st.sampled_from(("BatchWriteRow", "BulkImport")),
    count=st.integers(1, 20),
    part=Part,
    code=st.sampled_from(CODES),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=examples(40), deadline=None)
def test_a_batch_says_which_rows_failed_and_the_others_are_written(
    lasting: World, action: str, count: int, part: float | list[int], code: str, seed: int
) -> None:
    lasting.server.reset("begin")
    lasting.server.faults.add(code, action=action, rows=part, seed=seed)
    body = batch(action, range(count))
    failed = failed_rows(action, lasting.granted(action, body))
    assert set(failed.values()) <= {code}
    assert stored(lasting) == set(range(count)) - failed.keys()
    if isinstance(part, list):
        assert failed.keys() == {each for each in part if each < count}
    lasting.server.faults.clear()
    lasting.server.reset("begin")
    lasting.server.faults.add(code, action=action, rows=part, seed=seed)
    assert failed_rows(action, lasting.granted(action, body)) == failed
    lasting.server.faults.clear()
    assert failed_rows(action, lasting.granted(action, body)) == {}
    assert stored(lasting) == set(range(count))
