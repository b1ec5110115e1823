"""What stands under a row's key, and the rows it becomes on the wire (wire §2.1, §2.4)."""

import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.errors import StoreDamaged
from widerow.limits import INT64_MAX
from widerow.model.values import KeyInput, Value, value_bytes
from widerow.rows.cells import Cell, cell_body, encode_key_section, seal
from widerow.rows.checksum import crc8, crc8_byte
from widerow.rows.record import (
    HEADER_BYTES,
    NO_CELLS,
    RecordKind,
    Summary,
    encode_row,
    encode_segment,
    encode_wide_root,
    header_of,
    join_row,
    join_segments,
    summarize,
)

Items = list[tuple[str, Value, int]]
items = st.lists(
    st.tuples(
        st.sampled_from("abcdéf"),
        st.one_of(st.integers(-9, 9), st.booleans(), st.text(max_size=4), st.binary(max_size=4)),
        st.integers(0, 50),
    ),
    max_size=20,
)
KEY: tuple[tuple[str, KeyInput], ...] = (("pk1", "iampk"), ("pk2", 100))


def stored(given_items: Items) -> list[Cell]:
    """Cells in stored order: names ascending, versions of a name descending, each once."""
    unique = {(name, version): value for name, value, version in given_items}
    order = sorted(unique, key=lambda item: (item[0].encode(), -item[1]))
    return [
        Cell(name, version, seal(*cell_body(name, unique[name, version]), version))
        for name, version in order
    ]


def wires(cells: list[Cell]) -> list[bytes]:
    return [cell.wire for cell in cells]


# --- vectors of wire §2.4, without the four bytes in front of every buffer -----------------------


def test_rows_without_cells_are_the_key_vectors() -> None:
    vector = "01030403000000706b31050a000000030500000069616d706b0a98"
    vector += "030403000000706b3205090000000064000000000000000a0509b9"
    assert join_row(*encode_key_section(KEY), []).hex() == vector


def test_rows_with_versions_are_the_put_vector() -> None:
    vector = "01030403000000706b31050a000000030500000069616d706b0a98"
    vector += "030403000000706b3205090000000064000000000000000a05"
    vector += "02030407000000636f6c756d6e310508000000030300000062616407e9030000000000000a30"
    vector += "030407000000636f6c756d6e32050900000000800000000000000007ea030000000000000a69"
    vector += "030407000000636f6c756d6e330509000000019a9999999919414007eb030000000000000acf09a8"
    cells = stored([("column1", "bad", 1001), ("column2", 128, 1002), ("column3", 34.2, 1003)])
    assert join_row(*encode_key_section(KEY), wires(cells)).hex() == vector


# --- joining ---------------------------------------------------------------------------------


@given(items)
def test_row_checksums_run_over_those_of_all_cells(given_items: Items) -> None:
    section, crc = encode_key_section(KEY)
    cells = wires(stored(given_items))
    row = join_row(section, crc, cells)
    assert row[-1] == crc8_byte(0, crc8(bytes(wire[-1] for wire in cells), crc))
    assert row[:-2] == section + (b"\x02" if cells else b"") + b"".join(cells)


@given(items, st.lists(st.integers(0, 20), max_size=4))
def test_segments_join_to_the_row_of_all_their_cells(given_items: Items, cuts: list[int]) -> None:
    cells = stored(given_items)
    section, crc = encode_key_section(KEY)
    edges = [0, *sorted(min(cut, len(cells)) for cut in cuts), len(cells)]
    segments = [encode_segment(cells[start:stop]) for start, stop in pairwise(edges)]
    assert join_segments(section, crc, segments) == join_row(section, crc, wires(cells))


def test_a_wide_row_without_segments_has_no_data_tag() -> None:
    section, crc = encode_key_section(KEY)
    assert join_segments(section, crc, []) == join_row(section, crc, [])


# --- headers ---------------------------------------------------------------------------------


@given(items, st.integers(0, 4000), st.integers(-(2**63), 2**63 - 1))
def test_row_records_say_what_they_hold(given_items: Items, key_size: int, latest: int) -> None:
    cells = stored(given_items)
    section, crc = encode_key_section(KEY)
    record = encode_row(section, crc, key_size, wires(cells), summarize(cells), latest)
    head = (RecordKind.ROW, 0, len(section), key_size, crc)
    assert tuple(header_of(record)) == (*head, *summarize(cells), latest)
    assert record[HEADER_BYTES:] == join_row(section, crc, wires(cells))


@given(items)
def test_segment_records_say_what_they_hold(given_items: Items) -> None:
    cells = stored(given_items)
    record = encode_segment(cells)
    crc = crc8(bytes(cell.wire[-1] for cell in cells))
    assert tuple(header_of(record)) == (RecordKind.SEGMENT, 0, 0, 0, crc, *summarize(cells), 0)
    assert record[HEADER_BYTES:] == b"".join(wires(cells))


def test_wide_roots_hold_the_key_section_only() -> None:
    section, crc = encode_key_section(KEY)
    summary = Summary(100_000, 3, 2**40, 17)
    record = encode_wide_root(section, crc, 21, summary, 99)
    assert tuple(header_of(record)) == (RecordKind.WIDE, 0, len(section), 21, crc, *summary, 99)
    assert record[HEADER_BYTES:] == section


def test_headers_have_one_size() -> None:
    section, crc = encode_key_section(KEY)
    row = encode_row(section, crc, 21, [], NO_CELLS, 0)
    assert HEADER_BYTES == 40 == len(row) - len(join_row(section, crc, []))


def test_headers_take_the_largest_row() -> None:
    """Four key columns of 255 and 1024 bytes, names and values (semantics §17)."""
    columns = [(letter * 255, b"\xff" * 1024) for letter in "abcd"]
    section, crc = encode_key_section(columns)
    head = header_of(encode_row(section, crc, 4 * 1279, [], NO_CELLS, INT64_MAX))
    assert (head.key_length, head.key_size) == (len(section), 4 * 1279)


NUMBERS = st.integers(-(2**63), 2**63 - 1)
HALVES, WORDS = st.integers(0, 2**16 - 1), st.integers(0, 2**32 - 1)


@given(
    st.tuples(
        st.sampled_from([RecordKind.ROW, RecordKind.WIDE, RecordKind.SEGMENT]),
        st.just(0),
        HALVES,
        HALVES,
        HALVES,
        WORDS,
        WORDS,
        st.integers(0, 2**63 - 1),
        NUMBERS,
        NUMBERS,
    ),
    st.binary(max_size=3),
)
def test_headers_are_read_as_they_are_written(fields: tuple[int, ...], behind: bytes) -> None:
    """docs/formats/rows.md: big-endian, versions with their sign."""
    record = struct.pack(">BBHHHIIQqq", *fields) + behind
    assert tuple(header_of(record)) == fields


@pytest.mark.parametrize("length", range(HEADER_BYTES))
def test_a_record_that_ends_inside_its_header_is_damage(length: int) -> None:
    record = encode_segment(stored([("a", 1, 1)]))
    with pytest.raises(StoreDamaged, match="ends inside its header"):
        header_of(record[:length])


@pytest.mark.parametrize(("position", "byte"), [(0, 0), (0, 4), (0, 255), (1, 1), (1, 0x80)])
def test_unknown_kinds_and_flags_are_refused(position: int, byte: int) -> None:
    record = bytearray(encode_segment(stored([("a", 1, 1)])))
    record[position] = byte
    with pytest.raises(StoreDamaged, match="unknown kind"):
        header_of(bytes(record))


# --- summaries -------------------------------------------------------------------------------


@given(items)
def test_summaries_count_cells_versions_and_bytes(given_items: Items) -> None:
    cells = stored(given_items)
    unique = {(name, version): value for name, value, version in given_items}
    if not unique:
        assert summarize(cells) == NO_CELLS == (0, 0, 0, INT64_MAX)
        return
    by_name = [name for name, _ in unique]
    size = sum(len(name.encode()) + value_bytes(value) for (name, _), value in unique.items())
    assert summarize(cells) == Summary(
        cell_count=len(unique),
        versions_max=max(map(by_name.count, by_name)),
        data_size=size,
        oldest=min(version for _, version in unique),
    )


@pytest.mark.parametrize(
    ("given_items", "versions_max"),
    [
        ([("a", 1, 1), ("b", 1, 1)], 1),
        ([("a", 1, 1), ("b", 1, 1), ("b", 1, 2)], 2),
        ([("a", 1, 1), ("a", 1, 2), ("a", 1, 3), ("b", 1, 1), ("b", 1, 2)], 3),
    ],
)
def test_the_most_versions_are_those_of_one_column(given_items: Items, versions_max: int) -> None:
    assert summarize(stored(given_items)).versions_max == versions_max
