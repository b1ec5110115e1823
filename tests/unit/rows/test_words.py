"""Bytes looked at where they stand: what slices and methods say of the same bytes."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.rows.words import WORD_BYTES, length_at, stands_at

few_bytes = st.binary(max_size=9)


@given(few_bytes, st.integers(0, 0xFFFF_FFFF), few_bytes)
def test_a_length_has_no_sign(before: bytes, length: int, behind: bytes) -> None:
    assert length_at(before + struct.pack("<I", length) + behind, len(before)) == length


@pytest.mark.parametrize("size", range(4))
def test_a_length_must_be_all_there(size: int) -> None:
    with pytest.raises(IndexError):
        length_at(b"\xff" * (10 + size), 10)


@given(few_bytes, st.binary(min_size=WORD_BYTES, max_size=40), few_bytes)
def test_what_stands_somewhere_is_recognized(before: bytes, part: bytes, behind: bytes) -> None:
    assert stands_at(before + part + behind, len(before), part)


@given(few_bytes, st.binary(min_size=WORD_BYTES, max_size=40), st.data())
def test_one_other_byte_is_recognized(before: bytes, part: bytes, data: st.DataObject) -> None:
    other = bytearray(part)
    other[data.draw(st.integers(0, len(part) - 1))] ^= data.draw(st.integers(1, 255))
    assert not stands_at(before + bytes(other) + b"behind", len(before), part)


@given(few_bytes, st.binary(min_size=WORD_BYTES, max_size=40), st.integers(1, 40))
def test_what_is_cut_short_does_not_stand_there(before: bytes, part: bytes, cut: int) -> None:
    assert not stands_at((before + part)[:-cut], len(before), part)
