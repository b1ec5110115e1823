"""A search index as lists of dictionaries: the least that `search/interface.py` promises.

Slow and plain on purpose: results are tested over it and over the real index alike. Queries are
those that the tests need. Texts are tokens between blanks, lower-cased.
"""

import ipaddress
import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np

from widerow.errors import InvalidRequest
from widerow.model.search.query import (
    BoolQuery,
    ConstScoreQuery,
    ExistsQuery,
    FunctionScoreQuery,
    FunctionsScoreQuery,
    MatchAllQuery,
    MatchQuery,
    NestedQuery,
    Query,
    RangeQuery,
    TermQuery,
    TermsQuery,
)
from widerow.model.search.schema import JsonKind, SearchField, SearchFieldType, SearchSchema
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import Value
from widerow.search.interface import (
    Booleans,
    FieldLiteral,
    FieldValues,
    Floats,
    Integers,
    TokenSpan,
)

T = SearchFieldType
Converted = Any  # a value in the form of its field
TERMS = (T.KEYWORD, T.FUZZY_KEYWORD, T.IP)


@dataclass
class Document:
    """Values by full name, documents below by full path, and the row's key."""

    key: bytes
    offset: int = 0
    values: dict[str, list[Any]] = field(default_factory=dict)
    below: dict[str, list["Document"]] = field(default_factory=dict)

    def deeper(self, path: str, found: "Callable[[Document, str], list[Any]]") -> list[Any]:
        """What is found for a path in the children through which it leads."""
        return [
            each
            for above, below in self.below.items()
            if path.startswith(above + ".")
            for child in below
            for each in found(child, path)
        ]


def _converted(kind: SearchFieldType, value: Converted) -> Converted:  # noqa: PLR0911  # one for each type
    """A value of a row or a request in a field's own form."""
    if kind is T.LONG:
        if isinstance(value, float) and value % 1:
            raise ValueError(value)
        return int(value)
    if kind is T.DOUBLE:
        return float(value)
    if kind is T.BOOLEAN:
        return value in (True, "true")
    if kind is T.DATE:
        if isinstance(value, str):
            return int(datetime.fromisoformat(value + "+00:00").timestamp()) * 10**9
        return int(value) * 10**6
    if kind is T.GEO_POINT:
        latitude, longitude = (float(part) for part in str(value).split(","))
        units = (180 / 2**32, 360 / 2**32)
        return latitude // units[0] * units[0], longitude // units[1] * units[1]
    if kind is T.IP:
        address = ipaddress.ip_address(str(value))
        if address.version == 4:
            return bytes(10) + b"\xff\xff" + address.packed
        return address.packed
    return str(value).encode() if kind in TERMS else str(value)


def _fields(schema: SearchSchema) -> dict[str, tuple[SearchField, str]]:
    """Definitions and nested paths by full name."""
    found = {}

    def walk(fields: Sequence[SearchField], prefix: str, path: str) -> None:
        for each in fields:
            name = prefix + each.name.strip()
            kept = each.sort_and_agg
            if kept is None:
                kept = each.type not in (T.TEXT, T.NESTED, T.VECTOR, T.JSON)
            found[name] = (replace(each, sort_and_agg=kept), path)
            nested = each.type is T.NESTED or each.json is JsonKind.NESTED
            walk(each.fields, name + ".", name if nested else path)

    walk(schema.fields, "", "")
    return found


class PlainView:
    """An `IndexView` over rows given as column values."""

    def __init__(
        self, schema: SearchSchema, rows: Sequence[tuple[bytes, Mapping[str, Value]]]
    ) -> None:
        self.schema = schema
        self.fields = _fields(schema)
        self.documents = [self._document(key, columns) for key, columns in rows]
        self.sorted_keys = sorted(key for key, _ in rows)
        self.seeds: list[int] = []
        self.checks = 0
        self.patience = 0  # the check that ends what is going on; 0: none does

    def _document(self, key: bytes, columns: Mapping[str, Value]) -> Document:
        made = Document(key)
        for each in self.schema.fields:
            value: Any = columns.get(each.source or each.name.strip())
            if value is None:
                continue
            if each.is_array or each.type in (T.NESTED, T.JSON):
                value = json.loads(value)
            self._add(made, each, "", value)
        return made

    def _add(self, made: Document, each: SearchField, prefix: str, value: Converted) -> None:
        name = prefix + each.name.strip()
        values = value if isinstance(value, list) else [value]
        if each.type is T.NESTED or each.json is JsonKind.NESTED:
            made.below[name] = []
            for place, element in enumerate(values):
                child = Document(made.key, place)
                made.below[name].append(child)
                for sub in each.fields:
                    if sub.name in element:
                        self._add(child, sub, name + ".", element[sub.name])
        elif each.type is T.JSON:
            for element in values:
                for sub in each.fields:
                    if sub.name in element:
                        self._add(made, sub, name + ".", element[sub.name])
        else:
            converted = [_converted(each.type, one) for one in values]
            made.values.setdefault(name, []).extend(converted)

    @property
    def rows(self) -> int:
        return len(self.documents)

    @property
    def has_nested(self) -> bool:
        return any(path for _, path in self.fields.values())

    def select(
        self,
        query: Query,
        *,
        scored: bool,
        limit: int = 0,  # noqa: ARG002  # there are no vectors
        seed: int = 0,
        best: int = 0,  # noqa: ARG002  # all are among the best
    ) -> "PlainDocuments":
        self.seeds.append(seed)
        everything = PlainDocuments(self, "", self.documents)
        mask, scores = everything.scored(query)
        return everything.with_scores(scores if scored else None).take(mask)

    def spans(self, query: Query, field: str, text: str) -> list[TokenSpan]:
        wanted = set(_tokens_asked(query, field))
        return [span for token, span in _tokens(text) if token in wanted]


def _tokens(text: str) -> Iterator[tuple[str, TokenSpan]]:
    start = None
    for place, character in enumerate(text + " "):
        if character.isalnum() and start is None:
            start = place
        if not character.isalnum() and start is not None:
            yield text[start:place].lower(), TokenSpan(start, place)
            start = None


def _tokens_asked(query: Query, field: str) -> Iterator[str]:
    match query:
        case MatchQuery() if query.field == field:
            yield from (token for token, _ in _tokens(query.text))
        case TermQuery() if query.field == field:
            yield str(query.term)
        case BoolQuery():
            for each in (*query.must, *query.should, *query.filter):
                yield from _tokens_asked(each, field)
        case NestedQuery():
            yield from _tokens_asked(query.query, field)
        case _:
            pass


class PlainDocuments:
    """A `DocumentSet` of plain documents."""

    def __init__(
        self,
        view: PlainView,
        path: str,
        documents: Sequence[Document],
        scores: Floats | None = None,
    ) -> None:
        self.view = view
        self.path = path
        self.documents = list(documents)
        self._scores = scores

    def with_scores(self, scores: Floats | None) -> "PlainDocuments":
        return PlainDocuments(self.view, self.path, self.documents, scores)

    @property
    def count(self) -> int:
        return len(self.documents)

    @property
    def scores(self) -> Floats | None:
        return self._scores

    def check(self) -> None:
        self.view.checks += 1
        if self.view.checks == self.view.patience:
            raise TimeoutError

    def field(self, name: str) -> SearchField | None:
        found = self.view.fields.get(name)
        return None if found is None else found[0]

    def nested_path(self, name: str) -> str:
        path = self.view.fields[name][1] if name in self.view.fields else ""
        return "" if path == self.path else path

    def _values_below(self, document: Document, name: str) -> list[Any]:
        if name in document.values:
            return document.values[name]
        return document.deeper(name, self._values_below)

    def values(self, name: str) -> FieldValues:
        kind = self.view.fields[name][0].type
        owners, values = [], []
        for number, document in enumerate(self.documents):
            for value in self._values_below(document, name):
                owners.append(number)
                values.append(value)
        single = owners == list(range(self.count))
        if kind in TERMS:
            terms = sorted({*values, b"\x00 of no document"})
            ordinals = np.array([terms.index(value) for value in values], np.int64)
            return FieldValues(ordinals, np.array(owners, np.int64), terms, single)
        if kind is T.GEO_POINT:
            points = np.array(values, np.float64).reshape(-1, 2)
            return FieldValues(points, np.array(owners, np.int64), None, single)
        types = {T.DOUBLE: np.float64, T.BOOLEAN: np.bool_}
        array: np.ndarray[Any, Any] = np.array(values, types.get(kind, np.int64))
        return FieldValues(array, np.array(owners, np.int64), None, single)

    def matching(self, query: Query) -> Booleans:
        return self.scored(query)[0]

    def scored(self, query: Query) -> tuple[Booleans, Floats]:
        pairs = [self._score(document, query) for document in self.documents]
        mask = np.array([score is not None for score in pairs], np.bool_)
        return mask, np.array([score or 0.0 for score in pairs], np.float64)

    def _score(  # noqa: PLR0911  # one for each query
        self, document: Document, query: Query
    ) -> float | None:
        match query:
            case MatchAllQuery():
                return 1.0
            case NestedQuery():
                below = self._at(document, query.path)
                matched = any(self._score(each, query.query) is not None for each in below)
                return 0.0 if matched else None
            case BoolQuery():
                return self._bool_score(document, query)
            case ConstScoreQuery():
                return None if self._score(document, query.filter) is None else 1.0
            case FunctionScoreQuery():
                score = self._score(document, query.query)
                values = document.values.get(query.field, [1])
                return None if score is None else score * float(values[0])
            case FunctionsScoreQuery():
                return self._score(document, query.query)
            case ExistsQuery():
                return 1.0 if document.values.get(query.field) else None
            case MatchQuery():
                wanted = {token for token, _ in _tokens(query.text)}
                texts = document.values.get(query.field, [])
                hits = sum(t in wanted for text in texts for t, _ in _tokens(text))
                return float(hits) or None
            case _:
                return 1.0 if self._has_value(document, query) else None

    def _bool_score(self, document: Document, query: BoolQuery) -> float | None:
        needed = [self._score(document, each) for each in (*query.must, *query.filter)]
        if None in needed:
            return None
        if any(self._score(document, each) is not None for each in query.must_not):
            return None
        should = [self._score(document, each) for each in query.should]
        if query.should and not needed and all(each is None for each in should):
            return None
        return sum(each or 0.0 for each in (*needed[: len(query.must)], *should))

    def _has_value(self, document: Document, query: Query) -> bool:
        assert isinstance(query, TermQuery | TermsQuery | RangeQuery), query
        kind = self.view.fields[query.field][0].type
        values = document.values.get(query.field, [])
        if isinstance(query, TermQuery):
            wanted = [_converted(kind, query.term)]
        elif isinstance(query, TermsQuery):
            wanted = [_converted(kind, term) for term in query.terms]
        else:
            low = None if query.start is None else _converted(kind, query.start)
            high = None if query.stop is None else _converted(kind, query.stop)
            return any(
                (low is None or value > low or (query.include_start and value == low))
                and (high is None or value < high or (query.include_stop and value == high))
                for value in values
            )
        if kind is T.TEXT:
            return any(token in wanted for text in values for token, _ in _tokens(text))
        return any(value in wanted for value in values)

    def literal(self, name: str, value: Value) -> FieldLiteral:
        try:
            converted: FieldLiteral = _converted(self.view.fields[name][0].type, value)
        except ValueError as error:
            raise InvalidRequest(TablestoreRule.GROUP_INTERVAL, kind="literal") from error
        return converted

    def _at(self, document: Document, path: str) -> list[Document]:
        if path in document.below:
            return document.below[path]
        return document.deeper(path, self._at)

    def children(self, path: str) -> tuple["PlainDocuments", Integers]:
        below, parents = [], []
        for number, document in enumerate(self.documents):
            for child in self._at(document, path):
                below.append(child)
                parents.append(number)
        return PlainDocuments(self.view, path, below), np.array(parents, np.int64)

    def offsets(self) -> Integers:
        return np.array([each.offset for each in self.documents], np.int64)

    def take(self, numbers: "np.ndarray[Any, Any]") -> "PlainDocuments":
        if numbers.dtype == np.bool_:
            numbers = np.flatnonzero(numbers)
        assert (np.diff(numbers) > 0).all()
        scores = None if self._scores is None else self._scores[numbers]
        documents = [self.documents[number] for number in numbers.tolist()]
        return PlainDocuments(self.view, self.path, documents, scores)

    def key_ranks(self) -> Integers:
        keys = self.view.sorted_keys
        return np.array([bisect_left(keys, each.key) for each in self.documents], np.int64)

    def keys(self, numbers: "np.ndarray[Any, Any]") -> list[bytes]:
        return [self.documents[number].key for number in numbers.tolist()]

    def rank_bounds(self, key: bytes) -> tuple[int, int]:
        keys = self.view.sorted_keys
        return bisect_left(keys, key), bisect_right(keys, key)


Builder = Callable[[SearchSchema, Sequence[tuple[bytes, Mapping[str, Value]]]], Any]
