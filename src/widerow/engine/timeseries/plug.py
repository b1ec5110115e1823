"""Timeseries tables as a plug of the engine."""

from collections.abc import Iterator
from typing import Any, ClassVar

from widerow.engine.catalog.catalog import Catalog
from widerow.engine.catalog.model import CatalogModel
from widerow.engine.check_part import CheckPart
from widerow.engine.engine import Engine, TableModel
from widerow.engine.timeseries.engine import TimeseriesEngine
from widerow.engine.timeseries.model import TIMESERIES_MODEL
from widerow.model.timeseries.table import TimeseriesTable
from widerow.storage.interface import Snapshot

__all__ = ["TIMESERIES", "Timeseries"]


class Timeseries(TableModel[TimeseriesTable, TimeseriesEngine]):
    """Tables of instances whose rows are points of series."""

    records: ClassVar[CatalogModel[Any]] = TIMESERIES_MODEL

    def open(self, engine: Engine) -> TimeseriesEngine:
        """The operations of timeseries tables."""
        return TimeseriesEngine(engine)

    def check_parts(self, catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:
        """Series with their points and last points, and metas."""
        from widerow.engine.timeseries.check_parts import timeseries_parts  # noqa: PLC0415  # few check

        return timeseries_parts(catalog, snapshot)


TIMESERIES = Timeseries()
