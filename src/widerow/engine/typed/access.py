"""Scans of typed tables by ranges of their primary keys and of their indexes (`engine/scan.py`)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from widerow.engine.scan import Bound, RowAccess, ScannedRow
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_form import IndexForm
from widerow.engine.typed.index_scan import scan_entry_rows
from widerow.engine.typed.index_selection import select_index
from widerow.engine.typed.scan import MultiRowSelection
from widerow.errors import InvalidRequest
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES
from widerow.model.typed.rules import TypedRule
from widerow.storage.interface import Store

__all__ = ["SCAN_PAGE_ROWS", "scan_by_index", "select_by_key"]

SCAN_PAGE_ROWS: Final = 1000  # rows of one page, which is read from one view


def select_by_key(form: TableForm, access: RowAccess, after: bytes) -> MultiRowSelection:
    """The rows of a range of the primary key. Raises `InvalidRequest`."""

    def encoded(bound: Bound) -> bytes:
        columns = form.table.primary_key
        if len(bound.values) > len(columns):
            raise InvalidRequest(TypedRule.NO_FIELD, field=f"key column {len(columns) + 1}")
        return form.key.encode(form.leading(dict(zip(columns, bound.values, strict=False))))

    start, stop = _range(encoded(access.low), encoded(access.high), access)
    selection = MultiRowSelection(form, start, stop, 0, {form.id: form})
    if not after:
        return selection
    return selection.since(start[:ROW_PREFIX_BYTES] + after, reverse=access.reverse)


def scan_by_index(
    store: Store,
    form: TableForm,
    access: RowAccess,
    now_hour: Callable[[], int],
    after: bytes,
) -> Iterator[ScannedRow]:
    """The rows that a range of an index leads to, in its order; a row may come several times.

    An index of an array or a map has an entry for each of its values. Raises `NotFound`,
    `Conflict` while the index is being built, `InvalidRequest`.
    """
    selection = select_index(form, access.index, {}, None)
    index = selection.index
    start, stop = _range(_head(index, access.low), _head(index, access.high), access)
    prefix = start[:ROW_PREFIX_BYTES]
    if after and access.reverse:
        stop = prefix + after
    elif after:
        start = prefix + after + b"\x00"
    part = replace(selection, start=start, stop=stop)
    for entry, row in scan_entry_rows(store, part, now_hour, reverse=access.reverse):
        yield ScannedRow(row, entry[ROW_PREFIX_BYTES:])


def _head(index: IndexForm, bound: Bound) -> bytes:
    if len(bound.values) > len(index.paths):
        raise InvalidRequest(TypedRule.NO_FIELD, field=f"index column {len(index.paths) + 1}")
    values: list[Any] = [index.value_of(at, value) for at, value in enumerate(bound.values)]
    return index.prefix_of(values)


def _range(low: bytes, high: bytes, access: RowAccess) -> tuple[bytes, bytes]:
    """The first key inside the bounds, and the first one behind them; no values: no bound."""
    passes_low = access.low.values and not access.low.inclusive
    stays_below = access.high.values and not access.high.inclusive
    return after_prefix(low) if passes_low else low, high if stays_below else after_prefix(high)
