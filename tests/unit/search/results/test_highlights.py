"""Inner hits and the marks in texts (search §4.4, §5.6)."""

import html
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.search.results.asking import Asked, Index, T, key_of
from tests.unit.search.results.conftest import Make
from tests.unit.search.results.plain_index import PlainView

from widerow.errors import InvalidRequest
from widerow.model.search.highlight import (
    FragmentOrder,
    Highlight,
    HighlightEncoder,
    HighlightParameter,
)
from widerow.model.search.query import (
    BoolQuery,
    DocSort,
    FieldSort,
    InnerHits,
    MatchAllQuery,
    MatchQuery,
    NestedQuery,
    PrimaryKeySort,
    Query,
    SearchSort,
    SortOrder,
    TermQuery,
)
from widerow.model.search.requests import Search
from widerow.model.search.schema import SearchField, SearchSchema
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.interface import TokenSpan
from widerow.search.results.fragments import best_fragments
from widerow.search.results.highlight import Highlighter, highlight_columns
from widerow.wire.tablestore.errors.answers import foreign

PLAIN, HTML = HighlightEncoder


def text_field(name: str, **more: Asked) -> SearchField:
    return SearchField(name, T.TEXT, highlighting=True, **more)


def marked(
    text: str, *spans: tuple[int, int], encoder: HighlightEncoder = PLAIN, **parameter: Asked
) -> tuple[str, ...]:
    asked = HighlightParameter("t", pre_tag="<b>", post_tag="</b>", **parameter)
    return best_fragments([(text, [TokenSpan(*span) for span in spans])], asked, encoder)


def test_the_texts_of_the_python_suite() -> None:
    # search §5.6: max_word, query 花茶, size 18, one fragment
    text = "菊花茶是一款大部分人都适合的经典花茶"
    assert len(text) == 18
    expected = "菊<b>花茶</b>是一款大部分人都适合的经典<b>花茶</b>"
    assert marked(text, (1, 3), (16, 18), fragment_size=18) == (expected,)
    shorter = "求推荐几款菊花茶店铺"
    expected = "求推荐几款菊<b>花茶</b>店铺"
    assert marked(shorter, (6, 8), fragment_size=18) == (expected,)


def test_overlapping_tokens_are_marked_as_one() -> None:
    # search §5.6: max_word finds 菊花, 菊花茶, 花茶
    assert marked("菊花茶店", (0, 2), (0, 3), (1, 3)) == ("<b>菊花茶</b>店",)
    assert marked("abcd", (0, 2), (2, 4)) == ("<b>ab</b><b>cd</b>",)


def test_html_is_escaped_around_the_tags() -> None:
    # search §5.6, and G's assertion
    text = """xihu <em>street</em> & "a' b"""
    (found,) = marked(text, (0, 4), encoder=HTML)
    assert found == ("<b>xihu</b> &lt;em&gt;street&lt;&#x2F;em&gt; &amp; &quot;a&#x27; b")
    assert marked(text, (0, 4)) == (f"<b>xihu</b>{text[4:]}",)


def test_fragments_end_between_words_and_are_those_with_matches() -> None:
    text = "one two three four five six seven eight nine ten"
    places = [text.index(word) for word in ("two", "eight", "nine")]
    spans = [(place, place + len(text[place:].split(maxsplit=1)[0])) for place in places]
    found = marked(text, *spans, fragment_size=15, fragments=5)
    assert found[0].startswith("one <b>two</b> three")
    assert sum(each.count("<b>") for each in found) == 3
    assert all(len(each.replace("<b>", "").replace("</b>", "")) <= 15 for each in found)
    assert marked(text, *spans, fragment_size=15) == found[:1]
    best = marked(text, *spans, fragment_size=15, order=FragmentOrder.SCORE)
    assert [each.count("<b>") for each in best] == [max(each.count("<b>") for each in found)]
    assert len(marked(text, *spans, fragment_size=15, fragments=0)) == 1


def test_a_match_right_behind_a_fragment_makes_it_no_longer() -> None:
    """search §5.6: pieces of at most fragment_size characters."""
    assert marked("<<<<<<<aa<<<", (11, 12), fragment_size=4) == ("<b><</b>",)


TEXTS = st.text(st.sampled_from("ab 茶<&"), max_size=40)


@given(TEXTS, st.data())
def test_fragments_are_pieces_of_the_text(text: str, data: st.DataObject) -> None:
    """Without tags a fragment is a piece of the text, every match is marked, and none is cut."""
    spans = []
    place = 0
    while place < len(text) and data.draw(st.booleans()):
        start = data.draw(st.integers(place, len(text) - 1))
        stop = data.draw(st.integers(start + 1, len(text)))
        spans.append((start, stop))
        place = start
    size = data.draw(st.integers(1, 12))
    found = marked(text, *spans, fragment_size=size, fragments=1000)
    rest = text
    for each in found:
        bare = each.replace("<b>", "").replace("</b>", "")
        assert bare in rest
        rest = rest[rest.index(bare) + len(bare) :]
        longest = max(len(part.split("</b>")[0]) for part in each.split("<b>")[1:])
        assert len(bare) <= max(size, longest)
    covered = {place for span in spans for place in range(*span)}
    assert sum(
        len(part.split("</b>")[0]) for each in found for part in each.split("<b>")[1:]
    ) == len(covered)
    escaped = marked(text, *spans, encoder=HTML, fragments=0)
    bare = "".join(escaped).replace("<b>", "").replace("</b>", "")
    assert html.unescape(bare) == (text if spans else "")


SCHEMA = SearchSchema(
    (
        text_field("t"),
        text_field("ta", is_array=True),
        text_field("v", source="c"),
        SearchField("plain", T.TEXT),
        SearchField("k", T.KEYWORD),
        SearchField("o", T.JSON, fields=(text_field("t"),)),
    )
)


@pytest.mark.parametrize("depth", [1, 2, 500, 900])
def test_arrays_in_arrays_have_no_text_and_break_no_page(make: Make, depth: int) -> None:
    """As deep as a column may hold them."""
    text = "[" * depth + '"one two"' + "]" * depth
    index = make(SCHEMA, [{"ta": text}])
    found = row_highlights(index, {"ta": text}, MatchQuery("ta", "one"), "ta")
    assert found == ({"ta": ("<em>one</em> two",)} if depth == 1 else {})
    inside = f'{{"t": {text}}}'
    assert row_highlights(index, {"o": inside}, MatchQuery("o.t", "one"), "o.t").keys() == (
        {"o.t"} if depth == 1 else set()
    )


def row_highlights(
    index: Index, columns: dict[str, Any], query: Query, *names: str
) -> dict[str, tuple[str, ...]]:
    asked = Highlight(tuple(HighlightParameter(name, fragments=9) for name in names))
    request = Search("t", "i", query, highlight=asked)
    found = Highlighter(index.view, index.schema, request).row(columns)
    assert found is not None
    return dict(found)


def test_fields_are_read_from_their_columns(make: Make) -> None:
    columns = {
        "t": "red Fox",
        "ta": '["a fox", "none", "fox fox"]',
        "c": "the fox",
        "o": '[{"t": "fox"}, {"t": 1}]',
    }
    index = make(SCHEMA, [columns])
    query = BoolQuery(should=tuple(MatchQuery(n, "fox") for n in ("t", "ta", "v", "o.t")))
    assert row_highlights(index, columns, query, "t", "ta", "v", "o.t") == {
        "t": ("red <em>Fox</em>",),
        "ta": ("a <em>fox</em>", "<em>fox</em> <em>fox</em>"),
        "v": ("the <em>fox</em>",),
        "o.t": ("<em>fox</em>",),
    }
    asked = Highlight(tuple(HighlightParameter(name) for name in ("t", "v", "o.t")))
    request = Search("t", "i", highlight=asked)
    assert highlight_columns(SCHEMA, request) == ("c", "o", "t")


def test_fields_without_a_match_do_not_come(make: Make) -> None:
    # search §5.6
    columns = {"t": "red fox", "ta": "no json", "o": "[" * 100_000}
    index = make(SCHEMA, [{"t": "red fox"}])
    query = BoolQuery(should=(MatchQuery("t", "wolf"), MatchQuery("ta", "json")))
    assert row_highlights(index, columns, query, "t", "ta", "v", "o.t") == {}
    request = Search("t", "i", query)
    assert Highlighter(index.view, SCHEMA, request).row(columns) is None
    assert highlight_columns(SCHEMA, request) == ()


@pytest.mark.parametrize("name", ["plain", "k", "no", "o"])
def test_fields_that_are_not_kept_for_it_are_refused(make: Make, name: str) -> None:
    # search §5.6: exact text, P
    index = make(SCHEMA, [])
    with pytest.raises(InvalidRequest) as error:
        index.page(highlight=Highlight((HighlightParameter(name),)))
    assert foreign(error.value)[1:] == (
        "OTSParameterInvalid",
        f"highlighting is not supported for field[{name}]",
    )


@pytest.mark.parametrize(
    ("fragments", "size"), [(-1, 10), (1001, 10), (1, 0), (1, -5), (1, 2**31 - 1)]
)
def test_fragments_are_bounded(make: Make, fragments: int, size: int) -> None:
    asked = Highlight((HighlightParameter("t", fragments, size),))
    with pytest.raises(InvalidRequest) as error:
        make(SCHEMA, []).page(highlight=asked)
    assert error.value.rule is TablestoreRule.HIGHLIGHT_SIZE


# --- inner hits -------------------------------------------------------------------------------

NESTED = SearchSchema(
    (
        text_field("t"),
        SearchField(
            "n",
            T.NESTED,
            fields=(
                *(text_field("t"), SearchField("l", T.LONG)),
                SearchField("deep", T.NESTED, fields=(text_field("t"),)),
            ),
        ),
    )
)
COLUMNS: list[dict[str, Any]] = [
    {"n": '[{"t": "fox", "l": 3}, {"t": "wolf", "l": 1}, {"t": "fox fox", "l": 2}]'},
    {"n": '[{"t": "wolf", "l": 9}]'},
]
FOX = MatchQuery("n.t", "fox")


def inner_offsets(index: Index, query: Query) -> list[list[tuple[int, ...]]]:
    return [
        [document.offsets for found in hit.inner for document in found.documents]
        for hit in index.page(query=query, sort=SearchSort((PrimaryKeySort(),))).hits
    ]


def test_the_elements_that_match_come_best_first(make: Make) -> None:
    # search §4.4
    index = make(NESTED, COLUMNS)
    query = NestedQuery("n", FOX, inner_hits=InnerHits())
    (hit,) = index.page(query=query).hits
    (found,) = hit.inner
    assert found.query.path == "n"
    assert [document.offsets for document in found.documents] == [(2,), (0,)]
    assert found.documents[0].score > found.documents[1].score > 0
    either = BoolQuery(should=(query, MatchAllQuery()))
    assert inner_offsets(index, either) == [[(2,), (0,)], []]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (InnerHits(limit=1), [[(2,)]]),
        (InnerHits(offset=1), [[(0,)]]),
        (InnerHits(SearchSort((DocSort(),))), [[(0,), (2,)]]),
        (InnerHits(SearchSort((DocSort(SortOrder.DESC),)), 0, 1), [[(2,)]]),
        (InnerHits(SearchSort((FieldSort("n.l"),))), [[(2,), (0,)]]),
        (InnerHits(SearchSort((FieldSort("n.l", SortOrder.DESC),))), [[(0,), (2,)]]),
    ],
)
def test_inner_hits_have_an_order_and_a_window(
    make: Make, asked: InnerHits, expected: list[list[tuple[int, ...]]]
) -> None:
    index = make(NESTED, COLUMNS)
    assert inner_offsets(index, NestedQuery("n", FOX, inner_hits=asked)) == expected


def test_inner_hits_are_three_unless_said(make: Make) -> None:
    # search §4.4
    elements = ", ".join('{"t": "fox"}' for _ in range(9))
    index = make(NESTED, [{"n": f"[{elements}]"}])
    query = NestedQuery("n", FOX, inner_hits=InnerHits())
    assert inner_offsets(index, query) == [[(0,), (1,), (2,)]]


@pytest.mark.parametrize(("offset", "limit"), [(-1, 3), (0, -1), (0, 257), (256, 1)])
def test_inner_hits_are_bounded(make: Make, offset: int, limit: int) -> None:
    index = make(NESTED, COLUMNS)
    query = NestedQuery("n", FOX, inner_hits=InnerHits(None, offset, limit))
    with pytest.raises(InvalidRequest) as error:
        index.page(query=query)
    assert error.value.rule is TablestoreRule.INNER_HITS_WINDOW


def test_sorters_of_rows_are_refused_in_inner_hits(make: Make) -> None:
    asked = InnerHits(SearchSort((PrimaryKeySort(),)))
    with pytest.raises(InvalidRequest) as error:
        make(NESTED, COLUMNS).page(query=NestedQuery("n", FOX, inner_hits=asked))
    assert error.value.rule is TablestoreRule.SORT_PLACE


DEEP: dict[str, Any] = {
    "n": (
        '[{"t": "x", "deep": [{"t": "fox"}]},'
        ' {"t": "dengcai street", "deep": [{"t": "no"}, {"t": "a fox"}, {"t": "fox b"}]}]'
    )
}


def marks(name: str, tag: str) -> Highlight:
    return Highlight((HighlightParameter(name, pre_tag=f"<{tag}>", post_tag=f"</{tag}>"),))


def test_two_levels_of_inner_hits_are_marked(make: Make) -> None:
    # search §4.4: G asserts both levels
    index = make(NESTED, [DEEP])
    inside = NestedQuery(
        "n.deep",
        MatchQuery("n.deep.t", "fox"),
        inner_hits=InnerHits(highlight=marks("n.deep.t", "em")),
    )
    outside = NestedQuery(
        "n",
        BoolQuery(must=(inside, MatchQuery("n.t", "dengcai"))),
        inner_hits=InnerHits(highlight=marks("n.t", "b")),
    )
    request = Search("t", "i", outside)
    (hit,) = index.page(query=outside).hits
    assert hit.key == key_of(0)
    assert highlight_columns(NESTED, request) == ("n",)
    (found,) = Highlighter(index.view, NESTED, request).inner(hit.inner, DEEP)
    (level_1,) = found.hits
    assert (found.path, level_1.nested_offset, level_1.row) == ("n", 1, b"")
    assert level_1.highlights == (("n.t", ("<b>dengcai</b> street",)),)
    (deeper,) = level_1.inner
    assert deeper.path == "n.deep"
    assert [(each.nested_offset, each.highlights) for each in deeper.hits] == [
        (1, (("n.deep.t", ("a <em>fox</em>",)),)),
        (2, (("n.deep.t", ("<em>fox</em> b",)),)),
    ]


def test_inner_hits_below_a_query_without_them_belong_to_the_row(make: Make) -> None:
    index = make(NESTED, [DEEP])
    inside = NestedQuery(
        "n.deep",
        MatchQuery("n.deep.t", "fox"),
        inner_hits=InnerHits(highlight=marks("n.deep.t", "em")),
    )
    expected = [(0, 0), (1, 1), (1, 2)]
    for query in (inside, NestedQuery("n", inside), BoolQuery(must=(NestedQuery("n", inside),))):
        (hit,) = index.page(query=query).hits
        (found,) = hit.inner
        assert [document.offsets for document in found.documents] == expected
        (shown,) = Highlighter(index.view, NESTED, Search("t", "i", query)).inner(hit.inner, DEEP)
        texts = [
            text for each in shown.hits for _, parts in each.highlights or () for text in parts
        ]
        assert texts == ["<em>fox</em>", "a <em>fox</em>", "<em>fox</em> b"]


def test_rows_that_changed_since_are_marked_as_they_are(make: Make) -> None:
    index = make(NESTED, COLUMNS)
    query = NestedQuery("n", FOX, inner_hits=InnerHits(highlight=marks("n.t", "em")))
    (hit,) = index.page(query=query).hits
    highlighter = Highlighter(index.view, NESTED, Search("t", "i", query))
    for text in ("[]", "no json", '{"t": "fox"}', "[1, 2, 3]"):
        (found,) = highlighter.inner(hit.inner, {"n": text})
        assert [each.nested_offset for each in found.hits] == [2, 0]
    assert highlighter.inner(hit.inner, {})[0].hits[0].highlights == ()


def test_nested_fields_are_marked_in_inner_hits_only(make: Make) -> None:
    # search §5.6
    index = make(NESTED, COLUMNS)
    query = NestedQuery("n", FOX, inner_hits=InnerHits())
    request = Search("t", "i", query, highlight=marks("n.t", "em"))
    assert Highlighter(index.view, NESTED, request).row(COLUMNS[0]) == ()
    (hit,) = index.page(query=query).hits
    (found,) = Highlighter(index.view, NESTED, request).inner(hit.inner, COLUMNS[0])
    assert [each.highlights for each in found.hits] == [(), ()]


def test_every_hit_has_highlights_once_some_are_asked_for(make: Make) -> None:
    """Also a row, where inner hits alone ask: decoders look into each (search §5.6)."""
    index = make(NESTED, COLUMNS)
    query = NestedQuery("n", FOX, inner_hits=InnerHits(highlight=marks("n.t", "em")))
    assert Highlighter(index.view, NESTED, Search("t", "i", query)).row(COLUMNS[0]) == ()
    plain = Search("t", "i", replace(query, inner_hits=InnerHits()))
    assert Highlighter(index.view, NESTED, plain).row(COLUMNS[0]) is None


def test_what_must_not_match_has_no_inner_hits() -> None:
    index = Index(PlainView, NESTED, COLUMNS)
    nested = NestedQuery("n", FOX, inner_hits=InnerHits())
    query = BoolQuery(must_not=(nested,))
    assert inner_offsets(index, query) == [[]]
    assert inner_offsets(index, replace(nested, inner_hits=None)) == [[]]
    assert inner_offsets(index, TermQuery("t", "x")) == []
