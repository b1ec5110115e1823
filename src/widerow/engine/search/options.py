"""How long rows of search indexes live, and what that asks of their table (search §1.1, §1.5)."""

from typing import Final

from widerow.errors import InvalidRequest, Rule
from widerow.limits import SEARCH_TTL_SECONDS_MAX
from widerow.model.schema import Table

__all__ = ["FOR_EVER", "check_options_of_searched", "check_time_to_live"]

FOR_EVER: Final = -1


def check_options_of_searched(table: Table) -> None:
    """The options that a table with search indexes may have. Raises `InvalidRequest`."""
    for index in table.search:
        check_time_to_live(table, index.time_to_live)


def check_time_to_live(table: Table, seconds: int) -> None:
    """How long rows of an index may live, with these options of its table.

    Also what a table with a search index may be at all. Raises `InvalidRequest`.
    """
    options = table.options
    if options.time_to_live != FOR_EVER and options.allow_update:
        raise InvalidRequest(Rule.SEARCH_TABLE_TTL)
    if seconds == FOR_EVER:
        return
    if not 0 < seconds <= SEARCH_TTL_SECONDS_MAX:
        raise InvalidRequest(Rule.SEARCH_TTL_VALUE)
    if options.allow_update:
        raise InvalidRequest(Rule.SEARCH_TTL_UPDATES)
    if options.time_to_live != FOR_EVER and seconds > options.time_to_live:
        raise InvalidRequest(Rule.SEARCH_TTL_TABLE)
