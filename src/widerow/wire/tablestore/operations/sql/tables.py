"""Which tables a statement sees, by what mapping, and how their rows are reached (sql §2, §8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, InvalidRequest, NotFound, Unsupported
from widerow.model.search.schema import SearchIndex
from widerow.model.tablestore.mapping import MappedColumn, SqlMapping, SqlType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.values import ColumnType, KeyType
from widerow.query.access import KeyComparison, KeyRanges, key_ranges
from widerow.wire.tablestore.operations.sql.series_tables import (
    SeriesMapping,
    as_seen_table,
    series_mappings,
)

__all__ = [
    "AccessWanted",
    "SeenTable",
    "TableScan",
    "automatic_mapping",
    "best_access",
    "find_seen_table",
    "has_name",
    "names_of",
    "seen_tables",
]

_KEY_TYPES: Final = {
    KeyType.INTEGER: SqlType.BIGINT,
    KeyType.STRING: SqlType.VARCHAR,
    KeyType.BINARY: SqlType.VARBINARY,
}
_COLUMN_TYPES: Final = {
    ColumnType.INTEGER: SqlType.BIGINT,
    ColumnType.DOUBLE: SqlType.DOUBLE,
    ColumnType.BOOLEAN: SqlType.BOOL,
    ColumnType.STRING: SqlType.MEDIUMTEXT,
    ColumnType.BINARY: SqlType.MEDIUMBLOB,
}


class SeenTable(NamedTuple):
    """A table as SQL sees it. `indexes`: its secondary indexes that are ready, as tables.

    `name`: as SQL knows it. `search`: the search index that it is a mapping of, and nothing else.
    `series`: the timeseries table that it is a mapping of; `table` has no more than its key then.
    """

    table: Table
    mapping: SqlMapping
    indexes: tuple[Table, ...]
    name: str
    search: SearchIndex | None = None
    series: SeriesMapping | None = None


@dataclass(frozen=True, slots=True)
class TableScan:
    """What is read of a table: `scanned` is the table itself or one of its indexes.

    `columns`: names, in the order in which a row has its values.
    """

    table: Table
    scanned: Table
    ranges: KeyRanges
    columns: tuple[MappedColumn, ...]


def automatic_mapping(table: Table) -> SqlMapping:
    """The mapping of a table that has none: its primary key and its defined columns (sql §2)."""
    key = [MappedColumn(c.name, _KEY_TYPES[c.type], nullable=False) for c in table.key_columns]
    defined = [MappedColumn(c.name, _COLUMN_TYPES[c.type]) for c in table.defined_columns]
    return SqlMapping((*key, *defined))


def seen_tables(engine: TablestoreEngine, instance: str) -> list[Table]:
    """The tables of an instance and their indexes, in the order of names."""
    return list(engine.tables.owned(instance))


def find_seen_table(engine: TablestoreEngine, instance: str, name: str) -> SeenTable:
    """The table of a name, whose letters may be of either case. Raises `InvalidRequest`."""
    wanted = name.lower()
    tables = seen_tables(engine, instance)
    found = [each for each in tables if each.name.lower() == wanted]
    series = [each for each in series_mappings(engine, instance) if each.name.lower() == wanted]
    if len(found) + len(series) > 1:
        raise InvalidRequest(TablestoreRule.SQL_TABLE_AMBIGUOUS, table=name)
    if series:
        return SeenTable(*as_seen_table(series[0]), (), series[0].name, series=series[0])
    if not found:
        searched = next(filter(None, (_seen_search(each, wanted) for each in tables)), None)
        if searched is not None:
            return searched
        raise NotFound(TablestoreRule.SQL_TABLE_UNKNOWN, instance=instance, table=name)
    table = found[0]
    indexes = [engine.tables.find(instance, each.name) for each in table.indexes if each.ready]
    mapping = table.mapping or automatic_mapping(table)
    return SeenTable(table, mapping, tuple(indexes), table.name)


def has_name(engine: TablestoreEngine, instance: str, name: str, *, keeps: bool) -> bool:
    """Whether a table or a mapping has the name that a new mapping is to have.

    `keeps`: IF NOT EXISTS stands in the statement. Raises `Conflict` where it does not.
    """
    try:
        find_seen_table(engine, instance, name)
    except NotFound:
        return False
    if keeps:
        return True
    raise Conflict(TablestoreRule.SQL_TABLE_EXISTS, instance=instance, table=name)


def _seen_search(table: Table, wanted: str) -> SeenTable | None:
    """The mapping of a search index of a table, by its name in lower case."""
    for mapped in table.search_mappings:
        if mapped.name.lower() == wanted:
            search = next(each for each in table.search if each.name == mapped.index)
            return SeenTable(table, SqlMapping(mapped.columns), (), mapped.name, search)
    return None


def names_of(table: Table) -> list[str]:
    """The names of a table's key columns and defined columns."""
    key = [column.name for column in table.key_columns]
    return key + [column.name for column in table.defined_columns]


class AccessWanted(NamedTuple):
    """What else decides on an access, names in lower case.

    `hint`: the indexes behind USE INDEX; None: no hint. `orders`: columns in whose order few rows
    are wanted. `present`: columns that no row of the result lacks.
    """

    hint: tuple[str, ...] | None = None
    orders: Sequence[str] = ()
    present: frozenset[str] = frozenset()


def best_access(
    seen: SeenTable,
    comparisons: Sequence[KeyComparison],
    needed: Sequence[MappedColumn],
    wanted: AccessWanted,
) -> tuple[Table, KeyRanges]:
    """The table or the index to read, and which ranges of its key (sql §8).

    An index where its key matches more columns than the table's own does, it has all that is
    needed, and no row can be missing; the first of several. `wanted.hint`: the indexes that a
    statement names, of which one is taken; without any in it the table is. An index that has the
    columns of `wanted.orders` in their order is taken where nothing else decides.
    """
    hint, orders = wanted.hint, wanted.orders
    chosen = seen.table
    best = key_ranges([column.name for column in chosen.key_columns], comparisons)
    names = {column.name for column in needed}
    named = None if hint is None else {each.lower() for each in hint}
    ordered = _has_order(chosen, best, orders)
    for index in seen.indexes:
        if named is not None and index.name.lower() not in named:
            continue
        covers = names <= set(names_of(index))
        if not covers and named is not None:
            raise Unsupported(TablestoreRule.SQL_UNSUPPORTED, detail=_NOT_COVERED)
        if not covers or (named is None and not _has_every_row(seen.table, index, wanted.present)):
            continue
        key = [column.name for column in index.key_columns]
        found = key_ranges(key, comparisons, index.name)
        sorts = _has_order(index, found, orders)
        better = found.matched > best.matched or (
            found.matched == best.matched and sorts and not ordered
        )
        if better or (named is not None and chosen is seen.table):
            chosen, best, ordered = index, found, sorts
    return chosen, best


def _has_every_row(table: Table, index: Table, present: frozenset[str]) -> bool:
    """Whether an index has all rows that have certain columns.

    A row without a column of the index's key has no entry (change §A4); nor has one from before an
    index that was made without the rows that were there.
    """
    own = {column.name for column in table.key_columns}
    listed = {column.name.lower() for column in index.key_columns if column.name not in own}
    return listed <= present and all(each.complete for each in table.indexes if each.id == index.id)


_NOT_COVERED: Final = "USE INDEX of a secondary index that lacks columns of the statement"


def _has_order(table: Table, ranges: KeyRanges, orders: Sequence[str]) -> bool:
    """Whether rows of these ranges come in the order of some columns, or in its reverse."""
    free = [column.name.lower() for column in table.key_columns[ranges.equal :]]
    return bool(orders) and free[: len(orders)] == list(orders)
