"""Sets of documents of one view, from which sorting, metrics and groups are computed."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from widerow.errors import InvalidRequest
from widerow.model.search.query import Query
from widerow.model.search.schema import SearchField, SearchFieldType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import Value
from widerow.search.columns import TermColumn, ValueColumn
from widerow.search.fields import TERM_TYPES, DocumentLevel, IndexedField, SearchFields
from widerow.search.interface import (
    Booleans,
    FieldLiteral,
    FieldValues,
    Floats,
    Integers,
)
from widerow.search.places import degrees
from widerow.search.queries.best import best_places
from widerow.search.queries.compile import compiled
from widerow.search.queries.node import Asked
from widerow.search.queries.values import literal_of
from widerow.search.segments import SegmentView
from widerow.search.terms import run_numbers
from widerow.search.unions import TermUnions

__all__ = ["KeyOrder", "SelectedDocuments", "ViewMoment"]

_NO_NUMBERS: Final = np.zeros(0, dtype=np.int64)
_FEW: Final = 16  # with so many more terms than values, only the values' terms are united
_SINGLE_MAX: Final = float(np.finfo(np.float32).max)


class KeyOrder(NamedTuple):
    """The order of a view's rows by keys: `ranks` of a segment's rows, and `bounds` of a key.

    `ranks` takes the segment and numbers of rows; None: all rows.
    """

    ranks: Callable[[int, Integers | None], Integers]
    bounds: Callable[[bytes], tuple[int, int]]


@final
class ViewMoment:
    """What all document sets of one view share."""

    def __init__(
        self,
        fields: SearchFields,
        segments: Sequence[SegmentView],
        unions: TermUnions,
        check: Callable[[], None],
        order: KeyOrder,
    ) -> None:
        self.fields = fields
        self.segments = segments
        self.unions = unions
        self.check = check
        self.order = order

    def asked(self, limit: int = 0, seed: int = 0) -> Asked:
        """The circumstances of an evaluation."""
        return Asked(self.fields, self.segments, self.check, limit, seed)

    def select(self, query: Query, asked: Asked, *, scored: bool) -> "SelectedDocuments":
        """The living rows that match."""
        node = compiled(query, asked, self.fields.root, scored=scored)
        parts: list[Integers | None] = []
        scores: list[Floats] = []
        for at, segment in enumerate(self.segments):
            self.check()
            found = node.run(at)
            live = segment.live
            if scored:
                numbers = found.as_numbers()
                assert found.scores is not None
                kept = _single(found.scores)
                if live is not None:
                    alive = live[numbers]
                    numbers, kept = numbers[alive], kept[alive]
                parts.append(numbers)
                scores.append(kept)
                continue
            parts.append(_living(found.numbers, found.mask, live))
        joined = np.concatenate([np.zeros(0), *scores]) if scored else None
        return SelectedDocuments(self, self.fields.root, parts, joined)

    def select_best(self, query: Query, asked: Asked, count: int) -> "SelectedDocuments":
        """The living rows that match, with scores, except some that `count` others outscore."""
        node = compiled(query, asked, self.fields.root, scored=True)
        parts: list[Integers | None] = []
        scores: list[Floats] = [np.zeros(0)]
        floor = -math.inf
        for at, segment in enumerate(self.segments):
            self.check()
            found = node.run_best(at, count, _below(floor))
            assert found.scores is not None
            numbers, kept = found.as_numbers(), _single(found.scores)
            if segment.live is not None:
                alive = segment.live[numbers]
                numbers, kept = numbers[alive], kept[alive]
            places, floor = best_places(kept, count, floor)
            parts.append(numbers[places])
            scores.append(kept[places])
        return SelectedDocuments(self, self.fields.root, parts, np.concatenate(scores))


def _single(scores: Floats) -> Floats:
    """Scores as the service tells and orders them: rounded to 32-bit floats (search §4.5).

    Scores beyond the largest float are that float.
    """
    return np.clip(scores, -_SINGLE_MAX, _SINGLE_MAX).astype(np.float32).astype(np.float64)


def _below(score: float) -> float:
    """A bound below everything that `_single` rounds to `score`."""
    return float(np.nextafter(np.float32(score), np.float32(-np.inf)))


@lru_cache(maxsize=2)
def _counted(count: int) -> Integers:
    """The numbers below `count`, read-only and shared by searches."""
    numbers = np.arange(count)
    numbers.flags.writeable = False
    return numbers


def _living(
    numbers: Integers | None, mask: Booleans | None, live: Booleans | None
) -> Integers | None:
    """The living documents of an answer; None: every document of a segment without deleted ones."""
    if mask is None:
        assert numbers is not None
        return numbers if live is None else numbers[live[numbers]]
    if live is not None:
        mask = mask & live
    elif mask.all():
        return None
    return np.flatnonzero(mask)


@final
class SelectedDocuments:
    """Some documents of a level of a view (`interface.DocumentSet`)."""

    def __init__(
        self,
        moment: ViewMoment,
        level: DocumentLevel,
        parts: Sequence[Integers | None],
        scores: Floats | None = None,
    ) -> None:
        """`parts`: for each segment the numbers of the documents, ascending; None: all."""
        self._moment = moment
        self._level = level
        self._parts = parts
        self.scores = scores

    @cached_property
    def _starts(self) -> list[int]:
        """The number of the first document of each segment, and the number of all documents."""
        starts = [0]
        for segment, part in zip(self._moment.segments, self._parts, strict=True):
            count = segment.segment.counts[self._level.number] if part is None else len(part)
            starts.append(starts[-1] + count)
        return starts

    @property
    def count(self) -> int:
        """The number of documents."""
        return self._starts[-1]

    def check(self) -> None:
        """Called between steps of long work; raises to end it."""
        self._moment.check()

    def field(self, name: str) -> SearchField | None:
        """The definition of a field by its full name; None where the index has none."""
        return self._moment.fields.definition(name)

    def nested_path(self, name: str) -> str:
        """The innermost nested path, beyond the level of this set, that a field lies below."""
        level = self._moment.fields.level_of(name)
        if level is None or level is self._level:
            return ""
        if name == level.path:  # the field of the level itself is in the level above
            level = level.parent
        return level.path if level is not None and level.is_below(self._level) else ""

    # --- values ----------------------------------------------------------------------------------

    def values(self, name: str) -> FieldValues:
        """The values of a field of this level, or of a level below.

        Raises `InvalidRequest` for an unknown field, and for TEXT and VECTOR.
        """
        path = self.nested_path(name)
        if path:
            below, ancestors = self.children(path)
            found = below.values(name)
            return FieldValues(found.values, ancestors[found.owners], found.terms)
        field = self._level.by_name.get(name)
        if field is None:
            raise InvalidRequest(TablestoreRule.SEARCH_QUERY_FIELD, field=name)
        if field.type in (SearchFieldType.TEXT, SearchFieldType.VECTOR):
            raise InvalidRequest(
                TablestoreRule.SEARCH_QUERY_FIELD_TYPE,
                field=name,
                type=field.type.name,
                query="VALUES",
            )
        return self._values(field)

    def _values(self, field: IndexedField) -> FieldValues:
        columns: list[ValueColumn | TermColumn] = []
        values: list[NDArray[Any]] = []
        owned: list[Integers | None] = []
        starts: list[int] = []
        for at, part in self._filled():
            table = self._moment.segments[at].segment.tables[self._level.number]
            column = table.column(field)
            assert isinstance(column, ValueColumn | TermColumn)
            taken = column.taken(part)
            columns.append(column)
            values.append(taken.values)
            owned.append(taken.owners)
            starts.append(self._starts[at])
        terms: Sequence[bytes] | None = None
        if field.type in TERM_TYPES:
            terms, values = self._united(columns, values)
        single = all(each is None for each in owned)
        if single:
            return FieldValues(_joined(values, field), _counted(self.count), terms, single)
        owners = [
            (np.arange(len(found)) if each is None else each) + start
            for each, found, start in zip(owned, values, starts, strict=True)
        ]
        return FieldValues(_joined(values, field), np.concatenate(owners), terms)

    def _filled(self) -> Iterator[tuple[int, Integers | None]]:
        """The segments with documents of this set, and the numbers of these documents."""
        for at, part in enumerate(self._parts):
            if self._starts[at] < self._starts[at + 1]:
                self._moment.check()
                yield at, part

    def _united(
        self, columns: Sequence[ValueColumn | TermColumn], values: list[NDArray[Any]]
    ) -> tuple[Sequence[bytes], list[NDArray[Any]]]:
        """One list of terms for all segments, and the values as numbers in that list."""
        found = [each for each in columns if isinstance(each, TermColumn)]
        if not found:
            return [], []
        if len(found) == 1:
            return found[0].terms, [values[0].astype(np.int64)]
        if _FEW * sum(map(len, values)) < sum(len(each.terms) for each in found):
            return _united_few(found, values)
        terms, maps = self._moment.unions.of(found)
        return terms, [moved[each] for moved, each in zip(maps, values, strict=True)]

    def literal(self, name: str, value: Value) -> FieldLiteral:
        """A value of a request in the form of the field's own (search §2, §2.3)."""
        level = self._moment.fields.level_of(name)
        field = None if level is None else level.by_name.get(name)
        if field is None:
            raise InvalidRequest(TablestoreRule.SEARCH_QUERY_FIELD, field=name)
        return literal_of(field, value)

    # --- queries ---------------------------------------------------------------------------------

    def matching(self, query: Query) -> Booleans:
        """A mask of the documents that match. Raises what the evaluation of queries raises."""
        node = compiled(query, self._moment.asked(), self._level, scored=False)
        pieces: list[Booleans] = [np.zeros(0, dtype=np.bool_)]
        for at, part in self._filled():
            count = self._moment.segments[at].segment.counts[self._level.number]
            mask = node.run(at).as_mask(count)
            pieces.append(mask if part is None else mask[part])
        return np.concatenate(pieces)

    def scored(self, query: Query) -> tuple[Booleans, Floats]:
        """A mask of the documents that match, and scores; 0 for a document that does not match."""
        node = compiled(query, self._moment.asked(), self._level, scored=True)
        masks: list[Booleans] = [np.zeros(0, dtype=np.bool_)]
        scores: list[Floats] = [np.zeros(0)]
        for at, part in self._filled():
            count = self._moment.segments[at].segment.counts[self._level.number]
            found = node.run(at)
            dense = np.zeros(count)
            assert found.scores is not None
            dense[found.as_numbers()] = _single(found.scores)
            mask = found.as_mask(count)
            masks.append(mask if part is None else mask[part])
            scores.append(dense if part is None else dense[part])
        return np.concatenate(masks), np.concatenate(scores)

    # --- other documents -------------------------------------------------------------------------

    def children(self, path: str) -> "tuple[SelectedDocuments, Integers]":
        """The documents at a nested path below these, and the number of each one's ancestor."""
        level = self._moment.fields.level(path)
        if level is None or not level.is_below(self._level):
            raise InvalidRequest(TablestoreRule.SEARCH_QUERY_PATH, field=path)
        parts: list[Integers | None] = []
        ancestors: list[Integers] = [np.zeros(0, dtype=np.int64)]
        for at, part in enumerate(self._parts):
            above = self._moment.segments[at].segment.above(level, self._level)
            if part is None:
                parts.append(None)
                ancestors.append(above + self._starts[at])
                continue
            low = np.searchsorted(above, part, side="left")
            lengths = np.searchsorted(above, part, side="right") - low
            parts.append(run_numbers(low, lengths))
            owners = np.arange(len(part), dtype=np.int64) + self._starts[at]
            ancestors.append(np.repeat(owners, lengths))
        return SelectedDocuments(self._moment, level, parts), np.concatenate(ancestors)

    def offsets(self) -> Integers:
        """The places of documents of a nested path in the arrays that they come from."""
        pieces = [np.zeros(0, dtype=np.int64)]
        for at, part in enumerate(self._parts):
            places = self._moment.segments[at].segment.tables[self._level.number].places
            pieces.append(
                places.astype(np.int64) if part is None else places[part].astype(np.int64)
            )
        return np.concatenate(pieces)

    def take(self, numbers: NDArray[Any]) -> "SelectedDocuments":
        """The documents with ascending `numbers`, or where a mask `numbers` is true."""
        chosen = np.flatnonzero(numbers) if numbers.dtype == np.bool_ else numbers
        bounds = np.searchsorted(chosen, self._starts)
        parts: list[Integers | None] = []
        for at, part in enumerate(self._parts):
            local = chosen[bounds[at] : bounds[at + 1]] - self._starts[at]
            parts.append(local.astype(np.int64) if part is None else part[local])
        scores = None if self.scores is None else self.scores[chosen]
        return SelectedDocuments(self._moment, self._level, parts, scores)

    # --- keys ------------------------------------------------------------------------------------

    def _rows(self, at: int) -> Integers | None:
        """The rows of this set's documents in a segment; None: all rows, in order."""
        part = self._parts[at]
        if not self._level.number:
            return part
        above = self._moment.segments[at].segment.above(self._level, self._moment.fields.root)
        return above if part is None else above[part]

    def key_ranks(self) -> Integers:
        """Numbers that order the documents as the encoded primary keys of their rows do."""
        pieces: list[Integers] = []
        for at, _ in self._filled():
            pieces.append(self._moment.order.ranks(at, self._rows(at)))
        if len(pieces) == 1:
            return pieces[0]
        return np.concatenate([np.zeros(0, dtype=np.int64), *pieces])

    def keys(self, numbers: NDArray[Any]) -> list[bytes]:
        """The encoded primary keys of the rows of these documents, in the order of `numbers`."""
        found: list[bytes] = []
        for number, at in zip(
            numbers.tolist(),
            (np.searchsorted(self._starts, numbers, side="right") - 1).tolist(),
            strict=True,
        ):
            rows = self._rows(at)
            local = number - self._starts[at]
            row = local if rows is None else int(rows[local])
            found.append(self._moment.segments[at].segment.keys[row])
        return found

    def rank_bounds(self, key: bytes) -> tuple[int, int]:
        """The place of an encoded primary key, which need not exist, among the `key_ranks`."""
        return self._moment.order.bounds(key)


def _joined(values: list[NDArray[Any]], field: IndexedField) -> NDArray[Any]:
    if field.type is SearchFieldType.GEO_POINT:
        values = [degrees(each) for each in values]
    if len(values) == 1:
        return values[0]
    if values:
        return np.concatenate(values)
    if field.type is SearchFieldType.GEO_POINT:
        return np.zeros((0, 2))
    return np.zeros(0, dtype=_EMPTY.get(field.type, np.int64))


_EMPTY: Final[dict[SearchFieldType, type[np.generic]]] = {
    SearchFieldType.DOUBLE: np.float64,
    SearchFieldType.BOOLEAN: np.bool_,
}


def _united_few(
    columns: Sequence[TermColumn], values: list[NDArray[Any]]
) -> tuple[list[bytes], list[NDArray[Any]]]:
    """`_united` with only the terms that occur in the values."""
    used = [np.unique(each, return_inverse=True) for each in values]
    texts = [
        [column.terms[number] for number in numbers.tolist()]
        for column, (numbers, _) in zip(columns, used, strict=True)
    ]
    every = sorted({text for each in texts for text in each})
    places = dict(zip(every, range(len(every)), strict=True))
    maps = [np.array([places[text] for text in each], dtype=np.int64) for each in texts]
    return every, [moved[inverse] for moved, (_, inverse) in zip(maps, used, strict=True)]
