"""One level of groups, and the values of fields in it, looked up once (search §6.1)."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from widerow.errors import InvalidRequest
from widerow.limits import GROUP_VALUES_TOTAL_MAX, GROUPS_TOTAL_MAX, TOP_ROWS_TOTAL_MAX
from widerow.model.search.aggregation import Breakdown, BreakdownAnswer
from widerow.model.search.query import SearchSort
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import Value
from widerow.search.interface import DocumentSet, Integers
from widerow.search.results.grouping import Grouping, Spread, group_sizes

__all__ = ["BreakdownContext", "Scope", "missing_entries"]


@dataclass(slots=True)
class BreakdownContext:
    """What all levels of one request share.

    `rows`: the rows found; `sort`: their order, for top rows that name none; `descend`: computes
    what is asked below each group of a level. The counts are of the answer so far.
    """

    rows: DocumentSet
    sort: SearchSort
    descend: "Callable[[BreakdownContext, Grouping, Breakdown], list[BreakdownAnswer]]"
    groups: int = 0
    values: int = 0
    top_rows: int = 0

    def count_groups(self, count: int) -> None:
        """Count groups of the answer; refuse more than the bound. Raises `InvalidRequest`."""
        self.groups += count
        _check_total("groups", self.groups, GROUPS_TOTAL_MAX)

    def count_values(self, count: int) -> None:
        """Count metric values; refuse above `GROUP_VALUES_TOTAL_MAX`. Raises `InvalidRequest`."""
        self.values += count
        _check_total("values", self.values, GROUP_VALUES_TOTAL_MAX)

    def count_top_rows(self, count: int) -> None:
        """Count top rows of the answer; refuse more than the bound. Raises `InvalidRequest`."""
        self.top_rows += count
        _check_total("top rows", self.top_rows, TOP_ROWS_TOTAL_MAX)


@dataclass(slots=True)
class Scope:
    """A level of groups, and what is asked below each group."""

    context: BreakdownContext
    level: Grouping
    asked: Breakdown
    _levels: dict[str, Grouping] = field(default_factory=dict)
    _spreads: dict[str, Spread] = field(default_factory=dict)

    def path(self, name: str) -> str:
        """The nested path of a field, "" for rows."""
        return self.context.rows.nested_path(name)

    def at(self, path: str) -> Grouping:
        """The level's groups over the documents of a nested path.

        The path is that of this level, that of rows, or any below rows. Raises `InvalidRequest` for
        another nested path below a group-by of a nested field.
        """
        if path == self.level.path:
            return self.level
        if path and self.level.path:
            raise InvalidRequest(TablestoreRule.AGG_NESTED)
        if path not in self._levels:
            self._levels[path] = self.level.below(path) if path else self.level.above()
        return self._levels[path]

    def spread(self, name: str) -> tuple[Grouping, Spread]:
        """The grouping for a field's nested path, and the field's values in it."""
        level = self.at(self.path(name))
        if name not in self._spreads:
            self._spreads[name] = level.spread(name)
        return level, self._spreads[name]

    def filled(self, name: str, missing: Value | None) -> tuple[Grouping, Spread]:
        """`spread`, with the value `missing` for each entry without a value; None: none is added.

        Added values come last. A text that is not among the terms gets the number after them.
        """
        level, spread = self.spread(name)
        if missing is None:
            return level, spread
        literal = self.context.rows.literal(name, missing)
        without = missing_entries(level, spread)
        if isinstance(literal, bytes):
            literal = _term_number(spread.terms, literal)
        added = np.array([literal] * len(without) or [literal])[: len(without)]
        if spread.values.dtype == np.int64 and added.dtype == np.float64:
            values = np.concatenate((spread.values.astype(np.float64), added))
        else:
            values = np.concatenate((spread.values, added.astype(spread.values.dtype)))
        entries = np.arange(level.entries) if spread.entries is None else spread.entries
        return level, Spread(values, np.concatenate((entries, without)), spread.terms)


def _check_total(what: str, count: int, maximum: int) -> None:
    if count > maximum:
        raise InvalidRequest(TablestoreRule.GROUP_TOTAL, what=what, maximum=maximum)


def missing_entries(level: Grouping, spread: Spread) -> Integers:
    """The entries of a level without a value, ascending."""
    if spread.entries is None:
        return np.zeros(0, np.int64)
    return np.flatnonzero(group_sizes(spread.entries, level.entries) == 0)


def _term_number(terms: Sequence[bytes], term: bytes) -> int:
    place = bisect_left(terms, term)
    return place if place < len(terms) and terms[place] == term else len(terms)
