"""Checks of a request for metrics and groups, before anything is computed (search §6.1)."""

from collections.abc import Iterator
from typing import Final

from widerow.errors import InvalidRequest
from widerow.limits import (
    AGGREGATIONS_MAX,
    BREAKDOWN_NODES_MAX,
    COMPOSITE_SOURCES_MAX,
    DISTANCE_RANGES_MAX,
    FILTERS_MAX,
    GEO_GRID_GROUPS_MAX,
    GEO_GRID_PRECISION_MAX,
    GROUP_BY_LEVELS_MAX,
    GROUP_BYS_MAX,
    GROUPS_MAX,
    RANGES_MAX,
    TOP_ROWS_MAX,
)
from widerow.model.search.aggregation import (
    Aggregation,
    Breakdown,
    CompositeGroupBy,
    DateHistogramGroupBy,
    DistanceGroupBy,
    FieldGroupBy,
    FilterGroupBy,
    GeoGridGroupBy,
    GroupBy,
    GroupSortKey,
    HistogramGroupBy,
    Metric,
    RangeGroupBy,
    TopRows,
)
from widerow.model.tablestore.rules import TablestoreRule

__all__ = ["check_breakdown", "group_kind"]

_KINDS: Final[dict[type, str]] = {
    FieldGroupBy: "groupby_field",
    RangeGroupBy: "groupby_range",
    FilterGroupBy: "groupby_filter",
    DistanceGroupBy: "groupby_geo_distance",
    HistogramGroupBy: "groupby_histogram",
    DateHistogramGroupBy: "groupby_date_histogram",
    GeoGridGroupBy: "groupby_geo_grid",
    CompositeGroupBy: "groupby_composite",
}


def group_kind(asked: GroupBy) -> str:
    """How messages name a kind of group-by."""
    return _KINDS[type(asked)]


def check_breakdown(asked: Breakdown) -> None:
    """Check names, numbers and depth. Raises `InvalidRequest`.

    The depth is checked first, before any work on a level that is too deep.
    """
    nodes = 0
    level = [asked]
    for _ in range(GROUP_BY_LEVELS_MAX + 1):
        for each in level:
            _check_level(each)
            nodes += len(each.aggregations) + len(each.group_bys)
            if nodes > BREAKDOWN_NODES_MAX:
                _refuse_count("groupby", BREAKDOWN_NODES_MAX)
        level = [group_by.below for each in level for group_by in each.group_bys]
    if level:
        raise InvalidRequest(TablestoreRule.AGG_DEPTH)


def _check_level(asked: Breakdown) -> None:
    if len(asked.aggregations) > AGGREGATIONS_MAX:
        _refuse_count("agg", AGGREGATIONS_MAX)
    if len(asked.group_bys) > GROUP_BYS_MAX:
        _refuse_count("groupby", GROUP_BYS_MAX)
    _check_names("agg", asked.aggregations)
    _check_names("groupby", asked.group_bys)
    for aggregation in asked.aggregations:
        if isinstance(aggregation, TopRows) and not 1 <= aggregation.limit <= TOP_ROWS_MAX:
            raise InvalidRequest(TablestoreRule.TOP_ROWS_LIMIT, limit=aggregation.limit)
    for group_by in asked.group_bys:
        _check_group_by(group_by)


def _refuse_count(kind: str, maximum: int) -> None:
    raise InvalidRequest(TablestoreRule.AGG_COUNT, kind=kind, maximum=maximum)


def _check_names(kind: str, asked: tuple[Aggregation | GroupBy, ...]) -> None:
    seen: set[str] = set()
    for each in asked:
        if not each.name:
            raise InvalidRequest(TablestoreRule.AGG_NAME_EMPTY, kind=kind)
        if each.name in seen:
            raise InvalidRequest(TablestoreRule.AGG_NAME_DUPLICATE, kind=kind, name=each.name)
        seen.add(each.name)


def _check_group_by(asked: GroupBy) -> None:
    match asked:
        case FieldGroupBy() | CompositeGroupBy():
            _check_size(asked, asked.size, GROUPS_MAX)
        case GeoGridGroupBy():
            _check_size(asked, asked.size, GEO_GRID_GROUPS_MAX)
            precision = asked.precision
            if precision is not None and not 1 <= precision <= GEO_GRID_PRECISION_MAX:
                raise InvalidRequest(TablestoreRule.GROUP_PRECISION, precision=precision)
        case _:
            pass
    for parts, count, maximum in _parts(asked):
        if not 1 <= count <= maximum:
            raise InvalidRequest(
                TablestoreRule.GROUP_PARTS, kind=group_kind(asked), parts=parts, maximum=maximum
            )
    if isinstance(asked, FieldGroupBy | HistogramGroupBy | DateHistogramGroupBy):
        _check_sort(asked)


def _check_size(asked: GroupBy, size: int | None, maximum: int) -> None:
    if size is not None and not 1 <= size <= maximum:
        raise InvalidRequest(
            TablestoreRule.GROUP_SIZE, kind=group_kind(asked), size=size, maximum=maximum
        )


def _parts(asked: GroupBy) -> Iterator[tuple[str, int, int]]:
    match asked:
        case RangeGroupBy():
            yield "ranges", len(asked.ranges), RANGES_MAX
        case DistanceGroupBy():
            yield "ranges", len(asked.ranges), DISTANCE_RANGES_MAX
        case FilterGroupBy():
            yield "filters", len(asked.filters), FILTERS_MAX
        case CompositeGroupBy():
            yield "sources", len(asked.sources), COMPOSITE_SOURCES_MAX
        case _:
            pass


def _check_sort(asked: FieldGroupBy | HistogramGroupBy | DateHistogramGroupBy) -> None:
    metrics = {each.name for each in asked.below.aggregations if isinstance(each, Metric)}
    for sorter in asked.sort:
        if sorter.key is GroupSortKey.METRIC and sorter.metric not in metrics:
            raise InvalidRequest(
                TablestoreRule.GROUP_SORT_METRIC, kind=group_kind(asked), name=sorter.metric
            )
