"""Safepoints: where a long loop lets other threads run, first the thread with precedence.

Interpreted code hands over the interpreter's lock when another thread has waited for it as long as
the switch interval; compiled code never hands it over by itself, and a batch of rows would keep the
loop of the server waiting for milliseconds. So this module is never compiled: a call of its
functions may hand over the lock.

Handing over is not enough for a server's loop. An object with precedence registers here, and
decides how computing threads wait for it (`server/turn.py`).
"""

from typing import Final, Protocol

__all__ = ["PRECEDENCE", "HasPrecedence", "Precedence", "safepoint"]


class HasPrecedence(Protocol):
    """What other threads let run first: the loop of a server."""

    def pause(self) -> None:
        """Wait for it, unless this thread has paused a moment ago."""
        ...

    def give_way(self) -> None:
        """Wait for it, before work that cannot be interrupted."""
        ...


class Precedence:
    """The holder of precedence; at first there is none."""

    __slots__ = ("_holder", "wanted")

    def __init__(self) -> None:
        self.wanted = False  # the holder is to run first, and no thread has paused since
        self._holder: HasPrecedence | None = None

    def give_to(self, holder: HasPrecedence) -> None:
        """Let `holder` run first from now on."""
        self._holder = holder

    def pause(self) -> None:
        """Wait for the holder, once in a while."""
        if self._holder is not None:
            self._holder.pause()

    def give_way(self) -> None:
        """Wait for the holder, before work that cannot be interrupted."""
        if self._holder is not None:
            self._holder.give_way()


PRECEDENCE: Final = Precedence()
"""The precedence of the process, which has one interpreter's lock."""


def safepoint() -> None:
    """Let threads run that have waited for long enough. Cost: a call."""
    if PRECEDENCE.wanted:
        PRECEDENCE.pause()
