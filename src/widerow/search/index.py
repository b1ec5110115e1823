"""One search index: what is written into it, and moments of it (search §11.5).

The documents that were written last are kept in a list (the tail), until a search needs them or
they are many. Then they become a segment: a small one if the index is searched, else a large one.
Small segments are gathered into larger ones, and in the end into a large one. An index is changed
by one thread at a time, and no change takes long: long work (`SegmentMerge.run`,
`Checkpoint.write`) is done without the index, and its result is then adopted. Views are for any
thread.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, final

import numpy as np

from widerow.limits import (
    SEARCH_ASKED_CHANGES,
    SEARCH_MERGE_FACTOR,
    SEARCH_PENDING_DOCUMENTS_MAX,
    SEARCH_PENDING_TOKENS_MAX,
    SEARCH_SEGMENT_DOCUMENTS_MAX,
    SEARCH_SEGMENTS_MAX,
    SEARCH_SMALL_DOCUMENTS,
    SEARCH_SMALL_DOCUMENTS_MAX,
    SEARCH_SMALL_SEGMENTS_MAX,
    SEARCH_TAIL_DOCUMENTS,
)
from widerow.safepoint import safepoint
from widerow.search.checkpoints import Checkpoint, opened
from widerow.search.documents import Document, token_count
from widerow.search.fields import SearchFields
from widerow.search.interface import IndexFiles, Integers
from widerow.search.ranks import added, ranked_afresh
from widerow.search.segments import Entry, IndexSegment, SegmentView, merged_segment, segment_of
from widerow.search.terms import SortedTerms, packed
from widerow.search.unions import TermUnions
from widerow.search.view import SegmentedView

__all__ = ["DocumentChange", "DocumentIndex", "Merged", "SegmentMerge"]

_TOKEN_BYTES: Final = 100  # at most, of a token in the tail


class DocumentChange(NamedTuple):
    """A row that was written, by its encoded primary key; `document` None: it was deleted."""

    key: bytes
    document: Document | None
    written_ms: int


@final
class _Tail:
    """The last changes, in their order: `latest` has the document of each key, None if deleted.

    A tail only grows, until a new one replaces it: so `changes[:count]` stays the same for a view.
    """

    def __init__(self, fields: SearchFields) -> None:
        self.fields = fields
        self.changes: list[DocumentChange] = []
        self.latest: dict[bytes, Document | None] = {}
        self.rows = 0
        self.tokens = 0
        self.made: tuple[int, IndexSegment] | None = None

    def append(self, change: DocumentChange) -> None:
        """Add a change."""
        known = self.latest.get(change.key)
        self.rows += (change.document is not None) - (known is not None)
        self.latest[change.key] = change.document
        self.changes.append(change)
        if change.document is not None:
            self.tokens += token_count(change.document)

    def segment(self, count: int) -> IndexSegment:
        """The first `count` changes as a segment. For any thread; two threads may both make it."""
        made = self.made
        if made is not None and made[0] == count:
            return made[1]
        latest = {change.key: change for change in self.changes[:count]}
        entries = [
            Entry(key, change.document, change.written_ms)
            for key, change in sorted(latest.items())
            if change.document is not None
        ]
        segment = segment_of(self.fields, entries)
        if made is None or made[0] < count:
            self.made = count, segment
        return segment


@dataclass(frozen=True)
class _State:
    """An index at one moment: large segments with ranks, small ones, the tail and its length."""

    large: tuple[SegmentView, ...]
    small: tuple[SegmentView, ...]
    tail: _Tail
    count: int

    @property
    def rows(self) -> int:
        """The number of living rows."""
        return sum(each.rows for each in (*self.large, *self.small)) + self.tail.rows


@dataclass(frozen=True)
class SegmentMerge:
    """Segments to be merged; `run` may take seconds, and needs no lock.

    All of them are large, or all of them are small.
    """

    fields: SearchFields
    parts: tuple[SegmentView, ...]

    def run(self, pause: Callable[[], None] = safepoint) -> "Merged":
        """Merge the segments as they were when this object was made. Any thread."""
        segment, numbers = merged_segment(self.fields, self.parts, pause)
        return Merged(self.parts, segment, tuple(numbers))


class Merged(NamedTuple):
    """The result of a merge. `numbers`: for each part, the new number of each row, or -1."""

    parts: tuple[SegmentView, ...]
    segment: IndexSegment
    numbers: tuple[Integers, ...]


@final
class DocumentIndex:
    """The documents of the rows of one table. Empty when made."""

    def __init__(self, fields: SearchFields) -> None:
        self.fields = fields
        self._unions = TermUnions()
        self._state = _State((), (), _Tail(fields), 0)
        self._unasked = SEARCH_ASKED_CHANGES  # changes since a view was last asked for

    @property
    def rows(self) -> int:
        """How many rows have documents."""
        return self._state.rows

    @property
    def is_searched(self) -> bool:
        """Whether views are asked for while changes come."""
        return self._unasked < SEARCH_ASKED_CHANGES

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays, mapped ones too, and an estimate for the tail."""
        state = self._state
        segments = sum(each.segment.bytes for each in (*state.large, *state.small))
        return segments + state.tail.tokens * _TOKEN_BYTES

    @property
    def segments(self) -> int:
        """The number of segments, each of which costs every search a step."""
        state = self._state
        return len(state.large) + len(state.small) + (state.count > 0)

    def apply(self, changes: Iterable[DocumentChange]) -> None:
        """Write changes in their order; a later change of a key replaces an earlier one.

        Cost: tens of microseconds for each document, whatever the index holds.
        """
        state = _settled_tail(self._state)
        batch = list(changes)
        new = list(dict.fromkeys(each.key for each in batch if each.key not in state.tail.latest))
        large = _without(state.large, new)
        small = _without(state.small, new)
        for change in batch:
            state.tail.append(change)
        self._unasked += len(batch)
        state = _State(large, small, state.tail, len(state.tail.changes))
        self._replace(self._bounded(state))
        if len(self._state.large) > SEARCH_SEGMENTS_MAX and (due := self.due_merge()) is not None:
            self.install(due.run())

    def _bounded(self, state: _State) -> _State:
        """The state with a tail and a number of small segments within their bounds.

        A tail beyond its bound becomes a segment. The bound is lower while the index is searched,
        because a search has to make a segment of the tail.
        """
        tail, asked = state.tail, self.is_searched
        many = SEARCH_SMALL_DOCUMENTS if asked else SEARCH_PENDING_DOCUMENTS_MAX
        if state.count < many and tail.tokens < SEARCH_PENDING_TOKENS_MAX:
            return state
        state = _with_small(state, tail.segment(state.count))
        small = state.small
        alone = len(small) == 1 and not asked
        heavy = sum(map(_size, small)) >= SEARCH_SMALL_DOCUMENTS_MAX
        if alone or heavy or len(small) > SEARCH_SMALL_SEGMENTS_MAX:
            return _frozen(self.fields, state)
        return state

    def view(
        self, *, written_from_ms: int | None = None, check: Callable[[], None] = safepoint
    ) -> SegmentedView:
        """A view of this moment, without rows written before `written_from_ms`. Cost: microseconds.

        `check` is called between steps of everything that is asked of the view; what it raises ends
        the step.
        """
        state = self._state
        tail, count = state.tail, state.count
        self._unasked = 0

        def last() -> IndexSegment | None:
            return tail.segment(count) if count else None

        return SegmentedView(
            self.fields, (state.large, state.small, last), self._unions, check, written_from_ms
        )

    # --- looking at all of it --------------------------------------------------------------------

    def keys(self) -> Iterator[bytes]:
        """The keys of all rows as they are now, ascending. Memory: one key of each segment."""
        self._replace(_frozen(self.fields, self._state))
        return heapq.merge(*map(_living_keys, self._state.large))

    def excerpt(self, keys: Sequence[bytes]) -> IndexSegment:
        """The documents of the rows with some ascending keys, as one segment.

        Cost: a merge of the segments that hold them; memory: that of the result.
        """
        self._replace(_frozen(self.fields, self._state))
        parts = []
        asked = packed(keys)
        for each in self._state.large:
            numbers = _found(each, asked)
            if numbers:
                live = np.zeros(each.segment.count, dtype=np.bool_)
                live[numbers] = True
                parts.append(SegmentView(each.segment, live, each.ranks))
        if not parts:
            return segment_of(self.fields, ())
        return merged_segment(self.fields, parts, safepoint)[0]

    def copy(self) -> "DocumentIndex":
        """An independent index with equal rows.

        The two share segments, which never change; mapped ones stay readable when their files are
        removed. Its checkpoints need files of their own. Cost: making a segment of the tail.
        """
        frozen = _frozen(self.fields, self._state)
        self._replace(frozen)
        other = DocumentIndex(self.fields)
        other._state = _State(frozen.large, (), _Tail(self.fields), 0)  # an object of this class
        return other

    # --- files -----------------------------------------------------------------------------------

    def freeze(self, state: bytes) -> Checkpoint:
        """A checkpoint of this moment, to be written by any thread; `state` is stored with it.

        Cost: making a segment of the tail.
        """
        frozen = _frozen(self.fields, self._state)
        self._replace(frozen)
        return Checkpoint(self.fields, frozen.large, state)

    def adopt(self, written: Checkpoint) -> None:
        """Replace segments in memory by those that a checkpoint has written to files."""
        large = [
            each
            if (mapped := written.mapped.get(each.segment.identity)) is None
            else SegmentView(mapped, each.live, each.ranks)
            for each in self._state.large
        ]
        self._replace(replace(self._state, large=tuple(large)))

    def checkpoint(self, files: IndexFiles, state: bytes) -> None:
        """`freeze`, write and `adopt`: `open` finds every change applied before."""
        written = self.freeze(state)
        written.write(files)
        self.adopt(written)

    @classmethod
    def open(cls, fields: SearchFields, files: IndexFiles) -> "tuple[DocumentIndex, bytes] | None":
        """The index of the last checkpoint and the state that was given with it.

        None: the files are missing, of another schema or damaged. Damage that only reading
        everything would find raises `IndexDamaged` when it is met. Cost: milliseconds.
        """
        found = opened(fields, files)
        if found is None:
            return None
        segments, state = found
        index = cls(fields)
        index._state = replace(index._state, large=tuple(segments))  # an object of this class
        return index, state

    def verify(self) -> None:
        """Read everything. Raises `IndexDamaged` for a byte that has changed."""
        for each in self._state.large:
            for name in each.segment.arrays:
                _ = each.segment.arrays[name]

    # --- segments --------------------------------------------------------------------------------

    def due_merge(self) -> SegmentMerge | None:
        """Segments that are worth a merge, if there are any (search §11.5).

        Several of about one size, or one with more than half of its rows deleted.
        """
        parts = _worth_merging(self._state.large)
        return None if parts is None else SegmentMerge(self.fields, parts)

    def due_gathering(self) -> SegmentMerge | None:
        """Small segments that are worth a merge, if there are any; it takes milliseconds.

        Several very small ones, or all if together they have as many rows as a large one.
        """
        parts = _worth_gathering(self._state.small)
        return None if parts is None else SegmentMerge(self.fields, parts)

    def install(self, merge: Merged) -> bool:
        """Replace the parts of a merge by its result, without rows that were deleted meanwhile.

        False, and nothing changes, where the index has other segments by now.
        """
        state = self._state
        current = {each.segment.identity: each for each in (*state.large, *state.small)}
        now = [current.get(part.segment.identity) for part in merge.parts]
        parts = [each for each in now if each is not None]
        if len(parts) < len(now):
            return False
        made = _made_of(merge, parts)
        gone = {part.segment.identity for part in merge.parts}
        large = [each for each in state.large if each.segment.identity not in gone]
        small = [each for each in state.small if each.segment.identity not in gone]
        if made.ranks is not None:
            large += [made] if made.segment.count else []
        elif made.segment.count >= SEARCH_PENDING_DOCUMENTS_MAX:
            large = _with_large(large, made)
        elif made.segment.count:
            small.insert(0, made)
        self._replace(
            replace(state, large=tuple(sorted(large, key=_size, reverse=True)), small=tuple(small))
        )
        return True

    def merge(self) -> None:
        """Run every merge that is worth it, in this thread."""
        while (due := self.due_gathering() or self.due_merge()) is not None:
            self.install(due.run())

    def _replace(self, state: _State) -> None:
        """Publish another state. Views keep the state that they were made of."""
        before = [id(each.segment) for each in self._state.large]
        self._state = state
        if before != [id(each.segment) for each in state.large]:
            self._unions.forget()


def _made_of(merge: Merged, parts: Sequence[SegmentView]) -> SegmentView:
    """The merged segment with the living rows and, if all parts have ranks, ranks of `parts`."""
    live = np.ones(merge.segment.count, dtype=np.bool_)
    ranks = np.empty(merge.segment.count, dtype=np.int64)
    ranked = True
    for part, new in zip(parts, merge.numbers, strict=True):
        kept = new >= 0
        if part.ranks is None:
            ranked = False
        else:
            ranks[new[kept]] = part.ranks[kept]
        if part.live is not None:
            live[new[kept]] = part.live[kept]
    return SegmentView(merge.segment, None if live.all() else live, ranks if ranked else None)


def _living_keys(each: SegmentView) -> Iterator[bytes]:
    """The keys of the living rows of a segment, ascending."""
    keys, live = each.segment.keys, each.live
    return (keys[at] for at in range(len(keys)) if live is None or live[at])


def _size(each: SegmentView) -> int:
    return each.segment.count


def _settled_tail(state: _State) -> _State:
    """The state with an empty tail, if a search has made a segment of the whole tail.

    A short tail stays: making its segment again is as quick as searching one segment more.
    """
    made = state.tail.made
    if made is None or made[0] != state.count or made[0] < SEARCH_TAIL_DOCUMENTS:
        return state
    return _with_small(state, made[1])


def _with_small(state: _State, segment: IndexSegment) -> _State:
    """The state with `segment`, made of its tail, among the small segments, and an empty tail."""
    small = (*state.small, SegmentView(segment, None)) if segment.count else state.small
    return _State(state.large, small, _Tail(state.tail.fields), 0)


def _frozen(fields: SearchFields, state: _State) -> _State:
    """The state with all rows in large segments."""
    small = list(state.small)
    if state.count:
        small.append(SegmentView(state.tail.segment(state.count), None))
    small = [each for each in small if each.rows]
    if not small:
        return _State(state.large, (), _Tail(fields), 0)
    if len(small) > 1 or small[0].live is not None:
        segment, _ = merged_segment(fields, small, safepoint)
        small = [SegmentView(segment, None)]
    large = _with_large(state.large, small[0])
    return _State(tuple(sorted(large, key=_size, reverse=True)), (), _Tail(fields), 0)


def _with_large(large: Sequence[SegmentView], segment: SegmentView) -> list[SegmentView]:
    """Large segments with one more, and ranks for all of them."""
    ranked = added(large, segment)
    highest = max(int(each.ranks[-1]) for each in ranked if each.ranks is not None)
    return ranked_afresh(ranked) if highest > 4 * sum(map(_size, ranked)) else ranked


def _without(segments: Sequence[SegmentView], keys: list[bytes]) -> tuple[SegmentView, ...]:
    """The segments without the rows of some keys; a segment without rows is left out."""
    asked = packed(sorted(keys))
    result: list[SegmentView] = []
    for each in segments:
        gone = _found(each, asked)
        if gone:
            each = each.without(gone)  # noqa: PLW2901  # a copy of it
        if each.rows:
            result.append(each)
    return tuple(result)


def _found(each: SegmentView, keys: SortedTerms) -> list[int]:
    """The numbers of the living rows with these keys."""
    known = each.segment.keys
    if (
        not len(keys)
        or not len(known)
        or keys[len(keys) - 1] < known[0]
        or keys[0] > known[len(known) - 1]
    ):
        return []
    places, equal = known.search(keys)
    numbers: list[int] = places[equal].tolist()
    return numbers if each.live is None else [number for number in numbers if each.live[number]]


def _worth_merging(segments: Sequence[SegmentView]) -> tuple[SegmentView, ...] | None:
    tiers: dict[int, list[SegmentView]] = {}
    for each in segments:
        if each.rows * 2 < each.segment.count:
            return (each,)
        tier = max(each.rows // SEARCH_PENDING_DOCUMENTS_MAX, 1).bit_length() // 3
        tiers.setdefault(tier, []).append(each)
    for _, members in sorted(tiers.items()):
        if len(members) >= SEARCH_MERGE_FACTOR:
            parts = _fitting(members)
            if len(parts) > 1:
                return parts
    return None


def _worth_gathering(small: Sequence[SegmentView]) -> tuple[SegmentView, ...] | None:
    """All small segments, the very small ones, or None."""
    if sum(each.rows for each in small) >= SEARCH_PENDING_DOCUMENTS_MAX:
        return tuple(small)
    least = tuple([each for each in small if each.rows < SEARCH_SMALL_DOCUMENTS])
    return least if len(least) >= SEARCH_MERGE_FACTOR else None


def _fitting(members: Sequence[SegmentView]) -> tuple[SegmentView, ...]:
    """The smallest of some segments, together at most as large as a segment may be."""
    parts: list[SegmentView] = []
    rows = 0
    for each in sorted(members, key=_size)[:SEARCH_MERGE_FACTOR]:
        rows += each.rows
        if rows > SEARCH_SEGMENT_DOCUMENTS_MAX:
            break
        parts.append(each)
    return tuple(parts)
