"""A table that grows over several servers: from one partition to many, on every region server.

    python -m tools.growth [--partitions 12] [--seconds 240] [--json] [--store URL]

Three `widerow serve` over one HBase with three region servers (one of its own, unless `--store`
names a table of another), and clients of all three that write new rows and read some of them
without a pause. The rules have low thresholds, so that they divide in minutes what takes days
otherwise, and HBase a short pause between balances. Fails if a request fails, or if in the end
there are fewer partitions than asked for, a partition is no region of its own, a region server has
none, or a row that was acknowledged is not there.

A request fails where an SDK would give it up: `OTSServerBusy` is asked again, as all SDKs do, and
counted as repeated.
"""

import argparse
import json
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from time import monotonic, sleep
from typing import Any, Final, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table as Screen
from tests.support.buffers import cell, row_buffer
from tests.support.http import Answer, Sender, Wire
from tests.support.requests import ANY
from tools.cluster.hbase import store_url

from widerow.cli.partitions import fetch
from widerow.testing.process import WiderowProcess
from widerow.wire.tablestore import messages as m

SERVERS: Final = 3
CLIENTS: Final = 12  # a third at each server
INSTANCE: Final = "growth"
TABLE: Final = "growing"
SPLIT_UNITS: Final = 4  # of one server's load: only what the holder of the lease sees counts
LOOK_SECONDS: Final = 5.0
REPEATS_MAX: Final = 20  # as the SDKs
REPEAT_SECONDS: Final = 0.1
READS: Final = 4  # one request in so many is a read
ANSWER_SECONDS: Final = 60.0
_SENDER: Final = Sender(instance=INSTANCE)
_BUSY: Final = frozenset(("OTSServerBusy", "OTSPartitionUnavailable", "OTSTimeout"))
_SPREAD: Final = 0x9E3779B97F4A7C15  # an odd number: its multiples lie all over 64 bits

Document = dict[str, Any]


class Look(NamedTuple):
    """The table at one moment: what was answered since the last one, and where it is."""

    second: float
    answered: int
    slowest_ms: float
    repeated: int
    partitions: int
    pending: int
    regions: dict[str, int]


class Load:
    """What the clients do and what comes of it. Any thread."""

    def __init__(self, endpoints: Sequence[str]) -> None:
        """Clients of these servers; they begin with `running`."""
        self.acknowledged: list[list[int]] = [[] for _ in range(CLIENTS)]
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []
        self._endpoints = endpoints
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._slowest = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let all clients work meanwhile."""
        with ThreadPoolExecutor(CLIENTS) as threads:
            working = [threads.submit(self._work, number) for number in range(CLIENTS)]
            try:
                yield
            finally:
                self._over.set()
                for done in working:
                    done.result()

    def taken(self) -> tuple[int, float, int]:
        """Requests answered and repeated so far, and the slowest since this was asked last."""
        with self._lock:
            slowest, self._slowest = self._slowest, 0.0
            return self.counts["answered"], slowest, self.counts["repeated"]

    def missing(self) -> int:
        """How many rows that were acknowledged are not there."""
        with ThreadPoolExecutor(CLIENTS) as threads:
            return sum(threads.map(self._missing, range(CLIENTS)))

    def _work(self, number: int) -> None:
        turn = 0
        with Wire(self._endpoints[number % SERVERS], ANSWER_SECONDS) as wire:
            while not self._over.is_set():
                key, mine = key_of(number, turn), self.acknowledged[number]
                if mine and turn % READS == READS - 1:
                    self._ask(wire, "GetRow", get(mine[turn * 31 % len(mine)]))
                elif self._ask(wire, "PutRow", put(key)) is not None:
                    mine.append(key)
                turn += 1

    def _missing(self, number: int) -> int:
        """Ask the next server, which has not written them."""
        with Wire(self._endpoints[(number + 1) % SERVERS], ANSWER_SECONDS) as wire:
            found = [self._ask(wire, "GetRow", get(key)) for key in self.acknowledged[number]]
        return sum(answer is None or not answered_row(answer) for answer in found)

    def _ask(self, wire: Wire, action: str, body: bytes) -> Answer | None:
        """The answer; None where the request failed."""
        began, told = monotonic(), ""
        for _ in range(REPEATS_MAX):
            answer = wire.ask(_SENDER.request(action, body))
            if answer.status == 200:
                self._count("answered", monotonic() - began)
                return answer
            told = f"{action}: {answer.error}"
            if answer.error[1] not in _BUSY:
                break
            self._count("repeated")
            sleep(REPEAT_SECONDS)
        self._count("failed")
        self.failures.append(told)
        return None

    def _count(self, what: str, seconds: float = 0.0) -> None:
        with self._lock:
            self.counts[what] += 1
            self._slowest = max(self._slowest, seconds)


def key_of(number: int, turn: int) -> int:
    """The key that a client writes in its turn: each once, all over the key space."""
    return (turn * CLIENTS + number + 1) * _SPREAD % 2**64 - 2**63


def put(key: int) -> bytes:
    """PutRow of a row of 200 bytes."""
    row = row_buffer([("k", key)], [cell("v", "x" * 200)])
    return m.PutRowRequest(table_name=TABLE, row=row, condition=ANY).SerializeToString()


def get(key: int) -> bytes:
    """GetRow of that row."""
    row = row_buffer([("k", key)], [])
    request = m.GetRowRequest(table_name=TABLE, primary_key=row, max_versions=1)
    return request.SerializeToString()


def answered_row(answer: Answer) -> bool:
    """Whether an answer to GetRow has a row."""
    return bool(m.GetRowResponse.FromString(answer.body).row)


def create() -> bytes:
    """A signed CreateTable of one partition."""
    key = [m.PrimaryKeySchema(name="k", type=1)]
    request = m.CreateTableRequest(
        table_meta=m.TableMeta(table_name=TABLE, primary_key=key),
        reserved_throughput=m.ReservedThroughput(capacity_unit=m.CapacityUnit(read=0, write=0)),
        table_options=m.TableOptions(time_to_live=-1, max_versions=1),
    )
    return _SENDER.request("CreateTable", request.SerializeToString())


def shown(endpoint: str) -> list[Document]:
    """The partitions, as `widerow partitions` has them."""
    flags = {"endpoint": endpoint, "instance": INSTANCE, "path": None, "history": False}
    keys = {"access_key_id": "widerow", "access_key_secret": "widerow"}
    found: list[Document] = fetch(TABLE, {**flags, **keys})["partitions"]
    return found


def regions_of(partitions: Sequence[Document]) -> dict[str, int]:
    """Partitions by the region server that has them; those that are on several count at each."""
    servers = [each["address"] for part in partitions for each in part["servers"]]
    return dict(sorted(Counter(servers).items()))


def watch(endpoints: Sequence[str], load: Load, seconds: float, partitions: int) -> Iterator[Look]:
    """A look every few seconds, until all is as it should be or the time is over."""
    began, before = monotonic(), 0
    while True:
        sleep(LOOK_SECONDS)
        answered, slowest, repeated = load.taken()
        found, left = shown(endpoints[0]), pending(endpoints)
        regions, second = regions_of(found), round(monotonic() - began, 1)
        counts = answered - before, round(1000 * slowest, 1), repeated
        yield Look(second, *counts, len(found), left, regions)
        before = answered
        grown = len(found) >= partitions and len(regions) == SERVERS and left == 0
        if grown or second > seconds:
            return


def pending(endpoints: Sequence[str]) -> int:
    """Changes of regions still to be made, as the servers' metrics say."""
    return sum(metric(endpoint, "widerow_range_changes_pending") for endpoint in endpoints)


def metric(endpoint: str, name: str) -> int:
    """The sum of a metric of a server."""
    with Wire(endpoint) as wire:
        wire.send(b"GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        lines = wire.read().body.decode().splitlines()
    return sum(int(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


def run(url: str, seconds: float, partitions: int) -> Document:
    """The whole run, as one document."""
    flags = (
        *("--store", url, "--partition-split-units", str(SPLIT_UNITS)),
        *("--partition-hot-seconds", "2", "--partitions-max", str(partitions)),
    )
    with ExitStack() as servers:
        processes = [servers.enter_context(WiderowProcess(*flags)) for _ in range(SERVERS)]
        endpoints = [process.endpoint for process in processes]
        with Wire(endpoints[0], ANSWER_SECONDS) as wire:
            assert wire.ask(create()).status == 200
        load = Load(endpoints)
        with load.running():
            looks = list(watch(endpoints, load, seconds, partitions))
        last = shown(endpoints[0])
        return {
            "servers": SERVERS,
            "clients": CLIENTS,
            "requests_answered": load.counts["answered"],
            "requests_repeated": load.counts["repeated"],
            "requests_failed": load.counts["failed"],
            "failures": load.failures[:10],
            "slowest_ms": max(each.slowest_ms for each in looks),
            "pending": pending(endpoints),
            "partitions": len(last),
            "regions": regions_of(last),
            "rows_acknowledged": sum(map(len, load.acknowledged)),
            "rows_missing": load.missing(),
            "range_changes": {
                end: sum(
                    metric(each, f'widerow_range_changes_total{{kind="{kind}",end="{end}"}}')
                    for each in endpoints
                    for kind in ("split", "merge")
                )
                for end in ("done", "failed")
            },
            "looks": [each._asdict() for each in looks],
        }


def is_good(found: Document, partitions: int) -> bool:
    """Whether the run showed what it is to show."""
    return (
        found["requests_failed"] == found["rows_missing"] == 0
        and found["partitions"] >= partitions
        and found["pending"] == 0
        and len(found["regions"]) == SERVERS
    )


def show(found: Document) -> None:
    """The run as a table, and its result in words."""
    screen = Screen(box=box.SIMPLE, title="A table that grows over three region servers")
    for heading in (
        "second",
        "requests/s",
        "slowest ms",
        "repeated",
        "partitions",
        "pending",
        "regions",
    ):
        screen.add_column(heading, justify="right")
    before = 0.0
    for each in found["looks"]:
        rate = each["answered"] / (each["second"] - before)
        before = each["second"]
        screen.add_row(
            f"{each['second']:.0f}",
            f"{rate:,.0f}",
            f"{each['slowest_ms']:,.0f}",
            str(each["repeated"]),
            str(each["partitions"]),
            str(each["pending"]),
            "+".join(map(str, each["regions"].values())),
        )
    console = Console()
    console.print(screen)
    console.print(
        f"{found['requests_answered']:,} requests answered, {found['requests_repeated']} of them "
        f"after a repetition, {found['requests_failed']} failed; {found['rows_missing']} of "
        f"{found['rows_acknowledged']:,} rows missing"
    )


def main() -> int:
    """Run it; 1 where it does not show what it is to show."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--partitions", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=240.0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--store", help="hbase://HOST:PORT/TABLE of a cluster that runs")
    asked = parser.parse_args()
    with store_url(asked.store, SERVERS, "growth") as url:
        found = run(url, asked.seconds, asked.partitions)
    if asked.json:
        print(json.dumps(found))
    else:
        show(found)
    return int(not is_good(found, asked.partitions))


if __name__ == "__main__":
    sys.exit(main())
