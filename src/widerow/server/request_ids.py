"""Identifiers of requests, which every answer names and the log repeats."""

from typing import Final

from widerow.clock import Entropy

__all__ = ["RequestIds"]

# The random part of a process in its request ids: 80 bits, written as 20 digits.
_UNIQUE_BYTES: Final = 10
_TWO_DIGITS: Final = tuple([f"{number:02x}" for number in range(256)])


class RequestIds:
    """Identifiers of requests: 36 characters, shaped as the protocol's clients know them.

    Unique by a random prefix for each process and a counter; nothing about them is secret.
    """

    __slots__ = ("_count", "_front", "_prefix")

    def __init__(self, entropy: Entropy) -> None:
        digits = entropy.token_bytes(_UNIQUE_BYTES).hex()
        self._prefix = f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:]}-"
        self._count = 0
        self._front = f"{self._prefix}{0:010x}"  # all but the last two digits

    def next(self) -> str:
        """A new identifier. Cost: a concatenation."""
        count = self._count = self._count + 1
        last = count & 0xFF
        if last == 0:
            self._front = f"{self._prefix}{count >> 8:010x}"
        return self._front + _TWO_DIGITS[last]
