"""How much one read may do where others wait for it: bytes and steps, worth about a millisecond.

Whether a read is long is mostly known only once it has begun: by the sizes of its rows, and by how
many of them a filter refuses. So a read on the server's loop is given a budget. It raises `TooLong`
as soon as it turns out to need more, and is run again on a thread, without one. The wasted work is
at most the budget, and mostly less: where a size is known beforehand, the budget is asked first.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import final

from widerow.errors import TooLong
from widerow.limits import LOOP_READ_BYTES_MAX, LOOP_READ_STEPS_MAX
from widerow.rows.record import header_of
from widerow.storage.interface import Reader

__all__ = ["Budget", "BudgetReader", "within"]


@final
class Budget:
    """What is left of a budget. A step is one record looked at, or one cell decoded."""

    __slots__ = ("bytes", "steps")

    def __init__(self, size: int = LOOP_READ_BYTES_MAX, steps: int = LOOP_READ_STEPS_MAX) -> None:
        self.bytes = size
        self.steps = steps

    def take(self, size: int, steps: int) -> None:
        """Use up bytes and steps. Raises `TooLong` if fewer are left."""
        self.bytes -= size
        self.steps -= steps
        if self.bytes < 0 or self.steps < 0:
            raise TooLong("the read takes longer than others should wait for it")


@final
class BudgetReader:
    """A reader that takes what it reads from a budget."""

    __slots__ = ("_budget", "_reader", "_steps_of")

    def __init__(self, reader: Reader, budget: Budget, steps_of: Callable[[bytes], int]) -> None:
        """`steps_of`: the steps that a record of a range is worth."""
        self._reader = reader
        self._budget = budget
        self._steps_of = steps_of

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`. Raises `TooLong`, as all methods do."""
        record = self._reader.get(key)
        self._budget.take(0 if record is None else len(record), 1)
        return record

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys`, read one after the other."""
        return [self.get(key) for key in keys]

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """The reader's records of a range."""
        for key, record in self._reader.scan(start, stop, reverse=reverse):
            self._budget.take(len(record), self._steps_of(record))
            yield key, record


def within(
    reader: Reader, budget: Budget | None, steps_of: Callable[[bytes], int] | None = None
) -> Reader:
    """A reader that takes what it reads from `budget`; `reader` itself without a budget.

    `steps_of`: as `BudgetReader`; None: the records are segments, whose cells are decoded.
    """
    return reader if budget is None else BudgetReader(reader, budget, steps_of or _cells_decoded)


def _cells_decoded(record: bytes) -> int:
    return 1 + header_of(record).cell_count
