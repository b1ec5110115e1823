"""Marks a query's matches in the texts of a row (search §4.4, §5.6)."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from widerow.errors import InvalidRequest
from widerow.limits import HIGHLIGHT_FRAGMENT_CHARACTERS_MAX, HIGHLIGHT_FRAGMENTS_MAX
from widerow.model.search.highlight import Highlight, HighlightParameter
from widerow.model.search.query import Query
from widerow.model.search.requests import Hit, InnerHit, Search
from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import Value
from widerow.search.conversion import parsed_json
from widerow.search.interface import IndexView
from widerow.search.results.fragments import best_fragments
from widerow.search.results.inner_hits import (
    FoundDocument,
    FoundInnerHits,
    nested_queries,
    nested_steps,
)

__all__ = ["Highlighter", "check_highlights", "highlight_columns"]

Highlighted = tuple[tuple[str, tuple[str, ...]], ...]

_SEPARATOR: Final = "."


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a field's values in a row.

    `column`: the column; `names`: from the outermost object to the value, each once; `path`: its
    nested path, "" for rows.
    """

    field: SearchField
    column: str
    names: tuple[str, ...]


def check_highlights(schema: SearchSchema, request: Search) -> None:
    """Raise `InvalidRequest` if a field that is to be marked cannot be."""
    for asked in _all_highlights(request):
        for parameter in asked.parameters:
            place = _place(schema.fields, parameter.field)
            field = None if place is None else place.field
            if field is None or field.type is not SearchFieldType.TEXT or not field.highlighting:
                raise InvalidRequest(TablestoreRule.HIGHLIGHT_FIELD, field=parameter.field)
            if (
                not 0 <= parameter.fragments <= HIGHLIGHT_FRAGMENTS_MAX
                or not 1 <= parameter.fragment_size <= HIGHLIGHT_FRAGMENT_CHARACTERS_MAX
            ):
                raise InvalidRequest(TablestoreRule.HIGHLIGHT_SIZE, field=parameter.field)


def highlight_columns(schema: SearchSchema, request: Search) -> tuple[str, ...]:
    """The columns whose values `Highlighter` needs, sorted by name."""
    places = (
        _place(schema.fields, parameter.field)
        for asked in _all_highlights(request)
        for parameter in asked.parameters
    )
    return tuple(sorted({place.column for place in places if place is not None}))


def _all_highlights(request: Search) -> Iterator[Highlight]:
    if request.highlight is not None:
        yield request.highlight
    waiting = list(nested_queries(request.query))
    while waiting:
        nested = waiting.pop()
        if nested.inner_hits is not None and nested.inner_hits.highlight is not None:
            yield nested.inner_hits.highlight
        waiting += nested_queries(nested.query)


def _place(fields: Sequence[SearchField], name: str) -> _Place | None:
    """The place of a field by its full name; if several have it, of the first one."""
    for field in fields:
        own = field.name.strip()
        if own == name:
            return _Place(field, field.source or own, ())
        if name.startswith(own + _SEPARATOR):
            below = _place(field.fields, name[len(own) + 1 :])
            if below is not None:
                return _Place(below.field, own, (below.column, *below.names))
    return None


class Highlighter:
    """Marks the hits of one request.

    `view`: the one in which the hits were found. The text of the row as it was read is marked; it
    may be newer than the view.
    """

    def __init__(self, view: IndexView, schema: SearchSchema, request: Search) -> None:
        self._view = view
        self._schema = schema
        self._request = request
        # The vendor's decoders look into the highlights of each hit, once some were asked for.
        self._without: Highlighted | None = () if any(_all_highlights(request)) else None

    def row(self, columns: Mapping[str, Value]) -> Highlighted | None:
        """The fragments of a row's fields; fields without any are left out.

        None where the request asks for no highlights, nor its inner hits.

        `columns`: the row's values of `highlight_columns`.
        """
        asked = self._request.highlight
        if asked is None:
            return self._without

        def texts(place: _Place) -> list[str]:
            return _column_texts(place, columns.get(place.column))

        top = [each for each in asked.parameters if not self._nested_path(each.field)]
        return self._fragments(asked, top, self._request.query, texts)

    def inner(
        self, found: Sequence[FoundInnerHits], columns: Mapping[str, Value]
    ) -> tuple[InnerHit, ...]:
        """The inner hits of a row, with their fragments."""
        parsed: dict[str, object] = {}

        def column(name: str) -> object:
            if name not in parsed:
                parsed[name] = _parsed(columns.get(name))
            return parsed[name]

        return self._inner(found, "", column)

    def _inner(
        self, found: Sequence[FoundInnerHits], base: str, values: Callable[[str], object]
    ) -> tuple[InnerHit, ...]:
        """`values`: gives the member of a name of the object at `base`."""
        return tuple(
            InnerHit(
                each.query.path,
                tuple(self._document(each, document, base, values) for document in each.documents),
            )
            for each in found
        )

    def _document(
        self,
        found: FoundInnerHits,
        document: FoundDocument,
        base: str,
        values: Callable[[str], object],
    ) -> Hit:
        path = found.query.path
        steps = nested_steps(self._field, base, path)
        element = _element(values, base, steps, document.offsets)
        inner = found.query.inner_hits
        asked = None if inner is None else inner.highlight
        highlights = self._without
        if asked is not None:

            def texts(place: _Place) -> list[str]:
                return _below(element, place.names[path.count(_SEPARATOR) :])

            here = [each for each in asked.parameters if self._nested_path(each.field) == path]
            highlights = self._fragments(asked, here, found.query, texts)
        return Hit(
            score=document.score,
            highlights=highlights,
            inner=self._inner(document.inner, path, lambda name: _member(element, name)),
            nested_offset=document.offsets[-1],
        )

    def _fragments(
        self,
        asked: Highlight,
        parameters: Sequence[HighlightParameter],
        query: Query,
        texts: Callable[[_Place], list[str]],
    ) -> Highlighted:
        fragments = []
        for parameter in parameters:
            place = _place(self._schema.fields, parameter.field)
            assert place is not None  # checked before the search
            marked = [
                (text, self._view.spans(query, parameter.field, text)) for text in texts(place)
            ]
            found = best_fragments(marked, parameter, asked.encoder)
            if found:
                fragments.append((parameter.field, found))
        return tuple(fragments)

    def _field(self, name: str) -> SearchField | None:
        place = _place(self._schema.fields, name)
        return None if place is None else place.field

    def _nested_path(self, name: str) -> str:
        above, _, _ = name.rpartition(_SEPARATOR)
        steps = nested_steps(self._field, "", name)[:-1]
        return steps[-1] if above and steps else ""


def _column_texts(place: _Place, value: Value | None) -> list[str]:
    """The texts of a field of the row."""
    if place.names:
        return _below(_parsed(value), place.names)
    if place.field.is_array:
        return _below(_parsed(value), ())
    if isinstance(value, str):
        return [value]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return [repr(value)] if number else []


def _parsed(value: Value | None) -> object:
    if not isinstance(value, str):
        return None
    try:
        return parsed_json(value)
    except ValueError:
        return None


def _member(element: object, name: str) -> object:
    return element.get(name) if isinstance(element, dict) else None


def _element(
    values: Callable[[str], object], base: str, steps: Sequence[str], offsets: tuple[int, ...]
) -> object:
    """The object at the last of some nested paths, by its offsets in the arrays on the way."""
    found: object = None
    for step, offset in zip(steps, offsets, strict=True):
        names = step[len(base) + 1 if base else 0 :].split(_SEPARATOR)
        found = values(names[0])
        for name in names[1:]:
            found = _member(found, name)
        array = found if isinstance(found, list) else [found]
        element: Any = array[offset] if offset < len(array) else None
        found, base = element, step
        values = _members_of(element)
    return found


def _members_of(element: object) -> Callable[[str], object]:
    return lambda name: _member(element, name)


def _below(value: object, names: Sequence[str]) -> list[str]:
    """The texts of a member of an object, or of each object of an array.

    As they are indexed: an array inside an array has none, so depth is bounded by `names`.
    """
    elements = value if isinstance(value, list) else [value]
    if names:
        members = [_member(each, names[0]) for each in elements]
        return [text for member in members for text in _below(member, names[1:])]
    return [text for each in elements for text in _own_text(each)]


def _own_text(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return [json.dumps(value)] if number else []
