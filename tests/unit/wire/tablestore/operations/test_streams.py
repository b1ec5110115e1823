"""The four actions of streams, as bytes (change §C1.2, §C1.5)."""

from dataclasses import replace

import pytest
from tests.support.changes import create, put
from tests.support.engines import open_tablestore

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, NotFound
from widerow.model.tablestore.requests import StreamChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import KeyType
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.table import OPERATIONS


def ask(engine: TablestoreEngine, action: str, body: bytes) -> bytes:
    served = OPERATIONS[action]
    answer: bytes = served.encode(served.call(engine, "i", served.decode(body)))
    return answer


def test_a_client_reads_a_stream_to_its_tail() -> None:
    """change §0 rules 2 and 3: at the tail the same iterator, and no more records."""
    with open_store("memory:") as store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy())
        request = create("t", {"k": KeyType.INTEGER})
        engine.core.run(
            engine.create_table("i", replace(request, stream=StreamChange(enable=True)))
        )
        engine.core.run(engine.create_table("i", create("off", {"k": KeyType.INTEGER})))
        for key in range(3):
            engine.core.run(engine.rows.write_row("i", put("t", {"k": key}, {"a": key})))
        listed = m.ListStreamResponse.FromString(ask(engine, "ListStream", b""))
        assert [each.table_name for each in listed.streams] == ["t"]
        stream_id = str(listed.streams[0].stream_id)
        body = m.DescribeStreamRequest(stream_id=stream_id).SerializeToString()
        described = m.DescribeStreamResponse.FromString(ask(engine, "DescribeStream", body))
        assert (described.stream_status, described.expiration_time) == (2, 168)
        assert not described.HasField("next_shard_id")
        (shard,) = described.shards
        assert shard.shard_id == "shard-0"  # "0" would be false in PHP and in Perl (change §C1.2)
        for unknown in ("0", "shard-", "shard-1"):
            for asked in (
                m.GetShardIteratorRequest(stream_id=stream_id, shard_id=unknown),
                m.DescribeStreamRequest(stream_id=stream_id, inclusive_start_shard_id=unknown),
            ):
                action = type(asked).__name__.removesuffix("Request")
                with pytest.raises(NotFound):
                    ask(engine, action, asked.SerializeToString())
        body = m.GetShardIteratorRequest(
            stream_id=stream_id, shard_id=str(shard.shard_id)
        ).SerializeToString()
        found = m.GetShardIteratorResponse.FromString(ask(engine, "GetShardIterator", body))
        iterator = last = str(found.shard_iterator)
        actions, more = [], []
        for _ in range(3):
            sent = m.GetStreamRecordRequest(shard_iterator=iterator, limit=2)
            page = m.GetStreamRecordResponse.FromString(
                ask(engine, "GetStreamRecord", sent.SerializeToString())
            )
            actions += [each.action_type for each in page.stream_records]
            more.append((page.may_more_record, page.HasField("may_more_record")))
            assert page.consumed.capacity_unit.read == 1
            last, iterator = iterator, str(page.next_shard_iterator)
        assert actions == [1, 1, 1]
        assert more == [(True, True), (False, True), (False, True)]
        assert last == iterator


@pytest.mark.parametrize(
    ("stream_id", "error"), [("nonsense", InvalidRequest), ("t_1468944000000000", NotFound)]
)
def test_an_id_without_a_stream_is_refused(stream_id: str, error: type[Exception]) -> None:
    """change §C1.2: not of the form, or of no stream."""
    body = m.DescribeStreamRequest(stream_id=stream_id).SerializeToString()
    with open_store("memory:") as store, pytest.raises(error):
        ask(open_tablestore(store, FakeClock(), FakeEntropy()), "DescribeStream", body)


def test_a_token_that_no_answer_gave_is_refused() -> None:
    """docs/protocol/differences.md: no answer of GetShardIterator has a `next_token`."""
    sent = m.GetShardIteratorRequest(stream_id="1", shard_id="0", token="next")  # no secret
    with pytest.raises(InvalidRequest) as refused:
        OPERATIONS["GetShardIterator"].decode(sent.SerializeToString())
    assert refused.value.rule is TablestoreRule.READ_TOKEN
