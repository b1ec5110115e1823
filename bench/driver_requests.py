"""Requests of NoSQL's drivers, each in turns with what Tablestore's clients ask for as much."""

from collections.abc import Iterator
from typing import Final

from bench import rows, typed_rows
from bench.measure import Case, Result, Settings, measure_in_turns
from bench.servers import Place
from bench.workloads import REQUESTS, ask, scattered
from tests.support.http import Wire

__all__ = ["GET", "GET_ROW", "PUT", "PUT_ROW", "QUERY", "RANGE", "driver_results"]

GET: Final = "GET of a typed row"
GET_ROW: Final = "GetRow in turns with GET"
PUT: Final = "PUT of a typed row"
PUT_ROW: Final = "PutRow in turns with PUT"
QUERY: Final = "QUERY of a shard key, 100 rows"
RANGE: Final = "GetRange in turns with QUERY"
_ROWS: Final = 4000
_READERS: Final = 32
_WRITERS: Final = 128
_PAGE_READERS: Final = 8


def driver_results(place: Place, settings: Settings) -> Iterator[Result]:
    """Each request of a driver with its counterpart. Raises: `LoadFailed`."""
    with Wire(place.endpoint) as wire:
        ask(wire, typed_rows.table())
        for number in range(_ROWS):
            answer = ask(wire, typed_rows.put(number))
            if typed_rows.SUCCESS not in answer:
                raise SystemExit(f"refused: {answer!r}")
    numbers = scattered(REQUESTS, min(_ROWS, settings.rows))
    pages = [number - number % rows.PARTITION_ROWS for number in numbers]
    for (name, make), (other, counterpart), connections, count in (
        ((GET, typed_rows.get), (GET_ROW, rows.get), _READERS, 1),
        ((PUT, typed_rows.put), (PUT_ROW, rows.put), _WRITERS, 1),
        ((QUERY, typed_rows.page), (RANGE, rows.page), _PAGE_READERS, rows.PARTITION_ROWS),
    ):
        asked = numbers if count == 1 else pages
        sides = [
            Case("nosql", name, [make(each) for each in asked], connections, count),
            Case("nosql", other, [counterpart(each) for each in asked], connections, count),
        ]
        yield from measure_in_turns([(place, case) for case in sides], settings)
