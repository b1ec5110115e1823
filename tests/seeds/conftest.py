"""An engine on a memory store, at the founding page's own date: 2016-07-20 00:00:00 UTC.

Its column names are strict, as the founding pages have them (docs/operating/configure.md).
"""

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
    return open_tablestore(store, clock, FakeEntropy(), strict_column_names=True)
