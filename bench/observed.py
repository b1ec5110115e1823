"""What a secondary index or a stream adds to a PutRow.

The same rows go into tables with neither, with a local index, with a global index and with a
stream, in turns.
"""

from collections.abc import Iterator
from typing import Final

from bench import rows
from bench.measure import Case, Result, Settings
from bench.servers import Place
from bench.workloads import REQUESTS, ask, measure_together, scattered
from tests.support.http import Wire
from tests.support.requests import create_table_request

__all__ = ["OBSERVED", "PLAIN", "observed_results"]

PLAIN: Final = "PutRow with neither"
OBSERVED: Final = (
    "PutRow with a local index",
    "PutRow with a global index",
    "PutRow with a stream",
)
ROWS: Final = 10_000  # in each of the tables; all of them stay in memory
CONNECTIONS: Final = 32
_TABLES: Final = ("put_plain", "put_local", "put_global", "put_stream")
_INDEX_TYPES: Final = {"put_local": 1, "put_global": 0}
_STRING: Final = 4
_STREAM_HOURS: Final = 24


def observed_results(place: Place, settings: Settings) -> Iterator[Result]:
    """The four cases, in turns. Raises: `LoadFailed`."""
    with Wire(place.endpoint) as wire:
        for table in _TABLES:
            ask(wire, _create(table))
    numbers = scattered(REQUESTS, ROWS)
    cases = [
        Case("observed", name, [rows.put(each, table=table) for each in numbers], CONNECTIONS)
        for name, table in zip((PLAIN, *OBSERVED), _TABLES, strict=True)
    ]
    yield from measure_together(place, cases, None, settings)


def _create(table: str) -> bytes:
    """CreateTable with what the name of the table says."""
    body = create_table_request(table)
    if table == "put_stream":
        body.stream_spec.enable_stream = True
        body.stream_spec.expiration_time = _STREAM_HOURS
    elif table in _INDEX_TYPES:
        for name in ("field0", "field1"):
            body.table_meta.defined_column.add(name=name, type=_STRING)
        body.index_metas.add(
            name=f"{table}_index",
            primary_key=("k", "field0"),
            defined_column=("field1",),
            index_type=_INDEX_TYPES[table],
            index_update_mode=_INDEX_TYPES[table],
        )
    return rows.SENDER.request("CreateTable", body.SerializeToString())
