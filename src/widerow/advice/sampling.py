"""A bounded sample of a table's rows with all their versions, from places all over the table."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from widerow.client.connection import Client
from widerow.client.failures import Refused
from widerow.client.reading import KeyRange, ReadOptions, scan_pages
from widerow.client.rows import encode_plain_key
from widerow.limits import ADVICE_PLACES_MAX
from widerow.model.values import KeyMarker
from widerow.rows.plain_values import Row
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.plainbuffer import decode_primary_key

__all__ = ["SampleBounds", "TableSample", "sample_table"]

_ALL_VERSIONS: Final = 2**31 - 1
_MIB: Final = 1024 * 1024
_SPLIT_UNITS: Final = (100 * _MIB, _MIB)  # the service's own unit, then the smallest (semantics §6)


class SampleBounds(NamedTuple):
    """The bounds of a sample: rows, and seconds for reading them."""

    rows: int
    seconds: float


class TableSample(NamedTuple):
    """Rows of a table, by the places at which reading began.

    `whole`: the sample is the whole table. `table_bytes`: the approximate size of the table, None
    where the endpoint does not give it; for a whole sample the commands compute it from the rows.
    """

    places: tuple[tuple[Row, ...], ...]
    whole: bool
    table_bytes: int | None

    @property
    def rows(self) -> Iterator[Row]:
        """All rows."""
        return (row for place in self.places for row in place)


def sample_table(
    client: Client, table: str, bounds: SampleBounds, told: Callable[[int], None] = lambda _: None
) -> TableSample:
    """Read rows from the beginnings of evenly chosen parts of the table until a bound is met.

    `told` is called with the number of rows read. A place is read page by page, so the time may be
    exceeded by one page. Raises: `TransferFailed`.
    """
    described = client.call(
        "DescribeTable", m.DescribeTableRequest(table_name=table), m.DescribeTableResponse
    )
    names = [str(each.name) for each in described.table_meta.primary_key]
    points, unit = _split_points(client, table)
    step = max(1, -(-(len(points) + 1) // ADVICE_PLACES_MAX))
    low = encode_plain_key([(name, KeyMarker.INF_MIN) for name in names])
    high = encode_plain_key([(name, KeyMarker.INF_MAX) for name in names])
    edges = [low, *(_completed(each, names) for each in points[step - 1 :: step]), high]
    deadline = client.now_ns() + int(bounds.seconds * 1e9)
    places: list[tuple[Row, ...]] = []
    whole, count = True, 0
    for number, (start, end) in enumerate(pairwise(edges)):
        left = (bounds.rows - count) // (len(edges) - 1 - number)
        rows, ended = _read(client, table, KeyRange(start, end), (left, deadline))
        count += len(rows)
        whole = whole and ended
        places.append(tuple(rows))
        told(count)
    return TableSample(tuple(places), whole, (len(points) + 1) * unit if points else None)


def _read(
    client: Client, table: str, place: KeyRange, bounds: tuple[int, int]
) -> tuple[list[Row], bool]:
    """Rows of a range within bounds (number, monotonic deadline); whether the range ended."""
    limit, deadline = bounds
    if limit < 1 or client.now_ns() > deadline:
        return [], False
    options = ReadOptions(max_versions=_ALL_VERSIONS)
    rows: list[Row] = []
    for page in scan_pages(client, table, place, options, limit):
        rows += page.rows
        if not page.next_key:
            return rows, True
        if client.now_ns() > deadline:
            break
    return rows, False


def _split_points(client: Client, table: str) -> tuple[Sequence[bytes], int]:
    """Keys that cut the table into parts of one size, and that size; empty if unknown."""
    for unit in _SPLIT_UNITS:
        request = m.ComputeSplitPointsBySizeRequest(
            table_name=table, split_size=1, split_size_unit_in_byte=unit
        )
        try:
            found = client.call(
                "ComputeSplitPointsBySize", request, m.ComputeSplitPointsBySizeResponse
            )
        except Refused:
            return (), unit
        if found.split_points:
            return list(found.split_points), unit
    return (), _MIB


def _completed(point: bytes, names: Sequence[str]) -> bytes:
    """A split point with the columns that it leaves out (semantics §6)."""
    known: list[tuple[str, Any]] = list(decode_primary_key(point).columns)
    rest = [(name, KeyMarker.INF_MIN) for name in names[len(known) :]]
    return encode_plain_key([*known, *rest])
