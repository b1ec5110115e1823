"""The load of a table over its keys, interval by interval, as heat maps and replays read it."""

import json
from typing import Any, NamedTuple

from widerow.engine.stored_json import decode_json

__all__ = ["Interval", "decode_interval", "encode_interval"]


class Interval(NamedTuple):
    """The load of some seconds from `start_s` (since 1970) on.

    `partitions`: for each, where it began, its read and its write units. `bins`: units by key over
    the whole table, as in `histogram.py`. Partitions and keys without load are left out.
    """

    start_s: int
    seconds: int
    partitions: tuple[tuple[bytes, int, int], ...]
    bins: tuple[tuple[bytes, float], ...]


def encode_interval(interval: Interval) -> bytes:
    """The record of an interval (docs/formats/statistics.md)."""
    record = {
        "seconds": interval.seconds,
        "partitions": [[key.hex(), read, write] for key, read, write in interval.partitions],
        "bins": [[key.hex(), round(units, 2)] for key, units in interval.bins],
    }
    return json.dumps(record, separators=(",", ":")).encode()


def decode_interval(start_s: int, record: bytes) -> Interval:
    """The interval of a record. Raises `StoreDamaged`."""

    def read(found: dict[str, Any]) -> Interval:
        return Interval(
            start_s,
            int(found["seconds"]),
            tuple((bytes.fromhex(key), int(r), int(w)) for key, r, w in found["partitions"]),
            tuple((bytes.fromhex(key), float(units)) for key, units in found["bins"]),
        )

    return decode_json(record, "a record of past load", read, form=None)
