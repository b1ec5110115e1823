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
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import count
from typing import Any, Final, NamedTuple, final

from widerow.clock import Clock, Entropy
from widerow.engine.once import Once
from widerow.errors import (
    Exhausted,
    NotFound,
    OutcomeUnknown,
    Replan,
    Rule,
    StoreBusy,
    StoreDamaged,
)
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_INTENTS, intent_prefix
from widerow.limits import INTENTS_MAX
from widerow.storage.interface import Outcome, Reader, Store, Transaction, Write
from widerow.storage.page import PageWanted

__all__ = [
    "Intent",
    "IntentKind",
    "IntentQueue",
    "IntentWalk",
    "decode_intent",
    "intents_between",
    "pass_over",
    "removals",
]

_ORIGIN_BYTES: Final = 8
_SUFFIX: Final = struct.Struct(f">Q{_ORIGIN_BYTES}sQ")  # microseconds, origin, number
_HEAD: Final = struct.Struct(">BQ")  # the kind, and which of the queue it is
_END: Final = after_prefix(SPACE_INTENTS)
_PAGE_RECORDS: Final = 256  # of one read of a walk
_PASSING: Final = (NotFound, OutcomeUnknown, Replan, StoreBusy)


class IntentKind(IntEnum):
    """What is to be done. The numbers stand in the store."""

    ENTRIES = 1
    """Entries of global indexes have to be made to agree with the row (`entry_intents.py`)."""

    CHANGE = 2
    """A record has to be appended to the log of a stream (`streams/intents.py`)."""

    INDEX_SPACE_ENTRIES = 3
    """As `ENTRIES`, of indexes whose entries stand in a space of their own (14)."""


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

    def leave(self, txn: Transaction, shard: bytes, kind: IntentKind, body: bytes) -> int:
        """Write an intent behind those of the same shard; `shard`: the prefix of its rows.

        Answers its time, in microseconds since 1970. Raises `Exhausted` (SERVER_BUSY) where
        `INTENTS_MAX` of them wait.
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
        return time_us


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


@final
class IntentWalk:
    """Goes through the intents of one kind, of all tables, in the order of their keys.

    It reads a bounded number of records, also where those of another kind lie between. `position`:
    the key at which the next walk goes on.
    """

    def __init__(self, store: Store, kind: IntentKind, position: bytes, records_max: int) -> None:
        self.position = max(position, SPACE_INTENTS)
        self._store = store
        self._kind = kind
        self._left = records_max
        self._page: deque[tuple[bytes, bytes]] = deque()
        self._reached = SPACE_INTENTS  # up to where everything was read

    @property
    def is_over(self) -> bool:
        """Whether no intent of any kind lies at the position or behind it."""
        return self.position >= _END

    def peek(self, stop: bytes = _END) -> Intent | None:
        """The first intent at the position or behind it, which moves there; only before `stop`.

        None where there is none, so that the position is at `stop` or behind it, or `is_over`; also
        where `records_max` records were read. Raises `StoreDamaged`, and `StoreBusy` at once where
        a part of the store is away.
        """
        while True:
            while self._page:
                key, value = self._page[0]
                if key >= stop:
                    self.skip_to(stop)
                    return None
                if key >= self.position and value[0] == self._kind:
                    self.position = key
                    return decode_intent(key, value)
                self._page.popleft()
                self.skip_to(key + b"\x00")
            self.skip_to(self._reached)
            if self.is_over or self.position >= stop or self._left <= 0:
                return None
            self._read()

    def skip_to(self, key: bytes) -> None:
        """Pass over the intents before a key."""
        self.position = max(self.position, key)

    def following(
        self, numbers: Callable[[], Iterable[int]], passed: Callable[[int], object]
    ) -> Intent | None:
        """The next intent that can be read; None where the walk ends.

        What cannot be read is passed over, to the next bound of a table: `numbers` are those of all
        tables. `passed` is called with the number of a table that is passed over.
        """
        while True:
            try:
                return self.peek()
            except StoreBusy:
                number = self._pass_by(numbers())
                if number is not None:
                    passed(number)

    def _pass_by(self, numbers: Iterable[int]) -> int | None:
        """Go to the next bound of a table; the number of the table whose intents are left."""
        for number in sorted(numbers):
            prefix = intent_prefix(number)
            if self.position < prefix:
                self.skip_to(prefix)
                return None
            stop = after_prefix(prefix)
            if self.position < stop:
                self.skip_to(stop)
                return number
        self.skip_to(_END)
        return None

    def _read(self) -> None:
        wanted = PageWanted(self.position, _END, min(_PAGE_RECORDS, self._left), reverse=False)
        (page,) = self._store.get_pages_together((wanted,))
        self._left -= max(1, len(page.pairs))
        self._page.extend(page.pairs)
        self._reached = _END if page.following is None else page.following


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
    """Nothing, or the first error of a kind that does not go away by itself.

    What met another state of the catalogue or of a row, is of a table that was dropped, ended
    unknown or met a store that was busy is still there, and is found again where it is to be done.
    """
    for outcome in outcomes:
        error = outcome.error
        if error is not None and not isinstance(error, _PASSING):
            raise error
