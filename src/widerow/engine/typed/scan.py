"""Rows of a partial key, in the order of the primary key, with parents and children (model §6)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from widerow.engine.typed.form import TableForm
from widerow.engine.typed.stored import StoredRow
from widerow.errors import InvalidRequest
from widerow.keys.encode import after_prefix
from widerow.model.typed.names import folded, same_name
from widerow.model.typed.requests import FieldRange
from widerow.model.typed.rules import TypedRule
from widerow.rows.typed import typed_table_and_expiry
from widerow.storage.interface import Reader

__all__ = ["MultiRowSelection", "bounds_of", "check_included", "scan_rows", "select_rows"]


@dataclass(frozen=True, slots=True)
class MultiRowSelection:
    """A range of keys, with the tables whose rows of it are asked for.

    `leading`: how many key columns are given. `shown`: the target table and the child tables
    included, by number. `ancestors`: the parents included, the top one first.
    """

    target: TableForm
    start: bytes
    stop: bytes
    leading: int
    shown: dict[int, TableForm]
    ancestors: tuple[TableForm, ...] = ()

    def since(self, key: bytes, *, reverse: bool) -> "MultiRowSelection":
        """The rest of the selection behind the row of a key."""
        if reverse:
            return replace(self, stop=key)
        return replace(self, start=key + b"\x00")


def select_rows(
    target: TableForm,
    given: Mapping[str, Any],
    field_range: FieldRange | None,
    ancestors: Sequence[TableForm],
    children: Sequence[TableForm],
) -> MultiRowSelection:
    """The rows of a partial key and a range. Raises `InvalidRequest`."""
    check_included(target, ancestors, children)
    values = target.leading(given)
    start, stop = bounds_of(target, values, field_range)
    shown = {form.table.id: form for form in (target, *children)}
    parents = tuple(sorted(ancestors, key=lambda form: len(form.table.path)))
    return MultiRowSelection(target, start, stop, len(values), shown, parents)


def check_included(
    target: TableForm, ancestors: Sequence[TableForm], children: Sequence[TableForm]
) -> None:
    """Raise `InvalidRequest` unless these are ancestors, and descendants, of the target."""
    own = target.table
    for form in (*ancestors, *children):
        if form.table.id == own.id:
            raise InvalidRequest(TypedRule.TARGET_INCLUDED)
    for form in ancestors:
        if form.table.id not in own.path:
            raise InvalidRequest(
                TypedRule.NOT_ANCESTOR, table=form.table.qualified, target=own.qualified
            )
    for form in children:
        if own.id not in form.table.path:
            raise InvalidRequest(
                TypedRule.NOT_DESCENDANT, table=form.table.qualified, target=own.qualified
            )


def bounds_of(
    form: TableForm, values: Sequence[Any], field_range: FieldRange | None
) -> tuple[bytes, bytes]:
    """The range of keys of a partial key and a field range. Raises `InvalidRequest`."""
    prefix = form.key.encode(values)
    if field_range is None:
        return prefix, after_prefix(prefix)
    name = field_range.field
    field = form.table.field(name)
    if field is None:
        raise InvalidRequest(TypedRule.RANGE_NO_FIELD, field=name[:100])
    keys = [folded(key) for key in form.table.primary_key]
    if folded(name) not in keys:
        raise InvalidRequest(TypedRule.RANGE_NOT_KEY, field=name)
    if len(values) == len(keys):
        raise InvalidRequest(TypedRule.RANGE_FULL_KEY)
    position = keys.index(folded(name))
    if position < len(values):
        raise InvalidRequest(TypedRule.RANGE_EXTRA, field=name)
    if not same_name(name, form.table.primary_key[len(values)]):
        raise InvalidRequest(TypedRule.RANGE_GAP, field=name)
    start = end = None
    if field_range.start is not None:
        value = form.key_value(field.name, field.type, field_range.start)
        start = form.key.encode_next(prefix, position, value)
    if field_range.end is not None:
        value = form.key_value(field.name, field.type, field_range.end)
        end = form.key.encode_next(prefix, position, value)
    if start is not None and end is not None and start > end:
        raise InvalidRequest(TypedRule.RANGE_ORDER)
    return _edges(prefix, (start, end), field_range)


def _edges(
    prefix: bytes, bounds: tuple[bytes | None, bytes | None], field_range: FieldRange
) -> tuple[bytes, bytes]:
    start, end = bounds
    if start is None:
        first = prefix
    else:
        first = start if field_range.start_inclusive else after_prefix(start)
    if end is None:
        return first, after_prefix(prefix)
    return first, after_prefix(end) if field_range.end_inclusive else end


def scan_rows(
    reader: Reader,
    selection: MultiRowSelection,
    now_hour: int,
    *,
    reverse: bool = False,
    told: list[bytes] | None = None,
) -> Iterator[StoredRow]:
    """The selected rows that have not expired at `now_hour` (hours since 1970). Lazy.

    A row of the target table is preceded by its included ancestors, each of which comes once in a
    scan; `told` has the keys of those that came, from one page to the next. In descending order the
    rows of child tables come before their parent's row.
    """
    shown, ancestors = selection.shown, selection.ancestors
    last = [b""] * len(ancestors) if told is None else told
    target_id = selection.target.table.id
    for key, record in _records(reader, selection, reverse=reverse):
        table_id, expiry_hour = typed_table_and_expiry(record)
        if 0 < expiry_hour <= now_hour:
            continue
        form = shown.get(table_id)
        if form is None:
            continue
        if ancestors and table_id == target_id:
            yield from _parents(reader, selection, key, last, now_hour)
        yield StoredRow(form, key, record)


def _records(
    reader: Reader, selection: MultiRowSelection, *, reverse: bool
) -> Iterable[tuple[bytes, bytes]]:
    """The stored records of a selection's range. A range of one key is a get, which costs less."""
    start, stop = selection.start, selection.stop
    if stop != start + b"\x00":
        return reader.scan(start, stop, reverse=reverse)
    record = reader.get(start)
    return () if record is None else ((start, record),)


def _parents(
    reader: Reader, selection: MultiRowSelection, key: bytes, last: list[bytes], now_hour: int
) -> Iterator[StoredRow]:
    """The included ancestors of a row, without those that `told` says came before."""
    for index, form in enumerate(selection.ancestors):
        parent = key[: selection.target.key.end(key, form.key.length)]
        if parent == last[index]:
            continue
        last[index] = parent
        record = reader.get(parent)
        if record is None:
            continue
        expiry_hour = typed_table_and_expiry(record)[1]
        if not 0 < expiry_hour <= now_hour:
            yield StoredRow(form, parent, record)
