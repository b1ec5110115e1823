"""Metas of series: queries, changes, deletes (timeseries §6).

`puts.py` says how metas and points keep together, though no transaction has both.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from widerow.engine.plan import Plan
from widerow.engine.timeseries.context import KnownSeries, TimeseriesContext
from widerow.engine.timeseries.meta_conditions import check_condition, holds, leading_text
from widerow.engine.timeseries.static import check_attributes
from widerow.engine.timeseries.stored import find_series
from widerow.errors import (
    Exhausted,
    InvalidRequest,
    Replan,
    StorageFailure,
    Unsupported,
    WiderowError,
)
from widerow.keys.encode import after_prefix, encode_key_value
from widerow.keys.layout import ROW_PREFIX_BYTES, row_prefix
from widerow.keys.series import meta_key, meta_of_key, series_of, series_shards
from widerow.limits import (
    SERIES_META_CHANGES_MAX,
    SERIES_METAS_MAX,
    SERIES_SCAN_RECORDS_MAX,
    SERIES_TOTAL_RECORDS_MAX,
)
from widerow.model.timeseries.requests import MetaChange, MetaCondition, MetaPage, MetaQuery
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import SeriesKey, SeriesMeta, Tags
from widerow.model.timeseries.table import TimeseriesTable
from widerow.rows.series import SeriesRecord, decode_meta, encode_meta
from widerow.safepoint import safepoint
from widerow.storage.interface import Outcome, Reader, Transaction, Write

__all__ = [
    "MetasRead",
    "SeriesSteps",
    "changing_metas",
    "deleting_metas",
    "find_meta",
    "query_metas",
    "read_metas",
    "walk_metas",
]

_POSITION: Final = b"\x01"  # a version; the key of the last meta behind its table follows
_METAS_BETWEEN_PAUSES: Final = 128


# --- queries ---------------------------------------------------------------------------------


def query_metas(
    context: TimeseriesContext, reader: Reader, table: TimeseriesTable, query: MetaQuery
) -> MetaPage:
    """A page of the metas that a condition holds for, in the order of canonical keys.

    A page may have fewer metas than asked for, or none, and lead on. Cost: every meta whose key
    begins as the condition asks, up to the end of the page, at most 50000; where the total is asked
    for those of all pages, at most a million. Raises `InvalidRequest`, `Unsupported`, and
    `Exhausted` where there are more for the total.
    """
    if not table.meta_index:
        raise Unsupported(TimeseriesRule.META_INDEX, table=table.name)
    condition = query.condition
    if condition is not None:
        check_condition(condition)
    limit = SERIES_METAS_MAX if query.limit <= 0 else min(query.limit, SERIES_METAS_MAX)
    position = _position(table, query.after)
    found: list[SeriesMeta] = []
    last, passed, following = b"", b"", b""
    total = 0
    begin = b"" if query.total else position
    walked = walk_metas(context, reader, table, leading_text(condition), begin)
    for count, (key, meta) in enumerate(walked):
        if query.total and count == SERIES_TOTAL_RECORDS_MAX:
            raise Exhausted(TimeseriesRule.META_TOTAL, limit=SERIES_TOTAL_RECORDS_MAX)
        if count == SERIES_SCAN_RECORDS_MAX and not query.total:
            following = _POSITION + passed[ROW_PREFIX_BYTES:]
            break
        passed = key
        if condition is not None and not holds(condition, meta):
            continue
        total += 1
        if key <= position:
            continue
        if len(found) < limit:
            found.append(meta)
            last = key
            continue
        following = _POSITION + last[ROW_PREFIX_BYTES:]
        if not query.total:
            break
    return MetaPage(found, total if query.total else None, following)


def _position(table: TimeseriesTable, after: bytes) -> bytes:
    """The key behind which a page begins; b"": at the first. Raises `InvalidRequest`."""
    if not after:
        return b""
    if after[:1] != _POSITION or len(after) < len(_POSITION) + 2:
        raise InvalidRequest(TimeseriesRule.POSITION)
    return row_prefix(table.meta_id) + after[len(_POSITION) :]


def walk_metas(
    context: TimeseriesContext,
    reader: Reader,
    table: TimeseriesTable,
    leading: str = "",
    after: bytes = b"",
) -> Iterator[tuple[bytes, SeriesMeta]]:
    """The keys and metas of a table whose canonical keys begin with a text, behind a key.

    Raises `StoreDamaged`.
    """
    start = row_prefix(table.meta_id) + encode_key_value(leading)[:-2]
    live_from_us = context.metas_from_us(table)
    first = max(start, after + b"\x00") if after else start
    for count, (key, record) in enumerate(reader.scan(first, after_prefix(start))):
        if count % _METAS_BETWEEN_PAUSES == 0:
            safepoint()
        updated_us, attributes = decode_meta(record)
        if updated_us >= live_from_us:
            yield key, SeriesMeta(series_of(meta_of_key(key)), attributes, updated_us)


class MetasRead(NamedTuple):
    """Metas that a condition holds for, and the bytes of all that were looked at for them."""

    metas: list[SeriesMeta]
    size: int


def read_metas(
    context: TimeseriesContext,
    reader: Reader,
    table: TimeseriesTable,
    condition: MetaCondition | None,
) -> Iterator[MetasRead]:
    """All metas that a condition holds for, None: of the table, in the order of canonical keys.

    Each part is of at most 1000 metas that were looked at, so that a reader may end in between.
    Raises `InvalidRequest`, `Unsupported`, `StoreDamaged`.
    """
    if not table.meta_index:
        raise Unsupported(TimeseriesRule.META_INDEX, table=table.name)
    if condition is not None:
        check_condition(condition)
    found: list[SeriesMeta] = []
    looked_at = size = 0
    for key, meta in walk_metas(context, reader, table, leading_text(condition)):
        looked_at += 1
        size += len(key)
        if condition is None or holds(condition, meta):
            found.append(meta)
        if looked_at == SERIES_METAS_MAX:
            yield MetasRead(found, size)
            found, looked_at, size = [], 0, 0
    yield MetasRead(found, size)


def find_meta(
    context: TimeseriesContext, reader: Reader, table: TimeseriesTable, series: KnownSeries
) -> MetasRead:
    """The meta of a series, if it has one. Raises `StoreDamaged`."""
    key = meta_key(table.meta_id, series.canonical)
    record = reader.get(key)
    if record is None:
        return MetasRead([], len(key))
    updated_us, attributes = decode_meta(record)
    if updated_us < context.metas_from_us(table):
        return MetasRead([], len(key))
    return MetasRead([SeriesMeta(series.key, attributes, updated_us)], len(key))


# --- steps -----------------------------------------------------------------------------------

_Step = Callable[[TimeseriesTable, KnownSeries, int, int], Write[Any]]
"""The write of a step for a series: the table, the series, its position, the planned epoch."""


class SeriesSteps:
    """Steps that are made for each of some series, one step behind the other.

    Each step is a write of its own shard, and may be repeated. A series for which the store failed
    takes no further step.
    """

    def __init__(
        self,
        context: TimeseriesContext,
        table: TimeseriesTable,
        series: Sequence[KnownSeries],
        steps: Sequence[_Step],
    ) -> None:
        self._context = context
        self._table = table
        self._left = list(enumerate(series))
        self._made: list[tuple[int, KnownSeries]] = []
        self._steps = list(steps)
        self._failed: dict[int, WiderowError] = {}

    def plan(self) -> Plan[dict[int, WiderowError]]:
        """What is left of the step that is under way; it answers errors by position."""
        context, step = self._context, self._steps[0]
        planned = context.tables.catalog.planned()
        table = context.tables.current(self._table)
        writes = [step(table, series, at, planned) for at, series in self._left]
        for write in writes:
            write.reads = context.tables.catalog.reads if planned >= 0 else ()
        prepares = len(self._steps) > 1
        return Plan(tuple(writes), self._finish, again=lambda _: self.plan(), prepares=prepares)

    def _finish(self, outcomes: Sequence[Outcome[Any]]) -> dict[int, WiderowError]:
        left: list[tuple[int, KnownSeries]] = []
        for each, outcome in zip(self._left, outcomes, strict=True):
            error = outcome.error
            if error is None:
                self._made.append(each)
            elif isinstance(error, Replan):
                left.append(each)
            elif isinstance(error, StorageFailure):
                self._failed[each[0]] = error
            else:
                raise error
        if not left and len(self._steps) > 1 and self._made:
            left, self._made = self._made, []
            del self._steps[0]
        self._left = left
        if left:
            raise Replan
        return self._failed


def _known(
    context: TimeseriesContext, table: TimeseriesTable, keys: Sequence[SeriesKey]
) -> list[KnownSeries]:
    if not 0 < len(keys) <= SERIES_META_CHANGES_MAX:
        raise InvalidRequest(TimeseriesRule.META_COUNT, count=len(keys))
    return [context.series(table, key) for key in keys]


# --- changes ---------------------------------------------------------------------------------


def changing_metas(
    context: TimeseriesContext, table: TimeseriesTable, changes: Sequence[MetaChange]
) -> Plan[dict[int, WiderowError]]:
    """UpdateTimeseriesMeta: metas are changed, or made. Raises `InvalidRequest`."""
    series = _known(context, table, [each.key for each in changes])
    for each in changes:
        if each.attributes is not None:
            check_attributes(each.attributes)
    _check_allowed(table, changes)

    def step(
        table: TimeseriesTable, known: KnownSeries, position: int, planned: int
    ) -> Write[None]:
        key = meta_key(table.meta_id, known.canonical)
        attributes = changes[position].attributes

        def body(txn: Transaction) -> None:
            current = context.tables.current(table, txn, planned)
            _check_allowed(current, (changes[position],))
            txn.put(key, encode_meta(context.clock.now_us(), _kept(txn, current, key, attributes)))

        return Write((key,), body)

    def _kept(
        txn: Transaction, current: TimeseriesTable, key: bytes, attributes: Tags | None
    ) -> Tags:
        record = None if attributes is not None else txn.get(key)
        if record is None:
            return attributes or ()
        updated_us, found = decode_meta(record)
        return found if updated_us >= context.metas_from_us(current) else ()

    return SeriesSteps(context, table, series, (step,)).plan()


def _check_allowed(table: TimeseriesTable, changes: Sequence[MetaChange]) -> None:
    if table.options.update_attributes:
        return
    if any(each.attributes is not None for each in changes):
        raise InvalidRequest(TimeseriesRule.ATTRIBUTES_FIXED, table=table.name)


def deleting_metas(
    context: TimeseriesContext, table: TimeseriesTable, keys: Sequence[SeriesKey]
) -> Plan[dict[int, WiderowError]]:
    """DeleteTimeseriesMeta: metas go, points stay. Raises `InvalidRequest`.

    First the note goes that it is there, in the shard of the points, so that a process that ends
    behind that leaves no note of a meta that is gone; then the meta; then the note again, which a
    put may have made in between.
    """

    def remove(table: TimeseriesTable, known: KnownSeries, _: int, planned: int) -> Write[None]:
        key = meta_key(table.meta_id, known.canonical)

        def body(txn: Transaction) -> None:
            context.tables.current(table, txn, planned)
            txn.delete(key)

        return Write((key,), body, frees=True)

    def forget(table: TimeseriesTable, known: KnownSeries, _: int, planned: int) -> Write[None]:
        shards = series_shards(table.id, known.digest)

        def body(txn: Transaction) -> None:
            context.tables.current(table, txn, planned)
            counter, record = find_series(txn, shards[1], known.canonical)
            if record is None:
                record = SeriesRecord(known.canonical, 0, 0, [])
            record.epoch_us = max(record.epoch_us + 1, context.clock.now_us())
            record.refreshed_us = 0
            txn.put(shards[1] + counter, record.encode())

        return Write(shards, body, frees=True)

    series = _known(context, table, keys)
    return SeriesSteps(context, table, series, (forget, remove, forget)).plan()
