"""Counts the written rows that an index has not taken, and makes writers wait if they are many.

Each write counts the rows that it adds to a journal, each reader of the journal those that it has
taken. A search takes in what waits before it answers, so what waits is kept short where an index is
searched: writers are slowed down to the pace at which rows are taken. Counts belong to this
process: where several servers share a store, each holds its own writers to what its own indexes can
follow.
"""

from functools import partial
from typing import TYPE_CHECKING, final

from widerow.engine.plan import Pace
from widerow.errors import Exhausted, Rule
from widerow.limits import (
    JOURNAL_BACKLOG_MAX,
    JOURNAL_PACE_SECONDS_MAX,
    JOURNAL_PACED_ROWS,
    JOURNAL_PACED_ROWS_SEARCHED,
    SEARCH_ASKED_CHANGES,
)
from widerow.model.tablestore.schema import Table

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["JournalBacklog"]


def _nobody() -> None:
    """The `wake` of an engine that nothing follows in the background."""


@final
class JournalBacklog:
    """Rows that indexes still have to take, for each index that follows its table.

    One thread writes rows, others take them. `is_bounded`: a worker takes rows, so writes are
    refused beyond a bound. `is_paced`: it takes them at once, so writers wait for it. `wake`: wakes
    the worker, which would else look later.
    """

    __slots__ = ("_asked", "_noted", "_taken", "is_bounded", "is_paced", "wake")

    def __init__(self) -> None:
        """No bound and no pace, until they are set: both need a worker that takes rows."""
        self.is_bounded = False
        self.is_paced = False
        self.wake: Callable[[], None] = _nobody
        self._noted: dict[int, int] = {}
        self._taken: dict[int, int] = {}
        self._asked: dict[int, int] = {}  # the count of noted rows at the last search

    def follow(self, index_id: int) -> None:
        """Begin to count for an index that has taken every row."""
        self._taken[index_id] = self._noted.setdefault(index_id, 0)

    def leave(self, index_id: int) -> None:
        """Stop counting for an index: it is built again, or dropped."""
        self._noted.pop(index_id, None)
        self._taken.pop(index_id, None)
        self._asked.pop(index_id, None)

    def noted(self, index_id: int) -> int:
        """Rows written since `follow`. To be read before the journal is."""
        return self._noted.get(index_id, 0)

    def take(self, index_id: int, noted: int) -> None:
        """Note that an index has taken all rows written before the count was `noted`."""
        known = self._taken.get(index_id)
        if known is not None:
            self._taken[index_id] = max(known, noted)

    def ask(self, index_id: int) -> None:
        """Note that the index is being searched."""
        noted = self._noted.get(index_id)
        if noted is not None:
            self._asked[index_id] = noted

    def waiting(self, index_id: int) -> int:
        """About how many rows an index has to take.

        Bodies that ran twice count twice until it has looked.
        """
        return max(0, self._noted.get(index_id, 0) - self._taken.get(index_id, 0))

    def note(self, table: Table) -> None:
        """Count a written row of a table. Raises `Exhausted` (SERVER_BUSY) where too many wait."""
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

    def pace(self, table: Table) -> Pace | None:
        """What the answers to writers of a table wait for; None: for nothing."""
        if not table.search or not self.is_paced:
            return None
        return Pace(partial(self._is_ahead, table), JOURNAL_PACE_SECONDS_MAX)

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
        """How many rows may wait: fewer while the index is searched: each search takes them."""
        asked = self._asked.get(index_id)
        is_searched = asked is not None and noted - asked <= SEARCH_ASKED_CHANGES
        return JOURNAL_PACED_ROWS_SEARCHED if is_searched else JOURNAL_PACED_ROWS
