"""Copies of an index share segments and nothing else: what is written into one is in no other."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.search_host import KeptFiles
from tests.support.volume import examples
from tests.unit.search.strategies import columns, schemas

from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema
from widerow.model.values import Value
from widerow.search.comparing import stale_keys
from widerow.search.documents import document_of
from widerow.search.fields import SearchFields
from widerow.search.index import DocumentChange, DocumentIndex
from widerow.search.segments import Entry

Row = dict[str, Value]
WRITTEN_MS = 7


@settings(max_examples=examples(60), deadline=None)
@given(schemas(), st.data())
def test_a_copy_and_its_original_go_their_own_ways(schema: object, data: st.DataObject) -> None:
    """Several copies, of copies too; some in files, each in files of its own."""
    fields = SearchFields(schema)  # type: ignore[arg-type]  # what the strategy draws
    indexes: list[tuple[DocumentIndex, dict[bytes, Row], KeptFiles]] = [
        (DocumentIndex(fields), {}, KeptFiles())
    ]
    for _ in range(data.draw(st.integers(1, 12))):
        index, rows, files = indexes[data.draw(st.integers(0, len(indexes) - 1))]
        match data.draw(st.sampled_from(("write", "write", "copy", "files", "merge"))):
            case "write":
                for number in data.draw(st.sets(st.integers(0, 9), max_size=4)):
                    key = b"key-%d" % number
                    row = data.draw(st.none() | columns(fields.schema))
                    document = None if row is None else document_of(fields, (), row)
                    index.apply([DocumentChange(key, document, WRITTEN_MS)])
                    rows.pop(key, None)
                    if row is not None:
                        rows[key] = row
            case "copy" if len(indexes) < 4:
                indexes.append((index.copy(), dict(rows), KeptFiles()))
            case "files":
                index.checkpoint(files, b"state")
                found = DocumentIndex.open(fields, files)
                assert found is not None
                check(fields, found[0], rows)
            case "merge":
                index.merge()
            case _:
                pass  # there are copies enough
    for each, held, _ in indexes:  # at the end: to look at all of it brings an index in order
        assert each.rows == len(held)
        check(fields, each, held)


def test_a_row_written_into_a_copy_is_not_in_its_original() -> None:
    """Both have taken in the same row before, and neither has written anything since."""
    fields = SearchFields(SearchSchema((SearchField("n", SearchFieldType.LONG),)))

    def put(index: DocumentIndex, number: int) -> None:
        document = document_of(fields, (), {"n": number})
        index.apply([DocumentChange(b"key-%d" % number, document, WRITTEN_MS)])

    original = DocumentIndex(fields)
    put(original, 0)
    copies = [original.copy(), original.copy()]
    for number, index in enumerate((original, *copies), 1):
        put(index, number)
    for number, index in enumerate((original, *copies), 1):
        check(fields, index, {b"key-0": {"n": 0}, b"key-%d" % number: {"n": number}})


def check(fields: SearchFields, index: DocumentIndex, rows: dict[bytes, Row]) -> None:
    assert list(index.keys()) == sorted(rows)
    entries = [Entry(key, document_of(fields, (), rows[key]), WRITTEN_MS) for key in sorted(rows)]
    assert list(stale_keys(fields, index, entries)) == []
