"""Indexes and searches for the tests of results."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.unit.search.results.plain_index import PlainView

from widerow.model.search.aggregation import Aggregation, Breakdown, GroupBy, SearchGroup
from widerow.model.search.requests import Search
from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema
from widerow.model.values import Value
from widerow.search.documents import document_of
from widerow.search.fields import SearchFields
from widerow.search.index import DocumentChange, DocumentIndex
from widerow.search.interface import IndexView
from widerow.search.results.page import FoundPage, find_page

T = SearchFieldType
Rows = Sequence[Mapping[str, Value]]
Asked = Any  # what a field of a request takes


def fields(**kinds: SearchFieldType) -> SearchSchema:
    """A schema of plain fields."""
    return SearchSchema(tuple(SearchField(name, kind) for name, kind in kinds.items()))


def key_of(number: int) -> bytes:
    """The encoded primary key of a row of these tests."""
    return b"%08d" % number


class Index:
    """An index of rows numbered from 0, and how it is asked."""

    def __init__(self, build: Asked, schema: SearchSchema, rows: Rows) -> None:
        self.schema = schema
        self.view = build(schema, [(key_of(number), row) for number, row in enumerate(rows)])

    def page(self, **request: Asked) -> FoundPage:
        """What a search answers; `seed` 7."""
        return find_page(self.view, self.schema, Search("table", "index", **request), 7)

    def numbers(self, **request: Asked) -> list[int]:
        """The numbers of the rows of a page."""
        return numbers(self.page(**request))

    def pages(self, **request: Asked) -> list[list[int]]:
        """The numbers of the rows of all pages, page by page."""
        found = [self.page(**request)]
        while found[-1].token:
            found.append(self.page(**{**request, "sort": None, "token": found[-1].token}))
        return [numbers(page) for page in found]

    def value(self, aggregation: Aggregation, **request: Asked) -> Asked:
        """What one aggregation comes to."""
        asked = Breakdown((aggregation,))
        return self.page(breakdown=asked, limit=0, **request).breakdown.aggregations[0].value

    def groups(self, group_by: GroupBy, **request: Asked) -> tuple[SearchGroup, ...]:
        """The groups of one group-by."""
        asked = Breakdown((), (group_by,))
        return self.page(breakdown=asked, limit=0, **request).breakdown.group_bys[0].groups

    def counts(self, group_by: GroupBy, **request: Asked) -> list[tuple[Any, int]]:
        """Keys and numbers of rows of one group-by."""
        return [(group.key, group.row_count) for group in self.groups(group_by, **request)]


def numbers(page: FoundPage) -> list[int]:
    """The numbers of the rows of a page."""
    return [int(hit.key) for hit in page.hits]


def core_view(schema: SearchSchema, rows: Sequence[tuple[bytes, Mapping[str, Value]]]) -> IndexView:
    """The real index: rows of several segments, of which some were replaced or deleted."""
    compiled = SearchFields(schema)
    index = DocumentIndex(compiled)
    written = [DocumentChange(key, document_of(compiled, (), dict(row)), 0) for key, row in rows]
    gone = DocumentChange(b"gone", written[0].document if written else None, 0)
    index.apply([gone, *written[::2]])
    index.view()
    index.freeze(b"")
    index.apply([*written[1::3], DocumentChange(b"gone", None, 0)])
    index.apply([*written[3:4], *written[1::2]])
    return index.view()


BUILDERS = {"plain": PlainView, "core": core_view}
"""The implementations of the index that every test runs over."""

both = pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
"""For laws, which take no fixture."""
