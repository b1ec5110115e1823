"""What a walk of a store visits of timeseries tables (docs/formats/timeseries.md)."""

from collections.abc import Callable, Iterator
from functools import partial

from widerow.engine.catalog.catalog import Catalog, Tables
from widerow.engine.check_part import CheckPart
from widerow.engine.intents import decode_intent
from widerow.engine.streams.intents import decode_change_intent
from widerow.engine.streams.log import LogPosition
from widerow.engine.streams.log_walk import log_part
from widerow.engine.timeseries.lastpoints import decode_last, index_number
from widerow.engine.timeseries.model import TIMESERIES_MODEL
from widerow.engine.timeseries.point_records import PointRecords
from widerow.engine.timeseries.reads import key_fields
from widerow.engine.timeseries.static import check_field_names
from widerow.engine.timeseries.stored import point_fields
from widerow.engine.timeseries.walk import SeriesOfPoints
from widerow.engine.tunnels.check_tunnels import tunnel_part
from widerow.errors import StoreDamaged
from widerow.keys.encode import after_prefix, encode_key_value
from widerow.keys.layout import intent_prefix, local_index_prefix, row_prefix
from widerow.keys.series import (
    SERIES_COUNTER_AT,
    TIME_AT,
    meta_key,
    meta_of_key,
    series_hash,
    series_of,
    series_shards,
)
from widerow.limits import POINT_LAYOUT_FIELDS_MAX
from widerow.model.streams import Stream
from widerow.model.timeseries.table import TimeseriesTable
from widerow.rows.points import Layouts
from widerow.rows.series import decode_meta, decode_series
from widerow.storage.interface import Snapshot

__all__ = ["timeseries_parts"]


def timeseries_parts(catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:
    """The parts of every timeseries table: series, points, metas, the stream, intents, tunnels."""
    for table in Tables(catalog, TIMESERIES_MODEL).all():
        layouts = Layouts(POINT_LAYOUT_FIELDS_MAX, check_field_names)
        series = SeriesOfPoints(snapshot)
        numbers = frozenset(
            [index_number(index) for index in table.lastpoints]
            + [each.id.to_bytes(4, "big") for each in catalog.leftovers() if each.top == table.id]
        )
        of_series = partial(_check_series, table, layouts, numbers)
        yield _part(table, local_index_prefix(table.id), of_series)
        yield _part(table, row_prefix(table.id), partial(_check_point, table, series, layouts))
        yield _part(table, row_prefix(table.meta_id), partial(_check_meta, table))
        records = PointRecords(layouts, table)
        yield log_part(catalog, table, partial(_check_entry, records))
        yield _part(table, intent_prefix(table.id), partial(_check_intent, table, records))
        yield tunnel_part(catalog, snapshot, table, table.tunnels)


def _part(
    table: TimeseriesTable, prefix: bytes, visit: Callable[[bytes, bytes], None]
) -> CheckPart:
    return CheckPart(table.qualified, prefix, after_prefix(prefix), visit)


def _check_series(
    table: TimeseriesTable, layouts: Layouts, left: frozenset[bytes], key: bytes, record: bytes
) -> None:
    """`left`: the numbers of indexes whose records may be there, those of dropped ones too."""
    if len(key) > TIME_AT:
        decode_last(layouts, record)
        if key[TIME_AT:] not in left:
            raise StoreDamaged("a last point is of no index of the table")
        return
    series = decode_series(record)
    series_of(series.canonical)
    shard = series_shards(table.id, series_hash(series.canonical))[1]
    if len(key) != TIME_AT or key[:SERIES_COUNTER_AT] != shard:
        raise StoreDamaged("a series stands under the hash of another one")


def _check_point(
    table: TimeseriesTable, series: SeriesOfPoints, layouts: Layouts, key: bytes, record: bytes
) -> None:
    point_fields(layouts, series.of(key).record, record)
    keys = key_fields(table, key)
    if len(key) != TIME_AT + 8 + sum([len(encode_key_value(value)) for value in keys]):
        raise StoreDamaged("the key of a point has another length than its values")


def _check_entry(records: PointRecords, log: Stream, entry: bytes, position: LogPosition) -> int:
    del log, position
    return records.check(entry)


def _check_intent(table: TimeseriesTable, records: PointRecords, key: bytes, record: bytes) -> None:
    """Points on their way to the stream. Intents may be there at any moment."""
    change = decode_change_intent(decode_intent(key, record))
    if change.log != table.stream.number:
        raise StoreDamaged("points on their way to a stream that the table does not have")
    records.check(change.value)


def _check_meta(table: TimeseriesTable, key: bytes, record: bytes) -> None:
    decode_meta(record)
    canonical = meta_of_key(key)
    series_of(canonical)
    if meta_key(table.meta_id, canonical) != key:
        raise StoreDamaged("the key of a meta is not as it is written")
