"""Verifying partitions: part of the walk of `engine/check.py`."""

from collections.abc import Iterator
from itertools import pairwise

from widerow.engine.partitions.history import decode_interval
from widerow.engine.partitions.records import decode_counts
from widerow.engine.partitions.tables import Partitioned, PartitionedTables
from widerow.errors import StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import row_prefix, statistics_key, statistics_prefix
from widerow.storage.interface import Snapshot

__all__ = ["check_partitions"]


def check_partitions(
    snapshot: Snapshot, tables: PartitionedTables
) -> Iterator[tuple[str, str, str]]:
    """Table, key and problem of every bound and statistics record that is not as it must be."""
    for table in tables.tables():
        yield from _check_bounds(tables, table)
        yield from _check_statistics(snapshot, table)


def _check_bounds(tables: PartitionedTables, table: Partitioned) -> Iterator[tuple[str, str, str]]:
    """Bounds that are whole keys in order cover the key space without gap or overlap."""
    name, kind, prefix = table.qualified, tables.partition_key(table), row_prefix(table.id)
    for before, bound in pairwise((b"", *table.splits)):
        key = prefix + bound
        try:
            end = kind.end(key)
            kind.text(bound)
        except StoreDamaged as error:
            yield name, bound.hex(), f"a partition's bound is no key: {error}"
            continue
        if end != len(key) or bound <= before:
            yield name, bound.hex(), "a partition's bound is out of order"
    if not set(table.asked) <= set(table.splits):
        yield name, "", "a bound that CreateTable asked for is gone"


def _check_statistics(snapshot: Snapshot, table: Partitioned) -> Iterator[tuple[str, str, str]]:
    prefix = statistics_prefix(table.id)
    for key, record in snapshot.scan(prefix, after_prefix(prefix)):
        try:
            if key == statistics_key(table.id):
                decode_counts(record)
            else:
                decode_interval(int.from_bytes(key[len(prefix) + 1 :], "big"), record)
        except StoreDamaged as error:
            yield table.qualified, key.hex(), str(error)
