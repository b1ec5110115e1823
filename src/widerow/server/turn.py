"""The turn of the server's loop, for which those who compute wait.

The loop lets go of the interpreter's lock between any two connections that it reads and would wait
a switch interval for each of them; and whoever gets the lock then may take the processor as well,
so that the loop cannot even ask to have it back. So the loop says when its turn begins and ends.
Whoever computes waits at a safepoint until it is over, once in each slice of its own, and before
everything that cannot be interrupted.
"""

import threading
import time
from typing import Final

from widerow.safepoint import PRECEDENCE, Precedence

__all__ = ["LOOP_TURN", "LoopTurn"]

_SLICE_NS: Final = 250_000  # computed before others have their turn, which takes about as long
_PAUSE_SECONDS_MAX: Final = 0.01  # a turn takes less; nobody hangs on one that never ends
_AFTERWARDS_SECONDS: Final = 0.00002  # for the one whose turn it was to get the processor back


class LoopTurn:
    """What one thread does between reading requests and having answered them."""

    __slots__ = ("_lock", "_loop", "_precedence", "_slice_end", "_taken", "begun")

    def __init__(self, precedence: Precedence) -> None:
        """It is nobody's turn."""
        self._precedence = precedence
        self._lock = threading.Lock()
        self._taken = False
        self._loop = 0
        self._slice_end = 0
        self.begun = 0  # so many turns

    def begin(self) -> None:
        """Let others pause. Never waits; nothing happens if it has begun already."""
        if not self._taken and self._lock.acquire(blocking=False):
            self._taken = self._precedence.wanted = True
            self.begun += 1
            self._loop = threading.get_ident()

    def end(self) -> None:
        """Let them go on, if this thread began; there may be two servers in a process."""
        if self._taken and threading.get_ident() == self._loop:
            self._taken = False
            self._lock.release()

    def pause(self) -> None:
        """Wait until the turn is over, unless this slice is not over yet."""
        if time.monotonic_ns() >= self._slice_end:
            self.give_way()

    def give_way(self) -> None:
        """Wait until the turn is over; at most `_PAUSE_SECONDS_MAX`. Its own thread does not."""
        if not (self._taken or self._precedence.wanted) or threading.get_ident() == self._loop:
            return
        self._precedence.wanted = False
        if self._lock.acquire(timeout=_PAUSE_SECONDS_MAX):
            self._lock.release()
        time.sleep(_AFTERWARDS_SECONDS)
        self._slice_end = time.monotonic_ns() + _SLICE_NS


LOOP_TURN: Final = LoopTurn(PRECEDENCE)
"""That of the server's loop. One for the process, as the interpreter's lock is."""

PRECEDENCE.give_to(LOOP_TURN)
