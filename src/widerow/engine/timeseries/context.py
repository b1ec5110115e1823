"""What the operations of one engine's timeseries tables share: the store, and what is kept in mind.

Everything kept is bounded, and may be dropped at any time.
"""

from typing import final

from widerow.clock import Clock
from widerow.engine.catalog.catalog import Tables
from widerow.engine.partitions.notes import Notes
from widerow.engine.streams.appender import LogAppender
from widerow.engine.timeseries.static import check_field_names, check_series
from widerow.keys.series import canonical_key, series_hash
from widerow.limits import POINT_LAYOUT_FIELDS_MAX, SERIES_KNOWN_MAX, SERIES_NEWEST_MAX
from widerow.model.timeseries.series import SeriesKey
from widerow.model.timeseries.table import TimeseriesTable
from widerow.rows.points import Layouts
from widerow.storage.interface import Store

__all__ = ["US_IN_SECOND", "KnownSeries", "NewestTimes", "TimeseriesContext"]

US_IN_SECOND = 1_000_000


@final
class KnownSeries:
    """A checked key of a series, its canonical key and its hash."""

    __slots__ = ("canonical", "digest", "key")

    def __init__(self, key: SeriesKey) -> None:
        self.key = key
        self.canonical = canonical_key(key)
        self.digest = series_hash(self.canonical)


@final
class NewestTimes:
    """Times above which a series has no point, for a store that no other process writes.

    A time is noted before its point is durable, so it may be above that of the newest point; it is
    never below. For bodies of writes, which run one after the other.
    """

    __slots__ = ("_bound", "_times")

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._times: dict[bytes, int] = {}

    def get(self, series: bytes) -> int:
        """The time for the prefix of a series' points; -2 where none is noted."""
        return self._times.get(series, -2)

    def note(self, series: bytes, time_us: int) -> None:
        """Note a time, not below the one that is noted."""
        if len(self._times) >= self._bound:
            self._times.clear()
        self._times[series] = time_us


@final
class TimeseriesContext:
    """What operations and bodies use. Any thread may ask for series and layouts."""

    __slots__ = ("_series", "clock", "layouts", "log", "newest", "notes", "store", "tables")

    def __init__(
        self,
        store: Store,
        tables: Tables[TimeseriesTable],
        clock: Clock,
        notes: Notes,
        log: LogAppender,
    ) -> None:
        """`notes`: where points are counted for their partitions. `log`: takes what is put."""
        self.log = log
        self.store = store
        self.tables = tables
        self.clock = clock
        self.notes = notes
        self.layouts = Layouts(POINT_LAYOUT_FIELDS_MAX, check_field_names)
        self.newest = None if store.capabilities.shared else NewestTimes(SERIES_NEWEST_MAX)
        self._series: dict[tuple[str, ...], dict[SeriesKey, KnownSeries]] = {}

    def series(self, table: TimeseriesTable, key: SeriesKey) -> KnownSeries:
        """A series of a table. Raises `InvalidRequest` for a key that it cannot have."""
        of_schema = self._series.get(table.key)
        known = None if of_schema is None else of_schema.get(key)
        if known is None:
            check_series(table, key)
            if sum([len(each) for each in self._series.values()]) >= SERIES_KNOWN_MAX:
                self._series.clear()
            known = KnownSeries(key)
            self._series.setdefault(table.key, {})[key] = known
        return known

    def live_from_us(self, table: TimeseriesTable) -> int:
        """The time from which on points of a table are there (timeseries §3.1)."""
        ttl_s = table.options.ttl_s
        return 0 if ttl_s < 0 else self.clock.now_us() - ttl_s * US_IN_SECOND

    def metas_from_us(self, table: TimeseriesTable) -> int:
        """The update time from which on metas of a table are there (timeseries §3.1)."""
        ttl_s = table.options.meta_ttl_s
        return 0 if ttl_s < 0 else self.clock.now_us() - ttl_s * US_IN_SECOND
