"""Points that one request put, as one record of a log (docs/formats/streams.md).

    entry  = 01 count series…             how many points there are
    series = count length key run…        those of one series, in the order in which they were put
    run    = count length layout point…   neighbours of one layout; none: that of the run before
    point  = time key-fields values       as behind the key of the series, and behind the layout

Numbers have four bytes, big-endian. A point says where it ends. Compiled: every put writes one.
"""

from collections.abc import Callable, Iterator
from struct import Struct
from struct import error as StructError  # noqa: N812  # the name of a class
from typing import Final, final

from widerow.errors import StoreDamaged
from widerow.model.values import Value
from widerow.rows.points import Layout, Layouts

__all__ = ["EntryPoint", "EntryWriter", "points_in_entry", "points_of_entry"]

_KIND: Final = 1
_HEAD: Final = Struct(">BI")
_PART: Final = Struct(">II")  # what a series and a run begin with

EntryPoint = tuple[bytes, bytes, dict[str, Value]]
"""A point: the canonical key of its series, its own key behind that, and its fields."""


@final
class EntryWriter:
    """Gathers the points of an entry. `count`: of those that were added."""

    __slots__ = ("_last", "_layout", "_parts", "_run", "_run_at", "_series", "_series_at", "count")

    def __init__(self) -> None:
        self.count = 0
        self._parts: list[bytes] = [b""]
        self._layout: Layout | None = None
        self._last: Layout | None = None  # that stands in the entry
        self._series = self._series_at = 0  # points of the series so far, and where its head is
        self._run = self._run_at = 0

    def begin(self, canonical: bytes) -> None:
        """Let a series begin, whose points follow. `canonical`: its key."""
        self._end_series()
        parts = self._parts
        self._series_at = len(parts)
        parts.append(b"")
        parts.append(canonical)

    def add(self, suffix: bytes, layout: Layout, values: bytes) -> None:
        """Add a point of the series. `suffix`: its key behind that of its series."""
        parts = self._parts
        if layout is not self._layout:
            self._end_run()
            self._layout = layout
            self._run_at = len(parts)
            parts.append(b"")
            parts.append(b"" if layout is self._last else layout.encoded)
            self._last = layout
        self._run += 1
        parts.append(suffix)
        parts.append(values)

    def _end_run(self) -> None:
        layout = self._layout
        if layout is not None:
            at = self._run_at
            self._parts[at] = _PART.pack(self._run, len(self._parts[at + 1]))
            self._series += self._run
            self._run = 0
            self._layout = None

    def _end_series(self) -> None:
        self._end_run()
        at = self._series_at
        if at > 0:
            self._parts[at] = _PART.pack(self._series, len(self._parts[at + 1]))
            self.count += self._series
            self._series = 0

    def encode(self) -> bytes:
        """The bytes of the entry, once all points were added."""
        self._end_series()
        self._parts[0] = _HEAD.pack(_KIND, self.count)
        return b"".join(self._parts)


def points_in_entry(entry: bytes) -> int:
    """How many points an entry has. Raises `StoreDamaged`."""
    try:
        kind, count = _HEAD.unpack_from(entry)
    except StructError as problem:
        raise _damaged(entry) from problem
    if kind != _KIND:
        raise _damaged(entry)
    return int(count)


def _damaged(entry: bytes) -> StoreDamaged:
    return StoreDamaged(f"put points are malformed: {entry[:99]!r}")


def points_of_entry(
    layouts: Layouts, entry: bytes, key_end: Callable[[bytes, int], int], passed: int = 0
) -> Iterator[EntryPoint]:
    """The points of an entry behind the first `passed` ones. Raises `StoreDamaged`.

    `key_end`: where a point's key ends that begins at a place.
    """
    count, at, seen = points_in_entry(entry), _HEAD.size, 0
    left = run = 0  # points of the series, and of the run in it, that are still to come
    canonical = b""
    layout: Layout | None = None
    try:
        while at < len(entry):
            if run:
                assert layout is not None, "a run has a layout, or an earlier one had"
                begin, values = at, key_end(entry, at)
                at = layout.end_of(entry, values)
                left, run, seen = left - 1, run - 1, seen + 1
                if seen > passed:
                    yield canonical, entry[begin:values], layout.unpack(entry[values:at], 0)
                continue
            number, size = _PART.unpack_from(entry, at)
            begin = at + _PART.size
            at = begin + size
            if not left:
                canonical, left = entry[begin:at], number
                continue
            run = number
            if size or layout is None:
                layout = layouts.of_bytes(entry[begin:at])
    except StructError as problem:
        raise _damaged(entry) from problem
    if left or run or at != len(entry) or seen != count:
        raise _damaged(entry)
