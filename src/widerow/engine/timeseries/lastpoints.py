"""Last-point indexes: the newest value of each field of each series (timeseries §10).

    01 time length layout times values   beside the record of a series

An index is written with the points, in their transaction. What arrives first does not matter: a
value is replaced by those of its field that are not older. A build only adds what is newer than
what is there, so it may be repeated and meets writers at any moment. Compiled.
"""

from collections.abc import Iterator, Mapping, Sequence
from struct import Struct
from struct import error as StructError  # noqa: N812  # the name of a class
from typing import Final, NamedTuple, final

from widerow.engine.timeseries.context import TimeseriesContext
from widerow.errors import Conflict, NotFound, StoreDamaged
from widerow.keys.encode import after_prefix, model_order
from widerow.keys.layout import local_index_prefix
from widerow.keys.series import HASH_BYTES, SERIES_COUNTER_AT, TIME_AT, key_parts, series_of
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.table import LastpointIndex, TimeseriesTable
from widerow.model.values import KeyInput, Value
from widerow.rows.points import Layouts
from widerow.rows.series import decode_series
from widerow.storage.interface import Reader, Transaction

__all__ = [
    "LastPoint",
    "LastpointRow",
    "decode_last",
    "index_number",
    "keep_last",
    "lastpoint_named",
    "scan_lastpoints",
    "stored_last",
]

_KIND: Final = 1
_HEADER: Final = Struct(">BQI")
_TIME_COLUMN: Final = "_time"
_HEX: Final = "0123456789abcdef"


class LastpointRow(NamedTuple):
    """A row of a last-point index.

    `key`: `_#h` and the columns of the table's key. `cells`: by names in their order, `_time` among
    them, a value and the time of its point in microseconds since 1970. `size`: bytes as stored.
    """

    key: tuple[str, ...]
    time_us: int
    cells: Mapping[str, tuple[Value, int]]
    size: int


@final
class LastPoint:
    """The newest values of a series. `times`: of each field, by names as `fields`."""

    __slots__ = ("fields", "time_us", "times")

    def __init__(self) -> None:
        self.time_us = -1
        self.times: dict[str, int] = {}
        self.fields: dict[str, Value] = {}

    def add(self, time_us: int, fields: Mapping[str, Value]) -> None:
        """Take the fields of a point that is written now: those of the same time are replaced."""
        self.time_us = max(self.time_us, time_us)
        times = self.times
        for name, value in fields.items():
            if times.get(name, -1) <= time_us:
                times[name] = time_us
                self.fields[name] = value

    def join(self, older: "LastPoint") -> bool:
        """Take values that are newer than these; whether there are any."""
        changed = older.time_us > self.time_us
        self.time_us = max(self.time_us, older.time_us)
        for name, time_us in older.times.items():
            if self.times.get(name, -1) < time_us:
                self.times[name] = time_us
                self.fields[name] = older.fields[name]
                changed = True
        return changed

    def encode(self, layouts: Layouts) -> bytes:
        """The bytes of the record."""
        layout, values = layouts.pack(self.fields)
        head = _HEADER.pack(_KIND, self.time_us, len(layout.encoded))
        times = b"".join([self.times[name].to_bytes(8, "big") for name in layout.names])
        return b"".join([head, layout.encoded, times, values])


def decode_last(layouts: Layouts, record: bytes) -> LastPoint:
    """The newest values in a record. Raises `StoreDamaged`."""
    found = LastPoint()
    try:
        kind, found.time_us, size = _HEADER.unpack_from(record)
    except StructError as problem:
        raise StoreDamaged(f"a last point is malformed: {record[:99]!r}") from problem
    at = _HEADER.size + size
    layout = layouts.of_bytes(record[_HEADER.size : at])
    end = at + 8 * len(layout.names)
    if kind != _KIND or end > len(record):
        raise StoreDamaged(f"a last point is malformed: {record[:99]!r}")
    for number, name in enumerate(layout.names):
        begin = at + 8 * number
        found.times[name] = int.from_bytes(record[begin : begin + 8], "big")
    found.fields = layout.unpack(record, end)
    return found


def index_number(index: LastpointIndex) -> bytes:
    """What keys of an index end with."""
    return index.number.to_bytes(4, "big")


def stored_last(layouts: Layouts, txn: Transaction, key: bytes, live_from_us: int) -> LastPoint:
    """The newest values of a series in an index; none where they have expired."""
    record = txn.get(key)
    found = LastPoint() if record is None else decode_last(layouts, record)
    return found if found.time_us >= live_from_us else LastPoint()


def keep_last(
    context: TimeseriesContext,
    table: TimeseriesTable,
    txn: Transaction,
    key: bytes,
    added: LastPoint,
) -> None:
    """Join values with those of an index that are there."""
    layouts = context.layouts
    found = stored_last(layouts, txn, key, context.live_from_us(table))
    if found.join(added):
        txn.put(key, found.encode(layouts))


def lastpoint_named(table: TimeseriesTable, name: str) -> LastpointIndex:
    """The index of a table by its name. Raises `NotFound`."""
    for index in table.lastpoints:
        if index.name == name:
            return index
    raise NotFound(TimeseriesRule.LASTPOINT_NOT_FOUND, instance=table.instance, table=name)


def scan_lastpoints(
    context: TimeseriesContext,
    reader: Reader,
    indexed: tuple[TimeseriesTable, LastpointIndex],
    bounds: tuple[Sequence[KeyInput], Sequence[KeyInput]],
    *,
    reverse: bool,
) -> Iterator[LastpointRow]:
    """The rows of an index from a key, with it, to before another one.

    Raises `Conflict` while the index is being built, `StoreDamaged`.
    """
    table, index = indexed
    if not index.ready:
        raise Conflict(TimeseriesRule.LASTPOINT_BUILDING, table=index.name)
    first, last = model_order(bounds[0]), model_order(bounds[1])
    low, high = min(first[0], last[0]), max(first[0], last[0])
    prefix = local_index_prefix(table.id)
    near = prefix + _hash_near(bounds[0][0])
    start, stop = (prefix, after_prefix(near)) if reverse else (near, after_prefix(prefix))
    live_from_us = context.live_from_us(table)
    found = _found(reader, start, stop, index, reverse=reverse)
    for key, record in _in_order(table, found, reverse=reverse):
        if not low < (0, key[0]) < high:  # else the hash alone says that the row is between them
            order = model_order(key)
            inside = last < order <= first if reverse else first <= order < last
            if not inside:
                if (order[0] < last[0]) if reverse else (order[0] > last[0]):
                    return
                continue
        last_point = decode_last(context.layouts, record)
        time_us = last_point.time_us
        if time_us < live_from_us:
            continue
        times = last_point.times
        cells = {name: (value, times[name]) for name, value in last_point.fields.items()}
        cells[_TIME_COLUMN] = time_us, time_us
        yield LastpointRow(key, time_us, dict(sorted(cells.items())), len(record))


def _in_order(
    table: TimeseriesTable, found: Iterator[tuple[bytes, bytes, bytes]], *, reverse: bool
) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """Keys and records by keys: series of one hash stand in the order of their making."""
    held: list[tuple[tuple[str, ...], bytes]] = []
    custom_key = table.custom_key
    for digest, canonical, record in found:
        if custom_key:
            key = (digest.hex(), *table.key_values(series_of(canonical)))
        else:  # the columns are the parts of the canonical key, and tags stay a text
            key = (digest.hex(), *key_parts(canonical))
        if held and held[0][0][0] != key[0]:
            yield from sorted(held, reverse=reverse)
            held = []
        held.append((key, record))
    yield from sorted(held, reverse=reverse)


def _hash_near(bound: KeyInput) -> bytes:
    """A beginning of all hashes that are equal to a bound, and of some that are near to it."""
    if not isinstance(bound, str):
        return b""
    size = 0
    for each in bound[: 2 * HASH_BYTES]:
        if each not in _HEX:
            break
        size += 1
    return bytes.fromhex(bound[: size // 2 * 2])


def _found(
    reader: Reader, start: bytes, stop: bytes, index: LastpointIndex, *, reverse: bool
) -> Iterator[tuple[bytes, bytes, bytes]]:
    """The hash, the canonical key and the record of each series in an index."""
    number = index_number(index)
    series = canonical = record = b""
    for key, stored in reader.scan(start, stop, reverse=reverse):
        if key[:TIME_AT] != series:
            series = key[:TIME_AT]
            canonical = record = b""
        if len(key) == TIME_AT:
            canonical = decode_series(stored).canonical
        elif key[TIME_AT:] == number:
            record = stored
        else:
            continue
        if canonical and record:
            yield key[SERIES_COUNTER_AT - HASH_BYTES : SERIES_COUNTER_AT], canonical, record
