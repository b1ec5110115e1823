"""The drivers that the conformance suite runs over, and what its checks name alike."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeEntropy
from widerow.testing.lossy import LossyDisk, LossyStore
from widerow.testing.strict import StrictSpace, StrictStore

__all__ = ["OPENERS", "SHARD", "key"]

OPENERS: Final[dict[str, Callable[[Path], Store]]] = {
    "memory": lambda _: open_store("memory:"),
    "rocksdb": lambda directory: open_store(f"rocksdb:{directory}"),
    "lossy": lambda _: LossyStore(LossyDisk()),
    "strict": lambda _: StrictStore(StrictSpace(), FakeEntropy()),
    "strict, with conflicts": lambda _: StrictStore(StrictSpace(), FakeEntropy(), conflicts=0.3),
}
SHARD: Final = b"\x10shard"


def key(number: int) -> bytes:
    """The key of that number in the shard."""
    return SHARD + number.to_bytes(4, "big")
