"""Archive: cold rows into a Parquet file, the file verified, and only then the rows deleted.

    1. write     rows whose time is before a date, with all versions; the file appears when whole
    2. verify    read the file back and compare count and checksum with what was written
    3. delete    verify the file again; then, 100 rows at a time, read each row again and delete it
                 if it is byte for byte what the file has, under the condition that its newest
                 values are still those

A row that has changed since is not deleted, and is counted. Two changes between the second reading
of a row and its delete a moment later cannot be expressed as a condition: a new column, and a value
that was written again unchanged. Such a row is deleted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from widerow.client.connection import Client
from widerow.client.rows import encode_delete, encode_put
from widerow.client.tables import TableFacts, read_rows, scan_table
from widerow.client.writing import DELETE, Change, send
from widerow.limits import BATCH_GET_ROWS_MAX, FILTER_NODES_MAX
from widerow.row_files.source import FileSource
from widerow.row_files.values import seconds
from widerow.rows.cells import encode_variant
from widerow.rows.plain_values import Row, VersionedValue
from widerow.transfer.export import Digest, Exported, Seen, write_rows
from widerow.transfer.failures import TransferFailed
from widerow.transfer.files import parquet_facts
from widerow.transfer.layout import Reading, row_of_record
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.errors.codes import CONDITION_CHECK_FAIL

__all__ = ["Cold", "Deleted", "archive_rows", "delete_archived", "verify_archive"]

_EXPECT_EXIST: Final = 1
_AND: Final = 2
_EQUAL: Final = 1
_SINGLE: Final = 1
_COMPOSITE: Final = 2


@dataclass(frozen=True, slots=True)
class Cold:
    """The rule for cold rows: their time is before `before`, in seconds since 1970.

    The time of a row is the newest version of its cells, or the value of `column`.
    """

    before: float
    column: str | None = None

    def has(self, row: Row) -> bool:
        """Whether the row is cold. A row without a time is not."""
        if self.column is None:
            newest = max((cell.version for cell in row.cells), default=None)
            return newest is not None and newest / 1000 < self.before
        values: list[Any] = [value for name, value in row.key if name == self.column]
        values += [cell.value for cell in row.cells if cell.column == self.column]
        if not values:
            return False
        try:
            return seconds(self.column, values[0]) < self.before
        except ValueError as error:
            raise TransferFailed(f"row {dict(row.key)}: {error}") from error

    @property
    def words(self) -> dict[str, str]:
        """Both fields, as the file keeps them."""
        return {"before": repr(self.before), "column": self.column or ""}


@dataclass(frozen=True, slots=True)
class Deleted:
    """How many rows of a file were deleted, kept because they had changed, or gone before."""

    deleted: int
    changed: int
    gone: int


def archive_rows(client: Client, table: TableFacts, cold: Cold, path: Path, seen: Seen) -> Exported:
    """Write the cold rows of a table to a new Parquet file. Raises: `TransferFailed`."""
    if path.suffix.lower() != ".parquet":
        raise TransferFailed(f"{path}: an archive is Parquet; end its name with .parquet")
    rows = (row for row in scan_table(client, table) if cold.has(row))
    return write_rows(
        rows,
        table,
        path,
        seen,
        facts=lambda _: {**cold.words, "created": str(table.created)},
    )


def verify_archive(table: TableFacts, cold: Cold, path: Path, seen: Seen) -> Exported:
    """Read an archive back and compare it with the count and the checksum of the exported rows.

    Its facts must name this table and this rule for cold rows. Raises: `TransferFailed` where
    anything differs.
    """
    facts = parquet_facts(path)
    wanted = {"table": table.name, "created": str(table.created), **cold.words}
    for name, value in wanted.items():
        if facts.get(name) != value:
            raise TransferFailed(
                f"{path} is not an archive of this: its {name} is {facts.get(name)!r}, "
                f"not {value!r}"
            )
    digest = Digest()
    for count, row in enumerate(_stored(table, path), 1):
        digest.add(row)
        if not cold.has(row):
            raise TransferFailed(f"{path}: row {count} is not before the date")
        seen(count)
    found = digest.found
    if (str(found.rows), found.sha256) != (facts.get("rows"), facts.get("sha256")):
        raise TransferFailed(
            f"{path} does not hold what was exported: {found.rows} rows of {facts.get('rows')}, "
            f"checksum {found.sha256}, not {facts.get('sha256')}; nothing was deleted"
        )
    return found


def delete_archived(client: Client, table: TableFacts, path: Path, seen: Seen) -> Deleted:
    """Delete the rows of a verified archive that are still what it has. May be repeated.

    Raises: `TransferFailed`.
    """
    rows = _stored(table, path)
    deleted = changed = gone = count = 0
    while batch := list(islice(rows, BATCH_GET_ROWS_MAX)):
        same, missing = _unchanged(client, table, batch)
        refused = send(
            client,
            table.name,
            [Change(DELETE, encode_delete(row.key), _still(row)) for row in same],
        )
        for error in refused.values():
            if error.code != CONDITION_CHECK_FAIL:
                raise error
        # A delete whose answer was lost is refused when it is repeated: look whether it was done.
        failed = [same[number] for number in refused]
        found = read_rows(client, table, [row.key for row in failed]) if failed else []
        deleted += len(same) - sum(each is not None for each in found)
        gone += missing
        count += len(batch)
        changed = count - deleted - gone
        seen(count)
    return Deleted(deleted, changed, gone)


def _stored(table: TableFacts, path: Path) -> Iterator[Row]:
    reading = Reading(table.key, {}, 0)
    for record in FileSource(path).records():
        try:
            yield row_of_record(record.fields, reading)
        except ValueError as error:
            raise TransferFailed(f"{path}, row {record.place}: {error}") from error


def _unchanged(client: Client, table: TableFacts, rows: Sequence[Row]) -> tuple[list[Row], int]:
    """The rows that the table has byte for byte, and the number of those that it does not have."""
    same: list[Row] = []
    missing = 0
    for row, now in zip(rows, read_rows(client, table, [row.key for row in rows]), strict=True):
        if now is None:
            missing += 1
        elif encode_put(*now) == encode_put(*row):
            same.append(row)
    return same, missing


def _still(row: Row) -> m.Condition:
    """The condition that the newest values have not changed, of as many columns as it may have."""
    newest: dict[str, VersionedValue] = {}
    for cell in row.cells:
        newest.setdefault(cell.column, cell)
    leaves = [_equal(cell) for cell in islice(newest.values(), FILTER_NODES_MAX - 1)]
    if not leaves:
        return m.Condition(row_existence=_EXPECT_EXIST)
    condition = leaves[0]
    if len(leaves) > 1:
        both = m.CompositeColumnValueFilter(combinator=_AND, sub_filters=leaves)
        condition = m.Filter(type=_COMPOSITE, filter=both.SerializeToString())
    return m.Condition(row_existence=_EXPECT_EXIST, column_condition=condition.SerializeToString())


def _equal(cell: VersionedValue) -> m.Filter:
    leaf = m.SingleColumnValueFilter(
        comparator=_EQUAL,
        column_name=cell.column,
        column_value=encode_variant(cell.value),
        filter_if_missing=True,
        latest_version_only=True,
    )
    return m.Filter(type=_SINGLE, filter=leaf.SerializeToString())
