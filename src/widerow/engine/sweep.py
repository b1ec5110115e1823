"""Giving space back: expired cells, surplus versions, rows of dropped tables (design §6).

Reads hide what has expired or is beyond max_versions at once, and writes trim the columns they
touch. What nobody touches is found by the sweep: one bounded step of a table at a time, between
which requests are served. A step reads a few hundred records of the published view and plans a
write for each row that holds something to give back; the row is read again inside its transaction,
so a change in between is never undone.

A table is swept while its data can expire, a pass every ten minutes, and once after its
max_versions was lowered (`Table.untrimmed`, kept in the catalogue so that a restart goes on).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from widerow.clock import Clock
from widerow.engine.catalog.catalog import Tables
from widerow.engine.catalog.draft import Draft
from widerow.engine.catalog.state import Leftover
from widerow.engine.expiry import live_from
from widerow.engine.partitions.balance import Partitions
from widerow.engine.plan import Plan, failing
from widerow.engine.select import live_cells
from widerow.engine.stored import (
    key_section_of,
    put_row,
    put_segment,
    remove_row,
    row_cells,
    segments_of,
    wide_root,
)
from widerow.errors import NotFound
from widerow.keys.decode import decode_key_value
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES, row_prefix, segment_range
from widerow.model.schema import Table
from widerow.rows.cells import Cell
from widerow.rows.record import (
    EMPTY,
    Header,
    RecordKind,
    Summary,
    header_of,
    summarize,
)
from widerow.storage.interface import Outcome, Store, Transaction, Write

__all__ = ["Reclaimed", "Sweep", "trim_row"]

STEP_RECORDS: Final = 500  # read in one step: about half a millisecond
PASS_SECONDS: Final = 600  # between the end of a table's pass and its next one


@dataclass(slots=True)
class Reclaimed:
    """What has been given back since the engine was opened, and how much was looked at."""

    records_examined: int = 0
    rows_trimmed: int = 0
    rows_removed: int = 0
    cells_removed: int = 0
    bytes_reclaimed: int = 0
    passes: int = 0
    tables_dropped: int = 0


class Sweep:
    """Where the sweep of each table stands. Used by one caller at a time."""

    def __init__(
        self, tables: Tables[Table], store: Store, clock: Clock, partitions: Partitions
    ) -> None:
        """Nothing swept yet. `partitions` hears by how much tables shrink."""
        self.reclaimed = Reclaimed()
        self._tables = tables
        self._store = store
        self._clock = clock
        self._partitions = partitions
        self._positions: dict[int, bytes] = {}  # table -> where its running pass goes on
        self._rested: dict[int, int] = {}  # table -> when its last pass ended, monotonic

    def step(self) -> Plan[None] | None:
        """The next step: what was dropped first, then the table that waits longest.

        None when no table needs any.
        """
        leftover = next(iter(self._tables.leftovers()), None)
        if leftover is not None:
            return self._clear(leftover)
        table = self._next_table()
        return None if table is None else self._step(table)

    def _clear(self, leftover: Leftover) -> Plan[None]:
        """The ranges of a dropped table, and then its note."""
        removed = False

        def remove(txn: Transaction) -> None:
            for prefix in leftover.prefixes:
                txn.delete_range(prefix, after_prefix(prefix))

        def gone(_: None) -> None:
            nonlocal removed
            removed = True

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            failing(outcomes)
            self.reclaimed.tables_dropped += 1

        def note_gone(draft: Draft) -> None:
            if removed:
                draft.forget(leftover)

        forget = self._tables.catalog.change(note_gone)
        return Plan((Write(leftover.prefixes, remove, alone=True, settled=gone), forget), finish)

    def _next_table(self) -> Table | None:
        waiting = [table for table in self._tables.all() if self._needs(table)]
        return min(waiting, key=lambda table: self._rested.get(table.id, -1), default=None)

    def _needs(self, table: Table) -> bool:
        if table.id in self._positions or table.untrimmed:
            return True
        if table.options.time_to_live < 0:
            return False
        ended = self._rested.get(table.id)
        pause = PASS_SECONDS * 1_000_000_000
        return ended is None or self._clock.monotonic_ns() >= ended + pause

    def _step(self, table: Table) -> Plan[None]:
        prefix = row_prefix(table.id)
        start = self._positions.get(table.id, prefix)
        now_ms = self._clock.now_us() // 1000
        alive, versions = live_from(table.options, now_ms), table.options.max_versions
        writes: list[Write[Any]] = []
        count = 0
        for key, record in self._store.snapshot().scan(start, after_prefix(prefix)):
            if count >= STEP_RECORDS and record[0] != RecordKind.SEGMENT:
                self._positions[table.id] = key
                break
            count += 1
            header = header_of(record)
            if header.kind != RecordKind.SEGMENT and _may_hold(header, alive, versions):
                writes.append(self._trim(table, key))
        else:
            self._positions.pop(table.id, None)
            self._rested[table.id] = self._clock.monotonic_ns()
            self.reclaimed.passes += 1
            if table.untrimmed:
                writes.append(self._tables.change(table, partial(replace, untrimmed=False)))
        self.reclaimed.records_examined += count
        return Plan(tuple(writes), failing)

    def _trim(self, table: Table, key: bytes) -> Write[tuple[int, int, bool]]:
        _, end = decode_key_value(key, len(row_prefix(table.id)), table.key_columns[0].type)

        def body(txn: Transaction) -> tuple[int, int, bool]:
            try:
                current = self._tables.current(table, txn)
            except NotFound:
                return 0, 0, False  # dropped since: its rows go with it
            return trim_row(txn, key, current, self._clock.now_us() // 1000)

        shard = key[:end]
        return Write((shard,), body, settled=partial(self._count, table.id, shard))

    def _count(self, table_id: int, shard: bytes, freed: tuple[int, int, bool]) -> None:
        cells, size, removed = freed
        if cells:
            partition_key = shard[ROW_PREFIX_BYTES:]
            self._partitions.note_load(table_id, partition_key, 0, 0, -removed, -size)
        self.reclaimed.cells_removed += cells
        self.reclaimed.bytes_reclaimed += size
        self.reclaimed.rows_removed += removed
        self.reclaimed.rows_trimmed += bool(cells) and not removed


def _may_hold(header: Header, alive: int, versions: int) -> bool:
    """Whether a row may hold something to give back: the header bounds both, it never misses."""
    return header.oldest < alive or header.versions_max > versions


def trim_row(txn: Transaction, key: bytes, table: Table, now_ms: int) -> tuple[int, int, bool]:
    """Remove what a row no longer shows: cells removed, bytes freed, whether the row went too.

    Cost: the row; memory: its changed segments.
    """
    record = txn.get(key)
    if record is None:
        return 0, 0, False
    header = header_of(record)
    alive, versions = live_from(table.options, now_ms), table.options.max_versions
    if header.kind == RecordKind.WIDE:
        return _trim_wide(txn, key, record, alive, versions)
    cells = row_cells(record, header)
    kept = live_cells(cells, versions, alive)
    if len(kept) == len(cells):
        return 0, 0, False
    if kept:
        put_row(txn, key, key_section_of(record, header), kept, header.latest_server)
    else:
        remove_row(txn, key, header)
    return len(cells) - len(kept), _bytes(cells) - _bytes(kept), not kept


def _trim_wide(
    txn: Transaction, key: bytes, record: bytes, alive: int, versions: int
) -> tuple[int, int, bool]:
    header = header_of(record)
    total, gone, freed = EMPTY, 0, 0
    changed: list[tuple[bytes, list[Cell]]] = []
    for segment, cells in segments_of(txn, key):
        kept = live_cells(cells, versions, alive)
        total = _joined(total, summarize(kept))
        if len(kept) < len(cells):
            changed.append((segment, kept))
            gone += len(cells) - len(kept)
            freed += _bytes(cells) - _bytes(kept)
    if gone and not total.cell_count:
        txn.delete(key)
        txn.delete_range(*segment_range(key))
        return gone, freed, True
    for segment, kept in changed:
        put_segment(txn, key, segment, kept)
    section = key_section_of(record, header)
    txn.put(key, wide_root(section, total, header.latest_server))
    return gone, freed, False


def _joined(left: Summary, right: Summary) -> Summary:
    return Summary(
        left.cell_count + right.cell_count,
        max(left.versions_max, right.versions_max),
        left.data_size + right.data_size,
        min(left.oldest, right.oldest),
    )


def _bytes(cells: list[Cell]) -> int:
    return sum([len(cell.wire) for cell in cells])
