"""Requests for searches: as the vendor's Python SDK sends them, and put together by hand."""

from typing import Any, Final

from google.protobuf.message import Message
from tablestore import ColumnsToGet, MatchAllQuery, SearchQuery
from tablestore.encoder import OTSProtoBufferEncoder

from widerow.model.search.query import Query, SearchSort
from widerow.model.search.requests import Search
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.table import OPERATIONS

search = OPERATIONS["Search"]

_SDK: Final = OTSProtoBufferEncoder("utf-8", enable_native=False)


def by_sdk(action: str, *arguments: Any) -> bytes:  # noqa: ANN401  # of the SDK's calls
    """The body that the SDK sends for an action."""
    body: bytes = _SDK.encode_request(action, *arguments).SerializeToString()
    return body


def searched(asked: SearchQuery, columns: ColumnsToGet | None = None) -> Search:
    """What the server reads of a search that the SDK sends."""
    read: Search = search.decode(by_sdk("Search", "t", "i", asked, columns, None, None))
    return read


def query_of(asked: Any) -> Query:  # noqa: ANN401  # a query of the SDK
    """A query of the SDK, as the server reads it."""
    return searched(SearchQuery(asked)).query


def sort_of(asked: Any) -> SearchSort | None:  # noqa: ANN401  # a sort of the SDK
    """A sort of the SDK, as the server reads it."""
    return searched(SearchQuery(MatchAllQuery(), sort=asked)).sort


def wrapped(number: int, message: Message | bytes) -> m.Query:
    """A query of a type, made of its message."""
    data = message if isinstance(message, bytes) else message.SerializeToString()
    return m.Query(type=number, query=data)


def by_hand(query: m.Query | None = None, **fields: Any) -> bytes:  # noqa: ANN401  # of SearchQuery
    """The body of a search with a query that the SDK may not have."""
    asked = m.SearchQuery(query=query, **fields)
    return m.SearchRequest(
        table_name="t", index_name="i", search_query=asked.SerializeToString()
    ).SerializeToString()
