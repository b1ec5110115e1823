"""Reads that the server's loop makes itself, without a thread: what a loop gives for them."""

from collections.abc import Callable, Sequence
from typing import Protocol

__all__ = ["KeysTold", "LoopReads", "Sockets"]

KeysTold = Callable[[Sequence[bytes | None] | None], None]
"""Hears the values of keys, in their order; None where they could not be read this way."""


class Sockets(Protocol):
    """The part of an event loop that waits for sockets. On its own thread, but for the last."""

    def add_reader(self, fd: int, callback: Callable[[], None]) -> None:
        """Call back whenever there is something to read, until it is removed."""
        ...

    def remove_reader(self, fd: int) -> bool:
        """Do so no more."""
        ...

    def add_writer(self, fd: int, callback: Callable[[], None]) -> None:
        """Call back whenever something can be sent, until it is removed."""
        ...

    def remove_writer(self, fd: int) -> bool:
        """Do so no more."""
        ...

    def call_later(self, delay: float, callback: Callable[[], None]) -> object:
        """Call back after so many seconds."""
        ...

    def call_soon_threadsafe(self, callback: Callable[[], None]) -> object:
        """Call back on the loop's thread. From any thread; raises `RuntimeError` behind its end."""
        ...


class LoopReads(Protocol):
    """Reads by way of a loop, on whose thread everything here is called."""

    def begin(self, keys: Sequence[bytes], told: KeysTold) -> bool:
        """Read these keys and tell of them later, each shard at a moment of its own.

        False where that cannot be begun without waiting: then nothing is told, and whoever asks
        reads on a thread. Waits for nothing, and is given up where an answer takes long.
        """
        ...

    def close(self) -> None:
        """Give up what is under way, of which None is told. Idempotent."""
        ...
