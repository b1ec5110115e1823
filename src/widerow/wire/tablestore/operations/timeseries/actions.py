"""Every action of timeseries tables by its name; loaded with the first request for one."""

from typing import Final

from widerow.wire.tablestore.operations.timeseries.metas import META_ACTIONS
from widerow.wire.tablestore.operations.timeseries.points import POINT_ACTIONS, point_units
from widerow.wire.tablestore.operations.timeseries.tables import SERIES_TABLE_ACTIONS

__all__ = ["TIMESERIES_ACTIONS", "point_units"]

TIMESERIES_ACTIONS: Final = {**SERIES_TABLE_ACTIONS, **POINT_ACTIONS, **META_ACTIONS}
