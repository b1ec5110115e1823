"""Decoding mirrors encoding, and damage is told (docs/formats/keys.md)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.errors import StoreDamaged
from widerow.keys.decode import decode_key, decode_key_value
from widerow.keys.encode import encode_key, encode_key_value
from widerow.model.values import KeyType, KeyValue

KINDS: dict[KeyType, st.SearchStrategy[KeyValue]] = {
    KeyType.INTEGER: st.integers(-(2**63), 2**63 - 1),
    # Each length that UTF-8 has, and the bytes that the encoding escapes: quickly drawn.
    KeyType.STRING: st.text("\x00\x01az\x7f\xe9\u20ac\U0001f600", max_size=8),
    KeyType.BINARY: st.binary(max_size=8),
}

Typed = list[tuple[KeyType, KeyValue]]
typed_values = st.one_of([st.tuples(st.just(kind), values) for kind, values in KINDS.items()])
typed_keys = st.lists(typed_values, min_size=1, max_size=4)


@given(typed_values, st.binary(max_size=4), st.binary(max_size=4))
def test_values_decode_to_themselves_and_say_where_they_end(
    typed: tuple[KeyType, KeyValue], before: bytes, behind: bytes
) -> None:
    kind, value = typed
    encoded = encode_key_value(value)
    key = before + encoded + behind
    assert decode_key_value(key, len(before), kind) == (value, len(before) + len(encoded))


@given(typed_keys, st.binary(max_size=5), st.binary(max_size=5))
def test_keys_decode_to_themselves(typed: Typed, prefix: bytes, rest: bytes) -> None:
    values = tuple(value for _, value in typed)
    key = encode_key(prefix, values)
    decoded = decode_key(key + rest, len(prefix), [kind for kind, _ in typed])
    assert decoded == (values, len(key))
    assert [type(value) for value in decoded[0]] == [type(value) for value in values]


@given(typed_keys)
def test_every_shortened_key_is_damage(typed: Typed) -> None:
    key = encode_key(b"", [value for _, value in typed])
    kinds = [kind for kind, _ in typed]
    for length in range(len(key)):
        with pytest.raises(StoreDamaged):
            decode_key(key[:length], 0, kinds)


@given(st.binary(max_size=24), st.lists(st.sampled_from(KeyType), max_size=3))
def test_any_bytes_decode_or_are_damage(key: bytes, kinds: list[KeyType]) -> None:
    try:
        values, end = decode_key(key, 0, kinds)
    except StoreDamaged:
        return
    assert encode_key(b"", values) == key[:end]


@pytest.mark.parametrize("mark", [0x00, 0x02, 0x61, 0xFE])
def test_unknown_escapes_are_damage(mark: int) -> None:
    with pytest.raises(StoreDamaged, match=f"unknown escape 00 {mark:02x}"):
        decode_key_value(b"a\x00" + bytes((mark,)) + b"\x00\x01", 0, KeyType.BINARY)


def test_texts_that_are_not_utf8_are_damage() -> None:
    with pytest.raises(StoreDamaged, match="not UTF-8"):
        decode_key_value(b"\xff\xfe\x00\x01", 0, KeyType.STRING)
    assert decode_key_value(b"\xff\xfe\x00\x01", 0, KeyType.BINARY) == (b"\xff\xfe", 4)
