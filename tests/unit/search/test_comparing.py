"""An index is compared with what it must hold, document by document (search §11.5, point 2)."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.volume import examples
from tests.unit.search.strategies import columns, schemas

from widerow.model.search.schema import SearchSchema
from widerow.model.values import Value
from widerow.search.comparing import stale_keys
from widerow.search.documents import document_of
from widerow.search.fields import SearchFields
from widerow.search.index import DocumentChange, DocumentIndex
from widerow.search.segments import Entry

Row = dict[str, Value]


@st.composite
def histories(draw: st.DrawFn) -> tuple[SearchSchema, list[list[tuple[bytes, Row | None]]]]:
    """A schema, and batches of writes and deletions of a few keys."""
    schema = draw(schemas())
    key = st.integers(0, 9).map(lambda number: b"key-%d" % number)
    write = st.tuples(key, st.none() | columns(schema))
    return schema, draw(st.lists(st.lists(write, max_size=5), min_size=1, max_size=5))


def indexed(
    fields: SearchFields, history: list[list[tuple[bytes, Row | None]]]
) -> tuple[DocumentIndex, dict[bytes, Row]]:
    """An index that took batch by batch, and the rows that are left."""
    index, rows = DocumentIndex(fields), dict[bytes, Row]()
    for batch in history:
        for key, row in batch:
            document = None if row is None else document_of(fields, (), row)
            index.apply([DocumentChange(key, document, 7)])
            rows.pop(key, None)
            if row is not None:
                rows[key] = row
        index.freeze(b"")
    return index, rows


@settings(max_examples=examples(60), deadline=None)
@given(histories(), st.data())
def test_what_differs_is_found_and_nothing_else(
    drawn: tuple[SearchSchema, list[list[tuple[bytes, Row | None]]]], data: st.DataObject
) -> None:
    schema, history = drawn
    fields = SearchFields(schema)
    index, rows = indexed(fields, history)
    assert list(index.keys()) == sorted(rows)
    entries = [Entry(key, document_of(fields, (), rows[key]), 7) for key in sorted(rows)]
    assert list(stale_keys(fields, index, entries)) == []
    changed = data.draw(st.sets(st.sampled_from(sorted(rows)))) if rows else set()
    for at, entry in enumerate(entries):
        if entry.key in changed:
            entries[at] = entry._replace(written_ms=8)
    assert list(stale_keys(fields, index, entries)) == sorted(changed)


@settings(max_examples=examples(60), deadline=None)
@given(histories(), st.data())
def test_another_value_of_any_field_is_noticed(
    drawn: tuple[SearchSchema, list[list[tuple[bytes, Row | None]]]], data: st.DataObject
) -> None:
    schema, history = drawn
    fields = SearchFields(schema)
    index, rows = indexed(fields, history)
    for key, row in rows.items():
        other = data.draw(columns(schema))
        one, two = (document_of(fields, (), each) for each in (row, other))
        found = list(stale_keys(fields, index, [Entry(key, two, 7)]))
        assert found == ([] if told(one) == told(two) else [key])


def told(document: object) -> object:
    """All that a document says, in a form that can be compared."""
    return repr(document)


def test_an_excerpt_of_no_rows_is_empty() -> None:
    index = DocumentIndex(SearchFields(SearchSchema(())))
    assert list(index.keys()) == []
    assert index.excerpt([]).count == 0
