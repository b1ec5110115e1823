"""What actions on rows see of timeseries tables: last-point indexes and points (timeseries §9).

A last-point index has a row for each series, under its own name; the points of a table are rows
under its name and `#timeseries`. Neither has versions of its cells beside the newest.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from widerow.engine.scan import UNBOUNDED, Bound, RowAccess, ScannedRow
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.timeseries.scan import hash_of_point
from widerow.errors import InvalidRequest
from widerow.keys.encode import model_order
from widerow.model.tablestore.schema import (
    KeyColumn,
    SecondaryIndex,
    Table,
    TableOptions,
    Throughput,
    ThroughputState,
)
from widerow.model.timeseries.points import (
    HASH_COLUMN,
    POINT_ROWS_SUFFIX,
    POINT_SUFFIXES,
    POINT_TIME_COLUMN,
)
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import (
    MEASUREMENT_COLUMN,
    SOURCE_COLUMN,
    TAGS_COLUMN,
    SeriesKey,
    tags_of_text,
)
from widerow.model.timeseries.table import AnalyticalStore, LastpointIndex, TimeseriesTable
from widerow.model.values import KeyInput, KeyType, Value
from widerow.wire.tablestore.operations.timeseries.found import is_filling, timeseries
from widerow.wire.tablestore.operations.timeseries.made_row import MadeRow, MadeRows
from widerow.wire.tablestore.operations.timeseries.newest_rows import NewestRows

__all__ = [
    "PointRows",
    "seen_table",
    "series_of_columns",
]

_HASH: Final = re.compile("[0-9a-f]{16}")
_VERSION_OFFSET_SECONDS: Final = 86_400


def seen_table(engine: TablestoreEngine, instance: str, name: str) -> MadeRows | None:
    """What has the name of a table beside Tablestore's tables, if anything has.

    Raises `NotFound` for the points of a table that is not there.
    """
    tables = timeseries(engine)
    if name.endswith(POINT_ROWS_SUFFIX):
        base = name.removesuffix(POINT_ROWS_SUFFIX)
        return PointRows(engine, tables.find(instance, base))
    indexed = tables.find_lastpoint(instance, name)
    if indexed is not None:
        return _LastPoints(engine, indexed)
    for table in engine.tables.owned(instance):
        for view in table.newest:
            if view.name == name:
                return NewestRows(engine, table, view)
    return None


def _as_table(
    table: TimeseriesTable,
    name: str,
    columns: Sequence[KeyColumn],
    indexes: tuple[SecondaryIndex, ...] = (),
) -> Table:
    return Table(
        instance=table.instance,
        name=name,
        id=table.id,
        key_columns=(
            KeyColumn(HASH_COLUMN, KeyType.STRING),
            *[KeyColumn(each, KeyType.STRING) for each in table.key],
            *columns,
        ),
        defined_columns=(),
        options=TableOptions(table.options.ttl_s, 1, _VERSION_OFFSET_SECONDS),
        throughput=ThroughputState(Throughput(0, 0), 0),
        created_us=0,
        indexes=indexes,
        # As an index its key may have more columns than that of a table.
        index_of=table.id,
    )


class _LastPoints:
    """The rows of a last-point index."""

    def __init__(
        self, engine: TablestoreEngine, indexed: tuple[TimeseriesTable, LastpointIndex]
    ) -> None:
        self.table = _as_table(indexed[0], indexed[1].name, ())
        self._engine = timeseries(engine)
        self._indexed = indexed

    def rows(
        self, start: Sequence[KeyInput], end: Sequence[KeyInput], *, reverse: bool
    ) -> Iterator[MadeRow]:
        """Each field of the newest point that had it, with the milliseconds of that point."""
        for found in self._engine.lastpoint_rows(self._indexed, start, end, reverse=reverse):
            cells = [(name, value, time // 1000) for name, (value, time) in found.cells.items()]
            yield MadeRow(found.key, cells)


class PointRows:
    """The rows of the points of a table. `points`: the table itself."""

    def __init__(self, engine: TablestoreEngine, table: TimeseriesTable) -> None:
        keys = [KeyColumn(each.name, each.type) for each in table.field_keys]
        self.points = table
        now_us = engine.core.clock.now_us()
        self.table = _as_table(
            table,
            table.name + POINT_ROWS_SUFFIX,
            [KeyColumn(POINT_TIME_COLUMN, KeyType.INTEGER), *keys],
            tuple([_store_index(each, now_us) for each in table.stores]),
        )
        self._engine = timeseries(engine)
        self._names = [column.name for column in self.table.key_columns[1:]]

    def rows(
        self, start: Sequence[KeyInput], end: Sequence[KeyInput], *, reverse: bool
    ) -> Iterator[MadeRow]:
        """Fields by name and type, as answers of GetTimeseriesData name them; without versions."""
        first, last = model_order(start), model_order(end)
        low, high = (end, start) if reverse else (start, end)
        access = RowAccess("", self._near(low), self._near(high), reverse)
        names = self._names
        for digest, scanned in groupby(self._engine.scan(self.points, access), hash_of_point):
            rows = self._in_order(digest, reverse=reverse) if self._shared(digest) else scanned
            for row in rows:
                key = (digest, *[row.values[name] for name in names])
                order = model_order(key)
                if (last < order <= first) if reverse else (first <= order < last):
                    yield MadeRow(key, _named_by_type(row.values, names))

    def _shared(self, digest: str) -> bool:
        return self._engine.is_shared_hash(self.points, digest)

    def _in_order(self, digest: str, *, reverse: bool) -> Iterator[ScannedRow]:
        """The points of the series that share a hash, which stand in the order of their making."""
        access = RowAccess("", Bound((digest,)), Bound((digest,)), reverse)
        names = self.points.key
        scanned = self._engine.scan(self.points, access)
        series = {tuple([row.values[name] for name in names]) for row in scanned}
        for columns in sorted(series, reverse=reverse):
            for row in self._engine.scan(self.points, access):
                if tuple([row.values[name] for name in names]) == columns:
                    yield row

    def _near(self, key: Sequence[KeyInput]) -> Bound:
        """A bound with which no point is left out, near to a key.

        Where the key has no whole hash there is none. With the time behind it a page that goes on
        in a series does not pass over the points before.
        """
        digest, time_us = key[0], key[1 + len(self.points.key)]
        if not isinstance(digest, str) or _HASH.fullmatch(digest) is None:
            return UNBOUNDED
        timed = isinstance(time_us, int) and time_us >= 0 and not self._shared(digest)
        return Bound((digest, time_us) if timed else (digest,))


def series_of_columns(table: TimeseriesTable, columns: Sequence[str]) -> SeriesKey:
    """The series of the values of a table's key columns. Raises `InvalidRequest`."""
    values = dict(zip(table.key, columns, strict=True))
    measurement, source = values.pop(MEASUREMENT_COLUMN, ""), values.pop(SOURCE_COLUMN, "")
    tags = tags_of_text(values.pop(TAGS_COLUMN, ""))
    if not set(values).isdisjoint(name for name, _ in tags):
        raise InvalidRequest(TimeseriesRule.KEY_COLUMNS, value=TAGS_COLUMN)
    return SeriesKey(measurement, source, tuple(sorted([*tags, *values.items()])))


def _named_by_type(
    values: Mapping[str, Value], key_names: Sequence[str]
) -> list[tuple[str, Value, int]]:
    fields = [(name, value) for name, value in values.items() if name not in key_names]
    return sorted([(f"{name}:{POINT_SUFFIXES[type(value)]}", value, 0) for name, value in fields])


def _store_index(store: AnalyticalStore, now_us: int) -> SecondaryIndex:
    """An analytical store, as the description of a table shows it (timeseries §9)."""
    ready = not is_filling(store, now_us)
    return SecondaryIndex(
        store.name, 0, is_local=False, key_columns=(), defined_columns=(), ready=ready
    )
