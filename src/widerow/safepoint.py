"""Points at which a long loop lets other threads run, and who goes first there.

Interpreted code hands over the interpreter's lock when another thread has waited for it as long as
the switch interval; compiled code asks nobody, and a batch of rows would keep the loop of the
server waiting for milliseconds. So this module is never compiled: calling into it is what asks.

Handing over is not enough for a server's loop. Whoever has precedence says so here, and how those
who compute wait for it is its own affair (`server/turn.py`).
"""

from typing import Final, Protocol

__all__ = ["PRECEDENCE", "HasPrecedence", "Precedence", "safepoint"]


class HasPrecedence(Protocol):
    """What other threads let run first: the loop of a server."""

    def pause(self) -> None:
        """Wait, unless it was done a moment ago."""
        ...

    def give_way(self) -> None:
        """Wait, before something that cannot be interrupted."""
        ...


class Precedence:
    """Who goes first; nobody at first."""

    __slots__ = ("_holder", "wanted")

    def __init__(self) -> None:
        """Nobody waits for anybody."""
        self.wanted = False  # somebody is to go first, and nobody has paused since
        self._holder: HasPrecedence | None = None

    def give_to(self, holder: HasPrecedence) -> None:
        """Let `holder` go first whenever it wants to."""
        self._holder = holder

    def pause(self) -> None:
        """Let it go first, once in a while."""
        if self._holder is not None:
            self._holder.pause()

    def give_way(self) -> None:
        """Let it go first, before something that cannot be interrupted."""
        if self._holder is not None:
            self._holder.give_way()


PRECEDENCE: Final = Precedence()
"""One for the process, as the interpreter's lock is."""


def safepoint() -> None:
    """Let others run who have waited for long enough. Cost: a call."""
    if PRECEDENCE.wanted:
        PRECEDENCE.pause()
