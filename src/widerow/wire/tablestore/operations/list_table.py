"""ListTable (semantics §2.2)."""

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.wire.tablestore.messages import ListTableRequest, ListTableResponse
from widerow.wire.tablestore.operations.bodies import decoder

__all__ = ["call", "decode", "encode"]


@decoder(ListTableRequest)
def decode(_sent: ListTableRequest) -> None:
    """Nothing is asked but the action itself. Raises `InvalidRequest`."""


def call(engine: TablestoreEngine, instance: str, _request: None) -> tuple[str, ...]:
    """Ask the engine."""
    return engine.list_tables(instance)


def encode(result: tuple[str, ...]) -> bytes:
    """ListTableResponse: the names in the order given."""
    return ListTableResponse(table_names=result).SerializeToString()
