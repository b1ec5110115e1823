"""How SQL sees timeseries tables and their last-point indexes (timeseries §10, §12)."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.tablestore.mapping import MappedColumn, SqlMapping, SqlType
from widerow.model.tablestore.schema import (
    KeyColumn,
    Table,
    TableOptions,
    Throughput,
    ThroughputState,
)
from widerow.model.timeseries.points import HASH_COLUMN, POINT_TIME_COLUMN
from widerow.model.timeseries.requests import MetaCondition
from widerow.model.timeseries.series import SeriesKey
from widerow.model.timeseries.table import FieldMapping, TimeseriesTable
from widerow.model.values import KeyType
from widerow.wire.tablestore.operations.timeseries.found import timeseries

__all__ = [
    "ATTRIBUTES_COLUMN",
    "FIELD_COLUMN",
    "LAST_TIME",
    "META_COLUMNS",
    "META_SUFFIX",
    "UPDATED_COLUMN",
    "VALUE_COLUMNS",
    "SeriesMapping",
    "SeriesScan",
    "SeriesView",
    "as_seen_table",
    "index_key",
    "mapped_key",
    "series_mappings",
]

FIELD_COLUMN: Final = "_field_name"
ATTRIBUTES_COLUMN: Final = "_attributes"
UPDATED_COLUMN: Final = "_meta_update_time"
VALUE_COLUMNS: Final[dict[str, type]] = {
    "_long_value": int,
    "_double_value": float,
    "_bool_value": bool,
    "_string_value": str,
    "_binary_value": bytes,
}
"""The columns of values, by the type of the fields whose values they have."""

META_SUFFIX: Final = "::meta"
_VERSION_OFFSET_SECONDS: Final = 86_400
_T = SqlType
_VALUE_TYPES: Final = (_T.BIGINT, _T.DOUBLE, _T.BOOL, _T.VARCHAR, _T.MEDIUMBLOB)
_KEY_TYPES: Final = {
    KeyType.INTEGER: _T.BIGINT,
    KeyType.STRING: _T.VARCHAR,
    KeyType.BINARY: _T.VARBINARY,
}


class SeriesView(Enum):
    """What the rows of a mapping are."""

    VALUES = "values"
    """One for each field of each point."""
    FIELDS = "fields"
    """One for each point, with columns for some fields."""
    METAS = "metas"
    """One for each series that has a meta."""
    LAST = "last"
    """One for each series in a last-point index, with columns for some fields."""


class SeriesMapping(NamedTuple):
    """How SQL sees a timeseries table. `key`: the columns that tell its rows apart.

    `automatic`: no statement made it. `since_us`: points before are not seen; those of an
    analytical store end by its own time.
    """

    name: str
    view: SeriesView
    table: TimeseriesTable
    columns: tuple[MappedColumn, ...]
    key: tuple[KeyColumn, ...]
    since_us: int = 0
    automatic: bool = True


@dataclass(frozen=True, slots=True)
class SeriesScan:
    """What is read of a timeseries table.

    `columns`: in the order in which a row has its values. `series`: those that are read, by their
    keys; None: those whose metas the condition holds for, and without one all that have points.
    `begin_us`, `end_us`: the points of a series; `reverse`: from the last to the first.
    """

    mapping: SeriesMapping
    columns: tuple[MappedColumn, ...]
    series: tuple[SeriesKey, ...] | None
    condition: MetaCondition | None
    begin_us: int
    end_us: int
    reverse: bool = False


def series_mappings(engine: TablestoreEngine, instance: str) -> Iterator[SeriesMapping]:
    """The mappings of an instance's timeseries tables, in the order of their tables' names."""
    for table in timeseries(engine).owned(instance):
        yield _of_values(table)
        yield _of_metas(table)
        made = {each.name: each for each in table.mappings}
        for index in table.lastpoints:
            yield _of_index(table, index.name, made.pop(index.name, None))
        for each in made.values():
            yield _of_fields(table, each, engine.core.clock.now_us())


def as_seen_table(mapping: SeriesMapping) -> tuple[Table, SqlMapping]:
    """The table of a mapping as DESCRIBE and SHOW INDEX look at tables."""
    table = mapping.table
    seen = Table(
        instance=table.instance,
        name=mapping.name,
        id=table.id,
        key_columns=mapping.key,
        defined_columns=(),
        options=TableOptions(table.options.ttl_s, 1, _VERSION_OFFSET_SECONDS),
        throughput=ThroughputState(Throughput(0, 0), 0),
        created_us=0,
        index_of=table.id,  # its key may have more columns than that of a table
    )
    return seen, SqlMapping(mapping.columns)


def _series_key(table: TimeseriesTable) -> list[KeyColumn]:
    return [KeyColumn(name, KeyType.STRING) for name in table.key]


def _point_key(table: TimeseriesTable) -> list[KeyColumn]:
    """The columns that tell the points of a table apart."""
    fields = [KeyColumn(each.name, each.type) for each in table.field_keys]
    return [*_series_key(table), KeyColumn(POINT_TIME_COLUMN, KeyType.INTEGER), *fields]


def mapped_key(table: TimeseriesTable) -> list[MappedColumn]:
    """The columns that tell the points of a table apart, as mapped ones."""
    return _mapped(_point_key(table))


def _mapped(key: list[KeyColumn]) -> list[MappedColumn]:
    return [MappedColumn(each.name, _KEY_TYPES[each.type], nullable=False) for each in key]


LAST_TIME: Final = MappedColumn(POINT_TIME_COLUMN, SqlType.BIGINT)
META_COLUMNS: Final = (
    MappedColumn(ATTRIBUTES_COLUMN, SqlType.VARCHAR),
    MappedColumn(UPDATED_COLUMN, SqlType.BIGINT),
)


def _index_key(table: TimeseriesTable) -> list[KeyColumn]:
    """The columns of the key of a last-point index (timeseries §10)."""
    return [KeyColumn(HASH_COLUMN, KeyType.STRING), *_series_key(table)]


def index_key(table: TimeseriesTable) -> list[MappedColumn]:
    """The columns of the key of a last-point index, as mapped ones."""
    return _mapped(_index_key(table))


def _of_index(table: TimeseriesTable, name: str, made: FieldMapping | None) -> SeriesMapping:
    """One row for each series in a last-point index; without a mapping its key and `_time`."""
    key = _index_key(table)
    columns = (*_mapped(key), LAST_TIME) if made is None else made.columns
    return SeriesMapping(name, SeriesView.LAST, table, columns, tuple(key), automatic=made is None)


def _of_values(table: TimeseriesTable) -> SeriesMapping:
    """One row for each field, under the table's name."""
    key = [*_point_key(table), KeyColumn(FIELD_COLUMN, KeyType.STRING)]
    values = [MappedColumn(n, t) for n, t in zip(VALUE_COLUMNS, _VALUE_TYPES, strict=True)]
    columns = (*_mapped(key), *values, *META_COLUMNS)
    return SeriesMapping(table.name, SeriesView.VALUES, table, columns, tuple(key))


def _of_metas(table: TimeseriesTable) -> SeriesMapping:
    """One row for each meta, under the table's name and `::meta`."""
    key = _series_key(table)
    columns = (*_mapped(key), *META_COLUMNS)
    return SeriesMapping(table.name + META_SUFFIX, SeriesView.METAS, table, columns, tuple(key))


def _of_fields(table: TimeseriesTable, mapping: FieldMapping, now_us: int) -> SeriesMapping:
    """One row for each point, under the table's name and a suffix."""
    since_us = 0
    if mapping.of_store:
        kept_s = [each.ttl_s for each in table.stores if each.ttl_s >= 0]
        since_us = max([now_us - seconds * 1_000_000 for seconds in kept_s], default=0)
    return SeriesMapping(
        mapping.name,
        SeriesView.FIELDS,
        table,
        mapping.columns,
        tuple(_point_key(table)),
        max(0, since_us),
        automatic=False,
    )
