"""Long work takes turns.

Whoever serves small requests waits for the interpreter's lock behind each thread that computes, a
switch interval for each of them, and threads that wait for it do not stand in a line. So of all
threads that have much to compute in one go, one does at a time; the others wait here, where they
are in nobody's way (docs/internals/performance.md has what it brings). Nobody waits for a sync, a
network or the writer of a store with the turn in hand; a read that misses the cache it may hold.

Compiled, because a group of one row comes here twice.
"""

import threading
from contextlib import AbstractContextManager
from typing import Final, final

from widerow.limits import LOOP_GROUP_WRITES_MAX

__all__ = ["LONG_WORK", "turn_of"]

LONG_WORK: Final = threading.Lock()
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
