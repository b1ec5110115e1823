"""Large computations run one at a time, in the order in which threads ask.

A thread that serves small requests waits for the interpreter's lock behind each thread that
computes, one switch interval for each of them, and the interpreter hands its lock out in no fixed
order. So of all threads that have much to compute in one go, one computes; the others wait here
without asking for the interpreter's lock (docs/internals/performance.md has what it brings). The
order matters: a thread with endless work, which asks again at once, would keep all others waiting.
No thread may wait for a sync, a network or the writer of a store while it holds the turn; a read
that misses the cache is allowed.

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
    """A lock that goes to the thread that has waited longest. Not re-entrant."""

    __slots__ = ("_guard", "_held", "_waiting")

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Lock] = deque()

    def locked(self) -> bool:
        """Whether a thread holds the lock."""
        return self._held

    def __enter__(self) -> None:
        with self._guard:
            if not self._held:
                self._held = True
                return
            called = threading.Lock()
            called.acquire()
            self._waiting.append(called)
        try:
            called.acquire()
        except BaseException:  # an interrupt: a thread that is gone must not be given the lock
            self._leave(called)
            raise

    def _leave(self, called: threading.Lock) -> None:
        with self._guard:
            if called in self._waiting:
                self._waiting.remove(called)
                return
        self._hand_over()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Hand the lock to the thread that waited longest; an error in the block is raised on."""
        self._hand_over()

    def pass_on(self) -> None:
        """Let all who wait now have the lock first. For the thread that holds it."""
        if self._waiting:
            self._hand_over()
            self.__enter__()

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
    """The context of a short computation: it takes no lock."""

    __slots__ = ()

    def __enter__(self) -> None:
        """Takes no lock."""

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Releases nothing; an error in the block is raised on."""


_SHORT: Final = _NoTurn()


def turn_of(writes: int) -> AbstractContextManager[object]:
    """What a group of so many writes holds while it computes: `LONG_WORK`, or nothing if short.

    A group that may be committed on the loop never waits here.
    """
    return LONG_WORK if writes > LOOP_GROUP_WRITES_MAX else _SHORT
