"""UpdateRow (semantics §4.3)."""

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.tablestore.answers import RowWritten
from widerow.model.tablestore.requests import InTransaction
from widerow.model.tablestore.row import Modification, RowChange
from widerow.wire.tablestore.messages import UpdateRowRequest
from widerow.wire.tablestore.operations.answers import written
from widerow.wire.tablestore.operations.writing import row_change

__all__ = ["call", "decode", "encode"]


def decode(body: bytes) -> RowChange | InTransaction[RowChange]:
    """The row change asked for. Raises `InvalidRequest`."""
    return row_change(body, Modification.UPDATE, UpdateRowRequest, "row_change")


def call(
    engine: TablestoreEngine, instance: str, request: RowChange | InTransaction[RowChange]
) -> Plan[RowWritten]:
    """Ask the engine."""
    if isinstance(request, InTransaction):
        return engine.transactions.write_row(instance, *request)
    return engine.rows.write_row(instance, request)


def encode(result: RowWritten) -> bytes:
    """UpdateRowResponse; with a row only where the request asked for one."""
    return written(result)
