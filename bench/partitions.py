"""Partitions under a skewed load: do they split until none holds too much, and merge afterwards?

    python -m bench.partitions [--zipf 60] [--append 30] [--keys 10000] [--json]

One `widerow serve` on RocksDB, one table, one load after another: writes of keys drawn from Zipf's
distribution (0.99, popular keys scattered), then new rows in the order of their keys, then nothing
until the partitions have merged. Thresholds are lower than the defaults, so that minutes show what
takes hours otherwise. A request that fails ends the run; the table shows how many were answered.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench.builtin import send
from bench.choosers import Zipfian
from bench.rows import source
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table as Screen
from tests.support.buffers import cell, row_buffer
from tests.support.http import Sender, Wire
from tests.support.requests import ANY

from widerow.cli.partitions import fetch
from widerow.testing.process import WiderowProcess
from widerow.wire.tablestore import messages as m

INSTANCE: Final = "bench"
TABLE: Final = "skewed"
CONNECTIONS: Final = 32
SPLIT_UNITS: Final = 250
SLICE_SECONDS: Final = 5.0  # between two looks
FLAGS: Final = (
    *("--partition-split-units", str(SPLIT_UNITS)),
    *("--partition-hot-seconds", "3"),
    *("--partition-cold-seconds", "5"),
)
IDLE_SECONDS_MAX: Final = 240.0
KEY_SHARE_MAX: Final = 0.5  # a partition of which one key takes more is as small as it can be
_SENDER: Final = Sender(instance=INSTANCE)
_MEAN_FOR: Final = 2.0  # a share is "more than twice" above it

Document = dict[str, Any]


class Look(NamedTuple):
    """The partitions at one moment. Shares are in fair shares: 1.0 is the table's load / n."""

    phase: str
    second: float
    answered: int
    partitions: int
    largest: float
    largest_divisible: float
    reports: str


def put(number: int) -> bytes:
    """A signed PutRow of a row of 100 bytes under the integer key `number`."""
    row = row_buffer([("k", number)], [cell("v", "x" * 100)])
    request = m.PutRowRequest(table_name=TABLE, row=row, condition=ANY)
    return _SENDER.request("PutRow", request.SerializeToString())


def create() -> bytes:
    """A signed CreateTable."""
    return _SENDER.request(
        "CreateTable",
        m.CreateTableRequest(
            table_meta=m.TableMeta(
                table_name=TABLE, primary_key=[m.PrimaryKeySchema(name="k", type=1)]
            ),
            reserved_throughput=m.ReservedThroughput(capacity_unit=m.CapacityUnit(read=0, write=0)),
            table_options=m.TableOptions(time_to_live=-1, max_versions=1),
        ).SerializeToString(),
    )


def look(endpoint: str, phase: str, second: float, answered: int) -> Look:
    """Ask the server for its partitions."""
    found = fetch(
        TABLE,
        {
            "endpoint": endpoint,
            "instance": INSTANCE,
            "access_key_id": "widerow",
            "access_key_secret": "widerow",
            "path": None,
            "history": False,
        },
    )
    reports = ", ".join(sorted({each["reason"] for each in found["reports"]}))
    return judged(found["partitions"], Look(phase, second, answered, 0, 0, 0, reports))


def judged(partitions: Sequence[Document], seen: Look) -> Look:
    """Fill in what the partitions carry, in fair shares."""
    count = len(partitions)
    return seen._replace(
        partitions=count,
        largest=max(each["share"] for each in partitions) * count,
        largest_divisible=max(map(_divisible_share, partitions)) * count,
    )


def _divisible_share(partition: Document) -> float:
    """The share of a partition that a split could make smaller; 0 where keys do not allow it."""
    top = partition["top_keys"][:1]
    alone = bool(top) and top[0]["share"] > KEY_SHARE_MAX
    growing = partition["append_share"] > KEY_SHARE_MAX
    return 0.0 if alone or growing else float(partition["share"])


def run(zipf_seconds: float, append_seconds: float, keys: int) -> Iterator[Look]:
    """The three phases, a look every few seconds. Raises if a request fails."""
    with (
        tempfile.TemporaryDirectory() as directory,
        WiderowProcess("--path", str(Path(directory) / "store"), *FLAGS) as server,
    ):
        with Wire(server.endpoint) as wire:
            assert wire.ask(create()).status == 200
        chooser = Zipfian(source(), keys)
        skewed = [put(chooser.choose(keys)) for _ in track(range(30_000), "zipf", transient=True)]
        rate = 0.0
        for seen in drive(server.endpoint, "zipf", skewed, zipf_seconds):
            rate = max(rate, seen.answered / SLICE_SECONDS)
            yield seen
        count = int(rate * append_seconds * 2)
        ordered = [put(keys + each) for each in track(range(count), "append", transient=True)]
        yield from drive(server.endpoint, "append", ordered, append_seconds)
        yield from rest(server.endpoint)


def drive(endpoint: str, phase: str, requests: Sequence[bytes], seconds: float) -> Iterator[Look]:
    """Send for so long, each slice going on where the one before ended."""
    sent = 0
    for number in range(1, max(1, round(seconds / SLICE_SECONDS)) + 1):
        took, _ = send(endpoint, [*requests[sent:], *requests[:sent]], CONNECTIONS, SLICE_SECONDS)
        sent = (sent + len(took)) % len(requests)
        yield look(endpoint, phase, number * SLICE_SECONDS, len(took))


def rest(endpoint: str) -> Iterator[Look]:
    """Nothing is asked until one partition is left."""
    second = 0.0
    while second < IDLE_SECONDS_MAX:
        time.sleep(SLICE_SECONDS)
        second += SLICE_SECONDS
        seen = look(endpoint, "idle", second, 0)
        yield seen
        if seen.partitions == 1:
            return


def document(looks: Sequence[Look]) -> Document:
    """What the run showed, and whether it is what was promised."""
    zipf = [each for each in looks if each.phase == "zipf"]
    append = [each for each in looks if each.phase == "append"]
    return {
        "split_units": SPLIT_UNITS,
        "requests_answered": sum(each.answered for each in looks),
        "requests_failed": 0,  # one that fails ends the run with an error
        "most_partitions": max(each.partitions for each in looks),
        "zipf_largest_divisible_fair_shares": round(zipf[-1].largest_divisible, 2),
        "zipf_balanced": zipf[-1].largest_divisible <= _MEAN_FOR,
        "append_reported": any("keys-grow" in each.reports for each in append),
        "merged": looks[-1].partitions == 1,
        "looks": [each._asdict() for each in looks],
    }


def show(looks: Iterable[Look], found: Document) -> None:
    """The run as a table, and its result in words."""
    screen = Screen(box=box.SIMPLE, title="Partitions under a skewed load")
    for heading in (
        "phase",
        "second",
        "requests/s",
        "partitions",
        "largest",
        "divisible",
        "reported",
    ):
        screen.add_column(heading, justify="left" if heading in ("phase", "reported") else "right")
    for each in looks:
        screen.add_row(
            each.phase,
            f"{each.second:.0f}",
            f"{each.answered / SLICE_SECONDS:,.0f}",
            str(each.partitions),
            f"{each.largest:.2f}",
            f"{each.largest_divisible:.2f}",
            each.reports,
        )
    console = Console()
    console.print(screen)
    console.print(
        "largest, divisible: in fair shares of the load; the latter where keys allow a split"
    )
    for name in ("requests_answered", "requests_failed", "most_partitions", "zipf_balanced"):
        console.print(f"{name.replace('_', ' ')}: {found[name]}")
    for name in ("append_reported", "merged"):
        console.print(f"{name.replace('_', ' ')}: {found[name]}")


def main() -> int:
    """Run and print; 1 if the partitions did not do what they should."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--zipf", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--append", type=float, default=30.0, metavar="SECONDS")
    parser.add_argument("--keys", type=int, default=10_000, metavar="NUMBER")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    arguments = parser.parse_args()
    looks = list(run(arguments.zipf, arguments.append, arguments.keys))
    found = document(looks)
    if arguments.json:
        sys.stdout.write(json.dumps(found) + "\n")
    else:
        show(looks, found)
    return 0 if found["zipf_balanced"] and found["append_reported"] and found["merged"] else 1


if __name__ == "__main__":
    sys.exit(main())
