"""Groups by several keys at once, page by page (search §6.3)."""

import base64
import binascii
import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widerow.errors import InvalidRequest
from widerow.limits import (
    COMPOSITE_COMBINATIONS_MAX,
    GROUPS_DEFAULT,
    GROUPS_MAX,
    SEARCH_TOKEN_BYTES_MAX,
)
from widerow.model.search.aggregation import CompositeGroupBy, GroupByAnswer, SearchGroup
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.interface import Integers
from widerow.search.results.grouping import Grouping, group_sizes, joined
from widerow.search.results.groups.assembly import below_groups
from widerow.search.results.groups.codes import coded, group_key_text
from widerow.search.results.groups.numbering import candidates, ranks_within
from widerow.search.results.scope import Scope
from widerow.search.results.tokens import open_token, sealed_token

__all__ = ["group_by_composite"]

_JOINED_MAX: Final = 2**62


class _Source(NamedTuple):
    """The keys of one source.

    `entries` ascend; `codes` ascend with the keys, and 0 stands for no value. `text`: the key of a
    code; `held`: its form in a token; `place`: the number of codes below such a form, and whether
    its code exists.
    """

    entries: Integers
    codes: Integers
    kinds: int
    text: Callable[[int], str | None]
    held: Callable[[int], int | float | str | None]
    place: Callable[[Any], tuple[int, bool]]


class _Combined(NamedTuple):
    """Entries with one code of each source: one line for each combination of an entry."""

    entries: Integers
    columns: list[Integers]


def group_by_composite(scope: Scope, asked: CompositeGroupBy) -> list[GroupByAnswer]:
    """For each group of the level a page of combinations, sorted by keys; no value comes first.

    Raises `InvalidRequest` for unsuitable sources, and for a wrong token.
    """
    level, sources = _sources(scope, asked)
    combined = _combined(level, sources)
    columns = [level.group_numbers(combined.entries), *combined.columns]
    kinds = [level.size, *(source.kinds for source in sources)]
    lines = _joined(columns, kinds)
    found_groups = candidates(None, lines.numbers, 1)
    groups = lines.columns(found_groups.codes)
    left = np.flatnonzero(_behind(sources, groups[1:], asked.token))
    ranks = ranks_within(groups[0][left])
    chosen = left[ranks < _size(asked)]
    scope.context.count_groups(len(chosen))
    places = found_groups.places(chosen) if asked.below else chosen
    split = (combined.entries, places, len(chosen))
    below = below_groups(scope, level, split, asked.below)
    keys = [column[chosen].tolist() for column in groups[1:]]
    found = [
        SearchGroup(
            tuple(source.text(codes[place]) for source, codes in zip(sources, keys, strict=True)),
            count,
            below[place],
        )
        for place, count in enumerate(found_groups.counts[chosen].tolist())
    ]
    return _pages(asked, sources, (found, keys), (groups[0][left], groups[0][chosen], level.size))


def _size(asked: CompositeGroupBy) -> int:
    if asked.size is not None:
        return asked.size
    if asked.suggested_size is not None and asked.suggested_size > 0:
        return min(asked.suggested_size, GROUPS_MAX)
    return GROUPS_DEFAULT


def _sources(scope: Scope, asked: CompositeGroupBy) -> tuple[Grouping, list[_Source]]:
    levels: list[Grouping] = []
    sources: list[_Source] = []
    for each in asked.sources:
        found = coded(scope, each)
        levels.append(found.level)
        entries = np.arange(found.level.entries) if found.entries is None else found.entries
        marks = found.key if found.mark is None else found.mark
        sources.append(_source(found.level, entries, found.codes, (found.key, marks)))
    if any(level.path != levels[0].path for level in levels):
        raise InvalidRequest(TablestoreRule.GROUP_LEVEL)
    return levels[0], sources


def _source(
    level: Grouping,
    entries: Integers,
    codes: Integers,
    names: tuple[Callable[[int], Any], Callable[[int], Any]],
) -> _Source:
    key, mark = names
    known = candidates(None, codes, 1)
    distinct, dense = known.codes, known.places(np.arange(len(known.codes)))
    without = np.flatnonzero(group_sizes(entries, level.entries) == 0)
    dense = dense + 1
    if len(without):
        entries = np.concatenate((entries, without))
        dense = np.concatenate((dense, np.zeros(len(without), np.int64)))
        order = np.argsort(entries, kind="stable")
        entries, dense = entries[order], dense[order]

    def text(code: int) -> str | None:
        return group_key_text(key(int(distinct[code - 1]))) if code else None

    def held(code: int) -> int | str | float | None:
        return mark(int(distinct[code - 1])) if code else None

    def place(value: float | str | None) -> tuple[int, bool]:
        if value is None:
            return 0, True
        found = bisect_left(distinct, value, key=lambda code: mark(int(code)))
        there = found < len(distinct) and mark(int(distinct[found])) == value
        return found + 1, there

    return _Source(entries, dense, len(distinct) + 1, text, held, place)


def _combined(level: Grouping, sources: Sequence[_Source]) -> _Combined:
    entries = np.arange(level.entries)
    columns: list[Integers] = []
    for source in sources:
        if len(source.entries) == level.entries:  # every entry has one code
            columns.append(source.codes[entries])
            continue
        sizes = group_sizes(source.entries, level.entries)
        if int(sizes[entries].sum()) > COMPOSITE_COMBINATIONS_MAX:
            raise InvalidRequest(
                TablestoreRule.GROUP_TOTAL, what="combinations", maximum=COMPOSITE_COMBINATIONS_MAX
            )
        lines, places = joined(source.entries, entries, level.entries)
        columns = [column[lines] for column in columns]
        columns.append(source.codes[places])
        entries = entries[lines]
    return _Combined(entries, columns)


class _Joined(NamedTuple):
    """One number for each line, ordered as its columns are.

    `steps`: for each column after the first, its number of codes, and the former numbers if they
    were renumbered before it was joined.
    """

    numbers: Integers
    steps: list[tuple[int, Integers | None]]

    def columns(self, numbers: Integers) -> list[Integers]:
        """The columns of joined numbers."""
        found = []
        for kinds, renumbered in reversed(self.steps):
            numbers, codes = np.divmod(numbers, kinds)
            found.append(codes)
            if renumbered is not None:
                numbers = renumbered[numbers]
        return [numbers, *reversed(found)]


def _joined(columns: Sequence[Integers], kinds: Sequence[int]) -> _Joined:
    numbers, count = columns[0], kinds[0]
    steps: list[tuple[int, Integers | None]] = []
    for column, kind in zip(columns[1:], kinds[1:], strict=True):
        renumbered = None
        if count * kind > _JOINED_MAX:
            renumbered, numbers = np.unique(numbers, return_inverse=True)
            count = len(renumbered)
        numbers, count = numbers * kind + column, count * kind
        steps.append((kind, renumbered))
    return _Joined(numbers, steps)


def _behind(
    sources: Sequence[_Source], columns: Sequence[Integers], token: str | None
) -> NDArray[np.bool_]:
    """Which groups come after the group in a token."""
    size = len(columns[0])
    if not token:
        return np.ones(size, np.bool_)
    held = _opened(token, len(sources))
    later, equal = np.zeros(size, np.bool_), np.ones(size, np.bool_)
    for source, column, value in zip(sources, columns, held, strict=True):
        try:
            place, there = source.place(value)
        except TypeError as error:  # a number compared with texts
            raise InvalidRequest(TablestoreRule.GROUP_TOKEN) from error
        later |= equal & (column > place if there else column >= place)
        equal &= (column == place) if there else False
    return later


def _opened(token: str, count: int) -> list[Any]:
    if len(token) > SEARCH_TOKEN_BYTES_MAX * 2:
        raise InvalidRequest(TablestoreRule.GROUP_TOKEN)
    try:
        held = open_token(base64.b64decode(token, validate=True))
    except (ValueError, binascii.Error) as error:
        raise InvalidRequest(TablestoreRule.GROUP_TOKEN) from error
    if not isinstance(held, list) or len(held) != count or not all(map(_is_key, held)):
        raise InvalidRequest(TablestoreRule.GROUP_TOKEN)
    return held


def _is_key(held: object) -> bool:
    return isinstance(held, int | float | str | None) and not (
        isinstance(held, float) and math.isnan(held)
    )


def _pages(
    asked: CompositeGroupBy,
    sources: Sequence[_Source],
    found: tuple[list[SearchGroup], list[list[int]]],
    parents: tuple[Integers, Integers, int],
) -> list[GroupByAnswer]:
    """The groups of each parent, with a token where more groups follow."""
    groups, keys = found
    left, chosen, size = parents
    more = group_sizes(left, size) > group_sizes(chosen, size)
    bounds = np.searchsorted(chosen, np.arange(size + 1)).tolist()
    pages = []
    for parent, (start, stop) in enumerate(pairwise(bounds)):
        token = None
        if more[parent]:
            held = [s.held(codes[stop - 1]) for s, codes in zip(sources, keys, strict=True)]
            token = base64.b64encode(sealed_token(held)).decode()
        pages.append(GroupByAnswer(asked, tuple(groups[start:stop]), token))
    return pages
