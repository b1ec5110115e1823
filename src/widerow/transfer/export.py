"""Export: every row of a table, with all its versions, into a file.

The checksum is over the rows as they are put, in the order of their keys, so tables with equal
contents have equal checksums, whatever the format of the file.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from widerow.client.connection import Client
from widerow.client.rows import encode_put
from widerow.client.tables import TableFacts, scan_table
from widerow.rows.plain_values import Row
from widerow.transfer.csv_columns import CsvColumns
from widerow.transfer.files import BY_SUFFIX, FileForm, new_file

__all__ = ["ColumnsFound", "Digest", "Exported", "Seen", "export_table", "write_rows"]

Seen = Callable[[int], None]
"""Told now and then how many rows are behind."""

_SEEN_ROWS: Final = 1000


class ColumnsFound(NamedTuple):
    """The types of the values of each column, and how many texts begin as formulas do."""

    types: Mapping[str, Sequence[str]]
    formulas: int


@dataclass(frozen=True, slots=True)
class Exported:
    """The content of a table: rows, cells, bytes of the encoded rows, and their checksum.

    `columns`: of a file for spreadsheets.
    """

    rows: int
    cells: int
    bytes: int
    sha256: str
    columns: ColumnsFound | None = None

    def document(self) -> dict[str, Any]:
        """The fields, for JSON."""
        found = asdict(self)
        found.pop("columns")
        return found if self.columns is None else found | self.columns._asdict()


class Digest:
    """The count and the checksum of rows, in the order in which they are added."""

    def __init__(self) -> None:
        self.rows = self.cells = self.bytes = 0
        self._hash = hashlib.sha256()

    def add(self, row: Row) -> int:
        """Add a row. Returns the number of its encoded bytes."""
        data = encode_put(row.key, row.cells)
        self._hash.update(data)
        self.rows += 1
        self.cells += len(row.cells)
        self.bytes += len(data)
        return len(data)

    @property
    def found(self) -> Exported:
        """The facts of the rows that were added."""
        return Exported(self.rows, self.cells, self.bytes, self._hash.hexdigest())


def export_table(
    client: Client,
    table: TableFacts,
    path: Path,
    seen: Seen,
    *,
    overwrite: bool = False,
    form: FileForm = BY_SUFFIX,
) -> Exported:
    """Write all rows of `table` to `path` in a form.

    The file appears when it is complete. Pages are read one after the other: rows that change
    meanwhile may come as they were before or after. Raises: `TransferFailed`.
    """
    return write_rows(scan_table(client, table), table, path, seen, overwrite=overwrite, form=form)


def write_rows(
    rows: Iterable[Row],
    table: TableFacts,
    path: Path,
    seen: Seen,
    *,
    overwrite: bool = False,
    form: FileForm = BY_SUFFIX,
    facts: Callable[[Exported], dict[str, str]] | None = None,
) -> Exported:
    """Write `rows` to a new file; `facts` of the whole go into formats that have a place."""
    digest = Digest()

    def told() -> dict[str, str]:
        own = {"table": table.name, "rows": str(digest.rows), "sha256": digest.found.sha256}
        return own | (facts(digest.found) if facts else {})

    with new_file(path, table, told, overwrite=overwrite, form=form) as writer:
        for row in _counted(rows, seen):
            writer.write(row, digest.add(row))
    if isinstance(writer, CsvColumns):
        kinds = {name: tuple(sorted(each)) for name, each in writer.kinds.items()}
        return replace(digest.found, columns=ColumnsFound(kinds, writer.formulas))
    return digest.found


def _counted(rows: Iterable[Row], seen: Seen) -> Iterator[Row]:
    count = 0
    for count, row in enumerate(rows, 1):
        yield row
        if count % _SEEN_ROWS == 0:
            seen(count)
    seen(count)
