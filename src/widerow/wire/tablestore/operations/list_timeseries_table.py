"""ListTimeseriesTable (docs/protocol/tablestore.md).

There are no timeseries tables, so the list is empty: that is the whole answer, and programs ask for
it before they delete what they made.
"""

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.wire.tablestore.messages import (
    ListTimeseriesTableRequest,
    ListTimeseriesTableResponse,
)
from widerow.wire.tablestore.operations.bodies import decoder

__all__ = ["call", "decode", "encode"]


@decoder(ListTimeseriesTableRequest)
def decode(_sent: ListTimeseriesTableRequest) -> None:
    """Nothing is asked but the action itself. Raises `InvalidRequest`."""


def call(_engine: TablestoreEngine, _instance: str, _request: None) -> None:
    """No instance has one."""


def encode(_result: None) -> bytes:
    """ListTimeseriesTableResponse without a table."""
    return ListTimeseriesTableResponse().SerializeToString()
