"""What clients are told of timeseries tables (timeseries §13)."""

from typing import Final

from widerow.errors import AnyRule
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.wire.tablestore.errors import codes as c
from widerow.wire.tablestore.errors.row import Foreign

__all__ = ["TIMESERIES_ERRORS"]

TIMESERIES_ERRORS: Final[dict[AnyRule, Foreign]] = {
    TimeseriesRule.TABLE_NAME: c.INVALID.ours(
        "Invalid table name: '{name}'.",
        "a timeseries table's name that is none",
    ),
    TimeseriesRule.TABLE_EXISTS: c.OBJECT_ALREADY_EXIST.ours(
        "Requested table already exists.",
        "a name that a timeseries table or a table has",
    ),
    TimeseriesRule.TABLE_QUOTA: c.QUOTA_EXHAUSTED.ours(
        "Number of tables exceeds the quota of {limit}.",
        "more timeseries tables than an instance may have",
    ),
    TimeseriesRule.TABLE_TTL: c.INVALID.ours(
        "Invalid time_to_live: {value}.",
        "a time to live of points that is too short",
    ),
    TimeseriesRule.META_TTL: c.INVALID.ours(
        "Invalid meta_time_to_live: {value}.",
        "a time to live of metas that is too short",
    ),
    TimeseriesRule.META_TTL_OPTIONS: c.INVALID.ours(
        "meta_time_to_live needs allow_update_attributes = false and is not below time_to_live.",
        "options of a timeseries table that do not go together",
    ),
    TimeseriesRule.OPTIONS_TOGETHER: c.INVALID.ours(
        "time_to_live and meta_options cannot be changed in one request.",
        "both kinds of options in one UpdateTimeseriesTable",
    ),
    TimeseriesRule.KEY_SCHEMA: c.INVALID.ours(
        "Invalid timeseries_key_schema: {columns}.",
        "columns that are not a key of series",
    ),
    TimeseriesRule.FIELD_KEY_SCHEMA: c.INVALID.ours(
        "Invalid field_primary_key_schema: {columns}.",
        "fields that cannot be key columns",
    ),
    TimeseriesRule.MEASUREMENT: c.INVALID.ours(
        "Invalid measurement: '{value}'.",
        "a measurement's name that is none",
    ),
    TimeseriesRule.DATA_SOURCE: c.INVALID.ours(
        "Invalid data source: '{value}'.",
        "a data source's name that is too long",
    ),
    TimeseriesRule.TAG_NAME: c.INVALID.ours(
        "Invalid name of a tag or an attribute: '{name}'.",
        "a tag's name that is none, or stands twice",
    ),
    TimeseriesRule.TAG_VALUE: c.INVALID.ours(
        "Invalid value of the tag or attribute '{name}'.",
        "a tag's value that is none",
    ),
    TimeseriesRule.TAGS_LENGTH: c.INVALID.ours(
        "The tags of a series are too long.",
        "tags of more than 1024 bytes",
    ),
    TimeseriesRule.ATTRIBUTES_LENGTH: c.INVALID.ours(
        "The attributes of a series are too long.",
        "attributes of more than 1024 bytes",
    ),
    TimeseriesRule.TAGS_TEXT: c.INVALID.ours(
        "Invalid text of tags: '{text}'.",
        "a text of tags or attributes that is none",
    ),
    TimeseriesRule.KEY_COLUMNS: c.INVALID.ours(
        "The key of the series does not match the table's: '{value}'.",
        "a key with other columns than the table's",
    ),
    TimeseriesRule.POINT_BUFFER: c.INVALID.ours(
        "rows_data cannot be read.",
        "points that are not a FlatBuffer or message",
    ),
    TimeseriesRule.POINT_FORM: c.INVALID.ours(
        "Unsupported type of rows_data: {value}.",
        "points in PlainBuffer or a form that nobody knows",
    ),
    TimeseriesRule.POINT_CHECKSUM: c.INVALID(
        "crc mismatch",
        "points whose CRC-32C is another one",
    ),
    TimeseriesRule.POINT_COUNT: c.INVALID.ours(
        "The number of rows is not between 1 and 200.",
        "a put without points, or with more than 200",
    ),
    TimeseriesRule.POINT_BYTES: c.INVALID.ours(
        "The size of the rows exceeds the limit of 4 MB.",
        "a put of more than 4 MB",
    ),
    TimeseriesRule.POINT_TIME: c.INVALID.ours(
        "Invalid time of a point: {value}.",
        "a time that is negative",
    ),
    TimeseriesRule.FIELD_NAME: c.INVALID.ours(
        "Invalid name of a field: '{name}'.",
        "a field's name that is none",
    ),
    TimeseriesRule.FIELD_COUNT: c.INVALID.ours(
        "The number of fields is not between 1 and 1024.",
        "a point without fields, or with more than 1024",
    ),
    TimeseriesRule.FIELD_VALUE: c.INVALID.ours(
        "The field '{name}' has no value.",
        "a field of a message without a value",
    ),
    TimeseriesRule.FIELD_NUMBER: c.INVALID.ours(
        "A whole number does not fit into 64 bits.",
        "a whole number that is too large",
    ),
    TimeseriesRule.FIELD_LENGTH: c.INVALID.ours(
        "The value of a field is too long.",
        "a text or bytes of more than 2 MB",
    ),
    TimeseriesRule.FIELD_KEY_MISSING: c.INVALID(
        "missing primary key fields",
        "a point without the fields that are key columns",
    ),
    TimeseriesRule.FIELD_KEY_TYPE: c.INVALID.ours(
        "Invalid type of the primary key field '{name}'.",
        "a key field of another type",
    ),
    TimeseriesRule.TIME_RANGE: c.INVALID.ours(
        "The time range is empty or has two beginnings.",
        "a range that does not begin before it ends",
    ),
    TimeseriesRule.POSITION: c.INVALID.ours(
        "Invalid token.",
        "a token of pages that no answer had",
    ),
    TimeseriesRule.FIELD_TYPE: c.INVALID.ours(
        "Unknown type of a field to get: {value}.",
        "a type of fields_to_get that is none",
    ),
    TimeseriesRule.SCAN_FORM: c.INVALID.ours(
        "Unsupported data_serialize_type: {value}.",
        "a scan that asks for another form than PlainBuffer",
    ),
    TimeseriesRule.META_CONDITION: c.INVALID.ours(
        "Invalid condition on metas.",
        "a condition without parts, or a prefix of a time",
    ),
    TimeseriesRule.META_DEPTH: c.INVALID.ours(
        "Conditions on metas are too many, or nested too deep.",
        "conditions that are too many or nested too deep",
    ),
    TimeseriesRule.META_MODE: c.INVALID.ours(
        "Unknown meta_update_mode: {value}.",
        "a put with another mode than 0 and 1",
    ),
    TimeseriesRule.META_TIME: c.INVALID.ours(
        "update_time cannot be set.",
        "UpdateTimeseriesMeta with a time",
    ),
    TimeseriesRule.META_INDEX: c.UNSUPPORT_OPERATION.ours(
        "The table has no index of metas.",
        "QueryTimeseriesMeta of a table made without the index",
    ),
    TimeseriesRule.META_TOTAL: c.QUOTA_EXHAUSTED.ours(
        "The total of more than {limit} metas is not counted.",
        "get_total_hit of a query for which more than a million metas are looked at",
    ),
    TimeseriesRule.META_COUNT: c.INVALID.ours(
        "The number of metas is not between 1 and 200.",
        "a request without metas, or with more than 200",
    ),
    TimeseriesRule.ATTRIBUTES_FIXED: c.INVALID.ours(
        "The table does not allow to update attributes.",
        "attributes for a table that allows no change of them",
    ),
    TimeseriesRule.SPLIT: c.INVALID.ours(
        "Invalid split_info.",
        "a split that no answer had",
    ),
    TimeseriesRule.SPLIT_COUNT: c.INVALID.ours(
        "split_count_hint must be positive.",
        "a scan in less than one split",
    ),
    TimeseriesRule.STORE_NAME: c.INVALID.ours(
        "Invalid name: '{name}'.",
        "a store's or an index's name that is none",
    ),
    TimeseriesRule.STORE_TTL: c.INVALID.ours(
        "Invalid time_to_live of an analytical store: {value}.",
        "a store's time to live that is too short",
    ),
    TimeseriesRule.STORE_COUNT: c.INVALID.ours(
        "A timeseries table has at most one analytical store.",
        "a second analytical store",
    ),
    TimeseriesRule.STORE_SYNC: c.INVALID.ours(
        "Unknown sync_option: {value}.",
        "another sync option than 1 and 2",
    ),
    TimeseriesRule.STORE_CHANGE: c.INVALID.ours(
        "Only time_to_live of an analytical store can be changed.",
        "another change of an analytical store",
    ),
    TimeseriesRule.STORE_NOT_FOUND: c.OBJECT_NOT_EXIST.ours(
        "Requested analytical store does not exist.",
        "an analytical store that is not there",
    ),
    TimeseriesRule.STORE_MAPPED: c.INVALID.ours(
        "The analytical store has SQL mappings.",
        "the end of a store that mappings use",
    ),
    TimeseriesRule.LASTPOINT_EXISTS: c.OBJECT_ALREADY_EXIST.ours(
        "Requested lastpoint index already exists.",
        "a name of a last-point index that is taken",
    ),
    TimeseriesRule.LASTPOINT_NOT_FOUND: c.OBJECT_NOT_EXIST.ours(
        "Requested lastpoint index does not exist.",
        "a last-point index that is not there",
    ),
    TimeseriesRule.LASTPOINT_KEY: c.INVALID.ours(
        "Invalid index_primary_key_names: {columns}.",
        "a key that a last-point index of an ordinary table cannot have",
    ),
    TimeseriesRule.LASTPOINT_BUILDING: c.INVALID(
        "Disallow read local index", "a read of a last-point index that is not built yet"
    ),
    TimeseriesRule.LASTPOINT_COUNT: c.QUOTA_EXHAUSTED.ours(
        "Number of analytical stores and lastpoint indexes exceeds the quota of 10.",
        "more than ten stores and indexes of a table",
    ),
    TimeseriesRule.LASTPOINT_READ_ONLY: c.INVALID.ours(
        "Rows of a lastpoint index cannot be written.",
        "a write to a last-point index",
    ),
    TimeseriesRule.STREAM_DESCRIBED: c.INVALID(
        "Table [{table}] is a timeseries table, not support {action}",
        "DescribeStream of a timeseries table by a client that does not know of such streams",
    ),
    TimeseriesRule.DELIVERY: c.UNSUPPORT_OPERATION.ours(
        "Table [{table}] is a timeseries table, not support {action}",
        "a delivery task of a timeseries table",
    ),
}
