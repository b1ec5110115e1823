"""CRC-8 as cells and rows carry it (wire §2.2)."""

from hypothesis import example, given
from hypothesis import strategies as st

from widerow.rows.checksum import (
    BEYOND_ASCII,
    combine,
    crc8,
    crc8_byte,
    crc8_with_ascii,
    crc8_within,
    shift_table,
)

states = st.integers(0, 255)


def bitwise(data: bytes, state: int = 0) -> int:
    """The definition: polynomial x^8 + x^2 + x + 1, most significant bit first."""
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = (state << 1) ^ 0x07 if state & 0x80 else state << 1
            state &= 0xFF
    return state


def test_check_value() -> None:
    assert crc8(b"123456789") == 0xF4
    assert bitwise(b"123456789") == 0xF4


@given(st.binary(max_size=40), states)
def test_checksums_follow_the_definition(data: bytes, state: int) -> None:
    assert crc8(data, state) == bitwise(data, state)


@given(states, states)
def test_one_byte_is_a_text_of_one_byte(byte: int, state: int) -> None:
    assert crc8_byte(byte, state) == crc8(bytes((byte,)), state)


@given(st.binary(max_size=300), st.binary(max_size=300), states)
def test_checksums_of_parts_combine(first: bytes, second: bytes, state: int) -> None:
    joined = crc8(first + second, state)
    assert combine(crc8(first, state), crc8(second), len(second)) == joined
    assert shift_table(len(second))[crc8(first, state)] ^ crc8(second) == joined


def test_combining_knows_lengths_around_its_period() -> None:
    """Multiplying by x^8 comes back to itself after 127 bytes."""
    for length in (0, 1, 126, 127, 128, 254, 255, 1000):
        second = bytes(range(1, 252)) * 4
        second = second[:length]
        assert combine(crc8(b"first"), crc8(second), length) == crc8(b"first" + second)


@given(st.binary(max_size=200), st.binary(max_size=9), st.binary(max_size=9), states)
@example(bytes(range(240)), b"", b"", 255)  # whole steps of sixteen bytes only
@example(b"\xff" * 247, b"\x80", b"\x80", 128)  # bits leave at the front and come back
def test_checksums_are_made_where_the_bytes_stand(
    data: bytes, before: bytes, behind: bytes, state: int
) -> None:
    whole = before + data + behind
    start, stop = len(before), len(before) + len(data)
    assert crc8_within(whole, start, stop, state) == bitwise(data, state)


def test_checksums_are_right_for_every_length() -> None:
    for size in range(130):
        data = bytes([(37 * place + size) & 0xFF for place in range(size)])
        assert crc8_within(data, 0, size, size) == bitwise(data, size), size


def test_one_byte_beyond_ascii_is_seen_wherever_it_stands() -> None:
    for size in range(1, 70):
        plain = b"\xff" + b"\x7f" * size + b"\xff"
        assert crc8_with_ascii(plain, 1, 1 + size, 255) == bitwise(plain[1:-1], 255), size
        for place in range(size):
            data = bytearray(plain)
            data[1 + place] = 0x80
            found = crc8_with_ascii(bytes(data), 1, 1 + size, 255)
            assert found == bitwise(bytes(data[1:-1]), 255) + BEYOND_ASCII, (size, place)
