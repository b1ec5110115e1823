"""Transactions in memory, and in the shards of stores that processes share.

There once as a server that has seen all of a transaction goes on with it, and once as one does that
has seen nothing, and makes everything again out of the records. The stores: one that promises no
more than a shared one, and the layer over a database whose commits have no answer by chance.
"""

from collections.abc import Iterator

import pytest
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store
from tests.support.strict import StrictSpace, StrictStore
from tests.support.weather import Weather

from widerow.engine.check import check_store
from widerow.engine.tablestore.transactions.known_transactions import KnownTransactions, ShardRows
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeEntropy


@pytest.fixture(params=["memory", "shards", "unseen", "remote"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    if request.param == "memory":
        opened = open_store("memory:")
    elif request.param == "remote":
        weather = Weather(refused=0.1, unknown=0.05)
        opened = remote_store(MemoryDriver(RemoteSpace(), FakeEntropy(7), weather))
    else:
        opened = StrictStore(StrictSpace(), FakeEntropy(7), conflicts=0.1)
    if request.param == "unseen":
        monkeypatch.setattr(
            KnownTransactions, "rows_of", lambda _self, _id, shard: ShardRows(shard)
        )
    with opened:
        yield opened
        assert check_store(opened) == []
