"""What rows of typed tables cost through the embedded API, in rows for each second of CPU time.

    python -m bench.nosql [--runs 5] [--rows 20000] [--json]

One process, one thread, a store in a temporary directory. The table has a key of STRING and INTEGER
(shard key: the STRING), a STRING, an ENUM, an INTEGER and a DOUBLE; a thousand rows lie in a shard.
CPU time is the whole process's, the engine's own threads included; each line is the median of its
runs. What is decoded is said on each line.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table as Screen

from widerow import __version__, nosql

SHARD_ROWS: Final = 1000
GOALS: Final = {"multi_get": 200_000, "put_many": 40_000}


class Line(NamedTuple):
    """One measured case; `goal` is 0 where there is none."""

    case: str
    what: str
    rows_per_cpu_second: float
    goal: int


def rows(count: int) -> list[dict[str, Any]]:
    """The rows of a run, a thousand in each shard."""
    return [
        {
            "shard": f"shard {number // SHARD_ROWS}",
            "id": number,
            "name": f"product {number}",
            "color": "green",
            "count": number,
            "price": number / 7,
        }
        for number in range(count)
    ]


def create(store: nosql.TypedStore) -> nosql.TableHandle:
    """The table of the runs."""
    builder = nosql.TableBuilder("products").add_field("shard", nosql.STRING)
    builder.add_field("id", nosql.INTEGER).add_field("name", nosql.STRING)
    builder.add_field("color", nosql.enum_of(["blue", "green", "red"]))
    builder.add_field("count", nosql.INTEGER).add_field("price", nosql.DOUBLE)
    return store.create_table(builder.primary_key("shard", "id").shard_key("shard").build())


def shards(table: nosql.TableHandle, count: int) -> Iterator[list[nosql.Row]]:
    """Every shard, read with one multi_get each."""
    for number in range(count // SHARD_ROWS):
        yield table.multi_get({"shard": f"shard {number}"})


def read_lazily(table: nosql.TableHandle, count: int) -> int:
    """Rows found and not looked at: keys and records, which decode when they are."""
    return sum(map(len, shards(table, count)))


def read_values(table: nosql.TableHandle, count: int) -> int:
    """Every field of every row decoded."""
    return sum(len(row.values_in_order()) > 0 for found in shards(table, count) for row in found)


def read_dictionaries(table: nosql.TableHandle, count: int) -> int:
    """Every row as a dictionary."""
    return sum(len(row.to_dict()) > 0 for found in shards(table, count) for row in found)


def get_each(table: nosql.TableHandle, count: int) -> int:
    """Every row by its whole key, one field looked at."""
    found = 0
    for number in range(count):
        row = table.get({"shard": f"shard {number // SHARD_ROWS}", "id": number})
        found += row is not None and row["count"] == number
    return found


def measure(act: Callable[[], int], count: int) -> float:
    """Rows for each second of CPU time. Raises if the act did not meet every row."""
    began = time.process_time()
    met = act()
    passed = time.process_time() - began
    if met != count:
        raise RuntimeError(f"{met} rows instead of {count}")
    return count / passed


def run_once(count: int) -> dict[str, float]:
    """Every case once, on a new store."""
    given = rows(count)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "store"
        with nosql.open(path, housekeeping=False) as store:
            table = create(store)
            return {
                "put_many, new rows": measure(lambda: len(table.put_many(given)), count),
                "put_many, replaced rows": measure(lambda: len(table.put_many(given)), count),
                "multi_get, rows not looked at": measure(lambda: read_lazily(table, count), count),
                "multi_get, every field": measure(lambda: read_values(table, count), count),
                "multi_get, dictionaries": measure(lambda: read_dictionaries(table, count), count),
                "get, one field": measure(lambda: get_each(table, count), count),
            }


def lines(runs: Sequence[dict[str, float]]) -> list[Line]:
    """The median of each case."""
    return [
        Line(
            case,
            what,
            statistics.median(run[name] for run in runs),
            GOALS.get(case, 0),
        )
        for name in runs[0]
        for case, _, what in [name.partition(", ")]
    ]


def show(measured: Sequence[Line]) -> None:
    """A table on the terminal."""
    screen = Screen("operation", "of", "rows per CPU second", "goal", box=box.SIMPLE)
    for line in measured:
        goal = f"{line.goal:,}" if line.goal else ""
        screen.add_row(line.case, line.what, f"{line.rows_per_cpu_second:,.0f}", goal)
    Console().print(screen)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=20_000, help="a multiple of 1000")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.rows < SHARD_ROWS or given.rows % SHARD_ROWS or given.runs < 1:
        parser.error("--rows is a multiple of 1000, --runs at least 1")
    numbers = range(given.runs)
    shown = numbers if given.json else track(numbers, "Measuring", transient=True)
    measured = lines([run_once(given.rows) for _ in shown])
    if given.json:
        document = {
            "version": __version__,
            "rows": given.rows,
            "runs": given.runs,
            "cases": [line._asdict() for line in measured],
        }
        print(json.dumps(document))
    else:
        show(measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
