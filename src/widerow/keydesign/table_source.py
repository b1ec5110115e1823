"""The rows of a table as a source for the advisor, from a store that no server has open.

Only key columns and the headers of rows are read, so the cost of a row does not depend on its size.
A row's time is the newest version that the server gave one of its cells, else the oldest of all its
versions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from widerow.keys.decode import decode_key
from widerow.keys.encode import after_prefix
from widerow.keys.layout import row_prefix
from widerow.limits import INT64_MAX
from widerow.model.tablestore.schema import Table
from widerow.row_files.source import Progress, Record
from widerow.rows.record import Header, RecordKind, header_of
from widerow.storage.interface import Store

__all__ = ["WRITTEN", "TableSource"]

WRITTEN: Final = "(written)"
"""The name of the column with the time of writing, in seconds since 1970."""

_PROGRESS_ROWS: Final = 2_000


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table's rows, in the order of their keys; BINARY columns as hexadecimal texts."""

    store: Store
    table: Table

    @property
    def name(self) -> str:
        """The table's name."""
        return self.table.name

    @property
    def total(self) -> int:
        """0: the number of rows is unknown."""
        return 0

    @property
    def place(self) -> str:
        """The unit of progress: rows."""
        return "row"

    @property
    def typed(self) -> bool:
        """True: the table declares its types."""
        return True

    @property
    def columns(self) -> tuple[str, ...]:
        """The primary key, in its order."""
        return tuple(column.name for column in self.table.key_columns)

    def records(
        self, columns: Sequence[str] | None = None, progress: Progress | None = None
    ) -> Iterator[Record]:
        """Every row; its fields are all key columns and `WRITTEN`, for any `columns`.

        One scan of one view, of constant memory. Raises: `StoreDamaged`.
        """
        del columns  # a header has all of them
        prefix = row_prefix(self.table.id)
        types = [column.type for column in self.table.key_columns]
        names = self.columns
        number = 0
        for key, record in self.store.snapshot().scan(prefix, after_prefix(prefix)):
            header = header_of(record)
            if header.kind == RecordKind.SEGMENT:
                continue
            number += 1
            values, _ = decode_key(key, len(prefix), types)
            texts = (value.hex() if isinstance(value, bytes) else value for value in values)
            fields: dict[str, object] = dict(zip(names, texts, strict=True))
            fields[WRITTEN] = _written(header)
            yield Record(number, fields, header.key_size + header.data_size)
            if progress and number % _PROGRESS_ROWS == 0:
                progress(number)


def _written(header: Header) -> float:
    if header.latest_server:
        return header.latest_server / 1000
    return 0.0 if header.oldest == INT64_MAX else header.oldest / 1000
