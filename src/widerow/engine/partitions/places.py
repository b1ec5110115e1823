"""Which servers of a database have which partitions (`storage/placement.py`)."""

from collections.abc import Sequence
from contextlib import suppress

from widerow.engine.partitions.partitioned_tables import Partitioned
from widerow.errors import StorageFailure
from widerow.keys.encode import after_prefix
from widerow.keys.layout import row_prefix
from widerow.storage.interface import Store
from widerow.storage.placement import PlacedRange

__all__ = ["Places", "places_of"]


class Places:
    """The servers of a table's rows, as of the moment when this was read."""

    __slots__ = ("_ranges", "_rows")

    def __init__(self, table: Partitioned, ranges: Sequence[PlacedRange]) -> None:
        """`ranges`: those of the store in order; empty where the store does not know them."""
        self._rows = row_prefix(table.id)
        self._ranges = ranges

    def servers(self, start: bytes, stop: bytes | None) -> list[str]:
        """The servers of the partition keys start ≤ key < stop, each once, in the order of keys.

        Empty where the store does not know them. `stop`: None is the end of the table.
        """
        first = self._rows + start
        end = after_prefix(self._rows) if stop is None else self._rows + stop
        found = [each for each in self._ranges if each.start < end and first < each.stop]
        return list(dict.fromkeys(each.server for each in found))


def places_of(store: Store, table: Partitioned) -> Places:
    """The servers of a table, as far as the store can tell now; one or two round trips."""
    ranges: Sequence[PlacedRange] = ()
    if store.placement is not None:
        with suppress(StorageFailure):  # without servers, callers show everything else
            ranges = store.placement.ranges()
    return Places(table, ranges)
