"""Records of a table's counts, and of where its ranges begin (docs/formats/statistics.md)."""

import json
from collections.abc import Set as AbstractSet
from typing import Any, Final

from widerow.engine.partitions.sizes import Piece, SizeMap
from widerow.engine.partitions.table_load import Consumed
from widerow.engine.stored_json import decode_json
from widerow.errors import StoreDamaged
from widerow.keys.layout import ROW_PREFIX_BYTES, row_prefix

__all__ = ["decode_counts", "decode_ranges", "encode_counts", "encode_ranges"]

_FORMAT: Final = 1


def encode_counts(sizes: SizeMap, consumed: Consumed, *, is_known: bool) -> bytes:
    """The record of a table's sizes and of the capacity units it consumed.

    Pieces in doubt, or all if the sizes are not `is_known`, count as never walked.
    """
    record = {
        "format": _FORMAT,
        "consumed": [consumed.read, consumed.write],
        "additional": [round(consumed.additional_read, 3), round(consumed.additional_write, 3)],
        "pieces": [
            [
                piece.key.hex(),
                piece.size,
                piece.rows,
                piece.walked if is_known and piece.known else -1,
                None if piece.only is None else piece.only.hex(),
            ]
            for piece in sizes.pieces
        ],
    }
    return json.dumps(record, separators=(",", ":")).encode()


def decode_counts(record: bytes) -> tuple[SizeMap, Consumed]:
    """Sizes and consumed units of a record of `encode_counts`. Raises `StoreDamaged`."""

    def read(found: dict[str, Any]) -> tuple[SizeMap, Consumed]:
        pieces = [
            Piece(
                bytes.fromhex(key),
                int(size),
                int(rows),
                int(walked),
                None if only is None else bytes.fromhex(only),
            )
            for key, size, rows, walked, only in found["pieces"]
        ]
        read_units, write_units = map(int, found["consumed"])
        more_read, more_write = map(float, found["additional"])
        keys = [piece.key for piece in pieces]
        if keys[:1] != [b""] or keys != sorted(set(keys)):
            raise StoreDamaged("a statistics record whose pieces are not in order from INF_MIN on")
        return SizeMap(pieces), Consumed(read_units, write_units, more_read, more_write)

    return decode_json(record, "a statistics record", read, form=_FORMAT)


def encode_ranges(table_id: int, bounds: AbstractSet[bytes]) -> bytes:
    """The record of where widerow asked for ranges in a table: keys of its rows, or its prefix."""
    assert all(bound.startswith(row_prefix(table_id)) for bound in bounds)
    begins = [bound[ROW_PREFIX_BYTES:].hex() for bound in sorted(bounds)]
    return json.dumps({"format": _FORMAT, "begins": begins}, separators=(",", ":")).encode()


def decode_ranges(table_id: int, record: bytes) -> frozenset[bytes]:
    """The bounds in a record of `encode_ranges`. Raises `StoreDamaged`."""

    def read(found: dict[str, Any]) -> frozenset[bytes]:
        return frozenset(row_prefix(table_id) + bytes.fromhex(each) for each in found["begins"])

    return decode_json(record, "a record of ranges", read, form=_FORMAT)
