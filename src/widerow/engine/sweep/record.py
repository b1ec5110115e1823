"""The durable record of the last pass over a table (docs/formats/statistics.md, "Passes")."""

import json
from typing import Any, Final, NamedTuple

from widerow.engine.stored_json import decode_json

__all__ = ["SweepRecord", "decode_sweep", "encode_sweep", "first_of"]

_FORMAT: Final = 1


class SweepRecord(NamedTuple):
    """When the last whole pass ended, in microseconds since 1970, and what the next one waits for.

    `first`: when the first of the remaining rows expires, in the units of the table model; None: no
    remaining row can expire.
    """

    started_us: int
    ended_us: int
    first: int | None


def encode_sweep(record: SweepRecord) -> bytes:
    """The record as it is stored."""
    fields = {"format": _FORMAT, **record._asdict()}
    return json.dumps(fields, separators=(",", ":")).encode()


def decode_sweep(stored: bytes) -> SweepRecord:
    """The record in `stored`. Raises `StoreDamaged`."""

    def read(fields: dict[str, Any]) -> SweepRecord:
        first = fields.pop("first")
        return SweepRecord(
            int(fields["started_us"]),
            int(fields["ended_us"]),
            None if first is None else int(first),
        )

    return decode_json(stored, "the record of a pass", read, form=_FORMAT)


def first_of(left: int | None, right: int | None) -> int | None:
    """The smaller number; None counts as greater than every number."""
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)
