"""The timeseries tables beside those of Tablestore's model, for the actions."""

from typing import Generic, NamedTuple, TypeVar

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.timeseries.engine import TimeseriesEngine
from widerow.engine.timeseries.plug import TIMESERIES
from widerow.model.timeseries.table import TimeseriesTable

__all__ = ["OnTable", "found_table", "timeseries"]

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
