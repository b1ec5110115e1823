"""An import from its beginning: the table, the types, the journal, then the run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from widerow.client.connection import FIRST_PATIENCE_SECONDS, Client, Endpoint
from widerow.client.tables import NoSuchTable, TableFacts, make_target_table, table_facts
from widerow.row_files.source import UTF_8, FileSource, Progress, Record
from widerow.system import SystemClock
from widerow.transfer.columns import kinds_of, survey
from widerow.transfer.failures import TransferFailed
from widerow.transfer.journal import Journal, Rejects
from widerow.transfer.layout import CELLS, Reading, cells_of
from widerow.transfer.load import ImportOptions, ImportProgress, Loaded, Loader
from widerow.transfer.repeats import find_repeats

__all__ = ["Import", "import_file"]

_DAY_SECONDS: Final = 86_400  # the max_version_offset of a table that was made without one
_LOOKED_AT_ROWS: Final = 1000


@dataclass(frozen=True, slots=True)
class Import:
    """What to import, and how. `key`: the key columns of a table that `create` makes.

    `encoding` and `spreadsheet`: of a text file (`FileSource`).
    """

    path: Path
    table: str
    kinds: Mapping[str, str] = field(default_factory=dict)
    create: bool = False
    key: Sequence[str] = ()
    load: ImportOptions = field(default_factory=ImportOptions)
    encoding: str = UTF_8
    spreadsheet: bool = False

    @property
    def source(self) -> FileSource:
        """The file that is read."""
        return FileSource(self.path, self.encoding, self.spreadsheet)

    @property
    def journal(self) -> Path:
        """The path of the notes of finished parts."""
        return self.path.with_name(f"{self.path.name}.progress")

    @property
    def rejected(self) -> Path:
        """The path of the rows that are put aside."""
        return self.path.with_name(f"{self.path.name}.rejected")


def import_file(
    endpoint: Endpoint, wish: Import, told: Callable[[ImportProgress], None], looked: Progress
) -> Loaded:
    """Import a file, or go on where a run before was broken off.

    `looked` is told how much was read before the first row is sent. Raises: `TransferFailed`,
    `FileInvalid`, `NoSuchTable`.
    """
    source = wish.source
    _check(wish.load)
    with Client(endpoint, patience=FIRST_PATIENCE_SECONDS) as client:
        table = _table(client, source, wish, looked)
    first = list(islice(source.records(rejected=lambda *_: None), _LOOKED_AT_ROWS))
    _check_key(source, table, first)
    now_ms = SystemClock().now_us() // 1000
    stat = wish.path.stat()
    run = {
        "size": stat.st_size,
        "modified_ns": stat.st_mtime_ns,
        "encoding": wish.encoding,
        "spreadsheet": wish.spreadsheet,
        "instance": endpoint.instance,
        "table": table.name,
        "created": table.created,
        "window": wish.load.window,
        "in_order": wish.load.in_order,
        "types": kinds_of(source, table, wish.kinds),
        "versions_ms": now_ms,
    }
    with Journal(wish.journal, run) as journal:
        versions_ms: int = journal.run["versions_ms"]
        _check_versions(table, first, versions_ms, now_ms, journal.path)
        rejects = Rejects(wish.rejected, wish.load.max_rejected, resumed=journal.resumed)
        reading = Reading(table.key, journal.run["types"], versions_ms, texts=not source.typed)
        repeats = find_repeats(source, table.key, looked)
        done = Loader(endpoint, table.name, wish.load, journal, rejects, repeats).run(
            source, reading, told
        )
        journal.forget()
    return done


def _check(how: ImportOptions) -> None:
    for name, value, least in (
        ("workers", how.workers, 1),
        ("window", how.window, 1),
        ("rate", how.rate, 0),
        ("max-rejected", how.max_rejected, 0),
    ):
        if value < least:
            raise TransferFailed(f"--{name} is {least} or more, not {value}")


def _table(client: Client, source: FileSource, wish: Import, looked: Progress) -> TableFacts:
    """The table to import into; it is created where that was asked for."""
    table = table_facts(client, wish.table)
    if table is None and not wish.create:
        raise NoSuchTable(client, wish.table, "(--create makes the table of the file.)")
    if table is None:
        found = survey(source, wish.key, wish.kinds, looked)
        age_ms = 0 if found.oldest is None else SystemClock().now_us() // 1000 - found.oldest
        offset = max(_DAY_SECONDS, age_ms // 1000 + _DAY_SECONDS)
        make_target_table(client, wish.table, found.key, found.max_versions, offset)
        table = table_facts(client, wish.table)
        assert table is not None, "it was made just now"
    if table.auto_increment is not None:
        raise TransferFailed(
            f"{table.name} makes the values of {table.auto_increment} itself, so a part that is "
            "sent twice would make rows twice; import into a table whose key you give"
        )
    return table


def _check_key(source: FileSource, table: TableFacts, first: Sequence[Record]) -> None:
    if not first:
        return  # the export of an empty table, or a file of rows that are all rejected
    names = {name for record in first for name in record.fields}
    missing = [column.name for column in table.key if column.name not in names]
    if missing:
        raise TransferFailed(
            f"{source.name} has no column {missing[0]}, which is in the key of {table.name}; it "
            f"has {', '.join(sorted(names))}"
        )


def _check_versions(
    table: TableFacts, first: Sequence[Record], versions_ms: int, now_ms: int, journal: Path
) -> None:
    """Refuse, before the first row is sent, a file whose versions the server would refuse."""
    offset_ms = table.offset_seconds * 1000
    if now_ms - versions_ms > offset_ms:
        raise TransferFailed(
            f"the run that {journal} is of began {(now_ms - versions_ms) // 1000} s ago, and "
            f"{table.name} takes versions of the last {table.offset_seconds} s only; raise the "
            "table's max_version_offset, or delete the file to begin anew"
        )
    oldest = min((each for record in first for each in _versions(record.fields)), default=now_ms)
    if now_ms - oldest > offset_ms:
        raise TransferFailed(
            f"the file has versions that are {(now_ms - oldest) // 1000} s old, and {table.name} "
            f"takes those of the last {table.offset_seconds} s only; raise the table's "
            "max_version_offset (UpdateTable) for the time of the import"
        )


def _versions(fields: Mapping[str, Any]) -> list[int]:
    try:
        return [cell.version for cell in cells_of(fields[CELLS])] if CELLS in fields else []
    except ValueError:
        return []  # such a row is rejected when it is imported
