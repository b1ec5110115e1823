"""What the shell asks of a store. `widerow.nosql` answers it for a directory."""

from collections.abc import Sequence
from typing import Protocol

from widerow.model.typed.table import TypedTable

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

    def close(self) -> None:
        """Let the directory go."""
        ...
