"""What a database answers without a server between: `python -m bench.bare URL OPERATION`.

    python -m bench.bare hbase://127.0.0.1:16000/bare get --connections 32 --seconds 3

Rows of 1000 bytes in a table of its own. As many threads as connections ask one after the other:
`get` a row; `put`: read a row with its revision, then write it under the condition that the
revision is still that one, synced; `page`: a hundred rows in order. HBase is asked by the product's
own code for its protocol, on one connection that all threads share, PostgreSQL by psycopg, on a
connection for each thread. One line of JSON says what came of it.
"""

import argparse
import json
import random  # noqa: TID251  # every thread asks for rows of its own choice
import secrets
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import psycopg

from widerow.storage.hbase.messages import (
    BytesBytesPair,
    CoprocessorServiceResponse,
    MutateRowsResponse,
    Result,
    ScanResponse,
)
from widerow.storage.hbase.opening import open_driver
from widerow.storage.hbase.regions import Region, Regions
from widerow.storage.hbase.requests import (
    RangeRead,
    mutate_rows,
    scan_further,
    scan_range,
    scan_single_rows,
)
from widerow.storage.hbase.rows import RowSpan, row_of

__all__ = ["OPERATIONS", "main"]

ROWS: Final = 10_000
ROW_BYTES: Final = 1000
PAGE_ROWS: Final = 100
OPERATIONS: Final = ("fill", "get", "put", "page")
_FILLED_AT_ONCE: Final = 500
_PREFIX: Final = b"\x10\x00\x00\x00\x07"  # as keys of rows begin
_REVISIONS: Final = b"\x06"


def _value() -> bytes:
    return secrets.token_bytes(ROW_BYTES)


class Client(Protocol):
    """What one thread asks by."""

    def get(self, number: int) -> None:
        """Read a row."""
        ...

    def put(self, number: int) -> None:
        """Read a row's revision with it, and write both anew on condition of the former one."""
        ...

    def page(self, number: int) -> None:
        """Read rows from this one on."""
        ...

    def fill(self) -> None:
        """Make all rows."""
        ...


class HBaseClient:
    """HBase by the product's own calls. All threads share one."""

    def __init__(self, url: str) -> None:
        """Open the table, which is made if it is not there."""
        self._driver = open_driver(url)
        self._regions: Regions = self._driver._regions  # noqa: SLF001  # the same connections
        self._made = 0

    @staticmethod
    def _keys(number: int) -> tuple[bytes, bytes]:
        name = b"%08d" % number
        return _PREFIX + name, _REVISIONS + _PREFIX[1:] + name

    def _region(self, row: bytes) -> Region:
        return self._regions.of(row)

    def _call(self, region: Region, method: str, request: Any, kind: Any) -> Any:  # noqa: ANN401  # messages of any kind
        connection = self._regions.servers.connection(region.address)
        return connection.call(method, request, kind)

    def get(self, number: int) -> None:
        """One `Get`."""
        row = row_of(self._keys(number)[0])[0]
        region = self._region(row)
        # `GetRequest` is not among our messages: a region and a row, numbered as in this pair.
        wanted = b"\x0a" + bytes((len(row),)) + row
        pair = BytesBytesPair(first=region.specifier.SerializeToString(), second=wanted)
        found = Result.FromString(self._call(region, "Get", pair, BytesBytesPair).first)
        assert found.cell, "the row is there"

    def put(self, number: int) -> None:
        """A read of two cells, then one conditional `MutateRows`, again while it is refused."""
        key, revision_key = self._keys(number)
        places = [row_of(key), row_of(revision_key)]
        region = self._region(places[0][0])
        while True:
            asked = scan_single_rows(region, places, 1 << 20, None)
            answer = self._call(region, "Scan", asked, ScanResponse)
            cells = {cell.qualifier: cell for each in answer.results for cell in each.cell}
            former = cells[_REVISIONS]
            timestamp = max(time.time_ns() // 1000, former.timestamp + 1)
            puts = [(key, _value()), (revision_key, secrets.token_bytes(16))]
            request = mutate_rows(region, {revision_key: former.value}, puts, (), timestamp)
            made = self._call(region, "ExecService", request, CoprocessorServiceResponse)
            if MutateRowsResponse.FromString(made.value.value).processed:
                return

    def page(self, number: int) -> None:
        """One `Scan`, and what the server has left out of its first answer."""
        start = row_of(self._keys(min(number, ROWS - PAGE_ROWS))[0])[0]
        region = self._region(start)
        span = RowSpan(_PREFIX[:1], start, region.stop or start[:1] + b"\xff")
        request = scan_range(region, span, RangeRead(PAGE_ROWS, 1 << 20, reverse=False), None)
        answer = self._call(region, "Scan", request, ScanResponse)
        found = len(answer.results)
        while found < PAGE_ROWS and answer.more_results_in_region:
            request = scan_further(answer.scanner_id, PAGE_ROWS - found)
            answer = self._call(region, "Scan", request, ScanResponse)
            found += len(answer.results)
        assert found == PAGE_ROWS, "the page is whole"

    def fill(self) -> None:
        """As many rows in one `MutateRows` as go."""
        for first in range(0, ROWS, _FILLED_AT_ONCE):
            pairs = [self._keys(number) for number in range(first, first + _FILLED_AT_ONCE)]
            puts = [(key, _value()) for key, _ in pairs]
            puts += [(revision_key, b"first") for _, revision_key in pairs]
            region = self._region(row_of(pairs[0][0])[0])
            request = mutate_rows(region, {}, puts, (), time.time_ns() // 1000)
            self._call(region, "ExecService", request, CoprocessorServiceResponse)


class PostgresClient:
    """PostgreSQL by psycopg. Each thread has its own."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self._cursor = self._connection.cursor(binary=True)

    def _ask(self, statement: str, *arguments: Any) -> psycopg.Cursor[Any]:  # noqa: ANN401  # of any type
        return self._cursor.execute(statement, arguments, prepare=True)

    def get(self, number: int) -> None:
        """One `SELECT`."""
        found = self._ask("SELECT value FROM bare WHERE key = %s", b"%08d" % number)
        assert found.fetchone(), "the row is there"

    def put(self, number: int) -> None:
        """A `SELECT`, then an `UPDATE` where the revision is still the same."""
        key = b"%08d" % number
        while True:
            row = self._ask("SELECT revision, value FROM bare WHERE key = %s", key).fetchone()
            assert row is not None, "the row is there"
            made = self._ask(
                "UPDATE bare SET value = %s, revision = %s WHERE key = %s AND revision = %s",
                _value(),
                secrets.token_bytes(16),
                key,
                row[0],
            )
            if made.rowcount:
                return

    def page(self, number: int) -> None:
        """One `SELECT`."""
        statement = f"SELECT key, value FROM bare WHERE key >= %s ORDER BY key LIMIT {PAGE_ROWS}"  # noqa: S608  # a constant
        found = self._ask(statement, b"%08d" % min(number, ROWS - PAGE_ROWS)).fetchall()
        assert len(found) == PAGE_ROWS, "the page is whole"

    def fill(self) -> None:
        """One `COPY`."""
        made = "(key bytea PRIMARY KEY, revision bytea NOT NULL, value bytea NOT NULL)"
        self._ask("DROP TABLE IF EXISTS bare")
        self._ask(f"CREATE TABLE bare {made}")
        with self._cursor.copy("COPY bare FROM STDIN") as copy:
            for number in range(ROWS):
                copy.write_row((b"%08d" % number, b"first", _value()))
        self._ask("VACUUM ANALYZE bare")


def clients(url: str, count: int) -> list[Client]:
    """One for each thread."""
    if url.startswith("hbase:"):
        return [HBaseClient(url)] * count
    return [PostgresClient(url) for _ in range(count)]


def run(asked: Sequence[Callable[[int], None]], seconds: float) -> tuple[list[float], float]:
    """The sorted times of what one thread for each of these has done, and how long it took."""
    took: list[float] = []
    begin = threading.Barrier(len(asked) + 1)
    ends = [0.0]

    def work(ask: Callable[[int], None], seed: int) -> None:
        numbers, own = random.Random(seed), list[float]()  # noqa: S311  # no secret is made of them
        begin.wait()
        now = time.perf_counter()
        while now < ends[0]:
            ask(numbers.randrange(ROWS))
            before, now = now, time.perf_counter()
            own.append(now - before)
        took.extend(own)

    threads = [threading.Thread(target=work, args=(ask, n)) for n, ask in enumerate(asked)]
    for thread in threads:
        thread.start()
    started = time.perf_counter()
    ends[0] = started + seconds
    begin.wait()
    for thread in threads:
        thread.join()
    return sorted(took), time.perf_counter() - started


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.bare", description=__doc__)
    parser.add_argument("url", metavar="URL")
    parser.add_argument("operation", choices=OPERATIONS)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=3)
    given = parser.parse_args(arguments)
    if given.operation == "fill":
        clients(given.url, 1)[0].fill()
        return 0
    asked = [getattr(each, given.operation) for each in clients(given.url, given.connections)]
    run(asked[:1], 0.2)  # connections, the map of regions, prepared statements
    used = time.process_time()
    took, seconds = run(asked, given.seconds)
    used = time.process_time() - used
    print(
        json.dumps(
            {
                "requests": len(took),
                "seconds": seconds,
                "p50_us": took[len(took) // 2] * 1e6,
                "p99_us": took[len(took) * 99 // 100] * 1e6,
                "cpu_us": used / len(took) * 1e6,
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
