"""What the catalogue needs to know of a table model: how its tables stand there.

A model's records are one value of a subclass of `CatalogModel`. The catalogue knows no model by
name; it is given the models that a store may hold tables of.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from widerow.engine.catalog.state import CatalogState, Leftover
from widerow.engine.partitions.partitioned_tables import Bounds, KeyEnd, Partitioned, PartitionKey
from widerow.errors import Conflict, NotFound

__all__ = ["CatalogModel", "CatalogModels", "Namespace", "Numbered", "RowKeys"]


class Numbered(Protocol):
    """A table of any model: an immutable value with a number that is never used again."""

    @property
    def id(self) -> int:
        """The table's number."""
        ...


T = TypeVar("T", bound=Numbered)


class Namespace(NamedTuple):
    """A namespace as its record says it: the name to find it by, and the name to show."""

    folded: str
    shown: str


class RowKeys(NamedTuple):
    """Keys of rows, and of what stands beside rows in their shards, under one number.

    `end`: where the shard's name ends in such a key; it raises `StoreDamaged`. `is_derived`: the
    rows are entries of an index, which can be made again of those of its table.
    """

    number: int
    end: KeyEnd
    is_derived: bool = False


class CatalogModel(ABC, Generic[T]):
    """How tables of a model stand in the catalogue, and what belongs to one of them.

    `space`: what the keys of its records begin with. `kind`: the class of its tables. `named_with`:
    models with the same word share the names of an owner, so that a name is that of one table; "":
    the model's names are its own.
    """

    space: ClassVar[bytes]
    kind: ClassVar[type[Any]]
    named_with: ClassVar[str] = ""

    @abstractmethod
    def name_of(self, table: T) -> tuple[str, str]:
        """The owner and the name under which a table is found."""

    def names_taken(self, table: T) -> Iterable[str]:
        """The names that a table takes from those its owner's other tables may have."""
        return (self.name_of(table)[1],)

    def name_refused(self, table: T, name: str) -> Conflict:
        """The error for a name of `names_taken` that another table has."""
        owner, _ = self.name_of(table)
        raise NotImplementedError(f"{owner}/{name}: the names of this model are its own")

    @abstractmethod
    def record_of(self, table: T) -> tuple[bytes, bytes]:
        """Key and value of a table's record."""

    @abstractmethod
    def read(self, key: bytes, record: bytes) -> T | Leftover | Namespace:
        """What a record of the model's space is. Raises `StoreDamaged`."""

    @abstractmethod
    def leftover_of(self, table: T, due_us: int) -> Leftover:
        """What the drop of a table leaves behind."""

    def left_by_change(self, before: T, after: T, due_us: int) -> Iterable[Leftover]:
        """Drop notes for what a change of a table removes: dropped indexes, for example."""
        del before, after, due_us
        return ()

    @abstractmethod
    def missing(self, owner: str, name: str) -> NotFound:
        """The error for a name that no table has."""

    def gone(self, table: T) -> NotFound:
        """The error for a table that was dropped."""
        return self.missing(*self.name_of(table))

    # --- partitions --------------------------------------------------------------------------

    @abstractmethod
    def partitioned(self, table: T) -> Partitioned | None:
        """The table as partitions see it; None where its rows lie among another table's."""

    @abstractmethod
    def with_bounds(self, table: T, bounds: Bounds) -> T:
        """The table with other bounds of its partitions."""

    @abstractmethod
    def partition_key(self, table: T) -> PartitionKey:
        """What the table's rows are divided by."""

    # --- copies of a store -------------------------------------------------------------------

    def row_keys(self, table: T) -> Sequence[RowKeys]:
        """How the keys of a table's rows and of what stands beside them say their shards.

        In the order in which a copy reads them, where the moments of two shards differ.
        """
        if self.partitioned(table) is None:
            return ()
        return (RowKeys(table.id, self.partition_key(table).end),)

    def entry_numbers(self, table: T) -> Sequence[int]:
        """The numbers of a table's indexes whose entries stand in a space of their own."""
        del table
        return ()

    def unbuilt(self, table: T) -> T:
        """The table with every index that is not in the shards of its rows still to be built."""
        return table

    def copy_mark(self, table: T) -> bytes:
        """Equal for two definitions if records that were copied beside one are whole beside both.

        The bounds of partitions say nothing about the records of rows.
        """
        return self.record_of(self.with_bounds(table, ()))[1]

    def owned(self, state: CatalogState, owner: str) -> Sequence[T]:
        """Every table of an owner in a state of the catalogue, indexes too, sorted by name."""
        names = state.names(self.space, owner)
        return [state.by_name[self.space, owner, name] for name in names]


CatalogModels = Mapping[bytes, Callable[[], CatalogModel[Any]]]
"""By the spaces of their records, what imports a model: only where one of its records is."""
