"""The console as `widerow serve` has it: its pages, and the languages that people type in them."""

from typing import TYPE_CHECKING

from widerow.server.page_thread import PagesHandler, ServerParts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from widerow.model.search.requests import Search
    from widerow.model.search.schema import SearchSchema
    from widerow.model.tablestore.filter import Filter

__all__ = ["open_console"]


def open_console(parts: ServerParts) -> PagesHandler:
    """The console of a server, made with the first request for it: it loads its libraries here."""
    from widerow.console.console import Console  # noqa: PLC0415  # imported with the first request for the console
    from widerow.console.parts import Languages  # noqa: PLC0415  # imported with the first request for the console

    return Console(parts, Languages(_condition, _search))


def _condition(text: str, kinds: "Mapping[str, str]") -> "Filter":
    """A condition as `widerow row scan --where` reads it. Raises: `WordInvalid`."""
    from widerow.cli.tablestore.conditions import parse_condition  # noqa: PLC0415  # only where typed

    return parse_condition(text, kinds)


def _search(asked: tuple[str, str, str], sort: str, limit: int, schema: "SearchSchema") -> "Search":
    """A search as `widerow search query` reads it: `asked` is table, index and query.

    Raises: `QueryUnreadable`, and `InvalidRequest` for what the service refuses.
    """
    from widerow.cli.flags import listed  # noqa: PLC0415  # only where typed
    from widerow.cli.search import query_of  # noqa: PLC0415  # only where typed
    from widerow.cli.search_answer import columns_asked, sorters_of  # noqa: PLC0415  # only where typed
    from widerow.wire.tablestore import search_messages as m  # noqa: PLC0415  # only where typed
    from widerow.wire.tablestore.operations.table import operation  # noqa: PLC0415  # only where typed

    table, index, text = asked
    wish = m.SearchQuery(limit=limit, get_total_count=True, query=query_of(text, schema))
    sorters = sorters_of(listed(sort))
    if sorters:
        wish.sort.sorter.extend(sorters)
    message = m.SearchRequest(
        table_name=table,
        index_name=index,
        columns_to_get=columns_asked(("*",)),
        search_query=wish.SerializeToString(),
    )
    found: Search = operation("Search").decode(message.SerializeToString())
    return found
