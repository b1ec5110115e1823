"""One search index in memory: opened, built, kept up with its table, written down (search §11.5).

    FOLLOWING   every row that was there when the build began, and every change up to a position
    BUILDING    some of the rows; the position is that of the journal when the build began

An index is opened from its files if they are of this index and the journal still has everything
behind their positions; otherwise it is built over the rows of the table. The table is the truth:
nothing that is lost, damaged or of another store does more than let it be built again.

Everything here is for one caller at a time (`lock`) and holds it for milliseconds. What takes
longer, merging segments and writing files, is begun and adopted with the lock, and done without.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple, final

from widerow.clock import Clock
from widerow.engine.catalog.catalog import Tables
from widerow.engine.tablestore.expiry import live_from
from widerow.engine.tablestore.newest import NewestRow, newest_row, rows_of
from widerow.engine.tablestore.search.backlog import JournalBacklog
from widerow.engine.tablestore.search.host import SearchHost
from widerow.engine.tablestore.search.journal import (
    JournalEnds,
    JournalPositions,
    journal_ends,
    rows_waiting,
)
from widerow.engine.tablestore.search_record import encode_search_index
from widerow.errors import IndexDamaged, NotFound, StorageFailure, StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES, row_prefix
from widerow.limits import (
    INT64_MAX,
    JOURNAL_STEP_BYTES,
    JOURNAL_STEP_ROWS,
    SEARCH_CHECKPOINT_CHANGES,
    SEARCH_CHECKPOINT_SECONDS,
    SEARCH_RETRY_SECONDS,
)
from widerow.model.search.schema import SearchIndex
from widerow.model.streams import Stream
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.rows.record import RecordKind, header_of
from widerow.safepoint import safepoint
from widerow.storage.interface import Reader, Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from widerow.search.checkpoints import Checkpoint
    from widerow.search.fields import SearchFields
    from widerow.search.index import DocumentChange, DocumentIndex, Merged, SegmentMerge
    from widerow.search.interface import IndexFiles, IndexView

__all__ = ["FrozenIndex", "IndexParts", "LiveIndex"]

_FORMAT: Final = 1
_SECOND_NS: Final = 1_000_000_000
_LET_THROUGH: Final = 16  # rows converted between two safepoints


class IndexParts(NamedTuple):
    """What all indexes of one engine share. `settled`: `Nodes.settled`."""

    store: Store
    tables: Tables[Table]
    clock: Clock
    host: SearchHost
    backlog: JournalBacklog
    settled: "Callable[[int], bool]"


class FrozenIndex(NamedTuple):
    """An index at one moment, to be written into files; `write` needs no lock and may take seconds.

    `positions`: the journal's up to this moment; `changes`: rows taken since the last checkpoint.
    """

    rows: "DocumentIndex"
    checkpoint: "Checkpoint"
    files: "IndexFiles"
    positions: JournalPositions
    changes: int

    def write(self) -> None:
        """Write the files, one moment of an index at a time. Raises `StorageFailure`."""
        self.checkpoint.write(self.files)


@final
class LiveIndex:
    """One index. `index`: its definition when it was made; only `name` and lifetime change later.

    `covered`: the journal's positions that its files have; None without valid files. `goal`: the
    ends of the journal that the worker is reading up to, and `JournalBacklog.noted` before them.
    """

    def __init__(self, parts: IndexParts, table: Table, index: SearchIndex) -> None:
        """An index that reads nothing until `open`."""
        self.lock = parts.host.lock()
        self.index = index
        self.covered: JournalPositions | None = None
        self.goal: tuple[int, JournalEnds] | None = None
        self._parts = parts
        self._table_id = table.id
        self._deferred = not parts.store.capabilities.atomic_across_shards
        self._rows: DocumentIndex | None = None
        self._convert: Callable[[bytes, NewestRow | None], DocumentChange] | None = None
        self._files = parts.host.files(index.id)
        self._positions: JournalPositions | None = None
        self._building = False
        self._cursor = b""
        self._changes = 0  # since the last checkpoint
        self._written_ns = 0  # when the last checkpoint ended, or failed
        self._failed = False

    # --- what it is now ----------------------------------------------------------------------

    @property
    def waits_to_begin(self) -> bool:
        """Whether it is to be built as soon as other servers have told that they know of it."""
        return self._building and self._positions is None

    @property
    def is_following(self) -> bool:
        """Whether the index has every row up to its positions."""
        return self._rows is not None and not self._building

    @property
    def rows(self) -> int:
        """How many rows have documents."""
        return 0 if self._rows is None else self._rows.rows

    @property
    def is_searched(self) -> bool:
        """Whether searches come while rows are written, and so have to wait for steps."""
        return self._rows is not None and self._rows.is_searched

    @property
    def documents(self) -> "DocumentIndex | None":
        """The documents, to look through them all; None before `open`."""
        return self._rows

    @property
    def memory_bytes(self) -> int:
        """About how many bytes of memory the index takes."""
        return 0 if self._rows is None else self._rows.memory_bytes

    def view(self, written_from_ms: int | None, check: "Callable[[], None]") -> "IndexView":
        """The documents as they are now, without rows written before `written_from_ms`.

        `check` is called between steps of a search on the view, and may raise to end it.
        """
        assert self._rows is not None, "opened"
        return self._rows.view(written_from_ms=written_from_ms, check=check)

    def due_merge(self) -> "SegmentMerge | None":
        """Segments that are worth a merge, which may be run without the lock."""
        return None if self._rows is None else self._rows.due_merge()

    def due_gathering(self) -> "SegmentMerge | None":
        """Small segments that are worth a merge of milliseconds, to be run without the lock."""
        return None if self._rows is None else self._rows.due_gathering()

    def install(self, merged: "Merged") -> None:
        """Replace merged segments by `merged`, if they are still there."""
        if self._rows is not None:
            self._rows.install(merged)

    def needed(self) -> JournalPositions | None:
        """The positions that the index would need the journal from if the process ended now.

        None: it needs no journal, because without files it is built anew.
        """
        return self.covered if self._files is not None else self._positions

    # --- opening and building ----------------------------------------------------------------

    def _table(self) -> tuple[Table, Stream]:
        """The newest definition of the table, and its journal. Raises `NotFound`."""
        table = self._parts.tables.by_id(self._table_id)
        if table is not None and table.journal is not None:
            for each in table.search:
                if each.id == self.index.id:
                    return table, table.journal
        raise NotFound(TablestoreRule.SEARCH_INDEX_NOT_FOUND, index=self.index.name)

    def open(self) -> None:
        """Load the files, or begin to build. Does nothing if the index is open."""
        if self._rows is not None:
            return
        table, log = self._table()
        self._load(table, log)
        if self._rows is None:
            self._begin()

    def _load(self, table: Table, log: Stream) -> None:
        """Load the files, if they are of this index and the journal has every change since."""
        from widerow.search.index import DocumentIndex  # noqa: PLC0415  # numpy is imported with the first search index

        if self._files is None:
            return
        fields = self._fields()
        found = DocumentIndex.open(fields, self._files)
        if found is None:
            if self._files.names():
                self._tell("search index is built again", reason="its files cannot be used")
            return
        rows, state = found
        try:
            positions = _positions_of(state, self._identity())
        except StoreDamaged as error:
            self._tell("search index is built again", reason=str(error))
            return
        if not positions.reach(journal_ends(self._parts.store.snapshot(), table, log)):
            self._tell("search index is built again", reason="the journal does not reach back")
            return
        self._use(rows, fields)
        self._positions = self.covered = positions
        self._written_ns = self._parts.clock.monotonic_ns()

    def build_again(self, damage: IndexDamaged) -> None:
        """Discard damaged files, and begin to build from the first row on.

        Does nothing while the index is being built: another request has met the damage before.
        """
        if self._building:
            return
        self._tell("search index is built again", reason=str(damage))
        self._begin()

    def _begin(self) -> None:
        """Begin to build from the first row on."""
        from widerow.search.index import DocumentIndex  # noqa: PLC0415  # numpy is imported with the first search index

        fields = self._fields()
        self._use(DocumentIndex(fields), fields)
        self._building, self._positions, self.covered, self.goal = True, None, None, None
        self._cursor = b""
        self._parts.backlog.leave(self.index.id)

    # --- documents of another one ------------------------------------------------------------

    def copied_at(self, ends: JournalEnds) -> "DocumentIndex | None":
        """A copy of the documents, if they are exactly of the moment `ends`; None else."""
        if self._rows is None or self._building or self._positions is None:
            return None
        return self._rows.copy() if self._positions.are(ends) else None

    def take_over(self, rows: "DocumentIndex") -> None:
        """Take the documents of `rows`: what the table had when its journal began.

        Raises `NotFound` where the index was dropped. Does nothing if the index is built already.
        """
        if self.is_following:
            return
        _, log = self._table()
        self._use(rows.copy(), rows.fields)
        self._building, self._positions = False, JournalPositions.before_all(log)
        self._changes = rows.rows

    def _fields(self) -> "SearchFields":
        from widerow.search.fields import SearchFields  # noqa: PLC0415  # numpy is imported with the first search index

        return SearchFields(self.index.schema)

    def _use(self, rows: "DocumentIndex", fields: "SearchFields") -> None:
        from widerow.search.documents import document_of  # noqa: PLC0415  # numpy is imported with the first search index
        from widerow.search.index import DocumentChange  # noqa: PLC0415  # numpy is imported with the first search index

        def convert(key: bytes, row: NewestRow | None) -> DocumentChange:
            if row is None:
                return DocumentChange(key, None, 0)
            return DocumentChange(key, document_of(fields, row.key, row.columns), row.written_ms)

        self._rows, self._convert = rows, convert

    def build_step(self) -> bool:
        """Index the next rows; whether more are left. False also before the build may begin.

        A build begins when every write has ended that was planned before the journal began, and so
        is not in it (`Nodes.settled`).
        """
        if self._rows is None or not self._building:
            return False
        table, log = self._table()
        if self._positions is None:
            if not self._parts.settled(log.enabled_at_us):
                return False
            ends = journal_ends(self._parts.store.snapshot(), table, log)
            self._positions = JournalPositions.at(ends)
        reader = self._parts.store.snapshot()
        changes, following = self._next_rows(reader, table)
        self._rows.apply(changes)
        self._changes += len(changes)
        if following is not None:
            self._cursor = following
            return True
        self._building = False
        self._tell("search index is built", rows=self._rows.rows)
        return False

    def _next_rows(
        self, reader: Reader, table: Table
    ) -> "tuple[list[DocumentChange], bytes | None]":
        """The documents of the next rows, and where the next step begins; None: at the end."""
        prefix = row_prefix(table.id)
        assert self._convert is not None, "opened"
        changes: list[DocumentChange] = []
        size = 0
        alive = self._live_from(table)
        scanned = reader.scan(max(prefix, self._cursor), after_prefix(prefix))
        for count, (key, record) in enumerate(scanned):
            if len(changes) == JOURNAL_STEP_ROWS or size >= JOURNAL_STEP_BYTES:
                return changes, key
            if count % _LET_THROUGH == 0:
                safepoint()
            size += len(record)
            if header_of(record).kind == RecordKind.SEGMENT:
                continue
            row = newest_row(reader, table, (key, record), alive)
            if row is not None:
                changes.append(self._convert(key[ROW_PREFIX_BYTES:], row))
        return changes, None

    # --- keeping up --------------------------------------------------------------------------

    def look(self) -> JournalEnds:
        """The journal's ends now; begin to build again where it lacks unread records."""
        table, log = self._table()
        ends = journal_ends(self._parts.store.snapshot(), table, log)
        if self.is_following and (self._positions is None or not self._positions.reach(ends)):
            self._tell("search index is built again", reason="the journal does not reach back")
            self._begin()
        return ends

    def waiting(self) -> list[bytes]:
        """Keys of rows whose changes wait outside the journal. To be called before `look`."""
        if not self._deferred:
            return []
        table, log = self._table()
        return rows_waiting(self._parts.store.snapshot(), table, log, self._until_us())

    def step(self, ends: JournalEnds, rows: int = JOURNAL_STEP_ROWS) -> bool:
        """Take the next changes up to `ends`, at most `rows` rows; whether there may be more."""
        if not self.is_following or self._positions is None:
            return False
        table, _ = self._table()
        reader = self._parts.store.snapshot()
        found = self._positions.read(reader, table, ends, self._until_us(), rows)
        self.take(found.keys)
        self._positions = found.following
        return bool(found.keys)

    def take(self, keys: Sequence[bytes]) -> None:
        """Index rows as they are now. To be called after the records that name them were read."""
        if not keys or self._rows is None or self._convert is None:
            return
        table, _ = self._table()
        reader = self._parts.store.snapshot()
        alive = self._live_from(table)
        changes = [self._convert(key, row) for key, row in rows_of(reader, table, keys, alive)]
        self._rows.apply(changes)
        self._changes += len(changes)

    def is_at(self, ends: JournalEnds) -> bool:
        """Whether every change up to `ends` was taken."""
        return self._positions is not None and self._positions.is_at(ends)

    def _until_us(self) -> int:
        """The time of the latest change that may be found."""
        lag = self._parts.host.lag_us
        return self._parts.clock.now_us() - lag if lag else INT64_MAX - 1

    def _live_from(self, table: Table) -> int:
        return live_from(table.options, self._parts.clock.now_us() // 1000)

    # --- files -------------------------------------------------------------------------------

    def checkpoint_is_due(self) -> bool:
        """Whether the last checkpoint is long ago, or many changes since it."""
        if self._files is None or not self.is_following or not self._changes:
            return False
        since_ns = self._parts.clock.monotonic_ns() - self._written_ns
        if self._failed:
            return since_ns >= SEARCH_RETRY_SECONDS * _SECOND_NS
        return (
            self._changes >= SEARCH_CHECKPOINT_CHANGES
            or self.covered is None
            or since_ns >= SEARCH_CHECKPOINT_SECONDS * _SECOND_NS
        )

    def freeze(self) -> "FrozenIndex | None":
        """The state for a checkpoint; None where none is needed, or the index is being built."""
        positions, rows, files = self._positions, self._rows, self._files
        if files is None or rows is None or positions is None or self._building:
            return None
        if not self._changes and self.covered is not None:
            return None
        state = {"format": _FORMAT, "identity": self._identity(), **positions.document()}
        self._written_ns = self._parts.clock.monotonic_ns()
        frozen = rows.freeze(json.dumps(state).encode())
        return FrozenIndex(rows, frozen, files, positions, self._changes)

    def adopt(self, frozen: "FrozenIndex") -> None:
        """Use the files that were written, unless the index was begun anew meanwhile."""
        if self._rows is not frozen.rows:
            return
        frozen.rows.adopt(frozen.checkpoint)
        self._written_ns = self._parts.clock.monotonic_ns()
        self._failed = False
        self._changes -= frozen.changes
        self.covered = frozen.positions

    def not_written(self, reason: StorageFailure) -> None:
        """Log that files could not be written; the next attempt comes later."""
        self._written_ns = self._parts.clock.monotonic_ns()
        self._failed = True
        self._tell("search index is not written down", reason=str(reason))

    def _identity(self) -> str:
        """A text that only the files of this index of this store have."""
        made = encode_search_index(self.index)
        known = [self._table_id, made["id"], made["created_us"], made["schema"]]
        return sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()

    def _tell(self, event: str, **facts: object) -> None:
        table = self._parts.tables.by_id(self._table_id)
        name = "" if table is None else table.qualified
        self._parts.host.tell(event, {"table": name, "index": self.index.name, **facts})


def _positions_of(state: bytes, identity: str) -> JournalPositions:
    """The positions in the state of files. Raises `StoreDamaged` for those of another index."""
    try:
        document = json.loads(state)
        found = document["format"], document["identity"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise StoreDamaged("the state of its files is not readable") from error
    if found != (_FORMAT, identity):
        raise StoreDamaged("its files are of another index")
    return JournalPositions.read_document(document)
