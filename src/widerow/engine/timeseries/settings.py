"""The settings of timeseries tables: one value, given when the engine is opened."""

from dataclasses import dataclass
from typing import Final

from widerow.limits import TABLES_PER_INSTANCE_MAX

__all__ = ["TIMESERIES_DEFAULTS", "TimeseriesSettings"]


@dataclass(frozen=True, slots=True)
class TimeseriesSettings:
    """The settings of an engine's timeseries tables; each counts as two of an instance's tables."""

    tables_per_instance: int = TABLES_PER_INSTANCE_MAX


TIMESERIES_DEFAULTS: Final = TimeseriesSettings()
