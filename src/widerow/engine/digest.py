"""The digest of a store: equal for two stores exactly if they hold the same keys and values."""

import hashlib
from collections.abc import Callable
from typing import Final

from widerow.engine.check import PROGRESS_RECORDS
from widerow.storage.interface import Snapshot

__all__ = ["store_digest"]

_END: Final = b"\xff" * 8  # above every key: spaces are single bytes far below
_LENGTH_BYTES: Final = 4


def store_digest(snapshot: Snapshot, *, progress: Callable[[int], None] = lambda _: None) -> str:
    """SHA-256, in hexadecimal, over every key and value in order, each behind its length.

    Independent of how the engine underneath lays them out in files. `progress` is called with the
    number of records read, every thousand. Raises: `StoreDamaged`. Cost: one pass over the store.
    """
    summed = hashlib.sha256()
    for count, pair in enumerate(snapshot.scan(b"", _END), 1):
        for part in pair:
            summed.update(len(part).to_bytes(_LENGTH_BYTES, "big"))
            summed.update(part)
        if count % PROGRESS_RECORDS == 0:
            progress(count)
    return summed.hexdigest()
