"""SHOW TABLES, SHOW INDEX, DESCRIBE and EXPLAIN: about mappings, tables and plans (sql §2)."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from widerow.engine.capacity import units
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.tablestore.mapping import SqlType
from widerow.query.describe import described
from widerow.query.plan import Operator
from widerow.query.relation import Values
from widerow.wire.tablestore.operations.sql.documents import SearchScan
from widerow.wire.tablestore.operations.sql.estimates import estimates_of
from widerow.wire.tablestore.operations.sql.functions.texts import matches_like
from widerow.wire.tablestore.operations.sql.kinds import SqlKind
from widerow.wire.tablestore.operations.sql.select import ResultColumn
from widerow.wire.tablestore.operations.sql.series_tables import (
    SeriesScan,
    SeriesView,
    series_mappings,
)
from widerow.wire.tablestore.operations.sql.tables import (
    SeenTable,
    TableScan,
    names_of,
    seen_tables,
)

__all__ = [
    "Listing",
    "list_columns",
    "list_measured",
    "list_operators",
    "show_columns",
    "show_index",
    "show_tables",
]

Row = tuple[Any, ...]


class Listing(NamedTuple):
    """Columns, and the values of each."""

    columns: tuple[ResultColumn, ...]
    values: tuple[Values, ...]
    rows: int


def _listing(names: Sequence[str], kinds: Sequence[SqlKind], rows: Sequence[Row]) -> Listing:
    columns = tuple([ResultColumn(n, k) for n, k in zip(names, kinds, strict=True)])
    values = tuple(zip(*rows, strict=True)) if rows else ((),) * len(columns)
    return Listing(columns, values, len(rows))


def show_tables(engine: TablestoreEngine, instance: str, pattern: str | None = None) -> Listing:
    """The instance's tables that have a mapping, those that get one with their first use too.

    `pattern`: those whose names are like it, in whatever case; None: all.
    """
    names = [
        name
        for table in seen_tables(engine, instance)
        if not table.index_of or table.mapping is not None
        for name in (table.name, *[mapped.name for mapped in table.search_mappings])
    ]
    names += [mapping.name for mapping in series_mappings(engine, instance)]
    rows = [(name,) for name in sorted(names) if _is_like(name, pattern)]
    return _listing([f"Tables_in_{instance}"], [SqlKind.TEXT], rows)


def _is_like(name: str, pattern: str | None) -> bool:
    return pattern is None or matches_like(name.lower(), pattern.lower())


_DESCRIBED: Final = ("Field", "Type", "Null", "Key", "Default", "Extra")


def list_columns(seen: SeenTable) -> Listing:
    """The columns of a mapping."""
    key = {column.name for column in seen.table.key_columns}
    rows = [
        (
            column.name,
            column.type.value,
            "YES" if column.nullable and column.name not in key else "NO",
            "PRI" if column.name in key else "",
            None,
            "",
        )
        for column in seen.mapping.columns
    ]
    return _listing(_DESCRIBED, [SqlKind.TEXT] * len(_DESCRIBED), rows)


_FULL: Final = (*_DESCRIBED[:2], "Collation", *_DESCRIBED[2:], "Privileges", "Comment")


def show_columns(seen: SeenTable, pattern: str | None, *, full: bool) -> Listing:
    """The columns of a mapping whose names are like a pattern (None: all).

    `full`: with collation, privileges and comment, as MySQL has them (the JDBC driver asks so).
    """
    described = list_columns(seen)
    rows = [row for row in zip(*described.values, strict=True) if _is_like(row[0], pattern)]
    if not full:
        return _listing(_DESCRIBED, [SqlKind.TEXT] * len(_DESCRIBED), rows)
    texts = (SqlType.VARCHAR.value, SqlType.MEDIUMTEXT.value)
    wide = [
        (name, kind, "utf8mb4_bin" if kind in texts else None, *rest, "select", "")
        for name, kind, *rest in rows
    ]
    return _listing(_FULL, [SqlKind.TEXT] * len(_FULL), wide)


_TEXT, _LONG = SqlKind.TEXT, SqlKind.LONG
_INDEX_COLUMNS: Final = (
    *(("Table", _TEXT), ("Non_unique", _LONG), ("Key_name", _TEXT), ("Seq_in_index", _LONG)),
    *(("Column_name", _TEXT), ("Is_defined_column", _TEXT), ("Search_type", _TEXT)),
    *(("Collation", _TEXT), ("Cardinality", _LONG), ("Sub_part", _LONG), ("Packed", _TEXT)),
    *(("Null", _TEXT), ("Index_type", _TEXT), ("Comment", _TEXT), ("Index_comment", _TEXT)),
    *(("Visible", _TEXT), ("Expression", _TEXT)),
)


def show_index(seen: SeenTable) -> Listing:
    """The primary key, the secondary indexes and the search indexes of a table."""
    names = [name for name, _ in _INDEX_COLUMNS]
    return _listing(names, [kind for _, kind in _INDEX_COLUMNS], list(_index_rows(seen)))


def _index_rows(seen: SeenTable) -> Iterator[Row]:
    table = seen.table
    name = table.name
    for position, column in enumerate(table.key_columns, 1):
        yield _index_row(name, 0, ("PRIMARY", position, column.name, None, ""), ("", ""))
    for index in seen.indexes:
        kind = "LocalIndex" if index.local_index else "GlobalIndex"
        defined = {column.name for column in table.defined_columns}
        columns = names_of(index)
        for position, column_name in enumerate(columns, 1):
            declared = "YES" if column_name in defined else "NO"
            found = (index.name, position, column_name, declared, "")
            yield _index_row(name, 1, found, ("YES", kind))
    for search in table.search:
        for position, field in enumerate(search.schema.fields, 1):
            found = (search.name, position, field.name, "NO", field.type.name)
            yield _index_row(name, 1, found, ("YES", "SearchIndex"))


def _index_row(table: str, unique: int, column: Row, null_and_type: tuple[str, str]) -> Row:
    null, kind = null_and_type
    return (table, unique, *column, "A", 0, None, None, null, kind, "", "", "YES", "NULL")


def list_operators(engine: TablestoreEngine, plan: Operator) -> Listing:
    """The operators of a plan, from the result to the tables, one in a line.

    Scans of tables and secondary indexes have the rows that they will read, and lines behind have
    the read capacity units; the same of statistics, which is said. Raises as these scans do.
    """
    estimates = estimates_of(engine, plan)
    sizes: Counter[str] = Counter()
    is_exact: dict[str, bool] = {}

    def shown(source: TableScan | SearchScan | SeriesScan) -> str:
        found = estimates.get(id(source))
        if found is None or not isinstance(source, TableScan):
            return _shown_scan(source)
        name = source.scanned.name
        sizes[name] += found.size
        is_exact[name] = is_exact.get(name, True) and found.exact
        return f"{_shown_scan(source)}; {_about(found.exact)}{found.rows:,} rows"

    lines = list(described(plan, shown))
    for name, size in sizes.items():
        read = max(1, units(size))
        lines.append(f"read capacity units of {name}: {_about(is_exact[name])}{read:,}")
    return _listing(["Plan"], [SqlKind.TEXT], [(line,) for line in lines])


def _about(is_exact: bool) -> str:  # noqa: FBT001  # what it puts into words
    return "" if is_exact else "about "


def list_measured(
    plan: Operator, rows_of: Callable[[object], int], consumed: Sequence[str]
) -> Listing:
    """The operators with the rows that each scan has read; behind them lines of what it cost."""

    def shown(source: TableScan | SearchScan | SeriesScan) -> str:
        return f"{_shown_scan(source)}; {rows_of(source):,} rows read"

    lines = [*described(plan, shown), *consumed]
    return _listing(["Plan"], [SqlKind.TEXT], [(line,) for line in lines])


def _shown_scan(source: TableScan | SearchScan | SeriesScan) -> str:
    if isinstance(source, SearchScan):
        return _shown_search(source)
    if isinstance(source, SeriesScan):
        return _shown_series(source)
    scanned, ranges = source.scanned, source.ranges
    what = f"table {scanned.name}"
    if scanned is not source.table:
        what = f"index {scanned.name} of table {source.table.name}"
    if not ranges.accesses:
        return f"{what}: no row can be found"
    if ranges.points:
        return f"{what}: {len(ranges.accesses)} rows by their whole key"
    key = [column.name for column in scanned.key_columns[: ranges.matched]]
    way = ", from the last key to the first" if ranges.accesses[0].reverse else ""
    if not key:
        return f"{what}: all rows{way}"
    return f"{what}: {len(ranges.accesses)} ranges of the key by {', '.join(key)}{way}"


_TIME_MAX: Final = 2**63


def _shown_series(source: SeriesScan) -> str:
    """What is read of a timeseries table: which series, and what times of them."""
    table = source.mapping.table.name
    if source.series is not None:
        which = f"{len(source.series)} series by their whole key"
    elif source.condition is not None:
        which = "series by their metas"
    else:
        which = "all series"
    if source.mapping.view is SeriesView.METAS:
        return f"metas of timeseries table {table}: {which}"
    if source.mapping.view is SeriesView.LAST:
        return f"last-point index {source.mapping.name} of timeseries table {table}: {which}"
    parts = [f"timeseries table {table}: {which}"]
    if (source.begin_us, source.end_us) != (0, _TIME_MAX):
        parts.append(f"_time from {source.begin_us} to before {source.end_us}")
    if source.reverse:
        parts.append("from the last point to the first")
    return ", ".join(parts)


def _shown_search(source: SearchScan) -> str:
    """What is read by a search index: which rows, in what order, and what gives their values."""
    which = f"rows where {' AND '.join(source.shown)}" if source.shown else "all rows"
    order = ", ".join(name + (" descending" if down else "") for name, down in source.order)
    parts = [f"search index {source.index.name} of table {source.table.name}: {which}"]
    if order:
        parts.append(f"in the order of {order}")
    elif source.reverse:
        parts.append("from the last key to the first")
    parts.append("values from the rows" if source.reads_rows else "values from the index")
    if not source.counted:
        parts.append("of which only groups count as read")
    return ", ".join(parts)
