"""Fixtures: a clock that stands still, and a store in memory that is looked through at the end."""

from collections.abc import Iterator

import pytest

from widerow.engine.check import check_store
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock

__all__ = ["clock", "store"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("memory:") as opened:
        yield opened
        assert check_store(opened) == []
