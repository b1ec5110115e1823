"""The operations on search indexes (search §1, §4 to §7)."""

from typing import final

from widerow.engine.plan import Plan
from widerow.model.search.requests import (
    ComputeSplits,
    CreateSearchIndex,
    DescribeSearchIndex,
    IndexSplits,
    ParallelScan,
    ScanPage,
    Search,
    SearchAnswer,
    SearchIndexName,
    SearchIndexState,
    UpdateSearchIndex,
)

__all__ = ["SearchIndexes"]


@final
class SearchIndexes:
    """The search indexes of one engine. Any thread may call.

    All methods raise `NotFound` for a table or an index that is not there (search §1.1).
    `describe`, `search`, `compute_splits` and `parallel_scan` may take long: they bring the index
    up to date first.
    """

    def create(self, instance: str, request: CreateSearchIndex) -> Plan[None]:
        """CreateSearchIndex (search §1.1). Raises, or its plan does, what is wrong with it."""
        raise NotImplementedError

    def list(self, instance: str, table: str | None) -> tuple[SearchIndexName, ...]:
        """ListSearchIndex: of a table, or of all of them, sorted by table and name."""
        raise NotImplementedError

    def describe(self, instance: str, request: DescribeSearchIndex) -> SearchIndexState:
        """DescribeSearchIndex (search §1.2)."""
        raise NotImplementedError

    def update(self, instance: str, request: UpdateSearchIndex) -> Plan[None]:
        """UpdateSearchIndex (search §1.4)."""
        raise NotImplementedError

    def delete(self, instance: str, request: SearchIndexName) -> Plan[None]:
        """DeleteSearchIndex (search §1.5)."""
        raise NotImplementedError

    def search(self, instance: str, request: Search) -> SearchAnswer:
        """Search (search §4 to §6): rows as a GetRow at the beginning of the request sees them."""
        raise NotImplementedError

    def compute_splits(self, instance: str, request: ComputeSplits) -> IndexSplits:
        """ComputeSplits: a session of parallel scans (search §7)."""
        raise NotImplementedError

    def parallel_scan(self, instance: str, request: ParallelScan) -> ScanPage:
        """ParallelScan (search §7)."""
        raise NotImplementedError
