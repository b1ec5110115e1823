"""Which tables a statement sees, by what mapping, and how their rows are reached (sql §2, §8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, NotFound
from widerow.model.tablestore.mapping import MappedColumn, SqlMapping, SqlType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.values import ColumnType, KeyType
from widerow.query.access import KeyComparison, KeyRanges, key_ranges

__all__ = [
    "SeenTable",
    "TableScan",
    "automatic_mapping",
    "best_access",
    "find_seen_table",
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
    """A table as SQL sees it. `indexes`: its secondary indexes that are ready, as tables."""

    table: Table
    mapping: SqlMapping
    indexes: tuple[Table, ...]


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
    found = [each for each in seen_tables(engine, instance) if each.name.lower() == wanted]
    if not found:
        raise NotFound(TablestoreRule.SQL_TABLE_UNKNOWN, instance=instance, table=name)
    if len(found) > 1:
        raise InvalidRequest(TablestoreRule.SQL_TABLE_AMBIGUOUS, table=name)
    table = found[0]
    indexes = [engine.tables.find(instance, each.name) for each in table.indexes if each.ready]
    return SeenTable(table, table.mapping or automatic_mapping(table), tuple(indexes))


def names_of(table: Table) -> list[str]:
    """The names of a table's key columns and defined columns."""
    key = [column.name for column in table.key_columns]
    return key + [column.name for column in table.defined_columns]


def best_access(
    seen: SeenTable, comparisons: Sequence[KeyComparison], needed: Sequence[MappedColumn]
) -> tuple[Table, KeyRanges]:
    """The table or the index to read, and which ranges of its key (sql §8).

    An index where its key matches more columns than the table's own does and it has all that is
    needed; the first of several.
    """
    chosen = seen.table
    best = key_ranges([column.name for column in chosen.key_columns], comparisons)
    names = {column.name for column in needed}
    for index in seen.indexes:
        if not names <= set(names_of(index)):
            continue
        key = [column.name for column in index.key_columns]
        found = key_ranges(key, comparisons, index.name)
        if found.matched > best.matched:
            chosen, best = index, found
    return chosen, best
