"""Who may go and who waits: requests that touch the same rows reach both servers in one order.

A claim is a path into a tree (instance, table, partition key, rest of the key) and says whether
what lies there is changed. Two claims meet where one path is the beginning of the other, and
conflict where one of them changes something. A request waits for those before it that it conflicts
with, and for no other. They wait in the order they came, so nobody waits for ever, and as a
request makes all its claims at once, no two wait for each other.
"""

import asyncio
from collections.abc import Hashable, Iterable
from typing import Final, NamedTuple

__all__ = ["Claim", "RequestTurns", "Ticket"]


class Claim(NamedTuple):
    """A place, and whether what lies at it and below it may be changed."""

    path: tuple[Hashable, ...]
    changes: bool


class Ticket:
    """A request in the line, from `RequestTurns.enter` to `RequestTurns.leave`."""

    __slots__ = ("_waiting", "claims", "ready", "waits_for")

    def __init__(self, claims: tuple[Claim, ...], ready: "asyncio.Future[None]") -> None:
        """A request with these claims; `ready` is done when it may go."""
        self.claims = claims
        self.ready = ready
        self.waits_for = 0
        self._waiting: list[Ticket] = []

    def wait_for(self, other: "Ticket") -> None:
        """Go only behind another one."""
        self.waits_for += 1
        other._waiting.append(self)  # noqa: SLF001  # of its own kind

    def release(self) -> None:
        """Let go who waited for this one."""
        for each in self._waiting:
            each.waits_for -= 1
            if each.waits_for == 0 and not each.ready.done():
                each.ready.set_result(None)


_HERE_READS: Final = 0
_HERE_CHANGES: Final = 1
_BELOW_READS: Final = 2
_BELOW_CHANGES: Final = 3


class RequestTurns:
    """The line of all requests in hand. For the thread of one loop."""

    def __init__(self) -> None:
        self._places: dict[tuple[Hashable, ...], tuple[set[Ticket], ...]] = {}

    def enter(self, claims: Iterable[Claim]) -> Ticket:
        """Stand behind those who came before; the ticket is `ready` when it may go.

        Cost: linear in the depth of the claims and in those that conflict.
        """
        ticket = Ticket(tuple(claims), asyncio.get_running_loop().create_future())
        before: set[Ticket] = set()
        for path, changes in ticket.claims:
            for depth in range(len(path)):
                above = self._place(path[:depth])
                before |= above[_HERE_CHANGES]
                if changes:
                    before |= above[_HERE_READS]
                above[_BELOW_READS + changes].add(ticket)
            here = self._place(path)
            before |= here[_HERE_CHANGES] | here[_BELOW_CHANGES]
            if changes:
                before |= here[_HERE_READS] | here[_BELOW_READS]
            here[_HERE_READS + changes].add(ticket)
        before.discard(ticket)
        for other in before:
            ticket.wait_for(other)
        if not before:
            ticket.ready.set_result(None)
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """The request is done with, whether it ever had its turn or not."""
        for path, _ in ticket.claims:
            for depth in range(len(path) + 1):
                sets = self._places.get(path[:depth])
                if sets is None:
                    continue
                for each in sets:
                    each.discard(ticket)
                if not any(sets):
                    del self._places[path[:depth]]
        ticket.release()

    def is_empty(self) -> bool:
        """Whether nobody is in the line."""
        return not self._places

    def _place(self, path: tuple[Hashable, ...]) -> tuple[set[Ticket], ...]:
        found = self._places.get(path)
        if found is None:
            found = self._places[path] = (set(), set(), set(), set())
        return found
