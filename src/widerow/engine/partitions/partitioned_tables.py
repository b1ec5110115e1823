"""What partitions need to know of tables of any table model."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, Protocol

from widerow.errors import NotFound
from widerow.storage.interface import Transaction, Write

__all__ = ["Bounds", "KeyEnd", "KeyText", "PartitionKey", "Partitioned", "PartitionedTables"]

Bounds = tuple[bytes, ...]
KeyEnd = Callable[[bytes], int]
KeyText = int | str | dict[str, Any]


class Partitioned(Protocol):
    """A table whose rows are divided into partitions. Immutable; each change makes a new value."""

    @property
    def id(self) -> int:
        """The number that keys of its rows begin with."""
        ...

    @property
    def qualified(self) -> str:
        """The name that logs and metrics show."""
        ...

    @property
    def splits(self) -> Bounds:
        """The encoded partition keys where partitions meet, ascending, without the ends."""
        ...

    @property
    def asked(self) -> Bounds:
        """The bounds in `splits` that are never removed: those that a client asked for."""
        ...

    @property
    def global_indexes(self) -> tuple[int, ...]:
        """The numbers of the tables whose rows are written beside those of this one.

        Of an index that is being built only when it is ready.
        """
        ...

    @property
    def reserved_units(self) -> tuple[int, int]:
        """Reserved capacity units a second: read, write."""
        ...


class PartitionKey(NamedTuple):
    """What a table's rows are divided by: its partition key, or shard key.

    `owner` and `table`: whose the table is (instance or namespace), and its name there. `end`:
    where the partition key ends in the key of a row; it raises `StoreDamaged`. `text`: what stands
    for an encoded partition key in JSON; it raises `StoreDamaged`.
    """

    owner: str
    table: str
    name: str
    type: str
    end: KeyEnd
    text: Callable[[bytes], KeyText]


class PartitionedTables(Protocol):
    """The tables of a store that have rows of their own to divide, of all models."""

    reads: tuple[bytes, ...]
    """The keys that a write has to name in its `reads` if its body calls `current`."""

    def epoch(self) -> int:
        """A number that changes with each change of a table."""
        ...

    def by_id(self, table_id: int) -> Partitioned | None:
        """The table of that number as it is now, or None if there is none."""
        ...

    def tables(self) -> Sequence[Partitioned]:
        """Every table whose rows are divided into partitions."""
        ...

    def leaving(self) -> AbstractSet[int]:
        """The numbers of dropped tables whose rows are not all removed."""
        ...

    def current(self, table: Partitioned, txn: Transaction | None = None) -> Partitioned:
        """The newest definition of a table, for a body before it writes. Raises `NotFound`."""
        ...

    def divide(self, table: Partitioned, bounds: Callable[[Bounds], Bounds]) -> Write[Partitioned]:
        """The write that replaces the newest `splits` by `bounds` of them; its result: the table.

        Its body raises `NotFound`.
        """
        ...

    def partition_key(self, table: Partitioned) -> PartitionKey:
        """What the table's rows are divided by. Raises `NotFound` if it was dropped."""
        ...

    def gone(self, table: Partitioned) -> NotFound:
        """The error for a table that was dropped."""
        ...
