"""Scans of Tablestore's tables and their secondary indexes (`engine/scan.py`)."""

from collections.abc import Callable, Iterator
from typing import Final

from widerow.engine.scan import COLUMN_PAGE_ROWS, Bound, ColumnPage, RowAccess, ScannedRow
from widerow.engine.tablestore.columns import ColumnReader
from widerow.engine.tablestore.newest import newest_row
from widerow.errors import InvalidRequest
from widerow.keys.encode import after_prefix, encode_key
from widerow.keys.layout import ROW_PREFIX_BYTES, row_prefix
from widerow.limits import INT64_MIN
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyType
from widerow.rows.record import RecordKind, header_of
from widerow.safepoint import safepoint
from widerow.storage.interface import Reader

__all__ = ["scan_by_columns", "scan_by_key"]

_PAGE_ROWS: Final = 1000  # read from one view: a fifth of what GetRange may scan
_PAGE_BYTES: Final = 1024 * 1024  # the same where rows are large
_TYPES: Final = {int: KeyType.INTEGER, str: KeyType.STRING, bytes: KeyType.BINARY}


def scan_by_key(
    view: Callable[[], Reader], table: Table, access: RowAccess, live_from: int, after: bytes
) -> Iterator[ScannedRow]:
    """The rows of a table, or the entries of an index as its own table, in the order of keys.

    `view` gives the newest view for each page. `live_from`: the smallest version that has not
    expired. `after`: a `ScannedRow.position`. Raises `InvalidRequest` for values that do not fit
    the columns, when the first row is asked for.
    """
    prefix = row_prefix(table.id)
    start, stop = _start_of(table, prefix, access.low), _stop_of(table, prefix, access.high)
    if after and access.reverse:
        stop = min(stop, prefix + after)
    elif after:
        start = max(start, after_prefix(prefix + after))
    while start < stop:
        page, last = _page(view(), table, (start, stop), live_from, reverse=access.reverse)
        yield from page
        if last is None:
            return
        start, stop = (start, last) if access.reverse else (after_prefix(last), stop)


def scan_by_columns(
    view: Callable[[], Reader], access: RowAccess, columns: ColumnReader, table: Table, first: int
) -> Iterator[ColumnPage]:
    """The rows of `scan_by_key` as `columns` reads them; the first page has at most `first`."""
    prefix = row_prefix(table.id)
    start = _start_of(table, prefix, access.low)
    whole_key = access.low.inclusive and len(access.low.values) == len(table.key_columns)
    if whole_key and access.low == access.high:
        yield columns.row(view(), start)
        return
    stop = _stop_of(table, prefix, access.high)
    limit = first
    while start < stop:
        page, last = columns.page(view(), start, stop, limit, reverse=access.reverse)
        yield page  # without rows, too: whoever reads counts its bytes, and looks at the time
        if last is None:
            return
        start, stop = (start, last) if access.reverse else (after_prefix(last), stop)
        limit = min(COLUMN_PAGE_ROWS, limit * 4)


def _page(
    reader: Reader, table: Table, within: tuple[bytes, bytes], live_from: int, *, reverse: bool
) -> tuple[list[ScannedRow], bytes | None]:
    """The first rows of a range, and the key of the last one; None where no row follows."""
    page: list[ScannedRow] = []
    size = count = 0
    last = b""
    for key, record in reader.scan(*within, reverse=reverse):
        safepoint()
        header = header_of(record)
        if header.kind == RecordKind.SEGMENT:
            continue  # a segment is read with its row
        if count >= _PAGE_ROWS or size >= _PAGE_BYTES:
            return page, last
        count += 1
        size += len(key) + header.data_size
        last = key
        if table.index_of and header.latest_server < live_from:
            continue  # headers of entries say when they expire (docs/formats/rows.md)
        alive = INT64_MIN if table.index_of else live_from
        row = newest_row(reader, table, (key, record), alive)
        if row is not None:
            page.append(ScannedRow({**dict(row.key), **row.columns}, key[ROW_PREFIX_BYTES:]))
    return page, None


def _start_of(table: Table, prefix: bytes, bound: Bound) -> bytes:
    key = encode_key(prefix, _checked(table, bound))
    return key if bound.inclusive or not bound.values else after_prefix(key)


def _stop_of(table: Table, prefix: bytes, bound: Bound) -> bytes:
    key = encode_key(prefix, _checked(table, bound))
    return after_prefix(key) if bound.inclusive or not bound.values else key


def _checked(table: Table, bound: Bound) -> tuple[int | str | bytes, ...]:
    if len(bound.values) > len(table.key_columns):
        raise InvalidRequest(
            TablestoreRule.KEY_SIZE, count=len(bound.values), expected=len(table.key_columns)
        )
    for column, value in zip(table.key_columns, bound.values, strict=False):
        kind = _TYPES.get(type(value))
        if kind is not column.type:
            shown = type(value).__name__ if kind is None else kind.value
            raise InvalidRequest(
                TablestoreRule.KEY_TYPE, column=column.name, type=shown, expected=column.type.value
            )
    return bound.values
