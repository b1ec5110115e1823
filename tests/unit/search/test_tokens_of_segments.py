"""The tokens of a segment are those of its texts, at their places (search §3, §11.5)."""

from collections import defaultdict

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from widerow.model.search.schema import AnalyzerName, SearchField, SearchFieldType, SearchSchema
from widerow.model.search.schema import TextAnalyzer as Analyzer
from widerow.search.analyzers.analysis import analysis_of
from widerow.search.columns import POSITION_BITS, TextColumn
from widerow.search.documents import document_of, token_count
from widerow.search.fields import SearchFields
from widerow.search.segments import Entry, segment_of

ANALYZERS = (
    None,
    Analyzer(AnalyzerName.SINGLE_WORD, case_sensitive=True),
    Analyzer(AnalyzerName.SINGLE_WORD, delimit_word=True),
)
WORDS = ("a", "A", "b", "ab", "seventy", "eightyes", "nineteens", "eightyesZ", "x" * 40, "é", "茶")
Found = dict[bytes, dict[int, list[int]]]
TEXTS = st.lists(st.sampled_from((*WORDS, " ", "-", "\0", "\n", "_", "7", "\x7f"))).map("".join)


def in_segment(fields: SearchFields, texts: list[str | None]) -> tuple[Found, list[int]]:
    documents = [document_of(fields, (), {} if text is None else {"t": text}) for text in texts]
    entries = [Entry(b"%03d" % at, each, 0) for at, each in enumerate(documents)]
    column = segment_of(fields, entries).tables[0].column(fields.root.fields[0])
    assert isinstance(column, TextColumn)
    found: Found = {}
    for number, term in enumerate(column.terms):
        documents_of, _ = column.postings(number)
        places = column.places(number, np.arange(len(documents_of))).tolist()
        found[term] = defaultdict(list)
        for place in places:
            found[term][place >> POSITION_BITS].append(place & ((1 << POSITION_BITS) - 1))
    assert list(found) == sorted(found)
    lengths: list[int] = column.lengths.tolist()
    for document, length in zip(documents, lengths, strict=True):
        assert token_count(document) >= max(length, 0)
    return found, lengths


@given(st.lists(st.none() | TEXTS, min_size=1, max_size=8), st.sampled_from(ANALYZERS))
@example(["eightyes eightyesZ", "eightyes", "é eightyes a", None, "a é"], None)
@example(["", None, " "], None)
@example([None], None)
@example(["a b", "b a b"], None)
@example([" ".join(f"word{n}" for n in range(70_000)), "word7"], None)  # more than 16 bits number
def test_a_segment_has_the_tokens_of_its_texts(
    texts: list[str | None], analyzer: Analyzer | None
) -> None:
    field = SearchField("t", SearchFieldType.TEXT, analyzer=analyzer)
    fields = SearchFields(SearchSchema((field,)))
    analysis = analysis_of(analyzer or Analyzer())
    expected: Found = {}
    for document, text in enumerate(texts):
        for position, token in enumerate([] if text is None else analysis.tokens(text)):
            places = expected.setdefault(token.encode(), defaultdict(list))
            places[document].append(position)
    found, lengths = in_segment(fields, texts)
    assert found == expected
    assert lengths == [-1 if text is None else len(analysis.tokens(text)) for text in texts]
