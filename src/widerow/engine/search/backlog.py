"""How many written rows an index has still to take, so that writers wait where they are too many.

Whoever writes counts what he adds to a journal, whoever reads it what he has taken. Counts belong
to this process: where several servers share a store, each holds its own writers to what its own
indexes can follow.
"""

from typing import final

from widerow.errors import Exhausted, Rule
from widerow.limits import JOURNAL_BACKLOG_MAX
from widerow.model.schema import Table

__all__ = ["JournalBacklog"]


@final
class JournalBacklog:
    """What waits for the indexes that are up to date. One thread writes rows, others take them."""

    __slots__ = ("_noted", "_taken", "is_bounded")

    def __init__(self) -> None:
        """Nothing waits. Unless `is_bounded`, which needs somebody who takes, all may wait."""
        self.is_bounded = False
        self._noted: dict[int, int] = {}
        self._taken: dict[int, int] = {}

    def follow(self, index_id: int) -> None:
        """An index has taken everything, and is expected to follow from now on."""
        self._taken[index_id] = self._noted.setdefault(index_id, 0)

    def leave(self, index_id: int) -> None:
        """An index does not follow any more, or not for now."""
        self._noted.pop(index_id, None)
        self._taken.pop(index_id, None)

    def noted(self, index_id: int) -> int:
        """How many rows were written since the index follows; before a journal is looked at."""
        return self._noted.get(index_id, 0)

    def take(self, index_id: int, noted: int) -> None:
        """The index has taken what was written when `noted` was the count."""
        known = self._taken.get(index_id)
        if known is not None:
            self._taken[index_id] = max(known, noted)

    def waiting(self, index_id: int) -> int:
        """About how many rows wait. Bodies that ran twice are counted twice until it has looked."""
        return max(0, self._noted.get(index_id, 0) - self._taken.get(index_id, 0))

    def note(self, table: Table) -> None:
        """A row of a table is written. Raises `Exhausted` (SERVER_BUSY) where too many wait."""
        noted, taken = self._noted, self._taken
        for index in table.search:
            count = noted.get(index.id)
            if count is None:
                continue
            if self.is_bounded and count - taken.get(index.id, count) >= JOURNAL_BACKLOG_MAX:
                raise Exhausted(Rule.SERVER_BUSY)
            noted[index.id] = count + 1
