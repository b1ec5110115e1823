"""The list of table models: the only module of the engine that names them."""

from typing import TYPE_CHECKING, Final

from widerow.engine.engine import TableModelEntry
from widerow.keys.layout import (
    SPACE_CATALOG,
    SPACE_TIMESERIES_CATALOG,
    SPACE_TYPED_CATALOG,
)

if TYPE_CHECKING:
    from widerow.engine.tablestore.model import TablestoreModel
    from widerow.engine.tablestore.plug import Tablestore
    from widerow.engine.timeseries.model import TimeseriesModel
    from widerow.engine.timeseries.plug import Timeseries
    from widerow.engine.typed.model import TypedModel
    from widerow.engine.typed.plug import Typed

__all__ = ["TABLE_MODELS"]


# A model is imported when a store has a table of it, or when it is asked for: a server without
# typed tables starts a tenth sooner.


def _tablestore_records() -> "TablestoreModel":
    from widerow.engine.tablestore.model import TABLESTORE_MODEL  # noqa: PLC0415  # imported with the first use

    return TABLESTORE_MODEL


def _tablestore() -> "Tablestore":
    from widerow.engine.tablestore.plug import TABLESTORE  # noqa: PLC0415  # imported with the first use

    return TABLESTORE


def _typed_records() -> "TypedModel":
    from widerow.engine.typed.model import TYPED_MODEL  # noqa: PLC0415  # imported with the first use

    return TYPED_MODEL


def _typed() -> "Typed":
    from widerow.engine.typed.plug import TYPED  # noqa: PLC0415  # imported with the first use

    return TYPED


def _timeseries_records() -> "TimeseriesModel":
    from widerow.engine.timeseries.model import TIMESERIES_MODEL  # noqa: PLC0415  # imported with the first use

    return TIMESERIES_MODEL


def _timeseries() -> "Timeseries":
    from widerow.engine.timeseries.plug import TIMESERIES  # noqa: PLC0415  # imported with the first use

    return TIMESERIES


TABLE_MODELS: Final = (
    TableModelEntry(SPACE_CATALOG, _tablestore_records, _tablestore),
    TableModelEntry(SPACE_TYPED_CATALOG, _typed_records, _typed),
    TableModelEntry(SPACE_TIMESERIES_CATALOG, _timeseries_records, _timeseries),
)
