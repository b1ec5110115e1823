"""`widerow row count`: the rows of a range, counted on several connections at one time.

The range is cut where the server says that so many bytes lie between (ComputeSplitPointsBySize,
semantics §6); each part is read without columns, so little more than keys is sent. It is a scan
all the same: the server reads every row, and the service bills it.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import pairwise
from threading import Event, Lock
from typing import Final, NamedTuple

from widerow.client.connection import Client, Endpoint
from widerow.client.failures import Refused
from widerow.client.reading import KeyRange, ReadOptions, scan_pages
from widerow.client.rows import decode_rows, encode_plain_key
from widerow.client.tables import TableFacts
from widerow.limits import SPLIT_UNIT_BYTES_MIN
from widerow.model.values import KeyInput, KeyMarker
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.plainbuffer import decode_primary_key

__all__ = ["CountProgress", "Counting", "cut_range", "split_ranges"]

_PARTS_MAX: Final = 64  # more would be as many requests without rows in a small table
_Place = tuple[tuple[int, int | bytes], ...]


class CountProgress(NamedTuple):
    """How far a count is: parts that are done, of how many, and rows until now."""

    done: int
    parts: int
    rows: int


def split_ranges(client: Client, table: TableFacts, asked: KeyRange) -> list[KeyRange]:
    """Ranges that cover the one asked for, of about as many bytes each.

    One where the server cannot cut the table. Raises: `CommandFailed`.
    """
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
        return [asked]
    points = []
    for point in answer.split_points:
        given = dict(decode_rows(point)[0].key)
        columns = [(column.name, given.get(column.name, KeyMarker.INF_MIN)) for column in table.key]
        points.append(encode_plain_key(columns))
    return cut_range(asked, points)


def cut_range(asked: KeyRange, points: Sequence[bytes]) -> list[KeyRange]:
    """A forward range, cut at those of these keys, encoded and ascending, that lie inside it."""
    low, high = _place(asked.start), _place(asked.end)
    inside = [each for each in points if low < _place(each) < high]
    return [KeyRange(*pair) for pair in pairwise((asked.start, *inside, asked.end))]


def _place(encoded: bytes) -> _Place:
    """A key as it sorts: markers around values, texts by their bytes."""
    return tuple(_part(value) for _, value in decode_primary_key(encoded).columns)


def _part(value: KeyInput) -> tuple[int, int | bytes]:
    if isinstance(value, KeyMarker):
        return (0 if value is KeyMarker.INF_MIN else 2, 0)
    return (1, value.encode() if isinstance(value, str) else value)


class Counting:
    """A count of ranges, and how far it has come; whoever interrupts it asks that last."""

    def __init__(self, ranges: Sequence[KeyRange]) -> None:
        self._ranges = ranges
        self._stop, self._lock = Event(), Lock()
        self._rows = self._done = 0

    @property
    def progress(self) -> CountProgress:
        """How far it is. Any thread may ask."""
        with self._lock:
            return CountProgress(self._done, len(self._ranges), self._rows)

    def run(
        self,
        endpoint: Endpoint,
        table: TableFacts,
        options: ReadOptions,
        workers: int,
        told: Callable[[CountProgress], None],
    ) -> int:
        """The number of rows, read on `workers` connections; `told` is called after each page.

        Raises: `CommandFailed`, `KeyboardInterrupt`; other connections end at their next page.
        """
        telling = Lock()

        def count(asked: KeyRange) -> None:
            with Client(endpoint, stop=self._stop) as client:
                for page in scan_pages(client, table.name, asked, options):
                    if self._stop.is_set():
                        return
                    with self._lock:
                        self._rows += len(page.rows)
                    with telling:
                        told(self.progress)
            with self._lock:
                self._done += 1
            with telling:
                told(self.progress)

        with ThreadPoolExecutor(min(workers, len(self._ranges))) as pool:
            parts = [pool.submit(count, each) for each in self._ranges]
            try:
                for part in as_completed(parts):
                    part.result()
            except BaseException:
                self._stop.set()
                for part in parts:
                    part.cancel()
                raise
        return self.progress.rows
