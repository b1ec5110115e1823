"""What the catalogue needs to know of a table model.

A model is one value of a subclass of `TableModel`. The list of them stands in
`engine/table_models.py`; the catalogue knows no model by name.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from widerow.engine.catalog.state import Leftover
from widerow.engine.partitions.tables import Bounds, Partitioned, PartitionKey
from widerow.errors import NotFound

__all__ = ["Namespace", "Numbered", "TableModel", "TableModelEntry"]


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


class TableModel(ABC, Generic[T]):
    """A table model: how its tables stand in the catalogue, and what belongs to one of them.

    `name`: of the model, for messages. `space`: what the keys of its records begin with. `kind`:
    the class of its tables.
    """

    name: ClassVar[str]
    space: ClassVar[bytes]
    kind: ClassVar[type[Any]]

    @abstractmethod
    def name_of(self, table: T) -> tuple[str, str]:
        """Owner and name that a table is found by."""

    @abstractmethod
    def record_of(self, table: T) -> tuple[bytes, bytes]:
        """Key and value of a table's record."""

    @abstractmethod
    def read(self, key: bytes, record: bytes) -> T | Leftover | Namespace:
        """What a record of the model's space is. Raises `StoreDamaged`."""

    @abstractmethod
    def leftover_of(self, table: T, due_us: int) -> Leftover:
        """What the drop of a table leaves behind."""

    @abstractmethod
    def left_by_change(self, before: T, after: T, due_us: int) -> Iterable[Leftover]:
        """What a change of a table leaves behind: indexes that are gone, for example."""

    @abstractmethod
    def missing(self, owner: str, name: str) -> NotFound:
        """The error for a name that no table has."""

    @abstractmethod
    def gone(self, table: T) -> NotFound:
        """The error for a table that was dropped."""

    @abstractmethod
    def partitioned(self, table: T) -> Partitioned | None:
        """The table as partitions see it; None where its rows lie among another table's."""

    @abstractmethod
    def with_bounds(self, table: T, bounds: Bounds) -> T:
        """The table with other bounds of its partitions."""

    @abstractmethod
    def partition_key(self, table: T) -> PartitionKey:
        """What the table's rows are divided by."""


class TableModelEntry(NamedTuple):
    """A line of the list of models. `load` imports the model: only where one of its records is.

    `space`: that of the model, for looking whether there is any.
    """

    space: bytes
    load: Callable[[], TableModel[Any]]
