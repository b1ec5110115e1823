"""Rows between PlainBuffer and Python (wire §2.1, §2.2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.buffers import decoded_row

from widerow.client.failures import RequestFailed
from widerow.client.rows import CellEdit, decode_rows, encode_edits, encode_put, pieces
from widerow.model.tablestore.row import CellOperation, Modification
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.rows.cells import PLAIN_HEADER, body_value
from widerow.rows.plain_values import Row, VersionedValue
from widerow.transfer.layout import (
    CELLS,
    Reading,
    json_cells,
    json_value,
    parquet_cell,
    row_of_record,
)
from widerow.transfer.load import spread

INTEGERS = st.integers(-(2**63), 2**63 - 1)
VALUES = (
    INTEGERS
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.binary()
)
CELL = st.builds(VersionedValue, st.text(min_size=1), st.integers(0, 2**50), VALUES)
KEYS = st.tuples(
    st.tuples(st.just("k"), st.text()),
    st.tuples(st.just("n"), INTEGERS),
    st.tuples(st.just("b"), st.binary()),
)
ROWS = st.builds(Row, KEYS, st.lists(CELL, max_size=5).map(tuple))
READING = Reading(
    (
        KeyColumn("k", KeyType.STRING),
        KeyColumn("n", KeyType.INTEGER),
        KeyColumn("b", KeyType.BINARY),
    ),
    {},
    0,
)


def same(first: Row, second: Row) -> bool:
    """Equal, and 1 is neither 1.0 nor True."""
    return repr(first) == repr(second)


@given(st.lists(ROWS, max_size=4))
def test_what_is_encoded_is_decoded(rows: list[Row]) -> None:
    data = b"".join(encode_put(row.key, row.cells)[len(PLAIN_HEADER) :] for row in rows)
    found = decode_rows(PLAIN_HEADER + data if rows else b"")
    assert repr(found) == repr(rows)


@given(ROWS)
def test_the_server_reads_what_is_encoded(row: Row) -> None:
    key, cells = decoded_row(encode_put(row.key, row.cells), Modification.PUT)
    assert key.columns == row.key
    found = [(cell.name, cell.version, body_value(cell.body)) for cell in cells]
    assert repr(found) == repr([tuple(cell) for cell in row.cells])


@given(ROWS, st.data())
def test_a_damaged_row_is_not_taken_for_another(row: Row, data: st.DataObject) -> None:
    encoded = bytearray(encode_put(row.key, row.cells))
    encoded[data.draw(st.integers(0, len(encoded) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(RequestFailed):
        decode_rows(bytes(encoded))


@given(ROWS)
def test_records_of_every_format_hold_the_row(row: Row) -> None:
    # Versions of one column stand together, as they do in a table.
    row = Row(row.key, tuple(sorted(row.cells, key=lambda cell: cell.column)))
    key = dict(row.key)
    parquet = {**key, CELLS: [parquet_cell(cell) for cell in row.cells]}
    assert same(row_of_record(parquet, READING), row)
    text = {name: json_value(value) for name, value in row.key}
    assert same(row_of_record({**text, CELLS: json_cells(row.cells)}, READING), row)


def test_a_row_of_many_cells_is_written_in_pieces() -> None:
    cells = tuple(VersionedValue(f"c{number:05}", 1, number) for number in range(2500))
    made = pieces(Row((("k", 1),), cells))
    read = [decoded_row(piece, Modification.UPDATE)[1] for piece in made]
    assert [len(each) for each in read] == [1024, 1024, 452]
    assert [cell.name for each in read for cell in each] == [cell.column for cell in cells]


@given(st.integers(0, 2000))
def test_spreading_loses_no_row(count: int) -> None:
    assert sorted(spread(count)) == list(range(count))


def test_every_batch_comes_from_the_whole_window() -> None:
    # Seed 003, "Write data in parallel": disrupt the order, spread over the partition keys.
    order = spread(50_000)
    for start in range(0, 50_000, 200):
        pieces_met = {number // 1000 for number in order[start : start + 200]}
        assert len(pieces_met) == 50


EDITS = st.one_of(
    st.builds(
        CellEdit,
        st.text(min_size=1),
        VALUES,
        st.none() | st.integers(0, 2**50),
        st.just(CellOperation.PUT),
    ),
    st.builds(CellEdit, st.text(min_size=1), INTEGERS, st.none(), st.just(CellOperation.INCREMENT)),
    st.builds(
        CellEdit,
        st.text(min_size=1),
        st.none(),
        st.none(),
        st.just(CellOperation.DELETE_ALL_VERSIONS),
    ),
    st.builds(
        CellEdit,
        st.text(min_size=1),
        st.none(),
        st.integers(0, 2**50),
        st.just(CellOperation.DELETE_ONE_VERSION),
    ),
)


@given(KEYS, st.lists(EDITS, min_size=1, max_size=5))
def test_the_server_reads_the_edits_that_were_encoded(
    key: tuple[tuple[str, str | int | bytes], ...], edits: list[CellEdit]
) -> None:
    """wire §2.1, §2.2: names, values, versions and operations, with their checksums."""
    found, cells = decoded_row(encode_edits(key, edits), Modification.UPDATE)
    assert found.columns == key
    values = [repr(body_value(each.body)) if each.body else None for each in cells]
    read = [(each.name, each.version, each.operation) for each in cells]
    assert [(*one, value) for one, value in zip(read, values, strict=True)] == [
        (
            each.column,
            each.version,
            each.operation,
            None if each.value is None else repr(each.value),
        )
        for each in edits
    ]
