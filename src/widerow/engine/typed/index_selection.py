"""Which entries of a secondary index are asked for: a range of their keys (model §11)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_form import IndexForm
from widerow.errors import Conflict, InvalidRequest, NotFound
from widerow.keys.encode import after_prefix
from widerow.model.typed.names import folded
from widerow.model.typed.requests import FieldRange
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.values import TypedValue

__all__ = ["IndexSelection", "select_index"]


@dataclass(frozen=True, slots=True)
class IndexSelection:
    """A range of entries of an index: keys from `start` on, below `stop`."""

    table: TableForm
    index: IndexForm
    start: bytes
    stop: bytes

    def up_to(self, entry: bytes, *, reverse: bool) -> "IndexSelection":
        """The part that a scan has passed when it has come to an entry and no further."""
        if reverse:
            return replace(self, start=entry)
        return replace(self, stop=entry + b"\x00")

    def behind(self, part: "IndexSelection", *, reverse: bool) -> "IndexSelection | None":
        """What a scan has still to pass behind a part; None: nothing."""
        if part == self:
            return None
        return replace(self, stop=part.start) if reverse else replace(self, start=part.stop)


def select_index(
    form: TableForm, name: str, given: Mapping[str, Any], field_range: FieldRange | None
) -> IndexSelection:
    """The entries with the given leading values, and a range of the next path.

    Raises: `NotFound` without such an index, `Conflict` while it is being built, `InvalidRequest`
    for paths that the index does not have, a gap between them, and values of another type.
    """
    index = form.table.index(name)
    if index is None:
        raise NotFound(TypedRule.INDEX_MISSING, index=name[:100], table=form.table.name)
    if not index.ready:
        raise Conflict(TypedRule.INDEX_NOT_READY, index=index.name, table=form.table.name)
    made = IndexForm(form.table, index)
    values = _leading(made, given)
    start, stop = _bounds(made, values, field_range)
    return IndexSelection(form, made, start, stop)


def _leading(index: IndexForm, given: Mapping[str, Any]) -> list[TypedValue]:
    named = {folded(path.text): position for position, path in enumerate(index.paths)}
    found: dict[int, Any] = {}
    for name, value in given.items():
        position = named.get(folded(name))
        if position is None:
            raise InvalidRequest(TypedRule.NO_FIELD, field=name[:100])
        found[position] = value
    if sorted(found) != list(range(len(found))):
        raise InvalidRequest(TypedRule.INDEX_KEY_GAP)
    return [index.value_of(position, found[position]) for position in range(len(found))]


def _bounds(
    index: IndexForm, values: list[TypedValue], field_range: FieldRange | None
) -> tuple[bytes, bytes]:
    prefix = index.prefix_of(values)
    if field_range is None:
        return prefix, after_prefix(prefix)
    named = [folded(path.text) for path in index.paths]
    name = field_range.field
    if folded(name) not in named:
        raise InvalidRequest(TypedRule.INDEX_RANGE_NOT_KEY, field=name[:100])
    if len(values) == len(named):
        raise InvalidRequest(TypedRule.RANGE_FULL_KEY)
    position = named.index(folded(name))
    if position != len(values):
        extra = position < len(values)
        raise InvalidRequest(TypedRule.RANGE_EXTRA if extra else TypedRule.RANGE_GAP, field=name)
    # A range is one of values: what is EMPTY or NULL is in none.
    first, last = index.values_range(prefix)
    start = end = None
    if field_range.start is not None:
        start = index.bound(prefix, position, index.value_of(position, field_range.start))
        first = start if field_range.start_inclusive else after_prefix(start)
    if field_range.end is not None:
        end = index.bound(prefix, position, index.value_of(position, field_range.end))
        last = after_prefix(end) if field_range.end_inclusive else end
    if start is not None and end is not None and start > end:
        raise InvalidRequest(TypedRule.RANGE_ORDER)
    return first, last
