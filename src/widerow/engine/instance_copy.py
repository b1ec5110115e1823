"""What an instance holds, as a value, and the plan that makes an instance hold it again.

For tests: between two of them an instance goes back to what it was, or to nothing. A copy has all
that can be read of the instance: the definitions of tables and their indexes, rows with all
versions and entries of secondary indexes, the last values of auto-increment columns, streams with
their records, tunnels and delivery tasks with their channels and checkpoints. A reset drops every
table of the instance and puts the copied ones in their place under new numbers, so nothing that is
remembered of the former tables is taken for theirs: counts and locks begin anew. What clients hold
stays good: ids of streams and tunnels, iterators and tokens are those that were copied.

Search indexes come back with a journal that begins then, and with the documents that they had: they
never change (`search/index.py`), so a copy shares them. One that had to be built when the copy was
made, or that heard of a write meanwhile, is built again over the rows that were put back.

All of it is one write of the catalogue's shard: requests see the instance before or after it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from widerow.engine.catalog.draft import Draft, read_epoch
from widerow.engine.catalog.state import CatalogState
from widerow.engine.engine import Engine
from widerow.engine.plan import Plan, single
from widerow.engine.tablestore.log_shards import first_shards
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.errors import Replan, WiderowError
from widerow.keys.decode import key_value_end
from widerow.keys.encode import after_prefix
from widerow.keys.layout import (
    ROW_PREFIX_BYTES,
    SPACE_CATALOG,
    TABLE_ID_KEY,
    change_prefix,
    intent_prefix,
    local_index_prefix,
    row_prefix,
    sequence_prefix,
    table_prefixes,
    tunnel_prefix,
    tunnels_prefix,
)
from widerow.limits import COPY_BYTES_MAX
from widerow.model.tablestore.schema import Stream, Table
from widerow.model.tablestore.tunnel import Tunnel
from widerow.storage.interface import Outcome, Snapshot

if TYPE_CHECKING:
    from widerow.search.index import DocumentIndex

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


_Records = tuple[tuple[bytes, bytes], ...]


class CopiedTable(NamedTuple):
    """A table or index: `rows` and `sequences` without the prefix of its number.

    `changes`: of its stream, without the numbers of both. `tunnels`: the state of each by its
    number, without that and the table's. `documents`: of its search indexes, by their numbers.
    """

    table: Table
    rows: _Records
    sequences: _Records
    entries: tuple[LocalEntry, ...]
    changes: _Records
    tunnels: tuple[tuple[int, _Records], ...]
    documents: "Mapping[int, DocumentIndex]"


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


def copy_instance(engine: Engine, instance: str) -> InstanceCopy:
    """What the instance holds now. Cost: a read of all of it, which stays in memory.

    Raises `CopyRefused` where it is more than `COPY_BYTES_MAX`, where secondary indexes are
    unfinished, and for a store whose transactions do not reach over shards.
    """
    store, catalog = engine.store, engine.catalog
    if not store.capabilities.atomic_across_shards:
        raise CopyRefused("snapshots need a store of one process: memory or RocksDB")
    while True:
        reader, state = store.snapshot(), catalog.seen()
        if read_epoch(reader) == state.epoch:
            break
    tables, size = [], 0
    for table in _owned(state, instance):
        _check(reader, table)
        copied, weight = _copy(engine, reader, table, COPY_BYTES_MAX - size)
        tables.append(copied)
        size += weight
    return InstanceCopy(tuple(tables), size)


def reset_instance(engine: Engine, instance: str, copy: InstanceCopy, now_us: int) -> Plan[None]:
    """Let the instance hold what `copy` holds and nothing else. `now_us`: when journals begin.

    Where the store's transactions do not reach over shards, what is dropped is left to the sweep,
    and nothing but an empty copy can be put back.
    """
    store, catalog = engine.store, engine.catalog
    due_us = catalog.due_us(now_us)
    whole = store.capabilities.atomic_across_shards
    dropped = tuple(table.id for table in _owned(catalog.seen(), instance)) if whole else None
    first = _next_number(store.snapshot())
    numbers = range(first, first + sum(_numbers_of(each.table) for each in copy.tables))
    placed = _Placed()

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
            placed.documents = _put_back(draft, copy, numbers, now_us)

    def finish(outcomes: Sequence[Outcome[None]]) -> None:
        single(outcomes)
        for table_id, documents in placed.documents.items():
            engine.search.take_over(table_id, documents)

    shards = [prefix for number in dropped or () for prefix in table_prefixes(number)]
    shards += [prefix for number in numbers for prefix in _filled(number)]
    write = catalog.change(make, due_us=due_us, shards=tuple(shards))
    return Plan(
        (write,),
        finish,
        copy.size,
        lambda _: reset_instance(engine, instance, copy, now_us),
    )


@dataclass(slots=True)
class _Placed:
    """What a body that may run again put back last: documents by table and index."""

    documents: "dict[int, dict[int, DocumentIndex]]" = field(default_factory=dict)


def _owned(state: CatalogState, instance: str) -> list[Table]:
    """Every table and index of an instance, sorted by name."""
    names = state.names(SPACE_CATALOG, instance)
    return [state.by_name[SPACE_CATALOG, instance, name] for name in names]


def _next_number(reader: Snapshot) -> int:
    record = reader.get(TABLE_ID_KEY)
    return 1 if record is None else int.from_bytes(record, "big")


def _numbers_of(table: Table) -> int:
    """How many numbers of the catalogue a table takes, with all that belongs to it but indexes."""
    return 1 + len(table.logs) + len(table.search) + len(table.all_tunnels)


def _filled(number: int) -> tuple[bytes, ...]:
    """The prefixes that a copied table may have records under."""
    of_rows = row_prefix(number), sequence_prefix(number), local_index_prefix(number)
    return *of_rows, change_prefix(number), tunnels_prefix(number)


# --- copying --------------------------------------------------------------------------------------


def _check(reader: Snapshot, table: Table) -> None:
    for what, there in (
        ("an index that is being built", not all(index.ready for index in table.indexes)),
        ("changes that its indexes have not heard of", _has_any(reader, intent_prefix(table.id))),
    ):
        if there:
            raise CopyRefused(f"table {table.name!r} has {what}, which a snapshot cannot hold")


def _has_any(reader: Snapshot, prefix: bytes) -> bool:
    return next(iter(reader.scan(prefix, after_prefix(prefix))), None) is not None


def _copy(engine: Engine, reader: Snapshot, table: Table, room: int) -> tuple[CopiedTable, int]:
    """A table, and its bytes. Raises `CopyRefused` for more than `room`."""
    size = 0

    def weigh(more: int) -> None:
        nonlocal size
        size += more
        if size > room:
            raise CopyRefused(
                f"instance {table.instance!r} is larger than a snapshot may be: "
                f"{COPY_BYTES_MAX} bytes"
            )

    def records(prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        for key, record in reader.scan(prefix, after_prefix(prefix)):
            weigh(len(key) + len(record))
            yield key, record

    def behind(prefix: bytes) -> _Records:
        return tuple([(key[len(prefix) :], record) for key, record in records(prefix)])

    rows, given = behind(row_prefix(table.id)), behind(sequence_prefix(table.id))
    entries = []
    if not table.index_of:
        for key, record in records(local_index_prefix(table.id)):
            end = key_value_end(key, ROW_PREFIX_BYTES, table.key_columns[0].type)
            after = end + _NUMBER_BYTES
            number = int.from_bytes(key[end:after], "big")
            entries.append(LocalEntry(key[ROW_PREFIX_BYTES:end], number, key[after:], record))
    changes = behind(_log_prefix(table.id, table.stream)) if table.stream is not None else ()
    tunnels = [
        (each.number, behind(tunnel_prefix(table.id, each.number))) for each in table.all_tunnels
    ]
    documents = engine.search.copied(table, reader) if table.search else {}
    weigh(sum(each.memory_bytes for each in documents.values()))
    copied = CopiedTable(table, rows, given, tuple(entries), changes, tuple(tunnels), documents)
    return copied, size


def _log_prefix(table_id: int, log: Stream) -> bytes:
    """What keys of a log begin with, of all its shards."""
    return change_prefix(table_id) + log.number.to_bytes(_NUMBER_BYTES, "big")


# --- putting back ---------------------------------------------------------------------------------


def _put_back(
    draft: Draft, copy: InstanceCopy, numbers: range, now_us: int
) -> "dict[int, dict[int, DocumentIndex]]":
    """Put what was copied under new numbers. Raises `Replan` where others were taken meanwhile.

    The documents of search indexes, by the new numbers of table and index.
    """

    def number() -> int:
        given = draft.number()
        if given not in numbers:
            raise Replan
        return given

    # An index refers to its table and the table to its indexes: all their numbers come first.
    new = {each.table.id: number() for each in copy.tables}
    documents = {}
    for copied in copy.tables:
        table = _renumbered(copied.table, new, number, now_us)
        draft.put(TABLESTORE_MODEL, table)
        _put_records(draft, copied, table, new)
        pairs = zip(copied.table.search, table.search, strict=True)
        found = [(after.id, copied.documents.get(before.id)) for before, after in pairs]
        documents[table.id] = {number: each for number, each in found if each is not None}
    return {table_id: each for table_id, each in documents.items() if each}


def _renumbered(table: Table, new: dict[int, int], number: Callable[[], int], now_us: int) -> Table:
    """The table under its new number, and everything of it under numbers that nothing ever had."""

    def again(tunnel: Tunnel) -> Tunnel:
        return replace(tunnel, number=number())

    stream = None if table.stream is None else replace(table.stream, number=number())
    journal = table.journal
    if journal is not None:
        journal = replace(
            journal, number=number(), enabled_at_us=now_us, shards=first_shards(table.splits)
        )
    return replace(
        table,
        id=new[table.id],
        indexes=tuple([replace(index, id=new[index.id]) for index in table.indexes]),
        index_of=new.get(table.index_of, 0),
        stream=stream,
        journal=journal,
        search=tuple([replace(index, id=number()) for index in table.search]),
        tunnels=tuple([again(tunnel) for tunnel in table.tunnels]),
        deliveries=tuple([replace(each, tunnel=again(each.tunnel)) for each in table.deliveries]),
    )


def _put_records(draft: Draft, copied: CopiedTable, table: Table, new: dict[int, int]) -> None:
    put, own = draft.txn.put, table.id

    def put_all(prefix: bytes, records: _Records) -> None:
        for rest, record in records:
            put(prefix + rest, record)

    put_all(row_prefix(own), copied.rows)
    put_all(sequence_prefix(own), copied.sequences)
    for entry in copied.entries:
        index = new[entry.number].to_bytes(_NUMBER_BYTES, "big")
        put(
            local_index_prefix(own) + entry.partition + index + entry.rest,
            entry.record,
        )
    if table.stream is not None:
        put_all(_log_prefix(own, table.stream), copied.changes)
    for tunnel, (_, records) in zip(table.all_tunnels, copied.tunnels, strict=True):
        put_all(tunnel_prefix(own, tunnel.number), records)
