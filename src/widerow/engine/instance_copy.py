"""What an instance holds, as a value, and the plan that makes an instance hold it again.

For tests: between two of them an instance goes back to what it was, or to nothing. A copy has the
definitions of tables and secondary indexes, their rows with all versions, and the last values of
auto-increment columns. A reset drops every table of the instance and puts the copied ones in their
place under new numbers, so nothing that is remembered of the former tables is taken for theirs:
counts, locks and log positions begin anew, and a stream that was switched on begins empty.

All of it is one write of the catalogue's shard: requests see the instance before or after it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from widerow.engine.catalog.catalog import Catalog
from widerow.engine.catalog.draft import Draft, read_epoch
from widerow.engine.catalog.state import CatalogState
from widerow.engine.plan import Plan, single
from widerow.engine.tables import begun_stream
from widerow.engine.tablestore_model import TABLESTORE_MODEL
from widerow.errors import Replan, WiderowError
from widerow.keys.decode import key_value_end
from widerow.keys.encode import after_prefix
from widerow.keys.layout import (
    ROW_PREFIX_BYTES,
    SPACE_CATALOG,
    TABLE_ID_KEY,
    intent_prefix,
    local_index_prefix,
    row_prefix,
    sequence_prefix,
    table_prefixes,
)
from widerow.limits import COPY_BYTES_MAX
from widerow.model.requests import StreamChange
from widerow.model.schema import Table
from widerow.storage.interface import Snapshot, Store

__all__ = [
    "EMPTY_COPY",
    "CopiedTable",
    "CopyRefused",
    "InstanceCopy",
    "LocalEntry",
    "copy_instance",
    "reset_instance",
]

_NUMBER_BYTES: Final = 4


class CopyRefused(WiderowError):
    """An instance holds what a copy cannot, or the store cannot put a copy back."""


class LocalEntry(NamedTuple):
    """An entry of a local index: what stands before and behind the `number` of the index."""

    partition: bytes
    number: int
    rest: bytes
    record: bytes


class CopiedTable(NamedTuple):
    """A table or index: `rows` and `sequences` without the prefix of its number."""

    table: Table
    rows: tuple[tuple[bytes, bytes], ...]
    sequences: tuple[tuple[bytes, bytes], ...]
    entries: tuple[LocalEntry, ...]


class InstanceCopy(NamedTuple):
    """Every table and index of an instance at one moment. `size`: bytes of its records."""

    tables: tuple[CopiedTable, ...]
    size: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its tables, without indexes."""
        return tuple(each.table.name for each in self.tables if not each.table.index_of)

    @property
    def rows(self) -> int:
        """Records of rows in its tables; a wide row counts for each of its segments."""
        return sum(len(each.rows) for each in self.tables if not each.table.index_of)


EMPTY_COPY: Final = InstanceCopy((), 0)


def copy_instance(store: Store, catalog: Catalog, instance: str) -> InstanceCopy:
    """What the instance holds now. Cost: a read of all of it, which stays in memory.

    Raises `CopyRefused` where it is more than `COPY_BYTES_MAX`, where tables have search indexes,
    tunnels, delivery tasks or unfinished indexes, and for a store whose transactions do not reach
    over shards.
    """
    if not store.capabilities.atomic_across_shards:
        raise CopyRefused("snapshots need a store of one process: memory or RocksDB")
    while True:
        reader, state = store.snapshot(), catalog.seen()
        if read_epoch(reader) == state.epoch:
            break
    tables, size = [], 0
    for table in _owned(state, instance):
        _check(reader, table)
        copied, weight = _copy(reader, table, COPY_BYTES_MAX - size)
        tables.append(copied)
        size += weight
    return InstanceCopy(tuple(tables), size)


def reset_instance(
    store: Store, catalog: Catalog, instance: str, copy: InstanceCopy, now_us: int
) -> Plan[None]:
    """Let the instance hold what `copy` holds and nothing else. `now_us`: when streams begin.

    Where the store's transactions do not reach over shards, what is dropped is left to the sweep,
    and nothing but an empty copy can be put back.
    """
    due_us = catalog.due_us(now_us)
    whole = store.capabilities.atomic_across_shards
    dropped = tuple(table.id for table in _owned(catalog.seen(), instance)) if whole else None
    first = _next_number(store.snapshot())
    wanted = sum(1 + (each.table.stream is not None) for each in copy.tables)
    numbers = range(first, first + wanted)

    def make(draft: Draft) -> None:
        present = _owned(draft.state, instance)
        if dropped is None:
            for table in present:
                draft.drop(TABLESTORE_MODEL, table)
            return
        if tuple(table.id for table in present) != dropped:
            raise Replan
        for table in present:
            draft.erase(TABLESTORE_MODEL, table, table_prefixes(table.id))
        if copy.tables:
            _put_back(draft, copy, numbers, now_us)

    shards = [prefix for number in dropped or () for prefix in table_prefixes(number)]
    shards += [prefix for number in numbers for prefix in _filled(number)]
    write = catalog.change(make, due_us=due_us, shards=tuple(shards))
    return Plan(
        (write,),
        single,
        copy.size,
        lambda _: reset_instance(store, catalog, instance, copy, now_us),
    )


def _owned(state: CatalogState, instance: str) -> list[Table]:
    """Every table and index of an instance, sorted by name."""
    names = state.names(SPACE_CATALOG, instance)
    return [state.by_name[SPACE_CATALOG, instance, name] for name in names]


def _next_number(reader: Snapshot) -> int:
    record = reader.get(TABLE_ID_KEY)
    return 1 if record is None else int.from_bytes(record, "big")


def _filled(number: int) -> tuple[bytes, ...]:
    """The prefixes that a copied table may have records under."""
    return row_prefix(number), sequence_prefix(number), local_index_prefix(number)


# --- copying --------------------------------------------------------------------------------------


def _check(reader: Snapshot, table: Table) -> None:
    for what, there in (
        ("search indexes", bool(table.search)),
        ("tunnels or delivery tasks", bool(table.all_tunnels)),
        ("an index that is being built", not all(index.ready for index in table.indexes)),
        ("changes that its indexes have not heard of", _has_any(reader, intent_prefix(table.id))),
    ):
        if there:
            raise CopyRefused(f"table {table.name!r} has {what}, which a snapshot cannot hold")


def _has_any(reader: Snapshot, prefix: bytes) -> bool:
    return next(iter(reader.scan(prefix, after_prefix(prefix))), None) is not None


def _copy(reader: Snapshot, table: Table, room: int) -> tuple[CopiedTable, int]:
    """A table, and the bytes of its records. Raises `CopyRefused` for more than `room`."""
    size = 0

    def records(prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        nonlocal size
        for key, record in reader.scan(prefix, after_prefix(prefix)):
            size += len(key) + len(record)
            if size > room:
                raise CopyRefused(
                    f"instance {table.instance!r} is larger than a snapshot may be: "
                    f"{COPY_BYTES_MAX} bytes"
                )
            yield key, record

    rows = [(key[ROW_PREFIX_BYTES:], record) for key, record in records(row_prefix(table.id))]
    given = [(key[ROW_PREFIX_BYTES:], record) for key, record in records(sequence_prefix(table.id))]
    entries = []
    if not table.index_of:
        for key, record in records(local_index_prefix(table.id)):
            end = key_value_end(key, ROW_PREFIX_BYTES, table.key_columns[0].type)
            behind = end + _NUMBER_BYTES
            number = int.from_bytes(key[end:behind], "big")
            entries.append(LocalEntry(key[ROW_PREFIX_BYTES:end], number, key[behind:], record))
    return CopiedTable(table, tuple(rows), tuple(given), tuple(entries)), size


# --- putting back ---------------------------------------------------------------------------------


def _put_back(draft: Draft, copy: InstanceCopy, numbers: Sequence[int], now_us: int) -> None:
    """Put what was copied under new numbers. Raises `Replan` where others were taken meanwhile."""

    def number() -> int:
        given = draft.number()
        if given not in numbers:
            raise Replan
        return given

    # An index refers to its table and the table to its indexes: all numbers are taken first.
    new = {each.table.id: number() for each in copy.tables}
    for copied in copy.tables:
        table, own = copied.table, new[copied.table.id]
        stream = None
        if table.stream is not None:
            old = table.stream
            asked = StreamChange(
                enable=True, expiration_hours=old.expiration_hours, columns=old.columns
            )
            stream = begun_stream(table.name, asked, table.splits, number(), now_us)
        indexes = tuple(replace(index, id=new[index.id]) for index in table.indexes)
        draft.put(
            TABLESTORE_MODEL,
            replace(
                table,
                id=own,
                stream=stream,
                indexes=indexes,
                index_of=new.get(table.index_of, 0),
            ),
        )
        _put_records(draft, copied, own, new)


def _put_records(draft: Draft, copied: CopiedTable, own: int, new: dict[int, int]) -> None:
    put = draft.txn.put
    rows, sequences, entries = _filled(own)
    for rest, record in copied.rows:
        put(rows + rest, record)
    for rest, record in copied.sequences:
        put(sequences + rest, record)
    for entry in copied.entries:
        index = new[entry.number].to_bytes(_NUMBER_BYTES, "big")
        put(entries + entry.partition + index + entry.rest, entry.record)
