"""What is counted of a table, as a record (docs/formats/statistics.md)."""

import json
from typing import Final

from widerow.engine.partitions.sizes import Piece, SizeMap
from widerow.engine.partitions.table_load import Consumed
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
    try:
        found = json.loads(record)
        if found["format"] != _FORMAT:
            raise StoreDamaged(f"a statistics record of an unknown format: {record[:200]!r}")
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
        read, write = map(int, found["consumed"])
        more_read, more_write = map(float, found["additional"])
    except (ValueError, KeyError, TypeError) as error:
        raise StoreDamaged(f"a statistics record is not readable: {record[:200]!r}") from error
    keys = [piece.key for piece in pieces]
    if keys[:1] != [b""] or keys != sorted(set(keys)):
        raise StoreDamaged("a statistics record whose pieces are not in order from INF_MIN on")
    return SizeMap(pieces), Consumed(read, write, more_read, more_write)
