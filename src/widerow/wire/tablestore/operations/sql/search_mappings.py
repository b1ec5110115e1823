"""Mappings of search indexes: CREATE TABLE … ENGINE='searchindex', and their changes (sql §2.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, InvalidRequest
from widerow.model.search.schema import SearchFieldType, SearchIndex
from widerow.model.tablestore.mapping import MappedColumn, SearchMapping, SqlType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.wire.tablestore.operations.sql.searched_fields import SearchedField, searched_fields_of
from widerow.wire.tablestore.operations.sql.tables import SeenTable, find_seen_table, has_name

__all__ = [
    "alter_search_mapping",
    "drop_search_mapping",
    "invalid_mapping",
    "map_search_index",
    "with_column",
    "without_column",
]

_T, _S = SearchFieldType, SqlType
_TEXTS: Final = frozenset((_S.VARCHAR, _S.MEDIUMTEXT))
_TYPES: Final = {
    _T.LONG: frozenset((_S.BIGINT,)),
    _T.DATE: _TEXTS | {_S.BIGINT},
    _T.DOUBLE: frozenset((_S.DOUBLE,)),
    _T.BOOLEAN: frozenset((_S.BOOL,)),
}
_VALUED: Final = frozenset((_T.LONG, _T.DOUBLE, _T.BOOLEAN, _T.KEYWORD, _T.FUZZY_KEYWORD))


def invalid_mapping(reason: str) -> InvalidRequest:
    """The error for a mapping that does not fit its table or its index."""
    return InvalidRequest(TablestoreRule.SQL_MAPPING, reason=reason)


def map_search_index(
    engine: TablestoreEngine,
    instance: str,
    named: tuple[str, bool],
    attributes: Mapping[str, Any],
    columns: Sequence[MappedColumn],
) -> Plan[Table] | None:
    """Map the index that the attributes name; `named`: the name, and whether IF NOT EXISTS stands.

    None: nothing is to be changed. Raises `InvalidRequest`, `Conflict` and `NotFound`.
    """
    name, keeps = named
    if has_name(engine, instance, name, keeps=keeps):
        return None
    of_table, of_index = attributes.get("table_name"), attributes.get("index_name")
    if set(attributes) != {"table_name", "index_name"} or not (
        isinstance(of_table, str) and isinstance(of_index, str)
    ):
        raise invalid_mapping("ENGINE_ATTRIBUTE of a search index has table_name and index_name")
    seen = find_seen_table(engine, instance, of_table)

    def make(table: Table) -> Table:
        index = _index_of(table, of_index)
        if any(each.name.lower() == name.lower() for each in table.search_mappings):
            raise Conflict(TablestoreRule.SQL_TABLE_EXISTS, instance=instance, table=name)
        fields = searched_fields_of(index)
        made: tuple[MappedColumn, ...] = ()
        for column in columns:
            made = with_column(made, _fitting(fields, column))
        mapping = SearchMapping(name, index.name, made)
        return replace(table, search_mappings=(*table.search_mappings, mapping))

    return engine.map_table(instance, seen.table.name, make)


def alter_search_mapping(
    engine: TablestoreEngine, seen: SeenTable, name: str, column: MappedColumn | None
) -> Plan[Table]:
    """Add a column to the mapping of an index, or (None) take the one of a name away."""

    def changed(table: Table, mapping: SearchMapping) -> SearchMapping:
        if column is None:
            return replace(mapping, columns=without_column(mapping.columns, name))
        fields = searched_fields_of(_index_of(table, mapping.index))
        return replace(mapping, columns=with_column(mapping.columns, _fitting(fields, column)))

    def make(table: Table) -> Table:
        mapped = [
            changed(table, each) if each.name == seen.name else each
            for each in table.search_mappings
        ]
        return replace(table, search_mappings=tuple(mapped))

    return engine.map_table(seen.table.instance, seen.table.name, make)


def drop_search_mapping(engine: TablestoreEngine, seen: SeenTable) -> Plan[Table]:
    """Remove the mapping of an index; the index stays."""

    def make(table: Table) -> Table:
        left = tuple([each for each in table.search_mappings if each.name != seen.name])
        return replace(table, search_mappings=left)

    return engine.map_table(seen.table.instance, seen.table.name, make)


def with_column(
    columns: tuple[MappedColumn, ...], column: MappedColumn
) -> tuple[MappedColumn, ...]:
    """The columns and one more. Raises `InvalidRequest` where its name is there."""
    if any(each.name.lower() == column.name.lower() for each in columns):
        raise invalid_mapping(f"column {column.name} is there already")
    return (*columns, column)


def without_column(columns: tuple[MappedColumn, ...], name: str) -> tuple[MappedColumn, ...]:
    """The columns without one, of which some are left. Raises `InvalidRequest`."""
    left = tuple([each for each in columns if each.name.lower() != name.lower()])
    if len(left) == len(columns) or not left:
        raise invalid_mapping(f"there is no column {name}" if left else "no column would be left")
    return left


def _index_of(table: Table, name: str) -> SearchIndex:
    for index in table.search:
        if index.name.lower() == name.lower():
            return index
    raise InvalidRequest(TablestoreRule.SQL_INDEX_UNKNOWN, index=name, table=table.name)


def _fitting(fields: Mapping[str, SearchedField], column: MappedColumn) -> MappedColumn:
    """The column under the name of its field. Raises `InvalidRequest` where it is none."""
    field = fields.get(column.name.lower())
    if field is None or field.path:
        raise invalid_mapping(f"the index has no field {column.name}")
    types = _TEXTS if field.definition.is_array else _TYPES.get(field.type, _TEXTS)
    if column.type not in types:
        wanted = " or ".join(sorted({each.name for each in types}))
        raise invalid_mapping(f"field {field.name} is mapped as {wanted}")
    if field.definition.source is not None and field.type not in _VALUED:
        raise invalid_mapping(f"virtual field {field.name} has no values that SQL could show")
    return column._replace(name=field.name)
