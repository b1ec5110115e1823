"""How rows of a table are reached, and what a scan gives of each, for every table model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

__all__ = [
    "COLUMN_PAGE_ROWS",
    "UNBOUNDED",
    "WHOLE_TABLE",
    "Bound",
    "ColumnPage",
    "RowAccess",
    "ScannedRow",
    "columns_of_rows",
]


class Bound(NamedTuple):
    """One end of a range of keys: values of the leading columns of a key, in their order.

    With fewer values than the key has columns, all keys that begin with them are on one side of
    the bound: inside the range if `inclusive`, outside otherwise. Without values there is no bound.
    """

    values: tuple[Any, ...] = ()
    inclusive: bool = True


UNBOUNDED = Bound()


@dataclass(frozen=True, slots=True)
class RowAccess:
    """A way to rows: a range of the primary key, or of an index's key; without bounds all rows.

    `index`: the name of a secondary index; empty: the primary key. `low`, `high`: the ends of the
    range, `low` the smaller one whatever the direction. `reverse`: from high to low.
    """

    index: str = ""
    low: Bound = UNBOUNDED
    high: Bound = UNBOUNDED
    reverse: bool = False


class ColumnPage(NamedTuple):
    """Some rows of a scan, column by column: for each column as many values as there are `rows`.

    None where a row has no such column. `size`: bytes that were read for them, and for what has
    expired. A page may have no rows, and others may follow it.
    """

    rows: int
    size: int
    columns: Sequence[Sequence[Any]]


class ScannedRow(NamedTuple):
    """A row that a scan gives.

    `values`: by names of columns or fields, of a versioned column the newest value; in a scan by an
    index, those that the index has. `position`: opaque bytes with which a later scan goes on after
    this row, good while the table exists.
    """

    values: Mapping[str, Any]
    position: bytes


WHOLE_TABLE = RowAccess()

COLUMN_PAGE_ROWS: Final = 1000
"""How many rows a page of columns has at most."""


def columns_of_rows(
    rows: Iterator[ScannedRow], names: Sequence[str], first: int
) -> Iterator[ColumnPage]:
    """Rows as pages of some of their columns; the first page has at most `first` rows.

    The size of a page is that of its values and their names, as capacity units count them.
    """
    limit = first
    while some := list(islice(rows, limit)):
        size = sum([_size(row.values) for row in some])
        columns = [[row.values.get(name) for row in some] for name in names]
        yield ColumnPage(len(some), size, columns)
        limit = min(COLUMN_PAGE_ROWS, limit * 4)


def _size(values: Mapping[str, Any]) -> int:
    return sum([len(n) + (len(v) if isinstance(v, str | bytes) else 8) for n, v in values.items()])
