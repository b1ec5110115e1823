"""Checks of a primary key against its table (semantics §3)."""

from typing import Final

from widerow.errors import InvalidRequest
from widerow.keys.encode import encode_key, encode_key_value
from widerow.keys.layout import row_prefix
from widerow.limits import KEY_COLUMNS_MAX
from widerow.model.tablestore.row import PrimaryKey
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import KeyColumn, Table
from widerow.model.values import KeyInput, KeyMarker, KeyType, KeyValue

__all__ = ["check_key", "concrete", "key_in_shard", "row_key", "shard_of"]

_TYPES: Final[dict[type, KeyType]] = {
    int: KeyType.INTEGER,
    str: KeyType.STRING,
    bytes: KeyType.BINARY,
}


def check_key(table: Table, key: PrimaryKey) -> tuple[KeyInput, ...]:
    """The key's values, if count, names and types fit the table. Markers fit every type.

    Raises `InvalidRequest`: KEY_COLUMN_COUNT where no table has so many columns, KEY_SIZE, then
    column by column KEY_NAME, KEY_TYPE.
    """
    columns, expected = key.columns, table.key_columns
    if len(columns) != len(expected):
        most = KEY_COLUMNS_MAX if table.index_of == 0 else len(expected)
        if not 1 <= len(columns) <= most:
            raise InvalidRequest(
                TablestoreRule.KEY_COLUMN_COUNT, limit=KEY_COLUMNS_MAX, count=len(columns)
            )
        raise InvalidRequest(TablestoreRule.KEY_SIZE, count=len(columns), expected=len(expected))
    for index, column in enumerate(expected):
        name, value = columns[index]
        if name != column.name:
            raise InvalidRequest(TablestoreRule.KEY_NAME, name=name, expected=column.name)
        if _TYPES.get(type(value)) is not column.type:
            _check_marker(column, value)
    return tuple([value for _, value in columns])


def concrete(values: tuple[KeyInput, ...]) -> tuple[KeyValue, ...]:
    """Values without markers; static checks have refused every marker before."""
    return values  # type: ignore[return-value]  # no markers are left


def _check_marker(column: KeyColumn, value: KeyInput) -> None:
    if not isinstance(value, KeyMarker):
        raise InvalidRequest(
            TablestoreRule.KEY_TYPE,
            column=column.name,
            type=_TYPES[type(value)].value,
            expected=column.type.value,
        )
    if value is KeyMarker.AUTO_INCREMENT and not column.auto_increment:
        raise InvalidRequest(TablestoreRule.AUTO_INCREMENT_MARKER, column=column.name)


def row_key(table: Table, values: tuple[KeyValue, ...]) -> bytes:
    """Where a row of concrete key values is stored."""
    return encode_key(row_prefix(table.id), values)


def key_in_shard(shard: bytes, values: tuple[KeyValue, ...]) -> bytes:
    """`row_key` with a known shard of the partition key, the first of `values`."""
    if len(values) == 2:  # of most tables
        return shard + encode_key_value(values[1])
    return encode_key(shard, values[1:])


def shard_of(table: Table, partition_key: KeyValue) -> bytes:
    """The prefix of all rows under one partition key value: the scope of a transaction."""
    return row_prefix(table.id) + encode_key_value(partition_key)
