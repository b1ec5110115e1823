"""Which fields aggregations, group-bys, sorters and collapses may use (search §5.1, §6.1, §8)."""

from typing import Final

from widerow.errors import InvalidRequest
from widerow.model.search.schema import SearchField, SearchFieldType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.interface import DocumentSet

__all__ = [
    "NUMBERS",
    "TERMS",
    "aggregated_field",
    "collapsed_field",
    "sorted_field",
    "type_name",
]

_T = SearchFieldType

NUMBERS: Final = (_T.LONG, _T.DOUBLE)
"""Types whose values are numbers."""

TERMS: Final = (_T.KEYWORD, _T.FUZZY_KEYWORD, _T.IP)
"""Types whose values are numbers of terms."""

_SORTED: Final = (*NUMBERS, _T.BOOLEAN, _T.DATE, *TERMS)
_COLLAPSED: Final = (*NUMBERS, _T.KEYWORD)
_UNKNOWN: Final = "does not exist"
_UNSORTED: Final = "must enable enable_sort_and_agg, but enable_sort_and_agg is not enabled"


def type_name(kind: SearchFieldType) -> str:
    """A type as messages name it."""
    return kind.name.lower()


def aggregated_field(
    rows: DocumentSet, kind: str, name: str, allowed: tuple[SearchFieldType, ...]
) -> SearchField:
    """The field that an aggregation or group-by of a kind, such as `avg agg`, is about.

    Raises `InvalidRequest` for an unknown field, another type, and a field without `sort_and_agg`.
    """
    field = rows.field(name)
    if field is None:
        raise InvalidRequest(TablestoreRule.AGG_FIELD_UNKNOWN, kind=kind, field=name)
    if field.type not in allowed:
        raise InvalidRequest(
            TablestoreRule.AGG_FIELD_TYPE,
            kind=kind,
            field=name,
            type=type_name(field.type),
            allowed=", ".join(type_name(each) for each in allowed),
        )
    if not _is_kept(field):
        raise InvalidRequest(TablestoreRule.AGG_FIELD_UNSORTED, kind=kind, field=name)
    return field


def sorted_field(rows: DocumentSet, name: str, *, points: bool = False) -> SearchField:
    """The field that a sorter is about; `points`: a sorter by distance. Raises `InvalidRequest`."""
    return _checked(rows, name, (_T.GEO_POINT,) if points else _SORTED, TablestoreRule.SORT_FIELD)


def collapsed_field(rows: DocumentSet, name: str) -> SearchField:
    """The field that a search is collapsed by (search §5.5). Raises `InvalidRequest`."""
    field = _checked(rows, name, _COLLAPSED, TablestoreRule.COLLAPSE_FIELD)
    if field.is_array or rows.nested_path(name):
        raise InvalidRequest(
            TablestoreRule.COLLAPSE_FIELD, field=name, reason="has several values in a row"
        )
    return field


def _checked(
    rows: DocumentSet, name: str, allowed: tuple[SearchFieldType, ...], rule: TablestoreRule
) -> SearchField:
    field = rows.field(name)
    if field is None:
        raise InvalidRequest(rule, field=name, reason=_UNKNOWN)
    if field.type not in allowed:
        reason = f"type:{type_name(field.type)} is invalid"
        raise InvalidRequest(rule, field=name, reason=reason)
    if not _is_kept(field):
        raise InvalidRequest(rule, field=name, reason=_UNSORTED)
    return field


def _is_kept(field: SearchField) -> bool:
    # N's composite test groups by a DATE field that was declared false (search §1.1).
    return field.sort_and_agg is not False or field.type is SearchFieldType.DATE
