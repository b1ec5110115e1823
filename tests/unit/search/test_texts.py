"""Analyzers, and what is found by them (search §3, §4.3)."""

import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.search_index import index_of, keys_of, one_field

from widerow.errors import InvalidRequest
from widerow.model.search.query import (
    FunctionScoreQuery,
    MatchPhraseQuery,
    MatchQuery,
    Query,
    QueryOperator,
    TermQuery,
)
from widerow.model.search.schema import (
    AnalyzerName,
    SearchField,
    SearchFieldType,
    SearchSchema,
    TextAnalyzer,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import Value
from widerow.search.analyzers.analysis import analysis_of
from widerow.search.analyzers.dictionary import all_words, one_segmentation
from widerow.search.fields import SearchFields
from widerow.search.interface import TokenSpan
from widerow.search.queries.minimum import required_of
from widerow.search.queries.wildcards import Wildcard

_MAX_WORD = TextAnalyzer(AnalyzerName.MAX_WORD)
_TITLES = (
    "求推荐几款菊花茶店铺",
    "秋天最适合饮用的几种花茶",
    "苕溪边上有一大片野生菊花",
    "菊花茶是一款大部分人都适合的经典花茶",
)


@pytest.mark.parametrize(
    ("analyzer", "text", "tokens"),
    [
        (TextAnalyzer(), "杭州", ["杭", "州"]),
        (TextAnalyzer(), "Hang Zhou", ["hang", "zhou"]),
        (TextAnalyzer(case_sensitive=True), "Hang Zhou", ["Hang", "Zhou"]),
        (TextAnalyzer(), "IPhone6", ["iphone6"]),
        (TextAnalyzer(delimit_word=True), "IPhone6", ["iphone", "6"]),
        (TextAnalyzer(), "a_b カナ 한국 x-y", ["a", "b", "カ", "ナ", "한", "국", "x", "y"]),
        (TextAnalyzer(), "東京・大阪゠゛ー", ["東", "京", "大", "阪", "ー"]),
        (TextAnalyzer(), "佐々々 二〇〇", ["佐", "々", "々", "二", "〇", "〇"]),
        (TextAnalyzer(), "ΣΑΣ σας", ["σασ", "σασ"]),
        (TextAnalyzer(), "İstanbul ISTANBUL", ["istanbul", "istanbul"]),
        (TextAnalyzer(), "की का", ["की", "का"]),
        (TextAnalyzer(), "e\u0301te\u0301 מִלָּה", ["e\u0301te\u0301", "מִלָּה"]),
        (TextAnalyzer(delimit_word=True), "की2का", ["की", "2", "का"]),
        (TextAnalyzer(), "می\u200cخواهم", ["می\u200cخواهم"]),
        (TextAnalyzer(), "か\u3099き 葛\U000e0100飾", ["か\u3099", "き", "葛", "飾"]),
        (TextAnalyzer(), "\U00011013\U00011038 x", ["\U00011013\U00011038", "x"]),
        (TextAnalyzer(), "a👍🏽b 👨\u200d👩 1\ufe0f\u20e3", ["a", "b", "1"]),
        (
            TextAnalyzer(AnalyzerName.SPLIT, delimiter=","),
            "badminton,ping pong,rap",
            ["badminton", "ping pong", "rap"],
        ),
        (TextAnalyzer(AnalyzerName.SPLIT, delimiter=","), ",A,, b,", ["a", " b"]),
        (
            TextAnalyzer(AnalyzerName.SPLIT, delimiter="\n"),
            "ping pong \n\n  rap",
            ["ping pong", "rap"],
        ),
        (TextAnalyzer(AnalyzerName.SPLIT, delimiter=" "), "a  b\tc", ["a", "b", "c"]),
        (TextAnalyzer(AnalyzerName.SPLIT), " a  B\tc\0D ", ["a", "b", "c\0d"]),
        (
            TextAnalyzer(AnalyzerName.FUZZY, min_chars=2, max_chars=3),
            "AbCd",
            ["ab", "abc", "bc", "bcd", "cd"],
        ),
        (_MAX_WORD, "菊花茶", ["菊花", "菊花茶", "花茶"]),
        (_MAX_WORD, "梨花茶", ["梨花", "花茶"]),
        (_MAX_WORD, "用ABC123花茶 ", ["用", "abc123", "花茶"]),
        (TextAnalyzer(AnalyzerName.MIN_WORD), "菊花茶好", ["菊花茶", "好"]),
    ],
)
def test_tokens_of_a_text(analyzer: TextAnalyzer, text: str, tokens: list[str]) -> None:
    analysis = analysis_of(analyzer)
    assert analysis.tokens(text) == tokens
    placed = analysis.placed(text)
    assert [each.text for each in placed] == tokens
    assert [analysis.folded(text[each.start : each.stop]) for each in placed] == tokens


@given(st.text(alphabet="菊花茶是一款大部分人都适合的经典ab1 ，", max_size=30))
def test_words_of_the_dictionary_stand_where_they_are_said_to(text: str) -> None:
    placed = analysis_of(_MAX_WORD).placed(text)
    assert all(text[each.start : each.stop].lower() == each.text for each in placed)
    assert [each.start for each in placed] == sorted(each.start for each in placed)


_CHINESE = SearchFields(
    SearchSchema(
        (
            SearchField("t", SearchFieldType.TEXT, analyzer=_MAX_WORD),
            SearchField("pv", SearchFieldType.LONG),
        )
    )
)
_ROWS: dict[bytes, dict[str, Value]] = {
    b"%d" % number: {"t": title, "pv": pv}
    for number, (title, pv) in enumerate(zip(_TITLES, (25, 30, 0, 120), strict=True))
}


@pytest.mark.parametrize(
    ("rows", "query"),
    [
        (4, MatchQuery("t", "菊花茶")),
        (3, MatchQuery("t", "梨花茶")),
        (3, MatchQuery("t", "花茶")),
        (3, MatchQuery("t", "菊花")),
        (1, MatchQuery("t", "饮用花茶", QueryOperator.AND)),
        (3, MatchQuery("t", "饮用花茶")),
        (1, MatchQuery("t", "饮用花茶", minimum_should_match="2")),
        (1, MatchPhraseQuery("t", "野生菊花")),
        (0, MatchPhraseQuery("t", "秋天菊花")),
        (3, TermQuery("t", "花茶")),
    ],
)
def test_words_find_the_titles_that_the_service_finds(rows: int, query: Query) -> None:
    assert len(keys_of(index_of(_CHINESE, _ROWS).view(), query)) == rows


@pytest.mark.parametrize(
    "pieces",
    [
        "梨 花茶",  # as the service cuts it: of two ways with one word, the later word
        "菊花茶",  # one word is fewer than 菊花 or 花茶 and what it leaves
        "发展中国家",
        "南京市 长江大桥",
        "研究 生命 起源",  # 研究生 leaves 命 out
        "北京 大学生 前来 应聘",  # 北京大学 and 生前 leave 来 out
        "从 小学 毕业",  # not 从小 学
        "学 历史 知识",  # not 学历 史
        "使 用户 满意",  # not 使用 户
        "和平 等候",  # 平等 leaves 和 and 候 out
        "结婚 的 和 尚未 结婚 的",  # not 和尚 未
    ],
)
def test_min_word_takes_the_fewest_words_that_leave_the_least_out(pieces: str) -> None:
    # search §3
    analysis = analysis_of(TextAnalyzer(AnalyzerName.MIN_WORD))
    assert analysis.tokens(pieces.replace(" ", "")) == pieces.split()


@given(st.text("研究生命起源花茶", max_size=9))
def test_no_other_cut_has_more_in_words_or_fewer_of_them(run: str) -> None:
    def counted(pieces: list[tuple[int, int]]) -> tuple[int, int]:
        return sum(b - a == 1 for a, b in pieces), sum(b - a > 1 for a, b in pieces)

    def cuts(at: int) -> Iterator[list[tuple[int, int]]]:
        if at == len(run):
            yield []
        stops = {at + 1} | {stop for start, stop in all_words(run) if start == at}
        for stop in stops if at < len(run) else ():
            yield from ([(at, stop), *rest] for rest in cuts(stop))

    pieces = one_segmentation(run)
    assert "".join(run[a:b] for a, b in pieces) == run
    assert counted(pieces) == min(map(counted, cuts(0)))


def test_scores_are_those_that_the_service_computes() -> None:
    """int(score) is 53, 11 and 9 for the titles with 花茶, times their views (search §4.3)."""
    query = FunctionScoreQuery(MatchQuery("t", "花茶"), "pv")
    found = index_of(_CHINESE, _ROWS).view().select(query, scored=True)
    assert found.scores is not None
    assert sorted(map(int, found.scores), reverse=True) == [53, 11, 9]


def test_a_keyword_counts_by_how_rare_it_is() -> None:
    fields = one_field(SearchFieldType.KEYWORD)
    index = index_of(fields, {b"%d" % n: {"f": "x" if n < 2 else "y"} for n in range(8)})
    index.apply([])
    found = index.view().select(TermQuery("f", "x", 2.0), scored=True)
    assert found.scores is not None
    assert found.scores == pytest.approx([2 * math.log(1 + 6.5 / 2.5)] * 2)


@pytest.mark.parametrize(
    ("written", "count", "required"),
    [
        (None, 4, 1),
        ("2", 4, 2),
        ("9", 4, 9),
        ("-1", 4, 3),
        ("-9", 4, 0),
        ("75%", 4, 3),
        ("75%", 3, 2),
        ("-25%", 4, 3),
        ("-25%", 3, 3),
        ("2<75%", 2, 2),
        ("2<75%", 4, 3),
        ("2<-25% 9<-3", 9, 7),
        ("2<-25% 9<-3", 12, 9),
    ],
)
def test_how_many_tokens_have_to_match(written: str | None, count: int, required: int) -> None:
    assert required_of(written, count, absent=1) == required


@pytest.mark.parametrize("written", ["", "x", "1.5", "75 %", "2<", "<3", "2<75% x"])
def test_other_forms_of_a_minimum_are_refused(written: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        required_of(written, 4, absent=1)
    assert refused.value.rule is TablestoreRule.SEARCH_QUERY_MINIMUM


_WORDS = one_field(SearchFieldType.TEXT)


@pytest.mark.parametrize(
    ("text", "phrase", "slop", "score_tf"),
    [
        ("a b c", "a b c", 0, 1),
        ("a x b", "a b", 0, None),
        ("a x b", "a b", 1, 1 / 2),
        ("b a", "a b", 1, None),
        ("b a", "a b", 2, 1 / 3),
        ("a b a b", "a b", 0, 2),
        ("a x a", "a a", 1, 1 / 2),
        ("a x x", "a a", 5, None),
    ],
)
def test_phrases_with_a_slop(text: str, phrase: str, slop: int, score_tf: float | None) -> None:
    view = index_of(_WORDS, {b"1": {"f": text}}).view()
    found = view.select(MatchPhraseQuery("f", phrase, slop), scored=True)
    assert found.scores is not None
    if score_tf is None:
        assert found.count == 0
        return
    # search §4.1: the sum over the terms, as Lucene's; a word that comes twice counts twice
    idf = len(phrase.split()) * math.log(1 + 0.5 / 1.5)
    assert found.scores == pytest.approx([idf * score_tf * 2.2 / (score_tf + 1.2)])


def test_no_phrase_spans_two_texts_of_an_array() -> None:
    fields = one_field(SearchFieldType.TEXT, is_array=True)
    view = index_of(fields, {b"1": {"f": '["a b", "c d"]'}}).view()
    assert keys_of(view, MatchPhraseQuery("f", "a b")) == [b"1"]
    assert keys_of(view, MatchPhraseQuery("f", "c d")) == [b"1"]
    assert keys_of(view, MatchPhraseQuery("f", "b c")) == []


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_a_phrase_of_a_fuzzy_field_is_a_part_of_the_text(text: str, part: str) -> None:
    fields = one_field(
        SearchFieldType.TEXT, analyzer=TextAnalyzer(AnalyzerName.FUZZY, min_chars=2, max_chars=4)
    )
    view = index_of(fields, {b"1": {"f": text}}).view()
    expected = [b"1"] if len(part) >= 2 and part in text else []
    assert keys_of(view, MatchPhraseQuery("f", part)) == expected
    assert keys_of(view, MatchQuery("f", part)) == expected


@pytest.mark.parametrize("text", ["abc", "zza", "a b b"])
def test_a_match_of_a_fuzzy_field_needs_all_of_the_text_in_a_row(text: str) -> None:
    # search §3
    analyzer = TextAnalyzer(AnalyzerName.FUZZY, min_chars=1, max_chars=3)
    view = index_of(one_field(SearchFieldType.TEXT, analyzer=analyzer), {b"1": {"f": "a b c abac"}})
    assert keys_of(view.view(), MatchQuery("f", text)) == []
    assert keys_of(view.view(), MatchQuery("f", text, QueryOperator.AND)) == []
    assert keys_of(view.view(), MatchQuery("f", "c ABA")) == [b"1"]
    assert view.view().spans(MatchQuery("f", "b c"), "f", "a b c abac")


@given(st.text("ab*?\\", max_size=8), st.text("ab*?\\", max_size=8))
def test_wildcards_match_what_plain_recursion_matches(pattern: str, text: str) -> None:
    def plain(pattern: str, text: str) -> bool:
        if not pattern:
            return not text
        if pattern[0] == "*":
            return plain(pattern[1:], text) or (bool(text) and plain(pattern, text[1:]))
        if pattern[0] == "?":
            return bool(text) and plain(pattern[1:], text[1:])
        if pattern[0] == "\\" and len(pattern) > 1:
            pattern = pattern[1:]
        return bool(text) and text[0] == pattern[0] and plain(pattern[1:], text[1:])

    wildcard = Wildcard(pattern)
    assert wildcard.matches(text) == plain(pattern, text)
    assert not wildcard.is_prefix or wildcard.matches(text) == text.startswith(wildcard.prefix)
    assert not wildcard.is_part or wildcard.matches(text) == (wildcard.longest in text)


def test_spans_are_the_tokens_that_a_query_asks_for() -> None:
    view = index_of(_WORDS, {}).view()
    text = "Red fox, red dog"
    assert view.spans(MatchQuery("f", "red"), "f", text) == [TokenSpan(0, 3), TokenSpan(9, 12)]
    assert view.spans(MatchPhraseQuery("f", "red dog"), "f", text) == [
        TokenSpan(9, 12),
        TokenSpan(13, 16),
    ]
    assert view.spans(TermQuery("g", "red"), "f", text) == []


LETTERS = st.text(st.sampled_from("aİIıΣσςßeé\u0301कीािか\u3099葛 \u200d"), max_size=12)
ANALYZERS = [
    TextAnalyzer(),
    TextAnalyzer(delimit_word=True),
    TextAnalyzer(AnalyzerName.FUZZY, min_chars=1, max_chars=3),
    TextAnalyzer(AnalyzerName.FUZZY, min_chars=2, max_chars=2),
]


@pytest.mark.parametrize("analyzer", ANALYZERS)
@given(text=LETTERS)
def test_lower_case_is_as_long_and_finds_what_it_came_from(
    analyzer: TextAnalyzer, text: str
) -> None:
    analysis = analysis_of(analyzer)
    assert len(analysis.folded(text)) == len(text)
    tokens = analysis.tokens(text)
    assert all(analysis.folded(token) == token for token in tokens)
    fields = one_field(SearchFieldType.TEXT, analyzer=analyzer)
    index = index_of(fields, {b"row": {"f": text}})
    if tokens and (analysis.fuzzy is None or len(text) >= analysis.fuzzy[0]):
        assert keys_of(index.view(), MatchPhraseQuery("f", text)) == [b"row"]
        assert keys_of(index.view(), MatchPhraseQuery("f", analysis.folded(text))) == [b"row"]


def test_words_that_differ_in_marks_are_different() -> None:
    index = index_of(one_field(SearchFieldType.TEXT), {b"ki": {"f": "की"}, b"ka": {"f": "का"}})
    assert keys_of(index.view(), MatchQuery("f", "की")) == [b"ki"]
    assert keys_of(index.view(), MatchQuery("f", "क")) == []
