"""What no view sees any more is freed at once, not when a collector comes."""

import gc
import weakref
from typing import Any

from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema
from widerow.search.documents import document_of
from widerow.search.fields import SearchFields
from widerow.search.index import DocumentChange, DocumentIndex


def test_segments_and_their_moments_are_freed_without_a_collector() -> None:
    """A server's collector comes seldom, and a moment of a large segment has a mask of its own."""
    fields = SearchFields(SearchSchema((SearchField("n", SearchFieldType.LONG),)))
    index = DocumentIndex(fields)
    index.apply([DocumentChange(b"%d" % n, document_of(fields, (), {"n": n}), 0) for n in range(9)])
    index.freeze(b"")
    [moment] = index._state.large
    gone: list[weakref.ref[Any]] = [weakref.ref(moment), weakref.ref(moment.tables[0])]
    del moment
    gc.disable()
    try:
        index.apply([DocumentChange(b"3", None, 1)])
        assert [each() for each in gone] == [None, None]
    finally:
        gc.enable()
