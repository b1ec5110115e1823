"""The differences of two answers to one request, each with its class.

What two servers cannot have in common is left out: request ids, dates and signatures are headers
and not looked at; of fields in `NATURAL` only their presence counts; versions of cells that both
servers chose by their clocks are equal (`ServerTimes`), and so are values of auto-increment
columns. Capacity is compared, and has a class of its own. What aggregations and group-bys came to
is compared by names and meaning: numbers that were computed of many are equal where only the order
of the computation can have made a difference. A token that says "the end" is one on both sides.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from enum import Enum
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from widerow.client.http import OK, HttpAnswer
from widerow.proxy.decoding import Computed, KeyTree, Tree, answer_tree, told_error
from widerow.rows.plain_values import CellDeletion, PlainRecord, Row

__all__ = [
    "NATURAL",
    "Allowances",
    "AnswerDifference",
    "DifferenceClass",
    "ServerTimes",
    "compare_answers",
]


class DifferenceClass(Enum):
    """What kind of thing differs."""

    STATUS = "status"
    ERROR_CODE = "error code"
    MESSAGE = "message"
    CONTENT = "row content"
    ORDER = "order"
    PAGING = "paging"
    CAPACITY = "capacity"
    FIELD = "other field"


class AnswerDifference(NamedTuple):
    """One difference: where in the answer, and what either side has there (None: nothing)."""

    kind: DifferenceClass
    path: str
    upstream: Tree
    other: Tree


class ServerTimes(NamedTuple):
    """When one server wrote: versions between the two times may be its own.

    Milliseconds since 1970, both included.
    """

    first_ms: int
    last_ms: int

    def has(self, version: int | None) -> bool:
        """Whether the server may have chosen this version."""
        return version is not None and self.first_ms <= version <= self.last_ms


class Allowances(NamedTuple):
    """What may differ: versions of these times, values of key columns of these names."""

    upstream: ServerTimes
    other: ServerTimes
    auto_columns: Collection[str] = ()

    def same_version(self, ours: int | None, theirs: int | None) -> bool:
        """Whether two versions are the same, or each its server's own."""
        return ours == theirs or (self.upstream.has(ours) and self.other.has(theirs))

    def same_key(self, ours: Sequence[tuple[str, Any]], theirs: Sequence[tuple[str, Any]]) -> bool:
        """Whether two keys are the same but for values of auto-increment columns."""
        return len(ours) == len(theirs) and all(
            name == their_name
            and (name in self.auto_columns or (value, type(value)) == (other, type(other)))
            for (name, value), (their_name, other) in zip(ours, theirs, strict=True)
        )


NATURAL: Final = frozenset(
    (
        *("transaction_id", "stream_id", "shard_id", "parent_id", "parent_sibling_id"),
        *("shard_iterator", "next_shard_iterator", "next_shard_id", "next_token", "session_id"),
        *("tunnel_id", "client_id", "channel_id", "checkpoint", "table_id", "location", "detail"),
        *("creation_time", "create_time", "last_enable_time", "last_increase_time"),
        *("last_decrease_time", "current_sync_timestamp", "tunnel_rpo", "channel_rpo"),
        *("rpo_infos", "tunnel_rpo_infos", "sequence_number"),
    )
)
"""Fields whose values are a server's own: names it made up, times of its clock."""

_CLASSES: Final = {
    "consumed": DifferenceClass.CAPACITY,
    "reserved_consumed": DifferenceClass.CAPACITY,
    "next_start_primary_key": DifferenceClass.PAGING,
    "next_token": DifferenceClass.PAGING,
    "next_shard_iterator": DifferenceClass.PAGING,
    "next_shard_id": DifferenceClass.PAGING,
    "may_more_record": DifferenceClass.PAGING,
    "is_ok": DifferenceClass.STATUS,
    "code": DifferenceClass.ERROR_CODE,
    "message": DifferenceClass.MESSAGE,
    "row": DifferenceClass.CONTENT,
    "rows": DifferenceClass.CONTENT,
    "record": DifferenceClass.CONTENT,
    "origin_record": DifferenceClass.CONTENT,
    "stream_records": DifferenceClass.CONTENT,
    "records": DifferenceClass.CONTENT,
    "total_hits": DifferenceClass.CONTENT,
    "aggs": DifferenceClass.CONTENT,
    "group_bys": DifferenceClass.CONTENT,
}
_ENDED: Final = frozenset(("finished", b"finished"))
"""The checkpoint of a channel that is consumed, and the token behind it (change §C2.8)."""

_ROUNDING: Final = 1e-12  # of a number computed in another order: some units in its last place
_Found = Iterator[AnswerDifference]


def compare_answers(
    action: str, upstream: HttpAnswer, other: HttpAnswer, allowed: Allowances
) -> list[AnswerDifference]:
    """The differences of two answers to a request of this action; none where they agree.

    Linear in the answers, and in rows times cells where rows stand in another order.
    """
    if upstream.status != other.status or upstream.status != OK:
        return list(_compare_errors(upstream, other))
    ours, theirs = answer_tree(action, upstream), answer_tree(action, other)
    return list(_Walk(allowed).compare("", DifferenceClass.FIELD, ours, theirs))


def _compare_errors(upstream: HttpAnswer, other: HttpAnswer) -> _Found:
    (code, message), (their_code, their_message) = told_error(upstream), told_error(other)
    if upstream.status != other.status:
        ours, theirs = f"{upstream.status} {code}".strip(), f"{other.status} {their_code}".strip()
        yield AnswerDifference(DifferenceClass.STATUS, "status", ours, theirs)
        if OK in (upstream.status, other.status):
            return
    if code != their_code:
        yield AnswerDifference(DifferenceClass.ERROR_CODE, "code", code, their_code)
    if message != their_message:
        yield AnswerDifference(DifferenceClass.MESSAGE, "message", message, their_message)


class _Walk:
    """Through two trees, side by side."""

    def __init__(self, allowed: Allowances) -> None:
        self._allowed = allowed

    def compare(self, path: str, kind: DifferenceClass, ours: Tree, theirs: Tree) -> _Found:
        if isinstance(ours, dict) and isinstance(theirs, dict):
            yield from self._fields(path, kind, ours, theirs)
        elif isinstance(ours, list) and isinstance(theirs, list):
            yield from self._elements(path, kind, ours, theirs)
        elif not self._same(ours, theirs):
            if isinstance(ours, Row) and isinstance(theirs, Row) and ours.key == theirs.key:
                yield self._first_cell(path, kind, ours, theirs)
            else:
                yield AnswerDifference(kind, path or "answer", ours, theirs)

    def _first_cell(
        self, path: str, kind: DifferenceClass, ours: Row, theirs: Row
    ) -> AnswerDifference:
        """Where two rows of one key begin to differ."""
        pairs = zip_longest(ours.cells, theirs.cells)
        left, right = next(
            (one, other)
            for one, other in pairs
            if one is None or other is None or not self._same_cells((one,), (other,))
        )
        if left is not None and right is not None and left.column != right.column:
            # One of them has a column that the other has not: the first by name.
            left, right = (left, None) if left.column < right.column else (None, right)
        there = right if left is None else left
        return AnswerDifference(kind, f"{path}.{there.column}", left, right)

    def _fields(
        self, path: str, kind: DifferenceClass, ours: dict[str, Tree], theirs: dict[str, Tree]
    ) -> _Found:
        for name in dict.fromkeys((*ours, *theirs)):
            inner = kind if kind is DifferenceClass.CAPACITY else _CLASSES.get(name, kind)
            place = f"{path}.{name}" if path else name
            left, right = ours.get(name), theirs.get(name)
            if name in NATURAL and not isinstance(left or right, list):
                if (left is None, _is_end(left)) != (right is None, _is_end(right)):
                    yield AnswerDifference(inner, place, left, right)
            else:
                yield from self.compare(place, inner, left, right)

    def _elements(
        self, path: str, kind: DifferenceClass, ours: list[Tree], theirs: list[Tree]
    ) -> _Found:
        pairs = list(zip_longest(ours, theirs))
        at = next((i for i, (left, right) in enumerate(pairs) if not self._same(left, right)), None)
        if at is None:
            return
        shapes, their_shapes = list(map(_shape, ours)), list(map(_shape, theirs))
        if shapes != their_shapes and Counter(shapes) == Counter(their_shapes):
            yield AnswerDifference(DifferenceClass.ORDER, path, ours, theirs)
            return
        is_rows = isinstance(ours[0] if ours else theirs[0], Row)
        if is_rows and at == min(len(ours), len(theirs)) > 0:
            # The one is how the other begins: pages that were cut elsewhere.
            yield AnswerDifference(DifferenceClass.PAGING, path, len(ours), len(theirs))
            return
        for number, (left, right) in enumerate(pairs):
            if not self._same(left, right):
                yield from self.compare(f"{path}[{number}]", kind, left, right)
                if is_rows:
                    return  # those behind it may only be shifted

    def _same(self, ours: Tree, theirs: Tree) -> bool:
        if isinstance(ours, Row | PlainRecord) and isinstance(theirs, Row | PlainRecord):
            return self._allowed.same_key(ours.key, theirs.key) and self._same_cells(
                ours.cells, theirs.cells
            )
        if isinstance(ours, Computed) and isinstance(theirs, Computed):
            return _same_number(ours.value, theirs.value)
        if isinstance(ours, KeyTree) and isinstance(theirs, KeyTree):
            return self._allowed.same_key(ours.columns, theirs.columns)
        if isinstance(ours, dict | list) and isinstance(theirs, dict | list):
            return next(self.compare("", DifferenceClass.FIELD, ours, theirs), None) is None
        if isinstance(ours, float) and isinstance(theirs, float) and math.isnan(ours):
            return math.isnan(theirs)  # a hit that has no score
        return type(ours) is type(theirs) and bool(ours == theirs)

    def _same_cells(self, ours: Sequence[Any], theirs: Sequence[Any]) -> bool:
        return len(ours) == len(theirs) and all(
            _named_value(left) == _named_value(right)
            and self._allowed.same_version(left.version, right.version)
            for left, right in zip(ours, theirs, strict=True)
        )


def _named_value(cell: Any) -> tuple[object, ...]:  # noqa: ANN401  # a value with its version, or a deletion
    if isinstance(cell, CellDeletion):
        return (cell.column,)
    return cell.column, type(cell.value), repr(cell.value)  # a number that is none equals itself


def _is_end(tree: Tree) -> bool:
    return isinstance(tree, str | bytes) and tree in _ENDED


def _same_number(ours: float, theirs: float) -> bool:
    both_none = math.isnan(ours) and math.isnan(theirs)
    return both_none or math.isclose(ours, theirs, rel_tol=_ROUNDING)


def _shape(tree: Tree) -> str:
    """A text that is the same for what is the same in another place, versions aside."""
    if isinstance(tree, Row | PlainRecord):
        return repr((tree.key, [_named_value(cell) for cell in tree.cells]))
    return repr(tree)
