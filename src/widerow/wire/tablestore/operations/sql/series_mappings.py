"""Mappings of timeseries tables that have columns of fields, and their changes (timeseries §12)."""

import re
from collections.abc import Sequence
from typing import Final

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
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
    META_COLUMNS,
    SeriesMapping,
    SeriesView,
    mapped_key,
)
from widerow.wire.tablestore.operations.sql.tables import find_seen_table, has_name
from widerow.wire.tablestore.operations.timeseries.found import timeseries

__all__ = ["alter_field_mapping", "drop_field_mapping", "map_fields"]

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
        raise invalid_mapping(f"{of_table} is no timeseries table")
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


def _columns(table: TimeseriesTable, declared: Declared) -> tuple[MappedColumn, ...]:
    """The columns that are declared, the key of points among them."""
    columns, key = declared
    wanted = [each.name for each in mapped_key(table)]
    made: tuple[MappedColumn, ...] = ()
    for column in columns:
        made = with_column(made, _fitting(table, column))
    missing = [name for name in wanted if name not in {each.name for each in made}]
    if missing or (key and [name.lower() for name in key] != wanted):
        raise invalid_mapping(f"the primary key of the table is ({', '.join(wanted)})")
    return made


def _fitting(table: TimeseriesTable, column: MappedColumn) -> MappedColumn:
    """The column under its name in the table. Raises `InvalidRequest` where it cannot be one."""
    name = column.name.lower()
    known = {each.name: each for each in (*mapped_key(table), *META_COLUMNS)}.get(name)
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

    def changed(table: TimeseriesTable, before: FieldMapping) -> FieldMapping:
        if column is not None:
            columns = with_column(before.columns, _fitting(table, column))
        elif any(each.name == name.lower() for each in mapped_key(table)):
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
    if mapping.view is not SeriesView.FIELDS:
        raise invalid_mapping("the automatic mappings of a timeseries table stay as they are")
