"""One stored cell: its bytes, its checksum, its size (wire §2.1, §2.2; semantics §9)."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.errors import StoreDamaged
from widerow.model.values import KeyInput, KeyMarker, Value, value_bytes
from widerow.rows.cells import (
    Cell,
    cell_body,
    cell_size,
    cell_value,
    encode_key_section,
    encode_variant,
    seal,
    split_cells,
)
from widerow.rows.checksum import crc8, crc8_byte

names = st.text(min_size=1, max_size=12)
versions = st.integers(0, 2**63 - 1)
values = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.booleans(),
    st.text(max_size=20),
    st.binary(max_size=20),
)
cells = st.lists(st.tuples(names, values, versions), max_size=6)


def by_the_grammar(name: str, value: Value, version: int) -> bytes:
    """A cell put together from the grammar of wire §2.1, without the code under test."""
    encoded = name.encode()
    stamp = struct.pack("<q", version)
    if isinstance(value, str):
        variant = struct.pack("<BI", 3, len(value.encode())) + value.encode()
    elif isinstance(value, bytes):
        variant = struct.pack("<BI", 7, len(value)) + value
    elif isinstance(value, bool):
        variant = struct.pack("<B?", 2, value)
    else:
        kind, code = ("<Bq", 0) if isinstance(value, int) else ("<Bd", 1)
        variant = struct.pack(kind, code, value)
    return (
        struct.pack("<BBI", 3, 4, len(encoded))
        + encoded
        + struct.pack("<BI", 5, len(variant))
        + variant
        + b"\x07"
        + stamp
        + b"\x0a"
        + bytes((crc8(encoded + variant + stamp),))
    )


def stored(items: list[tuple[str, Value, int]]) -> list[Cell]:
    return [Cell(name, version, by_the_grammar(name, v, version)) for name, v, version in items]


@given(names, values, versions)
def test_sealed_bodies_are_cells_of_the_grammar(name: str, value: Value, version: int) -> None:
    body, crc = cell_body(name, value)
    assert seal(body, crc, version) == by_the_grammar(name, value, version)


@given(cells, st.binary(max_size=5), st.binary(max_size=5))
def test_split_cells_are_the_cells(
    items: list[tuple[str, Value, int]], before: bytes, behind: bytes
) -> None:
    wanted = stored(items)
    joined = b"".join(cell.wire for cell in wanted)
    data = before + joined + behind
    found = split_cells(data, len(before), len(before) + len(joined))
    assert found == wanted
    assert b"".join(cell.wire for cell in found) == joined
    assert all(type(cell) is Cell for cell in found)


@given(names, values, versions)
def test_cells_tell_value_and_size(name: str, value: Value, version: int) -> None:
    (cell,) = stored([(name, value, version)])
    found = cell_value(cell)
    assert (found, type(found)) == (value, type(value))
    assert cell_size(cell.wire) == len(name.encode()) + value_bytes(value)


def test_every_shortened_cell_is_damage() -> None:
    for value in (1, 1.5, True, "text", b"\x00\xff"):
        (cell,) = stored([("name", value, 7)])
        assert split_cells(cell.wire, 0, len(cell.wire)) == [cell]
        for length in range(1, len(cell.wire)):
            for data in (cell.wire[:length], cell.wire):
                with pytest.raises(StoreDamaged):
                    split_cells(data, 0, length)


@given(st.binary(max_size=60))
def test_any_bytes_are_cells_or_damage(data: bytes) -> None:
    for given_data in (data, b"\x03\x04" + data):
        try:
            found = split_cells(given_data, 0, len(given_data))
        except StoreDamaged:
            continue
        assert b"".join(cell.wire for cell in found) == given_data


@pytest.mark.parametrize(
    ("intact", "damaged"),
    [(b"\xc3\xa9", b"\xff\xff"), (b"\x03\x02\x00\x00\x00", b"\x55\x02\x00\x00\x00")],
)
def test_a_damaged_value_is_damage(intact: bytes, damaged: bytes) -> None:
    (cell,) = stored([("c", "é", 7)])
    assert cell.wire.count(intact) == 1
    with pytest.raises(StoreDamaged):
        cell_value(Cell("c", 7, cell.wire.replace(intact, damaged)))


@pytest.mark.parametrize("kind", [0, 1])
def test_a_number_that_ends_early_is_damage(kind: int) -> None:
    """The length says one byte, the type says eight: nothing behind the cell is read."""
    wire = struct.pack("<BBIcBIB", 3, 4, 1, b"c", 5, 1, kind) + b"\x07" + bytes(4)
    with pytest.raises(StoreDamaged):
        cell_value(Cell("c", 0, wire))


@pytest.mark.parametrize("kind", [3, 7])
def test_a_text_and_bytes_that_end_inside_their_length_are_damage(kind: int) -> None:
    wire = struct.pack("<BBIcBIB", 3, 4, 1, b"c", 5, 3, kind) + bytes(2) + b"\x0a\x00"
    with pytest.raises(StoreDamaged):
        cell_value(Cell("c", 0, wire))


# --- primary key sections ----------------------------------------------------------------------

key_values = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.text(max_size=12),
    st.binary(max_size=12),
    st.sampled_from(KeyMarker),
)


@given(st.lists(st.tuples(names, key_values), min_size=1, max_size=4))
def test_key_sections_are_cells_without_versions(columns: list[tuple[str, KeyInput]]) -> None:
    types = {KeyMarker.INF_MIN: 9, KeyMarker.INF_MAX: 10, KeyMarker.AUTO_INCREMENT: 11}
    wanted, crc = b"\x01", 0
    for name, value in columns:
        marker = isinstance(value, KeyMarker)
        variant = bytes((types[value],)) if isinstance(value, KeyMarker) else encode_variant(value)
        assert marker == (len(variant) == 1)
        encoded = name.encode()
        cell_crc = crc8(encoded + variant)
        wanted += struct.pack("<BBI", 3, 4, len(encoded)) + encoded
        wanted += struct.pack("<BI", 5, len(variant)) + variant + b"\x0a" + bytes((cell_crc,))
        crc = crc8_byte(cell_crc, crc)
    assert encode_key_section(columns) == (wanted, crc)
