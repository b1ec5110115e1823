"""The search indexes of a table over the protocol, for commands that drop them or their table."""

from widerow.client.connection import Client
from widerow.client.failures import Refused
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.bodies import text

__all__ = ["drop_search_index", "listed_search_indexes", "search_indexes_of"]


def listed_search_indexes(client: Client, table: str) -> list[str]:
    """The names of a table's search indexes, sorted. Raises: `Refused`."""
    asked = m.ListSearchIndexRequest(table_name=table)
    found = client.call_once("ListSearchIndex", asked, m.ListSearchIndexResponse)
    return [text(each.index_name) for each in found.indices]


def search_indexes_of(client: Client, table: str) -> list[str]:
    """The names of a table's search indexes; none where the server refuses to list them."""
    try:
        return listed_search_indexes(client, table)
    except Refused:
        return []


def drop_search_index(client: Client, table: str, index: str) -> None:
    """Drop a search index; the rows stay. Raises: `Refused`."""
    asked = m.DeleteSearchIndexRequest(table_name=table, index_name=index)
    client.call_once("DeleteSearchIndex", asked, m.DeleteSearchIndexResponse)
