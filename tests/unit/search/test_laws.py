"""Laws of an index: how it came about does not change what it answers (search §11.5, §11.7)."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.search_index import MemoryFiles
from tests.support.volume import examples

from widerow.errors import IndexDamaged
from widerow.model.search.query import (
    MATCH_ALL,
    BoolQuery,
    ExistsQuery,
    KnnVectorQuery,
    MatchPhraseQuery,
    MatchQuery,
    NestedQuery,
    NestedScoreMode,
    PrefixQuery,
    Query,
    RangeQuery,
    TermQuery,
    WildcardQuery,
)
from widerow.model.search.schema import (
    SearchField,
    SearchFieldType,
    SearchSchema,
    VectorMetric,
    VectorOptions,
)
from widerow.model.values import Value
from widerow.search import index as index_module
from widerow.search import terms as terms_module
from widerow.search.documents import document_of
from widerow.search.fields import SearchFields
from widerow.search.index import DocumentChange, DocumentIndex
from widerow.search.terms import SortedTerms, packed, united
from widerow.search.view import SegmentedView

_T = SearchFieldType
_FIELDS: Final = SearchFields(
    SearchSchema(
        (
            SearchField("k", _T.KEYWORD),
            SearchField("t", _T.TEXT),
            SearchField("l", _T.LONG, is_array=True),
            SearchField("d", _T.DOUBLE),
            SearchField("g", _T.GEO_POINT),
            SearchField("v", _T.VECTOR, vector=VectorOptions(2, VectorMetric.EUCLIDEAN)),
            SearchField(
                "n", _T.NESTED, fields=(SearchField("x", _T.LONG), SearchField("t", _T.TEXT))
            ),
        )
    )
)
_WORDS: Final = ("a", "b", "ab", "b a", "a b a", "c", "")
_SMALL = st.integers(0, 3)
_ROW = st.fixed_dictionaries(
    {},
    optional={
        "k": st.sampled_from(("x", "xy", "y")),
        "t": st.sampled_from(_WORDS),
        "l": st.sampled_from(("[]", "[1]", "[2, 1, 2]", "[0, 3]")),
        "d": st.sampled_from((0.5, 1.5)),
        "g": st.sampled_from(("1,1", "2,2")),
        "v": st.sampled_from(("[0, 0]", "[1, 0]", "[2, 2]")),
        "n": st.sampled_from(
            ("[]", '[{"x": 1}]', '[{"x": 1, "t": "a b"}, {"x": 2, "t": "a"}]', '[{"t": "b"}]')
        ),
    },
)
_KEYS = st.integers(0, 12).map(lambda number: b"key-%d" % number)
_WRITE = st.tuples(_KEYS, st.none() | _ROW)
_HISTORY = st.lists(st.lists(_WRITE, max_size=4), max_size=8)
_QUERIES: Final[tuple[Query, ...]] = (
    MATCH_ALL,
    TermQuery("k", "x"),
    MatchQuery("t", "a c"),
    MatchPhraseQuery("t", "b a"),
    MatchPhraseQuery("t", "a b", slop=2),
    RangeQuery("l", 2, include_start=True),
    PrefixQuery("k", "x"),
    WildcardQuery("k", "*y"),
    ExistsQuery("d"),
    NestedQuery("n", MatchQuery("n.t", "a"), NestedScoreMode.AVG),
    BoolQuery(should=(TermQuery("k", "x"), MatchQuery("t", "b")), must_not=(ExistsQuery("d"),)),
    KnnVectorQuery("v", (1.0, 0.5), 3),
    KnnVectorQuery("v", (1.0, 0.5), 2, ExistsQuery("k")),
)


def _changes(writes: list[tuple[bytes, dict[str, Value] | None]]) -> list[DocumentChange]:
    return [
        DocumentChange(key, None if row is None else document_of(_FIELDS, (), row), 0)
        for key, row in writes
    ]


def _answers(view: SegmentedView) -> list[Any]:
    """All that can be seen of a view, in the order of the keys."""
    answers: list[Any] = [view.rows]
    for query in _QUERIES:
        plain, scored = (view.select(query, scored=each) for each in (False, True))
        assert scored.scores is not None
        order, ranks = np.argsort(scored.key_ranks()), plain.key_ranks()
        keys = scored.keys(order)
        assert keys == sorted(keys) == sorted(set(plain.keys(np.argsort(ranks))))
        scores = {key: float(scored.scores[at]) for key, at in zip(keys, order, strict=True)}
        answers.append({key: pytest.approx(score, abs=1e-12) for key, score in scores.items()})
        for key in (*keys[:2], b"", b"key-5", b"key-55", b"z"):
            low, high = plain.rank_bounds(key)
            for each, rank in zip(plain.keys(np.arange(plain.count)), ranks, strict=True):
                assert (each < key) == (rank < low)
                assert (each > key) == (rank >= high)
    every = view.select(MATCH_ALL, scored=False)
    keys = every.keys(np.arange(every.count))
    for name in ("k", "l", "d", "g", "n.x"):
        found = every.values(name)
        assert found.owners.tolist() == sorted(found.owners.tolist())
        values = found.values.tolist()
        if found.terms is not None:
            assert list(found.terms) == sorted(set(found.terms))
            values = [found.terms[value] for value in values]
        assert not found.single or found.owners.tolist() == list(range(every.count))
        by_key: dict[bytes, list[Any]] = {}
        for owner, value in zip(found.owners.tolist(), values, strict=True):
            by_key.setdefault(keys[owner], []).append(value)
        answers.append(by_key)
    return answers


def _final(history: list[list[tuple[bytes, dict[str, Value] | None]]]) -> DocumentIndex:
    """The index of what is left of a history, written at once."""
    rows = {key: row for batch in history for key, row in batch}
    index = DocumentIndex(_FIELDS)
    index.apply(_changes(list(rows.items())))
    return index


@pytest.fixture(autouse=True, scope="module")
def _small_segments() -> Iterator[None]:
    """Segments become large with a few documents, so that short histories have several."""
    patch = pytest.MonkeyPatch()
    patch.setattr(index_module, "SEARCH_PENDING_DOCUMENTS_MAX", 6)
    patch.setattr(index_module, "SEARCH_TAIL_DOCUMENTS", 2)
    patch.setattr(index_module, "SEARCH_SMALL_DOCUMENTS", 3)
    patch.setattr(index_module, "SEARCH_SMALL_DOCUMENTS_MAX", 12)
    patch.setattr(index_module, "SEARCH_SMALL_SEGMENTS_MAX", 4)
    patch.setattr(index_module, "SEARCH_ASKED_CHANGES", 10)
    patch.setattr(index_module, "SEARCH_MERGE_FACTOR", 2)
    patch.setattr(terms_module, "_FEW", 0)
    yield
    patch.undo()


@pytest.mark.parametrize("row", [None, {"k": "y"}])
def test_a_row_of_a_small_segment_goes_when_it_is_written_again(
    row: dict[str, Value] | None,
) -> None:
    """One case of the next law, which its examples do not always have."""
    index = DocumentIndex(_FIELDS)
    first: list[tuple[bytes, dict[str, Value] | None]] = [
        (b"key-%d" % n, {"k": "x"}) for n in range(3)
    ]
    index.apply(_changes(first))
    assert _answers(index.view()) == _answers(_final([first]).view())
    again = [(b"key-1", row)]
    index.apply(_changes(again))
    assert _answers(index.view()) == _answers(_final([first, again]).view())


def test_small_segments_are_gathered_as_they_are_when_that_is_adopted() -> None:
    """search §11.5: what is written while they are merged is not lost, and what is gone is gone."""
    index = DocumentIndex(_FIELDS)
    history: list[list[tuple[bytes, dict[str, Value] | None]]] = [
        [(b"key-%02d" % (10 * at + n), {"k": "x"}) for n in range(2)] for at in range(3)
    ]
    for batch in history:
        _ = index.view().rows
        index.apply(_changes(batch))
    _ = index.view().rows
    index.apply([])
    due = index.due_gathering()
    assert due is not None
    assert len(due.parts) == index.segments == 3
    merged = due.run()
    later: list[tuple[bytes, dict[str, Value] | None]] = [
        (b"key-00", None),
        (b"key-10", {"k": "y"}),
        (b"key-99", {"k": "z"}),
    ]
    index.apply(_changes(later))
    assert index.install(merged)
    assert not index.install(merged), "its parts are not there any more"
    assert index.segments == 2
    assert _answers(index.view()) == _answers(_final([*history, later]).view())


@settings(deadline=None, max_examples=examples(20))
@given(_HISTORY, st.data())
def test_segments_and_merges_do_not_change_an_answer(
    history: list[list[tuple[bytes, dict[str, Value] | None]]], data: st.DataObject
) -> None:
    index = DocumentIndex(_FIELDS)
    pending = None
    for batch in history:
        step = data.draw(st.sampled_from(("", "view", "merge", "begin", "gather", "end")))
        if step == "view":
            _ = index.view().rows
        elif step == "gather" and pending is None:
            pending = index.due_gathering()
        elif step == "merge":
            index.merge()
        elif step == "begin" and pending is None:
            pending = index.due_merge()
        elif step == "end" and pending is not None:
            index.install(pending.run())
            pending = None
        index.apply(_changes(batch))
    assert _answers(index.view()) == _answers(_final(history).view())


@settings(deadline=None, max_examples=10)
@given(_HISTORY, _HISTORY)
def test_an_index_from_files_is_the_one_that_was_written(
    before: list[list[tuple[bytes, dict[str, Value] | None]]],
    after: list[list[tuple[bytes, dict[str, Value] | None]]],
) -> None:
    files = MemoryFiles()
    index = DocumentIndex(_FIELDS)
    for batch in before:
        index.apply(_changes(batch))
        index.checkpoint(files, b"state")
    index.checkpoint(files, b"last")
    found = DocumentIndex.open(_FIELDS, files)
    assert found is not None
    opened, state = found
    assert state == b"last"
    opened.verify()
    assert _answers(opened.view()) == _answers(_final(before).view())
    for batch in after:
        opened.apply(_changes(batch))
        opened.merge()
    assert _answers(opened.view()) == _answers(_final([*before, *after]).view())


@settings(deadline=None, max_examples=10)
@given(_HISTORY, _HISTORY)
def test_a_view_stays_as_it_is(
    before: list[list[tuple[bytes, dict[str, Value] | None]]],
    after: list[list[tuple[bytes, dict[str, Value] | None]]],
) -> None:
    index = DocumentIndex(_FIELDS)
    for batch in before:
        index.apply(_changes(batch))
    asked, not_asked = index.view(), index.view()
    expected = _answers(asked)
    for batch in after:
        index.apply(_changes(batch))
        index.merge()
    assert _answers(asked) == expected
    assert _answers(not_asked) == expected


_TERMS = st.lists(
    st.binary(max_size=12)
    | st.lists(st.sampled_from([b"\0", b"b", b"a" * 7]), max_size=8).map(b"".join),
    max_size=30,
)
"""Some begin in the same way for longer than what is compared at once."""


@settings(deadline=None)
@given(_TERMS, _TERMS)
@pytest.mark.parametrize("few", [0, 100])
def test_sorted_terms_are_searched_and_united_as_sets_are(
    few: int, one: list[bytes], other: list[bytes]
) -> None:
    first, second = packed(sorted(set(one))), packed(sorted(set(other)))
    places, equal = first.search(second)
    assert places.tolist() == [sum(each < term for each in first) for term in second]
    assert equal.tolist() == [term in set(one) for term in second]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms_module, "_FEW", few)
        whole, maps = united([first, second])
    assert list(whole) == whole.listed() == sorted({*one, *other})
    for part, moved in zip((first, second), maps, strict=True):
        assert [whole[number] for number in moved.tolist()] == list(part)


@given(st.lists(st.binary(max_size=6), max_size=20), st.binary(min_size=1, max_size=3))
def test_parts_are_found_inside_terms_only(given_terms: list[bytes], part: bytes) -> None:
    terms: SortedTerms = packed(sorted(set(given_terms)))
    assert terms.containing(part).tolist() == [
        number for number, term in enumerate(terms) if part in term
    ]
    first, beyond = terms.beginning_with(part)
    assert list(terms[first:beyond]) == [term for term in terms if term.startswith(part)]


def test_rows_that_are_too_old_are_not_seen() -> None:
    index = DocumentIndex(_FIELDS)
    index.apply(
        [DocumentChange(b"%d" % n, document_of(_FIELDS, (), {"d": 0.5}), n) for n in range(9)]
    )
    view = index.view(written_from_ms=4)
    assert view.rows == view.select(MATCH_ALL, scored=False).count == 5


def test_every_changed_byte_of_a_file_is_noticed() -> None:
    """An index of damaged files is not opened, or says so when it comes upon the damage."""
    files = MemoryFiles()
    index = DocumentIndex(_FIELDS)
    index.apply(
        _changes([(b"%d" % n, {"k": "x", "t": "a b", "l": "[1]", "v": "[1, 2]"}) for n in range(5)])
    )
    index.apply(_changes([(b"1", None)]))
    index.checkpoint(files, b"state")
    for name, content in list(files.contents.items()):
        for at in range(len(content)):
            changed = bytearray(content)
            changed[at] ^= 0xFF
            files.contents[name] = bytes(changed)
            assert not _usable(files), (name, at)
        for length in (0, 1, len(content) // 2, len(content) - 1):
            files.contents[name] = content[:length]
            assert not _usable(files), (name, length)
        del files.contents[name]
        assert not _usable(files), name
        files.contents[name] = content
    assert _usable(files)


def _usable(files: MemoryFiles) -> bool:
    found = DocumentIndex.open(_FIELDS, files)
    if found is None:
        return False
    try:
        found[0].verify()
    except IndexDamaged:
        return False
    return True


def test_files_of_another_schema_are_not_opened() -> None:
    files = MemoryFiles()
    DocumentIndex(_FIELDS).checkpoint(files, b"")
    assert DocumentIndex.open(_FIELDS, files) is not None
    other = SearchFields(SearchSchema((SearchField("k", _T.KEYWORD),)))
    assert DocumentIndex.open(other, files) is None
