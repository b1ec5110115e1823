"""What is made of the bytes of a connection on their way: the interface of TLS and of SASL."""

from typing import Protocol, final

__all__ = ["Sealing", "SealingInside"]


class Sealing(Protocol):
    """What is made of the bytes of one connection, in both directions. Any thread.

    What is sealed must be sent in the order in which it was sealed.
    """

    def seal(self, plain: bytes) -> bytes:
        """What is to be sent. Raises `OSError` where the connection cannot go on."""
        ...

    def open(self, part: bytes) -> bytes:
        """What is whole by now, behind what the server sent next; it may be nothing.

        Raises `OSError` where the connection cannot go on.
        """
        ...


@final
class SealingInside:
    """One sealing inside another."""

    def __init__(self, inner: Sealing, outer: Sealing) -> None:
        self._inner, self._outer = inner, outer

    def seal(self, plain: bytes) -> bytes:
        """Sealed by the inner one first."""
        return self._outer.seal(self._inner.seal(plain))

    def open(self, part: bytes) -> bytes:
        """Opened by the outer one first."""
        return self._inner.open(self._outer.open(part))
