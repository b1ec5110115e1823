"""Queries over a dictionary of rows by plain loops: search indexes are compared with it.

Written from the page (search §4), without code of `widerow.search`. It is slow, and it does not
validate queries: a caller asks only what is allowed. Where several answers are right (vectors that
are equally near, words that occur twice) it raises `SeveralAnswers`, and the caller asks something
else.
"""

import ipaddress
import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from tests.support.search_rows import (
    PlainDocument,
    parse_date,
    plain_address,
    plain_document,
    plain_from_text,
    plain_tokens,
)

from widerow.model.search import query as q
from widerow.model.search.schema import (
    AnalyzerName,
    JsonKind,
    SearchField,
    SearchFieldType,
    SearchSchema,
    TextAnalyzer,
    TextSimilarity,
    VectorMetric,
)
from widerow.model.values import Value

__all__ = [
    "EARTH_METRES",
    "SearchReference",
    "SeveralAnswers",
    "arc_metres",
    "enough",
    "operand_of",
    "span_nanoseconds",
    "wildcard_form",
]

EARTH_METRES: Final = 6_371_008.7714
_T: Final = SearchFieldType
_K1: Final = 1.2
_SAME: Final = 1e-6
_UNCOUNTED: Final = frozenset("的是")  # tokens that do not count in the length of a text
_EPOCHS: Final = {
    "epoch_second": 10**9,
    "epoch_millis": 10**6,
    "epoch_micros": 10**3,
    "epoch_nanos": 1,
}
_UNITS: Final = {
    q.DateTimeUnit.YEAR: 365 * 86_400_000,
    q.DateTimeUnit.QUARTER_YEAR: 90 * 86_400_000,
    q.DateTimeUnit.MONTH: 30 * 86_400_000,
    q.DateTimeUnit.WEEK: 7 * 86_400_000,
    q.DateTimeUnit.DAY: 86_400_000,
    q.DateTimeUnit.HOUR: 3_600_000,
    q.DateTimeUnit.MINUTE: 60_000,
    q.DateTimeUnit.SECOND: 1000,
    q.DateTimeUnit.MILLISECOND: 1,
}
Score = float | None
"""A score; None: the document does not match."""


class SeveralAnswers(Exception):
    """The page allows more than one answer, so a comparison would prove nothing."""


class SearchReference:
    """All rows of a table, and what a query finds in them."""

    def __init__(self, schema: SearchSchema, rows: Mapping[bytes, Mapping[str, Value]]) -> None:
        """`rows`: by encoded primary key, columns with those of the key."""
        self.schema = schema
        self.documents = [plain_document(schema, key, rows[key]) for key in sorted(rows)]
        self.fields: dict[str, tuple[str, SearchField]] = {}
        self._place(schema.fields, "", "")
        self._limit = 0
        self._nearest: dict[int, dict[int, float]] = {}
        self._lengths: dict[str, tuple[int, float]] = {}

    def _place(self, fields: Iterable[SearchField], prefix: str, path: str) -> None:
        for each in fields:
            name = prefix + each.name
            self.fields[name] = (path, each)
            nested = each.type is _T.NESTED or each.json is JsonKind.NESTED
            self._place(each.fields, f"{name}.", name if nested else path)

    def select(self, query: q.Query, limit: int = 0) -> dict[bytes, float]:
        """The rows that match, by key, with their scores. `limit` is that of the request."""
        self._limit = limit
        self._nearest = {}
        scores = {each.key: self.score(query, each, "") for each in self.documents}
        return {key: score for key, score in scores.items() if score is not None}

    def score(self, query: q.Query, document: PlainDocument, level: str) -> Score:
        """The score of a document at a level, or None."""
        return _EVALUATORS[type(query)](self, query, document, level)

    def level(self, path: str) -> list[PlainDocument]:
        """All documents of a level: the rows, or those at a nested path."""
        if not path:
            return self.documents
        return [child for each in self.documents for child in each.below(path)]

    # --- words --------------------------------------------------------------------------------

    def _rarity(self, name: str, holds: Callable[[PlainDocument], bool]) -> float:
        there = [each for each in self.level(self.fields[name][0]) if name in each.values]
        holders = sum(map(holds, there))
        return math.log(1 + (len(there) - holders + 0.5) / (holders + 0.5))

    def _token_score(self, name: str, token: str, document: PlainDocument) -> float:
        times = sum(token == each for _, each in document.tokens.get(name, ()))
        return self._text_score(name, [token], times, document) if times else 0.0

    def _text_score(
        self, name: str, tokens: Sequence[str], times: float, document: PlainDocument
    ) -> float:
        """BM25 with the sum of the tokens' rarities (search §4.3)."""
        path, asked = self.fields[name]
        rarity = sum(
            self._rarity(name, lambda each, token=token: _has_token(each, name, token))  # type: ignore[misc]  # a default
            for token in tokens
        )
        lengths = [_length(each, name) for each in self.level(path) if name in each.values]
        average = sum(lengths) / len(lengths)
        share = 0.0 if asked.similarity is TextSimilarity.SHORT_TEXT else 0.75
        norm = _K1 * (1 - share + share * (_length(document, name) / average if average else 0.0))
        return rarity * times * (_K1 + 1) / (times + norm)

    def match(self, query: q.MatchQuery, document: PlainDocument, level: str) -> Score:
        """Tokens of a text (search §4.1)."""
        path, asked = self.fields[query.field]
        if path != level:
            return None
        if asked.type is not _T.TEXT:
            return self.term(q.TermQuery(query.field, query.text, query.weight), document, level)
        analyzer = asked.analyzer or TextAnalyzer()
        if analyzer.name is AnalyzerName.FUZZY:
            return _yes(_fuzzy_match(analyzer, query.text, document.values.get(query.field, ())))
        tokens = plain_tokens(analyzer, query.text)
        if len(set(tokens)) < len(tokens):
            raise SeveralAnswers("a word comes twice in the text of a query")
        found = [each for each in tokens if _has_token(document, query.field, each)]
        least = _least(query, len(tokens))
        if not found or len(found) < least:
            return None
        return query.weight * sum(self._token_score(query.field, t, document) for t in found)

    def phrase(self, query: q.MatchPhraseQuery, document: PlainDocument, level: str) -> Score:
        """Tokens in their order (search §4.1)."""
        path, asked = self.fields[query.field]
        if path != level:
            return None
        if asked.type is not _T.TEXT:
            return self.term(q.TermQuery(query.field, query.text, query.weight), document, level)
        analyzer = asked.analyzer or TextAnalyzer()
        if analyzer.name is AnalyzerName.FUZZY:
            return _yes(_fuzzy_match(analyzer, query.text, document.values.get(query.field, ())))
        tokens = plain_tokens(analyzer, query.text)
        if not tokens:
            return None
        places = [
            [at for at, there in document.tokens.get(query.field, ()) if there == token]
            for token in tokens
        ]
        if query.slop:
            return _yes(_sloppy(places, query.slop))
        times = sum(
            all(first + at in there for at, there in enumerate(places)) for first in places[0]
        )
        if not times:
            return None
        return query.weight * self._text_score(query.field, tokens, times, document)

    # --- values -------------------------------------------------------------------------------

    def term(self, query: q.TermQuery, document: PlainDocument, level: str) -> Score:
        """A term query."""
        path, asked = self.fields[query.field]
        if path != level or not self._equals(query.field, query.term, document):
            return None
        if asked.type is _T.TEXT:
            return query.weight * self._token_score(query.field, str(query.term), document)
        if asked.type in {_T.KEYWORD, _T.FUZZY_KEYWORD}:
            name, term = query.field, query.term
            return query.weight * self._rarity(name, lambda each: self._equals(name, term, each))
        return query.weight

    def terms(self, query: q.TermsQuery, document: PlainDocument, level: str) -> Score:
        """A terms query: one of several values."""
        if self.fields[query.field][0] != level:
            return None
        return (
            query.weight
            if any(self._equals(query.field, each, document) for each in query.terms)
            else None
        )

    def _equals(self, name: str, value: Value, document: PlainDocument) -> bool:
        _, asked = self.fields[name]
        if asked.type is _T.TEXT:
            return _has_token(document, name, str(value))
        if asked.type is _T.IP and isinstance(value, str) and "/" in value:
            network = ipaddress.ip_network(value, strict=False)
            return any(_within(each, network) for each in document.values.get(name, ()))
        operand = operand_of(asked, value)
        return any(each == operand for each in document.values.get(name, ()))

    def range(self, query: q.RangeQuery, document: PlainDocument, level: str) -> Score:
        """A range query."""
        path, asked = self.fields[query.field]
        if path != level:
            return None
        values: list[Any] = document.values.get(query.field, [])
        if query.start is None and query.stop is None:
            return _yes(bool(values))
        if asked.type is _T.TEXT:
            values = [token.encode() for _, token in document.tokens.get(query.field, ())]
        low = None if query.start is None else operand_of(asked, query.start)
        high = None if query.stop is None else operand_of(asked, query.stop)

        def between(value: Any) -> bool:  # noqa: ANN401  # any value that compares
            above = low is None or value > low or (query.include_start and value == low)
            below = high is None or value < high or (query.include_stop and value == high)
            return above and below

        return _yes(any(map(between, values)))

    def text_form(
        self,
        query: q.PrefixQuery | q.SuffixQuery | q.WildcardQuery,
        document: PlainDocument,
        level: str,
    ) -> Score:
        """Prefix, suffix and wildcard queries."""
        path, asked = self.fields[query.field]
        if path != level:
            return None
        if asked.type is _T.TEXT:
            texts = [token for _, token in document.tokens.get(query.field, ())]
        else:
            texts = [each.decode() for each in document.values.get(query.field, ())]
        match query:
            case q.PrefixQuery():
                found = any(each.startswith(query.prefix) for each in texts)
            case q.SuffixQuery():
                found = any(each.endswith(query.suffix) for each in texts)
            case _:
                form = re.compile(wildcard_form(query.value), re.DOTALL)
                found = any(form.fullmatch(each) is not None for each in texts)
        return query.weight if found else None

    def exists(self, query: q.ExistsQuery, document: PlainDocument, level: str) -> Score:
        """An exists query: a value of the field, or documents below its path."""
        path, asked = self.fields[query.field]
        if path != level:
            return None
        if asked.type is _T.NESTED or asked.json is JsonKind.NESTED:
            return _yes(bool(document.children.get(query.field)))
        if asked.type is _T.JSON:
            return _yes(any(each.startswith(f"{query.field}.") for each in document.values))
        return _yes(query.field in document.values)

    # --- combinations -------------------------------------------------------------------------

    def bool(self, query: q.BoolQuery, document: PlainDocument, level: str) -> Score:
        """A bool query (search §4.2)."""
        must = [self.score(each, document, level) for each in query.must]
        kept = [self.score(each, document, level) for each in query.filter]
        hindering = [self.score(each, document, level) for each in query.must_not]
        should = [self.score(each, document, level) for each in query.should]
        if None in must or None in kept or any(each is not None for each in hindering):
            return None
        found = [each for each in should if each is not None]
        least = 0 if query.must or query.filter or not query.should else 1
        if query.minimum_should_match is not None:
            least = max(least, enough(query.minimum_should_match, len(should)))
        if len(found) < least:
            return None
        return query.weight * (sum(each for each in must if each is not None) + sum(found))

    def best(self, query: q.DisMaxQuery, document: PlainDocument, level: str) -> Score:
        """The best of several scores, plus a part of the others."""
        scores = [self.score(each, document, level) for each in query.queries]
        found = [each for each in scores if each is not None]
        if not found:
            return None
        return query.weight * (max(found) + query.tie_breaker * (sum(found) - max(found)))

    def nested(self, query: q.NestedQuery, document: PlainDocument, level: str) -> Score:
        """A nested query (search §4.4)."""
        del level
        scores = [
            found
            for each in document.below(query.path)
            if (found := self.score(query.query, each, query.path)) is not None
        ]
        if not scores:
            return None
        return query.weight * _OF_CHILDREN[query.score_mode](scores)

    def constant(self, query: q.ConstScoreQuery, document: PlainDocument, level: str) -> Score:
        """A constant score: 1 for each match."""
        return _yes(self.score(query.filter, document, level) is not None)

    # --- functions ----------------------------------------------------------------------------

    def function(self, query: q.FunctionScoreQuery, document: PlainDocument, level: str) -> Score:
        """A field-value factor: the score times a field (search §4.5)."""
        score = self.score(query.query, document, level)
        if score is None:
            return None
        return score * min(document.values.get(query.field, (1,)))

    def functions(self, query: q.FunctionsScoreQuery, document: PlainDocument, level: str) -> Score:
        """A function-score query (search §4.5)."""
        score = self.score(query.query, document, level)
        if score is None:
            return None
        applying = [
            each
            for each in query.functions
            if each.filter is None or self.score(each.filter, document, level) is not None
        ]
        factors = [each.weight * self._base(each.function, document) for each in applying]
        factor = _factor(query.score_mode, factors, [each.weight for each in applying])
        factor = min(factor, math.inf if query.max_score is None else query.max_score)
        total = _COMBINED[query.combine_mode](score, factor)
        if query.min_score is not None and total < query.min_score:
            return None
        return total

    def _base(
        self,
        function: q.FieldValueFactor | q.RandomScore | q.DecayFunction | None,
        document: PlainDocument,
    ) -> float:
        match function:
            case q.FieldValueFactor():
                return _field_factor(function, document.values.get(function.field))
            case q.DecayFunction():
                return self._decay(function, document.values.get(function.field))
            case q.RandomScore():
                raise SeveralAnswers("chance decides")
            case _:
                return 1.0

    def _decay(self, function: q.DecayFunction, values: Sequence[Any] | None) -> float:
        if not values:
            return 1.0
        _, asked = self.fields[function.field]
        distances, scale = _distances(asked, function.param, values)
        distance = _ONE_OF_SEVERAL[function.multi_value_mode](distances)
        return _FALLEN[function.math](function.decay, distance / scale)

    # --- places and vectors -------------------------------------------------------------------

    def place(
        self,
        query: q.GeoBoundingBoxQuery | q.GeoDistanceQuery | q.GeoPolygonQuery,
        document: PlainDocument,
        level: str,
    ) -> Score:
        """A geo query: points in an area (search §4.6)."""
        if self.fields[query.field][0] != level:
            return None
        points = document.values.get(query.field, ())
        return _yes(any(_is_inside(query, each) for each in points))

    def near(self, query: q.KnnVectorQuery, document: PlainDocument, level: str) -> Score:
        """A vector query: the nearest vectors (search §4.8)."""
        if self.fields[query.field][0] != level:
            return None
        if id(query) not in self._nearest:
            self._nearest[id(query)] = self._nearest_of(query, level)
        return self._nearest[id(query)].get(id(document))

    def _nearest_of(self, query: q.KnnVectorQuery, level: str) -> dict[int, float]:
        _, asked = self.fields[query.field]
        assert asked.vector, "a vector field has options"
        found = []
        for each in self.level(level):
            kept = query.filter is None or self.score(query.filter, each, level) is not None
            if kept and query.field in each.values:
                there = each.values[query.field][0]
                found.append((_nearness(asked.vector.metric, query.vector, there), id(each)))
        found.sort(reverse=True)
        most = max(query.top_k or 1, self._limit)
        if len(found) > most and found[most - 1][0] - found[most][0] < _SAME:
            raise SeveralAnswers("two vectors are equally near")
        least = query.min_score or 0.0
        if any(abs(score - least) < _SAME for score, _ in found) and least:
            raise SeveralAnswers("a vector is as near as the least score")
        return {at: query.weight * score for score, at in found[:most] if score >= least}


Evaluator = Callable[[SearchReference, Any, PlainDocument, str], Score]

_EVALUATORS: Final[dict[type, Evaluator]] = {
    q.MatchAllQuery: lambda *_: 1.0,
    q.MatchQuery: SearchReference.match,
    q.MatchPhraseQuery: SearchReference.phrase,
    q.TermQuery: SearchReference.term,
    q.TermsQuery: SearchReference.terms,
    q.RangeQuery: SearchReference.range,
    q.PrefixQuery: SearchReference.text_form,
    q.SuffixQuery: SearchReference.text_form,
    q.WildcardQuery: SearchReference.text_form,
    q.ExistsQuery: SearchReference.exists,
    q.BoolQuery: SearchReference.bool,
    q.DisMaxQuery: SearchReference.best,
    q.NestedQuery: SearchReference.nested,
    q.ConstScoreQuery: SearchReference.constant,
    q.FunctionScoreQuery: SearchReference.function,
    q.FunctionsScoreQuery: SearchReference.functions,
    q.GeoBoundingBoxQuery: SearchReference.place,
    q.GeoDistanceQuery: SearchReference.place,
    q.GeoPolygonQuery: SearchReference.place,
    q.KnnVectorQuery: SearchReference.near,
}
_COMBINED: Final[dict[q.FunctionCombineMode, Callable[[float, float], float]]] = {
    q.FunctionCombineMode.MULTIPLY: lambda score, factor: score * factor,
    q.FunctionCombineMode.AVG: lambda score, factor: (score + factor) / 2,
    q.FunctionCombineMode.MAX: max,
    q.FunctionCombineMode.MIN: min,
    q.FunctionCombineMode.SUM: lambda score, factor: score + factor,
    q.FunctionCombineMode.REPLACE: lambda _, factor: factor,
}
_OF_CHILDREN: Final[dict[q.NestedScoreMode, Callable[[list[float]], float]]] = {
    q.NestedScoreMode.NONE: lambda _: 0.0,
    q.NestedScoreMode.AVG: lambda scores: sum(scores) / len(scores),
    q.NestedScoreMode.MAX: max,
    q.NestedScoreMode.MIN: min,
    q.NestedScoreMode.TOTAL: sum,
}
_ONE_OF_SEVERAL: Final[dict[q.MultiValueMode, Callable[[list[float]], float]]] = {
    q.MultiValueMode.MIN: min,
    q.MultiValueMode.MAX: max,
    q.MultiValueMode.SUM: sum,
    q.MultiValueMode.AVG: lambda values: sum(values) / len(values),
}
_FALLEN: Final[dict[q.DecayMath, Callable[[float, float], float]]] = {
    q.DecayMath.GAUSS: lambda decay, share: math.exp(math.log(decay) * share**2),
    q.DecayMath.EXP: lambda decay, share: math.exp(math.log(decay) * share),
    q.DecayMath.LINEAR: lambda decay, share: max(0.0, 1 - (1 - decay) * share),
}
_MODIFIED: Final[dict[q.FunctionModifier, Callable[[float], float]]] = {
    q.FunctionModifier.NONE: lambda value: value,
    q.FunctionModifier.LOG: math.log10,
    q.FunctionModifier.LOG1P: lambda value: math.log10(1 + value),
    q.FunctionModifier.LOG2P: lambda value: math.log10(2 + value),
    q.FunctionModifier.LN: math.log,
    q.FunctionModifier.LN1P: lambda value: math.log(1 + value),
    q.FunctionModifier.LN2P: lambda value: math.log(2 + value),
    q.FunctionModifier.SQUARE: lambda value: value * value,
    q.FunctionModifier.SQRT: math.sqrt,
    q.FunctionModifier.RECIPROCAL: lambda value: 1 / value,
}


def _yes(found: bool) -> Score:  # noqa: FBT001  # turns a truth value into a score
    return 1.0 if found else None


def _has_token(document: PlainDocument, name: str, token: str) -> bool:
    return any(token == each for _, each in document.tokens.get(name, ()))


def _length(document: PlainDocument, name: str) -> int:
    return sum(each not in _UNCOUNTED for _, each in document.tokens.get(name, ()))


def _least(query: q.MatchQuery, count: int) -> int:
    """How many of `count` distinct tokens must occur."""
    if query.operator is q.QueryOperator.AND:
        return count
    if query.minimum_should_match is None:
        return 1
    return max(1, enough(query.minimum_should_match, count))


def _fuzzy_match(analyzer: TextAnalyzer, text: str, values: Iterable[str]) -> bool:
    """Whether a part of the text matches, in as many characters as are indexed (search §3)."""
    wanted = text if analyzer.case_sensitive else text.lower()
    if len(wanted) < analyzer.min_chars:
        return False
    return any(
        wanted in (each if analyzer.case_sensitive else each.lower())[:1024] for each in values
    )


def _sloppy(places: Sequence[Sequence[int]], slop: int) -> bool:
    for chosen in itertools.product(*places):
        moved = [at - place for place, at in enumerate(chosen)]
        if len(set(chosen)) == len(chosen) and max(moved) - min(moved) <= slop:
            return True
    return False


def wildcard_form(form: str) -> str:
    """A wildcard as a regular expression (search §4.1)."""
    parts = re.finditer(r"\\(.)|(\*)|(\?)|(.)", form, re.DOTALL)
    return "".join(
        ".*" if each[2] else "." if each[3] else re.escape(each[1] or each[4]) for each in parts
    )


def enough(form: str, count: int) -> int:
    """How many of `count` clauses must match, in Elasticsearch's forms (search §4.1)."""
    conditional = re.fullmatch(r"(\d+)<(.+)", form)
    if conditional:
        return count if count <= int(conditional[1]) else enough(conditional[2], count)
    if form.endswith("%"):
        share = math.floor(abs(int(form[:-1])) * count / 100)
        return count - share if form.startswith("-") else share
    number = int(form)
    return max(0, count + number) if number < 0 else number


def operand_of(asked: SearchField, value: Value) -> Any:  # noqa: ANN401  # a value that compares
    """A query's value in the field's form (search §2); None: no value of the field equals it."""
    match asked.type:
        case SearchFieldType.LONG | SearchFieldType.DOUBLE if isinstance(value, str):
            return float(value) if "." in value else int(value)
        case SearchFieldType.BOOLEAN:
            return value == "true" if isinstance(value, str) else value
        case SearchFieldType.DATE if isinstance(value, int):
            units = [_EPOCHS[each] for each in asked.date_formats if each in _EPOCHS]
            return value * (units[0] if units else 10**6)
        case SearchFieldType.DATE:
            return parse_date(asked, value)
        case SearchFieldType.IP if isinstance(value, str):
            return plain_address(value)
        case SearchFieldType.TEXT if isinstance(value, str):
            return value.encode()
        case _:
            return plain_from_text(asked, value) if isinstance(value, str) else value


def _within(packed: bytes, network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
    address = ipaddress.IPv6Address(packed)
    if network.version == 4:  # of the Internet Protocol
        return address.ipv4_mapped is not None and address.ipv4_mapped in network
    return address in network


def _factor(mode: q.FunctionScoreMode, factors: Sequence[float], weights: Sequence[float]) -> float:
    if not factors:
        return 1.0
    match mode:
        case q.FunctionScoreMode.AVG:
            return sum(factors) / sum(weights)
        case q.FunctionScoreMode.MAX:
            return max(factors)
        case q.FunctionScoreMode.MIN:
            return min(factors)
        case q.FunctionScoreMode.SUM:
            return sum(factors)
        case q.FunctionScoreMode.MULTIPLY:
            return math.prod(factors)
        case q.FunctionScoreMode.FIRST:
            return factors[0]


def _field_factor(function: q.FieldValueFactor, values: Sequence[Any] | None) -> float:
    value = min(values) if values else function.missing
    if value is None:
        return 1.0
    try:
        found = _MODIFIED[function.modifier](function.factor * value)
    except (ValueError, ZeroDivisionError, OverflowError):
        return 0.0
    return found if math.isfinite(found) and found >= 0 else 0.0


def _distances(
    asked: SearchField,
    param: q.DecayDateParam | q.DecayNumericParam | q.DecayGeoParam,
    values: Sequence[Any],
) -> tuple[list[float], float]:
    """The distances of values from an origin, minus the offset; and the scale."""
    if isinstance(param, q.DecayGeoParam):
        center = _corner(param.origin)
        found = [arc_metres(each, center) for each in values]
        scale, offset = param.scale, param.offset
    elif isinstance(param, q.DecayNumericParam):
        found = [float(abs(each - param.origin)) for each in values]
        scale, offset = param.scale, param.offset
    else:
        begin = param.origin
        if isinstance(begin, str):
            begin = operand_of(asked, begin)
        found = [float(abs(each - begin)) for each in values]
        scale = span_nanoseconds(param.scale)
        offset = span_nanoseconds(param.offset) if param.offset else 0
    return [max(0.0, each - offset) for each in found], scale


def span_nanoseconds(span: q.DateTimeValue) -> int:
    """A span with months of 30 days and years of 365 (search §4.5)."""
    return span.value * _UNITS[span.unit] * 10**6


def _corner(text: str) -> tuple[float, float]:
    latitude, longitude = (float(each) for each in text.split(","))
    return latitude, longitude


def arc_metres(one: tuple[float, float], other: tuple[float, float]) -> float:
    """The distance of two points by the haversine (search §4.6)."""
    (a, b), (c, d) = (tuple(map(math.radians, each)) for each in (one, other))
    half = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * EARTH_METRES * math.asin(min(1.0, math.sqrt(half)))


def _is_inside(
    query: q.GeoBoundingBoxQuery | q.GeoDistanceQuery | q.GeoPolygonQuery,
    point: tuple[float, float],
) -> bool:
    if isinstance(query, q.GeoDistanceQuery):
        return arc_metres(point, _corner(query.center)) <= query.distance
    if isinstance(query, q.GeoBoundingBoxQuery):
        return _in_box(query, point)
    return _in_polygon([_corner(each) for each in query.points], point)


def _in_box(query: q.GeoBoundingBoxQuery, point: tuple[float, float]) -> bool:
    (top, left), (bottom, right) = _corner(query.top_left), _corner(query.bottom_right)
    y, x = point[0] * 2**32 / 180, point[1] * 2**32 / 360
    west, east = math.ceil(left * 2**32 / 360), math.floor(right * 2**32 / 360)
    across = x >= west or x <= east if left > right else west <= x <= east
    return math.ceil(bottom * 2**32 / 180) <= y <= math.floor(top * 2**32 / 180) and across


def _in_polygon(corners: Sequence[tuple[float, float]], point: tuple[float, float]) -> bool:
    inside = False
    for (y1, x1), (y2, x2) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if (y1 > point[0]) != (y2 > point[0]):
            crossing = (x2 - x1) * (point[0] - y1) / (y2 - y1) + x1
            inside ^= point[1] < crossing
        if _on_side(point, (y1, x1), (y2, x2)):
            return True
    return inside


def _on_side(
    point: tuple[float, float], one: tuple[float, float], other: tuple[float, float]
) -> bool:
    if one[0] == other[0] or one[1] == other[1]:
        one, other = (
            (math.floor(y * 2**32 / 180) * 180 / 2**32, math.floor(x * 2**32 / 360) * 360 / 2**32)
            for y, x in (one, other)
        )
    (y, x), (y1, x1), (y2, x2) = point, one, other
    between = min(y1, y2) <= y <= max(y1, y2) and min(x1, x2) <= x <= max(x1, x2)
    return between and (x2 - x1) * (y - y1) == (y2 - y1) * (x - x1)


def _nearness(metric: VectorMetric, one: Sequence[float], other: Sequence[float]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    match metric:
        case VectorMetric.EUCLIDEAN:
            return 1 / (1 + sum((a - b) ** 2 for a, b in zip(one, other, strict=True)))
        case VectorMetric.DOT_PRODUCT:
            return max(0.0, (1 + product) / 2)
        case VectorMetric.COSINE:
            lengths = math.hypot(*one) * math.hypot(*other)
            return (1 + product / lengths) / 2
