"""The index answers what plain loops over the rows answer (search §11.7, "equality")."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.unit.search.strategies import best_first, columns, requests, schemas

from widerow.model.search import aggregation as a
from widerow.model.search.requests import Search
from widerow.model.search.schema import SearchSchema
from widerow.model.values import Value
from widerow.search.documents import document_of
from widerow.search.fields import SearchFields
from widerow.search.index import DocumentChange, DocumentIndex
from widerow.search.results.page import FoundHit, find_page
from widerow.testing.search_outcomes import plain_outcome
from widerow.testing.search_reference import SearchReference, SeveralAnswers

Rows = dict[bytes, dict[str, Value]]


def index_of(
    schema: SearchSchema, rows: Iterable[tuple[bytes, dict[str, Value] | None]]
) -> DocumentIndex:
    fields = SearchFields(schema)
    index = DocumentIndex(fields)
    for key, row in rows:
        document = None if row is None else document_of(fields, (), row)
        index.apply([DocumentChange(key, document, 0)])
    return index


def pages(index: DocumentIndex, schema: SearchSchema, request: Search) -> list[FoundHit]:
    """All hits, page by page by their tokens."""
    view = index.view()
    found: list[FoundHit] = []
    while True:
        page = find_page(view, schema, request, 0)
        found += page.hits
        if not page.token:
            return found
        request = replace(request, token=page.token)


@st.composite
def tables(draw: st.DrawFn) -> tuple[SearchSchema, list[tuple[bytes, dict[str, Value] | None]]]:
    """A schema, and writes and deletions of rows of a few keys in order."""
    schema = draw(schemas())
    written = st.tuples(st.integers(0, 11).map(lambda key: key.to_bytes()), columns(schema))
    gone = st.tuples(st.integers(0, 11).map(lambda key: key.to_bytes()), st.none())
    return schema, draw(
        st.lists(st.one_of(written, written, written, gone), min_size=5, max_size=16)
    )


def same_number(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == other or math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-9)
    return type(one) is type(other) and one == other


def same_values(one: object, other: object) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same_values, one, other))
    return same_number(one, other)


def same_breakdowns(one: a.BreakdownAnswer, other: a.BreakdownAnswer) -> bool:
    return all(
        same_values(mine.value, theirs.value)
        for mine, theirs in zip(one.aggregations, other.aggregations, strict=True)
    ) and all(
        same_groups(mine.groups, theirs.groups)
        for mine, theirs in zip(one.group_bys, other.group_bys, strict=True)
    )


def same_groups(one: Sequence[a.SearchGroup], other: Sequence[a.SearchGroup]) -> bool:
    return len(one) == len(other) and all(
        same_values(mine.key, theirs.key)
        and mine.row_count == theirs.row_count
        and same_breakdowns(mine.below, theirs.below)
        for mine, theirs in zip(one, other, strict=True)
    )


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)
@given(st.data())
def test_an_index_answers_what_plain_loops_do(data: st.DataObject) -> None:
    schema, written = data.draw(tables())
    request = data.draw(st.one_of(requests(schema), best_first(schema)))
    different = differences(schema, written, request)
    assume(different is not None)
    assert different == []


def differences(
    schema: SearchSchema, written: Sequence[tuple[bytes, dict[str, Value] | None]], request: Search
) -> list[str] | None:
    """What an index and plain loops answer otherwise; None where several answers are right."""
    rows: Rows = {}
    for key, row in written:
        rows.pop(key, None)
        if row is not None:
            rows[key] = row
    try:
        expected = plain_outcome(SearchReference(schema, rows), request)
    except SeveralAnswers:
        return None
    index = index_of(schema, written)
    first = find_page(index.view(), schema, request, 0)
    found = []
    if first.total != expected.total:
        found.append(f"{first.total} rows instead of {expected.total}")
    hits = pages(index, schema, request)
    wanted = list(expected.hits)
    if not first.token:
        wanted = wanted[: request.limit]
    if [each.key for each in hits] != [key for key, _ in wanted]:
        found.append(f"keys {[e.key for e in hits]} instead of {[key for key, _ in wanted]}")
    else:
        found += [
            f"a score of {each.score} instead of {score}"
            for each, (_, score) in zip(hits, wanted, strict=True)
            if not math.isnan(each.score)
            and not math.isclose(each.score, score, rel_tol=1e-5, abs_tol=1e-9)
        ]
    if not same_breakdowns(first.breakdown, expected.breakdown):
        found.append(f"{first.breakdown} instead of {expected.breakdown}")
    return found
