"""Which series and which of their points a statement on a timeseries table reads (timeseries §12).

The conditions are looked at row by row as well, so that what is read here need only have all rows.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sqlglot import exp

from widerow.errors import InvalidRequest
from widerow.model.tablestore.mapping import MappedColumn
from widerow.model.timeseries.points import POINT_TIME_COLUMN
from widerow.model.timeseries.requests import (
    AllOf,
    AnyOf,
    MetaComparator,
    MetaCondition,
    MetaField,
    MetaMatch,
)
from widerow.model.timeseries.series import (
    MEASUREMENT_COLUMN,
    SOURCE_COLUMN,
    TAGS_COLUMN,
    SeriesKey,
    tags_of_text,
)
from widerow.model.timeseries.table import TimeseriesTable
from widerow.query.access import RANGES_MAX, KeyComparator, KeyComparison, key_ranges
from widerow.wire.tablestore.operations.sql.series_tables import (
    UPDATED_COLUMN,
    SeriesMapping,
    SeriesScan,
    SeriesView,
)
from widerow.wire.tablestore.operations.timeseries.seen_tables import series_of_columns

__all__ = ["TAG_FUNCTION", "series_scan", "tag_in", "tags_like"]

TAG_FUNCTION: Final = "TAG_VALUE_AT"
_WILD: Final = re.compile(r"(?<!\\)[%_]")
_TAG: Final = re.compile(r'"([^"=]+)=([^"=]+)("|$)')
_TIME_MAX: Final = 2**63  # behind the last time that a point can have
_PARTS_MAX: Final = 64  # of WHERE, as conditions on metas; what else it has is looked at in rows

_COMPARATORS: Final = {
    KeyComparator.EQUAL: MetaComparator.EQUAL,
    KeyComparator.LESS: MetaComparator.LESS_THAN,
    KeyComparator.AT_MOST: MetaComparator.LESS_EQUAL,
    KeyComparator.GREATER: MetaComparator.GREATER_THAN,
    KeyComparator.AT_LEAST: MetaComparator.GREATER_EQUAL,
    KeyComparator.BEGINS: MetaComparator.PREFIX,
}


def tag_in(node: exp.Expr) -> str | None:
    """The name of the tag that `tag_value_at(_tags, 'name')` asks for; None for anything else."""
    if not isinstance(node, exp.Anonymous) or node.name.upper() != TAG_FUNCTION:
        return None
    if len(node.expressions) != 2:
        return None
    column, name = node.expressions
    is_tags = isinstance(column, exp.Column) and column.name.lower() == TAGS_COLUMN
    return name.name if is_tags and isinstance(name, exp.Literal) and name.is_string else None


def tags_like(pattern: str) -> list[KeyComparison]:
    """What `_tags LIKE pattern` says of tags, by their names: those that stand whole in it.

    And those of whose values it has the beginning. In the text of tags a quote before a name is
    never the end of another tag, since `,"` or `]` follow that.
    """
    found: list[KeyComparison] = []
    for piece in _WILD.split(pattern):
        if "\\" in piece:  # escaped, in the pattern or in the text
            continue
        for name, value, end in _TAG.findall(piece):
            comparator = KeyComparator.EQUAL if end else KeyComparator.BEGINS
            found.append(KeyComparison(name, comparator, value))
    return found


def series_scan(
    mapping: SeriesMapping,
    columns: tuple[MappedColumn, ...],
    comparisons: Sequence[KeyComparison],
    tags: Sequence[KeyComparison],
) -> SeriesScan:
    """What is read for a conjunction of comparisons; `tags`: those of tags, by their names."""
    table = mapping.table
    begin_us, end_us = _times(comparisons)
    begin_us = max(begin_us, mapping.since_us)
    series = _whole_keys(table, comparisons)
    condition = None if series is not None else _condition(table, comparisons, tags)
    if mapping.view is SeriesView.LAST or (
        mapping.view is not SeriesView.METAS and not table.meta_index
    ):
        condition = None  # which series there are is told by their points, or the index, alone
    return SeriesScan(mapping, columns, series, condition, begin_us, end_us)


def _times(comparisons: Sequence[KeyComparison]) -> tuple[int, int]:
    """From when to before when the points are that the comparisons let through."""
    accesses = key_ranges([POINT_TIME_COLUMN], comparisons).accesses
    if not accesses:
        return 0, 0
    low, high = accesses[0].low, accesses[-1].high
    begin_us = low.values[0] + (not low.inclusive) if low.values else 0
    end_us = high.values[0] + high.inclusive if high.values else _TIME_MAX
    return max(0, begin_us), max(0, min(end_us, _TIME_MAX))


def _whole_keys(
    table: TimeseriesTable, comparisons: Sequence[KeyComparison]
) -> tuple[SeriesKey, ...] | None:
    """The series whose whole keys are given; None where they are not."""
    ranges = key_ranges(table.key, comparisons)
    if not ranges.accesses:
        return ()
    if not ranges.points:
        return None
    return tuple(_readable([each.low.values for each in ranges.accesses], table))


def _readable(keys: Sequence[Sequence[str]], table: TimeseriesTable) -> Iterator[SeriesKey]:
    """The series of keys; a text that is none of tags is that of no series."""
    for columns in keys:
        try:
            yield series_of_columns(table, columns)
        except InvalidRequest:
            continue


def _condition(
    table: TimeseriesTable, comparisons: Sequence[KeyComparison], tags: Sequence[KeyComparison]
) -> MetaCondition | None:
    """What metas can tell of the comparisons; None where they tell nothing."""
    found: list[MetaCondition] = []
    for each in comparisons:
        matched = _matched(table, each.column)
        if each.column == TAGS_COLUMN:
            found += _of_tags_text(each)
        elif matched is not None:
            found += _compared(each, matched)
    for each in tags:
        found += _compared(each, _tag(each.column))
    if not found:
        return None
    return found[0] if len(found) == 1 else AllOf(tuple(found[:_PARTS_MAX]))


_Match = Callable[[MetaComparator, Any], MetaMatch]


def _tag(name: str) -> _Match:
    return lambda comparator, value: MetaMatch(MetaField.TAG, comparator, value, name)


def _matched(table: TimeseriesTable, column: str) -> _Match | None:
    """What makes a condition on metas of a comparison of a column, if metas have it."""
    field = _FIELDS.get(column)
    if field is not None:
        return lambda comparator, value: MetaMatch(field, comparator, value)
    return _tag(column) if column in table.key and column != TAGS_COLUMN else None


_FIELDS: Final = {
    MEASUREMENT_COLUMN: MetaField.MEASUREMENT,
    SOURCE_COLUMN: MetaField.SOURCE,
    UPDATED_COLUMN: MetaField.UPDATE_TIME,
}


def _compared(each: KeyComparison, match: _Match) -> list[MetaCondition]:
    if each.comparator is not KeyComparator.ONE_OF:
        return [match(_COMPARATORS[each.comparator], each.value)]
    values = set(each.value)
    if not 0 < len(values) <= RANGES_MAX:
        return []
    return [AnyOf(tuple([match(MetaComparator.EQUAL, value) for value in sorted(values)]))]


def _of_tags_text(each: KeyComparison) -> list[MetaCondition]:
    """The tags of a whole text: series with more of them are told apart in rows."""
    if each.comparator is not KeyComparator.EQUAL:
        return []
    try:
        pairs = tags_of_text(each.value)
    except InvalidRequest:
        return []
    return [MetaMatch(MetaField.TAG, MetaComparator.EQUAL, value, name) for name, value in pairs]
