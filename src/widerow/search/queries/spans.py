"""Places of a query's tokens in a text, for highlights (search §5.6)."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from widerow.model.search.query import (
    BoolQuery,
    ConstScoreQuery,
    DisMaxQuery,
    FunctionScoreQuery,
    FunctionsScoreQuery,
    MatchPhraseQuery,
    MatchQuery,
    NestedQuery,
    PrefixQuery,
    Query,
    RangeQuery,
    TermQuery,
    TermsQuery,
    WildcardQuery,
)
from widerow.search.analyzers.analysis import PlacedToken
from widerow.search.fields import IndexedField, SearchFields
from widerow.search.interface import TokenSpan
from widerow.search.queries.texts import phrase_tokens
from widerow.search.queries.values import asked_term
from widerow.search.queries.wildcards import Wildcard

__all__ = ["token_spans"]

_Choose = Callable[[IndexedField, Any, Sequence[PlacedToken]], list[PlacedToken]]


def token_spans(fields: SearchFields, query: Query, name: str, text: str) -> list[TokenSpan]:
    """The places of a query's tokens in a text of a field, ascending, each once.

    Empty for a field that is not of type TEXT. Tokens of a phrase count only inside the phrase.
    """
    level = fields.level_of(name)
    field = None if level is None else level.by_name.get(name)
    if field is None or field.definition.analyzer is None:
        return []
    tokens = field.analysis.placed(text)
    found = {
        TokenSpan(token.start, token.stop)
        for leaf in _leaves(query)
        if leaf.field == name
        for token in _CHOICES[type(leaf)](field, leaf, tokens)
    }
    return sorted(found)


def _leaves(query: Query) -> Iterator[Any]:
    """The leaf queries that a document has to match, or may match."""
    if isinstance(query, BoolQuery):
        below: tuple[Query, ...] = (*query.must, *query.filter, *query.should)
    elif isinstance(query, DisMaxQuery):
        below = query.queries
    elif isinstance(query, ConstScoreQuery):
        below = (query.filter,)
    elif isinstance(query, FunctionScoreQuery | FunctionsScoreQuery | NestedQuery):
        below = (query.query,)
    else:
        if type(query) in _CHOICES:
            yield query
        return
    for each in below:
        yield from _leaves(each)


def _named(names: set[str], tokens: Sequence[PlacedToken]) -> list[PlacedToken]:
    return [token for token in tokens if token.text in names]


def _terms(
    field: IndexedField, query: TermsQuery, tokens: Sequence[PlacedToken]
) -> list[PlacedToken]:
    names = {asked_term(field, value).decode() for value in query.terms}
    return _named(names, tokens)


def _match(
    field: IndexedField, query: MatchQuery, tokens: Sequence[PlacedToken]
) -> list[PlacedToken]:
    if field.analysis.fuzzy is not None:
        return _phrase(field, MatchPhraseQuery(query.field, query.text), tokens)
    return _named(set(field.analysis.tokens(query.text)), tokens)


def _phrase(
    field: IndexedField, query: MatchPhraseQuery, tokens: Sequence[PlacedToken]
) -> list[PlacedToken]:
    """The tokens of a phrase inside the phrase; of a phrase with a slop, all its tokens."""
    wanted = phrase_tokens(field, query.text)
    if query.slop > 0 or not wanted:
        return _named({each.text for each in wanted}, tokens)
    placed = {(each.text, each.position): each for each in tokens}
    found: list[PlacedToken] = []
    for token in tokens:
        if token.text == wanted[0].text:
            base = token.position - wanted[0].position
            phrase = [placed.get((each.text, base + each.position)) for each in wanted]
            found.extend(each for each in phrase if each is not None and None not in phrase)
    return found


def _range(
    field: IndexedField, query: RangeQuery, tokens: Sequence[PlacedToken]
) -> list[PlacedToken]:
    start = None if query.start is None else asked_term(field, query.start)
    stop = None if query.stop is None else asked_term(field, query.stop)

    def inside(name: bytes) -> bool:
        above = start is None or name > start or (query.include_start and name == start)
        below = stop is None or name < stop or (query.include_stop and name == stop)
        return above and below

    return [token for token in tokens if inside(token.text.encode())]


def _prefix(
    _field: IndexedField, query: PrefixQuery, tokens: Sequence[PlacedToken]
) -> list[PlacedToken]:
    return [token for token in tokens if token.text.startswith(query.prefix)]


def _wildcard(
    _field: IndexedField, query: WildcardQuery, tokens: Sequence[PlacedToken]
) -> list[PlacedToken]:
    wildcard = Wildcard(query.value)
    return [token for token in tokens if wildcard.matches(token.text)]


_CHOICES: Final[dict[type, _Choose]] = {
    TermQuery: lambda field, query, tokens: _terms(
        field, TermsQuery(query.field, (query.term,)), tokens
    ),
    TermsQuery: _terms,
    MatchQuery: _match,
    MatchPhraseQuery: _phrase,
    RangeQuery: _range,
    PrefixQuery: _prefix,
    WildcardQuery: _wildcard,
}
