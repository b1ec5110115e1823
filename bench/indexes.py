"""Secondary indexes: what one adds to a PutRow, and a page of one beside a page of its table.

The same rows go into tables without an index, with a local one and with a global one, in turns. The
indexes that are read cover every other column, so that a page of them is as large as one of the
table; they list the partition key first, so that a page has as many rows of as many partitions.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from bench import rows
from bench.measure import Case, Result, Settings
from bench.servers import Place
from bench.workloads import REQUESTS, ask, measure_together, parts, scattered
from tests.support.buffers import key_buffer
from tests.support.http import Wire
from tests.support.requests import create_table_request

from widerow.wire.tablestore import messages as m

__all__ = ["PAGE", "PAGES", "PUT", "PUTS", "index_results"]

PUT: Final = "PutRow without an index"
PUTS: Final = ("PutRow with a local index", "PutRow with a global index")
PAGE: Final = "GetRange of a table with indexes"
PAGES: Final = ("GetRange of a local index", "GetRange of a global index")
ROWS: Final = 10_000  # in each of four tables; all of them stay in memory
CONNECTIONS: Final = 32
READERS: Final = 8
_STRING: Final = 4
_FIELDS: Final = tuple(f"field{at}" for at in range(rows.COLUMNS))
_SMALL: Final = (("k", "field0"), ("field1",))
_WHOLE: Final = (("k", "field9"), _FIELDS[:-1])

Columns = tuple[tuple[str, ...], tuple[str, ...]]


def index_results(place: Place, settings: Settings) -> Iterator[Result]:
    """Both comparisons. Raises: `LoadFailed`."""
    with Wire(place.endpoint) as wire:
        for name, kinds, columns in (
            ("put_plain", (), _SMALL),
            ("put_local", (1,), _SMALL),
            ("put_global", (0,), _SMALL),
            ("paged", (1, 0), _WHOLE),
        ):
            ask(wire, _create(name, kinds, columns))
        for part in parts(range(ROWS), rows.BATCH_WRITE_ROWS):
            ask(wire, rows.batch_write(part, table="paged"))
    numbers = scattered(REQUESTS, ROWS)
    puts = [
        Case("indexes", name, [rows.put(each, table=table) for each in numbers], CONNECTIONS)
        for name, table in zip((PUT, *PUTS), ("put_plain", "put_local", "put_global"), strict=True)
    ]
    yield from measure_together(place, puts, None, settings)
    starts = [each - each % rows.PARTITION_ROWS for each in numbers[:1000]]
    pages = [
        Case("indexes", name, [_page(table, each) for each in starts], READERS, rows.PARTITION_ROWS)
        for name, table in zip((PAGE, *PAGES), ("paged", "paged_1", "paged_0"), strict=True)
    ]
    yield from measure_together(place, pages, None, settings)


def _create(name: str, kinds: Sequence[int], columns: Columns) -> bytes:
    """CreateTable with an index of each kind (0: global, 1: local)."""
    body = create_table_request(name)
    for field in _FIELDS:
        body.table_meta.defined_column.add(name=field, type=_STRING)
    listed, covered = columns
    for kind in kinds:
        body.index_metas.add(
            name=f"{name}_{kind}",
            primary_key=listed,
            defined_column=covered,
            index_type=kind,
            index_update_mode=kind,
        )
    return rows.SENDER.request("CreateTable", body.SerializeToString())


def _page(table: str, number: int) -> bytes:
    """A page of a hundred rows from the first of a partition key on."""
    (partition, first), _ = rows.key(number)
    between = () if table == "paged" else (("field9", ""),)
    body = m.GetRangeRequest(
        table_name=table,
        direction=0,
        max_versions=1,
        limit=rows.PARTITION_ROWS,
        inclusive_start_primary_key=key_buffer(((partition, first), *between, ("n", 0))),
        exclusive_end_primary_key=key_buffer(((partition, "v"), *between, ("n", 0))),
    )
    return rows.SENDER.request("GetRange", body.SerializeToString())
