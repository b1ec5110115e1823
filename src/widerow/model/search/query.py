"""Conditions on the documents of a search index, as trees, and orders of them (search §4, §5.1).

`weight` multiplies the score of its query. None stands for what a client did not send.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from widerow.model.search.highlight import Highlight
from widerow.model.values import Value

__all__ = [
    "MATCH_ALL",
    "BoolQuery",
    "ConstScoreQuery",
    "DateTimeUnit",
    "DateTimeValue",
    "DecayDateParam",
    "DecayFunction",
    "DecayGeoParam",
    "DecayMath",
    "DecayNumericParam",
    "DisMaxQuery",
    "DocSort",
    "ExistsQuery",
    "FieldSort",
    "FieldValueFactor",
    "FunctionCombineMode",
    "FunctionModifier",
    "FunctionScoreMode",
    "FunctionScoreQuery",
    "FunctionsScoreQuery",
    "GeoBoundingBoxQuery",
    "GeoDistanceQuery",
    "GeoDistanceSort",
    "GeoDistanceType",
    "GeoPolygonQuery",
    "InnerHits",
    "KnnVectorQuery",
    "MatchAllQuery",
    "MatchPhraseQuery",
    "MatchQuery",
    "MultiValueMode",
    "NestedFilter",
    "NestedQuery",
    "NestedScoreMode",
    "PrefixQuery",
    "PrimaryKeySort",
    "Query",
    "QueryOperator",
    "RandomScore",
    "RangeQuery",
    "ScoreFunction",
    "ScoreSort",
    "SearchSort",
    "SortMode",
    "SortOrder",
    "Sorter",
    "SuffixQuery",
    "TermQuery",
    "TermsQuery",
    "WildcardQuery",
]


class QueryOperator(IntEnum):
    """How many tokens of a text have to occur. The numbers of all enumerations are the wire's."""

    OR = 1
    AND = 2


class NestedScoreMode(IntEnum):
    """How the scores of a row's matching nested documents become one score."""

    NONE = 1
    AVG = 2
    MAX = 3
    TOTAL = 4
    MIN = 5


class FunctionModifier(IntEnum):
    """The function applied to a field's value."""

    NONE = 1
    LOG = 2
    LOG1P = 3
    LOG2P = 4
    LN = 5
    LN1P = 6
    LN2P = 7
    SQUARE = 8
    SQRT = 9
    RECIPROCAL = 10


class DecayMath(IntEnum):
    """How a score falls with the distance."""

    GAUSS = 1
    EXP = 2
    LINEAR = 3


class MultiValueMode(IntEnum):
    """How distances of several values become one."""

    MAX = 1
    MIN = 2
    SUM = 3
    AVG = 4


class FunctionScoreMode(IntEnum):
    """How several functions become one factor."""

    AVG = 1
    MAX = 2
    SUM = 3
    MIN = 4
    MULTIPLY = 5
    FIRST = 6


class FunctionCombineMode(IntEnum):
    """How the query's score and that factor become one."""

    MULTIPLY = 1
    AVG = 2
    MAX = 3
    SUM = 4
    MIN = 5
    REPLACE = 6


class DateTimeUnit(IntEnum):
    """Units of time spans."""

    YEAR = 1
    QUARTER_YEAR = 2
    MONTH = 3
    WEEK = 4
    DAY = 5
    HOUR = 6
    MINUTE = 7
    SECOND = 8
    MILLISECOND = 9


@dataclass(frozen=True, slots=True)
class DateTimeValue:
    """A span of time."""

    value: int
    unit: DateTimeUnit


@dataclass(frozen=True, slots=True)
class MatchAllQuery:
    """Every document."""


@dataclass(frozen=True, slots=True)
class MatchQuery:
    """Tokens of a text. `minimum_should_match`: a number, or Elasticsearch's forms of it."""

    field: str
    text: str
    operator: QueryOperator = QueryOperator.OR
    minimum_should_match: str | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class MatchPhraseQuery:
    """Tokens of a text in their order, moved by `slop` positions at most."""

    field: str
    text: str
    slop: int = 0
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class TermQuery:
    """One value, or one token."""

    field: str
    term: Value
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class TermsQuery:
    """Any of some values or tokens."""

    field: str
    terms: tuple[Value, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class RangeQuery:
    """Values between two bounds; None: no bound."""

    field: str
    start: Value | None = None
    stop: Value | None = None
    include_start: bool = False
    include_stop: bool = False


@dataclass(frozen=True, slots=True)
class PrefixQuery:
    """Values or tokens that begin in a certain way."""

    field: str
    prefix: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class SuffixQuery:
    """Values that end in a certain way."""

    field: str
    suffix: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class WildcardQuery:
    """Values or tokens of a form: `*` any run of characters, `?` any one, backslash escapes."""

    field: str
    value: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class ExistsQuery:
    """Documents with a value of the field, or with a document at the nested path."""

    field: str


@dataclass(frozen=True, slots=True)
class BoolQuery:
    """All of `must` and `filter`, none of `must_not`, enough of `should` (search §4.2)."""

    must: "tuple[Query, ...]" = ()
    must_not: "tuple[Query, ...]" = ()
    filter: "tuple[Query, ...]" = ()
    should: "tuple[Query, ...]" = ()
    minimum_should_match: str | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class ConstScoreQuery:
    """What matches has the score 1."""

    filter: "Query"


@dataclass(frozen=True, slots=True)
class DisMaxQuery:
    """Any of some queries; the best score counts, and a part of the others."""

    queries: "tuple[Query, ...]"
    tie_breaker: float = 0.0
    weight: float = 1.0


class SortOrder(IntEnum):
    """The order of a sorter. The numbers are those of the wire."""

    ASC = 0
    DESC = 1


class SortMode(IntEnum):
    """Which of several values of a field is sorted by."""

    MIN = 0
    MAX = 1
    AVG = 2


class GeoDistanceType(IntEnum):
    """The metric of distances: along the sphere, or on a plane."""

    ARC = 0
    PLANE = 1


@dataclass(frozen=True, slots=True)
class NestedFilter:
    """A filter of nested documents: those at `path` that match."""

    path: str
    query: "Query"


@dataclass(frozen=True, slots=True)
class FieldSort:
    """Sort by the values of a field.

    `missing_value`: "_first", "_last", or a value to use instead.
    """

    field: str
    order: SortOrder = SortOrder.ASC
    mode: SortMode | None = None
    nested_filter: NestedFilter | None = None
    missing_value: "Value | None" = None
    missing_field: str | None = None


@dataclass(frozen=True, slots=True)
class GeoDistanceSort:
    """Sort by the distance to the nearest of some points, given as `lat,lon`."""

    field: str
    points: tuple[str, ...]
    order: SortOrder = SortOrder.ASC
    mode: SortMode | None = None
    distance_type: GeoDistanceType = GeoDistanceType.ARC
    nested_filter: NestedFilter | None = None


@dataclass(frozen=True, slots=True)
class ScoreSort:
    """Sort by score, best first by default."""

    order: SortOrder = SortOrder.DESC


@dataclass(frozen=True, slots=True)
class PrimaryKeySort:
    """Sort by primary key."""

    order: SortOrder = SortOrder.ASC


@dataclass(frozen=True, slots=True)
class DocSort:
    """Sort nested documents by their place in their array; for inner hits only."""

    order: SortOrder = SortOrder.ASC


Sorter = FieldSort | GeoDistanceSort | ScoreSort | PrimaryKeySort | DocSort


@dataclass(frozen=True, slots=True)
class SearchSort:
    """Sorters by priority. The primary key follows them unless `disable_default_pk_sorter`."""

    sorters: tuple[Sorter, ...] = ()
    disable_default_pk_sorter: bool = False


@dataclass(frozen=True, slots=True)
class InnerHits:
    """Which matching nested documents are answered with a row."""

    sort: SearchSort | None = None
    offset: int = 0
    limit: int = 3
    highlight: Highlight | None = None


@dataclass(frozen=True, slots=True)
class NestedQuery:
    """Rows with a matching document at `path`."""

    path: str
    query: "Query"
    score_mode: NestedScoreMode = NestedScoreMode.NONE
    weight: float = 1.0
    inner_hits: InnerHits | None = None


@dataclass(frozen=True, slots=True)
class FunctionScoreQuery:
    """The query's score times the value of a field."""

    query: "Query"
    field: str


@dataclass(frozen=True, slots=True)
class FieldValueFactor:
    """A factor made of a field's value."""

    field: str
    factor: float = 1.0
    modifier: FunctionModifier = FunctionModifier.NONE
    missing: float | None = None


@dataclass(frozen=True, slots=True)
class RandomScore:
    """A random factor from 0 up to 1."""


@dataclass(frozen=True, slots=True)
class DecayDateParam:
    """The origin and scale of dates: nanoseconds since 1970, or texts in the field's formats."""

    origin: int | str
    scale: DateTimeValue
    offset: DateTimeValue | None = None


@dataclass(frozen=True, slots=True)
class DecayNumericParam:
    """The origin and scale of numbers, in the field's unit."""

    origin: float
    scale: float
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class DecayGeoParam:
    """The origin as `lat,lon`; scale and offset in metres."""

    origin: str
    scale: float
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class DecayFunction:
    """A factor that falls with the distance from an origin to `decay` at its scale."""

    field: str
    math: DecayMath
    param: DecayDateParam | DecayNumericParam | DecayGeoParam
    decay: float = 0.5
    multi_value_mode: MultiValueMode = MultiValueMode.MIN


@dataclass(frozen=True, slots=True)
class ScoreFunction:
    """One function of a FunctionsScoreQuery; it applies where `filter` matches.

    `function` None: the weight alone counts.
    """

    function: FieldValueFactor | RandomScore | DecayFunction | None = None
    weight: float = 1.0
    filter: "Query | None" = None


@dataclass(frozen=True, slots=True)
class FunctionsScoreQuery:
    """The query's score and some functions, combined (search §4.5)."""

    query: "Query"
    functions: tuple[ScoreFunction, ...]
    score_mode: FunctionScoreMode = FunctionScoreMode.MULTIPLY
    combine_mode: FunctionCombineMode = FunctionCombineMode.MULTIPLY
    min_score: float | None = None
    max_score: float | None = None


@dataclass(frozen=True, slots=True)
class GeoBoundingBoxQuery:
    """Points in a box; corners as `lat,lon`."""

    field: str
    top_left: str
    bottom_right: str


@dataclass(frozen=True, slots=True)
class GeoDistanceQuery:
    """Points within `distance` metres of a centre given as `lat,lon`."""

    field: str
    center: str
    distance: float


@dataclass(frozen=True, slots=True)
class GeoPolygonQuery:
    """Points inside a polygon; corners as `lat,lon`."""

    field: str
    points: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnnVectorQuery:
    """The `top_k` nearest of the documents that match `filter`."""

    field: str
    vector: tuple[float, ...]
    top_k: int | None = None
    filter: "Query | None" = None
    min_score: float | None = None
    num_candidates: int | None = None
    weight: float = 1.0


Query = (
    MatchAllQuery
    | MatchQuery
    | MatchPhraseQuery
    | TermQuery
    | TermsQuery
    | RangeQuery
    | PrefixQuery
    | SuffixQuery
    | WildcardQuery
    | ExistsQuery
    | BoolQuery
    | ConstScoreQuery
    | DisMaxQuery
    | NestedQuery
    | FunctionScoreQuery
    | FunctionsScoreQuery
    | GeoBoundingBoxQuery
    | GeoDistanceQuery
    | GeoPolygonQuery
    | KnnVectorQuery
)

MATCH_ALL: Final[Query] = MatchAllQuery()
"""The query of a request without one."""
