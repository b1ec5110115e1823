"""Timeseries tables over a store, for tests."""

from collections.abc import Mapping

from tests.support.asking import asked_again

from widerow.engine.check import check_store
from widerow.engine.engine import Engine
from widerow.engine.settings import ENGINE_DEFAULTS, EngineSettings
from widerow.engine.streams.stream_reads import ChangeRecord
from widerow.engine.table_models import TABLE_MODELS
from widerow.engine.timeseries.plug import TIMESERIES
from widerow.errors import StoreBusy
from widerow.keys.series import canonical_key, series_hash
from widerow.model.timeseries.points import POINT_SUFFIXES, Point
from widerow.model.timeseries.requests import (
    MetaUpdateMode,
    PointQuery,
    PutResult,
    TableRequest,
)
from widerow.model.timeseries.series import SeriesKey, tags_of_text
from widerow.model.timeseries.table import TimeseriesOptions, TimeseriesTable
from widerow.model.values import Value
from widerow.rows.plain_values import VersionedValue, decode_plain_record
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

CPU = SeriesKey("cpu", "host1", (("os", "linux"), ("region", "eu")))
DISK = SeriesKey("disk", "host1", ())
DAY = 86400


def of_host(number: int, measurement: str = "cpu") -> SeriesKey:
    return SeriesKey(measurement, f"host{number}", (("os", "linux"),))


def put_in(record: ChangeRecord) -> tuple[SeriesKey, int, dict[str, Value]]:
    """Series, time and fields that a record of a stream says, which is of a put."""
    assert record.action == 1
    stands = decode_plain_record(record.record).stands
    assert stands == (record.timestamp_us, record.row_index)
    return point_of(record.record)


def point_of(record: bytes) -> tuple[SeriesKey, int, dict[str, Value]]:
    """Series, time and fields of a point's row."""
    row = decode_plain_record(record)
    key = dict(row.key)
    names = [name for name, _ in row.key]
    assert names[:5] == ["_#h", "_m_name", "_data_source", "_tags", "_time"]
    measurement, source, tags, time_us = [key[name] for name in names[1:5]]
    series = SeriesKey(str(measurement), str(source), tags_of_text(str(tags)))
    assert key["_#h"] == series_hash(canonical_key(series)).hex()
    assert isinstance(time_us, int)
    fields: dict[str, Value] = {}
    for cell in row.cells:
        assert isinstance(cell, VersionedValue)
        name, _, kind = cell.column.partition(":")
        assert kind == POINT_SUFFIXES[type(cell.value)]
        assert cell.version == time_us // 1000
        fields[name] = cell.value
    return series, time_us, fields


class Series:
    """The timeseries tables of a store. The clock begins at a day of which all points are past."""

    def __init__(
        self,
        store: Store,
        clock: FakeClock | None = None,
        seed: int = 0,
        settings: EngineSettings = ENGINE_DEFAULTS,
    ) -> None:
        self.store = store
        self.clock = FakeClock() if clock is None else clock
        self.core = Engine(store, self.clock, FakeEntropy(seed), TABLE_MODELS, settings)
        self.engine = self.core.operations(TIMESERIES)

    def create(
        self,
        name: str = "t",
        *,
        ttl_s: int = -1,
        meta_ttl_s: int = -1,
        update_attributes: bool = True,
        **more: object,
    ) -> TimeseriesTable:
        options = TimeseriesOptions(ttl_s, meta_ttl_s, update_attributes)
        request = TableRequest(name, options, **more)  # type: ignore[arg-type]  # as it is given
        return self.core.run(self.engine.create("me", request))

    def put(
        self,
        table: TimeseriesTable,
        *points: tuple[SeriesKey, int, Mapping[str, Value]],
        mode: MetaUpdateMode = MetaUpdateMode.NORMAL,
    ) -> PutResult:
        made = [Point(*each) for each in points]
        result = asked_again(lambda: self.core.run(self.engine.put(table, made, mode)))
        busy = [at for at, error in result.failed.items() if isinstance(error, StoreBusy)]
        if not busy:
            return result
        again = self.put(table, *[points[at] for at in busy], mode=mode)
        ended = {at: error for at, error in result.failed.items() if at not in busy}
        later = {busy[at]: error for at, error in again.failed.items()}
        metas = {busy[at]: seconds for at, seconds in again.metas.items()}
        return PutResult(ended | later, {**result.metas, **metas})

    def put_until_divided(self, table: TimeseriesTable) -> tuple[int, TimeseriesTable]:
        """Put twelve points of each of twenty hosts, under load; their number, and the new table.

        The settings of the store must let partitions divide at once.
        """
        for at in range(12):
            self.put(table, *[(of_host(host), at, {"v": at}) for host in range(20)])
            self.clock.advance(1)
            while (plan := self.core.partitions.step()) is not None:
                self.core.run(plan)
        divided = self.engine.find(table.instance, table.name)
        assert divided.splits != ()
        return 12 * 20, divided

    def read(
        self, table: TimeseriesTable, series: SeriesKey, **query: object
    ) -> list[tuple[int, dict[str, Value]]]:
        """All points of a series, page by page."""
        found: list[tuple[int, dict[str, Value]]] = []
        asked = PointQuery(series, 0, 2**62)._replace(**query)  # type: ignore[arg-type]  # as it is given
        while True:
            page = self.engine.read(table, asked)
            found += [(point.time_us, dict(point.fields)) for point in page.points]
            assert not page.next or page.points
            if not page.next:
                return found
            asked = asked._replace(after=page.next)

    def stream(self, table: TimeseriesTable, seen_as: str = "") -> list[ChangeRecord]:
        """All records of the table's stream, shard after shard, from pages of seven."""
        streams, found = self.engine.streams, []
        for shard in streams.shards(table):
            iterator: str | None = streams.iterator(table, shard.id, None)
            while iterator:
                page = streams.read(table, iterator, 7, seen_as=seen_as)
                found += page.records()
                iterator = page.following if page.more else None
        return found

    def move_changes(self, table: TimeseriesTable) -> None:
        """Let housekeeping work until everything that was put is in the stream."""
        while self.engine.streams.is_behind(table):
            plan = self.core.housekeeping()
            if plan is None:
                self.clock.advance(30)
            else:
                self.core.run(plan)

    def clean(self, hours: int = 1) -> None:
        """Let time pass and housekeeping work."""
        for _ in range(hours * 6):
            self.clock.advance(600)
            for _ in range(500):
                plan = self.core.housekeeping()
                if plan is None:
                    break
                self.core.run(plan)

    def check(self) -> None:
        assert asked_again(lambda: check_store(self.store)) == []
