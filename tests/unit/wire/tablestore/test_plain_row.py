"""Rows read in one pass: as `plainbuffer.py` reads them cell by cell, or not at all (wire §2)."""

from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.buffers import cell, decoded_row, key_buffer, row_buffer
from tests.unit.rows.strategies import storable

from widerow.model.tablestore.row import Modification, SentCells
from widerow.model.values import KeyInput, Value
from widerow.rows.plain import PlainCells
from widerow.wire.tablestore import plain_row as module
from widerow.wire.tablestore.plain_row import plain_key, plain_row, remember_name
from widerow.wire.tablestore.plainbuffer import decode_primary_key, decode_row_change

PUT, UPDATE, DELETE = Modification.PUT, Modification.UPDATE, Modification.DELETE
KEY: Final = (("k", "a"), ("n", 7))

names = st.sampled_from(["a", "b", "c", "longer than a word", "longer than a wor", "\u00e9"])
values = storable(30)
key_values = st.one_of(st.integers(-(2**63), 2**63 - 1), st.text(max_size=20))
columns = st.lists(st.tuples(names, values), min_size=1, max_size=6)


@pytest.fixture(autouse=True)
def known_names() -> None:
    for name in ("k", "n", "a", "b", "c", "longer than a word", "longer than a wor", "\u00e9"):
        remember_name(name)


def plain_cells(data: bytes) -> PlainCells:
    found = plain_row(data, 0, len(data))
    assert found is not None
    return found[1]


@given(st.lists(st.tuples(names, key_values), min_size=1, max_size=4), columns)
def test_a_plain_row_is_read_as_its_cells_are(
    key: list[tuple[str, KeyInput]], given_columns: list[tuple[str, Value]]
) -> None:
    cells = [cell(name, value) for name, value in given_columns]
    data = row_buffer(key, cells)
    found = plain_row(data, 0, len(data))
    assert found is not None
    # A version at the end makes the row one that is read cell by cell.
    by_cells = decoded_row(row_buffer(key, [*cells, cell("a", 1, version=5)]), PUT)
    assert found[0] == by_cells[0]
    assert found[1].split() == by_cells[1][:-1]
    assert [each.crc for each in found[1].split()] == [each.crc for each in by_cells[1][:-1]]
    assert found[1].data_size == sum(each.size for each in by_cells[1][:-1])
    assert found[1].shape.key_names == tuple(name for name, _ in key)
    assert found[1].shape.names == tuple(name for name, _ in given_columns)


@given(columns, st.binary(max_size=9), st.binary(max_size=9))
def test_a_buffer_may_stand_between_other_bytes(
    given_columns: list[tuple[str, Value]], before: bytes, behind: bytes
) -> None:
    row = row_buffer(KEY, [cell(name, value) for name, value in given_columns])
    for data, wanted, modification in (
        (row, decoded_row(row, PUT), PUT),
        (row, decoded_row(row, UPDATE), UPDATE),
        (row_buffer(KEY, marker=True), (decode_primary_key(key_buffer(KEY)), ()), DELETE),
        (key_buffer(KEY), (decode_primary_key(key_buffer(KEY)), ()), DELETE),
    ):
        start, stop = len(before), len(before) + len(data)
        key, cells = decode_row_change(before + data + behind, modification, start, stop)
        split = cells.split() if isinstance(cells, SentCells) else cells
        assert (key, split) == wanted
    start, stop = len(before), len(before) + len(key_buffer(KEY))
    found = decode_primary_key(before + key_buffer(KEY) + behind, start, stop)
    assert found == decode_primary_key(key_buffer(KEY))


@given(columns, st.data())
def test_no_row_reaches_beyond_its_end(
    given_columns: list[tuple[str, Value]], data: st.DataObject
) -> None:
    """wire §2.1: what stands behind the buffer is another field of the request."""
    row = row_buffer(KEY, [cell(name, value) for name, value in given_columns])
    assert plain_row(row, 0, len(row)) is not None
    stop = data.draw(st.integers(0, len(row) - 1))
    assert plain_row(row, 0, stop) is None
    assert plain_row(row + row, 0, len(row) + stop + 1) is None
    key = key_buffer(KEY)
    assert plain_key(key, 0, len(key), deletes=False) is not None
    stop = data.draw(st.integers(0, len(key) - 1))
    assert plain_key(key, 0, stop, deletes=False) is None


def test_what_is_not_plain_is_left_alone() -> None:
    """Versions, operations, markers, unknown names, keys that are not a number or a text."""
    known = cell("a", 1)
    rows = [
        row_buffer(KEY, [known, cell("a", 1, version=5)]),
        row_buffer(KEY, [known, cell("a", operation=1)]),
        row_buffer(KEY, [known, cell("a", 1, operation=4)]),
        row_buffer(KEY, [known, cell("never named anywhere", 1)]),
        row_buffer(KEY, [known], marker=True),
        row_buffer(KEY),
        row_buffer((("k", b"binary"),), [known]),
        row_buffer((("never named anywhere", 1),), [known]),
        row_buffer(KEY, [known]).replace(b"\x75", b"\x76", 1),
    ]
    for row in rows:
        assert plain_row(row, 0, len(row)) is None
    marked = row_buffer(KEY, marker=True)
    assert plain_key(marked, 0, len(marked), deletes=False) is None
    assert plain_key(marked, 0, len(marked), deletes=True) is not None


def test_rows_that_name_the_same_share_a_shape() -> None:
    first = plain_cells(row_buffer(KEY, [cell("a", 1), cell("b", "x")]))
    same = plain_cells(row_buffer((("k", "z"), ("n", 0)), [cell("a", b""), cell("b", 2.5)]))
    other_order = plain_cells(row_buffer(KEY, [cell("b", "x"), cell("a", 1)]))
    shorter = plain_cells(row_buffer(KEY, [cell("a", 1)]))
    other_key = plain_cells(row_buffer((("k", "a"),), [cell("a", 1), cell("b", "x")]))
    assert same.shape is first.shape
    assert len({first.shape, other_order.shape, shorter.shape, other_key.shape}) == 4
    assert first.shape.is_ordered
    assert not other_order.shape.is_ordered


def test_the_tree_of_shapes_begins_anew_when_it_is_full() -> None:
    """However many shapes clients send, what is kept of them is bounded, and rows stay right."""
    letters = [f"shape {number}" for number in range(60)]
    for name in letters:
        remember_name(name)
    weights = []
    for first in letters:
        for second in letters:
            for third in letters[:4]:
                sent = (first, second, third)
                found = plain_cells(row_buffer(KEY, [cell(name, 1) for name in sent]))
                assert found.shape.names == sent
        weights.append(module._TREE.weight)  # what is bounded
    assert max(weights) <= module._TREE_WEIGHT_MAX
    assert any(left > right for left, right in pairwise(weights))
