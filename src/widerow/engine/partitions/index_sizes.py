"""When the rows of global indexes are counted again.

A write tells by how much its row grew, and not how many index entries it wrote: that would cost a
comparison of each. So an index is read through again (`walk.py`): twice a minute while its table is
written and it is small, and else after as many units were written as it has rows, or after a rest
that is as much longer as it is larger. So hardly more records are read than units are written, and
an index has been read through again before it is twice as large. A small one is read through once
more half a minute after the last write, as entries may follow their rows later.
"""

from collections.abc import Callable, Iterable
from typing import Final, final

from widerow.engine.partitions.partitioned_tables import Partitioned

__all__ = ["SMALL_ROWS", "IndexSizes"]

SMALL_ROWS: Final = 65_536  # read through in 0.2 s, a few hundred records at a time
SMALL_SECONDS: Final = 30.0


class _Written:
    """Units written to an index's table since it was counted, and when the last one was told of."""

    __slots__ = ("last", "units")

    def __init__(self) -> None:
        self.units = 0
        self.last = float("-inf")


@final
class IndexSizes:
    """When to count each global index of all tables. One caller at a time.

    `of_tables`: the numbers of those of each table that has any.
    """

    __slots__ = ("_begun", "_looked", "_written", "of_tables")

    def __init__(self) -> None:
        self.of_tables: dict[int, tuple[int, ...]] = {}
        self._begun = False
        self._written: dict[int, _Written] = {}  # of each index since it was counted
        self._looked = 0.0

    def follow(self, tables: Iterable[Partitioned]) -> None:
        """Take over the list of tables.

        New indexes are to be counted; at the first call none is new.
        """
        known = self.of_tables
        self.of_tables = {each.id: each.global_indexes for each in tables if each.global_indexes}
        if self._begun:
            for table_id, indexes in self.of_tables.items():
                for index in set(indexes).difference(known.get(table_id, ())):
                    self._written.setdefault(index, _Written())
        self._begun = True

    def base_of(self, index: int) -> int | None:
        """The number of the table that a global index belongs to; None if it is no such index."""
        return next((base for base, found in self.of_tables.items() if index in found), None)

    def note(self, table_id: int, writes: int, now: float) -> None:
        """Count units written to a table; 0: its indexes are to be counted all the same."""
        for index in self.of_tables.get(table_id, ()):
            written = self._written.setdefault(index, _Written())
            written.units += writes
            written.last = now

    def due(self, rows_of: Callable[[int], int], now: float) -> list[int]:
        """The indexes that are to be counted at `now` (seconds).

        `rows_of`: how many rows an index had when it was last counted.
        """
        late = now - self._looked >= SMALL_SECONDS
        if late:
            self._looked = now
        found = []
        for index, written in list(self._written.items()):
            rows = rows_of(index)
            rest = SMALL_SECONDS * max(1, rows / SMALL_ROWS)
            has_rested = late and now - written.last >= rest
            if has_rested:
                del self._written[index]  # its entries have followed
            elif (late and rows <= SMALL_ROWS) or written.units >= max(rows, SMALL_ROWS):
                written.units = 0
            else:
                continue
            found.append(index)
        return found
