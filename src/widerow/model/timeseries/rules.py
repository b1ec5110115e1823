"""The rules of timeseries tables that a request can break (timeseries §2-§13).

The codes and texts that clients are told belong to the dialect (`wire/tablestore/errors`).
"""

from widerow.errors import AnyRule

__all__ = ["TimeseriesRule"]


class TimeseriesRule(AnyRule):
    """A rule a request can break. The value says what to do about it, and is sent as a hint."""

    # Tables (timeseries §2, §3, §8)
    TABLE_NAME = (
        "Timeseries tables are named with 1 to 128 of A-Z a-z 0-9 _ and do not start with a digit."
    )
    TABLE_EXISTS = "Choose another name: a timeseries table or a data table has this one."
    TABLE_QUOTA = "Delete timeseries tables: each counts as two of the tables of its instance."
    TABLE_TTL = "Keep points for ever (-1) or for at least 86400 seconds."
    META_TTL = "Keep metas for ever (-1) or for at least 604800 seconds."
    META_TTL_OPTIONS = (
        "A time to live of metas needs allow_update_attributes = false, and a time to live of "
        "points that is not longer."
    )
    OPTIONS_TOGETHER = "Change the points' time to live and the options of metas in two requests."
    KEY_SCHEMA = (
        "A key of series has at most six columns: _m_name, _data_source, _tags and names of tags "
        "of lower-case letters, digits and _, each once."
    )
    FIELD_KEY_SCHEMA = "At most four fields are key columns: INTEGER, STRING or BINARY, each once."

    # Series (timeseries §2, §8)
    MEASUREMENT = (
        "A measurement is named with 1 to 128 bytes, without blanks, control characters and #."
    )
    DATA_SOURCE = "A data source is named with at most 256 bytes."
    TAG_NAME = 'Tags and attributes are named in visible ASCII characters without " and =.'
    TAG_VALUE = 'Values of tags and attributes are not empty and have neither " nor =.'
    TAGS_LENGTH = "The tags of a series have at most 1024 bytes as a text."
    ATTRIBUTES_LENGTH = "The attributes of a series have at most 1024 bytes as a text."
    TAGS_TEXT = 'Write tags as ["name=value","name=value"].'
    KEY_COLUMNS = "Give a series what the table's key has, all of it and nothing else."

    # Points (timeseries §2, §4)
    POINT_BUFFER = "Send points in the FlatBuffers or messages that the SDKs write."
    POINT_FORM = "Send points as FlatBuffers (0) or as TimeseriesPBRows (2)."
    POINT_CHECKSUM = "Send the CRC-32C of rows_data as flatbuffer_crc32c, or leave it out."
    POINT_COUNT = "Put between 1 and 200 points in a request."
    POINT_BYTES = "Split the request: its points have at most 4 MB."
    POINT_TIME = "The time of a point is in microseconds since 1970 and not negative."
    FIELD_NAME = (
        "Fields are named with 1 to 128 of a-z 0-9 _, do not start with a digit, and have no name "
        "of a column of the model."
    )
    FIELD_COUNT = "Give a point between 1 and 1024 fields."
    FIELD_VALUE = "Give the field one value."
    FIELD_NUMBER = "Write whole numbers that fit into 64 bits."
    FIELD_LENGTH = "A text or bytes of a field have at most 2 MB."
    FIELD_KEY_MISSING = "Give every point the fields that are key columns of the table."
    FIELD_KEY_TYPE = "Give the fields that are key columns the types that the table declares."

    # Reading (timeseries §5, §6, §7)
    TIME_RANGE = "Let the time range begin before it ends."
    POSITION = "Use the token of the last answer to this request, unchanged."
    FIELD_TYPE = "Ask for LONG 1, BOOLEAN 2, DOUBLE 3, STRING 4 or BINARY 5, or leave the type out."
    SCAN_FORM = "Ask for PlainBuffer (1), or leave data_serialize_type out."
    META_CONDITION = "Combine one or more conditions, NOT one; a time has no prefix."
    META_DEPTH = "Nest conditions at most 32 deep, and give at most 1000 of them."
    META_MODE = "Send meta_update_mode 0, metas are kept, or 1, they are left alone."
    META_TIME = "Leave update_time out: the server sets it."
    META_INDEX = "The table was created without an index of metas: read by the keys of series."
    META_TOTAL = "Leave get_total_hit out, or ask for a measurement or its beginning."
    META_COUNT = "Name between 1 and 200 series in a request."
    ATTRIBUTES_FIXED = "The table allows no change of attributes (allow_update_attributes)."
    SPLIT = "Use a split that SplitTimeseriesScanTask gave for this table, unchanged."
    SPLIT_COUNT = "Ask for one split or more."

    # Analytical stores and last-point indexes (timeseries §10, §11)
    STORE_NAME = (
        "Analytical stores and last-point indexes are named with 1 to 128 of A-Z a-z 0-9 _ and do "
        "not start with a digit."
    )
    STORE_TTL = (
        "Keep the data of an analytical store for ever (-1) or for at least 2592000 seconds."
    )
    STORE_COUNT = "A table has at most one analytical store."
    STORE_SYNC = "Send sync_option 1, all data, or 2, data from now on."
    STORE_CHANGE = "Change the time to live of an analytical store, and nothing else."
    STORE_NOT_FOUND = "Create the analytical store, or check its name."
    STORE_MAPPED = "Drop the SQL mappings that use the analytical store first, or ask for that."
    LASTPOINT_EXISTS = "Choose another name for the last-point index: this one is taken."
    LASTPOINT_KEY = (
        "The key of a last-point index of an ordinary table is the beginning of the table's key, "
        "with an INTEGER behind it that tells which row is the newest."
    )
    LASTPOINT_BUILDING = "Disallow read local index: try again when the last-point index is built."
    LASTPOINT_NOT_FOUND = "Create the last-point index, or check its name."
    LASTPOINT_COUNT = "Analytical stores and last-point indexes of a table are at most ten."
    LASTPOINT_READ_ONLY = "Put points: rows of a last-point index are written by the table itself."

    # Beside the tables of Tablestore's model (timeseries §9)
    STREAM_DESCRIBED = "Say that you read streams of timeseries tables (support_timeseries_table)."
    DELIVERY = "Consume a tunnel of the timeseries table, or split and scan it."
