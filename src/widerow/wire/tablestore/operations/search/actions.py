"""The actions of search indexes by their names; imported when one of them is first asked for."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from widerow.wire.tablestore.operations.search import (
    compute_splits,
    create_search_index,
    delete_search_index,
    describe_search_index,
    list_search_index,
    parallel_scan,
    search,
    update_search_index,
)

__all__ = ["SEARCH_ACTIONS"]

SEARCH_ACTIONS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "CreateSearchIndex": create_search_index,
        "ListSearchIndex": list_search_index,
        "DescribeSearchIndex": describe_search_index,
        "UpdateSearchIndex": update_search_index,
        "DeleteSearchIndex": delete_search_index,
        "Search": search,
        "ComputeSplits": compute_splits,
        "ParallelScan": parallel_scan,
    }
)
"""Each has `decode`, `call` and `encode`, as every action."""
