"""The answers of the row operations.

Rows are already in the stored form that goes to the wire (`docs/formats/rows.md`); empty bytes mean
"no row". Made for every row, so plain objects with slots (`row.py` says why). (semantics §4, §5)
"""

from collections.abc import Sequence
from typing import NamedTuple, final

from widerow.errors import WiderowError
from widerow.model.tablestore.selection import Resume

__all__ = ["RangePage", "RowOutcome", "RowRead", "RowWritten"]


@final
class RowRead:
    """A row read: its bytes (empty when absent or nothing was selected), capacity units.

    `resume`: where a wide row goes on.
    """

    __slots__ = ("read_units", "resume", "row")

    def __init__(self, row: bytes, read_units: int, resume: Resume | None = None) -> None:
        self.row = row
        self.read_units = read_units
        self.resume = resume

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowRead) and (self.row, self.read_units, self.resume) == (
            other.row,
            other.read_units,
            other.resume,
        )

    def __hash__(self) -> int:
        return hash((self.row, self.read_units, self.resume))

    def __repr__(self) -> str:
        return f"RowRead({self.row!r}, {self.read_units}, {self.resume})"


@final
class RowWritten:
    """A row written: capacity units, and the row if the request asked for content.

    `rows` and `size`: by how much the table grew, in rows and in stored bytes.
    """

    __slots__ = ("read_units", "row", "rows", "size", "write_units")

    def __init__(
        self, read_units: int, write_units: int, row: bytes = b"", rows: int = 0, size: int = 0
    ) -> None:
        self.read_units = read_units
        self.write_units = write_units
        self.row = row
        self.rows = rows
        self.size = size

    def _parts(self) -> tuple[int, int, bytes, int, int]:
        return self.read_units, self.write_units, self.row, self.rows, self.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowWritten) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"RowWritten{self._parts()!r}"


@final
class RowOutcome:
    """One row of a batch: its result, or the error that concerns it alone."""

    __slots__ = ("error", "read", "written")

    def __init__(
        self,
        read: RowRead | None = None,
        written: RowWritten | None = None,
        error: WiderowError | None = None,
    ) -> None:
        self.read = read
        self.written = written
        self.error = error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowOutcome) and (self.read, self.written, self.error) == (
            other.read,
            other.written,
            other.error,
        )

    def __hash__(self) -> int:
        return hash((self.read, self.written, self.error))

    def __repr__(self) -> str:
        return f"RowOutcome({self.read!r}, {self.written!r}, {self.error!r})"


class RangePage(NamedTuple):
    """A page of a range: its rows, where the range goes on (None: at its end), capacity units.

    `pieces`: the rows in stored form, in order, one piece each. `next_key`: a primary key section
    (01 and cells) and the row checksum after it. `resume`: the last row is wide and goes on there;
    `next_key` is then its own. `data_size`: what was selected of all rows scanned, in bytes, before
    the filter judged them.
    """

    pieces: Sequence[bytes]
    next_key: tuple[bytes, int] | None
    read_units: int
    resume: Resume | None = None
    data_size: int = 0

    @property
    def rows(self) -> bytes:
        """All rows as one string of bytes. Copies them."""
        return b"".join(self.pieces)
