"""Intents: what a change of a row asks for outside the shard of the row, left beside the row.

    15 table-id partition-key microseconds origin number     an intent

Where the transaction of a row does not reach what has to follow the row (the entries of a global
index, the log of a stream), its body leaves an intent in the row's own shard. So the intent is
there if and only if the change is. Somebody else works it off later and removes it.

Intents of one partition key value are in the order in which they were committed. `origin` is drawn
when a process begins, `number` counts within it, so no intent ever has the key of another one: a
key that is gone is gone for good, and removing an intent a second time removes nothing else.
(docs/formats/keys.md, "Intents")
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import count
from typing import Any, Final, NamedTuple, final

from widerow.clock import Clock, Entropy
from widerow.engine.once import Once
from widerow.errors import Exhausted, NotFound, OutcomeUnknown, Replan, Rule, StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES, SPACE_INTENTS
from widerow.limits import INTENTS_MAX
from widerow.storage.interface import Outcome, Reader, Transaction, Write

__all__ = [
    "Intent",
    "IntentKind",
    "IntentQueue",
    "decode_intent",
    "intents_between",
    "pass_over",
    "removals",
    "tables_waiting",
]

_ORIGIN_BYTES: Final = 8
_SUFFIX: Final = struct.Struct(f">Q{_ORIGIN_BYTES}sQ")  # microseconds, origin, number
_HEAD: Final = struct.Struct(">BQ")  # the kind, and which of the queue it is


class IntentKind(IntEnum):
    """What is to be done. The numbers stand in the store."""

    ENTRIES = 1
    """Entries of global indexes have to be made to agree with the row (`indexes/intents.py`)."""

    CHANGE = 2
    """A record has to be appended to the log of a stream (`streams/intents.py`)."""


class Intent(NamedTuple):
    """An intent: its key, and what its value says.

    `time_us`: when it was left, in microseconds since 1970, or a little later. `body`: what the
    kind makes of it.
    """

    key: bytes
    kind: IntentKind
    time_us: int
    body: bytes

    @property
    def shard(self) -> bytes:
        """The prefix of the intents of the same partition key value."""
        return self.key[: -_SUFFIX.size]


@final
class IntentQueue:
    """Where one engine leaves intents. Any thread may call."""

    __slots__ = ("_clock", "_numbers", "_origin")

    def __init__(self, clock: Clock, entropy: Entropy) -> None:
        """`entropy` is asked with the first intent."""
        self._clock = clock
        self._origin = Once(lambda: entropy.token_bytes(_ORIGIN_BYTES))
        self._numbers = count()

    def leave(self, txn: Transaction, shard: bytes, kind: IntentKind, body: bytes) -> None:
        """Write an intent behind those of the same shard; `shard`: the prefix of its rows.

        Raises `Exhausted` (SERVER_BUSY) where `INTENTS_MAX` of them wait.
        """
        prefix = SPACE_INTENTS + shard[1:]
        stop = after_prefix(prefix)
        place, time_us = 0, self._clock.now_us()
        for key, value in txn.scan(prefix, stop, reverse=True):
            place = _HEAD.unpack_from(value)[1] + 1
            time_us = max(time_us, _SUFFIX.unpack_from(key, len(prefix))[0] + 1)
            break
        # The oldest place is at least 0, so a small place needs no look at the oldest intent.
        if place >= INTENTS_MAX:
            _, value = next(iter(txn.scan(prefix, stop)))
            if place - _HEAD.unpack_from(value)[1] >= INTENTS_MAX:
                raise Exhausted(Rule.SERVER_BUSY)
        suffix = _SUFFIX.pack(time_us, self._origin.get(), next(self._numbers))
        txn.put(prefix + suffix, _HEAD.pack(kind, place) + body)


def decode_intent(key: bytes, value: bytes) -> Intent:
    """The intent of a record. Raises `StoreDamaged`."""
    try:
        time_us, _, _ = _SUFFIX.unpack_from(key, len(key) - _SUFFIX.size)
        kind = IntentKind(_HEAD.unpack_from(value)[0])
    except (struct.error, ValueError) as error:
        raise StoreDamaged(f"an intent is not readable: {value.hex()}") from error
    return Intent(key, kind, time_us, value[_HEAD.size :])


def intents_between(
    reader: Reader, start: bytes, stop: bytes, kind: IntentKind
) -> Iterator[Intent]:
    """Intents of one kind with start ≤ key < stop, in order. Intents of other kinds cost a read."""
    for key, value in reader.scan(start, stop):
        if value[0] == kind:
            yield decode_intent(key, value)


def tables_waiting(reader: Reader) -> Iterator[int]:
    """The numbers of the tables that have intents; numbers of dropped tables may be among them.

    Cost: one look for each.
    """
    position, stop = SPACE_INTENTS, after_prefix(SPACE_INTENTS)
    while (found := next(reader.scan(position, stop), None)) is not None:
        prefix = found[0][:ROW_PREFIX_BYTES]
        yield int.from_bytes(prefix[len(SPACE_INTENTS) :], "big")
        position = after_prefix(prefix)


def removals(intents: Iterable[Intent]) -> tuple[Write[None], ...]:
    """Writes that remove intents, one for each partition key value; removed ones may be given."""
    by_shard: dict[bytes, list[bytes]] = {}
    for intent in intents:
        by_shard.setdefault(intent.shard, []).append(intent.key)
    return tuple([_removal(shard, keys) for shard, keys in by_shard.items()])


def _removal(shard: bytes, keys: Sequence[bytes]) -> Write[None]:
    def remove(txn: Transaction) -> None:
        for key in keys:
            txn.delete(key)

    return Write((shard,), remove)


def pass_over(outcomes: Sequence[Outcome[Any]]) -> None:
    """Raise the first error that the next step does not meet and handle again by itself.

    Passed over: `Replan`, `NotFound` of a dropped table, `OutcomeUnknown`. The intents of such a
    write are still there, and the next step finds them.
    """
    for outcome in outcomes:
        error = outcome.error
        if error is not None and not isinstance(error, (NotFound, OutcomeUnknown, Replan)):
            raise error
