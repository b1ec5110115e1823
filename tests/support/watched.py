"""The simulation's table with indexes and a stream, and what must follow from its rows.

`WatchedTable` is the model. Beside the rows it has the changes that the stream must contain; the
entries of indexes follow from the rows alone (docs/spec/tablestore-change.md, A4 and C1.4). `Begun`
is a local transaction as its client knows it (section B).
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from tests.support.answers import decode_answer_rows
from tests.support.changes import create, scan_all
from tests.support.model import ModelTable

from widerow.client.rows import decode_change
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.tablestore.requests import IndexDefinition, StreamChange
from widerow.model.tablestore.row import CellOperation, RowChange
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.values import ColumnType, KeyInput, KeyMarker, KeyType, KeyValue, Value
from widerow.rows.plain_values import CellDeletion, VersionedValue

__all__ = [
    "INDEXES",
    "WATCHED",
    "Begun",
    "Followers",
    "Hold",
    "See",
    "ToldChange",
    "WatchedTable",
    "entries_found",
    "entries_wanted",
    "make_watched",
    "records_found",
]

WATCHED: Final = "watched"
LISTED, COVERED = "x", "c"
INDEXES: Final[Mapping[str, tuple[str, ...]]] = {
    "watched_local": ("k", LISTED, "n"),
    "watched_global": (LISTED, "k", "n"),
}
"""The indexes by name, with the columns of their keys."""

_STREAM_HOURS: Final = 1
_HOUR_US: Final = 3_600_000_000

Key = tuple[KeyValue, ...]
ChangedCells = dict[str, tuple[int, Value] | None]
"""The cells of a change: version and value of what was put, None for a column that was deleted."""

Entry = tuple[tuple[Value, ...], dict[str, list[tuple[int, Value]]]]


class ToldChange(NamedTuple):
    """A change as a record of the stream; `action`: 1 put, 2 update, 3 delete."""

    action: int
    key: Key
    cells: ChangedCells


@dataclass
class WatchedTable(ModelTable):
    """The model of the table. `told`: every change that was made, in order."""

    told: list[ToldChange] = field(default_factory=list)

    def change(self, key: Key, change: RowChange, now_ms: int) -> None:
        """Make a change, and append it to `told`. Raises `ModelRefusal`."""
        super().change(key, change, now_ms)
        row = self.rows.get(key)
        cells: ChangedCells = {}
        for cell in change.cells:
            cells[cell.name] = None
            if cell.operation in {CellOperation.PUT, CellOperation.INCREMENT}:
                assert row is not None  # a put creates the row
                column = row.columns[cell.name]
                cells[cell.name] = max(column), column[max(column)]
        self.told.append(ToldChange(int(change.modification), key, cells))


@dataclass
class Begun:
    """A local transaction on one partition key value.

    `table`: the rows as requests inside see them. `until_ns`: when its time is over, on the
    monotonic clock. `doubtful`: it is unknown whether its commit was made, and whether its lock is
    held.
    """

    identity: str
    partition: str
    until_ns: int
    table: WatchedTable
    changes: list[tuple[tuple[str, int], RowChange]] = field(default_factory=list)
    over: bool = False
    doubtful: bool = False

    @classmethod
    def on(cls, model: WatchedTable, identity: str, partition: str, until_ns: int) -> "Begun":
        """A transaction without writes."""
        rows = {key: deepcopy(row) for key, row in model.rows.items() if key[0] == partition}
        return cls(identity, partition, until_ns, replace(model, rows=rows, told=[]))

    def commit_to(self, model: WatchedTable) -> None:
        """Make the transaction's writes in a model, and end it."""
        others = {key: row for key, row in model.rows.items() if key[0] != self.partition}
        model.rows = {**others, **self.table.rows}
        model.told += self.table.told
        self.over = True


# --- what there is --------------------------------------------------------------------------------


def make_watched(engine: TablestoreEngine, instance: str) -> None:
    """Create the table."""
    indexes = (
        IndexDefinition("watched_local", ("k", LISTED), (COVERED,), 1, 1),
        IndexDefinition("watched_global", (LISTED,), (COVERED,), 0, 0),
    )
    columns = (
        DefinedColumn(LISTED, ColumnType.STRING),
        DefinedColumn(COVERED, ColumnType.INTEGER),
    )
    asked = create(WATCHED, {"k": KeyType.STRING, "n": KeyType.INTEGER})
    stream = StreamChange(enable=True, expiration_hours=_STREAM_HOURS)
    asked = replace(asked, defined_columns=columns, indexes=indexes, stream=stream)
    engine.core.run(engine.create_table(instance, asked))


def entries_found(engine: TablestoreEngine, instance: str, index: str) -> list[Entry]:
    """The entries that reads of an index return."""
    low: dict[str, KeyInput] = dict.fromkeys(INDEXES[index], KeyMarker.INF_MIN)
    high: dict[str, KeyInput] = dict.fromkeys(INDEXES[index], KeyMarker.INF_MAX)
    page = engine.rows.get_range(instance, scan_all(index, low, high))
    return [(tuple(key.values()), cells) for key, cells in decode_answer_rows(page.rows)]


def entries_wanted(table: ModelTable, index: str, now_ms: int) -> list[Entry]:
    """The entries that an index must have: one for each row with the listed column."""
    entries: list[Any] = []
    for (partition, number), columns in table.scan(now_ms):
        if LISTED in columns:
            row: dict[str, Value] = {"k": partition, "n": number, LISTED: columns[LISTED][0][1]}
            covered = {name: cells for name, cells in columns.items() if name == COVERED}
            entries.append((tuple(row[name] for name in INDEXES[index]), covered))
    return sorted(entries, key=lambda entry: entry[0])


def records_found(
    engine: TablestoreEngine, instance: str
) -> list[tuple[tuple[int, int], ToldChange]]:
    """Every record that the stream still has, with its position."""
    table = engine.describe_table(instance, WATCHED)
    iterator: str | None = engine.streams.iterator(table, "0", None)
    found = []
    more = True
    while more:
        assert iterator is not None  # the shard of a table that never splits stays open
        page = engine.streams.read(table, iterator, None)
        for each in page.records():
            row = decode_change(each.record)
            cells: ChangedCells = {cell.column: _told_cell(cell) for cell in row.cells}
            key = tuple(value for _, value in row.key)
            position = each.timestamp_us, each.row_index
            found.append((position, ToldChange(each.action, key, cells)))
        iterator, more = page.following, page.more
    return found


def _told_cell(cell: VersionedValue | CellDeletion) -> tuple[int, Value] | None:
    return (cell.version, cell.value) if isinstance(cell, VersionedValue) else None


# --- what must hold -------------------------------------------------------------------------------

Hold = Callable[[bool, str], None]
"""Raises a violation with the second argument where the first is false."""
See = Callable[[str], None]
"""Counts an event by its name."""


class Followers:
    """Compares the indexes and the stream of the table with its model."""

    def __init__(self, hold: Hold, see: See) -> None:
        """Nothing was read yet."""
        self._hold = hold
        self._see = see
        self._listed: dict[Key, Value] = {}  # the listed value of each row when it was read last
        # the position of each record by its number
        self._positions: dict[int, tuple[int, int]] = {}
        self._trimmed = 0  # the number of records trimmed

    def compare(
        self, engine: TablestoreEngine, instance: str, table: WatchedTable, now_us: int
    ) -> None:
        """Read both indexes and the whole stream."""
        for index in INDEXES:
            found = entries_found(engine, instance, index)
            wanted = entries_wanted(table, index, now_us // 1000)
            self._hold(found == wanted, f"{index} holds {found}, not {wanted}")
        self._note_moves(table, now_us // 1000)
        self._compare_stream(engine, instance, table, now_us)

    def _note_moves(self, table: WatchedTable, now_ms: int) -> None:
        listed = {key: row[LISTED][0][1] for key, row in table.scan(now_ms) if LISTED in row}
        if any(self._listed.get(key, value) != value for key, value in listed.items()):
            self._see("an index entry was moved")
        self._listed = listed

    def _compare_stream(
        self, engine: TablestoreEngine, instance: str, table: WatchedTable, now_us: int
    ) -> None:
        """The records must be the changes in order, without the oldest, which were trimmed."""
        read = records_found(engine, instance)
        gone = len(table.told) - len(read)
        found = [told for _, told in read]
        wanted = table.told[max(0, gone) :]
        self._hold(gone >= 0 and found == wanted, f"the stream tells {found}, not {wanted}")
        positions = [position for position, _ in read]
        self._hold(positions == sorted(set(positions)), f"positions do not ascend: {positions}")
        for number, position in enumerate(positions, gone):
            known = self._positions.setdefault(number, position)
            self._hold(position == known, f"record {number} went from {known} to {position}")
        self._hold(gone >= self._trimmed, "records that were trimmed came back")
        self._check_age(gone, now_us - _STREAM_HOURS * _HOUR_US)
        self._trimmed = gone

    def _check_age(self, gone: int, until_us: int) -> None:
        """Records trimmed since the last reading must be older than the stream's hours."""
        for number in range(self._trimmed, gone):
            position = self._positions.pop(number, None)
            old = position is not None and position[0] < until_us
            self._hold(old, f"record {number} of {position} was trimmed before its time")
            self._see("records of a stream were trimmed")
