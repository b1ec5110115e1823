"""Mappings of timeseries tables that have columns of fields, and their changes (timeseries §12)."""

import re
from collections.abc import Sequence
from typing import Final

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.timeseries.lastpoints import lastpoint_named
from widerow.engine.timeseries.static import check_field_names
from widerow.errors import Conflict
from widerow.model.tablestore.mapping import MappedColumn, SqlType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.timeseries.table import FieldMapping, TimeseriesTable
from widerow.wire.tablestore.operations.sql.search_mappings import (
    invalid_mapping,
    with_column,
    without_column,
)
from widerow.wire.tablestore.operations.sql.series_tables import (
    LAST_TIME,
    META_COLUMNS,
    SeriesMapping,
    SeriesView,
    index_key,
    mapped_key,
)
from widerow.wire.tablestore.operations.sql.tables import find_seen_table, has_name
from widerow.wire.tablestore.operations.timeseries.found import timeseries

__all__ = ["alter_field_mapping", "drop_field_mapping", "map_fields", "map_index"]

_SUFFIX: Final = re.compile("[A-Za-z0-9_]{1,128}")
_LARGE: Final = {SqlType.VARCHAR: SqlType.MEDIUMTEXT, SqlType.VARBINARY: SqlType.MEDIUMBLOB}
Declared = tuple[Sequence[MappedColumn], Sequence[str]]
"""The columns of a statement, and the names of its primary key."""


def map_fields(
    engine: TablestoreEngine,
    instance: str,
    named: tuple[str, bool],
    of_store: bool,  # noqa: FBT001  # ENGINE=AnalyticalStore
    declared: Declared,
) -> Plan[None] | None:
    """CREATE TABLE of a timeseries table's name, `::` and a suffix; `named`: and IF NOT EXISTS.

    None: nothing is to be changed. Raises `InvalidRequest`, `Conflict` and `NotFound`.
    """
    name, keeps = named
    if has_name(engine, instance, name, keeps=keeps):
        return None
    of_table, _, suffix = name.partition("::")
    if _SUFFIX.fullmatch(suffix) is None:
        raise invalid_mapping("a mapping of a timeseries table is named `table::suffix`")
    seen = find_seen_table(engine, instance, of_table)
    if seen.series is None:
        raise invalid_mapping(f"{of_table} is not a timeseries table")
    table_name = seen.series.table.name
    made_name = f"{table_name}::{suffix}"

    def make(table: TimeseriesTable) -> tuple[FieldMapping, ...]:
        if any(each.name.lower() == made_name.lower() for each in table.mappings):
            raise Conflict(TablestoreRule.SQL_TABLE_EXISTS, instance=instance, table=made_name)
        if of_store and not table.stores:
            raise invalid_mapping("the table has no analytical store")
        columns = _columns(table, declared)
        return (*table.mappings, FieldMapping(made_name, columns, of_store))

    return timeseries(engine).change_mappings(instance, table_name, make)


def map_index(
    engine: TablestoreEngine,
    mapping: SeriesMapping,
    keeps: bool,  # noqa: FBT001  # IF NOT EXISTS
    declared: Declared,
) -> Plan[None] | None:
    """CREATE TABLE of a last-point index's name, in place of its automatic mapping.

    None: nothing is to be changed. Raises `InvalidRequest` and `Conflict`.
    """
    table = mapping.table
    if keeps and not mapping.automatic:
        return None

    def make(now: TimeseriesTable) -> tuple[FieldMapping, ...]:
        if any(each.name == mapping.name for each in now.mappings):
            raise Conflict(
                TablestoreRule.SQL_TABLE_EXISTS, instance=table.instance, table=mapping.name
            )
        lastpoint_named(now, mapping.name)
        columns = _columns(now, declared, of_index=True)
        return (*now.mappings, FieldMapping(mapping.name, columns))

    return timeseries(engine).change_mappings(table.instance, table.name, make)


def _known_columns(table: TimeseriesTable, *, of_index: bool) -> list[MappedColumn]:
    """The columns that are not fields."""
    if of_index:
        return [*index_key(table), LAST_TIME]
    return [*mapped_key(table), *META_COLUMNS]


def _key_names(table: TimeseriesTable, *, of_index: bool) -> list[str]:
    return [each.name for each in (index_key(table) if of_index else mapped_key(table))]


def _columns(
    table: TimeseriesTable, declared: Declared, *, of_index: bool = False
) -> tuple[MappedColumn, ...]:
    """The columns that are declared, the key of points, or of an index, among them."""
    columns, key = declared
    wanted = _key_names(table, of_index=of_index)
    made: tuple[MappedColumn, ...] = ()
    for column in columns:
        made = with_column(made, _fitting(table, column, of_index=of_index))
    missing = [name for name in wanted if name not in {each.name for each in made}]
    if missing or (key and [name.lower() for name in key] != wanted):
        raise invalid_mapping(f"the primary key of the table is ({', '.join(wanted)})")
    return made


def _fitting(table: TimeseriesTable, column: MappedColumn, *, of_index: bool) -> MappedColumn:
    """The column under its name in the table. Raises `InvalidRequest` where it cannot be one."""
    name = column.name.lower()
    found = _known_columns(table, of_index=of_index)
    known = {each.name: each for each in found}.get(name)
    if known is None:
        check_field_names([name])
        return column._replace(name=name)
    if _LARGE.get(known.type, known.type) is not _LARGE.get(column.type, column.type):
        raise invalid_mapping(f"column {name} is {known.type.value}")
    return column._replace(name=name, nullable=column.nullable and known.nullable)


def alter_field_mapping(
    engine: TablestoreEngine, mapping: SeriesMapping, name: str, column: MappedColumn | None
) -> Plan[None]:
    """Add a column, or (None) take the one of a name away. Raises `InvalidRequest`."""
    of_index = mapping.view is SeriesView.LAST

    def changed(table: TimeseriesTable, before: FieldMapping) -> FieldMapping:
        if column is not None:
            fitting = _fitting(table, column, of_index=of_index)
            columns = with_column(before.columns, fitting)
        elif name.lower() in _key_names(table, of_index=of_index):
            raise invalid_mapping(f"column {name} belongs to the primary key")
        else:
            columns = without_column(before.columns, name)
        return FieldMapping(before.name, columns, before.of_store)

    def make(table: TimeseriesTable) -> tuple[FieldMapping, ...]:
        named = [changed(table, e) if e.name == mapping.name else e for e in table.mappings]
        return tuple(named)

    _check_made(mapping)
    table = mapping.table
    return timeseries(engine).change_mappings(table.instance, table.name, make)


def drop_field_mapping(engine: TablestoreEngine, mapping: SeriesMapping) -> Plan[None]:
    """Remove a mapping; points stay. Raises `InvalidRequest` for an automatic one."""
    _check_made(mapping)
    table = mapping.table
    return timeseries(engine).change_mappings(
        table.instance,
        table.name,
        lambda now: tuple([each for each in now.mappings if each.name != mapping.name]),
    )


def _check_made(mapping: SeriesMapping) -> None:
    if mapping.automatic:
        raise invalid_mapping("the automatic mappings of a timeseries table stay as they are")
