"""How often a request may repeat each field: counted before the parser makes anything of its bytes.

The parser makes an object of every element that it meets, and the five megabytes of a body, which
may arrive as a few kilobytes of compressed ones, hold two million of them. So the fields of a
message are walked through first, and the walk ends where one is too many. `FIELD_BOUNDS` has every
repeated field of every message that a request can hold; the tests compare it with the descriptors.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto
from mypy_extensions import i64

from widerow.limits import (
    BATCH_GET_ROWS_MAX,
    BATCH_WRITE_ROWS_MAX,
    DEFINED_COLUMNS_MAX,
    DELIVERY_COLUMNS_MAX,
    FILTER_NODES_MAX,
    INDEX_COLUMNS_MAX,
    INDEX_KEY_COLUMNS_MAX,
    INDEXES_MAX,
    KEY_COLUMNS_MAX,
    PARTITIONS_MAX,
    READ_COLUMNS_MAX,
    REPEATED_ROOM,
    REQUEST_FIELDS_MAX,
    SEARCH_FIELDS_MAX,
    SEARCH_REQUEST_FIELDS_MAX,
    SEARCH_ROUTING_VALUES_MAX,
    SEARCH_TREE_NODES_MAX,
    SERIES_CONDITIONS_MAX,
    SERIES_FIELD_KEYS_MAX,
    SERIES_FIELDS_MAX,
    SERIES_INDEXES_MAX,
    SERIES_KEY_COLUMNS_MAX,
    SERIES_META_CHANGES_MAX,
    SERIES_POINTS_MAX,
    SERIES_TAGS_MAX,
    TUNNEL_CHANNELS_MAX,
)

__all__ = ["FIELD_BOUNDS", "Crowded", "FieldCounts", "Unreadable", "check_repeats"]

# Fields with a rule of the operation behind them. So that who is a little beyond it is told that
# rule, in the service's own words, `REPEATED_ROOM` times as many elements are decoded.
_RULED: Final[tuple[tuple[int, str], ...]] = (
    (BATCH_GET_ROWS_MAX, "BatchGetRowRequest.tables TableInBatchGetRowRequest.primary_key"),
    (BATCH_GET_ROWS_MAX, "TableInBatchGetRowRequest.token"),
    (BATCH_WRITE_ROWS_MAX, "BatchWriteRowRequest.tables TableInBatchWriteRowRequest.rows"),
    (BATCH_WRITE_ROWS_MAX, "BulkImportRequest.rows"),
    (READ_COLUMNS_MAX, "GetRowRequest.columns_to_get GetRangeRequest.columns_to_get"),
    (READ_COLUMNS_MAX, "BulkExportRequest.columns_to_get ColumnsToGet.column_names"),
    (READ_COLUMNS_MAX, "StreamSpecification.columns_to_get"),
    (KEY_COLUMNS_MAX, "TableMeta.primary_key IndexSetting.routing_fields"),
    (DEFINED_COLUMNS_MAX, "TableMeta.defined_column AddDefinedColumnRequest.columns"),
    (DEFINED_COLUMNS_MAX, "DeleteDefinedColumnRequest.columns"),
    (PARTITIONS_MAX, "CreateTableRequest.partitions"),
    (INDEXES_MAX, "CreateTableRequest.index_metas TableMeta.index_meta"),
    (INDEXES_MAX * INDEX_KEY_COLUMNS_MAX, "IndexMeta.primary_key"),
    (INDEXES_MAX * INDEX_COLUMNS_MAX, "IndexMeta.defined_column"),
    (DELIVERY_COLUMNS_MAX, "OSSTaskConfig.schema"),
    (SEARCH_FIELDS_MAX, "IndexSchema.field_schemas FieldSchema.field_schemas"),
    (SEARCH_FIELDS_MAX, "UpdateSearchIndexRequest.added_field_schemas"),
    (SEARCH_FIELDS_MAX, "FieldSchema.source_field_names FieldSchema.date_formats"),
    (2, "UpdateSearchIndexRequest.query_flow_weight"),
    (SERIES_POINTS_MAX, "TimeseriesPBRows.rows"),
    (SERIES_META_CHANGES_MAX, "UpdateTimeseriesMetaRequest.timeseries_meta"),
    (SERIES_META_CHANGES_MAX, "DeleteTimeseriesMetaRequest.timeseries_key"),
    (SERIES_FIELDS_MAX, "GetTimeseriesDataRequest.fields_to_get"),
    (SERIES_FIELDS_MAX, "ScanTimeseriesDataRequest.fields_to_get"),
    (SERIES_KEY_COLUMNS_MAX, "TimeseriesTableMeta.timeseries_key_schema"),
    (SERIES_FIELD_KEYS_MAX, "TimeseriesTableMeta.field_primary_key_schema"),
    (SERIES_INDEXES_MAX, "CreateTimeseriesTableRequest.analytical_stores"),
    (SERIES_INDEXES_MAX, "CreateTimeseriesTableRequest.lastpoint_index_metas"),
    (SERIES_KEY_COLUMNS_MAX, "CreateTimeseriesLastpointIndexRequest.index_primary_key_names"),
    (SERIES_CONDITIONS_MAX, "MetaQueryCompositeCondition.sub_conditions"),
)
_OTHERS: Final[tuple[tuple[int, str], ...]] = (
    # Each of the tables of a batch may name as many columns as one read; and so do its rows.
    (BATCH_GET_ROWS_MAX * READ_COLUMNS_MAX, "TableInBatchGetRowRequest.columns_to_get"),
    (BATCH_GET_ROWS_MAX * READ_COLUMNS_MAX, "ReturnContent.return_column_names"),
    (TUNNEL_CHANNELS_MAX, "HeartbeatRequest.channels ScheduleRequest.channels"),
    (SEARCH_ROUTING_VALUES_MAX, "SearchRequest.routing_values"),
    (FILTER_NODES_MAX - 1, "CompositeColumnValueFilter.sub_filters"),  # below the first node
    # Each is a node of a search's tree, or has one below it.
    (SEARCH_TREE_NODES_MAX, "BoolQuery.must_queries BoolQuery.must_not_queries"),
    (SEARCH_TREE_NODES_MAX, "BoolQuery.filter_queries BoolQuery.should_queries"),
    (SEARCH_TREE_NODES_MAX, "DisMaxQuery.queries GroupByFilter.filters"),
    (SEARCH_TREE_NODES_MAX, "Aggregations.aggs GroupBys.group_bys FunctionsScoreQuery.functions"),
    # A tree may hold many nodes with as many of these as one may have: together they are bounded.
    (SEARCH_REQUEST_FIELDS_MAX, "TermsQuery.terms KnnVectorQuery.float32_query_vector"),
    (SEARCH_REQUEST_FIELDS_MAX, "GeoPolygonQuery.points GeoDistanceSort.points Sort.sorter"),
    (SEARCH_REQUEST_FIELDS_MAX, "PercentilesAggregation.percentiles GroupBySort.sorters"),
    (SEARCH_REQUEST_FIELDS_MAX, "GroupByRange.ranges GroupByGeoDistance.ranges"),
    (SEARCH_REQUEST_FIELDS_MAX, "Highlight.highlight_parameters"),
    # As many as the points or metas of a request may have.
    (SERIES_POINTS_MAX * SERIES_TAGS_MAX, "TimeseriesKey.tag_list"),
    # A field is four elements with its name and its value, and a row has others.
    (REQUEST_FIELDS_MAX // 4 - 8 * SERIES_POINTS_MAX, "TimeseriesRow.fields"),
)
FIELD_BOUNDS: Final[Mapping[str, int]] = MappingProxyType(
    {name: limit * REPEATED_ROOM for limit, names in _RULED for name in names.split()}
    | {name: limit for limit, names in _OTHERS for name in names.split()}
)
"""How often a request may repeat a field, in all messages of that type in it together."""

_FIXED_BYTES: Final = {1: 8, 5: 4}  # protobuf wire types of fixed size
_SIZED: Final = 2  # the wire type of bytes, texts and messages
_ELEMENT_BYTES_MIN: Final = 2  # a key and a length, or a number
_HUGE: Final = 1 << 60


class Unreadable(Exception):  # no error of the package: callers say what it means
    """The bytes are not fields."""


class Crowded(Exception):  # no error of the package: callers say what it means
    """More elements of a field than `limit`, or more fields in all: then `name` is empty."""

    def __init__(self, name: str, limit: int) -> None:
        """Of the field of this name, which is that of its message and its own."""
        super().__init__(name, limit)
        self.name = name
        self.limit = limit


@final
class _Field:
    """A field of a message that is counted, or has such fields below it.

    `limit`: negative unless it is repeated. `packed`: bytes of each of the numbers that stand in
    one field, 0 if none do. `inside`: the shape of its message, if it is one.
    """

    __slots__ = ("inside", "limit", "name", "packed")

    def __init__(self, name: str, limit: int, inside: "_Shape | None") -> None:
        self.name = name
        self.limit: i64 = limit
        self.packed: i64 = 0
        self.inside = inside


@final
class _Shape:
    """What is looked for in the messages of one type, by the keys of fields.

    Bytes that are no more than `harmless` cannot hold too many elements of any field.
    """

    __slots__ = ("fields", "harmless")

    def __init__(self) -> None:
        self.fields: dict[int, _Field] = {}
        self.harmless: i64 = REQUEST_FIELDS_MAX * _ELEMENT_BYTES_MIN


_SHAPES: Final[dict[str, _Shape]] = {}


def _shape_of(descriptor: Any) -> _Shape:  # noqa: ANN401  # a Descriptor, which has no types
    shape = _SHAPES.get(descriptor.full_name)
    if shape is None:
        made: dict[str, _Shape] = {}
        shape = _make_shape(descriptor, made)
        _SHAPES.update(made)  # whole ones: other threads look too
    return shape


def _make_shape(descriptor: Any, made: dict[str, _Shape]) -> _Shape:  # noqa: ANN401  # a Descriptor, which has no types
    """The shape of a type, whose messages may contain themselves."""
    shape = made.get(descriptor.full_name)
    if shape is None:
        shape = made[descriptor.full_name] = _Shape()
        message = DescriptorProto()  # labels are told by it in all versions of the runtime
        descriptor.CopyToProto(message)
        for proto, field in zip(message.field, descriptor.fields, strict=True):
            inside = None
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                inside = _make_shape(field.message_type, made)
            name = f"{descriptor.name}.{field.name}"
            repeated = proto.label == FieldDescriptorProto.LABEL_REPEATED
            _add_field(shape, field, _Field(name, FIELD_BOUNDS[name] if repeated else -1, inside))
    return shape


def _add_field(shape: _Shape, sent: Any, field: _Field) -> None:  # noqa: ANN401  # a FieldDescriptor
    number = sent.number << 3
    if field.inside is not None:
        shape.harmless = min(shape.harmless, field.inside.harmless)
    if field.limit >= 0:
        shape.harmless = min(shape.harmless, field.limit * _ELEMENT_BYTES_MIN)
    if sent.type in _NUMBER_BYTES:
        field.packed = _NUMBER_BYTES[sent.type]
        shape.fields[number | _WIRE_TYPES[field.packed]] = _Field(field.name, field.limit, None)
    if field.limit >= 0 or field.inside is not None:
        shape.fields[number | _SIZED] = field


_NUMBER_BYTES: Final = {FieldDescriptor.TYPE_DOUBLE: 8, FieldDescriptor.TYPE_FLOAT: 4}
_WIRE_TYPES: Final = {size: kind for kind, size in _FIXED_BYTES.items()}


def check_repeats(descriptor: Any, data: bytes) -> None:  # noqa: ANN401  # a Descriptor
    """Raise `Crowded` where a request repeats a field of its message too often.

    And `Unreadable`, where it is looked at: few bytes cannot hold too many elements.
    """
    if len(data) > _shape_of(descriptor).harmless:
        FieldCounts().add(descriptor, data)


@final
class FieldCounts:
    """What was counted of one request, whose messages may stand in bytes of others.

    `elements`: of each repeated field, by the names that `FIELD_BOUNDS` has.
    """

    __slots__ = ("_room", "_room_max", "elements")

    def __init__(self, fields_max: int = REQUEST_FIELDS_MAX) -> None:
        """`fields_max`: of all messages together, also of fields that nobody knows."""
        self._room_max: i64 = fields_max
        self._room: i64 = fields_max
        self.elements: dict[str, int] = {}

    def add(self, descriptor: Any, data: bytes) -> None:  # noqa: ANN401  # a Descriptor
        """Count the fields of a message with those of the messages inside it.

        Fields inside bytes are not looked at. Raises `Crowded` at the first that is too many, and
        `Unreadable`. Costs as much as it counts.
        """
        parts = [(0, len(data), _shape_of(descriptor))]
        while parts:
            start, stop, shape = parts.pop()
            fields = shape.fields
            position: i64 = start
            end: i64 = stop
            while position < end:
                self._room -= 1
                if self._room < 0:
                    raise Crowded("", self._room_max)
                key, begin = _varint(data, position)
                wire_type = key & 7
                if wire_type == _SIZED:
                    size, begin = _varint(data, begin)
                    position = begin + size
                elif wire_type == 0:
                    position = _varint(data, begin)[1]
                else:  # a group, which no client sends, holds nothing between its two keys
                    position = begin + _FIXED_BYTES.get(wire_type, 0)
                field = fields.get(key)
                if field is None:
                    continue
                if field.limit >= 0:
                    self._note(field, (position - begin) // field.packed if field.packed else 1)
                if field.inside is not None and position <= end:
                    parts.append((begin, position, field.inside))
            if position > end:
                raise Unreadable

    def _note(self, field: _Field, more: i64) -> None:
        count = self.elements.get(field.name, 0) + more
        if count > field.limit:
            raise Crowded(field.name, field.limit)
        self.elements[field.name] = count


def _varint(data: bytes, position: i64) -> tuple[i64, i64]:
    """The number at `position`, and where it ends; `_HUGE` for one too large to measure bytes.

    Raises `Unreadable`.
    """
    size: i64 = len(data)
    value: i64 = 0
    shift: i64 = 0
    while position < size and shift < 70:
        byte: i64 = data[position]
        position += 1
        if shift < 56:
            value |= (byte & 0x7F) << shift
        elif byte & 0x7F:
            value = _HUGE
        if byte < 0x80:
            return value, position
        shift += 7
    raise Unreadable
