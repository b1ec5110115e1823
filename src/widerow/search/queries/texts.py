"""Queries for tokens of texts: terms, matches, phrases (search §4.1, §4.3)."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from widerow.errors import InvalidRequest
from widerow.limits import SEARCH_QUERY_TOKENS_MAX
from widerow.model.search.query import MatchPhraseQuery, MatchQuery, QueryOperator, TermQuery
from widerow.model.search.schema import SearchFieldType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.analyzers.analysis import PlacedToken
from widerow.search.columns import Postings, TermColumn, TextColumn
from widerow.search.fields import KEYWORD_TYPES, IndexedField
from widerow.search.queries.compound import ConstNode
from widerow.search.queries.minimum import required_of
from widerow.search.queries.node import Asked, Matched, Node, NoneNode, hits
from widerow.search.queries.phrases import in_all, phrase_postings
from widerow.search.queries.terms import LookupNode, exact
from widerow.search.queries.values import asked_term
from widerow.search.scoring import FieldScorer, TokenWeight, living
from widerow.search.segments import TableView

__all__ = ["match_node", "phrase_node", "phrase_tokens", "term_node"]

_Type = SearchFieldType
_DENSE: Final = 16  # of so many documents, one has a token
_ROUNDED: Final = 1 + 2**-40  # no score exceeds its bound by more than rounding
_NO_POSTINGS: Final = Postings(np.zeros(0, np.int32), np.zeros(0, np.uint8))


class _TokensNode(Node):
    """Documents with at least `required` of some tokens; a repeated token counts as often."""

    def __init__(
        self, tables: Sequence[TableView], found: list[list[Postings]], required: int
    ) -> None:
        """`found`: for each distinct token, its postings in each segment."""
        self._tables = tables
        self._found = found
        self._required = required
        self._scorer: FieldScorer | None = None
        self._weights: list[TokenWeight] = []

    def score(self, field: IndexedField, factors: Sequence[float]) -> None:
        """Compute scores, too; `factors`: of the tokens."""
        self._scorer = scorer = FieldScorer(self._tables, field)
        self._weights = [
            scorer.token(each, factor) for each, factor in zip(self._found, factors, strict=True)
        ]

    def run(self, at: int) -> Matched:
        """The documents of a segment."""
        count = self._tables[at].count
        found = [each[at] for each in self._found]
        if self._required == len(found):
            return self._with_all(at, found)
        joined = np.concatenate([each.documents for each in found])
        if self._scorer is None and self._required == 1:
            return hits(joined, count)
        if _DENSE * len(joined) > count:
            return self._dense(at, count, found)
        numbers, places, counts = np.unique(joined, return_inverse=True, return_counts=True)
        enough = counts >= self._required
        numbers = numbers.astype(np.int64)
        if self._scorer is None:
            return Matched(numbers[enough])
        scores = np.zeros(len(numbers))
        start = 0
        for each, weight in zip(found, self._weights, strict=True):
            stop = start + len(each.documents)
            scores[places[start:stop]] += self._scorer.scores(at, *each, weight)
            start = stop
        return Matched(numbers[enough], scores=scores[enough])

    def run_best(self, at: int, count: int, floor: float) -> Matched:
        """As `Node.run_best`; documents with only frequent tokens are not looked at (MaxScore).

        A document is not among the best if all its tokens together cannot reach the floor. The
        floor is raised to the score of the `count`-th best document of the rarest token.
        """
        if self._scorer is None or self._required > 1 or len(self._found) == 1:
            return self.run(at)
        order = sorted(range(len(self._found)), key=lambda each: self._weights[each].most)
        if len(self._found[order[-1]][at].documents) * _DENSE > self._tables[at].count:
            return self.run(at)
        most = np.cumsum([self._weights[each].most for each in order]) * _ROUNDED
        if most[0] >= floor:
            found = self._of_tokens(at, order[-1:])
            alive = self._tables[at].live
            assert found.scores is not None
            scores = found.scores if alive is None else found.scores[alive[found.as_numbers()]]
            if len(scores) >= count:
                floor = max(floor, float(np.partition(scores, -count)[-count]))
        return self._of_tokens(at, order[int(np.searchsorted(most, floor)) :])

    def _of_tokens(self, at: int, tokens: Sequence[int]) -> Matched:
        """The documents of some of the tokens, with scores from all tokens."""
        assert self._scorer is not None
        documents = [self._found[each][at].documents for each in tokens]
        if sum(map(len, documents)) * _DENSE > self._tables[at].count:
            return self.run(at)
        numbers = np.unique(np.concatenate([_NO_POSTINGS.documents, *documents]))
        scores = np.zeros(len(numbers))
        for each, weight in zip(self._found, self._weights, strict=True):
            found = each[at]
            if not len(found.documents):
                continue
            places = np.minimum(np.searchsorted(found.documents, numbers), len(found.documents) - 1)
            there = np.flatnonzero(found.documents[places] == numbers)
            frequencies = found.frequencies[places[there]]
            scores[there] += self._scorer.scores(at, numbers[there], frequencies, weight)
        return Matched(numbers.astype(np.int64), scores=scores)

    def _with_all(self, at: int, found: list[Postings]) -> Matched:
        """The documents with all tokens: those of the rarest, looked up in the others' postings."""
        if len(found) == 1:
            documents, chosen = found[0].documents, [np.arange(len(found[0].documents))]
        else:
            documents, chosen = in_all([each.documents for each in found])
        numbers = documents.astype(np.int64)
        if self._scorer is None:
            return Matched(numbers)
        scores = np.zeros(len(numbers))
        for each, places, weight in zip(found, chosen, self._weights, strict=True):
            scores += self._scorer.scores(at, numbers, each.frequencies[places], weight)
        return Matched(numbers, scores=scores)

    def _dense(self, at: int, count: int, found: list[Postings]) -> Matched:
        """The documents with enough tokens, counted in an array: quicker if they are frequent."""
        counts = np.zeros(count, dtype=np.int16)
        for each in found:
            counts[each.documents] += 1
        numbers = np.flatnonzero(counts >= self._required)
        if self._scorer is None:
            return Matched(numbers)
        scores = np.zeros(count)
        for each, weight in zip(found, self._weights, strict=True):
            scores[each.documents] += self._scorer.scores(at, *each, weight)
        return Matched(numbers, scores=scores[numbers])


def _postings(table: TableView, field: IndexedField, token: bytes) -> Postings:
    column = table.table.column(field)
    assert isinstance(column, TextColumn | TermColumn)
    number = column.terms.find(token)
    if number is None:
        return _NO_POSTINGS
    if isinstance(column, TextColumn):
        return column.postings(number)
    documents = column.documents(number, number + 1)
    return Postings(documents, np.ones(len(documents), dtype=np.uint8))


def _tokens_node(
    asked: Asked,
    field: IndexedField,
    tables: list[TableView],
    tokens: dict[bytes, float],
    required: int = 1,
) -> _TokensNode:
    found: list[list[Postings]] = []
    for token in tokens:
        asked.check()
        found.append([_postings(table, field, token) for table in tables])
    return _TokensNode(tables, found, required)


def term_node(
    query: TermQuery, field: IndexedField, tables: list[TableView], asked: Asked, *, scored: bool
) -> Node:
    """TermQuery: one value, or one token, which is not analysed."""
    if not scored or (field.type is not _Type.TEXT and field.type not in KEYWORD_TYPES):
        node: Node = LookupNode(tables, field, exact(field, (query.term,)))
        return ConstNode(node, query.weight) if scored else node
    token = asked_term(field, query.term)
    found = _tokens_node(asked, field, tables, {token: 1.0})
    found.score(field, [query.weight])
    return found


def match_node(
    query: MatchQuery, field: IndexedField, tables: list[TableView], asked: Asked, *, scored: bool
) -> Node:
    """MatchQuery: enough tokens of a text; of a fuzzy field the text itself; elsewhere a term."""
    if field.type is not _Type.TEXT:
        term = TermQuery(query.field, query.text, query.weight)
        return term_node(term, field, tables, asked, scored=scored)
    if field.analysis.fuzzy is not None:
        required_of(query.minimum_should_match, 1, absent=1)  # refused where it cannot be read
        phrase = MatchPhraseQuery(query.field, query.text, weight=query.weight)
        return phrase_node(phrase, field, tables, asked, scored=scored)
    counts: dict[bytes, float] = {}
    for token in _bounded(field.analysis.tokens(query.text)):
        name = token.encode(errors="replace")
        counts[name] = counts.get(name, 0.0) + 1.0
    required = len(counts)
    if query.operator is not QueryOperator.AND:
        required = max(required_of(query.minimum_should_match, len(counts), absent=1), 1)
    if not counts or required > len(counts):
        return NoneNode()
    node = _tokens_node(asked, field, tables, counts, required)
    if scored:
        node.score(field, [query.weight * each for each in counts.values()])
    return node


def _bounded(tokens: list[str]) -> list[str]:
    if len(tokens) > SEARCH_QUERY_TOKENS_MAX:
        raise InvalidRequest(TablestoreRule.SEARCH_QUERY_TEXT, count=len(tokens))
    return tokens


class _PhraseNode(Node):
    """Documents with tokens at given distances."""

    def __init__(self, found: list[Postings]) -> None:
        self._found = found
        self._scorer: FieldScorer | None = None
        self._weight = TokenWeight(0.0, 0.0, 0.0)

    def score(
        self, field: IndexedField, tables: list[TableView], frequencies: list[int], factor: float
    ) -> None:
        """Compute scores, too; `frequencies`: how many documents have each token."""
        self._scorer = FieldScorer(tables, field)
        self._weight = self._scorer.phrase(frequencies, factor)

    def run(self, at: int) -> Matched:
        """The documents of a segment."""
        found = self._found[at]
        numbers = found.documents.astype(np.int64)
        if self._scorer is None:
            return Matched(numbers)
        return Matched(numbers, scores=self._scorer.scores(at, *found, self._weight))


def phrase_node(
    query: MatchPhraseQuery,
    field: IndexedField,
    tables: list[TableView],
    asked: Asked,
    *,
    scored: bool,
) -> Node:
    """MatchPhraseQuery: tokens in their order; on other fields a term."""
    if field.type is not _Type.TEXT:
        term = TermQuery(query.field, query.text, query.weight)
        return term_node(term, field, tables, asked, scored=scored)
    tokens = phrase_tokens(field, query.text)
    if not tokens:
        return NoneNode()
    names = [each.text.encode(errors="replace") for each in tokens]
    offsets = [each.position for each in tokens]
    found: list[Postings] = []
    frequencies = dict.fromkeys(names, 0)
    for table in tables:
        asked.check()
        column = table.table.column(field)
        assert isinstance(column, TextColumn)
        numbers = {name: column.terms.find(name) for name in frequencies}
        phrase = [numbers[name] for name in names]
        found.append(phrase_postings(column, phrase, offsets, query.slop, asked.check))
        for name, number in numbers.items():
            if scored and number is not None:
                frequencies[name] += living(table, column.documents(number, number + 1))
    node = _PhraseNode(found)
    if scored:
        node.score(field, tables, [frequencies[name] for name in names], query.weight)
    return node


def phrase_tokens(field: IndexedField, text: str) -> list[PlacedToken]:
    """The tokens of a phrase with their positions.

    Of a fuzzy field the text itself where it is no longer than a gram may be, else all its grams of
    the greatest length; no token if the text is shorter than any gram (search §3).
    """
    analysis = field.analysis
    if analysis.fuzzy is None:
        tokens = analysis.placed(text)
        _bounded([each.text for each in tokens])
        return tokens
    shortest, longest = analysis.fuzzy
    folded = analysis.folded(text)
    if len(folded) < shortest:
        return []
    length = min(len(folded), longest)
    grams = [folded[at : at + length] for at in range(len(folded) - length + 1)]
    return [PlacedToken(gram, at, at, at + length) for at, gram in enumerate(_bounded(grams))]
