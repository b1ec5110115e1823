"""Transactions in memory, and in the shards of a store that promises no more than a shared one.

There once as a server that has seen all of a transaction goes on with it, and once as one does that
has seen nothing, and makes everything again out of the records.
"""

from collections.abc import Iterator

import pytest
from tests.support.strict import StrictSpace, StrictStore

from widerow.engine.check import check_store
from widerow.engine.tablestore.transactions.known_transactions import KnownTransactions, ShardRows
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeEntropy


@pytest.fixture(params=["memory", "shards", "unseen"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    if request.param == "memory":
        opened = open_store("memory:")
    else:
        opened = StrictStore(StrictSpace(), FakeEntropy(7), conflicts=0.1)
    if request.param == "unseen":
        monkeypatch.setattr(
            KnownTransactions, "rows_of", lambda _self, _id, shard: ShardRows(shard)
        )
    with opened:
        yield opened
        assert check_store(opened) == []
