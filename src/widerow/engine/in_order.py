"""Writes of one caller that happen in their order: after the first failure, none is made.

The writes of a group do not depend on each other. Here they do: a body after one that raised writes
nothing. The caller plans the rest again, or gives up.
"""

from collections.abc import Sequence
from typing import Any, TypeVar, final

from widerow.errors import WiderowError
from widerow.storage.interface import Transaction, Write

__all__ = ["Behind", "in_order"]

T = TypeVar("T")


class Behind(WiderowError):
    """An earlier write of the caller failed. Caught by the caller of `in_order`, never shown."""

    def __init__(self) -> None:
        """The refusal of a write that might have been made by itself."""
        super().__init__("a write in front of this one failed, and they happen in their order")


@final
class _Fate:
    """The place of the first write that failed in the latest run, if one did."""

    __slots__ = ("failed",)

    def __init__(self) -> None:
        self.failed: int | None = None


@final
class _Placed(Write[T]):
    """A write with its place among others."""

    __slots__ = ("_fate", "_inner", "_place")

    def __init__(self, inner: Write[T], place: int, fate: _Fate) -> None:
        super().__init__(inner.shards, alone=inner.alone, reads=inner.reads)
        self._inner = inner
        self._place = place
        self._fate = fate

    @property
    def chain(self) -> object:
        """The object that all writes of one caller share."""
        return self._fate

    def run(self, txn: Transaction) -> T:
        """Run the write; raise `Behind` instead if an earlier one failed.

        The write may run again, always before the later ones: the last run counts.
        """
        fate = self._fate
        if fate.failed is not None and fate.failed < self._place:
            raise Behind
        try:
            result = self._inner.run(txn)
        except BaseException:
            fate.failed = self._place
            raise
        fate.failed = None
        return result

    def settle(self, result: T) -> None:
        """The write is durable."""
        self._inner.settle(result)

    def doubt(self) -> None:
        """Nobody knows whether the write is durable."""
        self._inner.doubt()


def in_order(writes: Sequence[Write[Any]]) -> list[Write[Any]]:
    """Wrap writes, for one group or several, so that none is made after the first that fails."""
    fate = _Fate()
    return [_Placed(write, place, fate) for place, write in enumerate(writes)]
