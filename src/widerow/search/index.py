"""One search index: what is written into it, and moments of it (search §11.5).

Documents that were written last stand in a list, until a search wants to see them or they are many.
Then they become a segment: a small one for the search, a large one where they are many. Small
segments are merged when there are several, and become part of the next large one. An index is
changed by one thread at a time, and no change takes long: what does (`SegmentMerge.run`,
`Checkpoint.write`) is done beside it, and adopted. Moments of it are for any thread.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, final

import numpy as np

from widerow.limits import (
    SEARCH_MERGE_FACTOR,
    SEARCH_PENDING_DOCUMENTS_MAX,
    SEARCH_PENDING_TOKENS_MAX,
    SEARCH_SEGMENT_DOCUMENTS_MAX,
    SEARCH_SEGMENTS_MAX,
    SEARCH_SMALL_MERGE_FACTOR,
    SEARCH_TAIL_DOCUMENTS,
)
from widerow.safepoint import safepoint
from widerow.search.checkpoints import Checkpoint, opened
from widerow.search.documents import Document, TokenList
from widerow.search.fields import SearchFields
from widerow.search.interface import IndexFiles, Integers
from widerow.search.ranks import added, ranked_afresh
from widerow.search.segments import Entry, IndexSegment, SegmentView, merged_segment, segment_of
from widerow.search.terms import packed
from widerow.search.unions import TermUnions
from widerow.search.view import SegmentedView

__all__ = ["DocumentChange", "DocumentIndex", "Merged", "SegmentMerge"]

_FEW: Final = 8  # keys that are looked for one by one
_TOKEN_BYTES: Final = 100  # of a token as it waits in the list


class DocumentChange(NamedTuple):
    """A row that was written, by its encoded primary key; `document` None: it was deleted."""

    key: bytes
    document: Document | None
    written_ms: int


@final
class _Tail:
    """The documents that were written last, by key; None: deleted. It grows, and is replaced.

    `changes[:count]` at any moment is what a view of that moment sees.
    """

    def __init__(self, fields: SearchFields) -> None:
        """Nothing was written."""
        self.fields = fields
        self.changes: list[DocumentChange] = []
        self.latest: dict[bytes, Document | None] = {}
        self.rows = 0
        self.tokens = 0
        self.made: tuple[int, IndexSegment] | None = None

    def append(self, change: DocumentChange) -> None:
        """Add what was written."""
        known = self.latest.get(change.key)
        self.rows += (change.document is not None) - (known is not None)
        self.latest[change.key] = change.document
        self.changes.append(change)
        if change.document is not None:
            self.tokens += _weight(change.document)

    def segment(self, count: int) -> IndexSegment:
        """The first `count` changes as a segment. Any thread; two may do the same work."""
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


def _weight(document: Document) -> int:
    """Tokens of a document, with those below."""
    own = sum(len(each.tokens) for each in document.values if isinstance(each, TokenList))
    return own + sum(_weight(each) for below in document.children for each in below)


@dataclass(frozen=True)
class _State:
    """A moment of an index: large segments with ranks, small ones, and the tail up to a point."""

    large: tuple[SegmentView, ...]
    small: tuple[SegmentView, ...]
    tail: _Tail
    count: int

    @property
    def rows(self) -> int:
        """How many rows are alive."""
        return sum(each.rows for each in (*self.large, *self.small)) + self.tail.rows


@dataclass(frozen=True)
class SegmentMerge:
    """Large segments that are to become one; `run` may take seconds and holds up nobody."""

    fields: SearchFields
    parts: tuple[SegmentView, ...]

    def run(self, pause: Callable[[], None] = safepoint) -> "Merged":
        """Merge them as they were. Any thread."""
        segment, numbers = merged_segment(self.fields, self.parts, pause)
        return Merged(self.parts, segment, tuple(numbers))


class Merged(NamedTuple):
    """What a merge came to. `numbers`: for each part, the new number of each row, or -1."""

    parts: tuple[SegmentView, ...]
    segment: IndexSegment
    numbers: tuple[Integers, ...]


@final
class DocumentIndex:
    """The documents of the rows of one table. Empty when made."""

    def __init__(self, fields: SearchFields) -> None:
        """An index with nothing in it."""
        self.fields = fields
        self._unions = TermUnions()
        self._state = _State((), (), _Tail(fields), 0)

    @property
    def rows(self) -> int:
        """How many rows have documents."""
        return self._state.rows

    @property
    def memory_bytes(self) -> int:
        """Bytes of all arrays, mapped ones too, and an estimate of what is not in arrays yet."""
        state = self._state
        segments = sum(each.segment.bytes for each in (*state.large, *state.small))
        return segments + state.tail.tokens * _TOKEN_BYTES

    @property
    def segments(self) -> int:
        """How many segments there are, which every question is put to one by one."""
        state = self._state
        return len(state.large) + len(state.small) + (state.count > 0)

    def apply(self, changes: Iterable[DocumentChange]) -> None:
        """Write changes in their order; the same key again replaces. Views from now on see them.

        Cost: tens of microseconds for each document.
        """
        state = _settled_tail(self.fields, self._state)
        batch = list(changes)
        new = list(dict.fromkeys(each.key for each in batch if each.key not in state.tail.latest))
        large = _without(state.large, new)
        small = _without(state.small, new)
        for change in batch:
            state.tail.append(change)
        state = _State(large, small, state.tail, len(state.tail.changes))
        if (
            len(state.tail.changes) >= SEARCH_PENDING_DOCUMENTS_MAX
            or state.tail.tokens >= SEARCH_PENDING_TOKENS_MAX
        ):
            state = _frozen(self.fields, state)
        self._replace(state)
        if len(state.large) > SEARCH_SEGMENTS_MAX and (due := self.due_merge()) is not None:
            self.install(due.run())

    def view(
        self, *, written_from_ms: int | None = None, check: Callable[[], None] = safepoint
    ) -> SegmentedView:
        """This moment; without rows written before `written_from_ms`. Cost: microseconds.

        `check` is called between steps of everything that is asked of the view; what it raises
        ends the step.
        """
        state = self._state
        tail, count = state.tail, state.count

        def last() -> IndexSegment | None:
            return tail.segment(count) if count else None

        return SegmentedView(
            self.fields, (state.large, state.small, last), self._unions, check, written_from_ms
        )

    def written_before(self, oldest_ms: int, limit: int) -> list[bytes]:
        """Keys of rows that were written before a moment, `limit` at most."""
        state = _frozen(self.fields, self._state)
        self._replace(state)
        found: list[bytes] = []
        for each in state.large:
            old = each.segment.written_ms < oldest_ms
            if each.live is not None:
                old &= each.live
            numbers = np.flatnonzero(old)[: limit - len(found)].tolist()
            found.extend(each.segment.keys[number] for number in numbers)
        return found

    # --- looking at all of it --------------------------------------------------------------------

    def keys(self) -> Iterator[bytes]:
        """The keys of all rows as they are now, ascending. Memory: one key of each segment."""
        self._replace(_frozen(self.fields, self._state))
        return heapq.merge(*map(_living_keys, self._state.large))

    def excerpt(self, keys: Sequence[bytes]) -> IndexSegment:
        """The documents of some of its rows, whose keys ascend, as one segment.

        Cost: a merge of the segments that hold them; memory: that of the result.
        """
        self._replace(_frozen(self.fields, self._state))
        parts = []
        for each in self._state.large:
            numbers = _found(each, list(keys))
            if numbers:
                live = np.zeros(each.segment.count, dtype=np.bool_)
                live[numbers] = True
                parts.append(SegmentView(each.segment, live, each.ranks))
        if not parts:
            return segment_of(self.fields, ())
        return merged_segment(self.fields, parts, safepoint)[0]

    def copy(self) -> "DocumentIndex":
        """Another index with the same rows: changes of one do not reach the other.

        Segments are in both, for they never change; files of one are none of the other. Cost: that
        of a segment of the documents that were written last.
        """
        frozen = _frozen(self.fields, self._state)
        self._replace(frozen)
        other = DocumentIndex(self.fields)
        other._state = replace(frozen, large=tuple(map(_unfiled, frozen.large)))  # its own
        return other

    # --- files -----------------------------------------------------------------------------------

    def freeze(self, state: bytes) -> Checkpoint:
        """This moment, to be written to files by any thread; `state` is kept with it.

        Cost: that of a segment of the documents that were written last.
        """
        frozen = _frozen(self.fields, self._state)
        self._replace(frozen)
        return Checkpoint(self.fields, frozen.large, state)

    def adopt(self, written: Checkpoint) -> None:
        """Read the segments that a checkpoint wrote from its files, and forget their memory."""
        large = [
            each
            if (mapped := written.mapped.get(each.segment.identity)) is None
            else SegmentView(mapped, each.live, each.ranks)
            for each in self._state.large
        ]
        self._replace(replace(self._state, large=tuple(large)))

    def checkpoint(self, files: IndexFiles, state: bytes) -> None:
        """`freeze`, write, and `adopt`: what was applied by now is found again by `open`."""
        written = self.freeze(state)
        written.write(files)
        self.adopt(written)

    @classmethod
    def open(cls, fields: SearchFields, files: IndexFiles) -> "tuple[DocumentIndex, bytes] | None":
        """The index of the last checkpoint and the state that was given with it.

        None: nothing usable, whatever the damage. Damage that only reading everything would find
        raises `IndexDamaged` from whatever comes upon it. Cost: milliseconds.
        """
        found = opened(fields, files)
        if found is None:
            return None
        segments, state = found
        index = cls(fields)
        index._state = replace(index._state, large=tuple(segments))  # its own
        return index, state

    def verify(self) -> None:
        """Read everything. Raises `IndexDamaged` where a byte is not the one that was written."""
        for each in self._state.large:
            for name in each.segment.arrays:
                _ = each.segment.arrays[name]

    # --- segments --------------------------------------------------------------------------------

    def due_merge(self) -> SegmentMerge | None:
        """Segments that are worth a merge, if there are any (search §11.5).

        Of one size there are several, or of one more than a quarter of the rows are deleted.
        """
        parts = _worth_merging(self._state.large)
        return None if parts is None else SegmentMerge(self.fields, parts)

    def install(self, merge: Merged) -> bool:
        """Put a merge in the place of its parts, without rows that were deleted meanwhile.

        False, and nothing changes, where the index has other segments by now.
        """
        state = self._state
        current = {each.segment.identity: each for each in state.large}
        now = [current.get(part.segment.identity) for part in merge.parts]
        ranks = np.empty(merge.segment.count, dtype=np.int64)
        live = np.ones(merge.segment.count, dtype=np.bool_)
        for part, new in zip(now, merge.numbers, strict=True):
            if part is None or part.ranks is None:
                return False
            kept = new >= 0
            ranks[new[kept]] = part.ranks[kept]
            if part.live is not None:
                live[new[kept]] = part.live[kept]
        made = SegmentView(merge.segment, None if live.all() else live, ranks)
        gone = {part.segment.identity for part in merge.parts}
        rest = [each for each in state.large if each.segment.identity not in gone]
        every = [*rest, made] if made.segment.count else rest
        self._replace(replace(state, large=tuple(sorted(every, key=_size, reverse=True))))
        return True

    def merge(self) -> None:
        """Merge what is worth it, here and now."""
        while (due := self.due_merge()) is not None:
            self.install(due.run())

    def _replace(self, state: _State) -> None:
        """Go on with another state; views of the former one keep what they need of it."""
        before = [id(each.segment) for each in self._state.large]
        self._state = state
        if before != [id(each.segment) for each in state.large]:
            self._unions.forget()


def _living_keys(each: SegmentView) -> Iterator[bytes]:
    """The keys of the rows of a segment that are alive, ascending."""
    keys, live = each.segment.keys, each.live
    return (keys[at] for at in range(len(keys)) if live is None or live[at])


def _unfiled(each: SegmentView) -> SegmentView:
    """The same rows where a file has no name; mapped bytes stay readable without one."""
    segment = each.segment
    if segment.file is None:
        return each
    own = IndexSegment(segment.fields, segment.arrays, segment.counts)
    return SegmentView(own, each.live, each.ranks)


def _size(each: SegmentView) -> int:
    return each.segment.count


def _settled_tail(fields: SearchFields, state: _State) -> _State:
    """The state with another tail where a search made a segment of the present one.

    A few documents stay, since their segment is made again as quickly as it is merged.
    """
    made = state.tail.made
    if made is None or made[0] != state.count or made[0] < SEARCH_TAIL_DOCUMENTS:
        return state
    small = [*state.small, SegmentView(made[1], None)] if made[1].count else [*state.small]
    while len(small) > 1 and small[-2].segment.count < (
        SEARCH_SMALL_MERGE_FACTOR * small[-1].segment.count
    ):
        segment, _ = merged_segment(fields, small[-2:], safepoint)
        small[-2:] = [SegmentView(segment, None)]
    settled = _State(state.large, tuple(small), _Tail(fields), 0)
    if sum(map(_size, small)) >= SEARCH_PENDING_DOCUMENTS_MAX:
        return _frozen(fields, settled)
    return settled


def _frozen(fields: SearchFields, state: _State) -> _State:
    """The state with everything in large segments."""
    small = list(state.small)
    if state.count:
        small.append(SegmentView(state.tail.segment(state.count), None))
    small = [each for each in small if each.rows]
    if not small:
        return _State(state.large, (), _Tail(fields), 0)
    if len(small) > 1 or small[0].live is not None:
        segment, _ = merged_segment(fields, small, safepoint)
        small = [SegmentView(segment, None)]
    large = added(state.large, small[0])
    ranked = sum(map(_size, large))
    if max(int(each.ranks[-1]) for each in large if each.ranks is not None) > 4 * ranked:
        large = ranked_afresh(large)
    return _State(tuple(sorted(large, key=_size, reverse=True)), (), _Tail(fields), 0)


def _without(segments: Sequence[SegmentView], keys: list[bytes]) -> tuple[SegmentView, ...]:
    """The segments without the rows of some keys; a segment without rows is left out."""
    missing = sorted(keys)
    result: list[SegmentView] = []
    for each in segments:
        gone = _found(each, missing)
        if gone:
            each = each.without(gone)  # noqa: PLW2901  # the same segment, later
            if each.live is not None:
                dead = {each.segment.keys[number] for number in gone}
                missing = [key for key in missing if key not in dead]
        if each.rows:
            result.append(each)
    return tuple(result)


def _found(each: SegmentView, keys: list[bytes]) -> list[int]:
    """Numbers of the living rows of some keys, which ascend."""
    known = each.segment.keys
    if not keys or not len(known) or keys[-1] < known[0] or keys[0] > known[len(known) - 1]:
        return []
    if len(keys) < _FEW:
        numbers = [number for key in keys if (number := known.find(key)) is not None]
    else:
        places, equal = known.search(packed(keys))
        numbers = places[equal].tolist()
    return numbers if each.live is None else [each_ for each_ in numbers if each.live[each_]]


def _worth_merging(segments: Sequence[SegmentView]) -> tuple[SegmentView, ...] | None:
    tiers: dict[int, list[SegmentView]] = {}
    for each in segments:
        if each.rows * 4 < each.segment.count * 3:
            return (each,)
        tier = max(each.rows // SEARCH_PENDING_DOCUMENTS_MAX, 1).bit_length() // 3
        tiers.setdefault(tier, []).append(each)
    for _, members in sorted(tiers.items()):
        if len(members) >= SEARCH_MERGE_FACTOR:
            parts = _fitting(members)
            if len(parts) > 1:
                return parts
    return None


def _fitting(members: Sequence[SegmentView]) -> tuple[SegmentView, ...]:
    """The smallest of some segments, as many as one may hold."""
    parts: list[SegmentView] = []
    rows = 0
    for each in sorted(members, key=_size)[:SEARCH_MERGE_FACTOR]:
        rows += each.rows
        if rows > SEARCH_SEGMENT_DOCUMENTS_MAX:
            break
        parts.append(each)
    return tuple(parts)
