"""Writes of one caller that happen in their order: nothing behind the first one that fails.

Each is a write of its own, and they share a group, so none knows of the others. These bodies do: a
body behind one that raised writes nothing. Who committed them plans the rest again, or gives up.
"""

from collections.abc import Sequence
from typing import Any, TypeVar, final

from widerow.errors import WiderowError
from widerow.storage.interface import Transaction, Write

__all__ = ["Behind", "in_order"]

T = TypeVar("T")


class Behind(WiderowError):
    """A write in front of this one failed. Never leaves whoever put them in order."""

    def __init__(self) -> None:
        """The refusal of a write that might have been made by itself."""
        super().__init__("a write in front of this one failed, and they happen in their order")


@final
class _Fate:
    """What became of the writes so far: the place of the first one that failed, if any did."""

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
        """What they share."""
        return self._fate

    def run(self, txn: Transaction) -> T:
        """Run the write, unless one in front of it failed; then raise `Behind`.

        It may run again, always before those behind it: what it does then is what counts.
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
    """The same writes for one group or several, of which none behind the first failure is made."""
    fate = _Fate()
    return [_Placed(write, place, fate) for place, write in enumerate(writes)]
