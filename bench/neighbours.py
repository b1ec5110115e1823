"""GetRow beside those who take most: how long does it wait for them?

Each neighbour has runs of GetRow beside it and runs without, in turns. What cannot be stopped (a
sweep that has begun, a table that was dropped) is measured beside once, from the moment it begins,
and compared with all runs without. The million small rows are written once: a filter looks for one
that is not there, then they all expire, then their table is dropped.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from bench import rows
from bench.growth import READERS, grow
from bench.load import Load, LoadFailed, Outcome, prepared
from bench.measure import Case, Result, Settings, combine, take_turns, timed
from bench.servers import Place, settle
from bench.workloads import REQUESTS, ask, scattered
from tests.support.buffers import cell, key_buffer, row_buffer
from tests.support.http import Wire
from tests.support.requests import ANY, create_table_request

from widerow.rows.cells import encode_variant
from widerow.system import SystemClock
from widerow.wire.tablestore import messages as m

__all__ = ["DROP", "NEIGHBOURS", "SWEEP", "beside", "neighbour_results", "without"]

NEIGHBOURS: Final = (
    "BatchGetRow of 30 MB",
    "GetRow of 100,000 columns",
    "GetRange of wide rows",
    "filters that match nothing",
    "CreateTable in a loop",
)
"""Those that a client is, and that can be stopped."""
SWEEP: Final = "a sweep of expired rows"
DROP: Final = "housekeeping of a dropped table"

SMALL: Final = "small"
SMALL_ROWS: Final = 1_000_000
SMALL_ROWS_QUICK: Final = 50_000
WIDE_FIRST: Final = 800_000_000  # row numbers that no other case uses
WIDE_ROWS: Final = 100
WIDE_VALUES: Final = 3  # of 100 KB each in a wide row
COLUMNS_ROW: Final = WIDE_FIRST + WIDE_ROWS
COLUMNS_CALLS: Final = 1000  # of a hundred columns each (`grow`)
CALLERS: Final = 2
TURNS: Final = 3
SECONDS: Final = 1.0
SETTLING_SECONDS: Final = 0.5
DAY_SECONDS: Final = 86_400
WEEK_SECONDS: Final = 7 * DAY_SECONDS
_EXAMINED: Final = re.compile(r"^widerow_sweep_records_examined_total (\d+)", re.MULTILINE)
_METRICS: Final = b"GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
_BEGINS_SECONDS_MAX: Final = 30.0

Run = Callable[[], tuple[Outcome, float]]


class Neighbour(NamedTuple):
    """What it asks for, over and over, on so many connections."""

    name: str
    requests: Sequence[bytes]
    connections: int = CALLERS


def beside(name: str) -> str:
    """The name of GetRow's case beside a neighbour."""
    return f"GetRow beside {name}"


def without(name: str) -> str:
    """The name of its runs without, that took turns with those."""
    return f"GetRow without {name}"


def neighbour_results(place: Place, settings: Settings) -> Iterator[Result]:
    """All neighbours, one after the other."""
    count = SMALL_ROWS_QUICK if settings.quick else SMALL_ROWS
    with Wire(place.endpoint) as wire:
        fill_wide(wire, COLUMNS_CALLS // 10 if settings.quick else COLUMNS_CALLS)
        fill_small(wire, count)
    settle(place.process)
    gets = [rows.get(number) for number in scattered(REQUESTS, settings.rows)]
    turn = replace(settings, seconds=SECONDS)
    alone: list[tuple[Outcome, float]] = []
    for neighbour in neighbours(count):
        own, others = in_turns(place, gets, neighbour, turn)
        yield from (own, combine(_case(without(neighbour.name), gets), others))
        alone += others
    for name, begin in ((SWEEP, partial(expire, place)), (DROP, partial(drop, place))):
        yield once(place, _case(beside(name), gets), begin, turn)
        yield combine(_case(without(name), gets), alone)


def in_turns(
    place: Place, gets: Sequence[bytes], neighbour: Neighbour, settings: Settings
) -> tuple[Result, list[tuple[Outcome, float]]]:
    """GetRow beside a neighbour, and what its runs without saw."""
    case = _case(beside(neighbour.name), gets)
    with ExitStack() as files:
        load = Load(place.endpoint, gets, files.enter_context(prepared(gets)))
        file = files.enter_context(prepared(neighbour.requests))
        other = Load(place.endpoint, neighbour.requests, file)
        load.run(READERS, SECONDS)
        run = partial(timed, place, load, case, settings)
        # wrk ends by itself if it is not ended before.
        meanwhile = partial(other.beside, neighbour.connections, 30 * settings.seconds)
        turns = 1 if settings.quick else TURNS
        seen, without_it = take_turns([partial(accompanied, run, meanwhile), run], turns)
    return combine(case, seen), without_it


def accompanied(
    run: Run, meanwhile: Callable[[], AbstractContextManager[None]]
) -> tuple[Outcome, float]:
    """A run while others are busy."""
    with meanwhile():
        time.sleep(SETTLING_SECONDS)  # its connections, and their first requests
        seen = run()
    time.sleep(SETTLING_SECONDS)  # what it asked for last is still being answered
    return seen


def once(
    place: Place, case: Case, begin: Callable[[], AbstractContextManager[None]], settings: Settings
) -> Result:
    """A longer run from the moment at which something begins that cannot be stopped."""
    with prepared(case.requests) as file:
        load = Load(place.endpoint, case.requests, file)
        load.run(READERS, SECONDS)
        with begin():
            seen = timed(place, load, case, replace(settings, seconds=10 * SECONDS))
    return combine(case, [seen])


def _case(name: str, gets: Sequence[bytes]) -> Case:
    return Case("neighbours", name, gets, READERS)


# --- what they ask for ---------------------------------------------------------------------------


def neighbours(small_rows: int) -> Iterator[Neighbour]:
    """Those of `NEIGHBOURS`."""
    names = iter(NEIGHBOURS)
    wide = range(WIDE_FIRST, WIDE_FIRST + WIDE_ROWS)
    yield Neighbour(next(names), [rows.batch_get(wide)])
    yield Neighbour(next(names), [rows.get(COLUMNS_ROW)])
    yield Neighbour(next(names), [rows.page(WIDE_FIRST, WIDE_ROWS)])
    pages = [vain(first) for first in range(0, small_rows, max(1, small_rows // 100))]
    yield Neighbour(next(names), pages)
    # One connection, so that each table is there when it is dropped.
    yield Neighbour(next(names), [each for at in range(50) for each in made_and_dropped(at)], 1)


def vain(first: int) -> bytes:
    """A GetRange over all small rows from one on, of which none passes the filter."""
    sieve = rows.column_filter("c", encode_variant("nobody has it"))
    body = m.GetRangeRequest(
        table_name=SMALL,
        direction=0,
        max_versions=1,
        limit=1,
        filter=sieve,
        inclusive_start_primary_key=key_buffer(rows.key(first)),
        exclusive_end_primary_key=key_buffer((("k", "v"), ("n", 0))),
    )
    return rows.SENDER.request("GetRange", body.SerializeToString())


def made_and_dropped(number: int) -> tuple[bytes, bytes]:
    """CreateTable, and DeleteTable of the same."""
    name = f"passing{number}"
    gone = m.DeleteTableRequest(table_name=name).SerializeToString()
    return rows.table(name), rows.SENDER.request("DeleteTable", gone)


# --- what is there -------------------------------------------------------------------------------


def fill_wide(wire: Wire, calls: int) -> None:
    """A hundred rows of 300 KB, and one of very many columns."""
    values = [cell(f"v{at}", "w" * 100_000) for at in range(WIDE_VALUES)]
    for number in range(WIDE_FIRST, WIDE_FIRST + WIDE_ROWS):
        ask(wire, rows.update(number, values))
    for call in range(calls):
        grow(wire, COLUMNS_ROW, call)


def fill_small(wire: Wire, count: int) -> None:
    """The rows of one small column, as old as a table that keeps a day would not show."""
    made = create_table_request(SMALL)
    made.table_options.deviation_cell_version_in_sec = WEEK_SECONDS
    ask(wire, rows.SENDER.request("CreateTable", made.SerializeToString()))
    version = SystemClock().now_us() // 1000 - 2 * DAY_SECONDS * 1000
    cells = [cell("c", "as all others", version=version)]
    size = rows.BATCH_WRITE_ROWS
    for first in range(0, count, size):
        changes = [
            m.RowInBatchWriteRowRequest(
                type=1, row_change=row_buffer(rows.key(number), cells), condition=ANY
            )
            for number in range(first, min(count, first + size))
        ]
        table = m.TableInBatchWriteRowRequest(table_name=SMALL, rows=changes)
        body = m.BatchWriteRowRequest(tables=[table]).SerializeToString()
        ask(wire, rows.SENDER.request("BatchWriteRow", body))


@contextmanager
def expire(place: Place) -> Iterator[None]:
    """Let all small rows be too old; begins when the server has noticed."""
    options = m.TableOptions(time_to_live=DAY_SECONDS)
    body = m.UpdateTableRequest(table_name=SMALL, table_options=options).SerializeToString()
    with Wire(place.endpoint) as wire:
        before = examined(wire)
        ask(wire, rows.SENDER.request("UpdateTable", body))
        ends = time.monotonic() + _BEGINS_SECONDS_MAX
        while examined(wire) == before:
            if time.monotonic() > ends:
                raise LoadFailed("the server does not sweep what has expired")
            time.sleep(0.1)
    yield


@contextmanager
def drop(place: Place) -> Iterator[None]:
    """Drop the table of the small rows; the server cleans up within ten seconds."""
    body = m.DeleteTableRequest(table_name=SMALL).SerializeToString()
    with Wire(place.endpoint) as wire:
        ask(wire, rows.SENDER.request("DeleteTable", body))
    yield


def examined(wire: Wire) -> int:
    """How many records the server's sweep has looked at."""
    found = _EXAMINED.search(wire.ask(_METRICS).body.decode())
    return int(found[1]) if found else 0
