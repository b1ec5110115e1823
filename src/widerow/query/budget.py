"""What one query may use: rows and bytes that it reads, values that it holds, and time.

Whoever reads rows for a query, and each operator that keeps rows, tells the budget, which stops the
query where it has used what it may. Time is looked at with every chunk, so a statement ends at most
one chunk after its time is over.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import final

from widerow.engine.between import Between, never_ends
from widerow.errors import WiderowError
from widerow.safepoint import safepoint

__all__ = ["QueryBudget", "QueryLimits", "QueryResource", "QueryStopped"]


class QueryResource(Enum):
    """What a query may use up."""

    ROWS_READ = "rows read"
    DOCUMENTS_READ = "documents read"
    BYTES_READ = "bytes read"
    VALUES_HELD = "values held in memory"
    TIME = "seconds"


class QueryStopped(WiderowError):
    """A query has used up its budget; the language has the words for it."""

    def __init__(self, resource: QueryResource, limit: int) -> None:
        """`limit`: how much of the resource a query may use."""
        self.resource = resource
        self.limit = limit
        super().__init__(f"a query may use {limit} {resource.value}")


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """How much a query may use: rows and bytes read, values held at a time, and microseconds."""

    rows: int
    bytes: int
    values: int
    time_us: int


@final
class QueryBudget:
    """What a query has used so far; of one thread."""

    def __init__(
        self, limits: QueryLimits, now_us: Callable[[], int], between: Between = never_ends
    ) -> None:
        """The time begins now, as `now_us` tells it. `between` is called with every chunk."""
        self.limits = limits
        self.rows = 0
        self.bytes = 0
        self._held = 0
        self._now_us = now_us
        self._between = between
        self._begun_us = now_us()

    def read(self, rows: int, size: int, resource: QueryResource = QueryResource.ROWS_READ) -> None:
        """Count rows and bytes that were read. Raises `QueryStopped`; `resource`: of what rows."""
        self.rows += rows
        self.bytes += size
        if self.rows > self.limits.rows:
            raise QueryStopped(resource, self.limits.rows)
        if self.bytes > self.limits.bytes:
            raise QueryStopped(QueryResource.BYTES_READ, self.limits.bytes)

    def hold(self, values: int) -> None:
        """Count values that are kept from now on; fewer than none are released. As `read`."""
        self._held += values
        if self._held > self.limits.values:
            raise QueryStopped(QueryResource.VALUES_HELD, self.limits.values)

    def check(self) -> None:
        """Let other threads run, look at the time. Raises `QueryStopped`, and as `Between`."""
        safepoint()
        self._between()
        if self._now_us() - self._begun_us > self.limits.time_us:
            raise QueryStopped(QueryResource.TIME, self.limits.time_us // 1_000_000)
