"""What one split and one merge of a region of HBase cost whoever writes at that moment.

    python -m tools.region_changes [--times 5] [--writers 8] [--json] [--store URL]

Writers write single rows all over one table without a pause, by way of the store that a server has;
regions are split in the middle of it and merged again, one after the other. The time of a change is
that from the moment at which HBase begins it until it says that it is over. One HBase with one
region server is started, unless `--store` names a table of another.
"""

import argparse
import json
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from time import monotonic, sleep
from typing import Any, Final, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table as Screen
from tools.cluster.hbase import store_url

from widerow.errors import StoreBusy
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import row_prefix
from widerow.storage.hbase.opening import open_hbase
from widerow.storage.interface import Store
from widerow.storage.placement import DataPlacement

KEYS: Final = 10_000
MIDDLE: Final = row_prefix(1) + encode_key_value(KEYS // 2)
QUIET_SECONDS: Final = 3.0  # before a change, for comparison
POLL_SECONDS: Final = 0.02


class Change(NamedTuple):
    """One change: how long it took, how long HBase asked to wait first, and writes beside it."""

    kind: str
    seconds: float
    waited: float
    writes: int
    slowest_ms: float
    slowest_before_ms: float


class Writers:
    """Threads that write. A write that fails ends the run."""

    def __init__(self, store: Store, count: int) -> None:
        """They begin with `run`."""
        self.over = threading.Event()
        self._store = store
        self._count = count
        self._lock = threading.Lock()
        self._took: list[float] = []

    def write(self, number: int) -> None:
        """What one of them does."""
        turn = number
        while not self.over.is_set():
            shard = row_prefix(1) + encode_key_value(turn * 7919 % KEYS)
            began = monotonic()
            self._store.transact((shard,), lambda txn, key=shard: txn.put(key, b"x" * 200))  # type: ignore[misc]  # a default that is never given
            with self._lock:
                self._took.append(monotonic() - began)
            turn += self._count

    def taken(self) -> list[float]:
        """How long the writes took that ended since this was asked last."""
        with self._lock:
            took, self._took = self._took, []
        return took


def changed(placement: DataPlacement, kind: str, writers: Writers) -> Change:
    """Have one change made while they write."""
    began, number = monotonic(), None
    begin = {"split": placement.begin_split, "merge": placement.begin_merge}[kind]
    while number is None:
        try:
            number = begin(MIDDLE)
            assert number is not None, "every change is the opposite of the one before"
        except StoreBusy:
            sleep(POLL_SECONDS)
    waited, began = monotonic() - began, monotonic()
    before = writers.taken()
    while not placement.has_ended(number):
        sleep(POLL_SECONDS)
    seconds = monotonic() - began
    sleep(QUIET_SECONDS)  # until those that waited have ended
    took = writers.taken()
    return Change(kind, seconds, waited, len(took), 1000 * max(took), 1000 * max(before))


def run(store: Store, times: int, count: int) -> Iterator[Change]:
    """Split and merge so many times."""
    placement = store.placement
    assert placement is not None
    writers = Writers(store, count)
    with ThreadPoolExecutor(count) as threads:
        working = [threads.submit(writers.write, number) for number in range(count)]
        try:
            for kind in ("split", "merge") * times:
                sleep(QUIET_SECONDS)
                yield changed(placement, kind, writers)
        finally:
            writers.over.set()
            for done in working:
                done.result()


def document(changes: list[Change]) -> dict[str, Any]:
    """The run, and its middle and largest values by kind."""
    found: dict[str, Any] = {"changes": [each._asdict() for each in changes]}
    for kind in ("split", "merge"):
        of = [each for each in changes if each.kind == kind]
        found[kind] = {
            "times": len(of),
            "seconds_median": round(median(each.seconds for each in of), 2),
            "seconds_max": round(max(each.seconds for each in of), 2),
            "slowest_write_ms_median": round(median(each.slowest_ms for each in of)),
            "slowest_write_ms_max": round(max(each.slowest_ms for each in of)),
            "slowest_write_before_ms_median": round(median(each.slowest_before_ms for each in of)),
        }
    return found


def show(found: dict[str, Any]) -> None:
    """The result as a table."""
    screen = Screen(box=box.SIMPLE, title="One change of a region, while it is written")
    for heading in ("", "times", "takes s", "most s", "slowest write ms", "most ms", "without ms"):
        screen.add_column(heading, justify="right")
    for kind in ("split", "merge"):
        screen.add_row(kind, *[str(value) for value in found[kind].values()])
    Console().print(screen)


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--store", help="hbase://HOST:PORT/TABLE of a cluster that runs")
    asked = parser.parse_args()
    with store_url(asked.store, 1, "changes") as url, open_hbase(url) as store:
        found = document(list(run(store, asked.times, asked.writers)))
    if asked.json:
        print(json.dumps(found))
    else:
        show(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
