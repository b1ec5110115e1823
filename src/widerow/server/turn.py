"""The turn of the server's loop, for which computing threads wait.

The loop releases the interpreter's lock between any two connections that it reads, and would wait a
switch interval each time to get it back; the thread that gets the lock may take the processor as
well, so that the loop cannot even ask for it. So the loop says when its turn begins and ends. A
computing thread waits at a safepoint until the turn is over, once in each slice of its own, and
before everything that cannot be interrupted.
"""

import threading
import time
from typing import Final

from widerow.safepoint import PRECEDENCE, Precedence

__all__ = ["LOOP_TURN", "LoopTurn"]

# computed before a thread lets the loop have its turn, which takes about as long
_SLICE_NS: Final = 250_000
_PAUSE_SECONDS_MAX: Final = 0.01  # a turn takes less; bounds the wait for a turn that never ends
_AFTERWARDS_SECONDS: Final = 0.00002  # in which the loop's thread gets the processor back


class LoopTurn:
    """The loop's thread between reading requests and having answered them."""

    __slots__ = ("_lock", "_loop", "_precedence", "_slice_end", "_taken", "begun")

    def __init__(self, precedence: Precedence) -> None:
        self._precedence = precedence
        self._lock = threading.Lock()
        self._taken = False
        self._loop = 0
        self._slice_end = 0
        self.begun = 0  # the number of turns so far

    def begin(self) -> None:
        """Begin a turn, in which other threads pause. Never waits; idempotent."""
        if not self._taken and self._lock.acquire(blocking=False):
            self._taken = self._precedence.wanted = True
            self.begun += 1
            self._loop = threading.get_ident()

    def end(self) -> None:
        """End the turn, if this thread began it: a process may have two servers."""
        if self._taken and threading.get_ident() == self._loop:
            self._taken = False
            self._lock.release()

    def pause(self) -> None:
        """Wait until the turn is over, if this thread's slice is used up."""
        if time.monotonic_ns() >= self._slice_end:
            self.give_way()

    def give_way(self) -> None:
        """Wait until the turn is over; at most `_PAUSE_SECONDS_MAX`.

        Returns at once on the loop's thread.
        """
        if not (self._taken or self._precedence.wanted) or threading.get_ident() == self._loop:
            return
        self._precedence.wanted = False
        if self._lock.acquire(timeout=_PAUSE_SECONDS_MAX):
            self._lock.release()
        time.sleep(_AFTERWARDS_SECONDS)
        self._slice_end = time.monotonic_ns() + _SLICE_NS


LOOP_TURN: Final = LoopTurn(PRECEDENCE)
"""The turn of the server's loop. One for the process, as the interpreter's lock is."""

PRECEDENCE.give_to(LOOP_TURN)
