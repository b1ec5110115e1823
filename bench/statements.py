"""Statements of SQL: a row by its key, groups, an ordered page, and GetRow beside full groups.

A statement reads 100,000 rows at most, so a million are grouped by ten statements, each over a
tenth of the keys. PostgreSQL and DuckDB group the same numbers, with the same bounds.
"""

import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bench import rows
from bench.load import Outcome
from bench.measure import Case, Result, Settings, combine, measure, measure_in_turns, percentile
from bench.neighbours import CALLERS, SECONDS, Neighbour, in_turns, without
from bench.peers import postgres
from bench.servers import Place, processor_seconds, settle
from bench.workloads import REQUESTS, ask, scattered
from tests.support.buffers import cell, key_buffer, row_buffer
from tests.support.http import Wire
from tests.support.requests import ANY, create_table_request

from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.sql_messages import SQLQueryRequest

__all__ = [
    "GET_IN_TURNS",
    "GROUPS",
    "INDEX_IN_TURNS",
    "POINT",
    "SORTED",
    "STATEMENTS",
    "duckdb_results",
    "postgres_results",
    "statement_results",
]

POINT: Final = "SELECT of a row by its key"
GET_IN_TURNS: Final = "GetRow in turns with SELECT"
GROUPS: Final = "SELECT count(*), avg(x) … GROUP BY"
SORTED: Final = "SELECT … ORDER BY an indexed column LIMIT 100"
INDEX_IN_TURNS: Final = "GetRange of that index, 100 rows"
STATEMENTS: Final = "SELECT with groups of all rows"

COUNTED: Final = "counted"
COUNTED_ROWS: Final = 1_000_000
COUNTED_ROWS_QUICK: Final = 20_000
STATEMENT_ROWS: Final = 100_000  # what one may read
ORDERED: Final = "ordered"
ORDERED_ROWS: Final = 10_000
INDEX: Final = "by_old"
PAGE_ROWS: Final = 100
_GROUPS_COUNT: Final = 50
_POINT_CONNECTIONS: Final = 8
_RUNS: Final = 3
_INDEX_SECONDS_MAX: Final = 60.0


def statement(text: str) -> bytes:
    """SQLQuery, signed."""
    body = SQLQueryRequest(query=text, version=2).SerializeToString()
    return rows.SENDER.request("SQLQuery", body)


def statement_results(place: Place, settings: Settings) -> Iterator[Result]:
    """All of them on widerow."""
    count = COUNTED_ROWS_QUICK if settings.quick else COUNTED_ROWS
    with Wire(place.endpoint) as wire:
        make_tables(wire, count)
    settle(place.process)
    yield from points(place, settings)
    grouped = groups(count)
    each = min(count, STATEMENT_ROWS)
    yield measure(place, Case("sql", GROUPS, grouped, 1, each), settings)
    yield from ordered(place, settings)
    gets = [rows.get(number) for number in scattered(REQUESTS, settings.rows)]
    turn = replace(settings, seconds=SECONDS)
    own, others = in_turns(place, gets, Neighbour(STATEMENTS, grouped, CALLERS), turn)
    yield own
    yield combine(Case("neighbours", without(STATEMENTS), gets, own.connections), others)


def points(place: Place, settings: Settings) -> list[Result]:
    """Whole rows by their keys, by SELECT and by GetRow."""
    numbers = scattered(REQUESTS, settings.rows)
    selects = []
    for number in numbers:
        (_, k), (_, n) = rows.key(number)
        selects.append(statement(f"SELECT * FROM {rows.TABLE} WHERE k = '{k}' AND n = {n}"))  # noqa: S608  # our own text
    gets = [rows.get(number) for number in numbers]
    sides = [Case("sql", POINT, selects, _POINT_CONNECTIONS)]
    sides.append(Case("sql", GET_IN_TURNS, gets, _POINT_CONNECTIONS))
    return measure_in_turns([(place, case) for case in sides], settings)


def groups(count: int) -> list[bytes]:
    """The statements that group so many rows, each a part of them."""
    return [statement(f"SELECT {text}") for text in grouping(count)]


def grouping(count: int) -> Iterator[str]:
    """Lists, tables, conditions and groups of these statements."""
    for first in range(0, count, STATEMENT_ROWS):
        (_, low), _ = rows.key(first)
        (_, high), _ = rows.key(min(count, first + STATEMENT_ROWS))
        bounds = f"k >= '{low}' AND k < '{high}'"
        yield f"g, count(*), avg(x) FROM {COUNTED} WHERE {bounds} GROUP BY g"


def ordered(place: Place, settings: Settings) -> list[Result]:
    """The first rows by an indexed column, and as many entries of the index."""
    text = f"SELECT old, k, n FROM {ORDERED} WHERE old IS NOT NULL ORDER BY old LIMIT {PAGE_ROWS}"  # noqa: S608  # our own text
    body = m.GetRangeRequest(
        table_name=INDEX,
        direction=0,
        max_versions=1,
        limit=PAGE_ROWS,
        inclusive_start_primary_key=key_buffer((("old", -(2**63)), ("k", ""), ("n", -(2**63)))),
        exclusive_end_primary_key=key_buffer((("old", 2**62), ("k", ""), ("n", 0))),
    )
    page = rows.SENDER.request("GetRange", body.SerializeToString())
    sides = [Case("sql", SORTED, [statement(text)], 2, PAGE_ROWS)]
    sides.append(Case("sql", INDEX_IN_TURNS, [page], 2, PAGE_ROWS))
    return measure_in_turns([(place, case) for case in sides], settings)


# --- tables ------------------------------------------------------------------------------------


def make_tables(wire: Wire, count: int) -> None:
    """The rows that are grouped, those that are ordered with their index, and all mappings."""
    for name in (COUNTED, ORDERED):
        made = create_table_request(name)
        ask(wire, rows.SENDER.request("CreateTable", made.SerializeToString()))
    fill(wire, COUNTED, count)
    fill(wire, ORDERED, ORDERED_ROWS)
    index = m.IndexMeta(name=INDEX, primary_key=["old"], index_update_mode=0, index_type=0)
    asked = m.CreateIndexRequest(main_table_name=ORDERED, index_meta=index, include_base_data=True)
    ask(wire, rows.SENDER.request("CreateIndex", asked.SerializeToString()))
    key = "k VARCHAR(1024), n BIGINT"
    fields = ", ".join(f"field{at} MEDIUMTEXT" for at in range(rows.COLUMNS))
    ask(wire, statement(f"CREATE TABLE {rows.TABLE} ({key}, {fields}, PRIMARY KEY (k, n))"))
    ask(wire, statement(f"CREATE TABLE {COUNTED} ({key}, g BIGINT, x DOUBLE, PRIMARY KEY (k, n))"))
    ends = time.monotonic() + _INDEX_SECONDS_MAX
    probe = statement(f"SELECT old FROM {INDEX} LIMIT 1")  # noqa: S608  # our own text
    while wire.ask(probe).status != 200:
        if time.monotonic() > ends:
            raise SystemExit("the index is not built")
        time.sleep(0.1)


def fill(wire: Wire, table: str, count: int) -> None:
    """Rows with a group, a number, and the column that the index has."""
    size = rows.BATCH_WRITE_ROWS
    for first in range(0, count, size):
        changes = [
            m.RowInBatchWriteRowRequest(
                type=1,
                row_change=row_buffer(rows.key(number), cells(number)),
                condition=ANY,
            )
            for number in range(first, min(count, first + size))
        ]
        written = m.TableInBatchWriteRowRequest(table_name=table, rows=changes)
        body = m.BatchWriteRowRequest(tables=[written]).SerializeToString()
        ask(wire, rows.SENDER.request("BatchWriteRow", body))


def cells(number: int) -> list[bytes]:
    """The columns of a row; other engines compute the same."""
    return [
        cell("g", number % _GROUPS_COUNT),
        cell("old", number * 7919 % COUNTED_ROWS),
        cell("x", number / 4),
    ]


# --- others --------------------------------------------------------------------------------------


def postgres_results(programs: Path, directory: Path, settings: Settings) -> Sequence[Result]:
    """The same groups of the same rows by PostgreSQL, each statement in a session of its own."""
    count = COUNTED_ROWS_QUICK if settings.quick else COUNTED_ROWS
    home = directory / "postgres-groups"
    home.mkdir()
    with postgres.cluster(programs, home) as place:

        def run(text: str) -> None:
            postgres.run(["psql", *postgres.at(place), "-q", "-c", text])

        run(f"CREATE TABLE {COUNTED} (k text, n bigint, g bigint, x float8, PRIMARY KEY (k, n))")
        part = rows.PARTITION_ROWS
        key = f"'user' || lpad((i / {part})::text, 10, '0'), i % {part}"
        numbers = f"generate_series(0, {count - 1}) i"
        run(f"INSERT INTO {COUNTED} SELECT {key}, {_COMPUTED} FROM {numbers}")  # noqa: S608  # our own text
        run(f"VACUUM ANALYZE {COUNTED}")
        return [grouped("PostgreSQL", count, run, partial(processor_seconds, place.process))]


_COMPUTED: Final = f"i % {_GROUPS_COUNT}, i / 4.0::float8"


def duckdb_results(settings: Settings) -> Sequence[Result]:
    """The same by DuckDB, in this process."""
    duckdb = importlib.import_module("duckdb")
    count = COUNTED_ROWS_QUICK if settings.quick else COUNTED_ROWS
    with duckdb.connect(":memory:") as session:
        part = rows.PARTITION_ROWS
        key = f"'user' || lpad((i // {part})::text, 10, '0') AS k, i % {part} AS n"
        made = f"{key}, i % {_GROUPS_COUNT} AS g, i / 4.0::double AS x FROM range({count}) r(i)"
        session.execute(f"CREATE TABLE {COUNTED} AS SELECT {made}")
        return [
            grouped(
                "DuckDB", count, lambda text: session.execute(text).fetchall(), time.process_time
            )
        ]


def grouped(
    name: str, count: int, run: Callable[[str], object], spent: Callable[[], float]
) -> Result:
    """All statements, some times; `spent` tells seconds of processor time so far."""
    texts = [f"SELECT {text}" for text in grouping(count)]
    runs = []
    for _ in range(_RUNS):
        before, took = spent(), []
        for text in texts:
            begun = time.perf_counter()
            run(text)
            took.append((time.perf_counter() - begun) * 1e6)
        used = (spent() - before) / len(texts) * 1e6
        middle, slow = percentile(took, 0.5), percentile(took, 0.99)
        runs.append((Outcome(len(took), sum(took) / 1e6, middle, slow, max(took), name), used))
    return combine(Case("sql", f"{name} GROUP BY", (), 1, min(count, STATEMENT_ROWS)), runs)
