"""What a group has changed, as a batch of RocksDB's, and handing that over.

Compiled: one runs for every row written, the others for every group.
"""

from rocksdict import Rdict, WriteBatch, WriteOptions

from widerow.storage.pending import WriteSet

__all__ = ["engine_batch", "sync_log", "write_batch"]


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


def write_batch(engine: Rdict, batch: WriteBatch, options: WriteOptions) -> None:
    """Write a batch to the engine without a sync. The batch cannot be used again."""
    engine.write(batch, options)


def sync_log(engine: Rdict) -> None:
    """Sync the log: all batches that were handed over are on stable storage when this returns."""
    engine.flush_wal(True)  # noqa: FBT003  # the binding's own signature; True means fdatasync
