"""Searches through the vendor's Java SDK, in each way that it is set up (search §9, J)."""

from collections.abc import Callable
from typing import Any

import pytest

# The first test waits for the libraries, on a fresh machine for their download too.
pytestmark = pytest.mark.timeout(600)

Java = Callable[[str], dict[str, Any]]
EVERY = [*range(1, 11)]
ODD = EVERY[::2]


def test_an_index_is_made_changed_and_deleted(java: Java) -> None:
    # search §1.2, §1.4, §1.5
    seen = java("searches")
    assert seen["described"] == {
        "fields": [
            *("l LONG", "k KEYWORD", "f FUZZY_KEYWORD", "t TEXT", "ip IP", "g GEO_POINT"),
            *("date DATE", "v VECTOR", "o NESTED"),
        ],
        "phase": "INCR",
        "ttl": 900000,
    }
    assert seen["changed"] == 8000000
    assert seen["left"] == []


def test_queries_of_every_type(java: Java) -> None:
    # search §4: DOUBLE bounds of a LONG, dates without seconds, networks of addresses
    assert java("searches")["queries"] == {
        "all": [10, EVERY],
        "match": [10, EVERY],
        "phrase": [1, [3]],
        "term": [5, ODD],
        "terms": [2, [1, 2]],
        "range": [2, [1, 2]],
        "dates": [2, [1, 2]],
        "prefix": [5, EVERY[1::2]],
        "suffix": [5, ODD],
        "wildcard": [2, [1, 10]],
        "exists": [10, EVERY],
        "net": [5, ODD],
        "bool": [4, ODD[1:]],
        "const": [5, ODD],
        "functions": [5, ODD],
        "nested": [2, [9, 10]],
        "box": [2, [1, 2]],
        "distance": [2, [1, 2]],
        "polygon": [2, [1, 2]],
        "nearest": [2, [3, 5]],
    }


def test_pages_lead_to_the_end(java: Java) -> None:
    # search §5.2; §4.3: no score is not a number
    assert java("searches")["orders"] == {
        "first": [8, 9, 10],
        "column": 10,
        "score": True,
        "pages": [3, 3, 3, 1],
    }


def test_aggregations_and_groups(java: Java) -> None:
    # search §6
    assert java("searches")["breakdown"] == {
        "metrics": [5.5, 55.0, 10.0, 1.0, 10, 2],
        "top": [1, 2],
        "field": [["even", 5, 2.0], ["odd", 5, 1.0]],
        "range": [3, 7],
    }


def test_a_scan_sees_every_row(java: Java) -> None:
    # search §7
    assert java("searches")["scanned"] == {"splits": 1, "pages": [7, 3, 0]}
