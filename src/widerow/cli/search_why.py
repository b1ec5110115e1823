"""Why a search index finds a row, or does not: field by field, and clause by clause.

An index of this one row is made, of the same parts as the server's, and is asked. What depends on
other rows (the nearest vectors, scores) cannot be said of one row; a vector query is answered as if
the row were near enough.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields as members_of
from typing import Final, NamedTuple

from widerow.cli.search_answer import RowFound
from widerow.cli.search_text import PlacedField, placed_fields
from widerow.model.search import query as q
from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema, TextAnalyzer
from widerow.model.values import Value, column_type
from widerow.search.analyzers.analysis import analysis_of
from widerow.search.documents import document_of
from widerow.search.fields import SearchFields
from widerow.search.index import DocumentChange, DocumentIndex
from widerow.search.interface import IndexView

__all__ = ["SearchFinding", "explain"]

_T: Final = SearchFieldType
_SHOWN: Final = 60  # characters of a value
_TOKENS_SHOWN: Final = 20
_KEY: Final = b"row"
_NEEDS: Final[Mapping[SearchFieldType, str]] = {
    _T.LONG: "an INTEGER column",
    _T.DOUBLE: "a DOUBLE column",
    _T.BOOLEAN: "a BOOLEAN column",
    _T.KEYWORD: "a STRING column of at most 4 KB",
    _T.FUZZY_KEYWORD: "a STRING column of at most 2 KB",
    _T.TEXT: "a STRING column of at most 2 MB",
    _T.DATE: "a value that one of its date_formats reads, from 1970 to 2262",
    _T.IP: "a STRING column with an address",
    _T.GEO_POINT: "a STRING column with latitude,longitude",
    _T.VECTOR: "a STRING column with a JSON array, or a BINARY column of 32-bit floats, of as many"
    " numbers as its dimension",
    _T.NESTED: "a STRING column with a JSON array of at most 256 objects",
    _T.JSON: "a STRING column with a JSON object",
}
_ARRAY: Final = "a STRING column with a JSON array of at most 256 elements, each as the type has it"


class SearchFinding(NamedTuple):
    """What was found out. `good`: whether the row has it, or matches; None: neither is asked."""

    depth: int
    text: str
    good: bool | None = None


def explain(
    schema: SearchSchema, row: RowFound | None, query: q.Query | None, age: tuple[int, int]
) -> list[SearchFinding]:
    """What is known of a row. `age`: the index's time to live in seconds, and now in ms."""
    if row is None:
        return [
            SearchFinding(0, "the table has no such row, or all its cells have expired", good=False)
        ]
    view = _index(schema, row)
    found = [SearchFinding(0, "the table has the row", good=True), *_lifetime(row, age)]
    values = dict(row.key) | row.columns
    found += [
        each
        for name, placed in placed_fields(schema.fields).items()
        if "." not in name
        for each in _of_field(view, name, placed, values)
    ]
    if query is not None:
        found += _of_query(view, schema, query, values, 0)
        matches = _matches(view, query)
        found.append(
            SearchFinding(
                0, f"the query {'finds' if matches else 'does not find'} it", good=matches
            )
        )
    return found


def _index(schema: SearchSchema, row: RowFound) -> IndexView:
    compiled = SearchFields(schema)
    index = DocumentIndex(compiled)
    document = document_of(compiled, row.key, row.columns)
    index.apply([DocumentChange(_KEY, document, row.written_ms or 0)])
    return index.view()


def _lifetime(row: RowFound, age: tuple[int, int]) -> Iterator[SearchFinding]:
    seconds, now_ms = age
    if seconds < 0 or row.written_ms is None:
        return
    left = seconds - (now_ms - row.written_ms) // 1000
    if left > 0:
        yield SearchFinding(0, f"the index keeps it for {left} more seconds", good=True)
    else:
        yield SearchFinding(
            0, f"the index's time to live of {seconds} s passed {-left} s ago", good=False
        )


# --- fields ---------------------------------------------------------------------------------------


def _of_field(
    view: IndexView, name: str, placed: PlacedField, values: Mapping[str, Value]
) -> Iterator[SearchFinding]:
    field = placed.field
    column = field.source or name
    value = values.get(column)
    if value is None:
        yield SearchFinding(1, f"{name}: the row has no column {column}")
        return
    told = f"{column_type(value).name} {_short(value)}"
    if not _has_value(view, name, field):
        yield SearchFinding(
            1, f"{name}: {told} is not indexed; {field.type.name} {_needs(field)}", good=False
        )
        return
    yield SearchFinding(1, f"{name}: {told}", good=True)
    if field.type is _T.TEXT and isinstance(value, str):
        yield SearchFinding(2, f"tokens: {_tokens(field, value)}")


def _has_value(view: IndexView, name: str, field: SearchField) -> bool:
    if field.index is False:
        return True  # nothing can be asked of it, and nothing is wrong with it
    return _matches(view, q.ExistsQuery(name))


def _needs(field: SearchField) -> str:
    if field.is_array and field.type is not _T.VECTOR:
        return f"needs {_ARRAY}"
    needed = f"needs {_NEEDS.get(field.type, 'another column')}"
    if field.type is _T.DATE:
        needed += f" ({', '.join(field.date_formats)})"
    if field.vector is not None:
        needed += f" ({field.vector.dimension})"
    return needed


def _short(value: Value) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _tokens(field: SearchField, text: str) -> str:
    found = analysis_of(field.analyzer or TextAnalyzer()).tokens(text)
    more = " …" if len(found) > _TOKENS_SHOWN else ""
    return " ".join(found[:_TOKENS_SHOWN]) + more if found else "none"


# --- the query ------------------------------------------------------------------------------------


def _matches(view: IndexView, query: q.Query) -> bool:
    return view.select(query, scored=False).count > 0


def _of_query(
    view: IndexView, schema: SearchSchema, query: q.Query, values: Mapping[str, Value], depth: int
) -> Iterator[SearchFinding]:
    """The query and the conditions within it that are about rows."""
    name = type(query).__name__
    told = {
        each.name: getattr(query, each.name)
        for each in members_of(query)
        if each.name not in _INNER and getattr(query, each.name) != each.default
    }
    shown = ", ".join(f"{key}={value!r}" for key, value in told.items())
    yield SearchFinding(depth, f"{name}({shown})", good=_matches(view, query))
    yield from _of_words(schema, query, depth + 1)
    for role, inner in _within(query):
        if role:
            yield SearchFinding(depth + 1, role)
        for each in inner:
            yield from _of_query(view, schema, each, values, depth + 1 + bool(role))


_INNER: Final = frozenset({"must", "must_not", "filter", "should", "queries", "query", "functions"})


def _of_words(schema: SearchSchema, query: q.Query, depth: int) -> Iterator[SearchFinding]:
    """The tokens of a text that is asked for, which are compared with those of the row."""
    if isinstance(query, q.MatchQuery | q.MatchPhraseQuery):
        placed = placed_fields(schema.fields).get(query.field)
        if placed is not None and placed.field.type is _T.TEXT:
            yield SearchFinding(depth, f"tokens: {_tokens(placed.field, query.text)}")


def _within(query: q.Query) -> Sequence[tuple[str, Sequence[q.Query]]]:
    """The conditions on rows inside a query, with what they are for."""
    match query:
        case q.BoolQuery():
            parts = (
                ("all of", query.must),
                ("all of, without scores", query.filter),
                ("none of", query.must_not),
                ("enough of", query.should),
            )
            return [(role, inner) for role, inner in parts if inner]
        case q.ConstScoreQuery():
            return [("", (query.filter,))]
        case q.DisMaxQuery():
            return [("any of", query.queries)]
        case q.FunctionScoreQuery() | q.FunctionsScoreQuery():
            return [("", (query.query,))]
        case q.KnnVectorQuery() if query.filter is not None:
            return [("of those that match", (query.filter,))]
        case _:
            return []
