"""A copy of an instance's tables, with all that belongs to them (`engine/instance_copy.py`).

It has the definitions of tables and their indexes, rows with all versions and entries of secondary
indexes, the last values of auto-increment columns, streams with their records, tunnels and delivery
tasks with their channels and checkpoints. What clients hold stays good: ids of streams and tunnels,
iterators and tokens are those that were copied.

Search indexes come back with a journal that begins when they are put back, and with the documents
that they had: documents never change (`search/index.py`), so a copy shares them. An index that was
being built when the copy was made, that heard of a write meanwhile, or is of a store that others
may change, is built again over the rows that were put back.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from widerow.engine.copying import (
    CopyMoment,
    CopyNotYet,
    CopyRefused,
    CopyRoom,
    ModelCopy,
    PlacedTables,
    Records,
    has_any,
)
from widerow.engine.streams.log import log_prefix
from widerow.engine.streams.log_shards import first_shards
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.keys.decode import key_value_end
from widerow.keys.layout import (
    ROW_PREFIX_BYTES,
    change_prefix,
    intent_prefix,
    local_index_prefix,
    row_prefix,
    sequence_prefix,
    tunnel_prefix,
    tunnels_prefix,
)
from widerow.model.tablestore.schema import Table
from widerow.model.tunnels import Tunnel
from widerow.storage.interface import Snapshot

if TYPE_CHECKING:
    from widerow.engine.tablestore.search.service import SearchIndexes
    from widerow.search.index import DocumentIndex

__all__ = ["TablestoreCopy", "copy_tables"]

_NUMBER_BYTES: Final = 4


class _LocalEntry(NamedTuple):
    """An entry of a local index: its key before and after the `number` of the index."""

    partition: bytes
    number: int
    rest: bytes
    record: bytes


class _CopiedTable(NamedTuple):
    """A table or index: `rows` and `sequences` without the prefix of its number.

    `changes`: of its stream, without the numbers of both. `tunnels`: the state of each by its
    number, without that and the table's. `documents`: of its search indexes, by their numbers.
    """

    table: Table
    rows: Records
    sequences: Records
    entries: tuple[_LocalEntry, ...]
    changes: Records
    tunnels: tuple[tuple[int, Records], ...]
    documents: "Mapping[int, DocumentIndex]"


class TablestoreCopy(ModelCopy):
    """The tables and indexes of one instance."""

    def __init__(
        self,
        search: "Callable[[], SearchIndexes]",
        tables: tuple[_CopiedTable, ...],
        size: int,
    ) -> None:
        """These tables. `search`: where search indexes are. `size`: bytes of all that is copied."""
        shown = [each for each in tables if not each.table.index_of]
        self.names = tuple([each.table.name for each in shown])
        self.rows = sum(len(each.rows) for each in shown)
        self.size = size
        self.numbers = sum(_numbers_of(each.table) for each in tables)
        self.tables = tables
        self._search = search

    def filled(self, number: int) -> tuple[bytes, ...]:
        """The prefixes under which records of a new table may be written."""
        of_rows = row_prefix(number), sequence_prefix(number), local_index_prefix(number)
        return *of_rows, change_prefix(number), tunnels_prefix(number)

    def under(self, number: Callable[[], int], now_us: int) -> PlacedTables:
        """The tables under new numbers; once durable, search indexes are given their documents."""
        # An index refers to its table and the table to its indexes: all their numbers come first.
        new = {each.table.id: number() for each in self.tables}
        made = [(each, _renumbered(each.table, new, number, now_us)) for each in self.tables]
        documents: dict[int, dict[int, DocumentIndex]] = {}
        for copied, table in made:
            pairs = zip(copied.table.search, table.search, strict=True)
            found = [(after.id, copied.documents.get(before.id)) for before, after in pairs]
            documents[table.id] = {number: each for number, each in found if each is not None}
        return PlacedTables(
            tuple([(TABLESTORE_MODEL, table) for _, table in made]),
            chain.from_iterable([_records_of(*each, new) for each in made]),
            partial(self._take_over, documents),
        )

    def _take_over(self, documents: "Mapping[int, Mapping[int, DocumentIndex]]") -> None:
        for table_id, found in documents.items():
            if found:
                self._search().take_over(table_id, found)


def _numbers_of(table: Table) -> int:
    """How many numbers of the catalogue a table takes, with logs, search indexes and tunnels."""
    return 1 + len(table.logs) + len(table.search) + len(table.all_tunnels)


# --- copying --------------------------------------------------------------------------------------


def copy_tables(
    search: "Callable[[], SearchIndexes]", moment: CopyMoment, instance: str, room: int
) -> TablestoreCopy:
    """The tables of an instance. Raises `CopyRefused` for more than `room` bytes.

    It is raised also where a secondary index is not built yet, and `CopyNotYet` where changes wait
    to be moved. `search`: gives the search indexes.
    """
    counted = CopyRoom(instance, room)
    tables = []
    for table in TABLESTORE_MODEL.owned(moment.state, instance):
        _check(moment.reader, table)
        tables.append(_copy(search, moment, table, counted))
    return TablestoreCopy(search, tuple(tables), counted.size)


def _check(reader: Snapshot, table: Table) -> None:
    if not all(index.ready for index in table.indexes):
        raise CopyRefused(
            f"table {table.name!r} has an index that is being built, which a snapshot cannot hold"
        )
    if has_any(reader, intent_prefix(table.id)):
        raise CopyNotYet(
            f"table {table.name!r} has changes that its indexes or its stream have not heard of, "
            "which a snapshot cannot hold; try again"
        )


def _copy(
    search: "Callable[[], SearchIndexes]", moment: CopyMoment, table: Table, room: CopyRoom
) -> _CopiedTable:
    reader = moment.reader
    rows = room.behind(reader, row_prefix(table.id))
    given = room.behind(reader, sequence_prefix(table.id))
    entries = []
    if not table.index_of:
        for key, record in room.records(reader, local_index_prefix(table.id)):
            end = key_value_end(key, ROW_PREFIX_BYTES, table.key_columns[0].type)
            after = end + _NUMBER_BYTES
            number = int.from_bytes(key[end:after], "big")
            entries.append(_LocalEntry(key[ROW_PREFIX_BYTES:end], number, key[after:], record))
    stream = table.stream
    changes = () if stream is None else room.behind(reader, log_prefix(table.id, stream))
    tunnels = [
        (each.number, room.behind(reader, tunnel_prefix(table.id, each.number)))
        for each in table.all_tunnels
    ]
    documents = search().copied(table, reader) if table.search and moment.is_alone else {}
    room.take(sum(each.memory_bytes for each in documents.values()))
    return _CopiedTable(table, rows, given, tuple(entries), changes, tuple(tunnels), documents)


# --- putting back ---------------------------------------------------------------------------------


def _renumbered(table: Table, new: dict[int, int], number: Callable[[], int], now_us: int) -> Table:
    """The table under its new number; its logs, search indexes and tunnels get new numbers, too."""

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


def _records_of(
    copied: _CopiedTable, table: Table, new: dict[int, int]
) -> Iterator[tuple[bytes, bytes]]:
    """The records of a table under its new number."""
    own = table.id
    yield from _behind(row_prefix(own), copied.rows)
    yield from _behind(sequence_prefix(own), copied.sequences)
    for entry in copied.entries:
        index = new[entry.number].to_bytes(_NUMBER_BYTES, "big")
        yield local_index_prefix(own) + entry.partition + index + entry.rest, entry.record
    if table.stream is not None:
        yield from _behind(log_prefix(own, table.stream), copied.changes)
    for tunnel, (_, records) in zip(table.all_tunnels, copied.tunnels, strict=True):
        yield from _behind(tunnel_prefix(own, tunnel.number), records)


def _behind(prefix: bytes, records: Records) -> Iterator[tuple[bytes, bytes]]:
    for rest, record in records:
        yield prefix + rest, record
