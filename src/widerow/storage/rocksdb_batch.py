"""What a group has changed, as a batch of RocksDB's. Compiled: it runs for every row written."""

from rocksdict import WriteBatch

from widerow.storage.pending import WriteSet

__all__ = ["engine_batch"]


def engine_batch(changes: WriteSet) -> WriteBatch:
    """An engine batch: ranges first, then what was written after them."""
    batch = WriteBatch(raw_mode=True)
    for start, stop in zip(changes.starts, changes.stops, strict=True):
        batch.delete_range(start, stop)
    put, delete = batch.put, batch.delete
    for key, value in changes.entries.items():
        if value is None:
            delete(key)
        else:
            put(key, value)
    return batch
