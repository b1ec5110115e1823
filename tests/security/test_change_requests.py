"""Hostile definitions of indexes, ids of transactions, positions in streams: refused, at no cost.

Each claims more than is allowed, up to what a body may hold. It is refused with the documented
code, nothing is made of it, and it costs the server no work that grows with the claim (change §A2,
§B, §C1).
"""

import time
from collections.abc import Callable
from typing import Any, Final

import pytest
from google.protobuf.message import Message
from tests.support.buffers import key_buffer
from tests.support.http import Sender, Wire
from tests.support.requests import (
    create_index_request,
    create_table_request,
    get_row_request,
    put_row_request,
)

from widerow.wire.tablestore import messages as m

CPU_SECONDS: Final = 0.5  # of reading a megabyte and answering; a loaded machine has slow caches
LONG: Final = "x" * 1_000_000
MANY: Final = 20_000


def index(name: str = "Index", **values: Any) -> m.IndexMeta:  # noqa: ANN401  # fields of a message
    plain: dict[str, Any] = {"primary_key": ["n"], "index_update_mode": 0, "index_type": 0}
    fields = plain | values
    return m.IndexMeta(name=name, **fields)


def table_with(*indexes: m.IndexMeta) -> m.CreateTableRequest:
    request = create_table_request("New")
    request.index_metas.extend(indexes)
    return request


def index_on_t(made: m.IndexMeta) -> m.CreateIndexRequest:
    request = create_index_request("T")
    request.index_meta.CopyFrom(made)
    return request


DEFINITIONS: Final[dict[str, m.IndexMeta]] = {
    "a long name": index(LONG),
    "no name": index(""),
    "the name of its table": index("T"),
    "no column": index(primary_key=[]),
    "a long column": index(primary_key=[LONG]),
    "many columns": index(primary_key=[f"c{number}" for number in range(MANY)]),
    "one column many times": index(primary_key=["n"] * MANY),
    "many covered columns": index(defined_column=[f"c{number}" for number in range(MANY)]),
    "a column that is not there": index(primary_key=["nothing"]),
    "another type": index(index_type=2**31 - 1),
    "another mode": index(index_update_mode=-(2**31)),
    "a local one that begins elsewhere": index(index_type=1, index_update_mode=1),
    "a name with a zero": index("a\x00b"),
}


def ask(wire: Wire, sender: Sender, action: str, message: Message) -> tuple[int, str]:
    """Status and code of an answer that came at no great cost."""
    request = sender.request(action, message.SerializeToString())
    began = time.process_time()
    answer = wire.ask(request)
    assert time.process_time() - began < CPU_SECONDS
    assert 400 <= answer.status < 500, answer
    return answer.error[:2]


@pytest.mark.parametrize("made", DEFINITIONS.values(), ids=DEFINITIONS.keys())
def test_an_index_that_cannot_be_is_refused(wire: Wire, sender: Sender, made: m.IndexMeta) -> None:
    with_table = ask(wire, sender, "CreateTable", table_with(made))
    assert with_table in {(400, "OTSParameterInvalid"), (409, "OTSObjectAlreadyExist")}
    status, code = ask(wire, sender, "CreateIndex", index_on_t(made))
    assert (status, code) in {(400, "OTSParameterInvalid"), (409, "OTSObjectAlreadyExist")}


def test_many_indexes_are_refused(wire: Wire, sender: Sender) -> None:
    request = table_with(*[index(f"i{number}") for number in range(MANY)])
    assert ask(wire, sender, "CreateTable", request) == (400, "OTSParameterInvalid")


IDENTITIES: Final = {
    "empty": "",
    "long": LONG,
    "zeros": "\x00" * 64,
    "other script": "中" * 100,
    "base64 of nothing": "AAAA",
    "digits": "9" * 10_000,
}


_IN_TRANSACTIONS: Final[dict[str, Callable[[], Message]]] = {
    "CommitTransaction": m.CommitTransactionRequest,
    "AbortTransaction": m.AbortTransactionRequest,
    "GetRow": lambda: get_row_request("T"),
    "PutRow": lambda: put_row_request("T", "no"),
}


@pytest.mark.parametrize("identity", IDENTITIES.values(), ids=IDENTITIES.keys())
@pytest.mark.parametrize("action", _IN_TRANSACTIONS)
def test_what_is_no_transaction_is_refused(
    wire: Wire, sender: Sender, action: str, identity: str
) -> None:
    message: Any = _IN_TRANSACTIONS[action]()
    message.transaction_id = identity
    assert ask(wire, sender, action, message)[0] in (400, 404)


@pytest.mark.parametrize(
    "key",
    [b"", b"\xff" * 1_000_000, key_buffer((("k", "a"), ("n", 1))), key_buffer((("k", LONG),))],
    ids=["nothing", "no key", "two columns", "a long value"],
)
def test_a_transaction_on_what_is_no_partition_key_is_refused(
    wire: Wire, sender: Sender, key: bytes
) -> None:
    message = m.StartLocalTransactionRequest(table_name="T", key=key)
    status, code = ask(wire, sender, "StartLocalTransaction", message)
    assert (status, code) in {(400, "OTSParameterInvalid"), (400, "OTSInvalidPK")}


@pytest.mark.parametrize("text", IDENTITIES.values(), ids=IDENTITIES.keys())
@pytest.mark.parametrize("limit", [1, -(2**31), 2**31 - 1])
def test_what_is_no_place_in_a_stream_is_refused(
    wire: Wire, sender: Sender, text: str, limit: int
) -> None:
    asked = {
        "GetStreamRecord": m.GetStreamRecordRequest(shard_iterator=text, limit=limit),
        "GetShardIterator": m.GetShardIteratorRequest(
            stream_id=text, shard_id=text, timestamp=limit * 2**31
        ),
        "DescribeStream": m.DescribeStreamRequest(stream_id=text, shard_limit=limit),
    }
    for action, message in asked.items():
        assert ask(wire, sender, action, message)[0] in (400, 404)
