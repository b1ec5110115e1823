"""What a test costs that uses widerow: `python -m bench.testkit [--json] [--rounds 30]`.

Two figures (docs/guide/testing.md). How long a reset takes that puts back an instance of 1,000
rows, over each embedded store, without a search index and with one (then beside it the first search
behind it); and how many tests a second pytest runs that make a table, write a row and read it with
the vendor's SDK through the fixtures, once the first of them has begun. Beside them stands the
processor's time, all threads together, which a busy machine does not change.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.console import Console
from rich.table import Table
from tablestore import (
    BatchWriteRowRequest,
    CapacityUnit,
    ColumnsToGet,
    Condition,
    FieldSchema,
    FieldType,
    MatchAllQuery,
    PutRowItem,
    ReservedThroughput,
    Row,
    RowExistenceExpectation,
    SearchIndexMeta,
    SearchQuery,
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
import json
import time
from pathlib import Path
import pytest
from tablestore import (
    CapacityUnit, Condition, ReservedThroughput, Row, RowExistenceExpectation, TableMeta,
    TableOptions,
)

MOMENTS = Path("moments.json")

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
    moments = json.loads(MOMENTS.read_text()) if number else []
    MOMENTS.write_text(json.dumps([*moments[:1], [time.perf_counter(), time.process_time()]]))
"""


class Resets(NamedTuple):
    """Milliseconds of each reset, ascending, and of the processor for one of them.

    `searches`: of the first search behind each, ascending; empty where there is no search index.
    """

    took: list[float]
    processor: float
    searches: list[float]


class Rates(NamedTuple):
    """Tests in a second, and in a second of the processor."""

    by_clock: float
    by_processor: float


def reset_ms(path: Path | None, rounds: int, *, searched: bool = False) -> Resets:
    """Put an instance back so many times. `path`: of a store on a disk; None: in memory."""
    with WiderowServer(path) as server:
        instance = WiderowInstance(server, "bench")
        client = instance.client()
        _fill(client)
        if searched:
            fields = [FieldSchema("name", FieldType.KEYWORD), FieldSchema("v", FieldType.LONG)]
            client.create_search_index("t", "x", SearchIndexMeta(fields))
            _search(client)
        instance.keep("full")
        took, searches, used = [], [], 0.0
        for _ in range(rounds):
            began, begun = time.perf_counter(), time.process_time()
            instance.reset("full")
            took.append((time.perf_counter() - began) * 1000)
            used += time.process_time() - begun
            if searched:
                began = time.perf_counter()
                _search(client)
                searches.append((time.perf_counter() - began) * 1000)
    return Resets(sorted(took), used * 1000 / rounds, sorted(searches))


def _search(client: Any) -> None:  # noqa: ANN401  # the SDK has no types
    query = SearchQuery(MatchAllQuery(), limit=1, get_total_count=True)
    if client.search("t", "x", query, ColumnsToGet()).total_count != ROWS:
        raise SystemExit("the search did not find all rows")


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


def suite_rate(count: int) -> Rates:
    """How quickly so many tests are run behind the first one; 2 at least."""
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
        if f"{count} passed" not in done.stdout:
            raise SystemExit(f"the tests did not pass:\n{done.stdout}{done.stderr}")
        first, last = json.loads((Path(folder) / "moments.json").read_text())
    return Rates(*[(count - 1) / (end - begin) for begin, end in zip(first, last, strict=True)])


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
            "memory, searched": reset_ms(None, given.rounds, searched=True),
            "rocksdb, searched": reset_ms(Path(folder) / "found", given.rounds, searched=True),
        }
    rate = suite_rate(given.tests)
    if given.json:
        told = {store: each._asdict() for store, each in resets.items()}
        sys.stdout.write(json.dumps({"reset_ms": told, "suite_rate": rate._asdict()}) + "\n")
        return
    shown = Table("measured", "quickest", "middle", "processor", "goal")
    for store, (took, processor, searches) in resets.items():
        figures = [f"{each:.1f} ms" for each in (took[0], statistics.median(took), processor)]
        shown.add_row(f"reset of {ROWS} rows, {store}", *figures, f"≤ {RESET_MS_GOAL:.0f} ms")
        if searches:
            behind = [f"{each:.1f} ms" for each in (searches[0], statistics.median(searches))]
            shown.add_row(f"first search behind it, {store}", *behind, "", "")
    by_clock, by_processor = (f"{each:.0f}" for each in rate)
    shown.add_row("tests a second", "", by_clock, by_processor, f"≥ {TESTS_GOAL:.0f}")
    Console().print(shown)


if __name__ == "__main__":
    main()
