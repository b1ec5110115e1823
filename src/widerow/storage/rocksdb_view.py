"""What readers see of RocksDB: one published state, by key and by range.

Why it is made of a snapshot and iterators: `rocksdb.py`. Compiled, because everything that is read
comes through here.
"""

import threading
from collections.abc import Iterator, Sequence
from typing import Final, cast

from mypy_extensions import mypyc_attr
from rocksdict import Rdict, RdictIter
from rocksdict import Snapshot as EngineSnapshot

from widerow.errors import StorageFailure
from widerow.safepoint import safepoint
from widerow.storage.rocksdb_engine import read_failure

__all__ = ["View"]

_PAGE_PAIRS_FIRST: Final = 16  # most scans read few rows; each further page has twice as many
_PAGE_PAIRS_LAST: Final = 1  # most backward scans look for the last key before a given one
_PAGE_PAIRS_MAX: Final = 256  # about 0.1 ms under the view's lock, and the interpreter's
_PAGE_BYTES_FIRST: Final = 8 * 1024  # a scan for one segment of a wide row must not read many
_PAGE_BYTES_MAX: Final = 64 * 1024  # held by a scan beside the pair being looked at


@mypyc_attr(allow_interpreted_subclasses=True)
class View:
    """The published state after one group; every snapshot taken until the next group shares it.

    A compiled class allows no weak references; its subclass in `rocksdb.py` allows them.
    """

    __slots__ = ("_engine", "_gone", "_lock", "_pinned", "_snapshot")

    def __init__(self, engine: Rdict) -> None:
        """The state of `engine` now; nothing unsynced may be in it."""
        self._engine: Rdict | None = engine
        self._snapshot: EngineSnapshot | None = engine.snapshot()
        self._pinned: RdictIter | None = None
        self._lock = threading.Lock()
        self._gone = StorageFailure("the store is closed")

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None. Raises `StoreDamaged` if its block is."""
        snapshot = self._snapshot
        if snapshot is None:
            raise self._gone
        try:
            value: bytes = snapshot[key]
        except Exception as error:  # noqa: BLE001  # the binding raises nothing narrower
            reason = str(error)
        else:
            return value
        if reason == "key not found":
            return None
        del snapshot  # a caller that keeps the error would keep the directory locked
        raise read_failure(reason)

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order, None where absent.

        One call of the engine if nothing was written since this view was published, which is
        nearly always so; else one call for each key, as the binding's snapshots take a single key.
        Raises `StoreDamaged` if a block is.
        """
        reason = None
        with self._lock:  # the writer pins this view, under this lock, before it writes
            if self._pinned is None and self._engine is not None:
                try:
                    found = cast("list[bytes | None]", self._engine.get(list(keys)))
                except Exception as error:  # noqa: BLE001  # the binding raises nothing narrower
                    reason = str(error)
                else:
                    return found
        if reason is not None:
            raise read_failure(reason)
        return [self.get(key) for key in keys]

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Pairs with start ≤ key < stop, read in growing pages of bounded size."""
        pairs_max = _PAGE_PAIRS_LAST if reverse else _PAGE_PAIRS_FIRST
        room, more = _PAGE_BYTES_FIRST, True
        while more and start < stop:
            safepoint()
            pairs, more = self._page(start, stop, pairs_max, room, reverse=reverse)
            yield from pairs
            if more and reverse:
                stop = pairs[-1][0]
            elif more:
                start = pairs[-1][0] + b"\x00"
            pairs_max = min(2 * max(pairs_max, _PAGE_PAIRS_FIRST // 2), _PAGE_PAIRS_MAX)
            room = min(4 * room, _PAGE_BYTES_MAX)

    def _page(
        self, start: bytes, stop: bytes, pairs_max: int, room: int, *, reverse: bool
    ) -> tuple[list[tuple[bytes, bytes]], bool]:
        """The first pairs of a range in its direction, and whether there may be more."""
        with self._lock:
            pairs, more, failure = _pairs(
                self._iterator(), start, stop, pairs_max, room, reverse=reverse
            )
        if failure is not None:
            raise read_failure(failure)
        return pairs, more

    def _iterator(self) -> RdictIter:
        """An iterator over exactly this view, for use under the lock."""
        if self._pinned is not None:
            return self._pinned
        if self._engine is None:
            raise self._gone
        return self._engine.iter()

    def pin(self) -> None:
        """Keep an iterator: from now on the engine may hold more than this view."""
        with self._lock:
            if self._pinned is None:
                self._pinned = self._iterator()

    def detach(self, gone: StorageFailure) -> None:
        """Let go of the engine; later reads raise `gone`."""
        with self._lock:
            self._gone = gone
            self._engine = self._snapshot = self._pinned = None


def _pairs(
    iterator: RdictIter, start: bytes, stop: bytes, pairs_max: int, room: int, *, reverse: bool
) -> tuple[list[tuple[bytes, bytes]], bool, str | None]:
    """Up to `pairs_max` pairs in a direction, whether there may be more, and what went wrong.

    At most one pair more than `room` bytes hold.
    """
    valid, read_key, read_value = iterator.valid, iterator.key, iterator.value
    step = iterator.prev if reverse else iterator.next
    pairs: list[tuple[bytes, bytes]] = []
    if reverse:
        iterator.seek_for_prev(stop)
        if valid() and read_key() == stop:
            step()
    else:
        iterator.seek(start)
    while valid():
        key: bytes = read_key()
        if key < start if reverse else key >= stop:
            return pairs, False, None
        value: bytes = read_value()
        pairs.append((key, value))
        room -= len(key) + len(value)
        if len(pairs) == pairs_max or room <= 0:  # before the step, which may cost the most
            return pairs, True, None
        step()
    return pairs, False, _status(iterator)


def _status(iterator: RdictIter) -> str | None:
    """Why an iterator ended: None at the end of the data, else the engine's error."""
    try:
        iterator.status()
    except Exception as error:  # noqa: BLE001  # the binding raises nothing narrower
        return str(error)
    return None
