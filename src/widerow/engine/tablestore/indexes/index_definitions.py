"""The rules of index definitions, and an index as a table of the catalogue (change §A2, §A3)."""

from dataclasses import replace
from typing import Final

from widerow.engine.catalog.draft import Draft
from widerow.engine.tablestore.indexes.form import composed_key
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.engine.tablestore.static import check_table_name
from widerow.errors import Conflict, Exhausted, InvalidRequest, NotFound, Rule
from widerow.keys.layout import SPACE_CATALOG
from widerow.limits import INDEX_COLUMNS_MAX, INDEX_KEY_COLUMNS_MAX, INDEXES_MAX
from widerow.model.tablestore.requests import IndexDefinition
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import SecondaryIndex, Table, Throughput, ThroughputState
from widerow.model.values import ColumnType

__all__ = [
    "add_index",
    "check_columns_free",
    "check_definition",
    "check_definitions",
    "check_options_of_indexed",
    "check_room",
    "drop_table",
    "remove_index",
    "replace_table",
    "table_named",
]

_PAIRS: Final = {(0, 0): False, (1, 1): True}
_KEY_TYPES: Final = (ColumnType.INTEGER, ColumnType.STRING, ColumnType.BINARY)


def check_definition(index: IndexDefinition) -> None:
    """Check an index by the rules that need no table (change §A2, 1 to 3)."""
    check_table_name(index.name)
    count = len(index.key_columns)
    if not 1 <= count <= INDEX_KEY_COLUMNS_MAX:
        raise InvalidRequest(
            TablestoreRule.INDEX_KEY_COUNT, limit=INDEX_KEY_COLUMNS_MAX, count=count
        )
    count = len(index.defined_columns)
    if count > INDEX_COLUMNS_MAX:
        raise InvalidRequest(
            TablestoreRule.INDEX_COLUMN_COUNT, limit=INDEX_COLUMNS_MAX, count=count
        )


def check_definitions(indexes: tuple[IndexDefinition, ...]) -> None:
    """Check all indexes of a CreateTable, and their number."""
    for index in indexes:
        check_definition(index)
    if len(indexes) > INDEXES_MAX:
        raise InvalidRequest(TablestoreRule.INDEX_COUNT, limit=INDEXES_MAX, count=len(indexes))


def table_named(draft: Draft, instance: str, name: str) -> Table:
    """The table of that name in a change of the catalogue.

    Raises: `NotFound`; `InvalidRequest` (INDEX_IS_NO_TABLE) for the name of an index.
    """
    found: Table | None = draft.state.by_name.get((SPACE_CATALOG, instance, name))
    if found is None:
        raise NotFound(Rule.TABLE_NOT_FOUND, instance=instance, table=name)
    if found.index_of:
        raise InvalidRequest(TablestoreRule.INDEX_IS_NO_TABLE, table=name)
    return found


def check_room(draft: Draft, table: Table, asked: IndexDefinition, quota: int) -> None:
    """Check that an index of that name may be added to a table (change §A2, 7 to 9).

    `quota`: of tables and indexes in an instance. Raises: `Conflict`, `InvalidRequest`,
    `Exhausted`.
    """
    if (SPACE_CATALOG, table.instance, asked.name) in draft.state.by_name:
        raise Conflict(TablestoreRule.TABLE_EXISTS, instance=table.instance, table=asked.name)
    if len(table.indexes) >= INDEXES_MAX:
        raise InvalidRequest(
            TablestoreRule.INDEX_COUNT, limit=INDEXES_MAX, count=len(table.indexes) + 1
        )
    if draft.state.held(TABLESTORE_MODEL.named_with, table.instance) >= quota:
        raise Exhausted(TablestoreRule.TABLE_QUOTA, limit=quota)


def add_index(
    draft: Draft, table: Table, asked: IndexDefinition, now_us: int, *, build: bool, complete: bool
) -> Table:
    """Put the table of an index, and give its table with the index in its definition.

    `build`: the index answers only when it was built. `complete`: as of `SecondaryIndex`. Raises
    what is wrong with the index, in the order of change §A2, from 10 on.
    """
    _check_columns(table, asked)
    is_local = _is_local(table, asked)
    index = SecondaryIndex(
        asked.name,
        draft.number(),
        is_local,
        asked.key_columns,
        asked.defined_columns,
        ready=not build,
        complete=complete,
    )
    after = replace(table, indexes=(*table.indexes, index))
    check_options_of_indexed(after)
    draft.put(TABLESTORE_MODEL, _table_of(after, index, now_us))
    return after


def _check_columns(table: Table, asked: IndexDefinition) -> None:
    keys = {column.name: column for column in table.key_columns}
    defined = {column.name: column.type for column in table.defined_columns}
    for name in asked.key_columns:
        if name not in keys and name not in defined:
            raise InvalidRequest(TablestoreRule.INDEX_COLUMN_UNKNOWN, name=name)
    for name in asked.defined_columns:
        if name not in defined:
            raise InvalidRequest(TablestoreRule.INDEX_COLUMN_UNKNOWN, name=name)
    seen: set[str] = set()
    for name in (*asked.key_columns, *asked.defined_columns):
        if name in seen:
            raise InvalidRequest(TablestoreRule.INDEX_COLUMN_DUPLICATE, name=name)
        seen.add(name)
    for name in asked.key_columns:
        if name in defined and defined[name] not in _KEY_TYPES:
            raise InvalidRequest(TablestoreRule.INDEX_KEY_TYPE, name=name, type=defined[name].name)
    first = keys.get(asked.key_columns[0])
    if first is not None and first.auto_increment:
        raise InvalidRequest(TablestoreRule.INDEX_AUTO_INCREMENT_FIRST, name=first.name)


def _is_local(table: Table, asked: IndexDefinition) -> bool:
    partition_key = table.key_columns[0].name
    if asked.kind == 1 and asked.key_columns[0] != partition_key:
        raise InvalidRequest(
            TablestoreRule.INDEX_LOCAL_FIRST, name=asked.key_columns[0], expected=partition_key
        )
    is_local = _PAIRS.get((asked.kind, asked.mode))
    if is_local is None:
        raise InvalidRequest(TablestoreRule.INDEX_TYPE, kind=asked.kind, mode=asked.mode)
    return is_local


def check_options_of_indexed(table: Table) -> None:
    """The options that a table with indexes may have (change §A2, 16). Raises `InvalidRequest`."""
    options = table.options
    fixed = options.update_full_row or not options.allow_update
    if table.indexes and (options.max_versions != 1 or (options.time_to_live >= 0 and not fixed)):
        raise InvalidRequest(TablestoreRule.INDEX_OPTIONS, table=table.name)


def check_columns_free(table: Table, names: tuple[str, ...]) -> None:
    """Raises `InvalidRequest` where an index names one of these columns (change §A7)."""
    for name in names:
        for index in table.indexes:
            if name in index.key_columns or name in index.defined_columns:
                raise InvalidRequest(TablestoreRule.INDEX_COLUMN_USED, name=name, index=index.name)


def _table_of(table: Table, index: SecondaryIndex, now_us: int) -> Table:
    """The index as a table (change §A3)."""
    types = {column.name: column for column in table.defined_columns}
    return Table(
        instance=table.instance,
        name=index.name,
        id=index.id,
        key_columns=composed_key(table, index.key_columns),
        defined_columns=tuple(types[name] for name in index.defined_columns),
        options=table.options,
        throughput=ThroughputState(Throughput(0, 0), now_us // 1_000_000),
        created_us=now_us,
        encryption=table.encryption,
        index_of=table.id,
        local_index=index.is_local,
    )


def replace_table(draft: Draft, before: Table, after: Table) -> Table:
    """Put a changed table; its indexes keep what it keeps. Raises `InvalidRequest`."""
    check_options_of_indexed(after)
    if after.options != before.options:
        for index in after.indexes:
            entry: Table = draft.state.by_id[index.id]
            draft.put(TABLESTORE_MODEL, replace(entry, options=after.options))
    return draft.put(TABLESTORE_MODEL, after)


def remove_index(draft: Draft, table: Table, name: str) -> None:
    """Take an index away. Raises `NotFound` where the table has none of that name."""
    for index in table.indexes:
        if index.name == name:
            kept = tuple(each for each in table.indexes if each is not index)
            draft.put(TABLESTORE_MODEL, replace(table, indexes=kept))
            draft.drop(TABLESTORE_MODEL, draft.state.by_id[index.id])
            return
    raise NotFound(Rule.TABLE_NOT_FOUND, instance=table.instance, table=name)


def drop_table(draft: Draft, table: Table, *, keep_indexed: bool) -> None:
    """Take a table away with its indexes.

    Raises: `NotFound` where it was dropped meanwhile; `InvalidRequest` (TABLE_HAS_INDEXES) for a
    table that has indexes, where those are to be kept, and (TABLE_HAS_SEARCH_INDEXES, search §1.5)
    for one that has search indexes.
    """
    current = draft.current(TABLESTORE_MODEL, table)
    if current.search:
        raise InvalidRequest(TablestoreRule.TABLE_HAS_SEARCH_INDEXES, table=current.name)
    if keep_indexed and current.indexes:
        name = current.indexes[0].name
        raise InvalidRequest(TablestoreRule.TABLE_HAS_INDEXES, table=current.name, index=name)
    for index in current.indexes:
        draft.drop(TABLESTORE_MODEL, draft.state.by_id[index.id])
    draft.drop(TABLESTORE_MODEL, current)
