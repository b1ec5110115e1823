"""What a table model contributes to the sweep: when a table is due, and what is given back."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from widerow.engine.catalog.model import Numbered
from widerow.engine.catalog.state import Leftover
from widerow.engine.sweep.record import SweepRecord
from widerow.keys.layout import row_prefix
from widerow.storage.interface import Reader, Transaction, Write

__all__ = ["NOTHING_FREED", "STAYS", "Freed", "SweptModel", "SweptRecord"]

T = TypeVar("T", bound=Numbered)


class Freed(NamedTuple):
    """What one write gave back: rows, cells, sequence records, and bytes of keys and values.

    `shard`: the encoded partition key whose partition shrank. `first`: as in `SweepRecord`, of what
    the write left of the row.
    """

    shard: bytes = b""
    rows: int = 0
    cells: int = 0
    sequences: int = 0
    size: int = 0
    first: int | None = None


class SweptRecord(NamedTuple):
    """What a pass found in one record.

    `first`: as in `SweepRecord`, of the record as it stands. `shards`, `reads` and `body`: the
    write that gives something back, if there is something; it reads the record again. `following`:
    the pass may go on at this key, because no record before it needs a look.
    """

    first: int | None = None
    shards: tuple[bytes, ...] = ()
    body: Callable[[Transaction], Freed] | None = None
    following: bytes | None = None
    reads: tuple[bytes, ...] = ()


STAYS = SweptRecord()
NOTHING_FREED = Freed()


class SweptModel(ABC, Generic[T]):
    """A table model as the sweep sees it. `kind`: the class of its tables."""

    kind: ClassVar[type[Any]]
    counts_cleared: ClassVar[bool] = True
    """Whether what `place_of` finds was counted as rows of the table that it lies in."""

    def among(self, leftover: Leftover) -> bytes:
        """Where rows of a dropped table are looked for that lie among those of other tables."""
        return row_prefix(leftover.top)

    def is_swept(self, table: T) -> bool:
        """Whether a table's ranges can hold anything to remove. Called often, so cheap."""
        del table
        return True

    @abstractmethod
    def ranges(self, table: T) -> tuple[tuple[bytes, bytes], ...]:
        """The ranges that a pass over the table reads, in this order: starts and stops."""

    @abstractmethod
    def due_us(self, table: T, last: SweepRecord | None) -> int:
        """When the next pass is due, in microseconds since 1970.

        `last`: None before the first pass.
        """

    @abstractmethod
    def examine(self, table: T, key: bytes, record: bytes, reader: Reader) -> SweptRecord:
        """What to do about one record of the ranges. Raises `StoreDamaged`."""

    def ended(self, table: T) -> Write[Any] | None:
        """The write at the end of a pass, if there is any. `table`: as at the pass's beginning."""
        del table
        return None

    def place_of(self, record: bytes, key: bytes, table_id: int) -> bytes | None:
        """The encoded partition key of a row that is of a dropped table, else None.

        For tables whose rows lie among those of others. `table_id`: of the dropped one.
        """
        del record, key, table_id
        return None
