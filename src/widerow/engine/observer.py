"""What hears of every change of a row, in the transaction that makes it, in every table model.

An observer says which tables it watches, which keys beside the row it may touch there, and is told
of each change before the change is stored. What it raises refuses the change: neither the row nor
anything that the observer wrote is kept.
"""

from collections.abc import Sequence
from typing import Any, Final, Generic, Protocol, TypeVar, final

from widerow.engine.catalog.model import Numbered
from widerow.storage.interface import Transaction

__all__ = ["NOT_OBSERVED", "LoadRecorder", "Observers", "RowEvent", "RowObserver", "Watch"]

T = TypeVar("T", bound=Numbered)
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)


@final
class RowEvent(Generic[R]):
    """What becomes of one row: the former row and the new one, None where none is stored.

    `key`: where the row is stored. `shard`: the prefix of its shard among the rows. `old` is as it
    is stored: it may have expired. `write`: the checked write of the model that a client asked for;
    None where nobody asked (the sweep). `asked_us`: when it was asked for, in microseconds since
    1970, the same for all rows of one request; 0 where nobody asked.
    """

    __slots__ = ("asked_us", "key", "new", "old", "shard", "write")

    def __init__(
        self,
        key: bytes,
        shard: bytes,
        old: R | None,
        new: R | None,
        write: Any = None,  # noqa: ANN401  # of any model
        asked_us: int = 0,
    ) -> None:
        self.key = key
        self.shard = shard
        self.old = old
        self.new = new
        self.write = write
        self.asked_us = asked_us


class RowObserver(Protocol[T_contra, R]):
    """Keeps something true beside rows. `T`: tables of a model, `R`: its rows as they are stored.

    The rows of every model decode nothing before they are asked, and have their stored bytes as
    `record`, which is all that an observer of every model may ask for.
    """

    def watches(self, table: T_contra) -> bool:
        """Whether to tell this observer of changes of the table's rows.

        Constant for one definition.
        """
        ...

    def shards(self, table: T_contra) -> tuple[bytes, ...]:
        """Prefixes outside the row's own shard that a write of the table may touch.

        Only where the store's transactions reach over shards.
        """
        ...

    def spaces(self, table: T_contra) -> bytes:
        """Spaces of the row's own shard that a write of the table may touch beside the rows.

        One byte each: the shard's prefix with this byte instead of that of the rows.
        """
        ...

    def reads(self, table: T_contra) -> tuple[bytes, ...]:
        """Keys outside the shards that may be read in the transaction (`Write.reads`)."""
        ...

    def changed(self, txn: Transaction, table: T_contra, event: RowEvent[R]) -> None:
        """A row is about to be stored, or removed, or a client's write left it as it was.

        The rows of the event may be asked only until this returns. Called again where the
        transaction runs again, so it keeps nothing. What this raises refuses the write.
        """
        ...


class LoadRecorder(Protocol):
    """Counts the capacity units that each shard is asked for."""

    def __call__(  # as the partitions count it
        self, table_id: int, key: bytes, reads: int, writes: int, rows: int = 0, size: int = 0
    ) -> None:
        """Count units used on one shard of the table hierarchy `table_id`.

        `key`: the encoded shard key. `rows`, `size`: by how much the hierarchy grew there.
        """
        ...


@final
class Watch:
    """The observers of one definition of a table, and what its writes may touch because of them.

    False in a condition if no observer watches the table.
    """

    __slots__ = ("observers", "reads", "shards", "spaces", "table")

    def __init__(self, table: Any, observers: Sequence[RowObserver[Any, Any]]) -> None:  # noqa: ANN401  # of any model
        """The observers among `observers` that watch `table`."""
        self.table = table
        self.observers = tuple([each for each in observers if each.watches(table)])
        self.shards = _joined([each.shards(table) for each in self.observers])
        self.spaces = frozenset(b"".join([each.spaces(table) for each in self.observers]))
        self.reads = _joined([each.reads(table) for each in self.observers])

    def __bool__(self) -> bool:
        return bool(self.observers)

    def covers(self, other: "Watch") -> bool:
        """Whether a write planned for this watch may also tell the observers of `other`."""
        return (
            set(other.shards) <= set(self.shards)
            and other.spaces <= self.spaces
            and set(other.reads) <= set(self.reads)
        )

    def beside(self, shard: bytes) -> tuple[bytes, ...]:
        """All that a write of the row's shard `shard` may touch beside the row."""
        return (*[bytes((space,)) + shard[1:] for space in sorted(self.spaces)], *self.shards)

    def changed(self, txn: Transaction, event: RowEvent[Any]) -> None:
        """Tell every observer, in the order in which they were given."""
        for observer in self.observers:
            observer.changed(txn, self.table, event)


def _joined(parts: Sequence[tuple[bytes, ...]]) -> tuple[bytes, ...]:
    """The values of all parts, each once, in order."""
    return tuple(dict.fromkeys([each for part in parts for each in part]))


NOT_OBSERVED: Final = Watch(None, ())


@final
class Observers(Generic[T]):
    """The observers of one table model. Any thread may ask."""

    __slots__ = ("_known", "_observers")

    def __init__(self, observers: Sequence[RowObserver[Any, Any]] = ()) -> None:
        """The observers of a model, told in this order."""
        self._observers = tuple(observers)
        self._known: dict[int, Watch] = {}

    def joined(self, observers: Sequence[RowObserver[Any, Any]]) -> "Observers[T]":
        """These observers, and after them `observers`."""
        return Observers((*self._observers, *observers))

    def __bool__(self) -> bool:
        return bool(self._observers)

    def of(self, table: T) -> Watch:
        """The observers of a table, worked out once for each definition of it."""
        if not self._observers:
            return NOT_OBSERVED
        known = self._known.get(table.id)
        if known is None or known.table is not table:
            known = self._known[table.id] = Watch(table, self._observers)
        return known
