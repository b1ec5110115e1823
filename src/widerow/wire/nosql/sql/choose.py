"""Which way to the rows of a table a statement takes: the primary key, or an index, and its order.

The rules follow what the vendor's plans show (docs/protocol/differences.md): a whole primary key
is taken before anything else, then an index that sorts or groups as the statement wants, then the
way whose leading columns have most conditions, equality counting twice a range.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_form import IndexForm
from widerow.wire.nosql.sql.access_path import AccessPath, KeyCondition, equal_columns

__all__ = ["Chosen", "Hints", "PathCandidate", "WantedOrder", "WantedRows", "choose_path"]


class PathCandidate(NamedTuple):
    """A condition of WHERE on a path, which an index may serve.

    `path`: in the form of index paths, `tags[]`, `addr.city`. `element`: conditions of one number
    hold for one and the same member of an array or map; 0: of no member in particular.
    `pushed`: ranges can be made of it; else an index that has the path only filters by it.
    """

    path: str
    condition: KeyCondition
    element: int = 0
    pushed: bool = True


class WantedOrder(NamedTuple):
    """One expression of ORDER BY; `path` is None where it is not a path of the table."""

    path: str | None
    descending: bool = False
    nulls_first: bool | None = None


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints of a statement for one table; "" is the primary key."""

    forced: str | None = None
    preferred: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WantedRows:
    """What a statement wants of a table's rows.

    `order`: of ORDER BY. `groups`: paths of GROUP BY, or of DISTINCT; None where one is not a path.
    `extreme`: the path of a single min or max.
    """

    candidates: tuple[PathCandidate, ...] = ()
    order: tuple[WantedOrder, ...] = ()
    groups: tuple[str | None, ...] = ()
    extreme: str | None = None
    hints: Hints = field(default_factory=Hints)


class Chosen(NamedTuple):
    """The way to take, and whether its order is that of ORDER BY."""

    path: AccessPath
    ordered: bool


_EQUAL: Final = frozenset(("=", "in", "null", "empty"))
_SCORE_EQUAL: Final = 32
_SCORE_RANGE: Final = 16
_SCORE_FILTER: Final = 7
_SCORE_WHOLE: Final = 10**6


@dataclass(frozen=True, slots=True)
class _Way:
    name: str
    index: IndexForm | None
    texts: tuple[str, ...]
    conditions: tuple[tuple[KeyCondition, ...], ...]
    score: int
    sorts: bool
    ordered: bool
    reverse: bool

    @property
    def multikey(self) -> bool:
        return self.index is not None and any(path.split >= 0 for path in self.index.paths)


def choose_path(form: TableForm, wanted: WantedRows) -> Chosen:
    """The way to the rows of a table."""
    ways = [_way(form, None, wanted)]
    ways += [
        _way(form, IndexForm(form.table, index), wanted)
        for index in form.table.indexes
        if index.ready
    ]
    way = _best(ways, wanted)
    equal = equal_columns(form, way.conditions) if way.index is None else ()
    path = AccessPath(form, way.index, way.conditions, reverse=way.reverse, equal=equal)
    return Chosen(path, way.ordered)


def _best(ways: Sequence[_Way], wanted: WantedRows) -> _Way:
    primary = ways[0]
    hints = wanted.hints
    if hints.forced is not None:
        return next((way for way in ways if way.name == hints.forced), primary)
    if primary.score >= _SCORE_WHOLE:
        return primary
    preferred = [way for way in ways if way.name in hints.preferred]
    if preferred:
        return max(preferred, key=lambda way: way.score)
    sorting = [way for way in ways[1:] if way.sorts]
    if sorting:
        return max(sorting, key=_rank)
    best = max(ways, key=_rank)
    if best.score == 0 or (best.score == primary.score and not best.multikey):
        return primary
    return best


def _rank(way: _Way) -> tuple[int, bool, int]:
    return way.score, not way.multikey, -len(way.texts)


def _way(form: TableForm, index: IndexForm | None, wanted: WantedRows) -> _Way:
    if index is None:
        name, texts, multikey = "", form.table.primary_key, False
    else:
        name = index.index.name.lower()
        texts = tuple(path.text for path in index.paths)
        multikey = any(path.split >= 0 for path in index.paths)
    usable = _usable(index, texts, wanted.candidates)
    if index is not None and not index.index.with_nulls:
        usable = _without_nulls(texts, usable)
    conditions, score = _pushed(texts, usable)
    if index is None and len(conditions) == len(texts) and _all_equal(conditions):
        score = _SCORE_WHOLE
    complete = index is None or index.index.with_nulls
    ordered = reverse = False
    if not multikey and complete and wanted.order:
        ordered, reverse = _order_of(form, index, texts, conditions, wanted.order)
    grouped = bool(wanted.groups) and tuple(texts[: len(wanted.groups)]) == wanted.groups
    sorts = (
        not multikey
        and complete
        and ((ordered and not wanted.groups) or grouped or wanted.extreme == texts[0])
    )
    return _Way(name, index, texts, conditions, score, sorts, ordered, reverse)


def _without_nulls(texts: Sequence[str], usable: Sequence[PathCandidate]) -> list[PathCandidate]:
    """An index WITH NO NULLS lacks rows, unless each of its paths is compared with a value."""
    compared = {
        each.path
        for each in usable
        if each.pushed and each.condition.operator not in ("null", "empty", "exists")
    }
    return list(usable) if compared >= set(texts) else []


def _usable(
    index: IndexForm | None, texts: Sequence[str], candidates: Iterable[PathCandidate]
) -> list[PathCandidate]:
    """The candidates that ranges of this key may be made of together.

    Of conditions on members of an array or map only those of one member hold together.
    """
    members = set()
    if index is not None:
        members = {path.text for path in index.paths if path.split >= 0}
    named = [each for each in candidates if each.path in texts]
    inside = [each for each in named if each.path in members]
    outside = [each for each in named if each.path not in members and not each.element]
    if not inside:
        return outside
    groups: dict[tuple[int, int], list[PathCandidate]] = {}
    for at, each in enumerate(inside):
        groups.setdefault((each.element, 0 if each.element else at), []).append(each)
    best = max(groups.values(), key=lambda group: _pushed(texts, [*outside, *group])[1])
    return [*outside, *best]


def _pushed(
    texts: Sequence[str], usable: Sequence[PathCandidate]
) -> tuple[tuple[tuple[KeyCondition, ...], ...], int]:
    """The conditions of each leading column, and the score of all candidates."""
    columns: list[tuple[KeyCondition, ...]] = []
    score = 0
    for text in texts:
        found = [each for each in usable if each.path == text and each.pushed]
        if not found:
            break
        equal = [each for each in found if each.condition.operator in _EQUAL]
        columns.append(tuple(each.condition for each in equal or found))
        score += _SCORE_EQUAL if equal else _SCORE_RANGE
        if not equal:
            break
    if columns and len(columns) == len(texts) and _all_equal(columns):
        score += 1
    rest = {each.path for each in usable} - set(texts[: len(columns)])
    return tuple(columns), score + _SCORE_FILTER * len(rest) + _unpushed(texts, columns, usable)


def _unpushed(
    texts: Sequence[str],
    columns: Sequence[Sequence[KeyCondition]],
    usable: Sequence[PathCandidate],
) -> int:
    """The score of conditions that only filter, on columns that have others that do not."""
    leading = set(texts[: len(columns)])
    return _SCORE_FILTER * sum(not each.pushed and each.path in leading for each in usable)


def _all_equal(columns: Iterable[Sequence[KeyCondition]]) -> bool:
    return all(any(each.operator in _EQUAL for each in column) for column in columns)


def _order_of(
    form: TableForm,
    index: IndexForm | None,
    texts: Sequence[str],
    conditions: Sequence[Sequence[KeyCondition]],
    order: Sequence[WantedOrder],
) -> tuple[bool, bool]:
    """Whether the key's order is the wanted one, and whether from its end."""
    fixed = _fixed_columns(texts, conditions)
    columns = [text for text in texts if text not in fixed]
    if index is not None:
        columns += [name for name in form.table.primary_key if name not in texts]
    free = [each for each in order if each.path not in fixed]
    reverse = bool(free) and free[0].descending
    for at, each in enumerate(free):
        if at == len(columns):
            break  # the key is told apart already
        nulls = each.nulls_first is None or each.nulls_first == each.descending
        if columns[at] != each.path or each.descending != reverse or not nulls:
            return False, False
    return True, reverse


def _fixed_columns(
    texts: Sequence[str], conditions: Sequence[Sequence[KeyCondition]]
) -> frozenset[str]:
    """The columns that have one value in all rows of the ranges."""
    single: Callable[[KeyCondition], bool] = lambda each: (  # noqa: E731  # short
        each.operator in ("null", "empty") or (each.operator == "=" and len(each.operands) == 1)
    )
    pairs = zip(texts, conditions, strict=False)
    return frozenset(text for text, column in pairs if any(map(single, column)))
