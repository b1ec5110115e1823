"""`widerow row count`: the rows of a range, counted on several connections at one time.

The table is cut where the server says that so many bytes lie between (ComputeSplitPointsBySize,
semantics §6); each part is read without columns, so little more than keys is sent. It is a scan
all the same: the server reads every row, and the service bills it.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import pairwise
from threading import Event, Lock
from typing import Final, NamedTuple

from widerow.limits import SPLIT_UNIT_BYTES_MIN
from widerow.model.values import KeyMarker
from widerow.transfer.client import Client, Endpoint, Refused
from widerow.transfer.reading import KeyRange, ReadOptions, scan_pages
from widerow.transfer.rows import decode_rows, encode_plain_key
from widerow.transfer.table import TableFacts
from widerow.wire.tablestore import messages as m

__all__ = ["CountProgress", "count_rows", "split_ranges"]

_PARTS_MAX: Final = 64  # more would be as many requests without rows in a small table


class CountProgress(NamedTuple):
    """How far a count is: parts that are done, of how many, and rows until now."""

    done: int
    parts: int
    rows: int


def split_ranges(client: Client, table: TableFacts) -> list[KeyRange]:
    """Ranges that cover the table, of about as many bytes; one where the server cannot cut it.

    Raises: `TransferFailed`.
    """
    low = tuple((column.name, KeyMarker.INF_MIN) for column in table.key)
    high = tuple((column.name, KeyMarker.INF_MAX) for column in table.key)
    request = m.ComputeSplitPointsBySizeRequest(
        table_name=table.name,
        split_size=1,
        split_size_unit_in_byte=SPLIT_UNIT_BYTES_MIN,
        split_point_limit=_PARTS_MAX - 1,
    )
    try:
        answer = client.call(
            "ComputeSplitPointsBySize", request, m.ComputeSplitPointsBySizeResponse
        )
    except Refused:  # an index, or a server that has no such action: then in one piece
        return [KeyRange(encode_plain_key(low), encode_plain_key(high))]
    bounds = [encode_plain_key(low)]
    for point in answer.split_points:
        given = dict(decode_rows(point)[0].key)
        columns = [(column.name, given.get(column.name, KeyMarker.INF_MIN)) for column in table.key]
        bounds.append(encode_plain_key(columns))
    bounds.append(encode_plain_key(high))
    return [KeyRange(*pair) for pair in pairwise(bounds)]


def count_rows(
    endpoint: Endpoint,
    table: TableFacts,
    ranges: Sequence[KeyRange],
    options: ReadOptions,
    workers: int,
    told: Callable[[CountProgress], None],
) -> int:
    """The number of rows in these ranges, read on `workers` connections.

    Raises: `TransferFailed`; the other connections then end at their next page.
    """
    stop, lock = Event(), Lock()
    rows = 0

    def count(asked: KeyRange) -> None:
        nonlocal rows
        with Client(endpoint, stop=stop) as client:
            for page in scan_pages(client, table.name, asked, options):
                if stop.is_set():
                    return
                with lock:
                    rows += len(page.rows)

    with ThreadPoolExecutor(min(workers, len(ranges))) as pool:
        parts = [pool.submit(count, each) for each in ranges]
        try:
            for done, part in enumerate(as_completed(parts), 1):
                part.result()
                told(CountProgress(done, len(ranges), rows))
        except BaseException:
            stop.set()
            for part in parts:
                part.cancel()
            raise
    return rows
