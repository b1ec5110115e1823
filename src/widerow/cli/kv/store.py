"""What the shell asks of a store. `widerow.nosql` answers it for a directory."""

from collections.abc import Sequence
from typing import Protocol

from widerow.model.typed.plans import Plan
from widerow.model.typed.table import Index, TypedTable

__all__ = ["Store", "Table"]


class Table(Protocol):
    """A table of the store."""

    @property
    def definition(self) -> TypedTable:
        """The definition as it is now."""
        ...


class Store(Protocol):
    """An open store of typed tables."""

    def find_table(self, name: str) -> Table | None:
        """The table of that name, whatever its case, or None."""
        ...

    def tables(self, namespace: str | None = None) -> Sequence[Table]:
        """All tables, or those of one namespace, parents before their children."""
        ...

    def namespaces(self) -> list[str]:
        """The names of all namespaces."""
        ...

    def create_table(self, definition: TypedTable, *, if_not_exists: bool = False) -> Table:
        """Add a table."""
        ...

    def alter_table(self, changed: TypedTable) -> Table:
        """Make the changes of a `TableEvolver`."""
        ...

    def drop_table(self, name: str, *, if_exists: bool = False) -> bool:
        """Remove a table and its rows."""
        ...

    def create_index(self, table: str, index: Index) -> None:
        """Add an index and put the rows into it."""
        ...

    def drop_index(self, table: str, name: str) -> None:
        """Remove an index."""
        ...

    def next_plan_id(self) -> int:
        """A number for a plan, one above the last."""
        ...

    def save_plan(self, plan: Plan) -> None:
        """Keep a plan, or how far it is."""
        ...

    def plans(self) -> list[Plan]:
        """The plans that are kept, in the order of their numbers."""
        ...

    def close(self) -> None:
        """Let the directory go."""
        ...
