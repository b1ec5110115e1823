"""Keys and the rows that they stand under (storage/hbase/rows.py)."""

from hypothesis import given
from hypothesis import strategies as st

from widerow.keys.layout import SPACE_STORE, revision_key
from widerow.storage.hbase.rows import key_of, row_of, row_spans

CATALOG_REVISION = revision_key(SPACE_STORE)
keys = st.one_of(
    st.binary(max_size=4),
    st.lists(st.sampled_from([0, 1, 2, 4, 5, 6, 0x10, 0xFF]), max_size=4).map(bytes),
    st.sampled_from([CATALOG_REVISION, CATALOG_REVISION + b"\x00", b"\x06", b"\x06\x00\xff"]),
)


@given(keys)
def test_a_row_names_its_key(key: bytes) -> None:
    row, qualifier = row_of(key)
    assert row
    assert key_of(row, qualifier) == key


@given(st.sets(keys, max_size=30), keys, keys)
def test_the_spans_of_a_range_hold_its_keys_in_their_order(
    every: set[bytes], start: bytes, stop: bytes
) -> None:
    found = []
    for span in row_spans(start, stop):
        assert span.start < span.stop
        rows = sorted(row for row, qualifier in map(row_of, every) if qualifier == span.qualifier)
        found += [key_of(r, span.qualifier) for r in rows if span.start <= r < span.stop]
    assert found == sorted(key for key in every if start <= key < stop)


def test_a_shard_stands_together_with_its_revision() -> None:
    shard = b"\x10\x00\x00\x00\x07key\x00\x01"
    rows = [row_of(key)[0] for key in (shard, shard + b"\x00row", b"\x15" + shard[1:] + b"\x01")]
    rows.append(row_of(revision_key(shard))[0])
    assert all(row.startswith(row_of(shard)[0]) for row in rows)


def test_the_catalogue_stands_apart_from_all_data() -> None:
    catalogue = (b"\x01format", b"\x02\xff\xff", b"\x04\x00\x02", CATALOG_REVISION)
    data = (b"\x10", b"\x06", b"\x06\x00", b"\x05\x00\x00\x00\x01", b"\x20", b"")
    assert max(row_of(key)[0] for key in catalogue) < min(row_of(key)[0] for key in data)
