"""The operations on search indexes: requests and answers (search §1, §5, §7)."""

from dataclasses import dataclass
from enum import IntEnum

from widerow.model.search.aggregation import NO_BREAKDOWN, Breakdown, BreakdownAnswer
from widerow.model.search.highlight import Highlight
from widerow.model.search.query import MATCH_ALL, Query, SearchSort
from widerow.model.search.schema import QueryFlowWeight, SearchField, SearchIndex, SearchSchema

__all__ = [
    "ColumnReturn",
    "ColumnReturnType",
    "ComputeSplits",
    "CreateSearchIndex",
    "DescribeSearchIndex",
    "Hit",
    "IndexSplits",
    "InnerHit",
    "ParallelScan",
    "ScanPage",
    "Search",
    "SearchAnswer",
    "SearchIndexName",
    "SearchIndexState",
    "SyncPhase",
    "UpdateSearchIndex",
]


class ColumnReturnType(IntEnum):
    """Which columns of its rows a search answers. The numbers are those of the wire."""

    ALL = 1
    SPECIFIED = 2
    NONE = 3
    ALL_FROM_INDEX = 4


@dataclass(frozen=True, slots=True)
class ColumnReturn:
    """The columns in a search's answer; `names` are used if the type is SPECIFIED."""

    type: ColumnReturnType = ColumnReturnType.NONE
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateSearchIndex:
    """CreateSearchIndex (search §1.1)."""

    table: str
    index: str
    schema: SearchSchema
    source: str = ""
    time_to_live: int | None = None


@dataclass(frozen=True, slots=True)
class SearchIndexName:
    """An index by its name: the request of DeleteSearchIndex, an element of ListSearchIndex."""

    table: str
    index: str


@dataclass(frozen=True, slots=True)
class DescribeSearchIndex:
    """DescribeSearchIndex (search §1.2)."""

    table: str
    index: str
    include_sync_stat: bool = True


@dataclass(frozen=True, slots=True)
class UpdateSearchIndex:
    """UpdateSearchIndex (search §1.4); "" and None: no change."""

    table: str
    index: str
    switch_index: str = ""
    weights: tuple[QueryFlowWeight, ...] = ()
    time_to_live: int | None = None
    added_fields: tuple[SearchField, ...] = ()


class SyncPhase(IntEnum):
    """Whether rows from before the index are still being indexed."""

    FULL = 1
    INCR = 2


@dataclass(frozen=True, slots=True)
class SearchIndexState:
    """The answer of DescribeSearchIndex.

    `synced_ns`: searches find every write before this time, in nanoseconds since 1970. `brother`:
    the index that is to replace this one, or that this one is to replace; "" if there is none.
    `has_nested`: a field is of type NESTED, so there is no default order. `include_sync_stat`: as
    asked for. `asked_at_us`: the moment of the answer.
    """

    index: SearchIndex
    phase: SyncPhase
    synced_ns: int
    rows: int
    storage_bytes: int
    brother: str
    include_sync_stat: bool
    asked_at_us: int


@dataclass(frozen=True, slots=True)
class Search:
    """Search (search §4 to §6).

    `limit` None: the default; -1: as many as allowed. `token`: the end of a former page.
    `timeout_ms` None: the server's own bound.
    """

    table: str
    index: str
    query: Query = MATCH_ALL
    filter: Query | None = None
    offset: int = 0
    limit: int | None = None
    sort: SearchSort | None = None
    token: bytes = b""
    get_total_count: bool = False
    collapse: str | None = None
    highlight: Highlight | None = None
    breakdown: Breakdown = NO_BREAKDOWN
    columns: ColumnReturn = ColumnReturn()
    timeout_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A found row, or a nested document of one.

    `score`: NaN without scores. `highlights`: by field, the fragments; None if the request asked
    for none, in no inner hits either.
    `row`: a complete PlainBuffer; b"" for a nested document, whose place in its array is
    `nested_offset`. `inner`: by path.
    """

    score: float
    row: bytes = b""
    highlights: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    inner: "tuple[InnerHit, ...]" = ()
    nested_offset: int | None = None


@dataclass(frozen=True, slots=True)
class InnerHit:
    """The matching documents at one nested path of a row."""

    path: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """One page. `total`: -1 where it was not asked for. `token` b"": no page follows.

    `rows`: by encoded primary key, the rows that the breakdown's top rows name, as complete
    PlainBuffers. `read_units`: capacity units of the request.
    """

    total: int
    hits: tuple[Hit, ...]
    token: bytes
    breakdown: BreakdownAnswer
    rows: dict[bytes, bytes]
    read_units: int


@dataclass(frozen=True, slots=True)
class ComputeSplits:
    """ComputeSplits (search §7)."""

    table: str
    index: str


@dataclass(frozen=True, slots=True)
class IndexSplits:
    """A session, and how many parts may be scanned at once in it."""

    session_id: str
    splits: int


@dataclass(frozen=True, slots=True)
class ParallelScan:
    """ParallelScan (search §7). `alive_seconds` None: the default."""

    table: str
    index: str
    query: Query = MATCH_ALL
    session_id: str = ""
    token: bytes = b""
    limit: int | None = None
    alive_seconds: int | None = None
    parallel_id: int = 0
    max_parallel: int = 1
    columns: ColumnReturn = ColumnReturn()
    timeout_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ScanPage:
    """A page of rows, unordered, as complete PlainBuffers; `token` b"": the last page."""

    rows: tuple[bytes, ...]
    token: bytes
    read_units: int
