# Made by tools/gen_messages.py from the .proto files beside it; do not edit.
# ruff: noqa: A002  # arguments are named as the fields are

from collections.abc import Iterable

from google.protobuf.internal.containers import (
    RepeatedCompositeFieldContainer,
    RepeatedScalarFieldContainer,
)
from google.protobuf.message import Message

class GeoPoint(Message):
    lat: float
    lon: float
    def __init__(
        self,
        *,
        lat: float | None = ...,
        lon: float | None = ...,
    ) -> None: ...

class DateTimeValue(Message):
    value: int
    unit: int
    def __init__(
        self,
        *,
        value: int | None = ...,
        unit: int | None = ...,
    ) -> None: ...

class CapacityUnit(Message):
    read: int
    write: int
    def __init__(
        self,
        *,
        read: int | None = ...,
        write: int | None = ...,
    ) -> None: ...

class ConsumedCapacity(Message):
    @property
    def capacity_unit(self) -> CapacityUnit: ...
    def __init__(
        self,
        *,
        capacity_unit: CapacityUnit | None = ...,
    ) -> None: ...

class Query(Message):
    type: int
    query: bytes
    def __init__(
        self,
        *,
        type: int | None = ...,
        query: bytes | None = ...,
    ) -> None: ...

class MatchQuery(Message):
    field_name: str | bytes
    text: str | bytes
    minimum_should_match: int
    operator: int
    weight: float
    new_minimum_should_match: str | bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        text: str | None = ...,
        minimum_should_match: int | None = ...,
        operator: int | None = ...,
        weight: float | None = ...,
        new_minimum_should_match: str | None = ...,
    ) -> None: ...

class MatchPhraseQuery(Message):
    field_name: str | bytes
    text: str | bytes
    weight: float
    slop: int
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        text: str | None = ...,
        weight: float | None = ...,
        slop: int | None = ...,
    ) -> None: ...

class TermQuery(Message):
    field_name: str | bytes
    term: bytes
    weight: float
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        term: bytes | None = ...,
        weight: float | None = ...,
    ) -> None: ...

class RangeQuery(Message):
    field_name: str | bytes
    range_from: bytes
    range_to: bytes
    include_lower: bool
    include_upper: bool
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        range_from: bytes | None = ...,
        range_to: bytes | None = ...,
        include_lower: bool | None = ...,
        include_upper: bool | None = ...,
    ) -> None: ...

class PrefixQuery(Message):
    field_name: str | bytes
    prefix: str | bytes
    weight: float
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        prefix: str | None = ...,
        weight: float | None = ...,
    ) -> None: ...

class BoolQuery(Message):
    @property
    def must_queries(self) -> RepeatedCompositeFieldContainer[Query]: ...
    @property
    def must_not_queries(self) -> RepeatedCompositeFieldContainer[Query]: ...
    @property
    def filter_queries(self) -> RepeatedCompositeFieldContainer[Query]: ...
    @property
    def should_queries(self) -> RepeatedCompositeFieldContainer[Query]: ...
    minimum_should_match: int
    new_minimum_should_match: str | bytes
    weight: float
    def __init__(
        self,
        *,
        must_queries: Iterable[Query] | None = ...,
        must_not_queries: Iterable[Query] | None = ...,
        filter_queries: Iterable[Query] | None = ...,
        should_queries: Iterable[Query] | None = ...,
        minimum_should_match: int | None = ...,
        new_minimum_should_match: str | None = ...,
        weight: float | None = ...,
    ) -> None: ...

class ConstScoreQuery(Message):
    @property
    def filter(self) -> Query: ...
    def __init__(
        self,
        *,
        filter: Query | None = ...,
    ) -> None: ...

class FunctionScoreQuery(Message):
    @property
    def query(self) -> Query: ...
    @property
    def field_value_factor(self) -> FieldValueFactor: ...
    def __init__(
        self,
        *,
        query: Query | None = ...,
        field_value_factor: FieldValueFactor | None = ...,
    ) -> None: ...

class NestedQuery(Message):
    path: str | bytes
    @property
    def query(self) -> Query: ...
    score_mode: int
    weight: float
    @property
    def inner_hits(self) -> InnerHits: ...
    def __init__(
        self,
        *,
        path: str | None = ...,
        query: Query | None = ...,
        score_mode: int | None = ...,
        weight: float | None = ...,
        inner_hits: InnerHits | None = ...,
    ) -> None: ...

class WildcardQuery(Message):
    field_name: str | bytes
    value: str | bytes
    weight: float
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        value: str | None = ...,
        weight: float | None = ...,
    ) -> None: ...

class MatchAllQuery(Message):
    def __init__(self) -> None: ...

class GeoBoundingBoxQuery(Message):
    field_name: str | bytes
    top_left: str | bytes
    bottom_right: str | bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        top_left: str | None = ...,
        bottom_right: str | None = ...,
    ) -> None: ...

class GeoDistanceQuery(Message):
    field_name: str | bytes
    center_point: str | bytes
    distance: float
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        center_point: str | None = ...,
        distance: float | None = ...,
    ) -> None: ...

class GeoPolygonQuery(Message):
    field_name: str | bytes
    @property
    def points(self) -> RepeatedScalarFieldContainer[str]: ...
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        points: Iterable[str] | None = ...,
    ) -> None: ...

class TermsQuery(Message):
    field_name: str | bytes
    @property
    def terms(self) -> RepeatedScalarFieldContainer[bytes]: ...
    weight: float
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        terms: Iterable[bytes] | None = ...,
        weight: float | None = ...,
    ) -> None: ...

class ExistsQuery(Message):
    field_name: str | bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
    ) -> None: ...

class KnnVectorQuery(Message):
    field_name: str | bytes
    top_k: int
    @property
    def float32_query_vector(self) -> RepeatedScalarFieldContainer[float]: ...
    @property
    def filter(self) -> Query: ...
    weight: float
    min_score: float
    num_candidates: int
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        top_k: int | None = ...,
        float32_query_vector: Iterable[float] | None = ...,
        filter: Query | None = ...,
        weight: float | None = ...,
        min_score: float | None = ...,
        num_candidates: int | None = ...,
    ) -> None: ...

class FunctionsScoreQuery(Message):
    @property
    def query(self) -> Query: ...
    @property
    def functions(self) -> RepeatedCompositeFieldContainer[Function]: ...
    score_mode: int
    combine_mode: int
    min_score: float
    max_score: float
    def __init__(
        self,
        *,
        query: Query | None = ...,
        functions: Iterable[Function] | None = ...,
        score_mode: int | None = ...,
        combine_mode: int | None = ...,
        min_score: float | None = ...,
        max_score: float | None = ...,
    ) -> None: ...

class SuffixQuery(Message):
    field_name: str | bytes
    suffix: str | bytes
    weight: float
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        suffix: str | None = ...,
        weight: float | None = ...,
    ) -> None: ...

class DisMaxQuery(Message):
    @property
    def queries(self) -> RepeatedCompositeFieldContainer[Query]: ...
    tie_breaker: float
    weight: float
    def __init__(
        self,
        *,
        queries: Iterable[Query] | None = ...,
        tie_breaker: float | None = ...,
        weight: float | None = ...,
    ) -> None: ...

class FieldValueFactor(Message):
    field_name: str | bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
    ) -> None: ...

class Function(Message):
    @property
    def field_value_factor(self) -> FieldValueFactorFunction: ...
    @property
    def random(self) -> RandomScoreFunction: ...
    @property
    def decay(self) -> DecayFunction: ...
    weight: float
    @property
    def filter(self) -> Query: ...
    def __init__(
        self,
        *,
        field_value_factor: FieldValueFactorFunction | None = ...,
        random: RandomScoreFunction | None = ...,
        decay: DecayFunction | None = ...,
        weight: float | None = ...,
        filter: Query | None = ...,
    ) -> None: ...

class FieldValueFactorFunction(Message):
    field_name: str | bytes
    factor: float
    modifier: int
    missing: float
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        factor: float | None = ...,
        modifier: int | None = ...,
        missing: float | None = ...,
    ) -> None: ...

class DecayFunction(Message):
    field_name: str | bytes
    math_function: int
    param_type: int
    param: bytes
    decay: float
    multi_value_mode: int
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        math_function: int | None = ...,
        param_type: int | None = ...,
        param: bytes | None = ...,
        decay: float | None = ...,
        multi_value_mode: int | None = ...,
    ) -> None: ...

class DecayFuncDateParam(Message):
    origin_long: int
    origin_string: str | bytes
    @property
    def scale(self) -> DateTimeValue: ...
    @property
    def offset(self) -> DateTimeValue: ...
    def __init__(
        self,
        *,
        origin_long: int | None = ...,
        origin_string: str | None = ...,
        scale: DateTimeValue | None = ...,
        offset: DateTimeValue | None = ...,
    ) -> None: ...

class DecayFuncNumericParam(Message):
    origin: float
    scale: float
    offset: float
    def __init__(
        self,
        *,
        origin: float | None = ...,
        scale: float | None = ...,
        offset: float | None = ...,
    ) -> None: ...

class DecayFuncGeoParam(Message):
    origin: str | bytes
    scale: float
    offset: float
    def __init__(
        self,
        *,
        origin: str | None = ...,
        scale: float | None = ...,
        offset: float | None = ...,
    ) -> None: ...

class RandomScoreFunction(Message):
    def __init__(self) -> None: ...

class InnerHits(Message):
    @property
    def sort(self) -> Sort: ...
    offset: int
    limit: int
    @property
    def highlight(self) -> Highlight: ...
    def __init__(
        self,
        *,
        sort: Sort | None = ...,
        offset: int | None = ...,
        limit: int | None = ...,
        highlight: Highlight | None = ...,
    ) -> None: ...

class Sort(Message):
    @property
    def sorter(self) -> RepeatedCompositeFieldContainer[Sorter]: ...
    disable_default_pk_sorter: bool
    def __init__(
        self,
        *,
        sorter: Iterable[Sorter] | None = ...,
        disable_default_pk_sorter: bool | None = ...,
    ) -> None: ...

class Sorter(Message):
    @property
    def field_sort(self) -> FieldSort: ...
    @property
    def geo_distance_sort(self) -> GeoDistanceSort: ...
    @property
    def score_sort(self) -> ScoreSort: ...
    @property
    def pk_sort(self) -> PrimaryKeySort: ...
    @property
    def doc_sort(self) -> DocSort: ...
    def __init__(
        self,
        *,
        field_sort: FieldSort | None = ...,
        geo_distance_sort: GeoDistanceSort | None = ...,
        score_sort: ScoreSort | None = ...,
        pk_sort: PrimaryKeySort | None = ...,
        doc_sort: DocSort | None = ...,
    ) -> None: ...

class FieldSort(Message):
    field_name: str | bytes
    order: int
    mode: int
    @property
    def nested_filter(self) -> NestedFilter: ...
    missing_value: bytes
    missing_field: str | bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        order: int | None = ...,
        mode: int | None = ...,
        nested_filter: NestedFilter | None = ...,
        missing_value: bytes | None = ...,
        missing_field: str | None = ...,
    ) -> None: ...

class GeoDistanceSort(Message):
    field_name: str | bytes
    @property
    def points(self) -> RepeatedScalarFieldContainer[str]: ...
    order: int
    mode: int
    distance_type: int
    @property
    def nested_filter(self) -> NestedFilter: ...
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        points: Iterable[str] | None = ...,
        order: int | None = ...,
        mode: int | None = ...,
        distance_type: int | None = ...,
        nested_filter: NestedFilter | None = ...,
    ) -> None: ...

class ScoreSort(Message):
    order: int
    def __init__(
        self,
        *,
        order: int | None = ...,
    ) -> None: ...

class PrimaryKeySort(Message):
    order: int
    def __init__(
        self,
        *,
        order: int | None = ...,
    ) -> None: ...

class DocSort(Message):
    order: int
    def __init__(
        self,
        *,
        order: int | None = ...,
    ) -> None: ...

class NestedFilter(Message):
    path: str | bytes
    @property
    def filter(self) -> Query: ...
    def __init__(
        self,
        *,
        path: str | None = ...,
        filter: Query | None = ...,
    ) -> None: ...

class Collapse(Message):
    field_name: str | bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
    ) -> None: ...

class Highlight(Message):
    @property
    def highlight_parameters(self) -> RepeatedCompositeFieldContainer[HighlightParameter]: ...
    highlight_encoder: int
    def __init__(
        self,
        *,
        highlight_parameters: Iterable[HighlightParameter] | None = ...,
        highlight_encoder: int | None = ...,
    ) -> None: ...

class HighlightParameter(Message):
    field_name: str | bytes
    number_of_fragments: int
    fragment_size: int
    pre_tag: str | bytes
    post_tag: str | bytes
    fragments_order: int
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        number_of_fragments: int | None = ...,
        fragment_size: int | None = ...,
        pre_tag: str | None = ...,
        post_tag: str | None = ...,
        fragments_order: int | None = ...,
    ) -> None: ...

class IndexSchema(Message):
    @property
    def field_schemas(self) -> RepeatedCompositeFieldContainer[FieldSchema]: ...
    @property
    def index_setting(self) -> IndexSetting: ...
    @property
    def index_sort(self) -> Sort: ...
    def __init__(
        self,
        *,
        field_schemas: Iterable[FieldSchema] | None = ...,
        index_setting: IndexSetting | None = ...,
        index_sort: Sort | None = ...,
    ) -> None: ...

class FieldSchema(Message):
    field_name: str | bytes
    field_type: int
    index_options: int
    analyzer: str | bytes
    index: bool
    enable_sort_and_agg: bool
    store: bool
    @property
    def field_schemas(self) -> RepeatedCompositeFieldContainer[FieldSchema]: ...
    is_array: bool
    analyzer_parameter: bytes
    is_virtual_field: bool
    @property
    def source_field_names(self) -> RepeatedScalarFieldContainer[str]: ...
    @property
    def date_formats(self) -> RepeatedScalarFieldContainer[str]: ...
    enable_highlighting: bool
    @property
    def vector_options(self) -> VectorOptions: ...
    json_type: int
    text_similarity: int
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        field_type: int | None = ...,
        index_options: int | None = ...,
        analyzer: str | None = ...,
        index: bool | None = ...,
        enable_sort_and_agg: bool | None = ...,
        store: bool | None = ...,
        field_schemas: Iterable[FieldSchema] | None = ...,
        is_array: bool | None = ...,
        analyzer_parameter: bytes | None = ...,
        is_virtual_field: bool | None = ...,
        source_field_names: Iterable[str] | None = ...,
        date_formats: Iterable[str] | None = ...,
        enable_highlighting: bool | None = ...,
        vector_options: VectorOptions | None = ...,
        json_type: int | None = ...,
        text_similarity: int | None = ...,
    ) -> None: ...

class VectorOptions(Message):
    data_type: int
    dimension: int
    metric_type: int
    def __init__(
        self,
        *,
        data_type: int | None = ...,
        dimension: int | None = ...,
        metric_type: int | None = ...,
    ) -> None: ...

class IndexSetting(Message):
    number_of_shards: int
    @property
    def routing_fields(self) -> RepeatedScalarFieldContainer[str]: ...
    routing_partition_size: int
    enable_custom_column_version: bool
    def __init__(
        self,
        *,
        number_of_shards: int | None = ...,
        routing_fields: Iterable[str] | None = ...,
        routing_partition_size: int | None = ...,
        enable_custom_column_version: bool | None = ...,
    ) -> None: ...

class SingleWordAnalyzerParameter(Message):
    case_sensitive: bool
    delimit_word: bool
    def __init__(
        self,
        *,
        case_sensitive: bool | None = ...,
        delimit_word: bool | None = ...,
    ) -> None: ...

class SplitAnalyzerParameter(Message):
    delimiter: str | bytes
    case_sensitive: bool
    def __init__(
        self,
        *,
        delimiter: str | None = ...,
        case_sensitive: bool | None = ...,
    ) -> None: ...

class FuzzyAnalyzerParameter(Message):
    min_chars: int
    max_chars: int
    case_sensitive: bool
    def __init__(
        self,
        *,
        min_chars: int | None = ...,
        max_chars: int | None = ...,
        case_sensitive: bool | None = ...,
    ) -> None: ...

class CreateSearchIndexRequest(Message):
    table_name: str | bytes
    index_name: str | bytes
    @property
    def schema(self) -> IndexSchema: ...
    source_index_name: str | bytes
    time_to_live: int
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        index_name: str | None = ...,
        schema: IndexSchema | None = ...,
        source_index_name: str | None = ...,
        time_to_live: int | None = ...,
    ) -> None: ...

class CreateSearchIndexResponse(Message):
    def __init__(self) -> None: ...

class QueryFlowWeight(Message):
    index_name: str | bytes
    weight: int
    def __init__(
        self,
        *,
        index_name: str | None = ...,
        weight: int | None = ...,
    ) -> None: ...

class UpdateSearchIndexRequest(Message):
    table_name: str | bytes
    index_name: str | bytes
    switch_index_name: str | bytes
    @property
    def query_flow_weight(self) -> RepeatedCompositeFieldContainer[QueryFlowWeight]: ...
    time_to_live: int
    @property
    def added_field_schemas(self) -> RepeatedCompositeFieldContainer[FieldSchema]: ...
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        index_name: str | None = ...,
        switch_index_name: str | None = ...,
        query_flow_weight: Iterable[QueryFlowWeight] | None = ...,
        time_to_live: int | None = ...,
        added_field_schemas: Iterable[FieldSchema] | None = ...,
    ) -> None: ...

class UpdateSearchIndexResponse(Message):
    def __init__(self) -> None: ...

class IndexInfo(Message):
    table_name: str | bytes
    index_name: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        index_name: str | None = ...,
    ) -> None: ...

class ListSearchIndexRequest(Message):
    table_name: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
    ) -> None: ...

class ListSearchIndexResponse(Message):
    @property
    def indices(self) -> RepeatedCompositeFieldContainer[IndexInfo]: ...
    def __init__(
        self,
        *,
        indices: Iterable[IndexInfo] | None = ...,
    ) -> None: ...

class DeleteSearchIndexRequest(Message):
    table_name: str | bytes
    index_name: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        index_name: str | None = ...,
    ) -> None: ...

class DeleteSearchIndexResponse(Message):
    def __init__(self) -> None: ...

class DescribeSearchIndexRequest(Message):
    table_name: str | bytes
    index_name: str | bytes
    include_sync_stat: bool
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        index_name: str | None = ...,
        include_sync_stat: bool | None = ...,
    ) -> None: ...

class DescribeSearchIndexResponse(Message):
    @property
    def schema(self) -> IndexSchema: ...
    @property
    def sync_stat(self) -> SyncStat: ...
    @property
    def metering_info(self) -> MeteringInfo: ...
    brother_index_name: str | bytes
    @property
    def query_flow_weight(self) -> RepeatedCompositeFieldContainer[QueryFlowWeight]: ...
    create_time: int
    time_to_live: int
    @property
    def index_status(self) -> IndexStatus: ...
    def __init__(
        self,
        *,
        schema: IndexSchema | None = ...,
        sync_stat: SyncStat | None = ...,
        metering_info: MeteringInfo | None = ...,
        brother_index_name: str | None = ...,
        query_flow_weight: Iterable[QueryFlowWeight] | None = ...,
        create_time: int | None = ...,
        time_to_live: int | None = ...,
        index_status: IndexStatus | None = ...,
    ) -> None: ...

class SyncStat(Message):
    sync_phase: int
    current_sync_timestamp: int
    def __init__(
        self,
        *,
        sync_phase: int | None = ...,
        current_sync_timestamp: int | None = ...,
    ) -> None: ...

class MeteringInfo(Message):
    storage_size: int
    row_count: int
    reserved_read_cu: int
    timestamp: int
    def __init__(
        self,
        *,
        storage_size: int | None = ...,
        row_count: int | None = ...,
        reserved_read_cu: int | None = ...,
        timestamp: int | None = ...,
    ) -> None: ...

class IndexStatus(Message):
    status: int
    status_description: str | bytes
    def __init__(
        self,
        *,
        status: int | None = ...,
        status_description: str | None = ...,
    ) -> None: ...

class ColumnsToGet(Message):
    return_type: int
    @property
    def column_names(self) -> RepeatedScalarFieldContainer[str]: ...
    def __init__(
        self,
        *,
        return_type: int | None = ...,
        column_names: Iterable[str] | None = ...,
    ) -> None: ...

class SearchRequest(Message):
    table_name: str | bytes
    index_name: str | bytes
    @property
    def columns_to_get(self) -> ColumnsToGet: ...
    search_query: bytes
    @property
    def routing_values(self) -> RepeatedScalarFieldContainer[bytes]: ...
    timeout_ms: int
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        index_name: str | None = ...,
        columns_to_get: ColumnsToGet | None = ...,
        search_query: bytes | None = ...,
        routing_values: Iterable[bytes] | None = ...,
        timeout_ms: int | None = ...,
    ) -> None: ...

class SearchQuery(Message):
    offset: int
    limit: int
    @property
    def query(self) -> Query: ...
    @property
    def collapse(self) -> Collapse: ...
    @property
    def sort(self) -> Sort: ...
    get_total_count: bool
    token: bytes
    @property
    def aggs(self) -> Aggregations: ...
    @property
    def group_bys(self) -> GroupBys: ...
    @property
    def highlight(self) -> Highlight: ...
    track_total_count: int
    @property
    def filter(self) -> SearchFilter: ...
    def __init__(
        self,
        *,
        offset: int | None = ...,
        limit: int | None = ...,
        query: Query | None = ...,
        collapse: Collapse | None = ...,
        sort: Sort | None = ...,
        get_total_count: bool | None = ...,
        token: bytes | None = ...,
        aggs: Aggregations | None = ...,
        group_bys: GroupBys | None = ...,
        highlight: Highlight | None = ...,
        track_total_count: int | None = ...,
        filter: SearchFilter | None = ...,
    ) -> None: ...

class SearchFilter(Message):
    @property
    def query(self) -> Query: ...
    def __init__(
        self,
        *,
        query: Query | None = ...,
    ) -> None: ...

class SearchResponse(Message):
    total_hits: int
    @property
    def rows(self) -> RepeatedScalarFieldContainer[bytes]: ...
    is_all_succeeded: bool
    @property
    def search_hits(self) -> RepeatedCompositeFieldContainer[SearchHit]: ...
    next_token: bytes
    aggs: bytes
    group_bys: bytes
    @property
    def consumed(self) -> ConsumedCapacity: ...
    @property
    def reserved_consumed(self) -> ConsumedCapacity: ...
    def __init__(
        self,
        *,
        total_hits: int | None = ...,
        rows: Iterable[bytes] | None = ...,
        is_all_succeeded: bool | None = ...,
        search_hits: Iterable[SearchHit] | None = ...,
        next_token: bytes | None = ...,
        aggs: bytes | None = ...,
        group_bys: bytes | None = ...,
        consumed: ConsumedCapacity | None = ...,
        reserved_consumed: ConsumedCapacity | None = ...,
    ) -> None: ...

class SearchHit(Message):
    score: float
    @property
    def highlight_result(self) -> HighlightResult: ...
    @property
    def search_inner_hits(self) -> RepeatedCompositeFieldContainer[SearchInnerHit]: ...
    nested_doc_offset: int
    def __init__(
        self,
        *,
        score: float | None = ...,
        highlight_result: HighlightResult | None = ...,
        search_inner_hits: Iterable[SearchInnerHit] | None = ...,
        nested_doc_offset: int | None = ...,
    ) -> None: ...

class SearchInnerHit(Message):
    path: str | bytes
    @property
    def search_hits(self) -> RepeatedCompositeFieldContainer[SearchHit]: ...
    def __init__(
        self,
        *,
        path: str | None = ...,
        search_hits: Iterable[SearchHit] | None = ...,
    ) -> None: ...

class HighlightResult(Message):
    @property
    def highlight_fields(self) -> RepeatedCompositeFieldContainer[HighlightField]: ...
    def __init__(
        self,
        *,
        highlight_fields: Iterable[HighlightField] | None = ...,
    ) -> None: ...

class HighlightField(Message):
    field_name: str | bytes
    @property
    def field_fragments(self) -> RepeatedScalarFieldContainer[str]: ...
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        field_fragments: Iterable[str] | None = ...,
    ) -> None: ...

class ComputeSplitsRequest(Message):
    table_name: str | bytes
    @property
    def search_index_splits_options(self) -> SearchIndexSplitsOptions: ...
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        search_index_splits_options: SearchIndexSplitsOptions | None = ...,
    ) -> None: ...

class SearchIndexSplitsOptions(Message):
    index_name: str | bytes
    def __init__(
        self,
        *,
        index_name: str | None = ...,
    ) -> None: ...

class ComputeSplitsResponse(Message):
    session_id: bytes
    splits_size: int
    def __init__(
        self,
        *,
        session_id: bytes | None = ...,
        splits_size: int | None = ...,
    ) -> None: ...

class ParallelScanRequest(Message):
    table_name: str | bytes
    index_name: str | bytes
    @property
    def columns_to_get(self) -> ColumnsToGet: ...
    session_id: bytes
    @property
    def scan_query(self) -> ScanQuery: ...
    timeout_ms: int
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        index_name: str | None = ...,
        columns_to_get: ColumnsToGet | None = ...,
        session_id: bytes | None = ...,
        scan_query: ScanQuery | None = ...,
        timeout_ms: int | None = ...,
    ) -> None: ...

class ScanQuery(Message):
    @property
    def query(self) -> Query: ...
    limit: int
    alive_time: int
    token: bytes
    current_parallel_id: int
    max_parallel: int
    def __init__(
        self,
        *,
        query: Query | None = ...,
        limit: int | None = ...,
        alive_time: int | None = ...,
        token: bytes | None = ...,
        current_parallel_id: int | None = ...,
        max_parallel: int | None = ...,
    ) -> None: ...

class ParallelScanResponse(Message):
    @property
    def rows(self) -> RepeatedScalarFieldContainer[bytes]: ...
    next_token: bytes
    def __init__(
        self,
        *,
        rows: Iterable[bytes] | None = ...,
        next_token: bytes | None = ...,
    ) -> None: ...

class Aggregations(Message):
    @property
    def aggs(self) -> RepeatedCompositeFieldContainer[Aggregation]: ...
    def __init__(
        self,
        *,
        aggs: Iterable[Aggregation] | None = ...,
    ) -> None: ...

class Aggregation(Message):
    name: str | bytes
    type: int
    body: bytes
    def __init__(
        self,
        *,
        name: str | None = ...,
        type: int | None = ...,
        body: bytes | None = ...,
    ) -> None: ...

class AvgAggregation(Message):
    field_name: str | bytes
    missing: bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        missing: bytes | None = ...,
    ) -> None: ...

class MaxAggregation(Message):
    field_name: str | bytes
    missing: bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        missing: bytes | None = ...,
    ) -> None: ...

class MinAggregation(Message):
    field_name: str | bytes
    missing: bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        missing: bytes | None = ...,
    ) -> None: ...

class SumAggregation(Message):
    field_name: str | bytes
    missing: bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        missing: bytes | None = ...,
    ) -> None: ...

class CountAggregation(Message):
    field_name: str | bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
    ) -> None: ...

class DistinctCountAggregation(Message):
    field_name: str | bytes
    missing: bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        missing: bytes | None = ...,
    ) -> None: ...

class TopRowsAggregation(Message):
    limit: int
    @property
    def sort(self) -> Sort: ...
    def __init__(
        self,
        *,
        limit: int | None = ...,
        sort: Sort | None = ...,
    ) -> None: ...

class PercentilesAggregation(Message):
    field_name: str | bytes
    @property
    def percentiles(self) -> RepeatedScalarFieldContainer[float]: ...
    missing: bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        percentiles: Iterable[float] | None = ...,
        missing: bytes | None = ...,
    ) -> None: ...

class GroupBys(Message):
    @property
    def group_bys(self) -> RepeatedCompositeFieldContainer[GroupBy]: ...
    def __init__(
        self,
        *,
        group_bys: Iterable[GroupBy] | None = ...,
    ) -> None: ...

class GroupBy(Message):
    name: str | bytes
    type: int
    body: bytes
    def __init__(
        self,
        *,
        name: str | None = ...,
        type: int | None = ...,
        body: bytes | None = ...,
    ) -> None: ...

class GroupByField(Message):
    field_name: str | bytes
    size: int
    @property
    def sort(self) -> GroupBySort: ...
    @property
    def sub_aggs(self) -> Aggregations: ...
    @property
    def sub_group_bys(self) -> GroupBys: ...
    min_doc_count: int
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        size: int | None = ...,
        sort: GroupBySort | None = ...,
        sub_aggs: Aggregations | None = ...,
        sub_group_bys: GroupBys | None = ...,
        min_doc_count: int | None = ...,
    ) -> None: ...

class GroupByRange(Message):
    field_name: str | bytes
    @property
    def ranges(self) -> RepeatedCompositeFieldContainer[Range]: ...
    @property
    def sub_aggs(self) -> Aggregations: ...
    @property
    def sub_group_bys(self) -> GroupBys: ...
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        ranges: Iterable[Range] | None = ...,
        sub_aggs: Aggregations | None = ...,
        sub_group_bys: GroupBys | None = ...,
    ) -> None: ...

class GroupByFilter(Message):
    @property
    def filters(self) -> RepeatedCompositeFieldContainer[Query]: ...
    @property
    def sub_aggs(self) -> Aggregations: ...
    @property
    def sub_group_bys(self) -> GroupBys: ...
    def __init__(
        self,
        *,
        filters: Iterable[Query] | None = ...,
        sub_aggs: Aggregations | None = ...,
        sub_group_bys: GroupBys | None = ...,
    ) -> None: ...

class GroupByGeoDistance(Message):
    field_name: str | bytes
    @property
    def origin(self) -> GeoPoint: ...
    @property
    def ranges(self) -> RepeatedCompositeFieldContainer[Range]: ...
    @property
    def sub_aggs(self) -> Aggregations: ...
    @property
    def sub_group_bys(self) -> GroupBys: ...
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        origin: GeoPoint | None = ...,
        ranges: Iterable[Range] | None = ...,
        sub_aggs: Aggregations | None = ...,
        sub_group_bys: GroupBys | None = ...,
    ) -> None: ...

class GroupByHistogram(Message):
    field_name: str | bytes
    interval: bytes
    missing: bytes
    min_doc_count: int
    @property
    def sort(self) -> GroupBySort: ...
    @property
    def field_range(self) -> FieldRange: ...
    @property
    def sub_aggs(self) -> Aggregations: ...
    @property
    def sub_group_bys(self) -> GroupBys: ...
    offset: bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        interval: bytes | None = ...,
        missing: bytes | None = ...,
        min_doc_count: int | None = ...,
        sort: GroupBySort | None = ...,
        field_range: FieldRange | None = ...,
        sub_aggs: Aggregations | None = ...,
        sub_group_bys: GroupBys | None = ...,
        offset: bytes | None = ...,
    ) -> None: ...

class GroupByDateHistogram(Message):
    field_name: str | bytes
    @property
    def interval(self) -> DateTimeValue: ...
    @property
    def field_range(self) -> FieldRange: ...
    missing: bytes
    min_doc_count: int
    time_zone: str | bytes
    @property
    def sort(self) -> GroupBySort: ...
    @property
    def sub_aggs(self) -> Aggregations: ...
    @property
    def sub_group_bys(self) -> GroupBys: ...
    @property
    def offset(self) -> DateTimeValue: ...
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        interval: DateTimeValue | None = ...,
        field_range: FieldRange | None = ...,
        missing: bytes | None = ...,
        min_doc_count: int | None = ...,
        time_zone: str | None = ...,
        sort: GroupBySort | None = ...,
        sub_aggs: Aggregations | None = ...,
        sub_group_bys: GroupBys | None = ...,
        offset: DateTimeValue | None = ...,
    ) -> None: ...

class GroupByGeoGrid(Message):
    field_name: str | bytes
    precision: int
    size: int
    @property
    def sub_aggs(self) -> Aggregations: ...
    @property
    def sub_group_bys(self) -> GroupBys: ...
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        precision: int | None = ...,
        size: int | None = ...,
        sub_aggs: Aggregations | None = ...,
        sub_group_bys: GroupBys | None = ...,
    ) -> None: ...

class GroupByComposite(Message):
    @property
    def sources(self) -> GroupBys: ...
    size: int
    @property
    def sub_aggs(self) -> Aggregations: ...
    @property
    def sub_group_bys(self) -> GroupBys: ...
    next_token: str | bytes
    suggested_size: int
    def __init__(
        self,
        *,
        sources: GroupBys | None = ...,
        size: int | None = ...,
        sub_aggs: Aggregations | None = ...,
        sub_group_bys: GroupBys | None = ...,
        next_token: str | None = ...,
        suggested_size: int | None = ...,
    ) -> None: ...

class Range(Message):
    begin: float
    end: float
    def __init__(
        self,
        *,
        begin: float | None = ...,
        end: float | None = ...,
    ) -> None: ...

class FieldRange(Message):
    min: bytes
    max: bytes
    def __init__(
        self,
        *,
        min: bytes | None = ...,
        max: bytes | None = ...,
    ) -> None: ...

class GroupBySort(Message):
    @property
    def sorters(self) -> RepeatedCompositeFieldContainer[GroupBySorter]: ...
    def __init__(
        self,
        *,
        sorters: Iterable[GroupBySorter] | None = ...,
    ) -> None: ...

class GroupBySorter(Message):
    @property
    def group_key_sort(self) -> GroupKeySort: ...
    @property
    def row_count_sort(self) -> RowCountSort: ...
    @property
    def sub_agg_sort(self) -> SubAggSort: ...
    def __init__(
        self,
        *,
        group_key_sort: GroupKeySort | None = ...,
        row_count_sort: RowCountSort | None = ...,
        sub_agg_sort: SubAggSort | None = ...,
    ) -> None: ...

class GroupKeySort(Message):
    order: int
    def __init__(
        self,
        *,
        order: int | None = ...,
    ) -> None: ...

class RowCountSort(Message):
    order: int
    def __init__(
        self,
        *,
        order: int | None = ...,
    ) -> None: ...

class SubAggSort(Message):
    sub_agg_name: str | bytes
    order: int
    def __init__(
        self,
        *,
        sub_agg_name: str | None = ...,
        order: int | None = ...,
    ) -> None: ...

class AvgAggregationResult(Message):
    value: float
    def __init__(
        self,
        *,
        value: float | None = ...,
    ) -> None: ...

class TopRowsAggregationResult(Message):
    @property
    def rows(self) -> RepeatedScalarFieldContainer[bytes]: ...
    def __init__(
        self,
        *,
        rows: Iterable[bytes] | None = ...,
    ) -> None: ...

class PercentilesAggregationItem(Message):
    key: float
    value: bytes
    def __init__(
        self,
        *,
        key: float | None = ...,
        value: bytes | None = ...,
    ) -> None: ...

class PercentilesAggregationResult(Message):
    @property
    def percentiles_aggregation_items(
        self,
    ) -> RepeatedCompositeFieldContainer[PercentilesAggregationItem]: ...
    def __init__(
        self,
        *,
        percentiles_aggregation_items: Iterable[PercentilesAggregationItem] | None = ...,
    ) -> None: ...

class DistinctCountAggregationResult(Message):
    value: int
    def __init__(
        self,
        *,
        value: int | None = ...,
    ) -> None: ...

class MaxAggregationResult(Message):
    value: float
    def __init__(
        self,
        *,
        value: float | None = ...,
    ) -> None: ...

class MinAggregationResult(Message):
    value: float
    def __init__(
        self,
        *,
        value: float | None = ...,
    ) -> None: ...

class SumAggregationResult(Message):
    value: float
    def __init__(
        self,
        *,
        value: float | None = ...,
    ) -> None: ...

class CountAggregationResult(Message):
    value: int
    def __init__(
        self,
        *,
        value: int | None = ...,
    ) -> None: ...

class AggregationResult(Message):
    name: str | bytes
    type: int
    agg_result: bytes
    def __init__(
        self,
        *,
        name: str | None = ...,
        type: int | None = ...,
        agg_result: bytes | None = ...,
    ) -> None: ...

class AggregationsResult(Message):
    @property
    def agg_results(self) -> RepeatedCompositeFieldContainer[AggregationResult]: ...
    def __init__(
        self,
        *,
        agg_results: Iterable[AggregationResult] | None = ...,
    ) -> None: ...

class GroupByCompositeResultItem(Message):
    @property
    def keys(self) -> RepeatedScalarFieldContainer[str]: ...
    row_count: int
    @property
    def sub_aggs_result(self) -> AggregationsResult: ...
    @property
    def sub_group_bys_result(self) -> GroupBysResult: ...
    @property
    def is_null_keys(self) -> RepeatedScalarFieldContainer[bool]: ...
    def __init__(
        self,
        *,
        keys: Iterable[str] | None = ...,
        row_count: int | None = ...,
        sub_aggs_result: AggregationsResult | None = ...,
        sub_group_bys_result: GroupBysResult | None = ...,
        is_null_keys: Iterable[bool] | None = ...,
    ) -> None: ...

class GroupByCompositeResult(Message):
    @property
    def group_by_composite_result_items(
        self,
    ) -> RepeatedCompositeFieldContainer[GroupByCompositeResultItem]: ...
    @property
    def source_group_by_names(self) -> RepeatedScalarFieldContainer[str]: ...
    next_token: str | bytes
    def __init__(
        self,
        *,
        group_by_composite_result_items: Iterable[GroupByCompositeResultItem] | None = ...,
        source_group_by_names: Iterable[str] | None = ...,
        next_token: str | None = ...,
    ) -> None: ...

class GeoGrid(Message):
    @property
    def top_left(self) -> GeoPoint: ...
    @property
    def bottom_right(self) -> GeoPoint: ...
    def __init__(
        self,
        *,
        top_left: GeoPoint | None = ...,
        bottom_right: GeoPoint | None = ...,
    ) -> None: ...

class GroupByFieldResultItem(Message):
    key: str | bytes
    row_count: int
    @property
    def sub_aggs_result(self) -> AggregationsResult: ...
    @property
    def sub_group_bys_result(self) -> GroupBysResult: ...
    def __init__(
        self,
        *,
        key: str | None = ...,
        row_count: int | None = ...,
        sub_aggs_result: AggregationsResult | None = ...,
        sub_group_bys_result: GroupBysResult | None = ...,
    ) -> None: ...

class GroupByFieldResult(Message):
    @property
    def group_by_field_result_items(
        self,
    ) -> RepeatedCompositeFieldContainer[GroupByFieldResultItem]: ...
    def __init__(
        self,
        *,
        group_by_field_result_items: Iterable[GroupByFieldResultItem] | None = ...,
    ) -> None: ...

class GroupByRangeResultItem(Message):
    range_from: float
    range_to: float
    row_count: int
    @property
    def sub_aggs_result(self) -> AggregationsResult: ...
    @property
    def sub_group_bys_result(self) -> GroupBysResult: ...
    def __init__(
        self,
        *,
        range_from: float | None = ...,
        range_to: float | None = ...,
        row_count: int | None = ...,
        sub_aggs_result: AggregationsResult | None = ...,
        sub_group_bys_result: GroupBysResult | None = ...,
    ) -> None: ...

class GroupByRangeResult(Message):
    @property
    def group_by_range_result_items(
        self,
    ) -> RepeatedCompositeFieldContainer[GroupByRangeResultItem]: ...
    def __init__(
        self,
        *,
        group_by_range_result_items: Iterable[GroupByRangeResultItem] | None = ...,
    ) -> None: ...

class GroupByGeoDistanceResultItem(Message):
    range_from: float
    range_to: float
    row_count: int
    @property
    def sub_aggs_result(self) -> AggregationsResult: ...
    @property
    def sub_group_bys_result(self) -> GroupBysResult: ...
    def __init__(
        self,
        *,
        range_from: float | None = ...,
        range_to: float | None = ...,
        row_count: int | None = ...,
        sub_aggs_result: AggregationsResult | None = ...,
        sub_group_bys_result: GroupBysResult | None = ...,
    ) -> None: ...

class GroupByGeoDistanceResult(Message):
    @property
    def group_by_geo_distance_result_items(
        self,
    ) -> RepeatedCompositeFieldContainer[GroupByGeoDistanceResultItem]: ...
    def __init__(
        self,
        *,
        group_by_geo_distance_result_items: Iterable[GroupByGeoDistanceResultItem] | None = ...,
    ) -> None: ...

class GroupByFilterResultItem(Message):
    row_count: int
    @property
    def sub_aggs_result(self) -> AggregationsResult: ...
    @property
    def sub_group_bys_result(self) -> GroupBysResult: ...
    def __init__(
        self,
        *,
        row_count: int | None = ...,
        sub_aggs_result: AggregationsResult | None = ...,
        sub_group_bys_result: GroupBysResult | None = ...,
    ) -> None: ...

class GroupByFilterResult(Message):
    @property
    def group_by_filter_result_items(
        self,
    ) -> RepeatedCompositeFieldContainer[GroupByFilterResultItem]: ...
    def __init__(
        self,
        *,
        group_by_filter_result_items: Iterable[GroupByFilterResultItem] | None = ...,
    ) -> None: ...

class GroupByResult(Message):
    name: str | bytes
    type: int
    group_by_result: bytes
    def __init__(
        self,
        *,
        name: str | None = ...,
        type: int | None = ...,
        group_by_result: bytes | None = ...,
    ) -> None: ...

class GroupBysResult(Message):
    @property
    def group_by_results(self) -> RepeatedCompositeFieldContainer[GroupByResult]: ...
    def __init__(
        self,
        *,
        group_by_results: Iterable[GroupByResult] | None = ...,
    ) -> None: ...

class GroupByHistogramItem(Message):
    key: bytes
    value: int
    @property
    def sub_aggs_result(self) -> AggregationsResult: ...
    @property
    def sub_group_bys_result(self) -> GroupBysResult: ...
    def __init__(
        self,
        *,
        key: bytes | None = ...,
        value: int | None = ...,
        sub_aggs_result: AggregationsResult | None = ...,
        sub_group_bys_result: GroupBysResult | None = ...,
    ) -> None: ...

class GroupByHistogramResult(Message):
    @property
    def group_by_histogram_items(self) -> RepeatedCompositeFieldContainer[GroupByHistogramItem]: ...
    def __init__(
        self,
        *,
        group_by_histogram_items: Iterable[GroupByHistogramItem] | None = ...,
    ) -> None: ...

class GroupByDateHistogramItem(Message):
    timestamp: int
    row_count: int
    @property
    def sub_aggs_result(self) -> AggregationsResult: ...
    @property
    def sub_group_bys_result(self) -> GroupBysResult: ...
    def __init__(
        self,
        *,
        timestamp: int | None = ...,
        row_count: int | None = ...,
        sub_aggs_result: AggregationsResult | None = ...,
        sub_group_bys_result: GroupBysResult | None = ...,
    ) -> None: ...

class GroupByDateHistogramResult(Message):
    @property
    def group_by_date_histogram_items(
        self,
    ) -> RepeatedCompositeFieldContainer[GroupByDateHistogramItem]: ...
    def __init__(
        self,
        *,
        group_by_date_histogram_items: Iterable[GroupByDateHistogramItem] | None = ...,
    ) -> None: ...

class GroupByGeoGridResultItem(Message):
    key: str | bytes
    @property
    def geo_grid(self) -> GeoGrid: ...
    row_count: int
    @property
    def sub_aggs_result(self) -> AggregationsResult: ...
    @property
    def sub_group_bys_result(self) -> GroupBysResult: ...
    def __init__(
        self,
        *,
        key: str | None = ...,
        geo_grid: GeoGrid | None = ...,
        row_count: int | None = ...,
        sub_aggs_result: AggregationsResult | None = ...,
        sub_group_bys_result: GroupBysResult | None = ...,
    ) -> None: ...

class GroupByGeoGridResult(Message):
    @property
    def group_by_geo_grid_result_items(
        self,
    ) -> RepeatedCompositeFieldContainer[GroupByGeoGridResultItem]: ...
    def __init__(
        self,
        *,
        group_by_geo_grid_result_items: Iterable[GroupByGeoGridResultItem] | None = ...,
    ) -> None: ...
