"""What a test costs that uses widerow: `python -m bench.testkit [--json] [--rounds 30]`.

Two figures (docs/guide/testing.md). How long a reset takes that puts back an instance of 1,000
rows, over each embedded store; and how many tests a second pytest runs that make a table, write a
row and read it with the vendor's SDK through the fixtures. Of resets the quickest and the middle
one are told: on a busy machine the quickest says what the work costs.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from tablestore import (
    BatchWriteRowRequest,
    CapacityUnit,
    Condition,
    PutRowItem,
    ReservedThroughput,
    Row,
    RowExistenceExpectation,
    TableInBatchWriteRowItem,
    TableMeta,
    TableOptions,
)

from widerow.testing.instance import WiderowInstance
from widerow.testing.server import WiderowServer

__all__ = ["RESET_MS_GOAL", "TESTS_GOAL", "main", "reset_ms", "suite_rate"]

ROWS: Final = 1000
RESET_MS_GOAL: Final = 10.0
TESTS_GOAL: Final = 50.0
_BATCH: Final = 200
_SUITE: Final = """
import pytest
from tablestore import (
    CapacityUnit, Condition, ReservedThroughput, Row, RowExistenceExpectation, TableMeta,
    TableOptions,
)

@pytest.mark.parametrize("number", range({count}))
def test_row(tablestore_client, number):
    tablestore_client.create_table(
        TableMeta("t", [("id", "INTEGER")]),
        TableOptions(),
        ReservedThroughput(CapacityUnit(0, 0)),
    )
    key, ignore = [("id", number)], Condition(RowExistenceExpectation.IGNORE)
    tablestore_client.put_row("t", Row(key, [("v", number)]), ignore)
    assert tablestore_client.get_row("t", key)[1].attribute_columns[0][1] == number
"""
_TOOK: Final = re.compile(r"(\d+) passed in (\d+\.\d+)s")


def reset_ms(path: Path | None, rounds: int) -> list[float]:
    """Milliseconds of each reset, ascending. `path`: of a store on a disk; None: in memory."""
    with WiderowServer(path) as server:
        instance = WiderowInstance(server, "bench")
        _fill(instance.client())
        instance.keep("full")
        took = []
        for _ in range(rounds):
            began = time.perf_counter()
            instance.reset("full")
            took.append((time.perf_counter() - began) * 1000)
    return sorted(took)


def _fill(client: Any) -> None:  # noqa: ANN401  # the SDK has no types
    client.create_table(
        TableMeta("t", [("id", "INTEGER")]),
        TableOptions(),
        ReservedThroughput(CapacityUnit(0, 0)),
    )
    ignore = Condition(RowExistenceExpectation.IGNORE)
    for first in range(0, ROWS, _BATCH):
        rows = [
            PutRowItem(Row([("id", number)], [("name", f"row {number}"), ("v", number)]), ignore)
            for number in range(first, first + _BATCH)
        ]
        request = BatchWriteRowRequest()
        request.add(TableInBatchWriteRowItem("t", rows))
        client.batch_write_row(request)


def suite_rate(count: int) -> float:
    """How many of so many tests are run in a second, the server's start among them."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_rows.py").write_text(_SUITE.format(count=count))
        options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly")
        done = subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, "-m", "pytest", *options],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    found = _TOOK.search(done.stdout)
    if found is None or int(found[1]) != count:
        raise SystemExit(f"the tests did not pass:\n{done.stdout}{done.stderr}")
    return count / float(found[2])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and show. The exit code is 0 whether or not the goals are met."""
    parser = argparse.ArgumentParser(description="What a test costs that uses widerow.")
    parser.add_argument("--rounds", type=int, default=30, help="resets of each store")
    parser.add_argument("--tests", type=int, default=300, help="tests to run")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        resets = {
            "memory": reset_ms(None, given.rounds),
            "rocksdb": reset_ms(Path(folder) / "store", given.rounds),
        }
    rate = suite_rate(given.tests)
    if given.json:
        sys.stdout.write(json.dumps({"reset_ms": resets, "tests_per_second": rate}) + "\n")
        return
    shown = Table("measured", "quickest", "middle", "goal")
    for store, took in resets.items():
        middle = f"{statistics.median(took):.1f} ms"
        goal = f"≤ {RESET_MS_GOAL:.0f} ms"
        shown.add_row(f"reset of {ROWS} rows, {store}", f"{took[0]:.1f} ms", middle, goal)
    shown.add_row("tests a second", f"{rate:.0f}", "", f"≥ {TESTS_GOAL:.0f}")
    Console().print(shown)


if __name__ == "__main__":
    main()
