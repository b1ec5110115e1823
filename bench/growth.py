"""What must not depend on how much is stored, nor on who else asks."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench import rows, startup
from bench.load import Load, prepared
from bench.measure import Case, Result, Settings, measure, percentile
from bench.servers import Place, resident_mebibytes, settle
from bench.workloads import REQUESTS, ask, scattered
from tests.support.buffers import cell
from tests.support.http import Wire

from widerow.testing.process import WiderowProcess

WIDE_ROW: Final = 900_000_000  # row numbers that no other case uses
NARROW_ROW: Final = WIDE_ROW + 1
MIDDLE_ROW: Final = WIDE_ROW + 2
MIDDLE_CALLS: Final = 10
CALLS: Final = 1000
COLUMNS_EACH: Final = 100  # a thousand such calls make a row of 100 000 columns
ENDS: Final = 100  # calls at either end of the thousand that are compared
STARTS: Final = 5
READERS: Final = 16
WRITERS: Final = 4
SCANNERS: Final = 2
LARGE_PAGE_ROWS: Final = 5000  # more than fit into the 4 MB of an answer
HASHING: Final = "import hashlib\ndata = bytes(1 << 17)\nwhile True: hashlib.md5(data)"


def size_cases(table_rows: int) -> Iterator[Case]:
    """Reads of one row and of a page, named by how many rows there are."""
    numbers = scattered(REQUESTS, table_rows)
    at = f"at {table_rows:,} rows"
    yield Case("size", f"GetRow {at}", [rows.get(each) for each in numbers], 32)
    pages = [rows.page(each - each % rows.PARTITION_ROWS) for each in numbers[:1000]]
    yield Case("size", f"GetRange, 100 rows, {at}", pages, 8, rows.PARTITION_ROWS)


def wide_results(place: Place, settings: Settings) -> list[Result]:
    """A row that grows to 100 000 columns, and updates of it beside those of narrower ones."""
    calls = CALLS // 5 if settings.quick else CALLS
    with Wire(place.endpoint) as wire:
        took = [grow(wire, WIDE_ROW, call) for call in range(calls)]
        for call in range(MIDDLE_CALLS):
            grow(wire, MIDDLE_ROW, call)
        ask(wire, rows.update(NARROW_ROW, rows.cells(0)))
    ends = min(ENDS, calls // 2)
    first, last = statistics.median(took[:ends]), statistics.median(took[-ends:])
    also = {"first_us": first, "last_us": last, "calls": float(calls)}
    name = f"UpdateRow, 100 new columns each, {calls} calls to one row"
    middle = statistics.median(took)
    grown = Result("width", name, 1, 1e6 / middle, middle, percentile(took, 0.99), 0.0, also=also)
    narrow = [column_update(NARROW_ROW, f"field{at % rows.COLUMNS}") for at in range(REQUESTS)]
    rows_of = {
        rows.COLUMNS: narrow,
        MIDDLE_CALLS * COLUMNS_EACH: spread_updates(MIDDLE_ROW, MIDDLE_CALLS),
        calls * COLUMNS_EACH: spread_updates(WIDE_ROW, calls),
    }
    cases = [
        Case("width", f"UpdateRow, row of {columns:,} columns", made, 16)
        for columns, made in rows_of.items()
    ]
    return [grown, *(measure(place, case, settings) for case in cases)]


def spread_updates(number: int, calls: int) -> list[bytes]:
    """Updates of one column each, all over a row that so many calls have made."""
    columns = calls * COLUMNS_EACH
    return [column_update(number, f"c{at * 997 % columns:06}") for at in range(REQUESTS)]


def grow(wire: Wire, number: int, call: int) -> float:
    """Add columns to a row; microseconds until that is answered."""
    names = (f"c{call * COLUMNS_EACH + at:06}" for at in range(COLUMNS_EACH))
    request = rows.update(number, [cell(name, "x" * 20) for name in names])
    started = time.perf_counter()
    ask(wire, request)
    return (time.perf_counter() - started) * 1e6


def column_update(number: int, column: str) -> bytes:
    """UpdateRow of one column, signed."""
    return rows.update(number, [cell(column, "y" * 20)])


def start_results(large: Path, large_rows: int, repeats: int = STARTS) -> list[Result]:
    """Starting on an empty directory up to the first write, and on the store in `large`.

    No server may have that store open.
    """
    starts = [startup.measure() for _ in range(repeats)]
    written = [each.written_seconds * 1e6 for each in starts]
    memory = statistics.median(each.resident_mebibytes for each in starts)
    reopened = [reopen(large) for _ in range(repeats)]
    seconds = [each[0] * 1e6 for each in reopened]
    return [
        start_result("start to first PutRow answered, empty store", written, memory),
        start_result(
            f"start to ready, store of {large_rows:,} rows",
            seconds,
            max(each[1] for each in reopened),
        ),
    ]


def start_result(name: str, took: list[float], mebibytes: float) -> Result:
    """The median of several starts."""
    middle, slow = statistics.median(took), max(took)
    also = {"resident_mebibytes": mebibytes}
    return Result("start", name, 1, 1e6 / middle, middle, slow, 0.0, repeats=len(took), also=also)


def reopen(directory: Path) -> tuple[float, float]:
    """Seconds until a server on this store is ready, and the MiB that it holds then."""
    server = WiderowProcess("--path", str(directory))
    started = time.perf_counter()
    with server:
        return time.perf_counter() - started, resident_mebibytes(server.pid)


def fairness_results(place: Place, table_rows: int, settings: Settings) -> Iterator[Result]:
    """GetRow alone, and beside BatchWriteRow at full speed, pages of 4 MB, and other programs.

    Of these there are as many as connections that ask for pages. They only hash, as an answer of 4
    MB mostly is hashed: what GetRow loses beside them is what sharing the processors costs.
    """
    numbers = scattered(REQUESTS, table_rows)
    gets = [rows.get(number) for number in numbers]
    yield measure(place, Case("fairness", "GetRow alone", gets, READERS), settings)
    starts = range(0, min(table_rows, 20 * rows.BATCH_WRITE_ROWS), rows.BATCH_WRITE_ROWS)
    writes = [rows.batch_write(range(at, at + rows.BATCH_WRITE_ROWS), 3) for at in starts]
    pages = [rows.page(number, LARGE_PAGE_ROWS) for number in range(0, table_rows // 2, 2000)]
    for name, requests, connections in (
        ("GetRow beside BatchWriteRow, 200 rows", writes, WRITERS),
        ("GetRow beside GetRange, 4 MB", pages, SCANNERS),
    ):
        settle(place.process)  # what was written before is compacted meanwhile
        seconds = 3 + (settings.seconds + 1) * settings.repeats
        with (
            prepared(requests) as file,
            Load(place.endpoint, requests, file).beside(connections, seconds),
        ):
            yield measure(place, Case("fairness", name, gets, READERS), settings)
    with hashing(SCANNERS):
        name = "GetRow beside programs that only hash"
        yield measure(place, Case("fairness", name, gets, READERS), settings)


@contextmanager
def hashing(count: int) -> Iterator[None]:
    """So many programs that use all the processor time they get."""
    command = [sys.executable, "-c", HASHING]
    programs = [subprocess.Popen(command) for _ in range(count)]  # noqa: S603  # our own words
    try:
        yield
    finally:
        for each in programs:
            each.kill()
            each.wait()
