"""Points that one request put into a series, as one record of a log (docs/formats/streams.md).

    entry = 01 count length key run…      the points, in the order in which they were put
    run   = count length layout point…    neighbours of one layout
    point = time key-fields values        as behind the key of the series, and behind the layout

Numbers have four bytes, big-endian. A point says where it ends. Compiled: every put writes one.
"""

from collections.abc import Callable, Iterator
from struct import Struct
from struct import error as StructError  # noqa: N812  # the name of a class
from typing import Final, final

from widerow.errors import StoreDamaged
from widerow.model.values import Value
from widerow.rows.points import Layout, Layouts

__all__ = ["EntryPoint", "EntryWriter", "canonical_of", "points_in_entry", "points_of_entry"]

_KIND: Final = 1
_HEAD: Final = Struct(">BII")
_RUN: Final = Struct(">II")

EntryPoint = tuple[bytes, dict[str, Value]]
"""A point: its key behind that of its series, and its fields."""


@final
class EntryWriter:
    """Gathers the points of an entry."""

    __slots__ = ("_count", "_layout", "_parts", "_run", "_run_at")

    def __init__(self, canonical: bytes) -> None:
        self._parts: list[bytes] = [b"", canonical]
        self._count = 0
        self._layout: Layout | None = None
        self._run_at = 0
        self._run = 0

    def add(self, suffix: bytes, layout: Layout, values: bytes) -> None:
        """Add a point. `suffix`: its key behind that of its series."""
        if layout is not self._layout:
            self._end_run()
            self._layout = layout
            self._run_at = len(self._parts)
            self._parts.append(b"")
            self._parts.append(layout.encoded)
        self._run += 1
        self._parts.append(suffix)
        self._parts.append(values)

    def _end_run(self) -> None:
        layout = self._layout
        if layout is not None:
            self._parts[self._run_at] = _RUN.pack(self._run, len(layout.encoded))
            self._count += self._run
            self._run = 0

    def encode(self) -> bytes:
        """The bytes of the entry, once all points were added."""
        self._end_run()
        parts = self._parts
        parts[0] = _HEAD.pack(_KIND, self._count, len(parts[1]))
        return b"".join(parts)


def points_in_entry(entry: bytes) -> int:
    """How many points an entry has. Raises `StoreDamaged`."""
    return _head(entry)[0]


def canonical_of(entry: bytes) -> bytes:
    """The canonical key of the series. Raises `StoreDamaged`."""
    return entry[_HEAD.size : _head(entry)[1]]


def _head(entry: bytes) -> tuple[int, int]:
    """How many points there are, and where the first run begins."""
    try:
        kind, count, size = _HEAD.unpack_from(entry)
    except StructError as problem:
        raise StoreDamaged(f"put points are malformed: {entry[:99]!r}") from problem
    if kind != _KIND:
        raise StoreDamaged(f"put points are malformed: {entry[:99]!r}")
    return count, _HEAD.size + size


def points_of_entry(
    layouts: Layouts, entry: bytes, key_end: Callable[[bytes, int], int], passed: int = 0
) -> Iterator[EntryPoint]:
    """The points of an entry behind the first `passed` ones. Raises `StoreDamaged`.

    `key_end`: where a point's key ends that begins at a place.
    """
    count, at = _head(entry)
    seen = 0
    try:
        while at < len(entry):
            run, size = _RUN.unpack_from(entry, at)
            begin = at + _RUN.size
            at = begin + size
            layout = layouts.of_bytes(entry[begin:at])
            for _ in range(run):
                begin, values = at, key_end(entry, at)
                at = layout.end_of(entry, values)
                seen += 1
                if seen > passed:
                    yield entry[begin:values], layout.unpack(entry[values:at], 0)
    except StructError as problem:
        raise StoreDamaged(f"put points are malformed: {entry[:99]!r}") from problem
    if at != len(entry) or seen != count:
        raise StoreDamaged(f"put points are malformed: {entry[:99]!r}")
