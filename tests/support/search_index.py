"""Indexes over rows that tests write down, and files of an index in memory."""

from collections.abc import Iterable, Mapping
from typing import final

from widerow.model.search.query import Query
from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema
from widerow.model.values import Value
from widerow.search.documents import document_of
from widerow.search.fields import SearchFields
from widerow.search.index import DocumentChange, DocumentIndex
from widerow.search.view import SegmentedView

__all__ = ["MemoryFiles", "changes_of", "index_of", "keys_of", "one_field"]

Rows = Mapping[bytes, Mapping[str, Value]]


@final
class MemoryFiles:
    """The files of one index in a dictionary (`search.interface.IndexFiles`)."""

    def __init__(self) -> None:
        """No files."""
        self.contents: dict[str, bytes] = {}

    def names(self) -> list[str]:
        """The names of the files."""
        return sorted(self.contents)

    def write(self, name: str, parts: Iterable[bytes | memoryview]) -> None:
        """Write a new file."""
        self.contents[name] = b"".join(parts)

    def replace(self, name: str, data: bytes) -> None:
        """Replace the content of a file."""
        self.contents[name] = data

    def map(self, name: str) -> memoryview:
        """The bytes of a file. Raises `KeyError` for an unknown name."""
        return memoryview(self.contents[name])

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        self.contents.pop(name, None)


def one_field(kind: SearchFieldType, **options: object) -> SearchFields:
    """An index with one field, named f."""
    return SearchFields(SearchSchema((SearchField("f", kind, **options),)))  # type: ignore[arg-type]  # of SearchField


def changes_of(fields: SearchFields, rows: Rows) -> list[DocumentChange]:
    """The rows, by their encoded keys, as changes written at time 0."""
    return [
        DocumentChange(key, document_of(fields, (), dict(columns)), 0)
        for key, columns in rows.items()
    ]


def index_of(fields: SearchFields, rows: Rows) -> DocumentIndex:
    """An index of rows by their encoded keys."""
    index = DocumentIndex(fields)
    index.apply(changes_of(fields, rows))
    return index


def keys_of(view: SegmentedView, query: Query) -> list[bytes]:
    """The keys of the rows that match, sorted."""
    found = view.select(query, scored=False)
    return sorted(found.keys(found.key_ranks().argsort()))
