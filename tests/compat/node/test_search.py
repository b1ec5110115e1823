"""Searches through the vendor's Node SDK, against `widerow serve` on RocksDB (search §9, N)."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(200)  # the first of them may install the SDK

Node = Callable[[str], Any]
EVERY = [*range(12)]


def test_an_index_is_described_and_its_expiry_changed(searches: Node) -> None:
    # search §1.1, §1.2: a name comes back with the blank that it was sent with
    seen = searches("described")
    names = ["l", "d", "k", "b", "g", "t", "second", "date", "v", "o "]
    assert seen == {"fields": names, "status": "running", "ttl": [900000, 8000000]}


def test_queries_of_every_type(searches: Node) -> None:
    # search §4: the blank of the nested field's name is not part of its path
    odd = EVERY[1::2]
    assert searches("queries") == {
        "all": [12, EVERY],
        "match": [12, EVERY],
        "phrase": [1, [5]],
        "term": [6, odd],
        "terms": [2, [1, 2]],
        "range": [3, [8, 9, 10]],
        "prefix": [6, EVERY[::2]],
        "wildcard": [6, odd],
        "exists": [10, EVERY[:10]],
        "bool": [6, odd],
        "const": [6, odd],
        "function": [6, odd],
        "nested": [12, EVERY],
        "box": [2, [1, 2]],
        "distance": [2, [0, 1]],
        "polygon": [2, [0, 1]],
        "nearest": [3, [1, 3, 5]],
    }


def test_orders_columns_and_documents_below_rows(searches: Node) -> None:
    # search §4.4, §5.1, §5.4, §5.5: also another field where the first is missing
    assert searches("orders") == {
        "missing": [11, 10, 9],
        "collapsed": 11,
        "named": ["v"],
        "unnamed": 0,
        "paths": ["o", "o.m"],
        "marked": ["<em>inner</em> street 0"],
    }


def test_aggregations_and_groups(searches: Node) -> None:
    # search §6
    assert searches("breakdown") == {
        "metrics": [6.0, 9.0, 0.0, 45.0, 12, 2],
        "percentiles": [[50, 6.0]],
        "top": [0, 1],
        "field": [["even", 6, 0.5, 2], ["odd", 6, 1.5, 2]],
        "filter": [12],
    }


def test_a_scan_sees_every_row(searches: Node) -> None:
    # search §7
    assert searches("scanned") == {"splits": 1, "pages": [7, 5, 0]}


def test_indexes_are_listed_and_deleted(searches: Node) -> None:
    # search §1.4, §1.5: a name that ends with _reindex needs no source
    assert searches("removed") == [["x", "x_reindex"], []]
