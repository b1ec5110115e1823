"""The tables of a catalogue as their partitions see them, whichever model they are of."""

from collections.abc import Callable
from typing import Any

from widerow.engine.catalog.catalog import Catalog
from widerow.engine.catalog.draft import Draft
from widerow.engine.partitions.partitioned_tables import Bounds, Partitioned, PartitionKey
from widerow.errors import NotFound, Rule
from widerow.storage.interface import Transaction, Write

__all__ = ["CatalogPartitions"]


class CatalogPartitions:
    """The tables that have rows of their own to divide."""

    __slots__ = ("_catalog", "reads")

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.reads = catalog.reads

    def epoch(self) -> int:
        """The epoch of the catalogue."""
        return self._catalog.seen().epoch

    def by_id(self, table_id: int) -> Partitioned | None:
        """The table of that number as it is now, or None."""
        return self._shown(self._catalog.seen().by_id.get(table_id))

    def tables(self) -> list[Partitioned]:
        """Every table whose rows are divided into partitions."""
        shown = map(self._shown, self._catalog.tables())
        return [table for table in shown if table is not None]

    def leaving(self) -> frozenset[int]:
        """The numbers of dropped tables and indexes whose rows are not all removed."""
        return frozenset(self._catalog.seen().leftovers)

    def current(self, table: Partitioned, txn: Transaction | None = None) -> Partitioned:
        """The newest definition of a table, for a body before it writes. Raises `NotFound`."""
        found = self._shown(self._catalog.in_body(txn).by_id.get(table.id))
        if found is None:
            raise self.gone(table)
        return found

    def divide(self, table: Partitioned, bounds: Callable[[Bounds], Bounds]) -> Write[Partitioned]:
        """The write that replaces the table's newest `splits` by what `bounds` makes of them.

        Nothing else of the definition changes, so a change of the table meanwhile is no conflict.
        Its body raises `NotFound`.
        """

        def make(draft: Draft) -> Partitioned:
            found = draft.state.by_id.get(table.id)
            shown = self._shown(found)
            if found is None or shown is None:
                raise self.gone(table)
            model = self._catalog.model_of(found)
            after = draft.put(model, model.with_bounds(found, bounds(shown.splits)))
            divided = model.partitioned(after)
            assert divided is not None
            return divided

        return self._catalog.change(make)

    def partition_key(self, table: Partitioned) -> PartitionKey:
        """What the table's rows are divided by. Raises `NotFound` if it was dropped."""
        found = self._catalog.seen().by_id.get(table.id)
        if found is None:
            raise self.gone(table)
        return self._catalog.model_of(found).partition_key(found)

    def gone(self, table: Partitioned) -> NotFound:
        """The error for a table that was dropped."""
        owner, _, name = table.qualified.rpartition("/")
        return NotFound(Rule.TABLE_NOT_FOUND, instance=owner, table=name)

    def _shown(self, table: Any) -> Partitioned | None:  # noqa: ANN401  # of any model
        return None if table is None else self._catalog.model_of(table).partitioned(table)
