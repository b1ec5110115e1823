"""Aggregate functions over any values: what a query accumulates for each of its groups.

A value that is NULL is not taken in; a group without values has NULL, or the count 0.
"""

from collections.abc import Callable, Sequence
from typing import Any, final

from widerow.query.relation import Values

__all__ = ["Best", "Collected", "Count", "CountRows", "First", "Mean", "Moments", "Sum"]


@final
class CountRows:
    """How many rows a group has, whatever their values."""

    def __init__(self) -> None:
        self._counts: list[int] = []

    def add(self, groups: Sequence[int], _values: Values) -> None:
        """Count the rows."""
        counts = _grown(self._counts, groups, 0)
        for group in groups:
            counts[group] += 1

    def results(self, groups: int) -> Values:
        """The counts."""
        return _filled(self._counts, groups, 0)


@final
class Count:
    """How many values of a group are not NULL."""

    def __init__(self) -> None:
        self._counts: list[int] = []

    def add(self, groups: Sequence[int], values: Values) -> None:
        """Count the values."""
        counts = _grown(self._counts, groups, 0)
        for group, value in zip(groups, values, strict=True):
            if value is not None:
                counts[group] += 1

    def results(self, groups: int) -> Values:
        """The counts."""
        return _filled(self._counts, groups, 0)


@final
class Sum:
    """The sum of a group's numbers; `convert` makes the result of it."""

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        self._convert = convert
        self._sums: list[Any] = []

    def add(self, groups: Sequence[int], values: Values) -> None:
        """Add the values."""
        sums = _grown(self._sums, groups, None)
        for group, value in zip(groups, values, strict=True):
            if value is not None:
                before = sums[group]
                sums[group] = value if before is None else before + value

    def results(self, groups: int) -> Values:
        """The sums."""
        convert = self._convert
        return [None if s is None else convert(s) for s in _filled(self._sums, groups, None)]


@final
class Mean:
    """The mean of a group's numbers."""

    def __init__(self) -> None:
        self._sums: list[Any] = []
        self._counts: list[int] = []

    def add(self, groups: Sequence[int], values: Values) -> None:
        """Take in the values."""
        sums, counts = _grown(self._sums, groups, 0), _grown(self._counts, groups, 0)
        for group, value in zip(groups, values, strict=True):
            if value is not None:
                sums[group] += value
                counts[group] += 1

    def results(self, groups: int) -> Values:
        """The means, as floating-point numbers."""
        sums, counts = _filled(self._sums, groups, 0), _filled(self._counts, groups, 0)
        return [total / count if count else None for total, count in zip(sums, counts, strict=True)]


@final
class Best:
    """The value of a group that no other one is better than, such as the smallest."""

    def __init__(self, better: Callable[[Any, Any], bool]) -> None:
        self._better = better
        self._best: list[Any] = []

    def add(self, groups: Sequence[int], values: Values) -> None:
        """Compare the values."""
        best, better = _grown(self._best, groups, None), self._better
        for group, value in zip(groups, values, strict=True):
            if value is not None and (best[group] is None or better(value, best[group])):
                best[group] = value

    def results(self, groups: int) -> Values:
        """The best values."""
        return _filled(self._best, groups, None)


@final
class First:
    """The value of a group's first row, which may be NULL."""

    def __init__(self) -> None:
        self._values: list[Any] = []
        self._met: list[bool] = []

    def add(self, groups: Sequence[int], values: Values) -> None:
        """Keep the values of groups that had none."""
        kept = _grown(self._values, groups, None)
        met = _grown(self._met, groups, start=False)
        for group, value in zip(groups, values, strict=True):
            if not met[group]:
                met[group] = True
                kept[group] = value

    def results(self, groups: int) -> Values:
        """The values."""
        return _filled(self._values, groups, None)


@final
class Collected:
    """All values of a group, of which `finish` makes the result; NULL without any."""

    def __init__(self, finish: Callable[[list[Any]], Any]) -> None:
        self._finish = finish
        self._values: list[list[Any]] = []

    def add(self, groups: Sequence[int], values: Values) -> None:
        """Keep the values."""
        kept = self._values
        while len(kept) <= max(groups, default=-1):
            kept.append([])
        for group, value in zip(groups, values, strict=True):
            if value is not None:
                kept[group].append(value)

    def results(self, groups: int) -> Values:
        """What `finish` makes of the values of each group."""
        found = [self._finish(each) if each else None for each in self._values]
        return _filled(found, groups, None)


@final
class Moments:
    """Mean and squared deviations of a group's numbers (Welford), for variances.

    `finish` makes the result of the number of values and the sum of their squared deviations.
    """

    def __init__(self, finish: Callable[[int, float], float | None]) -> None:
        self._finish = finish
        self._states: list[tuple[int, float, float]] = []

    def add(self, groups: Sequence[int], values: Values) -> None:
        """Take in the values."""
        states = _grown(self._states, groups, (0, 0.0, 0.0))
        for group, value in zip(groups, values, strict=True):
            if value is not None:
                count, mean, squares = states[group]
                count, apart = count + 1, value - mean
                mean += apart / count
                states[group] = (count, mean, squares + apart * (value - mean))

    def results(self, groups: int) -> Values:
        """What `finish` makes of each group; NULL without values."""
        states = _filled(self._states, groups, (0, 0.0, 0.0))
        return [self._finish(count, squares) if count else None for count, _, squares in states]


def _grown(states: list[Any], groups: Sequence[int], start: object) -> list[Any]:
    """The states, of which there is one for each of these groups now."""
    missing = max(groups, default=-1) + 1 - len(states)
    if missing > 0:
        states += [start] * missing
    return states


def _filled(states: list[Any], groups: int, start: object) -> list[Any]:
    return states + [start] * (groups - len(states))
