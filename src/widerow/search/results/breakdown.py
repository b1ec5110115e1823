"""Metrics and groups of all levels of a request (search §6)."""

from typing import assert_never

from widerow.model.search.aggregation import (
    Aggregation,
    AggregationAnswer,
    Breakdown,
    BreakdownAnswer,
    CompositeGroupBy,
    DateHistogramGroupBy,
    DistanceGroupBy,
    FieldGroupBy,
    FilterGroupBy,
    GeoGridGroupBy,
    GroupBy,
    GroupByAnswer,
    HistogramGroupBy,
    Metric,
    PercentilesMetric,
    RangeGroupBy,
    TopRows,
)
from widerow.model.search.query import SearchSort
from widerow.search.interface import DocumentSet
from widerow.search.results.grouping import Grouping
from widerow.search.results.groups.composite import group_by_composite
from widerow.search.results.groups.keyed import group_by_key
from widerow.search.results.groups.listed import (
    group_by_distance,
    group_by_filter,
    group_by_range,
)
from widerow.search.results.metrics import metric_numbers, percentile_values
from widerow.search.results.scope import BreakdownContext, Scope
from widerow.search.results.top_rows import top_row_keys

__all__ = ["break_down"]


def break_down(rows: DocumentSet, sort: SearchSort, asked: Breakdown) -> BreakdownAnswer:
    """The metrics and groups of a request, over all rows that were found.

    `sort`: their order, for top rows that name none. All groups of a level are computed at once, in
    a few passes over their documents for each metric. Raises `InvalidRequest`.
    """
    if not asked:
        return BreakdownAnswer()
    context = BreakdownContext(rows, sort, _level_answers)
    return _level_answers(context, Grouping(rows, rows), asked)[0]


def _level_answers(
    context: BreakdownContext, level: Grouping, asked: Breakdown
) -> list[BreakdownAnswer]:
    """The metrics and groups below each group of a level."""
    if not asked:
        return [BreakdownAnswer()] * level.size
    context.count_values(level.size * sum(map(_values, asked.aggregations)))
    scope = Scope(context, level, asked)
    aggregations = [_aggregation_answers(scope, each) for each in asked.aggregations]
    group_bys = [_group_by_answers(scope, each) for each in asked.group_bys]
    return [
        BreakdownAnswer(
            tuple(answers[group] for answers in aggregations),
            tuple(answers[group] for answers in group_bys),
        )
        for group in range(level.size)
    ]


def _values(asked: Aggregation) -> int:
    return len(asked.percentiles) if isinstance(asked, PercentilesMetric) else 1


def _aggregation_answers(scope: Scope, asked: Aggregation) -> list[AggregationAnswer]:
    scope.level.rows.check()
    match asked:
        case Metric():
            numbers = metric_numbers(scope, asked).tolist()
            return [AggregationAnswer(asked, number) for number in numbers]
        case PercentilesMetric():
            return [AggregationAnswer(asked, pairs) for pairs in percentile_values(scope, asked)]
        case TopRows():
            return [AggregationAnswer(asked, keys) for keys in top_row_keys(scope, asked)]


def _group_by_answers(scope: Scope, asked: GroupBy) -> list[GroupByAnswer]:
    scope.level.rows.check()
    match asked:
        case FieldGroupBy() | HistogramGroupBy() | DateHistogramGroupBy() | GeoGridGroupBy():
            answers = group_by_key(scope, asked)
        case RangeGroupBy():
            answers = group_by_range(scope, asked)
        case DistanceGroupBy():
            answers = group_by_distance(scope, asked)
        case FilterGroupBy():
            answers = group_by_filter(scope, asked)
        case CompositeGroupBy():
            return group_by_composite(scope, asked)
        case _:
            assert_never(asked)
    return [GroupByAnswer(asked, groups) for groups in answers]
