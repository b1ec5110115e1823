"""Search (search §4 to §6)."""

from functools import partial

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.search.query import MATCH_ALL
from widerow.model.search.requests import Search, SearchAnswer
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.bodies import text
from widerow.wire.tablestore.operations.search.answers import encode_answer
from widerow.wire.tablestore.operations.search.breakdowns import decode_breakdown
from widerow.wire.tablestore.operations.search.columns import decode_columns, decode_timeout
from widerow.wire.tablestore.operations.search.orders import decode_highlight, decode_sort
from widerow.wire.tablestore.operations.search.queries import decode_query
from widerow.wire.tablestore.operations.search.unfolding import (
    Unfolding,
    named,
    request_decoder,
)

__all__ = ["call", "decode", "encode"]


@request_decoder(m.SearchRequest)
def decode(sent: m.SearchRequest, unfolding: Unfolding) -> Search:
    """What is asked for. Values for routing are a hint to a service of many machines (search §5.7).

    Raises `InvalidRequest`.
    """
    asked = unfolding.parse(m.SearchQuery, sent.search_query)
    query = partial(decode_query, unfolding)
    has_filter = asked.HasField("filter") and asked.filter.HasField("query")
    return Search(
        text(sent.table_name),
        text(sent.index_name),
        query(asked.query) if asked.HasField("query") else MATCH_ALL,
        query(asked.filter.query) if has_filter else None,
        asked.offset,
        asked.limit if asked.HasField("limit") else None,
        decode_sort(asked.sort, query),
        asked.token,
        asked.get_total_count or asked.track_total_count > 0,
        named(asked.collapse) if asked.HasField("collapse") else None,
        decode_highlight(asked.highlight) if asked.HasField("highlight") else None,
        decode_breakdown(unfolding, asked.aggs, asked.group_bys),
        decode_columns(sent.columns_to_get),
        decode_timeout(sent),
    )


def call(engine: TablestoreEngine, instance: str, request: Search) -> SearchAnswer:
    """Ask the engine."""
    return engine.search.search(instance, request)


def encode(result: SearchAnswer) -> bytes:
    """SearchResponse."""
    return encode_answer(result)
