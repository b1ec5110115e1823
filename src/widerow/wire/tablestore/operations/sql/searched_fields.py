"""The fields of a search index as statements see them: by name, with nested paths (sql §2, §6).

A field stands for a mapped column where its values are those of the column's cells: it has the type
of the column, one value in a row, and is read from the column of its own name.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from widerow.model.search.schema import SearchField, SearchFieldType, SearchIndex
from widerow.model.tablestore.mapping import MappedColumn, SqlType
from widerow.search.fields import settled

__all__ = ["SearchedField", "has_column", "is_alike", "is_sortable", "searched_fields_of"]

_T = SearchFieldType
_ALIKE: Final = {
    SqlType.BIGINT: frozenset((_T.LONG,)),
    SqlType.DOUBLE: frozenset((_T.DOUBLE,)),
    SqlType.BOOL: frozenset((_T.BOOLEAN,)),
    SqlType.VARCHAR: frozenset((_T.KEYWORD, _T.FUZZY_KEYWORD)),
    SqlType.MEDIUMTEXT: frozenset((_T.KEYWORD, _T.FUZZY_KEYWORD)),
}


class SearchedField(NamedTuple):
    """A field with its full name and its defaults; `path`: the nested documents that have it."""

    name: str
    definition: SearchField
    path: str = ""

    @property
    def type(self) -> SearchFieldType:
        """The type that it is indexed as."""
        return self.definition.type


def searched_fields_of(index: SearchIndex) -> dict[str, SearchedField]:
    """All fields, those inside others too, by their full names in lower case."""
    return {each.name.lower(): each for each in _fields(index.schema.fields, "", "")}


def _fields(declared: Sequence[SearchField], prefix: str, path: str) -> Iterator[SearchedField]:
    for each in map(settled, declared):
        name = prefix + each.name
        yield SearchedField(name, each, path)
        inner = name if each.type is SearchFieldType.NESTED else path
        yield from _fields(each.fields, f"{name}.", inner)


def is_alike(field: SearchedField | None, column: MappedColumn, *, virtual: bool) -> bool:
    """Whether a field's values are those of a mapped column; `virtual`: also of virtual fields."""
    if field is None or field.path or field.definition.is_array:
        return False
    own = virtual or field.definition.source is None
    return own and field.type in _ALIKE.get(column.type, frozenset())


def is_sortable(field: SearchedField) -> bool:
    """Whether rows may be sorted by a field, and its values be taken from the index."""
    return bool(field.definition.index and field.definition.sort_and_agg)


def has_column(fields: Mapping[str, SearchedField], column: MappedColumn) -> bool:
    """Whether an index has a column, in whatever form."""
    found = fields.get(column.name.lower())
    return found is not None and not found.path and found.definition.source is None
