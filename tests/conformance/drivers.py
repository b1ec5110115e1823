"""The drivers that the conformance suite runs over, and what its checks name alike."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from tests import hbase
from tests.postgres import fresh_url
from tests.support.lossy import LossyDisk, LossyStore
from tests.support.remote import MemoryDriver, RemoteSpace, Weather, remote_store
from tests.support.strict import StrictSpace, StrictStore

from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeEntropy

__all__ = ["BAD_WEATHER", "DRIVERS", "SHARD", "key"]

BAD_WEATHER: Final = Weather(refused=0.2, busy=0.1, unknown=0.2, cut=0.3)


_OPENERS: Final[dict[str, Callable[[Path], Store]]] = {
    "memory": lambda _: open_store("memory:"),
    "rocksdb": lambda directory: open_store(f"rocksdb:{directory}"),
    "lossy": lambda _: LossyStore(LossyDisk()),
    "strict": lambda _: StrictStore(StrictSpace(), FakeEntropy()),
    "strict, with conflicts": lambda _: StrictStore(StrictSpace(), FakeEntropy(), conflicts=0.3),
    "remote": lambda _: remote_store(MemoryDriver(RemoteSpace(), FakeEntropy(1))),
    "remote, in bad weather": lambda _: remote_store(
        MemoryDriver(RemoteSpace(), FakeEntropy(1), BAD_WEATHER)
    ),
    "remote, in several homes": lambda _: remote_store(
        MemoryDriver(RemoteSpace(), FakeEntropy(1), BAD_WEATHER, homes=3)
    ),
    "postgres": lambda _: open_store(fresh_url()),
    "hbase": lambda _: open_store(hbase.fresh_url()),
}
_PATIENT: Final = {"hbase": (pytest.mark.night, pytest.mark.timeout(hbase.START_SECONDS))}
DRIVERS: Final = [
    pytest.param(opener, id=name, marks=_PATIENT.get(name, ())) for name, opener in _OPENERS.items()
]
SHARD: Final = b"\x10shard"


def key(number: int) -> bytes:
    """The key of that number in the shard."""
    return SHARD + number.to_bytes(4, "big")
