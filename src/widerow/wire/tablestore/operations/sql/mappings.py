"""CREATE TABLE, ALTER TABLE and DROP MAPPING TABLE: how SQL sees a table (sql §2)."""

import json
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sqlglot import exp

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, NotFound
from widerow.model.tablestore.mapping import MappedColumn, SqlMapping, SqlType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.wire.tablestore.operations.sql.bind import unsupported
from widerow.wire.tablestore.operations.sql.search_mappings import (
    alter_search_mapping,
    drop_search_mapping,
    invalid_mapping,
    map_search_index,
    with_column,
    without_column,
)
from widerow.wire.tablestore.operations.sql.series_mappings import (
    alter_field_mapping,
    drop_field_mapping,
    map_fields,
    map_index,
)
from widerow.wire.tablestore.operations.sql.series_tables import SeriesView
from widerow.wire.tablestore.operations.sql.syntax import (
    AlterMapping,
    CreateMapping,
    DropMapping,
    read_type,
)
from widerow.wire.tablestore.operations.sql.tables import automatic_mapping, find_seen_table

__all__ = ["alter_mapping", "create_mapping", "drop_mappings"]

_TYPES: Final = {
    "BIGINT": SqlType.BIGINT,
    "DOUBLE": SqlType.DOUBLE,
    "BOOLEAN": SqlType.BOOL,
    "TINYINT": SqlType.BOOL,
    "VARCHAR": SqlType.VARCHAR,
    "TEXT": SqlType.MEDIUMTEXT,
    "MEDIUMTEXT": SqlType.MEDIUMTEXT,
    "VARBINARY": SqlType.VARBINARY,
    "BLOB": SqlType.MEDIUMBLOB,
    "MEDIUMBLOB": SqlType.MEDIUMBLOB,
}
_ALIKE: Final = {SqlType.VARCHAR: SqlType.MEDIUMTEXT, SqlType.VARBINARY: SqlType.MEDIUMBLOB}
_CONSTRAINTS: Final = (
    exp.NotNullColumnConstraint,
    exp.DefaultColumnConstraint,
    exp.PrimaryKeyColumnConstraint,
)


def create_mapping(
    engine: TablestoreEngine, instance: str, statement: CreateMapping
) -> Plan[Any] | None:
    """CREATE TABLE: the plan of its change; None where it is to change nothing.

    Raises `InvalidRequest`, `Conflict`, `NotFound` and `Unsupported`; the plan the first two.
    """
    tree = statement.tree
    schema = tree.this
    if not isinstance(schema, exp.Schema) or tree.args.get("expression") is not None:
        raise unsupported("CREATE TABLE without a list of columns")
    name, keeps = schema.this.name, bool(tree.args.get("exists"))
    engine_name, attributes = _options(tree.args.get("properties"))
    if engine_name == "searchindex":
        return map_search_index(engine, instance, (name, keeps), attributes, _declared(schema)[0])
    if "::" in name or engine_name == "analyticalstore":
        if attributes:
            raise invalid_mapping("ENGINE_ATTRIBUTE is not for timeseries tables")
        of_store = engine_name == "analyticalstore"
        return map_fields(engine, instance, (name, keeps), of_store, _declared(schema))
    seen = find_seen_table(engine, instance, name)
    if seen.series is not None and seen.series.view is SeriesView.LAST:
        if attributes:
            raise invalid_mapping("ENGINE_ATTRIBUTE is not for timeseries tables")
        return map_index(engine, seen.series, keeps, _declared(schema))
    if keeps and (seen.table.mapping is not None or seen.search or seen.series):
        return None
    if seen.search is not None or seen.series is not None:
        raise Conflict(TablestoreRule.SQL_TABLE_EXISTS, instance=instance, table=name)
    make = partial(_created, schema, _attributes(attributes), keeps)
    return engine.map_table(instance, seen.table.name, make)


def _created(
    schema: exp.Schema,
    attributes: tuple[bool, bool],
    keeps: bool,  # noqa: FBT001  # IF NOT EXISTS
    table: Table,
) -> Table:
    if table.mapping is not None:
        if keeps:
            return table
        raise Conflict(TablestoreRule.SQL_TABLE_EXISTS, instance=table.instance, table=table.name)
    columns, key = _declared(schema)
    actual = automatic_mapping(table)
    own = {column.name.lower(): column for column in actual.columns}
    named = [_named_as(own, column) for column in columns]
    if len({column.name.lower() for column in named}) < len(named):
        raise invalid_mapping("two columns have one name")
    _check_key([column.name for column in table.key_columns], key, own, named)
    return replace(table, mapping=SqlMapping(tuple(named), *attributes))


def _declared(schema: exp.Schema) -> tuple[list[MappedColumn], list[str]]:
    """The columns of a statement, and the names of its primary key."""
    columns: list[MappedColumn] = []
    key: list[str] = []
    for each in schema.expressions:
        if isinstance(each, exp.PrimaryKey):
            key += [part.name for part in each.expressions]
            continue
        if not isinstance(each, exp.ColumnDef):
            raise unsupported("this part of CREATE TABLE")
        kinds = [constraint.kind for constraint in each.args.get("constraints") or ()]
        if not all(isinstance(kind, _CONSTRAINTS) for kind in kinds):
            raise unsupported("column options other than NULL, NOT NULL, DEFAULT and PRIMARY KEY")
        if any(isinstance(kind, exp.PrimaryKeyColumnConstraint) for kind in kinds):
            key.append(each.name)
        strict = [k for k in kinds if isinstance(k, exp.NotNullColumnConstraint)]
        nullable = all(kind.args.get("allow_null") for kind in strict)
        columns.append(MappedColumn(each.name, _type(each.args.get("kind")), nullable))
    return columns, key


def _type(node: exp.Expr | None) -> SqlType:
    name = node.this.name if isinstance(node, exp.DataType) else ""
    found = _TYPES.get(name)
    if found is None or (name == "TINYINT" and _length(node) != "1"):
        raise invalid_mapping(f"no column has the type {name or 'of this text'}")
    return found


def _length(node: exp.Expr | None) -> str:
    parameters = node.expressions if node is not None else []
    return parameters[0].name if parameters else ""


def _named_as(own: dict[str, MappedColumn], column: MappedColumn) -> MappedColumn:
    """A column under the name that the table has for it. Raises where its type differs."""
    found = own.get(column.name.lower())
    if found is None:
        return column
    if _ALIKE.get(found.type, found.type) is not _ALIKE.get(column.type, column.type):
        raise invalid_mapping(f"column {found.name} is {found.type.value} in the table")
    return _replaced_name(column, found.name)


def _replaced_name(column: MappedColumn, name: str) -> MappedColumn:
    """The column with another name."""
    return MappedColumn(name, column.type, column.nullable)


def _check_key(
    actual: list[str], key: list[str], own: dict[str, MappedColumn], columns: list[MappedColumn]
) -> None:
    """The primary key is the table's: all of its columns, in their order, with their types."""
    spelled = [own[name.lower()].name if name.lower() in own else name for name in key]
    if spelled != actual:
        raise invalid_mapping(f"the primary key of the table is ({', '.join(actual)})")
    types = {column.name: column.type for column in columns}
    for name in actual:
        if types.get(name) is not own[name.lower()].type:
            raise invalid_mapping(f"primary key column {name} is {own[name.lower()].type.value}")


def _options(properties: exp.Properties | None) -> tuple[str, dict[str, Any]]:
    """The name behind ENGINE in lower case, and what stands in ENGINE_ATTRIBUTE."""
    engine, attributes = "tablestore", dict[str, Any]()
    for each in properties.expressions if properties is not None else ():
        if isinstance(each, exp.EngineProperty):
            engine = each.this.name.lower()
            if engine not in ("tablestore", "searchindex", "analyticalstore"):
                raise unsupported(f"ENGINE {each.this.name}")
            continue
        if not isinstance(each, exp.Property) or each.name.lower() != "engine_attribute":
            raise unsupported(f"the table option {each.name}")
        attributes = _json(each.args["value"].name)
    return engine, attributes


def _attributes(given: dict[str, Any]) -> tuple[bool, bool]:
    """Whether the mapping is consistent, and exact, as ENGINE_ATTRIBUTE says."""
    left = dict(given)
    level = left.pop("consistency", left.pop("data_consistency", "eventual"))
    inexact = left.pop("allow_inaccurate_aggregation", True)
    if left or level not in ("eventual", "strong") or not isinstance(inexact, bool):
        raise invalid_mapping("ENGINE_ATTRIBUTE has consistency and allow_inaccurate_aggregation")
    return level == "strong", not inexact


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise invalid_mapping("ENGINE_ATTRIBUTE is a JSON object")
    return found


def alter_mapping(engine: TablestoreEngine, instance: str, statement: AlterMapping) -> Plan[Any]:
    """ALTER TABLE: a column more, or one less. Raises as `create_mapping`."""
    seen = find_seen_table(engine, instance, statement.table)
    kind = None if statement.type is None else _type(read_type(statement.type))
    column = None if kind is None else MappedColumn(statement.column, kind)
    if seen.series is not None:
        return alter_field_mapping(engine, seen.series, statement.column, column)
    if seen.search is not None:
        return alter_search_mapping(engine, seen, statement.column, column)

    def make(now: Table) -> Table:
        if now.mapping is None:
            raise invalid_mapping(
                "the mapping is an automatic one: CREATE TABLE makes one to alter"
            )
        if column is None:
            mapping = _without(now, statement.column, now.mapping)
        else:
            mapping = _with(now, column, now.mapping)
        return replace(now, mapping=mapping)

    return engine.map_table(instance, seen.table.name, make)


def _with(table: Table, column: MappedColumn, mapping: SqlMapping) -> SqlMapping:
    own = {each.name.lower(): each for each in automatic_mapping(table).columns}
    return replace(mapping, columns=with_column(mapping.columns, _named_as(own, column)))


def _without(table: Table, name: str, mapping: SqlMapping) -> SqlMapping:
    if any(name.lower() == column.name.lower() for column in table.key_columns):
        raise invalid_mapping(f"column {name} belongs to the primary key")
    return replace(mapping, columns=without_column(mapping.columns, name))


def drop_mappings(
    engine: TablestoreEngine, instance: str, statement: DropMapping
) -> list[Plan[Any]]:
    """DROP MAPPING TABLE: a plan for each table that has a mapping; data stays. As above.

    A table without one is not an error, nor is a missing table where IF EXISTS stands.
    """
    found: list[Plan[Any]] = []
    for name in statement.tables:
        try:
            seen = find_seen_table(engine, instance, name)
        except NotFound:
            if statement.if_exists:
                continue
            raise
        if seen.series is not None and seen.series.view is SeriesView.LAST:
            if not seen.series.automatic:
                found.append(drop_field_mapping(engine, seen.series))
        elif seen.series is not None:
            found.append(drop_field_mapping(engine, seen.series))
        elif seen.search is not None:
            found.append(drop_search_mapping(engine, seen))
        elif seen.table.mapping is not None:
            found.append(engine.map_table(instance, seen.table.name, _unmapped))
    return found


def _unmapped(table: Table) -> Table:
    return replace(table, mapping=None)
