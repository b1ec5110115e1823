"""What a table model gives for a copy of an instance (`instance_copy.py`), and what it gets."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from widerow.engine.catalog.model import CatalogModel
from widerow.engine.catalog.state import CatalogState
from widerow.errors import WiderowError
from widerow.keys.encode import after_prefix
from widerow.limits import COPY_BYTES_MAX
from widerow.storage.interface import Snapshot

__all__ = [
    "CopyMoment",
    "CopyNotYet",
    "CopyRefused",
    "CopyRoom",
    "ModelCopy",
    "PlacedTables",
    "Records",
    "has_any",
]

Records = tuple[tuple[bytes, bytes], ...]


class CopyRefused(WiderowError):
    """An instance holds what a copy cannot, or the store cannot put a copy back."""


class CopyNotYet(CopyRefused):
    """A table has what a copy cannot hold and what goes away by itself in a moment."""


class CopyMoment(NamedTuple):
    """What a copy is made from: a view of the store, and the catalogue as that view has it.

    `is_alone`: whether nobody else may change the store, so that what is in memory is of the view.
    """

    reader: Snapshot
    state: CatalogState
    is_alone: bool


class PlacedTables(NamedTuple):
    """Copied tables under new numbers: each with its model, and their records.

    `placed` is called when both are durable.
    """

    tables: tuple[tuple[CatalogModel[Any], Any], ...]
    records: Iterable[tuple[bytes, bytes]]
    placed: Callable[[], None]


class CopyRoom:
    """How many more bytes a copy may take. `size`: bytes taken so far."""

    def __init__(self, owner: str, room: int) -> None:
        """`owner`: the instance, for messages."""
        self.size = 0
        self._owner = owner
        self._room = room

    def take(self, size: int) -> None:
        """Count bytes of the copy. Raises `CopyRefused` where the copy gets too large."""
        self.size += size
        if self.size > self._room:
            raise CopyRefused(
                f"instance {self._owner!r} is larger than a snapshot may be: {COPY_BYTES_MAX} bytes"
            )

    def records(self, reader: Snapshot, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Every record under `prefix`, counted.

        Raises `CopyRefused` where the copy gets too large.
        """
        for key, record in reader.scan(prefix, after_prefix(prefix)):
            self.take(len(key) + len(record))
            yield key, record

    def behind(self, reader: Snapshot, prefix: bytes) -> Records:
        """Every record under a prefix, with keys that lack the prefix."""
        return tuple([(key[len(prefix) :], record) for key, record in self.records(reader, prefix)])


def has_any(reader: Snapshot, prefix: bytes) -> bool:
    """Whether there is a record under a prefix."""
    return next(iter(reader.scan(prefix, after_prefix(prefix))), None) is not None


class ModelCopy(ABC):
    """What tables of one model hold at one moment.

    `names`: of the tables that people see. `rows`: records of rows in them, of
    which a wide row has several. `size`: bytes of all records. `numbers`: how many numbers of the
    catalogue putting them back takes. `tables`: what is copied, equal where that is equal.
    """

    names: tuple[str, ...]
    rows: int
    size: int
    numbers: int
    tables: tuple[Any, ...]

    @abstractmethod
    def filled(self, number: int) -> tuple[bytes, ...]:
        """The prefixes under which a table of that number may be given records."""

    @abstractmethod
    def under(self, number: Callable[[], int], now_us: int) -> PlacedTables:
        """The tables and their records under new numbers, each of which `number` gives."""
