"""A part of the engine that is made when it is first asked for."""

from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Once"]

T = TypeVar("T")


class Once(Generic[T]):
    """Makes a value when it is first asked for, and gives the same one from then on.

    Any thread may ask. Two that ask at the same time may both make one; both get the first.
    """

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], T]) -> None:
        """`make` makes the value on the first `get`; it must have no other effect."""
        self._make = make
        self._made: list[T] = []

    def is_made(self) -> bool:
        """Whether anybody has asked for it."""
        return bool(self._made)

    def get(self) -> T:
        """The value. Raises what making it raises; it is then made when it is asked for again."""
        if not self._made:
            self._made.append(self._make())  # `append` is one step: the first value stays first
        return self._made[0]
