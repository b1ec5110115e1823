"""Search indexes: their fields, and how each is read from a row (search §1.1, §2, §3)."""

from dataclasses import dataclass
from enum import Enum, IntEnum

from widerow.model.search.query import SearchSort

__all__ = [
    "AnalyzerName",
    "IndexOptions",
    "JsonKind",
    "QueryFlowWeight",
    "SearchField",
    "SearchFieldType",
    "SearchIndex",
    "SearchSchema",
    "TextAnalyzer",
    "TextSimilarity",
    "VectorMetric",
    "VectorOptions",
]


class SearchFieldType(IntEnum):
    """The type that a field is indexed as. The numbers are those of the wire."""

    LONG = 1
    DOUBLE = 2
    BOOLEAN = 3
    KEYWORD = 4
    TEXT = 5
    NESTED = 6
    GEO_POINT = 7
    DATE = 8
    VECTOR = 9
    FUZZY_KEYWORD = 10
    IP = 11
    JSON = 12
    FLATTENED = 13


class JsonKind(IntEnum):
    """How a field of type JSON is read: as fields of the row, or as nested documents."""

    OBJECT = 1
    NESTED = 2


class IndexOptions(IntEnum):
    """The content of postings, as asked for; only described: positions are always stored."""

    DOCS = 1
    FREQS = 2
    POSITIONS = 3
    OFFSETS = 4


class TextSimilarity(IntEnum):
    """How a match in a text is scored (search §4.3)."""

    BM25 = 1
    SHORT_TEXT = 2


class VectorMetric(IntEnum):
    """The distance of two vectors (search §4.8)."""

    EUCLIDEAN = 0
    COSINE = 1
    DOT_PRODUCT = 2


class AnalyzerName(Enum):
    """How a text becomes tokens (search §3). The texts are those of the wire."""

    SINGLE_WORD = "single_word"
    SPLIT = "split"
    MIN_WORD = "min_word"
    MAX_WORD = "max_word"
    FUZZY = "fuzzy"


@dataclass(frozen=True, slots=True)
class TextAnalyzer:
    """An analyzer with its parameters; parameters of other analyzers have their defaults.

    `delimiter` None: any run of white space. `min_chars` and `max_chars` are those of FUZZY.
    `sent`: the parameter message as the client sent it, for descriptions; None where none was sent.
    """

    name: AnalyzerName = AnalyzerName.SINGLE_WORD
    case_sensitive: bool = False
    delimit_word: bool = False
    delimiter: str | None = None
    min_chars: int = 1
    max_chars: int = 7
    sent: bytes | None = None


@dataclass(frozen=True, slots=True)
class VectorOptions:
    """Vectors of 32-bit floats with `dimension` numbers each."""

    dimension: int
    metric: VectorMetric


@dataclass(frozen=True, slots=True)
class SearchField:
    """A field of an index, or a field inside one of type NESTED or JSON.

    `index`, `sort_and_agg`, `store`, `is_array` are None if the client left them out (search §1.1
    has the defaults, which `search.fields` applies). `analyzer` is set for TEXT only. `source`: the
    column that a virtual field is read from. `fields`: the fields inside.
    """

    name: str
    type: SearchFieldType
    index: bool | None = None
    sort_and_agg: bool | None = None
    store: bool | None = None
    is_array: bool | None = None
    analyzer: TextAnalyzer | None = None
    analyzer_sent: bool = False
    source: str | None = None
    date_formats: tuple[str, ...] = ()
    highlighting: bool | None = None
    vector: VectorOptions | None = None
    json: JsonKind | None = None
    similarity: TextSimilarity | None = None
    options: IndexOptions | None = None
    fields: "tuple[SearchField, ...]" = ()


@dataclass(frozen=True, slots=True)
class SearchSchema:
    """The fields of an index, and the default order of its searches.

    `sort` None: the client gave no order (search §1.2, §5.1). `routing`: primary key columns.
    """

    fields: tuple[SearchField, ...]
    sort: SearchSort | None = None
    routing: tuple[str, ...] = ()
    routing_partition_size: int | None = None

    @property
    def has_nested(self) -> bool:
        """Whether a field has nested documents, so that rows have no default order."""
        return any(_is_nested(field) for field in self.fields)


def _is_nested(field: SearchField) -> bool:
    return (
        field.type is SearchFieldType.NESTED
        or field.json is JsonKind.NESTED
        or any(_is_nested(below) for below in field.fields)
    )


@dataclass(frozen=True, slots=True)
class QueryFlowWeight:
    """The share of searches that an index answers, of 100 (search §1.4)."""

    index: str
    weight: int


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """A search index as its table defines it.

    `id`: a unique number of the catalogue; a new one for each change of the schema. `source`: the
    index that this one is to replace, "" if none was named. `time_to_live` in seconds, -1 for ever.
    """

    name: str
    id: int
    schema: SearchSchema
    created_us: int
    time_to_live: int = -1
    source: str = ""
    weights: tuple[QueryFlowWeight, ...] = ()
