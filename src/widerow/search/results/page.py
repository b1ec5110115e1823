"""One page of a search's hits: keys of rows, in order, and a token for the next page (search §5).

The caller reads the rows by these keys.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from widerow.errors import InvalidRequest
from widerow.limits import (
    SEARCH_LIMIT_DEFAULT,
    SEARCH_LIMIT_MAX,
    SEARCH_WINDOW_MAX,
)
from widerow.model.search.aggregation import Breakdown, BreakdownAnswer, TopRows
from widerow.model.search.query import (
    FunctionsScoreQuery,
    PrimaryKeySort,
    ScoreSort,
    SearchSort,
    SortOrder,
)
from widerow.model.search.requests import Search
from widerow.model.search.schema import SearchSchema
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.interface import DocumentSet, IndexView, Integers
from widerow.search.results.breakdown import break_down
from widerow.search.results.breakdown_rules import check_breakdown
from widerow.search.results.collapse import first_of_each_value
from widerow.search.results.columns import Held, SortColumn, completed_sort, sort_columns
from widerow.search.results.highlight import check_highlights
from widerow.search.results.inner_hits import FoundInnerHits, find_inner_hits
from widerow.search.results.ordering import behind, first_places, order_keys
from widerow.search.results.tokens import check_sort, read_page_token, write_page_token

__all__ = ["FoundHit", "FoundPage", "find_page"]


@dataclass(frozen=True, slots=True)
class FoundHit:
    """A found row: its encoded primary key, its score (NaN: none), its inner hits."""

    key: bytes
    score: float
    inner: tuple[FoundInnerHits, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundPage:
    """The hits of a page in order. `total`: -1 where it was not asked for. `token` b"": the end."""

    hits: tuple[FoundHit, ...]
    total: int
    token: bytes
    breakdown: BreakdownAnswer


class _Order(NamedTuple):
    """The order of rows, and the token's content, after which the page begins, or None.

    `goes_on`: whether another page may follow. `default`: no order was asked for.
    """

    sort: SearchSort
    held: tuple[Held, ...] | None = None
    goes_on: bool = True
    default: bool = False


def find_page(view: IndexView, schema: SearchSchema, request: Search, seed: int) -> FoundPage:
    """The page of an index that a request asks for, with its metrics and groups.

    `seed`: of random scores. Raises `InvalidRequest` for what search §5, §6 and §8 do not allow,
    mostly before the search begins.
    """
    offset, limit = _window(request)
    order = _order(view, schema, request)
    check_breakdown(request.breakdown)
    check_highlights(schema, request)
    shows_scores = _is_scored(order, request)
    found = view.select(
        request.query,
        scored=(shows_scores and limit > 0) or _top_rows_scored(request.breakdown, order),
        limit=limit,
        seed=seed,
        best=offset + limit if _only_best(order, request) else 0,
    )
    if request.filter is not None:
        found = found.take(found.matching(request.filter))
    shown = found if limit else found.take(np.zeros(0, np.int64))  # the sorters are checked, too
    columns = sort_columns(shown, order.sort.sorters, scores=shown.scores)
    places = _places(shown, columns, order, request, (offset, limit))
    full = len(places) == limit > 0 and order.goes_on and request.collapse is None
    return FoundPage(
        hits=tuple(_hits(shown, places, request, scored=shows_scores)),
        total=found.count if request.get_total_count else -1,
        token=_token(order.sort, columns, int(places[-1])) if full else b"",
        breakdown=break_down(found, order.sort, request.breakdown),
    )


def _window(request: Search) -> tuple[int, int]:
    limit = SEARCH_LIMIT_DEFAULT if request.limit is None else request.limit
    if limit == -1:
        limit = SEARCH_LIMIT_MAX
    if not 0 <= limit <= SEARCH_LIMIT_MAX:
        raise InvalidRequest(TablestoreRule.SEARCH_LIMIT, limit=limit)
    offset = 0 if request.token else request.offset
    if not 0 <= offset <= SEARCH_WINDOW_MAX - limit:
        raise InvalidRequest(TablestoreRule.SEARCH_WINDOW)
    return offset, limit


def _order(view: IndexView, schema: SearchSchema, request: Search) -> _Order:
    """The order of the rows (search §5.1)."""
    default = _default_order(view, schema)
    if request.token:
        token = read_page_token(request.token)
        return _Order(token.sort, token.held, default=token.sort == default.sort)
    if request.sort is not None and request.sort.sorters:
        sort = completed_sort(request.sort)
        check_sort(sort)
        return _Order(sort)
    return default


def _default_order(view: IndexView, schema: SearchSchema) -> _Order:
    if view.has_nested:
        return _Order(SearchSort((ScoreSort(), PrimaryKeySort())), goes_on=False, default=True)
    return _Order(completed_sort(schema.sort or SearchSort()), default=True)


def _is_scored(order: _Order, request: Search) -> bool:
    """Whether hits have scores (search §4.3)."""
    return _by_score(order.sort) or (
        order.default and isinstance(request.query, FunctionsScoreQuery)
    )


def _only_best(order: _Order, request: Search) -> bool:
    """Whether the answer depends on no row but those with the best scores."""
    first = order.sort.sorters[0]
    return (
        isinstance(first, ScoreSort)
        and first.order is SortOrder.DESC
        and order.held is None
        and request.filter is None
        and request.collapse is None
        and not (request.get_total_count or request.breakdown)
    )


def _by_score(sort: SearchSort) -> bool:
    return any(isinstance(each, ScoreSort) for each in sort.sorters)


def _top_rows_scored(asked: Breakdown, order: _Order) -> bool:
    """Whether top rows of any level are sorted by score."""
    return any(
        isinstance(each, TopRows) and _by_score(each.sort or order.sort)
        for each in asked.aggregations
    ) or any(_top_rows_scored(each.below, order) for each in asked.group_bys)


def _places(
    found: DocumentSet,
    columns: Sequence[SortColumn],
    order: _Order,
    request: Search,
    window: tuple[int, int],
) -> Integers:
    """The documents of the page, in order."""
    offset, limit = window
    keys = order_keys(columns)
    if request.collapse is not None:
        return first_of_each_value(found, request.collapse, keys, offset + limit)[offset:]
    if order.held is None:
        return first_places(keys, offset + limit)[offset:] if limit else np.zeros(0, np.int64)
    left = np.flatnonzero(behind(columns, order.held))
    return left[first_places([key[left] for key in keys], limit)]


def _hits(
    found: DocumentSet, places: Integers, request: Search, *, scored: bool
) -> Iterator[FoundHit]:
    ascending = np.argsort(places)
    inner = dict(
        zip(
            places[ascending].tolist(),
            find_inner_hits(found.take(places[ascending]), request.query),
            strict=True,
        )
    )
    scores = found.scores if scored else None
    for place, key in zip(places.tolist(), found.keys(places), strict=True):
        yield FoundHit(key, math.nan if scores is None else float(scores[place]), inner[place])


def _token(sort: SearchSort, columns: Sequence[SortColumn], last: int) -> bytes:
    return write_page_token(sort, [column.held(last) for column in columns])
