"""Reads over the protocol: one row, and the pages of a range (semantics §5).

A row that is so wide that it is answered in parts is put together here, and held whole.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from widerow.client.connection import Client
from widerow.client.rows import decode_rows, encode_plain_key
from widerow.model.values import KeyInput
from widerow.rows.plain_values import Row
from widerow.wire.tablestore import messages as m

__all__ = ["KeyRange", "ReadOptions", "RowPage", "fetch_row", "scan_pages"]


class KeyRange(NamedTuple):
    """A range of keys: encoded bounds, the first included, the second not.

    `backward`: from the greater key to the smaller one, which is then the second bound.
    """

    start: bytes
    end: bytes
    backward: bool = False


class ReadOptions(NamedTuple):
    """What is read of each row.

    `columns`: names, all if empty. `max_versions`: of each column, None for all in `times`.
    `times`: milliseconds since 1970, the second not included. `filter`: an encoded filter, or
    nothing.
    """

    columns: tuple[str, ...] = ()
    max_versions: int | None = 1
    times: tuple[int, int] | None = None
    filter: bytes = b""

    def put_into(self, request: m.GetRowRequest | m.GetRangeRequest) -> None:
        """Set the fields of a request."""
        request.columns_to_get.extend(self.columns)
        if self.max_versions is not None:
            request.max_versions = self.max_versions
        if self.times is not None:
            request.time_range.start_time, request.time_range.end_time = self.times
        if self.filter:
            request.filter = self.filter


class RowPage(NamedTuple):
    """Rows of a range. `next_key`: the encoded key where the rest begins; empty at the end."""

    rows: list[Row]
    next_key: bytes


def fetch_row(
    client: Client, table: str, key: Sequence[tuple[str, KeyInput]], options: ReadOptions
) -> Row | None:
    """The row of this key; None where there is none or `options` leave nothing of it.

    Raises: `RequestFailed`.
    """
    request = m.GetRowRequest(table_name=table, primary_key=encode_plain_key(key))
    options.put_into(request)
    found: Row | None = None
    while True:
        page = client.call("GetRow", request, m.GetRowResponse)
        for row in decode_rows(page.row):
            found = Row(row.key, (found.cells if found else ()) + row.cells)
        if not page.next_token:
            return found
        request.token = page.next_token


def scan_pages(
    client: Client, table: str, asked: KeyRange, options: ReadOptions, limit: int | None = None
) -> Iterator[RowPage]:
    """The rows of a range page by page, as the server cuts them, or fewer than all: `limit`.

    A page may be empty where a filter keeps nothing. Pages follow each other; a row that changes
    while it is read may show its old or new cells. Raises: `RequestFailed`.
    """
    request = m.GetRangeRequest(
        table_name=table,
        direction=int(asked.backward),
        inclusive_start_primary_key=asked.start,
        exclusive_end_primary_key=asked.end,
    )
    options.put_into(request)
    part: Row | None = None  # the first cells of a wide row; the others are on the next page
    left = limit
    while True:
        if left is not None and not options.filter:
            request.limit = left + (part is not None)  # else rows beyond it are read for nothing
        page = client.call("GetRange", request, m.GetRangeResponse)
        rows = decode_rows(page.rows)
        if part is not None:
            if rows and rows[0].key == part.key:
                rows[0] = Row(part.key, part.cells + rows[0].cells)
            else:
                rows.insert(0, part)
        part = rows.pop() if page.next_token and rows else None
        if part is not None and not page.next_start_primary_key:
            rows.append(part)
        if left is not None and len(rows) >= left:
            yield RowPage(rows[:left], _rest(rows, left, page.next_start_primary_key))
            return
        yield RowPage(rows, page.next_start_primary_key)
        if not page.next_start_primary_key:
            return
        left = None if left is None else left - len(rows)
        request.inclusive_start_primary_key = page.next_start_primary_key
        request.token = page.next_token
        if not page.next_token:
            request.ClearField("token")


def _rest(rows: Sequence[Row], limit: int, next_key: bytes) -> bytes:
    """Where the rows begin that a limit leaves out."""
    return encode_plain_key(rows[limit].key) if len(rows) > limit else next_key
