"""Spaces and prefixes: what belongs together lies together, what does not never meets."""

import inspect

from hypothesis import given
from hypothesis import strategies as st

from widerow.keys import layout
from widerow.keys.encode import after_prefix, encode_key
from widerow.keys.layout import (
    catalog_key,
    catalog_prefix,
    dropped_key,
    dropped_prefix,
    row_prefix,
    segment_key,
    segment_range,
    sequence_key,
    sequence_prefix,
    statistics_prefix,
    table_prefixes,
)

names = st.text(min_size=1, max_size=8)
ids = st.integers(0, 2**32 - 1)


def _spaces() -> dict[str, bytes]:
    members = inspect.getmembers(layout)
    return {name: value for name, value in members if name.startswith("SPACE_")}


def test_every_space_has_a_byte_of_its_own() -> None:
    spaces = _spaces()
    assert all(len(space) == 1 for space in spaces.values())
    assert len(set(spaces.values())) == len(spaces) == 15
    assert b"\x03" not in spaces.values()  # unreleased versions used it


@given(names, names)
def test_an_instance_holds_its_tables_and_no_others(instance: str, table: str) -> None:
    prefix = catalog_prefix(instance)
    assert catalog_key(instance, table).startswith(prefix)
    assert not catalog_key(instance + table, table).startswith(prefix)


@given(ids, ids, st.binary(max_size=8))
def test_tables_never_touch(first: int, second: int, rest: bytes) -> None:
    for mine, other in zip(table_prefixes(first), table_prefixes(second), strict=True):
        inside = mine <= other + rest < after_prefix(mine)
        assert inside == (first == second)


@given(ids)
def test_a_tables_prefixes_are_all_of_them(table_id: int) -> None:
    number = table_id.to_bytes(4, "big")
    spaces = (0x10, 0x11, 0x12, 0x13, 0x15, 0x16, 0x20, 0x05)
    prefixes = [bytes([space]) + number for space in spaces]
    assert list(table_prefixes(table_id)) == prefixes
    assert {sequence_prefix(table_id), statistics_prefix(table_id)} < set(prefixes)
    assert row_prefix(table_id) == b"\x10" + number
    assert sequence_key(table_id, "") == b"\x11" + number + b"\x00\x01"


@given(names, st.text(max_size=8), ids)
def test_dropped_tables_stand_beside_an_instances_catalogue(
    instance: str, table: str, table_id: int
) -> None:
    key = dropped_key(instance, table_id)
    assert key == catalog_prefix(instance) + b"\x00\x02" + table_id.to_bytes(4, "big")
    assert not catalog_key(instance, table).startswith(dropped_prefix(instance))


@given(st.lists(names, min_size=2, max_size=6, unique=True), st.integers(-9, 9))
def test_segments_follow_their_row_in_order_of_names(columns: list[str], value: int) -> None:
    row = encode_key(row_prefix(7), (value,))
    following = encode_key(row_prefix(7), (value + 1,))
    keys = [segment_key(row, name) for name in sorted(columns, key=str.encode)]
    first, end = segment_range(row)
    assert keys == sorted(keys)
    assert row < first == segment_key(row, "") < keys[0]
    assert keys[-1] < end < following
