"""Writes of one caller that happen in their order: after the first failure, none is made.

The writes of a group do not depend on each other. Here they do: a body after one that raised writes
nothing. The caller plans the rest again, or gives up.
"""

from collections.abc import Sequence
from typing import Any, TypeVar, final

from widerow.errors import WiderowError
from widerow.storage.interface import Transaction, Write

__all__ = ["EarlierFailed", "in_order"]

T = TypeVar("T")


class EarlierFailed(WiderowError):
    """An earlier write of the caller failed. Caught by the caller of `in_order`, never shown."""

    def __init__(self) -> None:
        """The refusal of a write that might have been made by itself."""
        super().__init__("a write in front of this one failed, and they happen in their order")


@final
class _FirstFailure:
    """The place of the first write that failed in the latest run, if one did."""

    __slots__ = ("place",)

    def __init__(self) -> None:
        self.place: int | None = None


@final
class _Placed(Write[T]):
    """A write with its place among others."""

    __slots__ = ("_first_failure", "_inner", "_place")

    def __init__(self, inner: Write[T], place: int, first_failure: _FirstFailure) -> None:
        super().__init__(inner.shards, alone=inner.alone, reads=inner.reads, frees=inner.frees)
        self._inner = inner
        self._place = place
        self._first_failure = first_failure

    @property
    def chain(self) -> object:
        """The object that all writes of one caller share."""
        return self._first_failure

    def run(self, txn: Transaction) -> T:
        """Run the write; raise `EarlierFailed` instead if an earlier one failed.

        The write may run again, always before the later ones: the last run counts.
        """
        first_failure = self._first_failure
        if first_failure.place is not None and first_failure.place < self._place:
            raise EarlierFailed
        try:
            result = self._inner.run(txn)
        except BaseException:
            first_failure.place = self._place
            raise
        first_failure.place = None
        return result

    def settle(self, result: T) -> None:
        """The write is durable."""
        self._inner.settle(result)

    def doubt(self) -> None:
        """Nobody knows whether the write is durable."""
        self._inner.doubt()


def in_order(writes: Sequence[Write[Any]]) -> list[Write[Any]]:
    """Wrap writes, for one group or several, so that none is made after the first that fails."""
    first_failure = _FirstFailure()
    return [_Placed(write, place, first_failure) for place, write in enumerate(writes)]
