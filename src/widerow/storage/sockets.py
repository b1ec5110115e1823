"""Reads that the server's loop makes itself, without a thread: the interfaces on both sides."""

from collections.abc import Callable, Sequence
from typing import Protocol

__all__ = ["KeysTold", "LoopReads", "Sockets"]

KeysTold = Callable[[Sequence[bytes | None] | None], None]
"""Hears the values of keys, in their order; None where they could not be read this way."""


class Sockets(Protocol):
    """The part of an event loop that watches sockets.

    Only `call_soon_threadsafe` is for any thread.
    """

    def add_reader(self, fd: int, callback: Callable[[], None]) -> None:
        """Call back whenever there is something to read, until it is removed."""
        ...

    def remove_reader(self, fd: int) -> bool:
        """Stop calling back when there is something to read."""
        ...

    def add_writer(self, fd: int, callback: Callable[[], None]) -> None:
        """Call back whenever something can be sent, until it is removed."""
        ...

    def remove_writer(self, fd: int) -> bool:
        """Stop calling back when something can be sent."""
        ...

    def call_later(self, delay: float, callback: Callable[[], None]) -> object:
        """Call back after `delay` seconds."""
        ...

    def call_soon_threadsafe(self, callback: Callable[[], None]) -> object:
        """Call back on the loop's thread.

        From any thread; raises `RuntimeError` once the loop is closed.
        """
        ...


class LoopReads(Protocol):
    """Reads by way of a loop, on whose thread everything here is called."""

    def begin(self, keys: Sequence[bytes], told: KeysTold) -> bool:
        """Begin to read `keys`, each shard at a moment of its own; `told` hears the values.

        False where the read cannot begin without waiting: `told` is not called then, and the caller
        reads on a thread. Never waits. A read whose answer takes long ends with None.
        """
        ...

    def close(self) -> None:
        """End the pending reads with None. Idempotent."""
        ...
