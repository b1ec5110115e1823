"""An engine on a memory store with a clock that stands still."""

import pytest
from tests.support.engines import open_tablestore
from tests.support.memory_engine import clock, store

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

__all__ = ["clock", "engine", "store"]


@pytest.fixture
def engine(store: Store, clock: FakeClock) -> TablestoreEngine:
    return open_tablestore(store, clock, FakeEntropy())
