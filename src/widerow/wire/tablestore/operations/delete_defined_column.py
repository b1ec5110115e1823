"""DeleteDefinedColumn (semantics §2.6)."""

from typing import NamedTuple

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.wire.tablestore.messages import DeleteDefinedColumnRequest
from widerow.wire.tablestore.operations.bodies import decoder, text, texts

__all__ = ["DeleteDefinedColumn", "call", "decode", "encode"]


class DeleteDefinedColumn(NamedTuple):
    """The table and the columns to declare no longer."""

    table: str
    columns: tuple[str, ...]


@decoder(DeleteDefinedColumnRequest)
def decode(sent: DeleteDefinedColumnRequest) -> DeleteDefinedColumn:
    """The table and the columns. Raises `InvalidRequest`."""
    return DeleteDefinedColumn(text(sent.table_name), texts(sent.columns))


def call(engine: TablestoreEngine, instance: str, request: DeleteDefinedColumn) -> Plan[None]:
    """Ask the engine."""
    return engine.delete_defined_columns(instance, request.table, request.columns)


def encode(_result: None) -> bytes:
    """DeleteDefinedColumnResponse, which is empty."""
    return b""
