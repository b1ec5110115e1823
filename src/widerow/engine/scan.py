"""How rows of a table are reached, and what a scan gives of each, for every table model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["WHOLE_TABLE", "Bound", "RowAccess", "ScannedRow"]


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


class ScannedRow(NamedTuple):
    """A row that a scan gives.

    `values`: by names of columns or fields, of a versioned column the newest value; in a scan by an
    index, those that the index has. `position`: opaque bytes with which a later scan goes on after
    this row, good while the table exists.
    """

    values: Mapping[str, Any]
    position: bytes


WHOLE_TABLE = RowAccess()
