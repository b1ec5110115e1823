"""ListSearchIndex (docs/protocol/tablestore.md).

There are no search indexes, so the list is empty: that is the whole answer, and programs ask for it
before they delete what they made.
"""

from widerow.engine.engine import Engine
from widerow.engine.static import check_table_name
from widerow.errors import NotFound, Rule
from widerow.wire.tablestore.messages import ListSearchIndexRequest, ListSearchIndexResponse
from widerow.wire.tablestore.operations.bodies import decoder, text

__all__ = ["call", "decode", "encode"]


@decoder(ListSearchIndexRequest)
def decode(sent: ListSearchIndexRequest) -> str | None:
    """The table whose indexes are asked for; None: all of the instance. Raises `InvalidRequest`."""
    return text(sent.table_name) if sent.HasField("table_name") else None


def call(engine: Engine, instance: str, request: str | None) -> None:
    """Look whether the table is there. Raises `InvalidRequest(TABLE_NAME)` and `NotFound`."""
    if request is None:
        return
    check_table_name(request)
    if request not in engine.list_tables(instance):
        raise NotFound(Rule.SEARCH_TABLE_NOT_FOUND, instance=instance, table=request)


def encode(_result: None) -> bytes:
    """ListSearchIndexResponse without an index."""
    return ListSearchIndexResponse().SerializeToString()
