"""An engine on a memory store with a clock that stands still."""

from collections.abc import Iterator

import pytest
from tests.support.engines import open_tablestore

from widerow.engine.check import check_store
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("memory:") as opened:
        yield opened
        assert check_store(opened) == []


@pytest.fixture
def engine(store: Store, clock: FakeClock) -> TablestoreEngine:
    return open_tablestore(store, clock, FakeEntropy())
