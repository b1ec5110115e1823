"""Compares search indexes with their tables, while no other process has the store open.

An index is loaded as a server loads it: from its files, and the journal since. Then every row of
the table is compared with its document. The table is right: any difference is mended by building
the index again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, final

from widerow.engine.tablestore.expiry import live_from
from widerow.engine.tablestore.newest import newest_row
from widerow.engine.tablestore.search.live import IndexParts, LiveIndex
from widerow.errors import IndexDamaged
from widerow.keys.decode import decode_key
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES, row_prefix
from widerow.limits import (
    INT64_MIN,
    SEARCH_COMPARED_BYTES,
    SEARCH_COMPARED_ROWS,
    SEARCH_DIFFERENCES_NAMED,
)
from widerow.model.search.schema import SearchIndex
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyValue
from widerow.rows.record import RecordKind, header_of
from widerow.storage.interface import Reader

if TYPE_CHECKING:
    from widerow.search.index import DocumentIndex
    from widerow.search.segments import Entry

__all__ = ["DifferingRows", "IndexComparison", "compare_indexes"]

_PROGRESS_ROWS: Final = 1000


@dataclass(slots=True)
class DifferingRows:
    """Rows of one kind of difference: how many, and the keys of the first ones."""

    count: int = 0
    keys: list[tuple[KeyValue, ...]] = field(default_factory=list)


@dataclass(slots=True)
class IndexComparison:
    """The result of comparing one index with its table.

    `is_built` False: there are no usable files, and the next start builds the index. `damage`: what
    is wrong with its files, or "". `missing`: rows of the table without a document; `extra`:
    documents without a row; `stale`: rows whose document differs, counted up to the number that is
    named.
    """

    table: str
    index: str
    id: int
    rows: int = 0
    is_built: bool = True
    damage: str = ""
    missing: DifferingRows = field(default_factory=DifferingRows)
    extra: DifferingRows = field(default_factory=DifferingRows)
    stale: DifferingRows = field(default_factory=DifferingRows)

    @property
    def differs(self) -> bool:
        """Whether the index has to be built again."""
        return bool(self.damage or self.missing.count or self.extra.count or self.stale.count)


def compare_indexes(
    parts: IndexParts, progress: Callable[[int], None] = lambda _: None
) -> Iterator[IndexComparison]:
    """Compare every search index of a store with its table, one by one.

    No other process may write meanwhile. Nothing is written. `progress` is told how many rows of
    the table were read, every thousand. Cost: for each index one pass over its table, and one over
    the index for every `SEARCH_COMPARED_ROWS` of them, which is also what stands in memory. Needs
    the libraries of search. Raises `StoreDamaged`.
    """
    for table in parts.tables.all():
        for index in table.search:
            yield _compare(parts, table, index, progress)


def _compare(
    parts: IndexParts, table: Table, index: SearchIndex, progress: Callable[[int], None]
) -> IndexComparison:
    found = IndexComparison(table.qualified, index.name, index.id)
    live = LiveIndex(parts, table, index)
    live.open()
    ends = live.look()
    if not live.is_following:
        found.is_built = False
        return found
    try:
        while live.step(ends):
            pass
        assert live.documents is not None, "it follows"
        found.rows = live.rows
        _Comparing(parts, table, live.documents, found).run(progress)
    except IndexDamaged as error:
        found.damage = str(error)
    return found


@final
class _Comparing:
    """The comparison of one index with its table, both read in the order of keys."""

    def __init__(
        self, parts: IndexParts, table: Table, documents: "DocumentIndex", found: IndexComparison
    ) -> None:
        self._reader = parts.store.snapshot()
        self._alive = live_from(table.options, parts.clock.now_us() // 1000)
        self._table = table
        self._documents = documents
        self._found = found
        self._same: list[Entry] = []
        self._bytes = 0

    def run(self, progress: Callable[[int], None]) -> None:
        """Compare, and note every difference."""
        indexed = self._documents.keys()
        held = next(indexed, None)
        for count, (key, entry, size) in enumerate(self._entries(self._reader), 1):
            while held is not None and held < key:
                self._note(self._found.extra, held)
                held = next(indexed, None)
            if held == key:
                held = next(indexed, None)
                if entry is not None:
                    self._take(entry, size)
            elif entry is not None:
                self._note(self._found.missing, key)
            if count % _PROGRESS_ROWS == 0:
                progress(count)
        while held is not None:
            self._note(self._found.extra, held)
            held = next(indexed, None)
        self._compare_taken()

    def _entries(self, reader: Reader) -> "Iterator[tuple[bytes, Entry | None, int]]":
        """The encoded key of every row, the entry that an index must have for it, its bytes.

        The entry is None where the row has expired cells that the sweep has not removed yet: until
        then the index may still have them.
        """
        from widerow.search.documents import document_of  # noqa: PLC0415  # numpy is imported with the first search index
        from widerow.search.segments import Entry  # noqa: PLC0415  # numpy is imported with the first search index

        prefix = row_prefix(self._table.id)
        for key, record in reader.scan(prefix, after_prefix(prefix)):
            if header_of(record).kind == RecordKind.SEGMENT:
                continue
            row = newest_row(reader, self._table, (key, record), self._alive)
            encoded = key[ROW_PREFIX_BYTES:]
            every = newest_row(reader, self._table, (key, record), INT64_MIN)
            if row is None or row != every:
                yield encoded, None, 0
                continue
            document = document_of(self._documents.fields, row.key, row.columns)
            yield encoded, Entry(encoded, document, row.written_ms), len(record)

    def _take(self, entry: "Entry", size: int) -> None:
        self._same.append(entry)
        self._bytes += size
        if len(self._same) == SEARCH_COMPARED_ROWS or self._bytes >= SEARCH_COMPARED_BYTES:
            self._compare_taken()

    def _compare_taken(self) -> None:
        from widerow.search.comparing import stale_keys  # noqa: PLC0415  # numpy is imported with the first search index

        stale = self._found.stale
        if stale.count < SEARCH_DIFFERENCES_NAMED:
            for key in stale_keys(self._documents.fields, self._documents, self._same):
                self._note(stale, key)
                if stale.count == SEARCH_DIFFERENCES_NAMED:
                    break
        self._same, self._bytes = [], 0

    def _note(self, kind: DifferingRows, key: bytes) -> None:
        kind.count += 1
        if len(kind.keys) < SEARCH_DIFFERENCES_NAMED:
            values, _ = decode_key(key, 0, [column.type for column in self._table.key_columns])
            kind.keys.append(tuple(values))
