"""Schemas of search indexes: messages and values (search §1.1, §1.2, §3).

What a client sent is described as it was sent, and what it left out is added only where an SDK
reads it unseen.
"""

from collections.abc import Callable
from typing import Any, Final

from widerow.errors import InvalidRequest, Unsupported
from widerow.limits import NAME_BYTES_MAX
from widerow.model.search.query import PrimaryKeySort, SearchSort
from widerow.model.search.schema import (
    AnalyzerName,
    IndexOptions,
    JsonKind,
    QueryFlowWeight,
    SearchField,
    SearchFieldType,
    SearchSchema,
    TextAnalyzer,
    TextSimilarity,
    VectorMetric,
    VectorOptions,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.bodies import text, texts
from widerow.wire.tablestore.operations.search.orders import decode_sort, encode_sort
from widerow.wire.tablestore.operations.search.queries import decode_query
from widerow.wire.tablestore.operations.search.unfolding import Unfolding, members

__all__ = [
    "decode_field",
    "decode_schema",
    "decode_weights",
    "encode_schema",
    "encode_weights",
]

_TYPES: Final = members(SearchFieldType)
_OPTIONS: Final = members(IndexOptions)
_SIMILARITIES: Final = members(TextSimilarity)
_JSON: Final = members(JsonKind)
_METRICS: Final = members(VectorMetric)
_ANALYZERS: Final = {each.value: each for each in AnalyzerName}
_FLOAT_32: Final = 2  # VectorDataType
_PK_SORT: Final = SearchSort((PrimaryKeySort(),))


def decode_schema(sent: m.IndexSchema, unfolding: Unfolding) -> SearchSchema:
    """The fields, their order and the routing. Raises `InvalidRequest`, `Unsupported`."""
    setting = sent.index_setting
    if setting.enable_custom_column_version:
        raise Unsupported(
            TablestoreRule.FEATURE_UNSUPPORTED, feature="enable_custom_column_version"
        )
    sized = setting.HasField("routing_partition_size")
    return SearchSchema(
        tuple([decode_field(each, unfolding) for each in sent.field_schemas]),
        decode_sort(sent.index_sort, lambda query: decode_query(unfolding, query)),
        texts(setting.routing_fields),
        setting.routing_partition_size if sized else None,
    )


def decode_field(sent: m.FieldSchema, unfolding: Unfolding) -> SearchField:
    """A field with those below it. Raises `InvalidRequest` for what no field can be."""
    name = text(sent.field_name)
    kind = _known(sent, "field_type", _TYPES)
    if kind is None:
        raise _field_error(sent, "field_type")
    return SearchField(
        name=name,
        type=kind,
        index=_said(sent, "index"),
        sort_and_agg=_said(sent, "enable_sort_and_agg"),
        store=_said(sent, "store"),
        is_array=_said(sent, "is_array"),
        analyzer=_analyzer(sent, unfolding),
        analyzer_sent=sent.HasField("analyzer"),
        source=_source(sent),
        date_formats=texts(sent.date_formats),
        highlighting=_said(sent, "enable_highlighting"),
        vector=_vector(sent) if sent.HasField("vector_options") else None,
        json=_known(sent, "json_type", _JSON),
        similarity=_known(sent, "text_similarity", _SIMILARITIES),
        options=_known(sent, "index_options", _OPTIONS),
        fields=tuple([decode_field(each, unfolding) for each in sent.field_schemas]),
    )


def _said(sent: m.FieldSchema, name: str) -> bool | None:
    return bool(getattr(sent, name)) if sent.HasField(name) else None


def _known(sent: m.FieldSchema, name: str, known: Any) -> Any:  # noqa: ANN401  # an enumeration's
    """A member, or None where the field is not there."""
    if not sent.HasField(name):
        return None
    found = known.get(getattr(sent, name))
    if found is None:
        raise _field_error(sent, name)
    return found


def _field_error(sent: m.FieldSchema, name: str) -> InvalidRequest:
    field = text(sent.field_name)[:NAME_BYTES_MAX]
    return InvalidRequest(
        TablestoreRule.SEARCH_FIELD_TYPE, field=field, kind=name, value=getattr(sent, name)
    )


def _source(sent: m.FieldSchema) -> str | None:
    """The column of a virtual field: exactly one (search §2.5)."""
    names = texts(sent.source_field_names)
    if len(names) != bool(sent.is_virtual_field) or names == ("",):
        field = text(sent.field_name)[:NAME_BYTES_MAX]
        raise InvalidRequest(TablestoreRule.SEARCH_VIRTUAL_SOURCE, field=field)
    return names[0] if names else None


def _vector(sent: m.FieldSchema) -> VectorOptions:
    options = sent.vector_options
    metric = _METRICS.get(options.metric_type)
    if options.data_type != _FLOAT_32 or metric is None:
        field = text(sent.field_name)[:NAME_BYTES_MAX]
        raise InvalidRequest(TablestoreRule.SEARCH_VECTOR_OPTIONS, field=field)
    return VectorOptions(options.dimension, metric)


# --- analyzers -------------------------------------------------------------------------------


def _analyzer(sent: m.FieldSchema, unfolding: Unfolding) -> TextAnalyzer | None:
    """The analyzer with its parameters; None where neither was sent."""
    has_parameter = sent.HasField("analyzer_parameter")
    if not sent.HasField("analyzer") and not has_parameter:
        return None
    field = text(sent.field_name)[:NAME_BYTES_MAX]
    called = text(sent.analyzer) or AnalyzerName.SINGLE_WORD.value
    name = _ANALYZERS.get(called)
    if name is None:
        raise InvalidRequest(TablestoreRule.SEARCH_ANALYZER_NAME, field=field, name=called)
    if not has_parameter:
        return TextAnalyzer(name)
    try:
        return _PARAMETERS[name](sent.analyzer_parameter, unfolding)
    except InvalidRequest as error:
        raise InvalidRequest(TablestoreRule.SEARCH_ANALYZER_PARAMETER, field=field) from error


def _single_word(data: bytes, unfolding: Unfolding) -> TextAnalyzer:
    sent = unfolding.parse(m.SingleWordAnalyzerParameter, data)
    return TextAnalyzer(
        AnalyzerName.SINGLE_WORD,
        case_sensitive=sent.case_sensitive,
        delimit_word=sent.delimit_word,
        sent=data,
    )


def _split(data: bytes, unfolding: Unfolding) -> TextAnalyzer:
    """An empty delimiter is none: any run of white space (search §3)."""
    sent = unfolding.parse(m.SplitAnalyzerParameter, data)
    return TextAnalyzer(
        AnalyzerName.SPLIT,
        case_sensitive=sent.case_sensitive,
        delimiter=text(sent.delimiter) or None,
        sent=data,
    )


def _fuzzy(data: bytes, unfolding: Unfolding) -> TextAnalyzer:
    sent = unfolding.parse(m.FuzzyAnalyzerParameter, data)
    default = TextAnalyzer()
    return TextAnalyzer(
        AnalyzerName.FUZZY,
        case_sensitive=sent.case_sensitive,
        min_chars=sent.min_chars if sent.HasField("min_chars") else default.min_chars,
        max_chars=sent.max_chars if sent.HasField("max_chars") else default.max_chars,
        sent=data,
    )


def _words(name: AnalyzerName) -> Callable[[bytes, Unfolding], TextAnalyzer]:
    def without(data: bytes, unfolding: Unfolding) -> TextAnalyzer:
        del unfolding  # nothing to unfold: these analyzers have no parameters
        if data:
            raise InvalidRequest(TablestoreRule.SEARCH_MESSAGE, kind=name.value)
        return TextAnalyzer(name, sent=data)

    return without


_PARAMETERS: Final[dict[AnalyzerName, Callable[[bytes, Unfolding], TextAnalyzer]]] = {
    AnalyzerName.SINGLE_WORD: _single_word,
    AnalyzerName.SPLIT: _split,
    AnalyzerName.FUZZY: _fuzzy,
    AnalyzerName.MIN_WORD: _words(AnalyzerName.MIN_WORD),
    AnalyzerName.MAX_WORD: _words(AnalyzerName.MAX_WORD),
}


# --- descriptions ----------------------------------------------------------------------------


def encode_schema(schema: SearchSchema) -> m.IndexSchema:
    """IndexSchema, with what SDKs read without looking whether it is there (search §1.2).

    An index without an order of its own is described as ordered by primary key where it is.
    """
    setting = m.IndexSetting(number_of_shards=1, routing_fields=schema.routing)
    if schema.routing_partition_size is not None:
        setting.routing_partition_size = schema.routing_partition_size
    order = schema.sort or (SearchSort() if schema.has_nested else _PK_SORT)
    return m.IndexSchema(
        field_schemas=[_encode_field(field) for field in schema.fields],
        index_setting=setting,
        index_sort=encode_sort(order),
    )


def _encode_field(field: SearchField) -> m.FieldSchema:
    sent = m.FieldSchema(
        field_name=field.name,
        field_type=field.type,
        index=field.index is not False,
        is_array=field.is_array,
        enable_sort_and_agg=field.sort_and_agg,
        store=field.store,
        enable_highlighting=field.highlighting,
        date_formats=field.date_formats,
        json_type=field.json,
        text_similarity=field.similarity,
        index_options=field.options,
        field_schemas=[_encode_field(below) for below in field.fields],
    )
    if field.source is not None:
        sent.is_virtual_field = True
        sent.source_field_names.append(field.source)
    if field.vector is not None:
        sent.vector_options.data_type = _FLOAT_32
        sent.vector_options.dimension = field.vector.dimension
        sent.vector_options.metric_type = field.vector.metric
    if field.type is SearchFieldType.TEXT:
        analyzer = field.analyzer or TextAnalyzer()
        sent.analyzer = analyzer.name.value
        if analyzer.sent is not None:
            sent.analyzer_parameter = analyzer.sent
    return sent


def decode_weights(sent: m.UpdateSearchIndexRequest) -> tuple[QueryFlowWeight, ...]:
    """Which index answers how much, in the order sent."""
    return tuple([QueryFlowWeight(text(w.index_name), w.weight) for w in sent.query_flow_weight])


def encode_weights(weights: tuple[QueryFlowWeight, ...]) -> list[m.QueryFlowWeight]:
    """Which index answers how much, for a description."""
    return [m.QueryFlowWeight(index_name=each.index, weight=each.weight) for each in weights]
