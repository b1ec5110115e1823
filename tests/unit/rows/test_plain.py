"""Cells of a put as they came: taken apart, or sealed in one piece (wire §2.1; formats/rows)."""

from hypothesis import given
from hypothesis import strategies as st
from librt.strings import BytesWriter
from tests.support.buffers import cell
from tests.support.changes import put_cells
from tests.unit.rows.strategies import storable

from widerow.model.tablestore.row import CellChange, RowShape
from widerow.model.values import Value, value_bytes
from widerow.rows.cells import Cell, encode_key_section, seal
from widerow.rows.checksum import crc8
from widerow.rows.plain import PlainCells, seal_onto
from widerow.rows.record import encode_row, encode_sealed, summarize

names = st.text(min_size=1, max_size=12)
versions = st.integers(0, 2**63 - 1)
values = storable(20)
columns = st.lists(st.tuples(names, values), min_size=1, max_size=6)
Columns = list[tuple[str, Value]]


def plain(given_columns: Columns, before: bytes = b"", behind: bytes = b"") -> PlainCells:
    """The cells as a client sends them, between other bytes."""
    sent = b"".join(cell(name, value) for name, value in given_columns)
    size = sum(len(name.encode()) + value_bytes(value) for name, value in given_columns)
    shape = RowShape(("k",), tuple(name for name, _ in given_columns))
    start, stop = len(before), len(before) + len(sent)
    return PlainCells(before + sent + behind, start, stop, shape, size)


def changes(given_columns: Columns) -> list[CellChange]:
    return [change for name, value in given_columns for change in put_cells({name: value})]


@given(columns, st.binary(max_size=5), st.binary(max_size=5))
def test_split_cells_are_those_that_were_sent(
    given_columns: Columns, before: bytes, behind: bytes
) -> None:
    cells, wanted = plain(given_columns, before, behind), changes(given_columns)
    assert cells.split() == tuple(wanted)
    assert [each.crc for each in cells.split()] == [each.crc for each in wanted]
    assert cells.body_bytes == sum(len(each.body) for each in wanted)
    assert cells.data_size == sum(each.size for each in wanted)


@given(columns, st.binary(max_size=5), versions, st.integers(0, 255))
def test_sealing_all_is_sealing_each(
    given_columns: Columns, around: bytes, version: int, row_crc: int
) -> None:
    sealed = [seal(each.body, each.crc, version) for each in changes(given_columns)]
    checksums = bytes(wire[-1] for wire in sealed)
    writer = BytesWriter()
    writer.write(b"before")
    cells = plain(given_columns, around, around)
    assert seal_onto(writer, cells, version, row_crc) == crc8(checksums, row_crc)
    assert writer.getvalue() == b"before" + b"".join(sealed)


@given(st.dictionaries(names, values, min_size=1, max_size=6), versions, versions)
def test_a_plain_row_is_encoded_as_its_cells_are(
    by_name: dict[str, Value], version: int, latest: int
) -> None:
    ordered = sorted(by_name.items())
    section, crc = encode_key_section([("k", "a")])
    cells = [Cell(c.name, version, seal(c.body, c.crc, version)) for c in changes(ordered)]
    wires = [each.wire for each in cells]
    whole = encode_row(section, crc, 2, wires, summarize(cells), latest)
    assert encode_sealed(section, crc, 2, plain(ordered), version, latest) == whole


@given(st.lists(names, max_size=5))
def test_shapes_know_whether_their_names_ascend(given_names: list[str]) -> None:
    ascending = given_names == sorted(set(given_names))
    assert RowShape(("k",), tuple(given_names)).is_ordered is ascending
