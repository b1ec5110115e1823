"""Checks of search indexes, and their changes of a table's definition (search §1).

A table with a search index has a journal, which says which rows were written since (`journal.py`).
The journal begins with the first index, and is removed by housekeeping after the last one.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from widerow.engine.streams.log_shards import first_shards
from widerow.engine.tablestore.search.schema_rules import (
    check_added_fields,
    check_index,
    check_time_to_live,
)
from widerow.errors import InvalidRequest, NotFound
from widerow.limits import JOURNAL_HOURS
from widerow.model.search.requests import CreateSearchIndex, UpdateSearchIndex
from widerow.model.search.schema import QueryFlowWeight, SearchIndex
from widerow.model.streams import Stream
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table

__all__ = [
    "FOR_EVER",
    "PER_CENT",
    "brother_of",
    "check_options_of_searched",
    "search_index_named",
    "with_search_index",
    "with_search_update",
    "without_search_index",
]

FOR_EVER: Final = -1  # a time to live
PER_CENT: Final = 100


def search_index_named(table: Table, name: str) -> SearchIndex:
    """The search index of a table. Raises `NotFound`."""
    for index in table.search:
        if index.name == name:
            return index
    raise NotFound(TablestoreRule.SEARCH_INDEX_NOT_FOUND, index=name, table=table.name)


def brother_of(table: Table, index: SearchIndex) -> SearchIndex | None:
    """The index that is to replace `index`, or that `index` is to replace; None: there is none.

    An index whose source was deleted is an ordinary one (search §1.5).
    """
    for each in table.search:
        if each.name == index.source or each.source == index.name:
            return each
    return None


def with_search_index(
    table: Table, request: CreateSearchIndex, now_us: int, number: Callable[[], int]
) -> Table:
    """The table with one more search index (search §1.1). Raises what is wrong with it."""
    check_index(table, request)
    ttl = FOR_EVER if request.time_to_live is None else request.time_to_live
    index = SearchIndex(request.index, number(), request.schema, now_us, ttl, request.source)
    journal = table.journal
    if journal is None:
        shards = first_shards(table.splits)
        journal = Stream("", JOURNAL_HOURS, now_us, (), number(), shards)
    return replace(table, search=_sorted((*table.search, index)), journal=journal)


def without_search_index(table: Table, name: str) -> Table:
    """The table without a search index, and without a journal if it was the last one.

    Raises `NotFound`.
    """
    gone = search_index_named(table, name)
    kept = tuple(_without_weights(each, name) for each in table.search if each is not gone)
    mapped = tuple(each for each in table.search_mappings if each.index != name)
    journal = table.journal if kept else None
    return replace(table, search=kept, journal=journal, search_mappings=mapped)


def _without_weights(index: SearchIndex, gone: str) -> SearchIndex:
    """The index, answering its searches alone if `gone` shared them."""
    shared = any(each.index == gone for each in index.weights)
    return replace(index, weights=()) if shared else index


def with_search_update(
    table: Table, request: UpdateSearchIndex, now_us: int, number: Callable[[], int]
) -> Table:
    """The table after UpdateSearchIndex (search §1.4). Raises what is wrong with the request."""
    before = after = search_index_named(table, request.index)
    if request.time_to_live is not None:
        check_time_to_live(table, request.time_to_live)
        after = replace(after, time_to_live=request.time_to_live)
    if request.weights:
        after = replace(after, weights=_checked_weights(table, before, request.weights))
    if request.added_fields:
        schema = check_added_fields(table, after.schema, request.added_fields)
        after = replace(after, schema=schema, id=number(), created_us=now_us)
    changed = _put(table, before, after)
    return _switched(changed, after, request.switch_index) if request.switch_index else changed


def _put(table: Table, before: SearchIndex, after: SearchIndex) -> Table:
    indexes = [after if each is before else each for each in table.search]
    return replace(table, search=_sorted(indexes))


def _switched(table: Table, index: SearchIndex, other_name: str) -> Table:
    """Swap the names of two indexes; both answer their own searches alone afterwards."""
    if other_name == index.name:
        raise InvalidRequest(TablestoreRule.SEARCH_SWITCH_SELF)
    other = search_index_named(table, other_name)
    name, source = index.name, ""
    # `index` was made to replace `other`: from now on `other` stands ready to replace it
    if other.source == name:
        source = name
    indexes = [each for each in table.search if each is not index and each is not other]
    indexes.append(replace(other, name=name, source="", weights=()))
    indexes.append(replace(index, name=other_name, source=source, weights=()))
    return replace(table, search=_sorted(indexes))


def _checked_weights(
    table: Table, index: SearchIndex, weights: tuple[QueryFlowWeight, ...]
) -> tuple[QueryFlowWeight, ...]:
    brother = brother_of(table, index)
    if brother is None:
        raise InvalidRequest(TablestoreRule.SEARCH_WEIGHTS)
    names = {index.name, brother.name}
    shares = [each.weight for each in weights]
    known = {each.index for each in weights} == names and len(weights) == len(names)
    if not known or min(shares) < 0 or sum(shares) != PER_CENT:
        raise InvalidRequest(TablestoreRule.SEARCH_WEIGHTS)
    return weights


def check_options_of_searched(table: Table) -> None:
    """The options that a table with search indexes may have (search §1.5).

    Raises `InvalidRequest`.
    """
    options = table.options
    if table.search and options.time_to_live != FOR_EVER and options.allow_update:
        raise InvalidRequest(TablestoreRule.SEARCH_TABLE_TTL)
    for index in table.search:
        check_time_to_live(table, index.time_to_live)


def _sorted(indexes: "tuple[SearchIndex, ...] | list[SearchIndex]") -> tuple[SearchIndex, ...]:
    return tuple(sorted(indexes, key=_name_of))


def _name_of(index: SearchIndex) -> str:
    return index.name
