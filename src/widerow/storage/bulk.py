"""Long work takes turns.

Whoever serves small requests waits for the interpreter's lock behind each thread that computes, a
switch interval for each of them, and threads that wait for it do not stand in a line. So of all
threads that have much to compute in one go, one does at a time; the others wait here, where they
are in nobody's way (docs/internals/performance.md has what it brings). They go in the order in
which they came: one that has work without end, and asks again at once, would else keep all others
waiting. Nobody waits for a sync, a network or the writer of a store with the turn in hand; a read
that misses the cache it may hold.

Compiled, because a group of one row comes here twice.
"""

import threading
from collections import deque
from contextlib import AbstractContextManager
from typing import Final, final

from widerow.limits import LOOP_GROUP_WRITES_MAX

__all__ = ["LONG_WORK", "OrderedLock", "turn_of"]


@final
class OrderedLock:
    """A lock that is handed to whoever has waited for it longest. Not for one thread twice."""

    __slots__ = ("_guard", "_held", "_waiting")

    def __init__(self) -> None:
        """Nobody holds it."""
        self._guard = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Lock] = deque()

    def locked(self) -> bool:
        """Whether somebody holds it."""
        return self._held

    def __enter__(self) -> None:
        """Wait for it."""
        with self._guard:
            if not self._held:
                self._held = True
                return
            called = threading.Lock()
            called.acquire()
            self._waiting.append(called)
        try:
            called.acquire()
        except BaseException:  # an interrupt: whoever does not wait any more must not be called
            self._leave(called)
            raise

    def _leave(self, called: threading.Lock) -> None:
        with self._guard:
            if called in self._waiting:
                self._waiting.remove(called)
                return
        self._hand_over()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Hand it to the next; errors stay as they are."""
        self._hand_over()

    def _hand_over(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._held = False


LONG_WORK: Final = OrderedLock()
"""Held by the thread whose turn it is. One for the process, as the interpreter's lock is."""


@final
class _NoTurn:
    """What is held by those who are soon done: nothing."""

    __slots__ = ()

    def __enter__(self) -> None:
        """Begin at once."""

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Leave everything, an error too, as it is."""


_SHORT: Final = _NoTurn()


def turn_of(writes: int) -> AbstractContextManager[object]:
    """What a group of so many writes holds while it computes: nothing if it soon has.

    A group that may be committed on the loop never waits here.
    """
    return LONG_WORK if writes > LOOP_GROUP_WRITES_MAX else _SHORT
