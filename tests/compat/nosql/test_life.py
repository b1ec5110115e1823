"""The life of the product tables through each of Oracle's NoSQL drivers, against `widerow serve`.

The programs in this directory print what they saw (life.json has what they ask for); here is what
is right. The server is killed in the middle (nosql-wire §4 to §7, nosql-model §4 to §7).
"""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from tests.compat.conftest import STORES
from tests.compat.nosql.conftest import DRIVERS, HERE
from tests.support.forked import ForkedServer

pytestmark = pytest.mark.timeout(900)  # the first of them may fetch a driver and build the program

FILE: Final = HERE / "life.json"
GIVEN: Final[Mapping[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
PROGRAM_SECONDS_MAX: Final = 300
CAP: Final = GIVEN["products"][3]
CHANGED: Final = GIVEN["changedCap"]

BEGIN: Final[Mapping[str, Any]] = {
    "states": [["CREATING", "ACTIVE"]] * 3 + [["UPDATING", "ACTIVE"]] * 3,
    "put": {"done": [True] * 5, "generated": [1, 2]},
    "conditions": {
        "absent": [False, CAP],
        "present": [True, False],
        "found": CAP,
        "changed": True,
        "stale": [False, CHANGED],
        "deleted": [False, False],
        "units": 2,
    },
    "expires": [True, True],
    "refused": {
        "table again": "TABLE_EXISTS",
        "index again": "INDEX_EXISTS",
        "column twice": "RESOURCE_EXISTS",
        "a key of no column": "RESOURCE_NOT_FOUND",
        "no statement": "ILLEGAL_ARGUMENT",
        "a parent": "ILLEGAL_ARGUMENT",
        "no such column": "ILLEGAL_ARGUMENT",
        "no such table": "TABLE_NOT_FOUND",
        "no query": "ILLEGAL_ARGUMENT",
        "get of no table": "TABLE_NOT_FOUND",
        "no such index": "INDEX_NOT_FOUND",
        "no such color": "ILLEGAL_ARGUMENT",
        "unknown column": "ILLEGAL_ARGUMENT",
        "half a key": "ILLEGAL_ARGUMENT",
        "half a shard key": "ILLEGAL_ARGUMENT",
        "long key": "KEY_SIZE_LIMIT_EXCEEDED",
        "large row": "ROW_SIZE_LIMIT_EXCEEDED",
        "two shards": "ILLEGAL_ARGUMENT",
    },
}
END: Final[Mapping[str, Any]] = {
    "kept": CHANGED,
    "generated": True,
    "definitions": {
        "tables": ["myProducts.stock", "myProducts", "orders"],
        "table": ["ACTIVE", 50],
        "limits": 60,
        "indexes": [["byCount", ["inventoryCount"]], ["byTag", ["details.tag"]]],
        "usage": 1,
    },
    "together": [[True, True, True], 1, GIVEN["shelves"][0]],
    "removed": [2, True, True, False],
    "dropped": [["UPDATING", "ACTIVE"], *[["DROPPING", "DROPPED"]] * 3],
    "gone": "TABLE_NOT_FOUND",
}


def named(*rows: tuple[str, str]) -> list[Any]:
    return [{"productName": name, "productClass": kind} for name, kind in rows]


ROWS: Final = (
    named(
        ("bowler", "felt"), ("bowler", "wool"), ("brim", "felt"), ("cap", "cotton"), ("bow", "silk")
    ),
    [
        {"productName": "cap", "inventoryCount": 1},
        {"productName": "bowler", "inventoryCount": 3},
        {"productName": "brim", "inventoryCount": 30},
    ],
    [{"productName": "bowler"}, {"productName": "bow"}],
    [
        {"color": "blue", "n": 2, "total": 4},
        {"color": "green", "n": 1, "total": 0},
        {"color": "red", "n": 1, "total": 30},
        {"n": 1},
    ],
    [{"second": 1.25}, {"of": {"b": True}}],
    [{"productClass": "wool"}],
    [{"productName": "cap", "inventoryCount": 2}],
    [{"note": "by a statement", "paid": False}],
    [{"numRowsDeleted": 1}],
    [{"counted": 30, "kept": 10}, {"counted": 30, "kept": 9007199254740991}],
)
"""What each query answers: NULL sorts last and is no number; a missing member of JSON is empty."""


def without_nulls(value: Any) -> Any:  # noqa: ANN401  # what JSON holds
    """Drivers differ in how they show NULL: as null, or not at all."""
    if isinstance(value, dict):
        return {name: without_nulls(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        return [without_nulls(each) for each in value]
    return value


def seen(command: list[str], endpoint: str, phase: str) -> dict[str, Any]:
    done = subprocess.run(  # noqa: S603  # our own programs
        [*command, endpoint, phase, str(FILE)],
        capture_output=True,
        text=True,
        timeout=PROGRAM_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    facts: dict[str, Any] = without_nulls(json.loads(done.stdout))
    return facts


def check_queries(answered: list[list[list[Any]]]) -> None:
    """Every query has its rows, in their order and in pages of no more than its limit."""
    for query, pages, rows in zip(GIVEN["queries"], answered, ROWS, strict=True):
        assert [row for page in pages for row in page] == rows, query
        sizes = [len(page) for page in pages]
        assert max(sizes) <= query.get("limit", len(rows)), query


@pytest.mark.parametrize("driver", DRIVERS)
def test_the_life_of_the_product_tables(driver: str, store: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    command = DRIVERS[driver](work)
    with ForkedServer(*STORES[store](tmp_path)) as server:
        assert seen(command, server.endpoint, "begin") == without_nulls(BEGIN)
        server.kill()
        server.start_again()
        after = seen(command, server.endpoint, "end")
        check_queries(after.pop("queries"))
        assert after == without_nulls(END)
        assert server.stop() == 0
