"""Inner hits and highlights of the documents that `search_reference` finds, by plain loops.

Written from the page (search §4.4, §5.6), without code of `widerow.search`. Texts are marked as
wholes: where a fragment would be a part of its text, the page allows several cuts.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any, Final

from tests.support.search_outcomes import clear_scores, compared, placing, sorted_by
from tests.support.search_reference import SearchReference, SeveralAnswers, wildcard_form
from tests.support.search_rows import PlainDocument, plain_tokens

from widerow.model.search import query as q
from widerow.model.search.highlight import (
    FragmentOrder,
    Highlight,
    HighlightEncoder,
    HighlightParameter,
)
from widerow.model.search.schema import AnalyzerName, TextAnalyzer

__all__ = ["PlainHit", "PlainInnerHits", "plain_highlights", "plain_inner_hits"]

_HTML: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;", "/": "&#x2F;"}
_Token = tuple[int, int, str]
Highlighted = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class PlainHit:
    """A document below a row that matched, its place in its array, and its own inner hits."""

    offset: int
    score: float
    highlights: Highlighted | None
    inner: "tuple[PlainInnerHits, ...]"


@dataclass(frozen=True)
class PlainInnerHits:
    """The documents that a nested query found below one document."""

    path: str
    hits: tuple[PlainHit, ...]


# --- inner hits -----------------------------------------------------------------------------------


def plain_inner_hits(
    reference: SearchReference,
    query: q.Query,
    document: PlainDocument,
    unmarked: Highlighted | None,
) -> tuple[PlainInnerHits, ...]:
    """What the nested queries that ask for inner hits find below a document (search §4.4).

    `unmarked`: the highlights of hits for which none were asked. Raises: `SeveralAnswers`.
    """
    found = []
    for each in _nested_queries(query):
        if each.inner_hits is None:
            if any(True for _ in _nested_queries(each.query)):
                raise SeveralAnswers("where hits of a query within another one belong")
            continue
        hits = _inner(reference, each, each.inner_hits, document, unmarked)
        if hits:
            found.append(PlainInnerHits(each.path, hits))
    return tuple(found)


def _nested_queries(query: q.Query) -> Iterator[q.NestedQuery]:
    if isinstance(query, q.NestedQuery):
        yield query
        return
    for each in _parts(query):
        yield from _nested_queries(each)


def _parts(query: q.Query) -> tuple[q.Query, ...]:
    """The queries inside another one that may have made a document match."""
    match query:
        case q.BoolQuery():
            return (*query.must, *query.filter, *query.should)
        case q.DisMaxQuery():
            return query.queries
        case q.ConstScoreQuery():
            return (query.filter,)
        case q.FunctionScoreQuery() | q.FunctionsScoreQuery() | q.NestedQuery():
            return (query.query,)
        case _:
            return ()


def _inner(
    reference: SearchReference,
    nested: q.NestedQuery,
    asked: q.InnerHits,
    document: PlainDocument,
    unmarked: Highlighted | None,
) -> tuple[PlainHit, ...]:
    matching = [
        (place, each, score)
        for place, each in enumerate(document.below(nested.path))
        if (score := reference.score(nested.query, each, nested.path)) is not None
    ]
    clear_scores(sorted(score for _, _, score in matching))
    sorters = asked.sort.sorters if asked.sort else (q.ScoreSort(), q.DocSort())

    def compare(
        one: tuple[int, PlainDocument, float], other: tuple[int, PlainDocument, float]
    ) -> int:
        for each in sorters:
            match each:
                case q.ScoreSort(order):
                    found = compared(one[2], other[2], order)
                case q.DocSort(order):
                    found = compared(one[0], other[0], order)
                case q.FieldSort():
                    mine, theirs = (
                        sorted_by(reference, each, there[1], nested.path) for there in (one, other)
                    )
                    found = placing(mine, theirs, each)
                case _:
                    raise NotImplementedError(f"{each} does not sort documents below rows")
            if found:
                return found
        return one[0] - other[0]

    ordered = sorted(matching, key=cmp_to_key(compare))
    return tuple(
        PlainHit(
            each.offset,
            score,
            unmarked
            if asked.highlight is None
            else plain_highlights(reference, asked.highlight, nested, each, nested.path),
            plain_inner_hits(reference, nested.query, each, unmarked),
        )
        for _, each, score in ordered[asked.offset : asked.offset + asked.limit]
    )


# --- highlights -----------------------------------------------------------------------------------


def plain_highlights(
    reference: SearchReference,
    asked: Highlight,
    query: q.Query,
    document: PlainDocument,
    level: str,
) -> Highlighted:
    """The marked texts of a document of a level (search §5.6). Raises: `SeveralAnswers`."""
    found = []
    for each in asked.parameters:
        path, field = reference.fields[each.field]
        if path != level:
            continue
        analyzer = field.analyzer or TextAnalyzer()
        if analyzer.name is not AnalyzerName.SINGLE_WORD:
            raise SeveralAnswers("where tokens of this analyzer stand is not looked for here")
        fragments = _fragments(each, asked.encoder, analyzer, query, document)
        if fragments:
            found.append((each.field, fragments))
    return tuple(found)


def _fragments(
    asked: HighlightParameter,
    encoder: HighlightEncoder,
    analyzer: TextAnalyzer,
    query: q.Query,
    document: PlainDocument,
) -> tuple[str, ...]:
    marked: list[tuple[int, str]] = []
    for text in document.values.get(asked.field, ()):
        tokens = _tokens(analyzer, text)
        spans = sorted(
            {
                token
                for leaf in _leaves(query)
                if leaf.field == asked.field
                for token in _asked_for(analyzer, leaf, tokens)
            }
        )
        if not spans:
            continue
        if len(text) > asked.fragment_size:
            raise SeveralAnswers("a fragment is a part of its text")
        marked.append((len(spans), _tagged(text, spans, asked, encoder)))
    if asked.order is FragmentOrder.SCORE:
        marked.sort(key=lambda each: -each[0])
    return tuple(text for _, text in marked[: asked.fragments])


def _tokens(analyzer: TextAnalyzer, text: str) -> list[_Token]:
    """The tokens of a text and where each stands."""
    folded = text if analyzer.case_sensitive else text.lower()
    found, place = [], 0
    for token in plain_tokens(analyzer, text):
        start = folded.index(token, place)
        place = start + len(token)
        found.append((start, place, token))
    return found


def _leaves(query: q.Query) -> Iterator[Any]:
    """The queries of fields that may have made a document match."""
    if type(query) in _TOKENS:
        yield query
    for each in _parts(query):
        yield from _leaves(each)


def _asked_for(analyzer: TextAnalyzer, leaf: Any, tokens: Sequence[_Token]) -> list[_Token]:  # noqa: ANN401  # a query of a field
    if isinstance(leaf, q.MatchPhraseQuery):
        if leaf.slop:
            raise SeveralAnswers("which words of a phrase with gaps are marked")
        words = plain_tokens(analyzer, leaf.text)
        there = [word for _, _, word in tokens]
        starts = [
            at
            for at in range(len(there) - len(words) + 1)
            if words and there[at : at + len(words)] == words
        ]
        return [tokens[at + place] for at in starts for place in range(len(words))]
    wanted = _TOKENS[type(leaf)](analyzer, leaf)
    return [token for token in tokens if wanted(token[2])]


def _in_range(leaf: q.RangeQuery) -> Callable[[str], bool]:
    low, high = (None if each is None else str(each).encode() for each in (leaf.start, leaf.stop))

    def inside(token: str) -> bool:
        word = token.encode()
        above = low is None or word > low or (leaf.include_start and word == low)
        return above and (high is None or word < high or bool(leaf.include_stop and word == high))

    return inside


def _wanted_form(form: str) -> Callable[[str], bool]:
    pattern = re.compile(wildcard_form(form), re.DOTALL)
    return lambda token: pattern.fullmatch(token) is not None


_TOKENS: Final[dict[type, Callable[[TextAnalyzer, Any], Callable[[str], bool]]]] = {
    q.TermQuery: lambda _, leaf: str(leaf.term).__eq__,
    q.TermsQuery: lambda _, leaf: {str(each) for each in leaf.terms}.__contains__,
    q.MatchQuery: lambda analyzer, leaf: set(plain_tokens(analyzer, leaf.text)).__contains__,
    q.MatchPhraseQuery: lambda _, __: lambda _: False,  # phrases match by position: see above
    q.PrefixQuery: lambda _, leaf: lambda token: token.startswith(leaf.prefix),
    q.WildcardQuery: lambda _, leaf: _wanted_form(leaf.value),
    q.RangeQuery: lambda _, leaf: _in_range(leaf),
}


def _tagged(
    text: str, spans: Sequence[_Token], asked: HighlightParameter, encoder: HighlightEncoder
) -> str:
    def shown(part: str) -> str:
        if encoder is HighlightEncoder.PLAIN:
            return part
        return "".join(_HTML.get(letter, letter) for letter in part)

    found, place = "", 0
    for start, stop, _ in spans:
        found += shown(text[place:start]) + asked.pre_tag + shown(text[start:stop])
        found += asked.post_tag
        place = stop
    return found + shown(text[place:])
