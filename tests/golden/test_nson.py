"""NSON is what docs/formats/nson.md says, both ways."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from librt.strings import BytesWriter

from widerow.errors import InvalidRequest
from widerow.limits import NSON_DEPTH_MAX
from widerow.model.typed.values import JSON_NULL
from widerow.wire.nosql.nson import (
    EMPTY_VALUE,
    TimestampText,
    decode_map,
    decode_value,
    encode,
    put_int,
    put_value,
    read_int,
)

PAGE = Path(__file__).parents[2] / "docs" / "formats" / "nson.md"
NAMES = {
    "Decimal": Decimal,
    "TimestampText": TimestampText,
    "JSON_NULL": JSON_NULL,
    "EMPTY": EMPTY_VALUE,
}


def _shown(name: str) -> list[tuple[Any, bytes]]:
    """The values of a block and their bytes."""
    found = re.search(rf"```{name}\n(.+?)\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    pairs = [line.rpartition(" = ") for line in found[1].splitlines()]
    return [(eval(text, dict(NAMES)), bytes.fromhex(data)) for text, _, data in pairs]  # noqa: S307  # our own page


def test_integers_are_packed_as_shown() -> None:
    for value, data in _shown("packed"):
        out = BytesWriter()
        put_int(out, value)
        assert out.getvalue() == data, value
        assert read_int(data, 0) == (value, len(data))
    for value, data in _shown("longer"):
        assert read_int(data, 0) == (value, len(data))


def test_values_are_written_and_read_as_shown() -> None:
    for value, data in _shown("values"):
        out = BytesWriter()
        put_value(out, value)
        assert out.getvalue() == data, value
        found, end = decode_value(data, 0, 3)
        assert (found, end) == (value, len(data))
        assert type(found) is type(value)


def test_frames_are_as_shown() -> None:
    for message, data in _shown("frame"):
        assert encode(message) == data
        assert decode_map(data) == message


def test_the_depth_is_the_one_that_the_page_names() -> None:
    assert f"more than {NSON_DEPTH_MAX} deep" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "data",
    [
        b"\x06\x00\x00\x00\x05\x00\x00\x00\x00\x00",  # a byte that no member has
        b"\x06\x00\x00\x00\x04\x00\x00\x00\x00\x00",  # a byte behind the value
        b"\x06\x7f\xff\xff\xff\x00\x00\x00\x00",  # a length beyond the end
        b"\x06\x00\x00\x00\x04\x7f\xff\xff\xff",  # a count beyond the length
        b"\x06\xff\xff\xff\xff\x00\x00\x00\x00",
        b"\x06\x00\x00\x00\x06\x00\x00\x00\x01\x7e\x0b",  # a name of length -1
        b"\x06\x00\x00\x00\x07\x00\x00\x00\x01\x80\xff\x0b",  # a name that is not UTF-8
        b"\x06\x00\x00\x00\x06\x00\x00\x00\x01\x7f\x0d",  # an unknown type
        b"\x0b",  # no MAP
        b"",
    ],
)
def test_what_the_page_says_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidRequest):
        decode_map(data)
