"""AddDefinedColumn (semantics §2.6)."""

from typing import NamedTuple

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.tablestore.schema import DefinedColumn
from widerow.wire.tablestore.messages import AddDefinedColumnRequest
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.definitions import defined_column

__all__ = ["AddDefinedColumn", "call", "decode", "encode"]


class AddDefinedColumn(NamedTuple):
    """The table and the columns to declare."""

    table: str
    columns: tuple[DefinedColumn, ...]


@decoder(AddDefinedColumnRequest)
def decode(sent: AddDefinedColumnRequest) -> AddDefinedColumn:
    """The table and the columns. Raises `InvalidRequest`."""
    return AddDefinedColumn(text(sent.table_name), tuple(map(defined_column, sent.columns)))


def call(engine: TablestoreEngine, instance: str, request: AddDefinedColumn) -> Plan[None]:
    """Ask the engine."""
    return engine.add_defined_columns(instance, request.table, request.columns)


def encode(_result: None) -> bytes:
    """AddDefinedColumnResponse, which is empty."""
    return b""
