"""Local transactions by requests to two servers of one store (change §B)."""

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import pytest
from tests.support.buffers import key_buffer
from tests.support.http import Sender, Wire
from tests.support.requests import (
    KEY,
    batch_write_request,
    create_table_request,
    get_range_request,
    get_row_request,
    put_row_request,
)
from tests.support.strict import StrictSpace, StrictStore

from widerow.testing.clock import FakeEntropy
from widerow.wire.tablestore import messages as m

if TYPE_CHECKING:
    from tests.unit.server.conftest import Running

Serve = Callable[..., "Running"]
SENDER: Final = Sender(instance="i")
ask, granted = SENDER.ask, SENDER.granted
LOCKED: Final = "OTSRowOperationConflict"


@pytest.fixture
def wires(serve: Serve) -> Iterator[list[Wire]]:
    space = StrictSpace()
    servers = [serve(StrictStore(space, FakeEntropy(n)), node_name=str(n)) for n in range(2)]
    made = [Wire(each.endpoint) for each in servers]
    granted(made[0], "CreateTable", create_table_request("t").SerializeToString())
    yield made
    for each in made:
        each.__exit__()


def start(wire: Wire) -> str:
    request = m.StartLocalTransactionRequest(table_name="t", key=key_buffer(KEY[:1]))
    body = granted(wire, "StartLocalTransaction", request.SerializeToString())
    identity = m.StartLocalTransactionResponse.FromString(body).transaction_id
    assert isinstance(identity, str)
    return identity


def row_of(wire: Wire, inside: str | None = None) -> bytes:
    request = get_row_request("t")
    if inside is not None:
        request.transaction_id = inside
    found: bytes = m.GetRowResponse.FromString(
        granted(wire, "GetRow", request.SerializeToString())
    ).row
    return found


def test_requests_of_a_transaction_go_to_either_server(wires: list[Wire]) -> None:
    """Reads, writes, batches and the commit; what others write of the key is refused by both."""
    one, two = wires
    inside = start(one)
    put = put_row_request("t")
    for wire in wires:
        assert ask(wire, "PutRow", put.SerializeToString()).error[1] == LOCKED
    put.transaction_id = inside
    granted(two, "PutRow", put.SerializeToString())
    batch = batch_write_request("t")
    batch.transaction_id = inside
    granted(one, "BatchWriteRow", batch.SerializeToString())
    scan = get_range_request("t")
    scan.transaction_id = inside
    granted(two, "GetRange", scan.SerializeToString())
    assert [bool(row_of(wire, inside)) for wire in wires] == [True, True]
    assert [row_of(wire) for wire in wires] == [b"", b""]
    commit = m.CommitTransactionRequest(transaction_id=inside).SerializeToString()
    granted(two, "CommitTransaction", commit)
    assert [bool(row_of(wire)) for wire in wires] == [True, True]
    assert ask(one, "CommitTransaction", commit).error[1] == "OTSSessionNotExist"


def test_a_scrape_tells_how_many_are_open(wires: list[Wire]) -> None:
    one = wires[0]
    start(one)
    deadline = time.monotonic() + 10
    line = b"\nwiderow_local_transactions 1\n"
    while line not in one.ask(b"GET /metrics HTTP/1.1\r\n\r\n").body:
        assert time.monotonic() < deadline, "it is never told"
