"""The operations on search indexes (search §1, §4 to §7), and what keeps the indexes up.

A request first brings the index up to the end of the journal as it is then, so what was answered
before is found. Where an index has to be built, a request builds `SEARCH_BUILD_ROWS_AT_ONCE` rows
at most and is refused if there are more, so that no answer ever lacks rows.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Final, final

from widerow.clock import Clock, Entropy
from widerow.engine.catalog.catalog import Tables
from widerow.engine.catalog.draft import Draft
from widerow.engine.plan import Plan, failing
from widerow.engine.streams.log import LOG_START, LogPosition
from widerow.engine.tablestore.indexes.index_definitions import table_named
from widerow.engine.tablestore.search.answers import AnswerRows, Deadline, answered
from widerow.engine.tablestore.search.backlog import JournalBacklog
from widerow.engine.tablestore.search.host import SearchHost
from widerow.engine.tablestore.search.journal import journal_ends
from widerow.engine.tablestore.search.live import FrozenIndex, IndexParts, LiveIndex
from widerow.engine.tablestore.search.scans import Scans
from widerow.engine.tablestore.search.schema_rules import check_index_names
from widerow.engine.tablestore.search.search_definitions import (
    FOR_EVER,
    PER_CENT,
    brother_of,
    search_index_named,
    with_search_index,
    with_search_update,
    without_search_index,
)
from widerow.engine.tablestore.static import check_table_name
from widerow.errors import Conflict, IndexDamaged, NotFound, StorageFailure
from widerow.limits import (
    JOURNAL_STEP_ROWS,
    SEARCH_BUILD_ROWS_AT_ONCE,
    SEARCH_FOLLOW_ROWS,
    SEARCH_TIMEOUT_MS,
)
from widerow.model.search.requests import (
    ComputeSplits,
    CreateSearchIndex,
    DescribeSearchIndex,
    IndexSplits,
    ParallelScan,
    ScanPage,
    Search,
    SearchAnswer,
    SearchIndexName,
    SearchIndexState,
    SyncPhase,
    UpdateSearchIndex,
)
from widerow.model.search.schema import SearchIndex
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.safepoint import safepoint
from widerow.storage.interface import Reader, Store

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from widerow.search.index import DocumentIndex, SegmentMerge
    from widerow.search.interface import IndexView

_ATTEMPTS: Final = 3  # a build, and another one where the journal lacks unread records

__all__ = ["SearchIndexes"]


@final
class SearchIndexes:
    """The search indexes of one engine. Any thread may call.

    All methods raise `NotFound` for an unknown table or index (search §1.1). `describe`, `search`,
    `compute_splits` and `parallel_scan` may take long: they bring the index up to date first. They
    raise `Conflict` (SEARCH_INDEX_BUILDING) where more has to be built than one request may, and
    `Exhausted` (SEARCH_TIMEOUT) after the deadline of the request.
    """

    def __init__(
        self,
        given: tuple[Store, Clock, Entropy, Callable[[int], bool]],
        tables: Tables[Table],
        rows: AnswerRows,
        backlog: JournalBacklog,
        host: SearchHost,
    ) -> None:
        """Opens no index. `rows` reads the rows of answers; `backlog` counts written rows.

        `given`: the store, the clock, entropy, and `Nodes.settled`.
        """
        store, clock, entropy, settled = given
        self._parts = IndexParts(store, tables, clock, host, backlog, settled)
        self._entropy = entropy
        self._rows = rows
        self._live: dict[int, LiveIndex] = {}
        self._opening: AbstractContextManager[Any] = host.lock()
        self._scans = Scans(clock, entropy, host.lock())

    # --- definitions -------------------------------------------------------------------------

    def create(self, instance: str, request: CreateSearchIndex) -> Plan[None]:
        """CreateSearchIndex (search §1.1). Raises, or its plan does, what is wrong with it.

        Existing rows are indexed by the worker, or by the first search.
        """
        check_index_names(request.table, request.index)
        return self._changing(
            instance,
            request.table,
            lambda table, draft: with_search_index(table, request, self._now_us(), draft.number),
        )

    def update(self, instance: str, request: UpdateSearchIndex) -> Plan[None]:
        """UpdateSearchIndex (search §1.4)."""
        return self._changing(
            instance,
            request.table,
            lambda table, draft: with_search_update(table, request, self._now_us(), draft.number),
        )

    def delete(self, instance: str, request: SearchIndexName) -> Plan[None]:
        """DeleteSearchIndex (search §1.5): its name is free when it is answered."""
        return self._changing(
            instance, request.table, lambda table, _: without_search_index(table, request.index)
        )

    def _changing(self, instance: str, name: str, make: Any) -> Plan[None]:  # noqa: ANN401  # of table and draft
        tables = self._parts.tables
        make(self._table(instance, name), _Trial())  # raise at once what is wrong with it now

        def body(draft: Draft) -> None:
            draft.put(tables.model, make(table_named(draft, instance, name), draft))

        due_us = tables.catalog.due_us(self._now_us())
        return Plan((tables.catalog.change(body, due_us=due_us),), failing)

    def list(self, instance: str, table: str | None) -> tuple[SearchIndexName, ...]:
        """ListSearchIndex: of a table, or of all of them, sorted by table and name."""
        if table is not None:
            check_table_name(table)
            found = [self._table(instance, table)]
        else:
            found = self._parts.tables.owned(instance)
        return tuple(
            [SearchIndexName(each.name, index.name) for each in found for index in each.search]
        )

    def describe(self, instance: str, request: DescribeSearchIndex) -> SearchIndexState:
        """DescribeSearchIndex (search §1.2)."""
        table = self._table(instance, request.table)
        index = search_index_named(table, request.index)
        live = self._live_of(table, index)
        with live.lock:
            following = self._bring_up(live, Deadline(self._parts.clock, SEARCH_TIMEOUT_MS))
            rows, size = live.rows, live.memory_bytes
        now_us = self._now_us()
        brother = brother_of(table, index)
        return SearchIndexState(
            index=index,
            phase=SyncPhase.INCR if following else SyncPhase.FULL,
            synced_ns=(now_us - self._parts.host.lag_us) * 1000,
            rows=rows,
            storage_bytes=size,
            brother="" if brother is None else brother.name,
            include_sync_stat=request.include_sync_stat,
            asked_at_us=now_us,
        )

    # --- answers -----------------------------------------------------------------------------

    def search(self, instance: str, request: Search) -> SearchAnswer:
        """Search (search §4 to §6): finds every write that was answered before the request came.

        Rows are read as GetRow reads them; deleted ones are left out.
        """
        deadline = Deadline.of(self._parts.clock, request.timeout_ms)
        table = self._table(instance, request.table)
        named = search_index_named(table, request.index)
        index = self._chosen(table, named)
        seed = int.from_bytes(self._entropy.token_bytes(4), "big")
        with self._whole(table, index):
            view = self._view(table, index, deadline, deadline.check)
            return answered((view, deadline, seed), self._rows, table, index, request)

    def compute_splits(self, instance: str, request: ComputeSplits) -> IndexSplits:
        """ComputeSplits: a session of parallel scans (search §7)."""
        deadline = Deadline(self._parts.clock, SEARCH_TIMEOUT_MS)
        table = self._table(instance, request.table)
        index = search_index_named(table, request.index)
        with self._whole(table, index):
            return self._scans.begin(index, self._view(table, index, deadline, safepoint))

    def parallel_scan(self, instance: str, request: ParallelScan) -> ScanPage:
        """ParallelScan (search §7)."""
        deadline = Deadline.of(self._parts.clock, request.timeout_ms)
        table = self._table(instance, request.table)
        index = search_index_named(table, request.index)
        with self._whole(table, index):
            keys, token = self._scans.page(
                index, request, lambda: self._view(table, index, deadline, safepoint)
            )
        found = self._rows.read(table, index, keys, request.columns, deadline)
        rows = tuple([each.row for each in found if each is not None])
        return ScanPage(rows, token, self._rows.units_of(rows))

    @contextmanager
    def viewed(
        self, table: Table, index: SearchIndex, check: Callable[[], None]
    ) -> "Iterator[IndexView]":
        """The documents of an index for a statement of SQL, with every write answered before.

        `check` is called between steps of searches on the view, and may raise.
        """
        deadline = Deadline(self._parts.clock, SEARCH_TIMEOUT_MS)
        with self._whole(table, index):
            yield self._view(table, index, deadline, check)

    def begins_soon(self, instance: str, table: str, index: str) -> bool:
        """Whether an index that is being built only waits for other servers to begin."""
        found = self._table(instance, table)
        live = self._live_of(found, search_index_named(found, index))
        return live.waits_to_begin

    def _chosen(self, table: Table, index: SearchIndex) -> SearchIndex:
        """The index that answers a search of this one, by their weights (search §1.4)."""
        if not index.weights:
            return index
        drawn = int.from_bytes(self._entropy.token_bytes(4), "big") % PER_CENT
        for weight in index.weights:
            drawn -= weight.weight
            if drawn < 0:
                return search_index_named(table, weight.index)
        return index

    def _view(
        self, table: Table, index: SearchIndex, deadline: Deadline, check: Callable[[], None]
    ) -> "IndexView":
        """The documents of an index, with every write answered before this call.

        `check` is called between steps of searches on the view.
        """
        live = self._live_of(table, index)
        with live.lock:
            if not self._bring_up(live, deadline):
                raise Conflict(
                    TablestoreRule.SEARCH_INDEX_BUILDING, index=index.name, rows=live.rows
                )
            self._parts.backlog.ask(index.id)
            return live.view(self._written_from_ms(index), check)

    @contextmanager
    def _whole(self, table: Table, index: SearchIndex) -> Iterator[None]:
        """Build an index again if its files turn out to be damaged inside the context.

        The request gets `Conflict` (SEARCH_INDEX_BUILDING) then.
        """
        try:
            yield
        except IndexDamaged as error:
            live = self._live_of(table, index)
            with live.lock:
                live.build_again(error)
            raise Conflict(
                TablestoreRule.SEARCH_INDEX_BUILDING, index=index.name, rows=0
            ) from error

    def _written_from_ms(self, index: SearchIndex) -> int | None:
        """The time of the oldest rows shown (search §1.5); None: all rows are."""
        if index.time_to_live == FOR_EVER:
            return None
        return self._now_us() // 1000 - index.time_to_live * 1000

    def _bring_up(self, live: LiveIndex, deadline: Deadline) -> bool:
        """Build a small index, and take every change up to now; False: there is more to build.

        The caller holds the lock. Raises `Exhausted` (SEARCH_TIMEOUT).
        """
        live.open()
        for _ in range(_ATTEMPTS):
            if not self._build(live, deadline):
                return False
            noted = self._parts.backlog.noted(live.index.id)
            # Read intents before the log's end: one that disappears in between is already in the
            # log.
            waiting = live.waiting()
            ends = live.look()
            if not live.is_following:
                continue  # the journal lacks unread records: the index is built again
            while live.step(ends):
                deadline.check()
            live.take(waiting)
            self._taken(live, noted)
            return True
        return False

    def _build(self, live: LiveIndex, deadline: Deadline) -> bool:
        """Build as many rows as a request may; whether the index is built by now."""
        begun = live.rows
        while not live.is_following and live.rows - begun < SEARCH_BUILD_ROWS_AT_ONCE:
            if not live.build_step():
                break
            deadline.check()
        return live.is_following

    def _taken(self, live: LiveIndex, noted: int) -> None:
        """Note that an index has taken all rows written before its count was `noted`."""
        if noted:
            self._parts.backlog.take(live.index.id, noted)
        else:
            self._parts.backlog.follow(live.index.id)

    # --- indexes in memory -------------------------------------------------------------------

    def _live_of(self, table: Table, index: SearchIndex) -> LiveIndex:
        live = self._live.get(index.id)
        if live is None:
            with self._opening:
                live = self._live.get(index.id)
                if live is None:
                    live = self._live[index.id] = LiveIndex(self._parts, table, index)
        return live

    def work(self, turn: "AbstractContextManager[object] | None" = None) -> bool:
        """One step of opening, building or following for every index; whether more is to be done.

        For one caller at a time, who holds `turn` for each index. Opens indexes, builds them, and
        takes what was written. What fails of one index is raised when all have had their turn.
        """
        more = False
        known = set()
        troubles: list[Exception] = []
        for table in self._parts.tables.all():
            for index in table.search:
                known.add(index.id)
                with turn or nullcontext(), _noted(troubles):
                    more |= self._work_at(self._live_of(table, index))
        for gone in self._live.keys() - known:
            self._live.pop(gone)
            self._parts.backlog.leave(gone)
        _raise_first(troubles)
        return more

    def _work_at(self, live: LiveIndex) -> bool:
        """A little for one index; nothing where somebody has it in hand, who brings it up then."""
        if not live.lock.acquire(blocking=False):
            return False
        try:
            live.open()
            if not live.is_following:
                return live.build_step() or live.is_following
            return self._follow_a_little(live)
        except NotFound:
            return False  # dropped meanwhile
        except IndexDamaged as error:
            live.build_again(error)
            return True
        finally:
            live.lock.release()

    def _follow_a_little(self, live: LiveIndex) -> bool:
        """Take the next rows up to the journal's end as it was seen, then up to its next end.

        The journal grows while it is read: so a fixed end tells what was taken.
        """
        noted, ends = self._parts.backlog.noted(live.index.id), live.look()
        if not live.is_following:
            return True
        if live.goal is None:
            live.goal = noted, ends
        noted, ends = live.goal
        more = live.step(ends, SEARCH_FOLLOW_ROWS if live.is_searched else JOURNAL_STEP_ROWS)
        if live.is_at(ends):
            self._taken(live, noted)
            live.goal = None
        return more

    def merge(self) -> bool:
        """Merge segments of indexes that are worth it; whether any were.

        For one caller at a time, the one of `write_down`; may take seconds. A search of the same
        index waits for milliseconds only.
        """
        return self._merge_due(LiveIndex.due_merge)

    def gather(self) -> None:
        """Merge small segments, of which searches beside writers leave many.

        For one caller at a time, the one of `work`, without a turn: a merge pauses for others.
        """
        while self._merge_due(LiveIndex.due_gathering):
            pass

    def _merge_due(self, due_of: "Callable[[LiveIndex], SegmentMerge | None]") -> bool:
        """For each index in its turn. What fails of one is raised when all have had theirs."""
        merged = False
        troubles: list[Exception] = []
        for live in list(self._live.values()):
            if not live.lock.acquire(blocking=False):
                continue  # who has it in hand may take long
            try:
                due = due_of(live)
            finally:
                live.lock.release()
            if due is not None:
                with _noted(troubles):
                    self._merge(live, due)
                    merged = True
        _raise_first(troubles)
        return merged

    def _merge(self, live: LiveIndex, due: "SegmentMerge") -> None:
        try:
            merged = due.run()
        except IndexDamaged as error:
            with live.lock:
                live.build_again(error)
            return
        with live.lock:
            live.install(merged)

    def write_down(self, *, all_of_them: bool = False) -> None:
        """Write the files of indexes whose checkpoint is due, or of all that took any change.

        A failure is told to the host, and tried again later. Files of dropped indexes are removed.
        For one caller at a time, the one of `merge`; a search of the same index waits for
        milliseconds only.
        """
        troubles: list[Exception] = []
        for live in list(self._live.values()):
            with _noted(troubles):
                if not live.lock.acquire(blocking=all_of_them):
                    continue  # who has it in hand may take long
                try:
                    frozen = live.freeze() if all_of_them or live.checkpoint_is_due() else None
                finally:
                    live.lock.release()
                if frozen is not None:
                    self._write(live, frozen)
        known = {each.id for table in self._parts.tables.all() for each in table.search}
        for index_id in self._parts.host.kept():
            if index_id not in known:
                self._parts.host.forget(index_id)
        _raise_first(troubles)

    @staticmethod
    def _write(live: LiveIndex, frozen: FrozenIndex) -> None:
        try:
            frozen.write()
        except StorageFailure as error:
            with live.lock:
                live.not_written(error)
            return
        with live.lock:
            live.adopt(frozen)

    def covered(self, table: Table) -> Mapping[int, LogPosition]:
        """The position from which on this process needs each shard of a table's journal.

        Empty where other processes may have indexes of their own, and as long as an index is not
        opened or has no files yet: records of the journal are then removed by age alone.
        """
        if self._parts.store.capabilities.shared or not table.search:
            return {}
        lowest: dict[int, LogPosition] | None = None
        for index in table.search:
            live = self._live.get(index.id)
            needed = None if live is None else live.needed()
            if needed is None or table.journal is None or needed.journal != table.journal.number:
                return {}
            if lowest is None:
                lowest = dict(needed.following)
            else:
                lowest = {
                    number: min(position, needed.following.get(number, LOG_START))
                    for number, position in lowest.items()
                }
        return lowest or {}

    # --- an instance that is copied and put back -------------------------------------------------

    def copied(self, table: Table, reader: Reader) -> "dict[int, DocumentIndex]":
        """Copies of the documents of a table's indexes, by index number, at the moment of `reader`.

        Without indexes that are being built, and indexes that have taken later writes. Raises
        `Exhausted` (SEARCH_TIMEOUT).
        """
        found: dict[int, DocumentIndex] = {}
        for index in table.search:
            assert table.journal is not None, "a table with search indexes has a journal"
            live = self._live_of(table, index)
            with live.lock:
                self._bring_up(live, Deadline(self._parts.clock, SEARCH_TIMEOUT_MS))
                documents = live.copied_at(journal_ends(reader, table, table.journal))
            if documents is not None:
                found[index.id] = documents
        return found

    def take_over(self, table_id: int, documents: "Mapping[int, DocumentIndex]") -> None:
        """Give new indexes of a table, by their numbers, the documents of its rows.

        The documents are of the rows that the table had when its journal began. Indexes dropped
        meanwhile are skipped.
        """
        table = self._parts.tables.by_id(table_id)
        for index in () if table is None else table.search:
            if table is not None and index.id in documents:
                live = self._live_of(table, index)
                with live.lock, suppress(NotFound):
                    live.take_over(documents[index.id])

    # --- what is told ------------------------------------------------------------------------

    def statistics(self) -> dict[tuple[str, str], dict[str, int]]:
        """Numbers of each index in memory, by table and index name.

        Rows, bytes of memory, rows that wait, and 1 where it is being built.
        """
        told: dict[tuple[str, str], dict[str, int]] = {}
        for table in self._parts.tables.all():
            for index in table.search:
                live = self._live.get(index.id)
                if live is not None:
                    told[table.qualified, index.name] = {
                        "rows": live.rows,
                        "memory_bytes": live.memory_bytes,
                        "waiting": self._parts.backlog.waiting(index.id),
                        "building": int(not live.is_following),
                    }
        return told

    # --- small parts -------------------------------------------------------------------------

    def _table(self, instance: str, name: str) -> Table:
        """The table of that name. Raises `NotFound` (SEARCH_TABLE_NOT_FOUND)."""
        table = self._parts.tables.get(instance, name)
        if table is None:
            raise NotFound(TablestoreRule.SEARCH_TABLE_NOT_FOUND, instance=instance, table=name)
        return table

    def _now_us(self) -> int:
        return self._parts.clock.now_us()


@contextmanager
def _noted(troubles: list[Exception]) -> Iterator[None]:
    """Note what is raised, so that what comes behind has its turn."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  # whatever it is, it is of one index
        troubles.append(error)


def _raise_first(troubles: list[Exception]) -> None:
    if troubles:
        raise troubles[0]


class _Trial:
    """The draft of a change that is only tried."""

    def number(self) -> int:
        """A number that is never stored."""
        return 0
