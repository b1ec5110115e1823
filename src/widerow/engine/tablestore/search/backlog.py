"""How many written rows an index has still to take, so that writers wait where they are too many.

Whoever writes counts what he adds to a journal, whoever reads it what he has taken. A search takes
in what waits before it answers, so what waits is kept short where an index is searched: writers go
at the pace at which rows are taken. Counts belong to this process: where several servers share a
store, each holds its own writers to what its own indexes can follow.
"""

from collections.abc import Callable
from functools import partial
from typing import final

from widerow.errors import Exhausted, Rule
from widerow.limits import (
    JOURNAL_BACKLOG_MAX,
    JOURNAL_PACED_ROWS,
    JOURNAL_PACED_ROWS_SEARCHED,
    SEARCH_ASKED_CHANGES,
)
from widerow.model.tablestore.schema import Table

__all__ = ["JournalBacklog"]


def _nobody() -> None:
    """Wakes nobody."""


@final
class JournalBacklog:
    """What waits for the indexes that are up to date. One thread writes rows, others take them.

    `is_bounded`: there is somebody who takes. `is_paced`: at once, so that writers go at his pace.
    `wake`: calls him, where he would look later only.
    """

    __slots__ = ("_asked", "_noted", "_taken", "is_bounded", "is_paced", "wake")

    def __init__(self) -> None:
        """Nothing waits. Unless `is_bounded`, which needs somebody who takes, all may wait."""
        self.is_bounded = False
        self.is_paced = False
        self.wake: Callable[[], None] = _nobody
        self._noted: dict[int, int] = {}
        self._taken: dict[int, int] = {}
        self._asked: dict[int, int] = {}  # what was noted at the last search

    def follow(self, index_id: int) -> None:
        """An index has taken everything, and is expected to follow from now on."""
        self._taken[index_id] = self._noted.setdefault(index_id, 0)

    def leave(self, index_id: int) -> None:
        """An index does not follow any more, or not for now."""
        self._noted.pop(index_id, None)
        self._taken.pop(index_id, None)
        self._asked.pop(index_id, None)

    def noted(self, index_id: int) -> int:
        """How many rows were written since the index follows; before a journal is looked at."""
        return self._noted.get(index_id, 0)

    def take(self, index_id: int, noted: int) -> None:
        """The index has taken what was written when `noted` was the count."""
        known = self._taken.get(index_id)
        if known is not None:
            self._taken[index_id] = max(known, noted)

    def ask(self, index_id: int) -> None:
        """The index is searched."""
        noted = self._noted.get(index_id)
        if noted is not None:
            self._asked[index_id] = noted

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
            waiting = count - taken.get(index.id, count)
            if self.is_bounded and waiting >= JOURNAL_BACKLOG_MAX:
                raise Exhausted(Rule.SERVER_BUSY)
            if waiting == self._allowed(index.id, count):
                self.wake()
            noted[index.id] = count + 1

    # --- the pace of writers -----------------------------------------------------------------

    def pace(self, table: Table) -> Callable[[], bool] | None:
        """Whether those who write rows of a table wait with their answers; None: they never do."""
        return partial(self._is_ahead, table) if table.search and self.is_paced else None

    def _is_ahead(self, table: Table) -> bool:
        for index in table.search:
            noted = self._noted.get(index.id)
            if noted is None:
                continue
            waiting = noted - self._taken.get(index.id, noted)
            if waiting > self._allowed(index.id, noted):
                return True
        return False

    def _allowed(self, index_id: int, noted: int) -> int:
        """How many rows may wait: fewer where searches come meanwhile, which take them in."""
        asked = self._asked.get(index_id)
        is_searched = asked is not None and noted - asked <= SEARCH_ASKED_CHANGES
        return JOURNAL_PACED_ROWS_SEARCHED if is_searched else JOURNAL_PACED_ROWS
