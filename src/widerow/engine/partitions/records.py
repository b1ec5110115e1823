"""What is counted of a table, as a record (docs/formats/statistics.md)."""

import json
from typing import Any, Final

from widerow.engine.partitions.sizes import Piece, SizeMap
from widerow.engine.partitions.table_load import Consumed
from widerow.engine.stored_json import decode_json
from widerow.errors import StoreDamaged

__all__ = ["decode_counts", "encode_counts"]

_FORMAT: Final = 1


def encode_counts(sizes: SizeMap, consumed: Consumed) -> bytes:
    """The record of a table's sizes and of the capacity units it consumed."""
    record = {
        "format": _FORMAT,
        "consumed": [consumed.read, consumed.write],
        "additional": [round(consumed.additional_read, 3), round(consumed.additional_write, 3)],
        "pieces": [
            [
                piece.key.hex(),
                piece.size,
                piece.rows,
                piece.walked,
                None if piece.only is None else piece.only.hex(),
            ]
            for piece in sizes.pieces
        ],
    }
    return json.dumps(record, separators=(",", ":")).encode()


def decode_counts(record: bytes) -> tuple[SizeMap, Consumed]:
    """The mirror of `encode_counts`. Raises `StoreDamaged`."""

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
