"""Timeseries tables over a store, for tests."""

from collections.abc import Mapping

from widerow.engine.check import check_store
from widerow.engine.engine import Engine
from widerow.engine.settings import ENGINE_DEFAULTS, EngineSettings
from widerow.engine.table_models import TABLE_MODELS
from widerow.engine.timeseries.plug import TIMESERIES
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.requests import (
    MetaUpdateMode,
    PointQuery,
    PutResult,
    TableRequest,
)
from widerow.model.timeseries.series import SeriesKey
from widerow.model.timeseries.table import TimeseriesOptions, TimeseriesTable
from widerow.model.values import Value
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

CPU = SeriesKey("cpu", "host1", (("os", "linux"), ("region", "eu")))
DISK = SeriesKey("disk", "host1", ())
DAY = 86400


def of_host(number: int, measurement: str = "cpu") -> SeriesKey:
    return SeriesKey(measurement, f"host{number}", (("os", "linux"),))


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
        return self.core.run(self.engine.put(table, made, mode))

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
        assert check_store(self.store) == []
