"""What a global index has still to hear of, where the transaction of a row does not tell it.

    15 table-id partition-key microseconds   an intent: the row, and the entries that it concerns

An intent says only which entries have to be looked at again. Whoever works it off makes each of
them agree with the row as it is then, so working off an intent twice, late or in another order
leads to the same end, and the entry of an older state never stays. Intents stand in the shard of
their row and are written with it. (docs/formats/keys.md, "Intents")
"""

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from widerow.errors import Exhausted, Rule, StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_INTENTS
from widerow.limits import INTENTS_MAX
from widerow.storage.interface import Transaction

__all__ = ["INTENT_TIME_BYTES", "Intent", "decode_intent", "leave_intent"]

INTENT_TIME_BYTES: Final = 8
_HEAD: Final = struct.Struct(">QIH")  # which of the queue it is, length of the row's key, entries
_ENTRY: Final = struct.Struct(">II")  # the index, length of the entry's key


class Intent(NamedTuple):
    """An intent: `key` and `value` as they stand in the store.

    `time_us`: when it was left, in microseconds since 1970, or a little later. `row`: the key of
    the row. `entries`: the number of an index and the key of an entry, for each that is concerned.
    """

    key: bytes
    value: bytes
    time_us: int
    row: bytes
    entries: tuple[tuple[int, bytes], ...]

    @property
    def shard(self) -> bytes:
        """The prefix of the intents of the same shard."""
        return self.key[:-INTENT_TIME_BYTES]


def leave_intent(
    txn: Transaction,
    shard: bytes,
    row: bytes,
    entries: Sequence[tuple[int, bytes]],
    now_us: int,
) -> None:
    """Write an intent behind those of the same shard; `shard`: the prefix of its rows.

    Raises `Exhausted` (SERVER_BUSY) where `INTENTS_MAX` of them wait.
    """
    prefix = SPACE_INTENTS + shard[1:]
    stop = after_prefix(prefix)
    place, time_us = 0, now_us
    for key, value in txn.scan(prefix, stop, reverse=True):
        place = _HEAD.unpack_from(value)[0] + 1
        time_us = max(now_us, int.from_bytes(key[len(prefix) :], "big") + 1)
        break
    for _, value in txn.scan(prefix, stop):
        if place - _HEAD.unpack_from(value)[0] >= INTENTS_MAX:
            raise Exhausted(Rule.SERVER_BUSY)
        break
    parts = [_HEAD.pack(place, len(row), len(entries)), row]
    for number, key in entries:
        parts += (_ENTRY.pack(number, len(key)), key)
    txn.put(prefix + time_us.to_bytes(INTENT_TIME_BYTES, "big"), b"".join(parts))


def decode_intent(key: bytes, value: bytes) -> Intent:
    """The intent of a record. Raises `StoreDamaged`."""
    try:
        _, length, count = _HEAD.unpack_from(value)
        position = _HEAD.size + length
        row = value[_HEAD.size : position]
        entries: list[tuple[int, bytes]] = []
        for _ in range(count):
            number, length = _ENTRY.unpack_from(value, position)
            position += _ENTRY.size + length
            entries.append((number, value[position - length : position]))
    except struct.error as error:
        raise StoreDamaged(f"an intent is not readable: {value.hex()}") from error
    if position != len(value):
        raise StoreDamaged(f"an intent has bytes behind it: {value.hex()}")
    time_us = int.from_bytes(key[-INTENT_TIME_BYTES:], "big")
    return Intent(key, value, time_us, row, tuple(entries))
