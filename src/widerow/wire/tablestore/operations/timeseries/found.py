"""The timeseries tables beside those of Tablestore's model, for the actions."""

from typing import Final, Generic, NamedTuple, TypeVar

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.timeseries.engine import TimeseriesEngine
from widerow.engine.timeseries.plug import TIMESERIES
from widerow.model.timeseries.table import AnalyticalStore, SyncOption, TimeseriesTable

__all__ = ["OnTable", "found_table", "is_filling", "is_young", "timeseries"]

_YOUNG_US: Final = 60_000_000  # for which a new store says that it is being filled

T = TypeVar("T")


class OnTable(NamedTuple, Generic[T]):
    """What is asked of a timeseries table, and the name of the table."""

    table: str
    asked: T


def timeseries(engine: TablestoreEngine) -> TimeseriesEngine:
    """The timeseries tables of the store that an engine is open on."""
    return engine.core.operations(TIMESERIES)


def found_table(engine: TablestoreEngine, instance: str, name: str) -> TimeseriesTable:
    """The timeseries table of that name. Raises `NotFound`."""
    return timeseries(engine).find(instance, name)


def is_young(store: AnalyticalStore, now_us: int) -> bool:
    """Whether a store was made within the last minute: it says nothing of how far it is."""
    return now_us - store.created_us < _YOUNG_US


def is_filling(store: AnalyticalStore, now_us: int) -> bool:
    """Whether a store says that it still takes the points of before (timeseries §11)."""
    full = not store.with_table and store.sync is SyncOption.FULL
    return full and is_young(store, now_us)
