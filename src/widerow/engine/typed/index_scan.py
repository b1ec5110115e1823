"""Rows and keys in the order of a secondary index (model §11).

Entries sort by the indexed values, then by primary key. A row that stands under several entries,
for the members of an array or map, is found once for each, as with the vendor.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_form import IndexForm
from widerow.engine.typed.stored import Key, StoredRow
from widerow.errors import Conflict, InvalidRequest, NotFound, StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.model.typed.names import folded
from widerow.model.typed.requests import FieldRange
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.values import TypedValue
from widerow.storage.interface import Snapshot

__all__ = [
    "IndexKey",
    "IndexSelection",
    "index_pages",
    "scan_index",
    "scan_index_keys",
    "select_index",
]

ENTRIES_PAGE: Final = 100  # entries of one page, which is read from one view with its rows


class IndexKey(NamedTuple):
    """An entry of an index: the indexed values by their paths, and the row's primary key."""

    values: dict[str, TypedValue]
    primary: Key


@dataclass(frozen=True, slots=True)
class IndexSelection:
    """A range of entries of an index: keys from `start` on, below `stop`."""

    table: TableForm
    index: IndexForm
    start: bytes
    stop: bytes


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


def scan_index(
    view: Callable[[], Snapshot],
    selection: IndexSelection,
    now_hour: Callable[[], int],
    *,
    reverse: bool,
) -> Iterator[StoredRow]:
    """The rows of a selection, in pages that are each read from one view. Lazy; bounded memory.

    Raises `StoreDamaged` for an entry without its row.
    """
    for snapshot, keys in index_pages(view, selection, now_hour, reverse=reverse):
        rows = [selection.index.decode(key).row_key for key in keys]
        for row_key, record in zip(rows, snapshot.get_many(rows), strict=True):
            if record is None:
                raise StoreDamaged(f"an index entry without its row: {row_key.hex()}")
            yield StoredRow(selection.table, row_key, record)


def scan_index_keys(
    view: Callable[[], Snapshot],
    selection: IndexSelection,
    now_hour: Callable[[], int],
    *,
    reverse: bool,
) -> Iterator[IndexKey]:
    """The indexed values and primary keys of what `scan_index` returns; reads no row."""
    names = [path.text for path in selection.index.paths]
    for _, keys in index_pages(view, selection, now_hour, reverse=reverse):
        for key in keys:
            entry = selection.index.decode(key)
            values = dict(zip(names, entry.values, strict=True))
            yield IndexKey(values, Key(selection.table, entry.row_key))


def index_pages(
    view: Callable[[], Snapshot],
    selection: IndexSelection,
    now_hour: Callable[[], int],
    *,
    reverse: bool,
) -> Iterator[tuple[Snapshot, list[bytes]]]:
    """Keys of the selected entries whose rows have not expired, in pages, each from one view."""
    left: IndexSelection | None = selection
    while left is not None:
        snapshot, now = view(), now_hour()
        keys: list[bytes] = []
        read, last = 0, b""
        for key, value in snapshot.scan(left.start, left.stop, reverse=reverse):
            read, last = read + 1, key
            expiry_hour = int.from_bytes(value, "big")
            if not 0 < expiry_hour <= now:
                keys.append(key)
            if read == ENTRIES_PAGE:
                break
        yield snapshot, keys
        if read < ENTRIES_PAGE:
            left = None
        elif reverse:
            left = replace(left, stop=last)
        else:
            left = replace(left, start=last + b"\x00")
