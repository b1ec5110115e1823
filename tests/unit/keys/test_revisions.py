"""Which writes conflict where transactions are optimistic (keys/layout.py, `revision_key`)."""

from hypothesis import given
from hypothesis import strategies as st

from widerow.keys.encode import after_prefix, encode_key_value
from widerow.keys.layout import (
    LEASE_KEY,
    RUN_KEY,
    SPACE_REVISIONS,
    catalog_prefix,
    revision_key,
    revisions_beside,
    row_prefix,
    sequence_key,
    sequence_prefix,
    statistics_prefix,
    sweep_key,
    table_prefixes,
    tunnel_prefix,
)

partition_keys = st.one_of(st.integers(-(2**63), 2**63 - 1), st.text(max_size=9), st.binary())


@given(one=partition_keys, other=partition_keys)
def test_shards_have_revisions_of_their_own(
    one: int | str | bytes, other: int | str | bytes
) -> None:
    shards = [row_prefix(7) + encode_key_value(value) for value in (one, other)]
    apart = len({revision_key(shard) for shard in shards}) == 2
    assert apart == (shards[0] != shards[1])
    assert revision_key(sequence_key(7, one)) == revision_key(shards[0])
    tables = {revision_key(prefix) for prefix in table_prefixes(7)}
    assert tables.isdisjoint(map(revision_key, shards))


def test_what_overlaps_has_one_revision() -> None:
    store = {revision_key(prefix) for prefix in (b"\x01", b"\x02", b"\x04", LEASE_KEY, RUN_KEY)}
    assert store == {revision_key(catalog_prefix("i"))}
    table = {revision_key(prefix) for prefix in table_prefixes(7)}
    assert table == {revision_key(sweep_key(7)), revision_key(sequence_prefix(7))}
    assert table != {revision_key(statistics_prefix(8))}
    tunnel = tunnel_prefix(7, 9)
    assert revision_key(tunnel) == revision_key(tunnel + b"\x01client") not in table


def test_rows_of_a_table_take_its_revisions_along() -> None:
    rows = row_prefix(7)
    beside = revisions_beside(rows, after_prefix(rows))
    assert beside is not None
    assert beside[0] <= revision_key(rows + b"a\x00\x01") < beside[1]
    assert beside[0][:1] == SPACE_REVISIONS
    assert revisions_beside(rows, rows + b"a") is None
    assert revisions_beside(sequence_prefix(7), after_prefix(sequence_prefix(7))) is None
