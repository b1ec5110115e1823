"""Searches through the vendor's Go SDK, which dereferences what answers lack (search §9, G)."""

from collections.abc import Callable
from typing import Any

import pytest

# The first test waits for the build, on a fresh machine for the download of the SDK too.
pytestmark = pytest.mark.timeout(600)

Go = Callable[[str], dict[str, Any]]


def refused(message: str, code: str = "OTSParameterInvalid") -> dict[str, Any]:
    return {"status": 400, "code": code, "message": message, "request id": 36}


def test_indexes_are_described_and_listed(go: Go) -> None:
    # search §1.2: date formats in their order, the primary key as the order, the expiry
    seen = go("searches")
    described = seen["described"]
    assert described["fields"] == [
        *(["l", 1, None], ["d", 2, None], ["k", 4, None], ["b", 3, None], ["g", 7, None]),
        *(["t", 5, None], ["date", 8, ["yyyy-MM-dd", "epoch_millis"]], ["la", 1, None]),
        ["v", 9, None],
    ]
    assert (described["sorters"], described["ttl"], described["phase"]) == (1, 864000, "INCR")
    assert described["rows"] == 10
    assert seen["listed"] == [["searched", "nested"], ["searched", "x"]]


def test_queries_of_every_type(go: Go) -> None:
    # search §4.1, §4.6, §4.8
    every = [*range(1, 11)]
    assert go("searches")["queries"] == {
        "all": [10, every],
        "match": [10, every],
        "phrase": [1, [3]],
        "term": [1, [3]],
        "terms": [5, every[::2]],
        "range": [4, [2, 3, 4, 5]],
        "prefix": [5, every[1::2]],
        "wildcard": [5, every[::2]],
        "exists": [10, every],
        "bool": [3, [5, 7, 9]],
        "const": [1, [7]],
        "function": [10, every],
        "box": [4, [1, 2, 3, 4]],
        "distance": [3, [1, 2, 3]],
        "polygon": [5, [1, 2, 3, 4, 5]],
        "date": [1, [10]],
        "nearest": [2, [2, 3]],
    }


def test_orders_marks_and_collapse(go: Go) -> None:
    # search §5.1, §5.2, §5.5, §5.6, §4.5
    seen = go("searches")["orders"]
    assert seen["tied"] < 5, "rows that compare equal are lost without the primary key"
    assert seen["whole"] == [1, 3, 5, 7, 9]
    assert seen["best"] == [[3], 2.0]
    assert seen["unscored"] is True
    assert seen["highlighted"] == ["&lt;em&gt;<b>street</b>&lt;&#x2F;em&gt; 1"]
    assert seen["collapsed"] == [1, 2]
    assert seen["total"] == -1


def test_metrics(go: Go) -> None:
    # search §6.2: sums are exact, and an empty set has no value
    seen = go("searches")["metrics"]
    assert seen["values"] == [4.6, 46.0, 10.0, 1.0, 20, 2]
    assert seen["empty"] == [False, False, False, 0.0]
    assert seen["percentiles"] == [50.0, 5]
    assert seen["top"] == 2


def test_groups(go: Go) -> None:
    # search §6.3: orders, bounds, and zeros
    assert go("searches")["groups"] == {
        "field": [["odd", 5, 2], ["even", 5, 1]],
        "range": [["-Inf", "3", 2], ["3", "4", 1], ["4", "+Inf", 7]],
        "filter": [4, 0],
        "distance": [["100", "5000", 4], ["0", "100", 1], ["5000", "+Inf", 5]],
        "histogram": [[0, 4], [5, 5], [10, 1]],
        "date": [10, 1704067200000, 1],
        "grid": ["wtm", 10, 30.9375],
        "composite": [["s1", "s2"], 4, True],
    }


def test_documents_below_rows(go: Go) -> None:
    # search §4.4, §5.1: two levels with their marks; no token where fields are nested
    assert go("searches")["nested"] == {
        "path": "o",
        "offset": 0,
        "marked": ["<b>dengcai</b> street 1"],
        "total": 2,
        "token": 0,
    }


def test_a_scan_sees_every_row(go: Go) -> None:
    # search §7
    assert go("searches")["scanned"] == {"splits": 1, "pages": [7, 3, 0], "keys": 10}


def test_refusals(go: Go) -> None:
    # search §8
    assert go("searches")["refused"] == {
        "no index": refused("search index [none] does not exist", "OTSMetaNotMatch"),
        "no field": refused(
            "failed to query index, please check the request parameter: "
            "field [unknown] does not exist"
        ),
        "no options": refused("[search index splits options] must not be null"),
        "boolean": refused("[sum agg] field_name:b type:boolean is invalid, allow [long, double]"),
        "twice": refused("[agg] name:a is duplicated"),
    }


def test_indexes_change_places_and_go(go: Go) -> None:
    # search §1.4, §1.5
    assert go("searches")["changed"] == {
        "ttl": 604800,
        "weights": [["x", 0], ["x_reindex", 100]],
        "switched": [1, 9],
        "left": [],
    }
