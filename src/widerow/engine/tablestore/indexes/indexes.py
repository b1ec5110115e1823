"""Creating, reading and dropping secondary indexes (change §A1, §A6, §A7)."""

from collections.abc import Callable, Sequence
from typing import Any, final

from widerow.clock import Clock
from widerow.engine.catalog.catalog import Tables
from widerow.engine.catalog.draft import Draft
from widerow.engine.index_builds import IndexBuild, IndexBuilds, Unready
from widerow.engine.intents import IntentQueue
from widerow.engine.lag import Lag
from widerow.engine.lease import Lease
from widerow.engine.plan import Plan, failing, single
from widerow.engine.tablestore.indexes.applier import IntentApplier
from widerow.engine.tablestore.indexes.builds import TablestoreBuilds
from widerow.engine.tablestore.indexes.index_definitions import (
    add_index,
    check_definition,
    check_room,
    drop_table,
    remove_index,
    replace_table,
    table_named,
)
from widerow.engine.tablestore.indexes.keeper import SecondaryIndexKeeper
from widerow.engine.tablestore.indexes.local import LocalIndexReader
from widerow.engine.tablestore.static import check_table_name
from widerow.errors import Conflict, InvalidRequest, NotFound, Replan
from widerow.model.tablestore.requests import CreateIndex, DropIndex, IndexDefinition
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import SecondaryIndex, Table
from widerow.storage.interface import Outcome, Reader, Store, Write

__all__ = ["Indexes", "TableChange"]

TableChange = Callable[[Table, Draft], Table]


@final
class Indexes:
    """The secondary indexes of one engine. `observer`: what keeps them true. Any thread may call.

    Entries of global indexes come with their rows where the store's transactions reach them, else
    by `step`. `keeps_indexed_tables`: a table is not deleted while it has indexes.
    """

    def __init__(
        self,
        store: Store,
        tables: Tables[Table],
        clock: Clock,
        queue: IntentQueue,
        tables_per_instance: int,
        settled: Callable[[int], bool],
        lease: Lease,
    ) -> None:
        """The indexes of `tables`. `queue`: where intents are left. `settled`: as `Nodes` tells.

        `lease`: of whoever works off the intents.
        """
        deferred = not store.capabilities.atomic_across_shards
        self.keeps_indexed_tables = False
        self.observer = SecondaryIndexKeeper(
            queue, store.capabilities.key_bytes_max, deferred=deferred
        )
        self._tables = tables
        self._clock = clock
        self._quota = tables_per_instance
        self._source = TablestoreBuilds(store, tables, clock, self.observer, settled)
        self._deferred = deferred
        self.builds = IndexBuilds(self._source)
        self.intents = IntentApplier(store, tables, clock, self.observer, lease)

    def hold_back(self, seconds: float) -> None:
        """Let global indexes follow their tables so much later, and builds begin so much later.

        To find programs that rely on more than the service promises. Before the first write.
        """
        if seconds > 0:
            self.observer.deferred = True
            self.intents.lag_us = self._source.lag_us = int(seconds * 1_000_000)

    # --- definitions -------------------------------------------------------------------------

    def create(self, instance: str, request: CreateIndex) -> Plan[None]:
        """CreateIndex: later writes keep the index; a small table is indexed when it is answered.

        Of a larger one, or with a lag, housekeeping builds the index. Raises, or its plan does,
        what is wrong with the index (change §A2).
        """
        check_definition(request.index)
        check_table_name(request.table)
        self._tables.find(instance, request.table)
        build = request.include_base_data
        now_us = self._clock.now_us()

        def make(draft: Draft) -> Table:
            table = table_named(draft, instance, request.table)
            check_room(draft, table, request.index, self._quota)
            after = add_index(draft, table, request.index, now_us, build=build, complete=build)
            return draft.put(self._tables.model, after)

        def created(outcomes: Sequence[Outcome[Table]]) -> None:
            table = single(outcomes)
            if self._deferred or not build:  # where it may not begin yet, that needs a read
                return
            number = self._source.index_id(table, name)
            if self._source.is_due(table, Unready(number, name, table.qualified)):
                raise Replan

        def go_on(outcomes: Sequence[Outcome[Table]]) -> Plan[None]:
            return self._build(IndexBuild(self._source, single(outcomes), name))

        name = request.index.name
        return Plan((self._tables.catalog.change(make),), created, again=go_on)

    def _build(self, build: IndexBuild[Table]) -> Plan[None]:
        """The only step of the build of a small table, and then its end."""
        plan = build.step()

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            try:
                ready = plan.finish(outcomes)
            except NotFound:
                return  # dropped meanwhile
            if not ready and build.is_through:
                raise Replan

        return Plan(plan.writes, finish, again=lambda _: self._build(build))

    def create_with(self, draft: Draft, table: Table, indexes: Sequence[IndexDefinition]) -> Table:
        """Put a new table with its indexes, which answer at once: there are no rows yet."""
        draft.put(self._tables.model, table)
        for asked in indexes:
            check_room(draft, table, asked, self._quota)
            table = add_index(draft, table, asked, table.created_us, build=False, complete=True)
        return draft.put(self._tables.model, table)

    def drop(self, instance: str, request: DropIndex) -> Plan[None]:
        """DropIndex: the name is free when it is answered. Raises `NotFound`, or its plan does."""
        check_table_name(request.table)
        self._tables.find(instance, request.table)

        def make(draft: Draft) -> None:
            remove_index(draft, table_named(draft, instance, request.table), request.name)

        due_us = self._tables.catalog.due_us(self._clock.now_us())
        return Plan((self._tables.catalog.change(make, due_us=due_us),), failing)

    def changing(self, instance: str, name: str, make: TableChange) -> Write[Table]:
        """The write that puts what `make` makes of a table, whose indexes follow its options.

        Its body raises `NotFound`, what `make` raises, and `InvalidRequest` for the name of an
        index, and for options that a table with indexes cannot have.
        """

        def body(draft: Draft) -> Table:
            before = table_named(draft, instance, name)
            return replace_table(draft, before, make(before, draft))

        return self._tables.catalog.change(body)

    def dropping(self, table: Table, due_us: int) -> Write[None]:
        """The write that removes a table with its indexes (change §A7).

        Raises `InvalidRequest` for an index; its body `NotFound`, and `InvalidRequest` for a table
        with indexes where those are kept.
        """
        if table.index_of:
            raise InvalidRequest(TablestoreRule.INDEX_IS_NO_TABLE, table=table.name)

        def make(draft: Draft) -> None:
            drop_table(draft, table, keep_indexed=self.keeps_indexed_tables)

        return self._tables.catalog.change(make, due_us=due_us)

    def lags(self) -> list[Lag]:
        """How far global indexes are behind their tables, as far as this process knows."""
        return self.intents.lags()

    # --- reading -----------------------------------------------------------------------------

    def reading(self, index: Table, reader: Reader) -> Reader:
        """What shows the entries of an index as the rows of a table.

        Raises `Conflict` while the index is being built, `NotFound` if it was dropped.
        """
        if not self.definition(index).ready:
            local = index.local_index
            rule = (
                TablestoreRule.INDEX_BUILDING_LOCAL
                if local
                else TablestoreRule.INDEX_BUILDING_GLOBAL
            )
            raise Conflict(rule, table=index.name)
        return LocalIndexReader(reader, index) if index.local_index else reader

    def table_of(self, index: Table) -> Table:
        """The table of an index. Raises `NotFound` if it was dropped."""
        found = self._tables.by_id(index.index_of)
        if found is None:
            raise self._tables.model.gone(index)
        return found

    def definition(self, index: Table) -> SecondaryIndex:
        """An index as its table defines it. Raises `NotFound` if it was dropped."""
        for each in self.table_of(index).indexes:
            if each.id == index.id:
                return each
        raise self._tables.model.gone(index)

    def document(self, instance: str, name: str) -> dict[str, Any]:
        """The indexes of a table, for people and programs (`widerow indexes`). Raises `NotFound`.

        `rows_built`: rows that a build has covered here. `waiting`: changes that global indexes
        have still to hear of; `lag_seconds`: how old the oldest of them is that the index has to
        hear of. At most a thousand are counted.
        """
        check_table_name(name)
        table = self._tables.find(instance, name)
        if table.index_of:
            raise InvalidRequest(TablestoreRule.INDEX_IS_NO_TABLE, table=name)
        waiting, ages = self.intents.waiting(table)
        shown = [
            {
                "name": index.name,
                "type": "local" if index.is_local else "global",
                "key_columns": list(index.key_columns),
                "defined_columns": list(index.defined_columns),
                "phase": "incremental" if index.ready else "full",
                "complete": index.complete,
                "rows_built": self.builds.rows_of(index.id),
                "lag_seconds": round(ages.get(index.id, 0.0), 3),
            }
            for index in table.indexes
        ]
        return {"name": name, "indexes": shown, "waiting": waiting}
