"""Stores of every kind for backups of records, and changes that hypothesis draws."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from hypothesis import strategies as st
from tests import hbase
from tests.postgres import fresh_url
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store
from tests.support.strict import StrictSpace, StrictStore
from tests.support.weather import Weather

from widerow.backups import making, parts, restoring
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeEntropy

__all__ = ["CHANGES", "KINDS", "QUICK", "STORES", "small_parts"]

STORES: Final[dict[str, Callable[[Path], Store]]] = {
    "memory": lambda _: open_store("memory:"),
    "rocksdb": lambda folder: open_store(f"rocksdb:{folder}"),
    "strict": lambda _: StrictStore(StrictSpace(), FakeEntropy(), conflicts=0.1),
    "remote": lambda _: remote_store(MemoryDriver(RemoteSpace(), FakeEntropy(1))),
    "weather": lambda _: remote_store(
        MemoryDriver(RemoteSpace(), FakeEntropy(1), Weather(busy=0.2, unknown=0.1, cut=0.3))
    ),
    "postgres": lambda _: open_store(fresh_url()),
    "hbase": lambda _: open_store(hbase.fresh_url()),
}
PATIENT: Final = {"hbase": (pytest.mark.night, pytest.mark.timeout(hbase.START_SECONDS))}
KINDS: Final = [pytest.param(name, marks=PATIENT.get(name, ())) for name in STORES]
QUICK: Final = st.sampled_from(["memory", "strict", "remote"])
_KINDS: Final = (
    *("row", "row", "no_row", "wide", "count", "user", "user", "note", "point"),
    *("split", "alter", "index", "consume", "settle"),
)
CHANGES: Final = st.lists(st.tuples(st.sampled_from(_KINDS), st.integers(0, 9)), max_size=20)


@contextmanager
def small_parts() -> Iterator[None]:
    """Parts, frames and groups of a few records."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "PART_BYTES", 400)
        patch.setattr(making, "TOLD_RECORDS", 1)
        patch.setattr(parts, "FRAME_BYTES", 200)
        patch.setattr(restoring, "GROUP_BYTES", 500)
        yield
