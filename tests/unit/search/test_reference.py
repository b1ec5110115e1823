"""The index answers what plain loops over the rows answer (search §11.7, "equality")."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st
from tests.support.search_hits import PlainInnerHits, plain_highlights, plain_inner_hits
from tests.support.search_outcomes import SearchOutcome, plain_outcome
from tests.support.search_reference import SearchReference, SeveralAnswers
from tests.support.volume import examples
from tests.unit.search.strategies import (
    best_first,
    columns,
    group_bys,
    highlights,
    queries,
    requests,
    schemas,
)

from widerow.model.search import aggregation as a
from widerow.model.search.highlight import Highlight
from widerow.model.search.query import (
    MATCH_ALL,
    InnerHits,
    NestedQuery,
    PrimaryKeySort,
    Query,
    SearchSort,
)
from widerow.model.search.requests import InnerHit, Search
from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema
from widerow.model.values import Value
from widerow.search.documents import document_of
from widerow.search.fields import SearchFields
from widerow.search.index import DocumentChange, DocumentIndex
from widerow.search.results.highlight import Highlighter
from widerow.search.results.page import FoundPage, find_page

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


def rows_left(written: Iterable[tuple[bytes, dict[str, Value] | None]]) -> Rows:
    """What writes and deletions leave."""
    rows: Rows = {}
    for key, row in written:
        rows.pop(key, None)
        if row is not None:
            rows[key] = row
    return rows


def pages(index: DocumentIndex, schema: SearchSchema, request: Search) -> list[FoundPage]:
    """All pages, one by one by their tokens."""
    view = index.view()
    found: list[FoundPage] = []
    while True:
        page = find_page(view, schema, request, 0)
        found.append(page)
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


SLOWLY = settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)
BY_KEY = SearchSort((PrimaryKeySort(),))


@SLOWLY
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
    try:
        expected = plain_outcome(SearchReference(schema, rows_left(written)), request)
    except SeveralAnswers:
        return None
    index = index_of(schema, written)
    first = find_page(index.view(), schema, request, 0)
    found = []
    if first.total != expected.total:
        found.append(f"{first.total} rows instead of {expected.total}")
    found += order_differences(index, schema, request, expected)
    scores = dict(expected.hits)
    found += [
        f"a score of {each.score} instead of {scores.get(each.key)}"
        for each in first.hits
        if not math.isnan(each.score) and not same_number(each.score, scores.get(each.key))
    ]
    if not same_breakdowns(first.breakdown, expected.breakdown):
        found.append(f"{first.breakdown} instead of {expected.breakdown}")
    return found


def order_differences(
    index: DocumentIndex, schema: SearchSchema, request: Search, expected: SearchOutcome
) -> list[str]:
    """What is otherwise about the rows of all pages, in their order (search §5.1, §5.2)."""
    if request.sort is None or not request.sort.disable_default_pk_sorter:
        hits = [each.key for page in pages(index, schema, request) for each in page.hits]
        wanted = [key for key, _ in expected.hits]
        if not find_page(index.view(), schema, request, 0).token:
            wanted = wanted[: request.limit]
        return [] if hits == wanted else [f"keys {hits} instead of {wanted}"]
    # Rows that no sorter tells apart come in any order, and where a page ends among them the rest
    # is lost (search §5.2): each page begins strictly behind the last row of the one before.
    place_of = {key: at for (key, _), at in zip(expected.hits, expected.places, strict=True)}
    left, found, seen = list(expected.places), list[str](), set[bytes]()
    for page in pages(index, schema, request):
        places = [place_of[each.key] for each in page.hits]
        if places != left[: request.limit] or seen & {each.key for each in page.hits}:
            found.append(f"a page of {[each.key for each in page.hits]}: {places} of {left}")
        seen.update(each.key for each in page.hits)
        left = [each for each in left if places and each > places[-1]]
    return found


# --- inner hits and marks -------------------------------------------------------------------------


@SLOWLY
@given(st.data())
def test_inner_hits_and_marks_are_those_of_plain_loops(data: st.DataObject) -> None:
    """Search §4.4, §5.6."""
    schema, written = data.draw(tables())
    query = data.draw(queries(schema, scored=True))
    marks = data.draw(st.none() | highlights(schema))
    different = marked_differences(schema, written, query, marks)
    assume(different is not None)
    assert different == []


@pytest.mark.parametrize("of_rows", [None, Highlight(())])
@pytest.mark.parametrize("of_inner_hits", [None, Highlight(())])
def test_all_hits_have_highlights_where_some_were_asked_for(
    of_rows: Highlight | None, of_inner_hits: Highlight | None
) -> None:
    """Search §5.6: an empty one is in the answer, and no more than that."""
    word = SearchField("word", SearchFieldType.KEYWORD)
    schema = SearchSchema((SearchField("child", SearchFieldType.NESTED, fields=(word,)),))
    query = NestedQuery("child", MATCH_ALL, inner_hits=InnerHits(highlight=of_inner_hits))
    assert marked_differences(schema, [(b"key", {"child": "[{}]"})], query, of_rows) == []


def marked_differences(
    schema: SearchSchema,
    written: Sequence[tuple[bytes, dict[str, Value] | None]],
    query: Query,
    marks: Highlight | None,
) -> list[str] | None:
    """What is otherwise about the hits of all rows; None where several answers are right."""
    rows = rows_left(written)
    reference = SearchReference(schema, rows)
    request = Search("table", "index", query, limit=100, sort=BY_KEY, highlight=marks)
    # Each hit has highlights where some were asked for: of the rows, or of any inner hits.
    unmarked = () if marks is not None or "highlight=Highlight(" in repr(query) else None
    try:
        wanted = {
            each.key: (
                unmarked if marks is None else plain_highlights(reference, marks, query, each, ""),
                plain_inner_hits(reference, query, each, unmarked),
            )
            for each in reference.documents
            if each.key in reference.select(query, 100)
        }
    except SeveralAnswers:
        return None
    view = index_of(schema, written).view()
    marker = Highlighter(view, schema, request)
    found = []
    for hit in find_page(view, schema, request, 0).hits:
        told = marker.row(rows[hit.key]), marker.inner(hit.inner, rows[hit.key])
        marked, inner = wanted.pop(hit.key)
        if told[0] != marked or not same_inner(told[1], inner):
            found.append(f"{told} instead of {marked, inner}")
    return found + [f"{key!r} is missing" for key in wanted]


def same_inner(one: Sequence[InnerHit], other: Sequence[PlainInnerHits]) -> bool:
    return len(one) == len(other) and all(
        mine.path == theirs.path
        and len(mine.hits) == len(theirs.hits)
        and all(
            hit.nested_offset == wanted.offset
            and same_number(hit.score, float(wanted.score))
            and hit.highlights == wanted.highlights
            and same_inner(hit.inner, wanted.inner)
            for hit, wanted in zip(mine.hits, theirs.hits, strict=True)
        )
        for mine, theirs in zip(one, other, strict=True)
    )


# --- pages of groups ------------------------------------------------------------------------------


@SLOWLY
@given(st.data())
def test_pages_of_a_composite_are_all_of_its_groups(data: st.DataObject) -> None:
    """Search §6.3: each once and in order, and a token only where more follow."""
    schema, written = data.draw(tables())
    asked = data.draw(group_bys(schema, 0).filter(lambda each: type(each) is a.CompositeGroupBy))
    assert isinstance(asked, a.CompositeGroupBy)
    every = Search(
        "table", "index", limit=0, breakdown=a.Breakdown((), (replace(asked, name="g"),))
    )
    try:
        expected = plain_outcome(SearchReference(schema, rows_left(written)), every).breakdown
    except SeveralAnswers:
        reject()
    wanted = list(expected.group_bys[0].groups)
    view, size = index_of(schema, written).view(), data.draw(st.integers(1, 3))
    token, groups = None, list[a.SearchGroup]()
    while len(groups) <= len(wanted):
        part = replace(asked, name="g", size=size, token=token)
        request = replace(every, breakdown=a.Breakdown((), (part,)))
        (answer,) = find_page(view, schema, request, 0).breakdown.group_bys
        groups += answer.groups
        token = answer.token
        if token is None:
            break
        assert len(answer.groups) == size
        assert len(groups) < len(wanted)
    assert same_groups(groups, wanted)
