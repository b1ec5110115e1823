"""Gathers the reads of many requests: one read of the store for all of them.

A read of one key costs the server, the network and the store nearly what a read of fifty does. So
few reads are under way at a time, and items asked for meanwhile are gathered for the next one. No
timer is needed while requests are few: where nothing is under way, nothing waits.

Where a store is divided among servers, each server's items are gathered by themselves: all requests
of a read wait for its slowest server, and one that hangs must keep no other's requests.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, final

from widerow.limits import (
    GATHERED_KEYS_MAX,
    GATHERED_PAGES_MAX,
    GATHERED_PAGES_UNDER_WAY_MAX,
    GATHERED_READS_MAX,
    GATHERING_SECONDS_MAX,
)
from widerow.storage.page import PageWanted
from widerow.storage.sockets import LoopReads

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["GatheredReads", "Gathering", "Told", "Turns", "of_keys", "of_pages"]

T = TypeVar("T")
Item = TypeVar("Item", bytes, PageWanted)
Found = TypeVar("Found")

Told = Callable[[Sequence[T], Mapping[Item, Found] | None], None]
"""Called with the items that some requests wait for; with None if they could not be read."""


class Turns(Protocol):
    """The part of a `Schedule` that gathering uses."""

    def when_turn_ends(self, work: Callable[[], None]) -> None:
        """Call `work` when the loop has read all that there is to read now."""
        ...

    def when_passed(self, seconds: float, work: Callable[[], None]) -> None:
        """Call `work` on the loop after `seconds`."""
        ...

    def start(
        self, work: Callable[[], Any], back: Callable[["Future[Any]"], None], *, computes: bool
    ) -> None:
        """Run `work` on a thread and then `back` on the loop."""
        ...

    def answered(self) -> None:
        """Note that what `start` began has ended."""
        ...


class Gathering(NamedTuple, Generic[Item, Found]):
    """How items are read: `read` reads some together; the bounds are of requests and reads.

    `server_of`: which server has an item; the bound of reads under way is of each.
    `begin`: begins a read without a thread, or answers False (`LoopReads`); `close` ends such
    reads.
    """

    read: Callable[[Sequence[Item]], Sequence[Found]]
    requests_max: int
    under_way_max: int
    server_of: Callable[[Item], str]
    begin: Callable[[Sequence[Item], Callable[[Sequence[Found] | None], None]], bool] | None = None
    close: Callable[[], None] | None = None


def of_keys(
    read: Callable[[Sequence[bytes]], Sequence[bytes | None]],
    server_of: Callable[[bytes], str],
    reads: LoopReads | None = None,
) -> Gathering[bytes, bytes | None]:
    """Reads of keys. `reads`: reads them without a thread."""
    found = Gathering(read, GATHERED_KEYS_MAX, GATHERED_READS_MAX, server_of)
    return found if reads is None else found._replace(begin=reads.begin, close=reads.close)


def of_pages(
    read: Callable[[Sequence[PageWanted]], Sequence[Found]],
    server_of: Callable[[bytes], str],
) -> Gathering[PageWanted, Found]:
    """Reads of pages of ranges, which are of the server that has their lower bounds."""
    return Gathering(
        read,
        GATHERED_PAGES_MAX,
        GATHERED_PAGES_UNDER_WAY_MAX,
        lambda wanted: server_of(wanted.start),
    )


@final
class GatheredReads(Generic[T, Item, Found]):
    """Gathers the items of one kind. Lives on the loop's thread."""

    __slots__ = (
        "_due",
        "_gathering",
        "_number",
        "_schedule",
        "_timed",
        "_told",
        "_under_way",
        "_waiting",
    )

    def __init__(
        self,
        gathering: Gathering[Item, Found],
        schedule: Turns,
        told: Told[T, Item, Found],
    ) -> None:
        """`told` is called on the loop's thread."""
        self._gathering: Gathering[Item, Found] = gathering
        self._schedule = schedule
        self._told: Told[T, Item, Found] = told
        # by servers; a request with items of several is among those of all of them
        self._waiting: dict[frozenset[str], list[tuple[T, Sequence[Item]]]] = {}
        # by number of the read: when it began, and of which servers it is
        self._under_way: dict[int, tuple[float, frozenset[str]]] = {}
        self._number = 0
        self._due = False  # whether `_flush` will be called when the turn ends
        self._timed = False  # whether a timer will call it

    def add(self, request: T, items: Sequence[Item]) -> None:
        """Read these items, together with others, at the end of the loop's turn."""
        servers = frozenset([self._gathering.server_of(item) for item in items])
        self._waiting.setdefault(servers, []).append((request, items))
        if not self._due:
            self._due = True
            self._schedule.when_turn_ends(self._flush)

    def close(self) -> None:
        """Use only threads from now on."""
        close = self._gathering.close
        if close is not None:
            close()

    def _flush(self) -> None:
        """Begin as many reads as are allowed. A slow read is not counted."""
        self._due = False
        requests_max, under_way_max = self._gathering.requests_max, self._gathering.under_way_max
        quick_since = monotonic() - GATHERING_SECONDS_MAX
        for servers, waiting in list(self._waiting.items()):
            quick = sum(
                [of == servers and since > quick_since for since, of in self._under_way.values()]
            )
            while waiting and quick < under_way_max:
                self._begin(servers, waiting[:requests_max])
                del waiting[:requests_max]
                quick += 1
            if not waiting:
                del self._waiting[servers]
        if self._waiting and not self._timed:
            self._timed = True
            self._schedule.when_passed(GATHERING_SECONDS_MAX, self._passed)

    def _passed(self) -> None:
        self._timed = False
        self._flush()

    def _begin(self, servers: frozenset[str], part: Sequence[tuple[T, Sequence[Item]]]) -> None:
        self._number += 1
        self._under_way[self._number] = (monotonic(), servers)
        items = sorted({item for _, asked in part for item in asked})
        requests = [request for request, _ in part]
        begin = self._gathering.begin
        if begin is not None and begin(items, partial(self._ended, self._number, requests, items)):
            return
        back = partial(self._back, self._number, requests, items)
        self._schedule.start(partial(self._gathering.read, items), back, computes=False)

    def _back(
        self,
        number: int,
        requests: Sequence[T],
        items: Sequence[Item],
        future: "Future[Sequence[Found]]",
    ) -> None:
        """Take the end of a read that ran on a thread."""
        self._schedule.answered()
        found: Sequence[Found] | None
        try:
            found = future.result()
        except Exception:  # noqa: BLE001  # perhaps of one item: each request runs again
            found = None
        self._ended(number, requests, items, found)

    def _ended(
        self,
        number: int,
        requests: Sequence[T],
        items: Sequence[Item],
        found: Sequence[Found] | None,
    ) -> None:
        del self._under_way[number]
        self._told(requests, None if found is None else dict(zip(items, found, strict=True)))
        if self._waiting:
            self._flush()
