"""Intents for indexes, where the transaction of a row does not reach their entries.

An intent (`engine/intents.py`) of these kinds only names the entries that must be checked. An
`EntryApplier` makes each of these entries agree with the row's present state. So an intent may be
applied twice, late or in another order: the result is the same, and no entry of an older state
stays.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from widerow.engine.intents import Intent, IntentKind, IntentQueue, intents_between
from widerow.errors import StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.storage.interface import Reader, Transaction

__all__ = ["EntryIntent", "decode_entry_intent", "entry_intents", "leave_entry_intent"]

_HEAD: Final = struct.Struct(">IH")  # length of the row's key, entries
_ENTRY: Final = struct.Struct(">II")  # the index, length of the entry's key


class EntryIntent(NamedTuple):
    """An intent and its decoded body.

    `row`: the key of the row. `entries`: the number of an index and the key of an entry, for each
    entry to be checked.
    """

    intent: Intent
    row: bytes
    entries: tuple[tuple[int, bytes], ...]

    @property
    def key(self) -> bytes:
        """The key of the intent, which is in the store until the intent is applied."""
        return self.intent.key


def leave_entry_intent(
    queue: IntentQueue,
    txn: Transaction,
    shard: bytes,
    row: bytes,
    entries: Sequence[tuple[int, bytes]],
    kind: IntentKind = IntentKind.ENTRIES,
) -> int:
    """Leave an intent in the shard of the row; `entries` are at most 65,535.

    Returns and raises the same as `IntentQueue.leave`.
    """
    parts = [_HEAD.pack(len(row), len(entries)), row]
    for number, key in entries:
        parts += (_ENTRY.pack(number, len(key)), key)
    return queue.leave(txn, shard, kind, b"".join(parts))


def decode_entry_intent(intent: Intent) -> EntryIntent:
    """Decode an intent of these kinds. Raises `StoreDamaged`."""
    body = intent.body
    try:
        length, count = _HEAD.unpack_from(body)
        position = _HEAD.size + length
        row = body[_HEAD.size : position]
        entries: list[tuple[int, bytes]] = []
        for _ in range(count):
            number, length = _ENTRY.unpack_from(body, position)
            position += _ENTRY.size + length
            entries.append((number, body[position - length : position]))
    except struct.error as error:
        raise StoreDamaged(f"an intent is not readable: {body.hex()}") from error
    if position != len(body):
        raise StoreDamaged(f"an intent has bytes behind it, or too few: {body.hex()}")
    return EntryIntent(intent, row, tuple(entries))


def entry_intents(reader: Reader, prefix: bytes, kind: IntentKind) -> Iterator[EntryIntent]:
    """The waiting intents of a kind under a prefix of their keys, in the order of their keys.

    Raises `StoreDamaged`.
    """
    return map(decode_entry_intent, intents_between(reader, prefix, after_prefix(prefix), kind))
