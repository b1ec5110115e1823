"""A PlainBuffer decodes or is refused as declared; a key that decodes encodes to itself."""

from contextlib import suppress
from typing import Final

from tests.support.buffers import cell, decoded_row, key_buffer, row_buffer

from widerow.errors import InvalidRequest, Unsupported
from widerow.model.tablestore.row import Modification
from widerow.model.values import KeyMarker
from widerow.rows.cells import encode_key_section
from widerow.wire.tablestore.plainbuffer import (
    decode_primary_key,
    decode_variant_value,
    encode_primary_key,
)

__all__ = ["SEEDS", "check"]

_KEY: Final = (("k", "a"), ("n", 1), ("b", b"\0\xff"))
SEEDS: Final = (
    key_buffer(_KEY),
    key_buffer((("k", KeyMarker.INF_MIN), ("n", KeyMarker.INF_MAX))),
    key_buffer((("k", "a"), ("n", KeyMarker.AUTO_INCREMENT))),
    row_buffer(_KEY, [cell("c", "x"), cell("d", 1.5, version=5), cell("e", b"\0")]),
    row_buffer(_KEY, [cell("c", operation=1), cell("d", operation=3, version=7)]),
    row_buffer(_KEY, [cell("c", 1, operation=4)]),
    row_buffer(_KEY, marker=True),
    b"\x03\x05\x00\x00\x00hello",
)


def check(data: bytes) -> None:
    """Decode `data` as everything it could be."""
    with suppress(InvalidRequest, Unsupported):
        key = decode_primary_key(data)
        section, crc = encode_key_section(key.columns)
        encoded = encode_primary_key(section, crc)
        # Zeros may follow: the Node SDK makes its buffers too long (wire §2.3).
        assert data.startswith(encoded), "a key has two encodings"
        assert not data[len(encoded) :].strip(b"\0"), "something else follows"
    for modification in Modification:
        # The second time the names are known, and rows are read the quick way.
        assert _change(data, modification) == _change(data, modification)
    with suppress(InvalidRequest, Unsupported):
        decode_variant_value(data)


def _change(data: bytes, modification: Modification) -> object:
    try:
        return decoded_row(data, modification)
    except (InvalidRequest, Unsupported) as error:
        return error.rule, error.details
