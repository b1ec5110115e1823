"""Walk a store and verify what must always hold. Tests call it, operators through `widerow doctor`.

Verified: every record belongs to a table or index of the catalogue, or to a noted drop; what each
table model says of its records (`TableModel.check_parts`); statistics and passes of the sweep.
Bounds of partitions are whole partition keys in order, so that each key lies in exactly one
(`partitions/check_bounds.py`). Each record of the store is read once, rows of tables with indexes
twice; entries of an index are looked up besides.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Final

from widerow.engine.catalog.catalog import Catalog
from widerow.engine.catalog.partitioned import CatalogPartitions
from widerow.engine.check_part import CheckPart
from widerow.engine.engine import TableModelEntry, catalog_models
from widerow.engine.nodes.record import decode_node
from widerow.engine.partitions.check_bounds import check_bounds
from widerow.engine.partitions.history import decode_interval
from widerow.engine.partitions.records import decode_counts, decode_ranges
from widerow.engine.partitions.shared_notes import decode_notes
from widerow.engine.sweep.record import decode_sweep
from widerow.engine.table_models import TABLE_MODELS
from widerow.errors import InvalidRequest, StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import (
    ROW_PREFIX_BYTES,
    SPACE_CHANGES,
    SPACE_INDEXES,
    SPACE_INTENTS,
    SPACE_LOCAL_INDEXES,
    SPACE_NODES,
    SPACE_ROWS,
    SPACE_SEQUENCES,
    SPACE_STATISTICS,
    SPACE_STORE,
    SPACE_TRANSACTIONS,
    SPACE_TUNNELS,
    nodes_notes_prefix,
    nodes_prefix,
    ranges_key,
    statistics_key,
    statistics_prefix,
    sweep_key,
)
from widerow.storage.interface import Snapshot, Store
from widerow.storage.read_anew import read_anew

__all__ = ["PROGRESS_RECORDS", "Finding", "check_store"]

PROGRESS_RECORDS: Final = 1000
_UNKNOWN: Final = "of a table that the catalogue does not know"
_NUMBERED: Final = {
    SPACE_ROWS: f"a row {_UNKNOWN}",
    SPACE_CHANGES: f"a change record {_UNKNOWN}",
    SPACE_SEQUENCES: f"a sequence record {_UNKNOWN}",
    SPACE_LOCAL_INDEXES: f"an entry of a local index {_UNKNOWN}",
    SPACE_INTENTS: f"an intent {_UNKNOWN}",
    SPACE_TRANSACTIONS: f"a local transaction {_UNKNOWN}",
    SPACE_INDEXES: "entries of index {number}, which no table has",
    SPACE_STATISTICS: f"statistics {_UNKNOWN}",
    SPACE_TUNNELS: f"state of a tunnel {_UNKNOWN}",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not be: where, and what is wrong with it."""

    table: str
    key: str
    problem: str


def check_store(
    store: Store,
    *,
    progress: Callable[[int], None] = lambda _: None,
    models: Sequence[TableModelEntry] = TABLE_MODELS,
) -> list[Finding]:
    """Every violation found; an empty list is a clean store.

    `progress` is called with the number of a part's records read, every thousand. `models`: the
    table models that the store may hold tables of. Cost: one pass over the store; memory: one wide
    row. It begins anew where a shared store lost its snapshot.
    """
    return read_anew(lambda: _findings(store, progress, models))


def _findings(
    store: Store, progress: Callable[[int], None], models: Sequence[TableModelEntry]
) -> list[Finding]:
    if next(store.snapshot().scan(b"", b"\xff" * 8), None) is None:
        return []
    try:
        catalog = Catalog(store, catalog_models(models))
    except StoreDamaged as error:
        return [Finding("", "", str(error))]
    snapshot = store.snapshot()
    spaces = [entry.space for entry in models]
    findings = [*_unknown_spaces(snapshot, spaces), *_orphans(snapshot, catalog)]
    findings += [Finding(*found) for found in check_bounds(CatalogPartitions(catalog))]
    parts = [_statistics_parts(catalog), _node_parts()]
    parts += [entry.load().check_parts(catalog, snapshot) for entry in models]
    for part in chain.from_iterable(parts):
        findings += _walk(snapshot, part, progress)
    return findings


def _walk(
    snapshot: Snapshot, part: CheckPart, progress: Callable[[int], None]
) -> Iterator[Finding]:
    for count, (key, record) in enumerate(snapshot.scan(part.start, part.stop), 1):
        if count % PROGRESS_RECORDS == 0:
            progress(count)
        try:
            part.visit(key, record)
        except (StoreDamaged, InvalidRequest, ArithmeticError, ValueError) as error:
            yield Finding(part.table, key.hex(), str(error))
    try:
        part.close()
    except StoreDamaged as error:
        yield Finding(part.table, part.start.hex(), str(error))


def _unknown_spaces(snapshot: Snapshot, catalogs: Sequence[bytes]) -> Iterator[Finding]:
    known = (SPACE_STORE, SPACE_NODES, *_NUMBERED, *catalogs)
    position = b""
    while True:
        key = next((key for key, _ in snapshot.scan(position, b"\xff" * 8)), None)
        if key is None:
            return
        if key[:1] not in known:
            yield Finding("", key.hex(), "a record in a space that this version does not know")
        position = after_prefix(key[:1])


def _orphans(snapshot: Snapshot, catalog: Catalog) -> Iterator[Finding]:
    """Records of numbers that neither a table nor a drop note has; one finding for each."""
    known = {prefix for left in catalog.leftovers() for prefix in left.prefixes}
    for table in catalog.tables():
        known.update(catalog.model_of(table).leftover_of(table, 0).prefixes)
    for space, problem in _NUMBERED.items():
        position, stop = space, after_prefix(space)
        while position < stop:
            key = next((key for key, _ in snapshot.scan(position, stop)), None)
            if key is None:
                break
            prefix = key[:ROW_PREFIX_BYTES]
            if prefix not in known:
                number = int.from_bytes(prefix[1:], "big")
                yield Finding("", key.hex(), problem.format(number=number))
            position = after_prefix(prefix)


def _statistics_parts(catalog: Catalog) -> Iterator[CheckPart]:
    for table in CatalogPartitions(catalog).tables():
        prefix = statistics_prefix(table.id)
        visit = partial(_check_statistics, table.id)
        yield CheckPart(table.qualified, prefix, after_prefix(prefix), visit)


def _check_statistics(table_id: int, key: bytes, record: bytes) -> None:
    if key == statistics_key(table_id):
        decode_counts(record)
    elif key == sweep_key(table_id):
        decode_sweep(record)
    elif key == ranges_key(table_id):
        decode_ranges(table_id, record)
    else:
        second = int.from_bytes(key[len(statistics_prefix(table_id)) + 1 :], "big")
        decode_interval(second, record)


def _node_parts() -> Iterator[CheckPart]:
    """The records of servers and of their notes: those of killed servers are no finding."""
    records, notes = nodes_prefix(), nodes_notes_prefix()
    yield CheckPart("", records, after_prefix(records), _check_node)
    yield CheckPart("", notes, after_prefix(notes), _check_notes)


def _check_node(key: bytes, record: bytes) -> None:
    decode_node(key[len(nodes_prefix()) :], record)


def _check_notes(_: bytes, record: bytes) -> None:
    decode_notes(record)
