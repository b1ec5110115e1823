"""The first rows of an order, as many as a page takes, in memory for two (ddl §3: sorting)."""

from typing import NamedTuple

from widerow.wire.nosql.sql.items import SentRow

__all__ = ["OrderedPage", "OrderedRow"]


class OrderedRow(NamedTuple):
    """A result row with the bytes that it sorts by, and its size."""

    key: bytes
    row: SentRow
    size: int


class OrderedPage:
    """Takes rows in any order and keeps the first ones behind `after`.

    Kept are `rows_max` rows, or as many as have `bytes_max` bytes together, whichever is less, and
    one more row, which tells that there are others. Memory: twice that; cost: a sort each time that
    it is full.
    """

    def __init__(self, after: bytes, rows_max: int, bytes_max: int) -> None:
        self._after = after
        self._rows_max = rows_max
        self._bytes_max = bytes_max
        self._kept: list[OrderedRow] = []
        self._size = 0
        self._keys: set[bytes] = set()
        self._bound: bytes | None = None

    def wants(self, key: bytes) -> bool:
        """Whether a row of this key may be of the page, as far as is known."""
        return key > self._after and (self._bound is None or key < self._bound)

    def take(self, row: OrderedRow) -> None:
        """Look at a row. Of rows with equal keys the first one is kept."""
        if not self.wants(row.key) or row.key in self._keys:
            return
        self._keys.add(row.key)
        self._kept.append(row)
        self._size += row.size
        if len(self._kept) > 2 * self._rows_max + 2 or self._size > 2 * self._bytes_max:
            self._shrink()

    def _shrink(self) -> None:
        rows, more = self.rows()
        if more is not None:
            rows.append(more)
            self._bound = more.key
        self._kept = rows
        self._keys = {row.key for row in rows}
        self._size = sum(row.size for row in rows)

    def rows(self) -> tuple[list[OrderedRow], OrderedRow | None]:
        """The rows of the page in their order, at least one if there is any, and the next row."""
        self._kept.sort(key=lambda row: row.key)
        size = 0
        for count, row in enumerate(self._kept):
            size += row.size
            if count == self._rows_max or (count and size > self._bytes_max):
                return self._kept[:count], row
        return list(self._kept), None
