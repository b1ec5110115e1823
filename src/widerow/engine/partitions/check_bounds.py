"""Verifying the bounds of partitions: part of the walk of `engine/check.py`."""

from collections.abc import Iterator
from itertools import pairwise

from widerow.engine.partitions.partitioned_tables import Partitioned, PartitionedTables
from widerow.errors import StoreDamaged
from widerow.keys.layout import row_prefix

__all__ = ["check_bounds"]


def check_bounds(tables: PartitionedTables) -> Iterator[tuple[str, str, str]]:
    """Table, key and problem of every wrong bound of a partition."""
    for table in tables.tables():
        yield from _check_bounds(tables, table)


def _check_bounds(tables: PartitionedTables, table: Partitioned) -> Iterator[tuple[str, str, str]]:
    """The wrong bounds of one table: bounds must be whole partition keys, ascending."""
    name, kind, prefix = table.qualified, tables.partition_key(table), row_prefix(table.id)
    for before, bound in pairwise((b"", *table.splits)):
        key = prefix + bound
        try:
            end = kind.end(key)
            kind.text(bound)
        except StoreDamaged as error:
            yield name, bound.hex(), f"a partition's bound is not a key: {error}"
            continue
        if end != len(key) or bound <= before:
            yield name, bound.hex(), "a partition's bound is out of order"
    if not set(table.asked) <= set(table.splits):
        yield name, "", "a bound that CreateTable asked for is gone"
