"""The durable record of the last pass over a table (docs/formats/statistics.md, "Passes")."""

import json
from typing import Any, Final, NamedTuple

from widerow.engine.stored_json import decode_json

__all__ = ["SweepRecord", "decode_sweep", "encode_sweep", "first_of"]

_FORMAT: Final = 1


class SweepRecord(NamedTuple):
    """When the last whole pass ran, in microseconds since 1970, and what the next one waits for.

    `first`: of what was left, that which expires first. What the number is, the table
    model says. None: nothing that was left can expire.
    """

    started_us: int
    ended_us: int
    first: int | None


def encode_sweep(record: SweepRecord) -> bytes:
    """The record as it is stored."""
    fields = {"format": _FORMAT, **record._asdict()}
    return json.dumps(fields, separators=(",", ":")).encode()


def decode_sweep(stored: bytes) -> SweepRecord:
    """The mirror of `encode_sweep`. Raises `StoreDamaged`."""

    def read(fields: dict[str, Any]) -> SweepRecord:
        first = fields.pop("first")
        return SweepRecord(
            int(fields["started_us"]),
            int(fields["ended_us"]),
            None if first is None else int(first),
        )

    return decode_json(stored, "the record of a pass", read, form=_FORMAT)


def first_of(left: int | None, right: int | None) -> int | None:
    """The smaller one; None is behind all numbers."""
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)
