"""Which prefix means what (docs/formats/keys.md, "Spaces").

    01                               the store itself: format, next table id
    02 instance 00 01 table 00 01    catalogue: one record a table
    02 instance 00 01 00 02 id       tables dropped, whose rows are not all gone
    10 id partition-key rest         rows; a row above the segment bound continues under 01 name
    11 id partition-key              the last auto-increment value given out there

`id` is the table's number in four bytes, big-endian. Reserved: 12 changes, 13 local indexes,
14 global indexes, 20 statistics. A number once used for something is never used for another thing.
"""

from typing import Final

from widerow.keys.encode import encode_key, encode_key_value
from widerow.model.values import KeyValue

__all__ = [
    "DROPPED_MARK",
    "SPACE_CATALOG",
    "SPACE_ROWS",
    "SPACE_SEQUENCES",
    "SPACE_STORE",
    "STORE_FORMAT_KEY",
    "TABLE_ID_KEY",
    "catalog_key",
    "catalog_prefix",
    "dropped_key",
    "dropped_prefix",
    "row_prefix",
    "segment_key",
    "segment_range",
    "sequence_key",
    "sequence_prefix",
    "table_prefixes",
]

SPACE_STORE: Final = b"\x01"
SPACE_CATALOG: Final = b"\x02"
SPACE_ROWS: Final = b"\x10"
SPACE_SEQUENCES: Final = b"\x11"

STORE_FORMAT_KEY: Final = SPACE_STORE + b"format"
TABLE_ID_KEY: Final = SPACE_STORE + b"table-id"

SEGMENT_MARK: Final = b"\x01"
SEGMENT_END: Final = b"\x02"
DROPPED_MARK: Final = b"\x00\x02"


def catalog_prefix(instance: str) -> bytes:
    """Catalogue records of one instance; the shard of its table operations."""
    return SPACE_CATALOG + encode_key_value(instance)


def catalog_key(instance: str, table: str) -> bytes:
    """The catalogue record of one table."""
    return encode_key(SPACE_CATALOG, (instance, table))


def dropped_prefix(instance: str) -> bytes:
    """Records of dropped tables; no table name sorts here, because none begins with 00 02."""
    return catalog_prefix(instance) + DROPPED_MARK


def dropped_key(instance: str, table_id: int) -> bytes:
    """The record that a dropped table's rows are still to be removed."""
    return dropped_prefix(instance) + table_id.to_bytes(4, "big")


def row_prefix(table_id: int) -> bytes:
    """All rows of a table. With the encoded partition key behind it: the shard of that value."""
    return SPACE_ROWS + table_id.to_bytes(4, "big")


def sequence_prefix(table_id: int) -> bytes:
    """Auto-increment state of a table, one record for each partition key value."""
    return SPACE_SEQUENCES + table_id.to_bytes(4, "big")


def table_prefixes(table_id: int) -> tuple[bytes, ...]:
    """Every prefix that holds bytes of a table."""
    return (row_prefix(table_id), sequence_prefix(table_id))


def segment_key(row_key: bytes, first_column: str) -> bytes:
    """The segment of a wide row that begins at `first_column` (empty: the first segment)."""
    return row_key + SEGMENT_MARK + first_column.encode()


def segment_range(row_key: bytes) -> tuple[bytes, bytes]:
    """Where all segments of a wide row lie."""
    return row_key + SEGMENT_MARK, row_key + SEGMENT_END


def sequence_key(table_id: int, partition_key: KeyValue) -> bytes:
    """The last auto-increment value given out under one partition key value."""
    return sequence_prefix(table_id) + encode_key_value(partition_key)
