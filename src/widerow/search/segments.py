"""Segments: documents of some rows as arrays that never change (search §11.5).

Rows stand in the order of their encoded primary keys, documents below rows in the order of those,
then of their places. A document that was deleted or written again stays in its segment;
`SegmentView` says which are alive.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from widerow.safepoint import safepoint
from widerow.search.building import COLUMN_KINDS, MergedPart
from widerow.search.columns import Arrays, FieldColumn
from widerow.search.documents import Document
from widerow.search.fields import DocumentLevel, IndexedField, SearchFields
from widerow.search.interface import Booleans, Integers
from widerow.search.terms import SortedTerms, packed, picked

__all__ = [
    "Entry",
    "IndexSegment",
    "LevelTable",
    "SegmentView",
    "TableView",
    "merged_segment",
    "segment_of",
]


class Entry(NamedTuple):
    """A document for a segment: the encoded primary key, the document, its time."""

    key: bytes
    document: Document
    written_ms: int


@final
class _Under(Mapping[str, NDArray[Any]]):
    """The arrays whose names begin with a prefix, by the rest of their names."""

    def __init__(self, arrays: Arrays, prefix: str) -> None:
        self._arrays = arrays
        self._prefix = prefix

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[self._prefix + name]

    def __iter__(self) -> Iterator[str]:
        length = len(self._prefix)
        return (name[length:] for name in self._arrays if name.startswith(self._prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@final
class LevelTable:
    """The documents of one level in one segment. Immutable."""

    def __init__(self, level: DocumentLevel, arrays: Arrays, count: int) -> None:
        """`count` documents, with the arrays of the whole segment."""
        self.level = level
        self.count = count
        self._arrays = arrays
        self._columns: dict[str, FieldColumn] = {}

    def column(self, field: IndexedField) -> FieldColumn:
        """The values of a field of this level. Raises KeyError for a type that has no columns."""
        known = self._columns.get(field.name)
        if known is None:
            kind = COLUMN_KINDS[field.type]
            under = _Under(self._arrays, f"{self.level.number}/{field.slot}/")
            known = self._columns[field.name] = kind.column(under, self.count)
        return known

    @property
    def parents(self) -> NDArray[np.int32]:
        """For nested documents: the number of each one's parent, ascending."""
        return self._arrays[f"{self.level.number}/parents"]

    @property
    def places(self) -> NDArray[np.int32]:
        """For nested documents: their places in the arrays that they come from."""
        return self._arrays[f"{self.level.number}/places"]


@final
class IndexSegment:
    """The documents of some rows. Immutable; any thread may read."""

    def __init__(
        self,
        fields: SearchFields,
        arrays: Arrays,
        counts: Sequence[int],
        identity: object | None = None,
    ) -> None:
        """`counts`: documents of each level.

        `identity`: of the segment in memory that is mapped here.
        """
        self.fields = fields
        self.arrays = arrays
        self.counts = tuple(counts)
        self.tables = [
            LevelTable(level, arrays, count)
            for level, count in zip(fields.levels, counts, strict=True)
        ]
        self.identity = object() if identity is None else identity
        self.file: str | None = None  # its name, once it has one
        # Ranks of large segments, and the places of this segment's keys among them
        # (`ranks.small_ranks`).
        self.placed: tuple[Sequence[Integers | None], Integers] | None = None
        self._above: dict[tuple[int, int], Integers] = {}

    @property
    def count(self) -> int:
        """The number of rows, deleted ones included."""
        return self.counts[0]

    @property
    def bytes(self) -> int:
        """Bytes of all arrays, in memory or mapped."""
        mapped: int | None = getattr(self.arrays, "nbytes", None)
        return sum(each.nbytes for each in self.arrays.values()) if mapped is None else mapped

    @cached_property
    def keys(self) -> SortedTerms:
        """The encoded primary keys, by document."""
        return SortedTerms(self.arrays["keys"], self.arrays["key_starts"])

    @property
    def written_ms(self) -> Integers:
        """When each row was written, in milliseconds since 1970."""
        return self.arrays["written"]

    def above(self, level: DocumentLevel, ancestor: DocumentLevel) -> Integers:
        """For each document of a level, the number of its ancestor at another level, ascending."""
        known = self._above.get((level.number, ancestor.number))
        if known is None:
            assert level.parent is not None
            known = self.tables[level.number].parents.astype(np.int64)
            if level.parent is not ancestor:
                known = self.above(level.parent, ancestor)[known]
            self._above[level.number, ancestor.number] = known
        return known


def segment_of(fields: SearchFields, entries: Sequence[Entry]) -> IndexSegment:
    """A segment of entries, which ascend by key, each key once."""
    keys = packed([each.key for each in entries])
    arrays: dict[str, NDArray[Any]] = {
        "keys": keys.blob,
        "key_starts": keys.starts,
        "written": np.fromiter((each.written_ms for each in entries), np.int64, len(entries)),
    }
    counts = [0] * len(fields.levels)
    _build_level(fields.root, [each.document for each in entries], arrays, counts)
    return IndexSegment(fields, arrays, counts)


def _build_level(
    level: DocumentLevel,
    documents: Sequence[Document],
    arrays: dict[str, NDArray[Any]],
    counts: list[int],
) -> None:
    counts[level.number] = len(documents)
    for field in level.fields:
        safepoint()
        kind = COLUMN_KINDS.get(field.type)
        if kind is not None:
            built = kind.build([each.values[field.slot] for each in documents])
            for name, array in built.items():
                arrays[f"{level.number}/{field.slot}/{name}"] = array
    for at, child in enumerate(level.children):
        below = [each for document in documents for each in document.children[at]]
        lengths = [len(document.children[at]) for document in documents]
        parents = np.repeat(np.arange(len(documents), dtype=np.int32), lengths)
        arrays[f"{child.number}/parents"] = parents
        arrays[f"{child.number}/places"] = np.array([each.place for each in below], dtype=np.int32)
        _build_level(child, below, arrays, counts)


# --- what is alive -----------------------------------------------------------------------------


@final
class SegmentView:
    """A segment at one moment: which rows are alive, and the ranks of its keys in the index.

    `live` None: all. `ranks`: numbers that order the keys of all segments of an index, where they
    were computed. Immutable, with cached properties.
    """

    def __init__(
        self, segment: IndexSegment, live: Booleans | None, ranks: Integers | None = None
    ) -> None:
        self.segment = segment
        self.live = live
        self.ranks = ranks
        self.tables = [TableView(segment, live, table) for table in segment.tables]

    @cached_property
    def rows(self) -> int:
        """The number of living rows."""
        return self.segment.count if self.live is None else int(np.count_nonzero(self.live))

    def without(self, numbers: Sequence[int]) -> "SegmentView":
        """This view with some rows deleted."""
        live = np.ones(self.segment.count, np.bool_) if self.live is None else self.live.copy()
        live[list(numbers)] = False
        return SegmentView(self.segment, live, self.ranks)

    def ranked(self, ranks: Integers) -> "SegmentView":
        """This view with other ranks."""
        return SegmentView(self.segment, self.live, ranks)

    def written_from(self, oldest_ms: int) -> "SegmentView":
        """This view without rows written before `oldest_ms`."""
        recent = self.segment.written_ms >= oldest_ms
        if recent.all():
            return self
        live = recent if self.live is None else recent & self.live
        return SegmentView(self.segment, np.asarray(live), self.ranks)


@final
class TableView:
    """The documents of one level of a segment view."""

    def __init__(self, segment: IndexSegment, live: Booleans | None, table: LevelTable) -> None:
        """`live`: which rows of the segment are alive; None: all.

        It has no reference to its `SegmentView`: a cycle would keep arrays until a garbage
        collection.
        """
        self.segment = segment
        self._live = live
        self.table = table
        self.remembered: dict[object, Any] = {}

    @property
    def count(self) -> int:
        """The number of documents, deleted ones included."""
        return self.table.count

    @cached_property
    def live(self) -> Booleans | None:
        """Which documents are alive: those of living rows. None: all."""
        live, level = self._live, self.table.level
        if live is None or level.number == 0:
            return live
        return live[self.segment.above(level, self.segment.fields.root)]


# --- merging -----------------------------------------------------------------------------------


def merged_segment(
    fields: SearchFields, parts: Sequence[SegmentView], pause: Callable[[], None]
) -> tuple[IndexSegment, list[Integers]]:
    """One segment of the living documents of several; and the new number of each old row, or -1.

    If all parts have ranks, rows are sorted by ranks, else by keys. `pause` is called between
    fields. Cost: a tenth of a microsecond for each posting; as much memory as the result needs.
    """
    numbers = _row_numbers(parts)
    count = sum(part.rows for part in parts)
    order = np.concatenate(numbers)
    kept = order >= 0
    sources = np.empty(count, dtype=np.int64)
    sources[order[kept]] = np.flatnonzero(kept)
    arrays: dict[str, NDArray[Any]] = {
        "written": np.concatenate([each.segment.written_ms for each in parts])[sources]
    }
    keys = _joined([each.segment.keys for each in parts])
    keys = picked(keys, sources)
    arrays["keys"], arrays["key_starts"] = keys.blob, keys.starts
    counts = [0] * len(fields.levels)
    _merge_level(_Merging(parts, arrays, counts, pause), fields.root, numbers, count)
    return IndexSegment(fields, arrays, counts), numbers


def _joined(parts: Sequence[SortedTerms]) -> SortedTerms:
    """The strings of several parts, concatenated, not sorted."""
    offsets = np.cumsum([0, *[len(each.blob) for each in parts]])
    starts = [each.starts[:-1] + offset for each, offset in zip(parts, offsets, strict=False)]
    return SortedTerms(
        np.concatenate([each.blob for each in parts]), np.concatenate([*starts, offsets[-1:]])
    )


def _row_numbers(parts: Sequence[SegmentView]) -> list[Integers]:
    """For each part the new numbers of its rows, sorted by key; -1 for deleted rows."""
    alive = [
        np.arange(part.segment.count) if part.live is None else np.flatnonzero(part.live)
        for part in parts
    ]
    ranks = [part.ranks for part in parts]
    if len(parts) == 1:
        order: Any = np.arange(len(alive[0]))
    elif all(each is not None for each in ranks):
        order = np.argsort(
            np.concatenate([r[a] for r, a in zip(ranks, alive, strict=True) if r is not None]),
            kind="stable",
        )
    else:
        keys = [
            part.segment.keys[number]
            for part, numbers in zip(parts, alive, strict=True)
            for number in numbers.tolist()
        ]
        order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    found: list[Integers] = []
    start = 0
    for part, numbers in zip(parts, alive, strict=True):
        new = np.full(part.segment.count, -1, dtype=np.int64)
        new[numbers] = places[start : start + len(numbers)]
        start += len(numbers)
        found.append(new)
    return found


class _Merging(NamedTuple):
    """A merge in progress."""

    parts: Sequence[SegmentView]
    arrays: dict[str, NDArray[Any]]
    counts: list[int]
    pause: Callable[[], None]


def _merge_level(at: _Merging, level: DocumentLevel, numbers: list[Integers], count: int) -> None:
    at.counts[level.number] = count
    tables = [part.segment.tables[level.number] for part in at.parts]
    for field in level.fields:
        at.pause()
        kind = COLUMN_KINDS.get(field.type)
        if kind is None:
            continue
        columns = [
            MergedPart(table.column(field), new) for table, new in zip(tables, numbers, strict=True)
        ]
        for name, array in kind.merge(columns, count).items():
            at.arrays[f"{level.number}/{field.slot}/{name}"] = array
    for child in level.children:
        _merge_child(at, child, numbers)


def _merge_child(at: _Merging, child: DocumentLevel, above: list[Integers]) -> None:
    tables = [part.segment.tables[child.number] for part in at.parts]
    parents = [new[table.parents] for table, new in zip(tables, above, strict=True)]
    every = np.concatenate(parents)
    kept = np.flatnonzero(every >= 0)
    order = kept[np.argsort(every[kept], kind="stable")]
    places = np.full(len(every), -1, dtype=np.int64)
    places[order] = np.arange(len(order))
    ends = np.cumsum([0, *[len(each) for each in parents]])
    numbers = [places[a:b] for a, b in itertools.pairwise(ends)]
    at.arrays[f"{child.number}/parents"] = every[order].astype(np.int32)
    at.arrays[f"{child.number}/places"] = np.concatenate([each.places for each in tables])[order]
    _merge_level(at, child, numbers, len(order))
