"""PutTimeseriesData: the points of a series in one transaction, metas before them (timeseries §4).

Where transactions reach over shards, those of a request are in one, with one record in the stream.

Points and metas lie in different shards, so a put takes steps that may be repeated. The body that
writes points looks whether the record of the series says that its meta is there and fresh. Where it
does not, nothing is written: the metas are written, and then the points again, with the note that
the meta is there. A meta is deleted the other way around: the meta goes, then the note, and the
series' epoch is raised. A put whose epoch was raised meanwhile begins anew: so a point that is put
behind a delete always has a meta, whatever was under way. Compiled.
"""

from collections.abc import Sequence
from struct import error as StructError  # noqa: N812  # the name of a class
from typing import Any, Final, final

from widerow.engine.plan import Plan
from widerow.engine.timeseries.context import US_IN_SECOND, KnownSeries, TimeseriesContext
from widerow.engine.timeseries.lastpoints import index_number, stored_last
from widerow.engine.timeseries.static import check_values
from widerow.engine.timeseries.stored import find_series, point_fields, record_head
from widerow.errors import InvalidRequest, Replan, StorageFailure, WiderowError
from widerow.keys.encode import after_prefix, encode_key_value
from widerow.keys.layout import (
    ROW_PREFIX_BYTES,
    SPACE_INTENTS,
    change_prefix,
    local_index_prefix,
    row_prefix,
)
from widerow.keys.series import TIME_AT, meta_key, series_shards, time_bytes
from widerow.limits import (
    SERIES_FIELD_BYTES_MAX,
    SERIES_META_REFRESH_SECONDS,
    SERIES_POINT_BYTES_MAX,
    SERIES_POINTS_MAX,
)
from widerow.model.streams import Stream
from widerow.model.timeseries.requests import MetaUpdateMode, PutResult
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.table import TimeseriesTable
from widerow.model.values import KeyType, Value
from widerow.rows.point_entries import EntryWriter
from widerow.rows.points import Layout, Layouts, PackedPoint, SentPoint
from widerow.rows.series import SeriesRecord, decode_meta, encode_meta
from widerow.storage.interface import Outcome, Transaction, Write

__all__ = ["PointsPut", "refresh_us"]

_TIME_MAX: Final = 2**63 - 1
_UNIT_BYTES: Final = 4096
_KEY_TYPES: Final[dict[KeyType, type[Any]]] = {
    KeyType.INTEGER: int,
    KeyType.STRING: str,
    KeyType.BINARY: bytes,
}


def refresh_us(table: TimeseriesTable) -> int:
    """How old the update time of a meta gets before a put writes it again (timeseries §4)."""
    seconds, ttl_s = SERIES_META_REFRESH_SECONDS, table.options.meta_ttl_s
    return US_IN_SECOND * (min(seconds, ttl_s // 2) if ttl_s >= 0 else seconds)


@final
class _PackedPoint:
    """A point that is checked and packed. `suffix`: its key behind that of its series."""

    __slots__ = ("layout", "suffix", "time_us", "values")

    def __init__(self, suffix: bytes, time_us: int, layout: Layout, values: bytes) -> None:
        self.suffix = suffix
        self.time_us = time_us
        self.layout = layout
        self.values = values


@final
class _SeriesPoints:
    """The points of a put that are of one series, no two with the same key.

    `positions`: of its points in the request. `missing`: the epoch of the series whose meta a put
    found missing; -1: none was missing. `written_us`: the update time of the meta that was written
    when the epoch was `written_at`; 0: none was.
    """

    __slots__ = (
        "missing",
        "newest_us",
        "points",
        "positions",
        "series",
        "written_at",
        "written_us",
    )

    def __init__(self, series: KnownSeries) -> None:
        self.series = series
        self.points: list[_PackedPoint] = []
        self.newest_us = -1
        self.positions: list[int] = []
        self.missing = -1
        self.written_at = 0
        self.written_us = 0

    def _place_of(self, suffix: bytes) -> int:
        """The place of the point with that key; -1 without one."""
        for at, each in enumerate(self.points):
            if each.suffix == suffix:
                return at
        return -1

    def add(self, position: int, point: _PackedPoint, layouts: Layouts) -> None:
        """Add a point; the fields of a later one with the same key overwrite those before it."""
        self.positions.append(position)
        at = -1 if point.time_us > self.newest_us else self._place_of(point.suffix)
        if at < 0:
            self.newest_us = max(self.newest_us, point.time_us)
            self.points.append(point)
            return
        before = self.points[at]
        fields = before.layout.unpack(before.values, 0)
        fields.update(point.layout.unpack(point.values, 0))
        layout, values = layouts.pack(fields)
        self.points[at] = _PackedPoint(point.suffix, point.time_us, layout, values)


def _checked_keys(table: TimeseriesTable, fields: dict[str, Value]) -> bytes:
    """The encoded key fields of a point, which are taken out of its fields (timeseries §8)."""
    parts: list[bytes] = []
    for each in table.field_keys:
        if each.name not in fields:
            raise InvalidRequest(TimeseriesRule.FIELD_KEY_MISSING, name=each.name)
        value: Any = fields.pop(each.name)
        if type(value) is not _KEY_TYPES[each.type]:
            raise InvalidRequest(TimeseriesRule.FIELD_KEY_TYPE, name=each.name)
        parts.append(encode_key_value(value))
    return b"".join(parts)


def _pack_points(
    context: TimeseriesContext, table: TimeseriesTable, points: Sequence[SentPoint]
) -> list[_SeriesPoints]:
    """The points of a request by their series, checked. Raises `InvalidRequest`."""
    if not 0 < len(points) <= SERIES_POINTS_MAX:
        raise InvalidRequest(TimeseriesRule.POINT_COUNT, count=len(points))
    layouts = context.layouts
    found: dict[bytes, _SeriesPoints] = {}
    key: object = None
    group: _SeriesPoints | None = None
    size = 0
    for position, point in enumerate(points):
        if group is None or point.series is not key:
            key = point.series
            known = context.series(table, point.series)
            group = found.get(known.canonical)
            if group is None:
                group = found[known.canonical] = _SeriesPoints(known)
        packed = _packed(layouts, table, point)
        size += len(packed.suffix) + len(packed.values)
        group.add(position, packed, layouts)
    if size > SERIES_POINT_BYTES_MAX:
        raise InvalidRequest(TimeseriesRule.POINT_BYTES, size=size)
    return list(found.values())


def _packed(layouts: Layouts, table: TimeseriesTable, point: SentPoint) -> _PackedPoint:
    if isinstance(point, PackedPoint) and point.values and not table.field_keys:
        sent_us = point.time_us
        if sent_us < 0:
            raise InvalidRequest(TimeseriesRule.POINT_TIME, value=int(sent_us))
        layout = layouts.of_shape(point.shape)
        if len(point.values) > SERIES_FIELD_BYTES_MAX:
            check_values(point.fields)
        return _PackedPoint(time_bytes(sent_us), sent_us, layout, point.values)
    time_us = point.time_us
    if not 0 <= time_us <= _TIME_MAX:
        raise InvalidRequest(TimeseriesRule.POINT_TIME, value=time_us)
    suffix = time_bytes(time_us)
    fields = point.fields
    if table.field_keys:
        fields = dict(fields)
        suffix += _checked_keys(table, fields)
    if not fields:
        raise InvalidRequest(TimeseriesRule.FIELD_COUNT, count=0)
    try:
        layout, values = layouts.pack(fields)
    except StructError as error:
        raise InvalidRequest(TimeseriesRule.FIELD_NUMBER) from error
    if len(values) > SERIES_FIELD_BYTES_MAX:
        check_values(fields)
    return _PackedPoint(suffix, time_us, layout, values)


_Written = tuple[int, int, int]
"""The update time of a series' meta, 0 if that was not looked at; points and bytes that came."""


@final
class _PointsWrite(Write[list[_Written]]):
    """The write of the points of some series, and of their record in the stream.

    Where transactions reach over shards it is that of a whole request, which has one record for
    each shard of the stream; else of one series.
    """

    __slots__ = ("asked_us", "context", "keeps_meta", "parts", "places", "planned", "table")

    def __init__(
        self,
        context: TimeseriesContext,
        table: TimeseriesTable,
        parts: list[_SeriesPoints],
        when: tuple[int, int],
        *,
        keeps_meta: bool,
    ) -> None:
        """`when`: the epoch of the catalogue (`Catalog.planned`), and when the put was asked for.

        That is in microseconds since 1970.
        """
        planned, self.asked_us = when
        places = [series_shards(table.id, each.series.digest) for each in parts]
        if context.log.reached:
            number = table.id
            shards = row_prefix(number), local_index_prefix(number), change_prefix(number)
        else:
            [(points, records)] = places
            shards = points, records, SPACE_INTENTS + points[1:]
        super().__init__(shards)
        self.places = places
        self.context = context
        self.table = table
        self.parts = parts
        self.planned = planned
        self.keeps_meta = keeps_meta
        if planned >= 0:
            self.reads = context.tables.catalog.reads

    def run(self, txn: Transaction) -> list[_Written]:
        """Write the points. Raises `Replan` where a meta has to be written first."""
        context = self.context
        table = context.tables.current(self.table, txn, self.planned)
        log, stream = context.log, table.stream
        entries: dict[int, tuple[bytes, EntryWriter]] = {}  # by shards of the stream
        done: list[_Written] = []
        is_missing = False
        for at, mine in enumerate(self.parts):
            prefix, record_prefix = self.places[at]
            shard = log.shard_number(stream, prefix)
            if shard not in entries:
                entries[shard] = prefix, EntryWriter()
            entry = entries[shard][1]
            try:
                done.append(self._put(txn, table, mine, (prefix, record_prefix), entry))
            except Replan:
                is_missing = True
        if is_missing:
            raise Replan
        for prefix, entry in entries.values():
            self._append(txn, stream, prefix, entry)
        return done

    def _append(self, txn: Transaction, log: Stream, prefix: bytes, entry: EntryWriter) -> None:
        value, place = entry.encode(), (self.table.id, prefix)
        self.context.log.append(txn, log, place, self.asked_us, lambda _: value, entry.count)

    def _put(
        self,
        txn: Transaction,
        table: TimeseriesTable,
        mine: _SeriesPoints,
        place: tuple[bytes, bytes],
        entry: EntryWriter,
    ) -> _Written:
        """Write the points of a series. Raises `Replan` where its meta has to be written first."""
        series = mine.series
        prefix, record_prefix = place
        mine.missing = -1
        counter, record = find_series(txn, record_prefix, series.canonical)
        is_changed = record is None
        if record is None:
            record = SeriesRecord(series.canonical, 0, 0, [])
        updated_us = 0
        if self.keeps_meta:
            updated_us = self._meta_of(mine, record, refresh_us(table))
            if updated_us != record.refreshed_us:
                record.refreshed_us = updated_us
                is_changed = True
        known = len(record.layouts)
        entry.begin(series.canonical)
        rows, size = self._write_points(txn, mine, prefix + counter, record, entry)
        if table.lastpoints:
            self._keep_last(txn, table, mine, record_prefix + counter)
        if is_changed or len(record.layouts) > known:
            txn.put(record_prefix + counter, record.encode())
        return updated_us, rows, size

    def _keep_last(
        self, txn: Transaction, table: TimeseriesTable, mine: _SeriesPoints, series: bytes
    ) -> None:
        """Write the newest values into the last-point indexes."""
        layouts = self.context.layouts
        live_from_us = self.context.live_from_us(table)
        unpacked = [(point.time_us, point.layout.unpack(point.values, 0)) for point in mine.points]
        for index in table.lastpoints:
            key = series + index_number(index)
            found = stored_last(layouts, txn, key, live_from_us)
            for time_us, fields in unpacked:
                found.add(time_us, fields)
            txn.put(key, found.encode(layouts))

    def _meta_of(self, mine: _SeriesPoints, record: SeriesRecord, refresh: int) -> int:
        """The update time of the meta. Raises `Replan` where it has to be written first."""
        if mine.written_us and mine.written_at == record.epoch_us:
            return max(mine.written_us, record.refreshed_us)
        if record.refreshed_us <= self.context.clock.now_us() - refresh:
            mine.missing = record.epoch_us
            raise Replan
        return record.refreshed_us

    def _write_points(
        self,
        txn: Transaction,
        mine: _SeriesPoints,
        prefix: bytes,
        record: SeriesRecord,
        entry: EntryWriter,
    ) -> tuple[int, int]:
        """Write the points, each merged with one that is there; by how much the table grew.

        `entry` gets them as they are written.
        """
        points = mine.points
        rows = len(points)
        size = 0
        before = self._stored_before(txn, points, prefix)
        last: Layout | None = None
        head = b""
        for at, point in enumerate(points):
            layout, values = point.layout, point.values
            key = prefix + point.suffix
            old = None if before is None else before[at]
            if old is not None:
                fields = point_fields(self.context.layouts, record, old)
                fields.update(layout.unpack(values, 0))
                layout, values = self.context.layouts.pack(fields)
                rows -= 1
                size -= len(key) + len(old)
            if layout is not last:
                head = record_head(record.number(layout.encoded), layout)
                last = layout
            new = head + values
            txn.put(key, new)
            entry.add(point.suffix, layout, values)
            size += len(key) + len(new)
        return rows, size

    def _stored_before(
        self, txn: Transaction, points: list[_PackedPoint], prefix: bytes
    ) -> list[bytes | None] | None:
        """The stored records of the points; None where none of them is stored."""
        newest = self.context.newest
        if newest is None:
            return txn.get_many([prefix + point.suffix for point in points])
        noted = newest.get(prefix)
        if noted < -1:
            noted = -1
            for key, _ in txn.scan(prefix, after_prefix(prefix), reverse=True):
                noted = int.from_bytes(key[TIME_AT : TIME_AT + 8], "big")
                break
        latest = earliest = points[0].time_us
        for point in points:
            latest = max(latest, point.time_us)
            earliest = min(earliest, point.time_us)
        newest.note(prefix, max(noted, latest))
        if earliest > noted:
            return None
        return [
            None if point.time_us > noted else txn.get(prefix + point.suffix) for point in points
        ]

    def settle(self, result: list[_Written]) -> None:
        """The points are durable: count them for their partitions."""
        notes, number = self.context.notes, self.table.id
        for at, (_, rows, size) in enumerate(result):
            units = max(1, -(-size // _UNIT_BYTES))
            notes.add(number, self.places[at][0][ROW_PREFIX_BYTES:], 0, units, rows, size)


@final
class _MetaTouch(Write[int]):
    """Writes the meta of a series if it is not there, or its update time if that is old.

    Its result: the update time.
    """

    __slots__ = ("canonical", "context", "key", "planned", "table")

    def __init__(
        self, context: TimeseriesContext, table: TimeseriesTable, canonical: bytes, planned: int
    ) -> None:
        """`planned`: the epoch of the catalogue (`Catalog.planned`)."""
        self.key = meta_key(table.meta_id, canonical)
        super().__init__((self.key,))
        self.context = context
        self.table = table
        self.canonical = canonical
        self.planned = planned
        if planned >= 0:
            self.reads = context.tables.catalog.reads

    def run(self, txn: Transaction) -> int:
        """Write the meta; attributes stay, unless it has expired."""
        table = self.context.tables.current(self.table, txn, self.planned)
        now_us = self.context.clock.now_us()
        record = txn.get(self.key)
        updated_us, attributes = (0, ()) if record is None else decode_meta(record)
        if updated_us > now_us - refresh_us(table):
            return updated_us
        if updated_us < self.context.metas_from_us(table):
            attributes = ()
        txn.put(self.key, encode_meta(now_us, attributes))
        return now_us


@final
class PointsPut:
    """A put under way: what is left of it, and what became of the rest."""

    def __init__(
        self,
        context: TimeseriesContext,
        table: TimeseriesTable,
        points: Sequence[SentPoint],
        mode: MetaUpdateMode,
    ) -> None:
        """Check a request. Raises `InvalidRequest`."""
        self._context = context
        self._asked_us = context.clock.now_us()
        self._table = table
        self._count = len(points)
        self._left = _pack_points(context, table, points)
        self._written: list[list[_SeriesPoints]] = []  # by the writes that are under way
        self._keeps_meta = mode is MetaUpdateMode.NORMAL
        self._failed: dict[int, WiderowError] = {}
        self._metas: dict[int, int] = {}

    def plan(self) -> Plan[PutResult]:
        """The writes of the points that are left. Raises `NotFound`, `StoreBusy`."""
        context = self._context
        planned = context.tables.catalog.planned()
        self._table = context.tables.current(self._table)
        when = planned, self._asked_us
        together = context.log.reached
        self._written = [self._left] if together else [[each] for each in self._left]
        writes = [
            _PointsWrite(context, self._table, parts, when, keeps_meta=self._keeps_meta)
            for parts in self._written
        ]
        size = sum([len(point.values) for each in self._left for point in each.points])
        return Plan(tuple(writes), self._finish, size, self._again)

    def _finish(self, outcomes: Sequence[Outcome[Any]]) -> PutResult:
        left: list[_SeriesPoints] = []
        for parts, outcome in zip(self._written, outcomes, strict=True):
            error = outcome.error
            if error is None:
                done: Any = outcome.result
                for each, (updated_us, _, _) in zip(parts, done, strict=True):
                    if updated_us:
                        self._metas[each.positions[0]] = updated_us // US_IN_SECOND
            elif isinstance(error, Replan):
                left += parts
            else:
                for each in parts:
                    self._fail(each, error)
        self._left = left
        if left:
            raise Replan
        return self._result()

    def _fail(self, each: _SeriesPoints, error: Exception) -> None:
        """Note an error of the store for the points of a series; raise any other one."""
        if not isinstance(error, StorageFailure):
            raise error
        for position in each.positions:
            self._failed[position] = error

    def _result(self) -> PutResult:
        if self._failed and not self._metas and len(self._failed) == self._count:
            raise next(iter(self._failed.values()))
        return PutResult(self._failed, self._metas)

    def _again(self, _: Sequence[Outcome[Any]]) -> Plan[PutResult]:
        """The points that are left, behind the metas that they miss."""
        missing = [each for each in self._left if each.missing >= 0]
        if not missing:
            return self.plan()
        context = self._context
        planned = context.tables.catalog.planned()
        table = self._table = context.tables.current(self._table)
        writes = [_MetaTouch(context, table, each.series.canonical, planned) for each in missing]

        def finish(outcomes: Sequence[Outcome[Any]]) -> PutResult:
            for each, outcome in zip(missing, outcomes, strict=True):
                if outcome.error is None:
                    updated_us: Any = outcome.result
                    each.written_at, each.written_us = each.missing, updated_us
                elif not isinstance(outcome.error, Replan):
                    self._fail(each, outcome.error)
                    self._left.remove(each)
            if self._left:
                raise Replan
            return self._result()

        return Plan(tuple(writes), finish, again=lambda _: self.plan(), prepares=True)
