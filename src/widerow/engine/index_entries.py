"""Entries of secondary indexes, which stand under keys of their own, in every table model."""

from collections.abc import Mapping

from widerow.storage.interface import Transaction

__all__ = ["replace_entries"]


def replace_entries(
    txn: Transaction, before: Mapping[bytes, bytes], after: Mapping[bytes, bytes]
) -> None:
    """Take away the entries that a row no longer has, and put those that are new or differ.

    Both are the entries of one row, as records by their keys. Cost: a write for each that changes.
    """
    for entry in before.keys() - after.keys():
        txn.delete(entry)
    for entry, value in after.items():
        if before.get(entry) != value:
            txn.put(entry, value)
