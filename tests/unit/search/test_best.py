"""The best scores are found without looking at all, and are those of all (search §4.3, §5.1)."""

from typing import Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.volume import examples

from widerow.model.search.query import (
    BoolQuery,
    MatchPhraseQuery,
    MatchQuery,
    Query,
    QueryOperator,
    ScoreSort,
    SearchSort,
    TermQuery,
)
from widerow.model.search.requests import Search
from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema
from widerow.search.columns import TextColumn
from widerow.search.documents import document_of
from widerow.search.fields import SearchFields
from widerow.search.index import DocumentChange, DocumentIndex
from widerow.search.queries.best import best_places
from widerow.search.results.page import FoundHit, find_page

_SCHEMA: Final = SearchSchema((SearchField("t", SearchFieldType.TEXT),))
_FIELDS: Final = SearchFields(_SCHEMA)
_BY_SCORE: Final = SearchSort((ScoreSort(),))
_QUERIES: Final[tuple[Query, ...]] = (
    TermQuery("t", "often"),
    MatchQuery("t", "often seldom"),
    MatchQuery("t", "seldom often once", weight=2.5),
    MatchQuery("t", "often middle"),
    MatchQuery("t", "middle middle often"),
    MatchQuery("t", "absent often"),
    MatchQuery("t", "absent seldom"),
    MatchQuery("t", "often middle seldom", minimum_should_match="2"),
    MatchQuery("t", "often middle", QueryOperator.AND),
    MatchQuery("t", "seldom often seldom", QueryOperator.AND),
    MatchPhraseQuery("t", "often middle"),
    MatchPhraseQuery("t", "often often"),
    BoolQuery(should=(MatchQuery("t", "often seldom"), MatchQuery("t", "middle once"))),
)


def _text(random: np.random.Generator) -> str:
    """Words of which one stands in most texts, another one in few."""
    shares = (("often", 0.6), ("middle", 0.1), ("seldom", 0.01), ("once", 0.002), ("rest", 0.9))
    words = [name for name, share in shares for _ in range(3) if random.random() < share]
    random.shuffle(words)
    return " ".join(words)


def _index(seed: int, rows: int, deleted: int) -> DocumentIndex:
    random = np.random.default_rng(seed)
    index = DocumentIndex(_FIELDS)
    for start in range(0, rows, 1000):
        index.apply(
            DocumentChange(number.to_bytes(4), document_of(_FIELDS, (), {"t": _text(random)}), 1)
            for number in range(start, min(start + 1000, rows))
        )
    index.merge()
    gone = random.choice(rows, deleted, replace=False).tolist()
    index.apply(DocumentChange(number.to_bytes(4), None, 2) for number in gone)
    return index


@pytest.fixture(scope="module", params=[0, 1500], ids=["all alive", "a third deleted"])
def index(request: pytest.FixtureRequest) -> DocumentIndex:
    return _index(7, 5000, request.param)


@pytest.mark.parametrize("query", _QUERIES, ids=repr)
@pytest.mark.parametrize("limit", [1, 3, 10, 100, 1000])
def test_a_page_is_the_same_with_and_without_a_total(
    index: DocumentIndex, query: Query, limit: int
) -> None:
    """A total needs all that match; without one those with low scores are passed over."""
    pages = [
        find_page(
            index.view(),
            _SCHEMA,
            Search("", "", query, limit=limit, sort=_BY_SCORE, get_total_count=total),
            0,
        )
        for total in (False, True)
    ]
    assert pages[0].hits == pages[1].hits
    assert pages[0].token == pages[1].token
    assert len(pages[0].hits) == min(limit, pages[1].total)


@pytest.mark.parametrize("query", _QUERIES, ids=repr)
def test_pages_behind_tokens_go_on_where_the_best_ended(index: DocumentIndex, query: Query) -> None:
    wish = Search("", "", query, limit=1000, sort=_BY_SCORE)
    whole = find_page(index.view(), _SCHEMA, wish, 0).hits
    found: list[FoundHit] = []
    token = b""
    while len(found) < len(whole):
        wish = Search("", "", query, limit=300, sort=_BY_SCORE, token=token)
        page = find_page(index.view(), _SCHEMA, wish, 0)
        found.extend(page.hits)
        token = page.token
    assert tuple(found[: len(whole)]) == whole


def test_documents_with_frequent_words_alone_are_not_looked_at(
    index: DocumentIndex,
) -> None:
    """MaxScore: what a frequent word counts at most is less than what ten others have."""
    found = index.view().select(MatchQuery("t", "often seldom"), scored=True, best=10)
    every = index.view().select(MatchQuery("t", "often seldom"), scored=True)
    assert 10 <= found.count < every.count / 10


@settings(max_examples=examples(300))
@given(
    st.lists(st.sampled_from((0.0, 0.5, 1.0, 1.5, 2.0)), max_size=700),
    st.integers(1, 20),
    st.sampled_from((-np.inf, 0.5, 1.0, 3.0)),
)
def test_the_best_of_scores_are_those_of_a_sorted_list(
    scores: list[float], count: int, floor: float
) -> None:
    places, new = best_places(np.array(scores), count, floor)
    above = sorted((each for each in scores if each >= floor), reverse=True)
    least = max(floor, above[count - 1]) if len(above) >= count else floor
    assert places.tolist() == [at for at, each in enumerate(scores) if each >= least]
    assert new == least


def test_scores_that_are_no_numbers_stay() -> None:
    scores = np.full(1000, np.nan)
    places, floor = best_places(scores, 3, -np.inf)
    assert len(places) == 1000
    assert floor == -np.inf


def test_documents_and_places_of_a_token_follow_the_texts() -> None:
    """In segments that were built and merged, with documents deleted between."""
    random = np.random.default_rng(3)
    texts = {number: _text(random) for number in range(2500)}
    index = DocumentIndex(_FIELDS)
    order = random.permutation(2500).tolist()  # parts of a merge that lie between each other
    for start in range(0, 2500, 500):
        index.apply(
            DocumentChange(n.to_bytes(4), document_of(_FIELDS, (), {"t": texts[n]}), 1)
            for n in order[start : start + 500]
        )
    index.apply(DocumentChange(n.to_bytes(4), None, 2) for n in range(0, 2500, 7))
    segment = index.excerpt([n.to_bytes(4) for n in range(2500) if n % 7])
    kept = [n for n in range(2500) if n % 7]
    column = segment.tables[0].column(_FIELDS.root.by_name["t"])
    assert isinstance(column, TextColumn)
    for number, term in enumerate(column.terms):
        stands = [
            [at for at, word in enumerate(texts[n].split()) if word == term.decode()] for n in kept
        ]
        found = column.postings(number)
        assert found.documents.tolist() == [at for at, each in enumerate(stands) if each]
        assert found.frequencies.tolist() == [len(each) for each in stands if each]
        places = column.places(number, np.arange(len(found.documents)))
        assert places.tolist() == [
            document << 20 | at for document, each in enumerate(stands) for at in each
        ]
