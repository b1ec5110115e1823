"""Keys that requests wait for, read together: one read for as many requests as there are.

A read of one key costs the server, the network and the store nearly what a read of fifty does. So
a few reads are under way at a time, and keys that are asked for meanwhile are gathered for the
next one. No timer is needed while requests are few: where nothing is under way, nothing waits.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar, final

from widerow.limits import GATHERED_KEYS_MAX, GATHERED_READS_MAX, GATHERING_SECONDS_MAX
from widerow.server.schedule import Schedule
from widerow.storage.interface import Store

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["GatheredReads", "Told"]

T = TypeVar("T")

Told = Callable[[Sequence[T], Mapping[bytes, bytes | None] | None], None]
"""Hears of the values that some requests wait for; of None where they could not be read."""


@final
class GatheredReads(Generic[T]):
    """The keys that requests wait for. Lives on the loop's thread."""

    __slots__ = ("_due", "_number", "_schedule", "_store", "_told", "_under_way", "_waiting")

    def __init__(self, store: Store, schedule: Schedule, told: Told[T]) -> None:
        """`told` is called on the loop's thread."""
        self._store = store
        self._schedule = schedule
        self._told = told
        self._waiting: list[tuple[T, Sequence[bytes]]] = []
        self._under_way: dict[int, float] = {}  # reads by number, and when they began
        self._number = 0
        self._due = False  # whether `_flush` will be called

    def add(self, request: T, keys: Sequence[bytes]) -> None:
        """Read these keys with others, when the loop has read all that there is to read now."""
        self._waiting.append((request, keys))
        if not self._due:
            self._due = True
            self._schedule.when_turn_ends(self._flush)

    def _flush(self) -> None:
        """Begin as many reads as may be under way. One that takes long keeps no other back."""
        self._due = False
        quick_since = monotonic() - GATHERING_SECONDS_MAX
        quick = sum([began > quick_since for began in self._under_way.values()])
        while self._waiting and quick < GATHERED_READS_MAX:
            self._begin(self._waiting[:GATHERED_KEYS_MAX])
            del self._waiting[:GATHERED_KEYS_MAX]
            quick += 1
        if self._waiting:
            self._due = True
            self._schedule.when_passed(GATHERING_SECONDS_MAX, self._flush)

    def _begin(self, part: Sequence[tuple[T, Sequence[bytes]]]) -> None:
        self._number += 1
        self._under_way[self._number] = monotonic()
        keys = sorted({key for _, asked in part for key in asked})
        requests = [request for request, _ in part]
        back = partial(self._back, self._number, requests, keys)
        self._schedule.start(partial(self._store.get_together, keys), back, computes=False)

    def _back(
        self,
        number: int,
        requests: Sequence[T],
        keys: Sequence[bytes],
        future: "Future[list[bytes | None]]",
    ) -> None:
        del self._under_way[number]
        self._schedule.answered()
        try:
            values = dict(zip(keys, future.result(), strict=True))
        except Exception:  # noqa: BLE001  # it may be about one key: each request finds out for itself
            self._told(requests, None)
        else:
            self._told(requests, values)
        if self._waiting:
            self._flush()
