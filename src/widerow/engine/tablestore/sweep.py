"""The sweep of Tablestore's tables: expired cells, surplus versions, spent sequence records.

**When a pass is due.** A cell expires at its version plus the table's time to live. A pass that
begins at S leaves cells of which the smallest version is O. What is written later has at least the
version S - max_version_offset (semantics §1.6; less a minute for writes under way). So nothing
expires before

    min(O, S - max_version_offset - 60 s) + time_to_live

and the next pass is due then, but not sooner than max(10 min, time_to_live / 16) after the end of
the last one. So a cell stays at most for that pause and the time that two passes take after it has
expired, and a table is read at most once in the pause. What the options are at the moment counts; a
change by which cells could expire sooner than this says makes a pass due (`Table.untrimmed`). A
clock that is set back makes it later by as much. Reads hide expired cells at once.

**Sequence records.** Values that the store gives out are its time in microseconds, or larger
(`engine/tablestore/sequences.py`). So the record of a partition key value is spent when no row of
it is left and its value lies more than a day behind the clock: a value given out without it is
larger, unless the clock was set back by more than that. Rows and record are judged in one
transaction.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from widerow.engine.catalog.state import Leftover
from widerow.engine.locks import check_unlocked
from widerow.engine.sweep.model import NOTHING_FREED, STAYS, Freed, SweptModel, SweptRecord
from widerow.engine.sweep.record import SweepRecord
from widerow.engine.tablestore.bodies import BodyContext
from widerow.engine.tablestore.expiry import live_from
from widerow.engine.tablestore.observed import change_observed
from widerow.engine.tablestore.select import live_cells
from widerow.engine.tablestore.shard_locks import check_unlocked_shard, lock_key
from widerow.engine.tablestore.stored import (
    key_section_of,
    put_row,
    put_segment,
    remove_row,
    row_cells,
    segments_of,
    wide_root,
)
from widerow.errors import Conflict, NotFound, Replan
from widerow.keys.decode import key_value_end
from widerow.keys.encode import after_prefix
from widerow.keys.layout import (
    ROW_PREFIX_BYTES,
    SPACE_ROWS,
    SPACE_SEQUENCES,
    local_index_prefix,
    row_prefix,
    segment_range,
    sequence_prefix,
)
from widerow.limits import (
    CLOCK_BACK_SECONDS_MAX,
    INT64_MAX,
    SWEEP_PAUSE_SECONDS,
    SWEEP_PAUSE_SHARE,
    WRITE_SECONDS_MAX,
)
from widerow.model.tablestore.schema import Table
from widerow.rows.record import (
    NO_CELLS,
    Header,
    RecordKind,
    Summary,
    header_of,
    record_bytes,
    summarize,
)
from widerow.storage.interface import Reader, Transaction, Write

if TYPE_CHECKING:
    from widerow.rows.cells import Cell

__all__ = ["TablestoreSweep", "trim_row"]

_SECOND_US: Final = 1_000_000


class TablestoreSweep(SweptModel[Table]):
    """Tables of instances; `SweepRecord.first` is the smallest version left, in milliseconds."""

    kind = Table
    counts_cleared = False  # entries of local indexes were not counted as rows

    def __init__(self, context: BodyContext) -> None:
        self._context = context
        self._left_alone: set[int] = set()  # tables with rows that a local transaction held

    def is_swept(self, table: Table) -> bool:
        """Whether cells expire, or options changed so that cells became surplus.

        Never for an index: its entries are removed with their rows.
        """
        if table.index_of:
            return False
        return table.options.time_to_live >= 0 or table.untrimmed

    def ranges(self, table: Table) -> tuple[tuple[bytes, bytes], ...]:
        """The rows, and then the sequence records."""
        rows, sequences = row_prefix(table.id), sequence_prefix(table.id)
        found = ((rows, after_prefix(rows)),)
        if table.auto_increment is None:
            return found
        return (*found, (sequences, after_prefix(sequences)))

    def due_us(self, table: Table, last: SweepRecord | None) -> int:
        """When the next pass is due (see the module).

        Without a pass: as if one ended at the table's start.
        """
        if table.untrimmed:
            return 0
        options = table.options
        if last is None:
            last = SweepRecord(table.created_us, table.created_us, None)
        later = last.started_us - (options.max_version_offset + WRITE_SECONDS_MAX) * _SECOND_US
        oldest = later if last.first is None else min(later, last.first * 1000)
        pause = max(SWEEP_PAUSE_SECONDS, options.time_to_live // SWEEP_PAUSE_SHARE)
        expires = oldest + options.time_to_live * _SECOND_US
        return max(expires, last.ended_us + pause * _SECOND_US)

    def examine(self, table: Table, key: bytes, record: bytes, reader: Reader) -> SweptRecord:
        """What to do about a row, by its header's bounds; no segment of a wide row is read."""
        if key.startswith(SPACE_SEQUENCES):
            return self._examine_sequence(key, record, reader)
        header = header_of(record)
        if header.kind == RecordKind.SEGMENT:
            return STAYS
        options = table.options
        alive = live_from(options, self._context.clock.now_us() // 1000)
        first = None if header.oldest == INT64_MAX else header.oldest
        following = segment_range(key)[1] if header.kind == RecordKind.WIDE else None
        if header.oldest >= alive and header.versions_max <= options.max_versions:
            return SweptRecord(first, following=following)
        end = key_value_end(key, ROW_PREFIX_BYTES, table.key_columns[0].type)
        shards: tuple[bytes, ...] = (key[:end],)
        reads: tuple[bytes, ...] = ()
        if self._may_be_locked(table):
            shards += (lock_key(key[:end]),)
        if self._context.observers is not None:
            watch = self._context.observers.of(table)
            shards, reads = shards + watch.beside(key[:end]), watch.reads
        return SweptRecord(
            first, shards, partial(self._trim, table, key, key[:end]), following, reads
        )

    def ended(self, table: Table) -> Write[Any] | None:
        """The write that marks the table as trimmed, unless its options changed during the pass."""
        left_alone = table.id in self._left_alone
        self._left_alone.discard(table.id)
        if not table.untrimmed or left_alone:
            return None  # with rows left alone, the next pass is due at once

        def trimmed(newest: Table) -> Table:
            return replace(newest, untrimmed=newest.options != table.options)

        return self._context.tables.change(table, trimmed)

    def among(self, leftover: Leftover) -> bytes:
        """The prefix of the entries of all local indexes of a table."""
        return local_index_prefix(leftover.top)

    def place_of(self, record: bytes, key: bytes, table_id: int) -> bytes | None:  # noqa: ARG002  # one shape for all
        """The partition key of an entry of the dropped local index; None for any other entry."""
        top = self._context.tables.by_id(int.from_bytes(key[1:ROW_PREFIX_BYTES], "big"))
        if top is None:
            return None  # the table's drop removes them
        end = key_value_end(key, ROW_PREFIX_BYTES, top.key_columns[0].type)
        return (
            key[ROW_PREFIX_BYTES:end] if key.startswith(table_id.to_bytes(4, "big"), end) else None
        )

    def _trim(self, table: Table, key: bytes, shard: bytes, txn: Transaction) -> Freed:
        context = self._context
        try:
            current = context.tables.current(table, txn)
        except NotFound:
            return NOTHING_FREED  # dropped meanwhile, and its rows with it
        if self._is_locked(table, key, shard, txn):
            # What a local transaction has read must not change before its commit.
            self._left_alone.add(table.id)
            record = txn.get(key)
            return NOTHING_FREED if record is None else Freed(first=header_of(record).oldest)
        now_ms = context.clock.now_us() // 1000
        partition_key = shard[ROW_PREFIX_BYTES:]
        if context.observers is None:
            return trim_row(txn, key, current, now_ms, partition_key)
        watch = context.observers.of(current)
        if not watch:
            return trim_row(txn, key, current, now_ms, partition_key)
        if not context.observers.of(table).covers(watch):
            raise Replan
        return change_observed(
            txn,
            (key, shard),
            watch,
            lambda inner: trim_row(inner, key, current, now_ms, partition_key),
        )

    def _may_be_locked(self, table: Table) -> bool:
        """Whether transactions on the table are records in the shards of their keys."""
        return self._context.locks_in_shards and table.local_transactions

    def _is_locked(self, table: Table, key: bytes, shard: bytes, txn: Transaction) -> bool:
        """Whether a local transaction holds the shard of the row under `key`."""
        context = self._context
        try:
            if context.locks:
                check_unlocked(context.locks, shard, context.clock)
            if self._may_be_locked(table):
                check_unlocked_shard(txn, shard, key, context.clock)
        except Conflict:
            return True
        return False

    # --- sequence records --------------------------------------------------------------------

    def _examine_sequence(self, key: bytes, record: bytes, reader: Reader) -> SweptRecord:
        rows = SPACE_ROWS + key[len(SPACE_SEQUENCES) :]
        if not self._is_spent(record) or _any_row(reader, rows):
            return STAYS
        return SweptRecord(None, (rows, key), partial(self._remove_sequence, key, rows))

    def _is_spent(self, record: bytes) -> bool:
        behind_us = self._context.clock.now_us() - int.from_bytes(record, "big")
        return behind_us > CLOCK_BACK_SECONDS_MAX * _SECOND_US

    def _remove_sequence(self, key: bytes, rows: bytes, txn: Transaction) -> Freed:
        record = txn.get(key)
        if record is None or not self._is_spent(record) or _any_row(txn, rows):
            return NOTHING_FREED
        txn.delete(key)
        return Freed(rows[ROW_PREFIX_BYTES:], sequences=1, size=len(key) + len(record))


def _any_row(reader: Reader, shard: bytes) -> bool:
    return next(iter(reader.scan(shard, after_prefix(shard))), None) is not None


def trim_row(
    txn: Transaction, key: bytes, table: Table, now_ms: int, partition_key: bytes
) -> Freed:
    """Remove surplus and expired cells of a row; what was freed, and what is left of the row.

    Cost: the row; memory: its changed segments.
    """
    record = txn.get(key)
    if record is None:
        return NOTHING_FREED
    header = header_of(record)
    alive, versions = live_from(table.options, now_ms), table.options.max_versions
    if header.kind == RecordKind.WIDE:
        return _trim_wide(txn, key, record, (alive, versions), partition_key)
    cells = row_cells(record, header)
    kept = live_cells(cells, versions, alive)
    first = _first(summarize(kept))
    if len(kept) == len(cells):
        return Freed(first=first)
    if kept:
        put_row(txn, key, key_section_of(record, header), kept, header.latest_server)
    else:
        remove_row(txn, key, header)
    size = record_bytes(key, record) - _stored_bytes(txn, key)
    return Freed(partition_key, int(not kept), len(cells) - len(kept), 0, size, first)


def _trim_wide(
    txn: Transaction, key: bytes, record: bytes, rule: tuple[int, int], partition_key: bytes
) -> Freed:
    alive, versions = rule
    header = header_of(record)
    total, gone = NO_CELLS, 0
    changed: list[tuple[bytes, list[Cell]]] = []
    for segment, cells in segments_of(txn, key):
        kept = live_cells(cells, versions, alive)
        total = _joined(total, summarize(kept))
        if len(kept) < len(cells):
            changed.append((segment, kept))
            gone += len(cells) - len(kept)
    if gone and not total.cell_count:
        txn.delete(key)
        txn.delete_range(*segment_range(key))
        return Freed(partition_key, 1, gone, 0, record_bytes(key, record))
    for segment, kept in changed:
        put_segment(txn, key, segment, kept)
    if changed or not _says(header, total):
        section = key_section_of(record, header)
        txn.put(key, wide_root(section, total, header.latest_server))
    freed = record_bytes(key, record) - _stored_bytes(txn, key)
    return Freed(partition_key, 0, gone, 0, freed, _first(total))


def _stored_bytes(txn: Transaction, key: bytes) -> int:
    record = txn.get(key)
    return 0 if record is None else record_bytes(key, record)


def _says(header: Header, total: Summary) -> bool:
    """Whether a wide row's header already has the bounds of its cells."""
    return (header.versions_max, header.oldest) == (total.versions_max, total.oldest)


def _first(total: Summary) -> int | None:
    return None if total.oldest == INT64_MAX else total.oldest


def _joined(left: Summary, right: Summary) -> Summary:
    return Summary(
        left.cell_count + right.cell_count,
        max(left.versions_max, right.versions_max),
        left.data_size + right.data_size,
        min(left.oldest, right.oldest),
    )
