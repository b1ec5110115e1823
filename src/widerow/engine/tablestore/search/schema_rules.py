"""The rules for the schema, the options and the name of a search index (search §1.1, §2).

Names of fields are compared without the blanks around them, and kept as they were sent. What no
schema value can hold, such as an unknown analyzer, is refused when the request is decoded.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import Final

from widerow.engine.tablestore.static import STRICT, check_table_name
from widerow.errors import Conflict, InvalidRequest, NotFound, Unsupported
from widerow.limits import (
    INT32_MAX,
    NAME_BYTES_MAX,
    SEARCH_FIELDS_BELOW_MAX,
    SEARCH_FIELDS_MAX,
    SEARCH_FUZZY_SPAN_MAX,
    SEARCH_INDEXES_MAX,
    SEARCH_NESTED_LEVELS_MAX,
    SEARCH_REINDEX_SUFFIX,
    SEARCH_VECTOR_DIMENSION_MAX,
    SEARCH_VECTOR_FIELDS_MAX,
)
from widerow.model.search.query import MATCH_ALL, FieldSort, PrimaryKeySort, SearchSort
from widerow.model.search.requests import CreateSearchIndex
from widerow.model.search.schema import (
    AnalyzerName,
    SearchField,
    SearchFieldType,
    SearchSchema,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.values import ColumnType, KeyType
from widerow.search.dates import DateFormats

__all__ = [
    "check_added_fields",
    "check_index",
    "check_index_names",
    "check_schema",
    "check_time_to_live",
]

_Type = SearchFieldType
_WITH_FIELDS: Final = frozenset((_Type.NESTED, _Type.JSON))
_UNSORTED: Final = frozenset((_Type.TEXT, _Type.NESTED, _Type.VECTOR))
_UNORDERED: Final = _UNSORTED | {_Type.GEO_POINT}

_FROM_ANY: Final = frozenset((_Type.KEYWORD, _Type.FUZZY_KEYWORD, _Type.TEXT))
_VIRTUAL: Final[Mapping[ColumnType, frozenset[SearchFieldType]]] = MappingProxyType(
    {
        ColumnType.STRING: _FROM_ANY
        | {_Type.LONG, _Type.DOUBLE, _Type.DATE, _Type.IP, _Type.GEO_POINT},
        ColumnType.INTEGER: _FROM_ANY | {_Type.DATE},
        ColumnType.DOUBLE: _FROM_ANY,
        ColumnType.BOOLEAN: frozenset(),
        ColumnType.BINARY: frozenset(),
    }
)
"""The types that a virtual field may have, by the type of its column (search §2.5)."""
_VIRTUAL_TYPES: Final = frozenset(chain.from_iterable(_VIRTUAL.values()))

_COLUMN_TYPES: Final = {
    KeyType.INTEGER: ColumnType.INTEGER,
    KeyType.STRING: ColumnType.STRING,
    KeyType.BINARY: ColumnType.BINARY,
}


def check_index_names(table: str, index: str) -> None:
    """Check the names, before the table is looked up.

    Raises `InvalidRequest`: TABLE_NAME, SEARCH_INDEX_NAME.
    """
    check_table_name(table)
    if not STRICT.takes(index):
        raise InvalidRequest(TablestoreRule.SEARCH_INDEX_NAME, name=index)


def check_index(table: Table, request: CreateSearchIndex) -> None:
    """Check everything that a table can refuse an index for, in the order of search §1.1.

    The options of the table, the schema, the index that is to be replaced, the name, the count.
    Raises `InvalidRequest`, `Unsupported`, `NotFound`, `Conflict`. Linear in the schema.
    """
    options = table.options
    if options.time_to_live != -1 and options.allow_update:
        raise InvalidRequest(TablestoreRule.SEARCH_TABLE_TTL)
    if request.time_to_live is not None:
        check_time_to_live(table, request.time_to_live)
    check_schema(table, request.schema)
    names = [index.name for index in table.search]
    if request.source:
        if not request.index.endswith(SEARCH_REINDEX_SUFFIX):
            raise InvalidRequest(TablestoreRule.SEARCH_REINDEX_NAME, name=request.index)
        if request.source not in names:
            raise NotFound(TablestoreRule.SEARCH_INDEX_NOT_FOUND, index=request.source)
    if request.index in names:
        raise Conflict(TablestoreRule.SEARCH_INDEX_EXISTS, index=request.index)
    if len(names) >= SEARCH_INDEXES_MAX:
        raise InvalidRequest(TablestoreRule.SEARCH_INDEX_COUNT, limit=SEARCH_INDEXES_MAX)


def check_time_to_live(table: Table, seconds: int) -> None:
    """Check an index's time to live.

    Raises `InvalidRequest`: SEARCH_TTL_VALUE, _UPDATES, _TABLE (search §1.1).
    """
    if seconds == -1:
        return
    if not 0 < seconds <= INT32_MAX:
        raise InvalidRequest(TablestoreRule.SEARCH_TTL_VALUE, count=seconds)
    if table.options.allow_update:
        raise InvalidRequest(TablestoreRule.SEARCH_TTL_UPDATES)
    if 0 <= table.options.time_to_live < seconds:
        raise InvalidRequest(
            TablestoreRule.SEARCH_TTL_TABLE, count=seconds, maximum=table.options.time_to_live
        )


def check_added_fields(
    table: Table, schema: SearchSchema, added: tuple[SearchField, ...]
) -> SearchSchema:
    """The schema with the fields that UpdateSearchIndex adds (search §1.4).

    Raises as `check_schema`.
    """
    whole = replace(schema, fields=schema.fields + added)
    check_schema(table, whole)
    return whole


def check_schema(table: Table, schema: SearchSchema) -> None:
    """Check the fields, the routing and the order. Raises `InvalidRequest`, `Unsupported`."""
    if not schema.fields:
        raise InvalidRequest(TablestoreRule.SEARCH_SCHEMA_EMPTY)
    _check_level(schema.fields, levels=0)
    every = list(_every(schema.fields))
    if len(every) > SEARCH_FIELDS_MAX:
        raise InvalidRequest(
            TablestoreRule.SEARCH_FIELD_COUNT, count=len(every), maximum=SEARCH_FIELDS_MAX
        )
    vectors = sum(field.type is _Type.VECTOR for field in every)
    if vectors > SEARCH_VECTOR_FIELDS_MAX:
        raise InvalidRequest(
            TablestoreRule.SEARCH_VECTOR_COUNT, count=vectors, maximum=SEARCH_VECTOR_FIELDS_MAX
        )
    _check_virtual(table, schema.fields)
    keys = {column.name for column in table.key_columns}
    for name in schema.routing:
        if name not in keys:
            raise InvalidRequest(TablestoreRule.SEARCH_ROUTING, name=name)
    _check_order(schema)


def _every(fields: Iterable[SearchField]) -> Iterator[SearchField]:
    """The fields, and all fields nested in them."""
    for field in fields:
        yield field
        yield from _every(field.fields)


def _check_level(fields: tuple[SearchField, ...], levels: int) -> None:
    """Check the fields of one level, `levels` nested fields deep, and all levels below."""
    counts = Counter(field.name.strip() for field in fields)
    for name, count in counts.items():
        if count > 1:
            raise InvalidRequest(TablestoreRule.SEARCH_FIELD_DUPLICATE, field=name)
    for field in fields:
        for check in _FIELD_CHECKS:
            check(field)
        if field.fields:
            below = levels + 1
            if below > SEARCH_NESTED_LEVELS_MAX:
                raise InvalidRequest(
                    TablestoreRule.SEARCH_NESTED_DEPTH,
                    field=field.name,
                    maximum=SEARCH_NESTED_LEVELS_MAX,
                )
            _check_level(field.fields, below)


# --- one field, by itself --------------------------------------------------------------------


def _check_name(field: SearchField) -> None:
    if not 1 <= len(field.name.strip().encode()) <= NAME_BYTES_MAX:
        raise InvalidRequest(TablestoreRule.SEARCH_FIELD_NAME, field=field.name[:NAME_BYTES_MAX])


def _check_type(field: SearchField) -> None:
    if field.type is _Type.FLATTENED:
        raise Unsupported(
            TablestoreRule.FEATURE_UNSUPPORTED, feature="search fields of type FLATTENED"
        )


def _check_below(field: SearchField) -> None:
    if bool(field.fields) != (field.type in _WITH_FIELDS):
        raise InvalidRequest(TablestoreRule.SEARCH_FIELD_BELOW, field=field.name)
    if (field.json is not None) != (field.type is _Type.JSON):
        raise InvalidRequest(TablestoreRule.SEARCH_FIELD_BELOW, field=field.name)
    if len(field.fields) > SEARCH_FIELDS_BELOW_MAX:
        raise InvalidRequest(
            TablestoreRule.SEARCH_FIELD_COUNT,
            count=len(field.fields),
            maximum=SEARCH_FIELDS_BELOW_MAX,
        )


def _check_analyzer(field: SearchField) -> None:
    analyzer = field.analyzer
    if analyzer is None:
        return
    if field.type is not _Type.TEXT:
        raise InvalidRequest(TablestoreRule.SEARCH_ANALYZER_FIELD, field=field.name)
    if analyzer.name is AnalyzerName.FUZZY:
        span = analyzer.max_chars - analyzer.min_chars
        if analyzer.min_chars < 1 or not 0 <= span <= SEARCH_FUZZY_SPAN_MAX:
            raise InvalidRequest(
                TablestoreRule.SEARCH_ANALYZER_FUZZY,
                field=field.name,
                minimum=analyzer.min_chars,
                maximum=analyzer.max_chars,
            )


def _check_flags(field: SearchField) -> None:
    if field.is_array and field.type is _Type.VECTOR:
        raise InvalidRequest(TablestoreRule.SEARCH_ARRAY_TYPE, field=field.name)
    if field.sort_and_agg and field.type in _UNSORTED:
        raise InvalidRequest(
            TablestoreRule.SEARCH_FIELD_UNSORTED, field=field.name, type=field.type.name.lower()
        )
    if field.highlighting and field.type is not _Type.TEXT:
        raise InvalidRequest(
            TablestoreRule.SEARCH_HIGHLIGHTING_TYPE, field=field.name, type=field.type.name.lower()
        )


def _check_vector(field: SearchField) -> None:
    if (field.vector is not None) != (field.type is _Type.VECTOR):
        raise InvalidRequest(TablestoreRule.SEARCH_VECTOR_OPTIONS, field=field.name)
    if field.vector is not None and not (
        1 <= field.vector.dimension <= SEARCH_VECTOR_DIMENSION_MAX
    ):
        raise InvalidRequest(TablestoreRule.SEARCH_VECTOR_OPTIONS, field=field.name)


def _check_date(field: SearchField) -> None:
    if bool(field.date_formats) != (field.type is _Type.DATE):
        raise InvalidRequest(TablestoreRule.SEARCH_DATE_FORMAT, field=field.name)
    if not all(map(DateFormats.readable, field.date_formats)):
        raise InvalidRequest(TablestoreRule.SEARCH_DATE_FORMAT, field=field.name)


_FIELD_CHECKS: Final[tuple[Callable[[SearchField], None], ...]] = (
    _check_name,
    _check_type,
    _check_below,
    _check_analyzer,
    _check_flags,
    _check_vector,
    _check_date,
)


# --- fields among others ---------------------------------------------------------------------


def _check_virtual(table: Table, fields: tuple[SearchField, ...]) -> None:
    """Check virtual fields: they are not columns, and must be on the first level."""
    types: dict[str, ColumnType] = {c.name: c.type for c in table.defined_columns}
    types |= {c.name: _COLUMN_TYPES[c.type] for c in table.key_columns}
    for field in fields:
        if field.source is None:
            _refuse_virtual(field.fields)
            continue
        allowed = _VIRTUAL_TYPES
        if field.source in types:
            allowed = _VIRTUAL[types[field.source]]
        if field.type not in allowed:
            raise InvalidRequest(
                TablestoreRule.SEARCH_VIRTUAL_TYPE,
                field=field.name,
                type=field.type.name.lower(),
                column=field.source,
            )


def _refuse_virtual(fields: tuple[SearchField, ...]) -> None:
    for field in _every(fields):
        if field.source is not None:
            raise InvalidRequest(TablestoreRule.SEARCH_VIRTUAL_SOURCE, field=field.name)


def _check_order(schema: SearchSchema) -> None:
    """Check the order of the index: of its own fields, and none with nested fields (search §1.1).

    An order that searches would be refused for is refused here.
    """
    if schema.sort is None or not schema.sort.sorters:
        return
    if schema.has_nested:
        raise InvalidRequest(TablestoreRule.SEARCH_SORT_NESTED)
    sortable = frozenset(_sortable(schema.fields, ""))
    by_field = [each for each in schema.sort.sorters if not isinstance(each, PrimaryKeySort)]
    for sorter in by_field:
        if not isinstance(sorter, FieldSort) or sorter.nested_filter is not None:
            raise InvalidRequest(TablestoreRule.SEARCH_SORT_KIND)
        for name in (sorter.field, sorter.missing_field):
            if name is not None and name not in sortable:
                raise InvalidRequest(TablestoreRule.SEARCH_SORT_FIELD, field=name)
    if by_field:
        _try_order(schema, schema.sort)


def _try_order(schema: SearchSchema, sort: SearchSort) -> None:
    """Sort the rows of an empty index. Raises `InvalidRequest` as a search does (search §5.1)."""
    from widerow.search.fields import SearchFields  # noqa: PLC0415  # numpy is imported with the first search index
    from widerow.search.index import DocumentIndex  # noqa: PLC0415  # numpy is imported with the first search index
    from widerow.search.results.columns import completed_sort, sort_columns  # noqa: PLC0415  # numpy is imported with the first search index

    nothing = DocumentIndex(SearchFields(schema)).view().select(MATCH_ALL, scored=False)
    sort_columns(nothing, completed_sort(sort).sorters, scores=None)


def _sortable(fields: tuple[SearchField, ...], prefix: str) -> Iterator[str]:
    """Full names of the fields that an index can be ordered by."""
    for field in fields:
        name = prefix + field.name.strip()
        if field.type is _Type.JSON:
            yield from _sortable(field.fields, f"{name}.")
        elif field.type not in _UNORDERED and (
            field.sort_and_agg is not False or field.type is _Type.DATE
        ):
            yield name
