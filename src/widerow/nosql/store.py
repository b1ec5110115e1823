"""An open store of typed tables, in this process (docs/guide/nosql.md)."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from widerow.clock import Clock, Entropy
from widerow.commit.committer import Committer, Uncounted
from widerow.engine.engine import Engine
from widerow.engine.in_order import in_order
from widerow.engine.partitions.rules import Thresholds
from widerow.engine.plan import Plan, concluded, failing
from widerow.engine.settings import EngineSettings
from widerow.engine.sweep.sweep import Reclaimed
from widerow.engine.table_models import TABLE_MODELS
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.plans import plan_write, read_plans
from widerow.engine.typed.plug import TYPED
from widerow.engine.typed.schema_changes import SchemaChanges
from widerow.engine.typed.write import WriteResult
from widerow.errors import InvalidRequest, StoreLocked, WiderowError
from widerow.housekeeping.routines import balancing, chores, keep_house, write_down
from widerow.limits import GROUP_BYTES_MAX
from widerow.model.typed.plans import TablePlan
from widerow.model.typed.table import Index, TypedTable
from widerow.nosql.operation import Operation, Target
from widerow.nosql.table import TableHandle
from widerow.storage.interface import Outcome
from widerow.storage.interface import Store as Bytes
from widerow.storage.opener import open_store
from widerow.system import SystemClock, SystemEntropy

if TYPE_CHECKING:
    from widerow.engine.typed.ddl import StatementResult

__all__ = ["TypedStore", "open"]

T = TypeVar("T")

_LOOK_SECONDS: Final = 0.2  # between two looks whether other servers know of an index
BATCH_ROWS: Final = 1024  # of `write_many`: rows that share one sync; more gains nothing measurable


def open(  # noqa: A001  # read as nosql.open
    where: str | Path,
    *,
    clock: Clock | None = None,
    entropy: Entropy | None = None,
    housekeeping: bool = True,
    thresholds: Thresholds | None = None,
) -> "TypedStore":
    """Open the store in a directory, which is created if it does not exist, or `"memory:"`.

    `housekeeping`: a thread frees the space of expired rows and dropped tables and keeps partitions
    in balance; without it call `TypedStore.housekeep`. `clock` and `entropy` are the system's
    unless given. `thresholds`: when partitions split and merge (docs/operating/partitions.md).

    Raises: `StoreLocked` when a server or another process holds the directory, `StoreDamaged`,
    `StoreFull`, `StorageFailure`, `ValueError` for a URL that names no kind of store.
    """
    try:
        opened = open_store(str(where))
    except StoreLocked as error:
        raise StoreLocked(
            f"{error}. A widerow server or another program has {where} open, and only one may: "
            "stop it, or use another directory"
        ) from error
    try:
        return TypedStore(
            opened,
            clock or SystemClock(),
            entropy or SystemEntropy(),
            housekeeping=housekeeping,
            thresholds=thresholds,
        )
    except BaseException:
        opened.close()
        raise


class TypedStore:
    """Typed tables of one store. Any thread may use it; close it when done.

    A write has happened, and is on stable storage, when its method returns. Concurrent writes
    share syncs.
    """

    def __init__(
        self,
        store: Bytes,
        clock: Clock,
        entropy: Entropy,
        *,
        housekeeping: bool = False,
        thresholds: Thresholds | None = None,
    ) -> None:
        """Take over an open ordered store. Raises `StoreDamaged`."""
        self._bytes = store
        self._whole = Engine(
            store, clock, entropy, TABLE_MODELS, EngineSettings(thresholds=thresholds)
        )
        self.engine = self._whole.operations(TYPED)
        self._committer = Committer(store, clock, Uncounted())
        self._balancing = balancing(self._whole)
        self._routines = (chores(self._whole), self._balancing)
        self._closing = threading.Event()
        pause = partial(self._closing.wait, _LOOK_SECONDS)
        self._schema = SchemaChanges(self.engine, self._committer.run, pause)
        self._closed = False
        self._thread: threading.Thread | None = None
        if housekeeping:
            self._thread = threading.Thread(
                target=keep_house,
                args=(self._routines, self.commit, self._closing.wait),
                name="widerow-nosql-housekeeping",
                daemon=True,
            )
            self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release files and locks. Idempotent. Later calls raise `StorageFailure`."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        if not self._closed:
            self._closed = True
            write_down(self._routines, self.commit)
        self._bytes.close()

    # --- tables ------------------------------------------------------------------------------

    def run_statement(
        self,
        statement: str,
        *,
        namespace: str = "",
        progress: Callable[[int], None] = lambda _: None,
    ) -> "StatementResult":
        """Run a definition statement, such as `CREATE TABLE t (k LONG, PRIMARY KEY(k))` (ddl §1).

        `namespace`: for names that have none. `progress` is told how many rows a CREATE INDEX has
        done.

        Raises: `InvalidRequest`, `NotFound`, `Conflict` and `Unsupported` with the vendor's texts,
        storage failures as they are.
        """
        from widerow.engine.typed.ddl import run  # noqa: PLC0415  # the grammar is slow to load

        return run(self._schema, statement, namespace=namespace, progress=progress)

    def create_namespace(self, name: str, *, if_not_exists: bool = False) -> bool:
        """Create a namespace. Returns whether it was created. Raises `Conflict` if it exists."""
        return self._schema.create_namespace(name, if_not_exists=if_not_exists)

    def drop_namespace(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> bool:
        """Drop a namespace. Returns whether there was one. `cascade` drops its tables first.

        Raises: `NotFound`, or `Conflict` while it has tables.
        """
        return self._schema.drop_namespace(name, if_exists=if_exists, cascade=cascade)

    def namespaces(self) -> list[str]:
        """The names of all namespaces but the default one, sorted."""
        return self.engine.tables.namespaces()

    def create_table(self, definition: TypedTable, *, if_not_exists: bool = False) -> TableHandle:
        """Create what `TableBuilder.build` made.

        Raises: `Conflict` if a table of that name exists and `if_not_exists` is not set,
        `NotFound` without its parent or its namespace.
        """
        made = self._schema.create_table(definition, if_not_exists=if_not_exists)
        return TableHandle(self, made)

    def alter_table(self, changed: TypedTable) -> TableHandle:
        """Change a table to what `TableEvolver.build` made.

        Raises: `NotFound`, and `Conflict` if the table was changed since the evolver took it.
        """
        return TableHandle(self, self._schema.alter_table(changed))

    def drop_table(self, name: str, *, if_exists: bool = False) -> bool:
        """Drop a table. Returns whether there was one.

        Its rows are gone at once; housekeeping gives their space back.

        Raises: `NotFound`, and `InvalidRequest` while it has child tables.
        """
        return self._schema.drop_table(name, if_exists=if_exists)

    def table(self, name: str) -> TableHandle:
        """The table of `[namespace:]parent.child`, in any case. Raises `NotFound`."""
        return TableHandle(self, self.engine.tables.find_qualified(name))

    def find_table(self, name: str) -> TableHandle | None:
        """The table of that name, or None."""
        form = self.engine.tables.get_qualified(name)
        return None if form is None else TableHandle(self, form)

    def tables(self, namespace: str | None = None) -> list[TableHandle]:
        """Every table, or those of one namespace; sorted, parents before their children.

        The default namespace is `""` or `sysdefault`.
        """
        tables = self.engine.tables
        forms = tables.all() if namespace is None else tables.in_namespace(namespace)
        return [TableHandle(self, form) for form in forms]

    # --- indexes -----------------------------------------------------------------------------

    def create_index(
        self,
        table: str | Target,
        index: Index,
        *,
        if_not_exists: bool = False,
        progress: Callable[[int], None] = lambda _: None,
    ) -> bool:
        """Create a secondary index and fill it (model §11). Returns whether there was none before.

        Other threads go on reading and writing meanwhile; the index answers once it is complete.
        After a crash in between housekeeping goes on building it; create it again to wait for it.
        `progress` is told after each step how many rows are done.

        Raises: `Conflict` if it exists, `NotFound` without the table, `InvalidRequest` for fields
        or rows that cannot be indexed (nothing is left of the index then).
        """
        form = self.form_of(table)
        return self._schema.create_index(
            form, index, if_not_exists=if_not_exists, progress=progress
        )

    @property
    def failed_indexes(self) -> dict[tuple[str, str], InvalidRequest]:
        """Why housekeeping dropped an index that it could not build, by table and index name.

        The latest reason of each. The reasons are in memory only and are gone when the store is
        closed; the dropped index is in no definition. Create the index again to see the reason
        again: `create_index` raises it.
        """
        return dict(self.engine.builds.failures)

    def drop_index(self, table: str | Target, name: str, *, if_exists: bool = False) -> bool:
        """Drop a secondary index. Returns whether there was one.

        Housekeeping gives its space back.

        Raises: `NotFound`.
        """
        return self._schema.drop_index(self.form_of(table), name, if_exists=if_exists)

    # --- writes ------------------------------------------------------------------------------

    def write_many(self, operations: Iterable[Operation]) -> list[WriteResult]:
        """Make many writes, each for itself, sharing syncs. All are durable on return.

        They happen in their order. Raises: the error of the first operation that is refused; those
        in front of it have happened, those behind it have not. Where it is not known whether one
        happened (`OutcomeUnknown`), it is not known of those behind it that shared its sync.
        """
        results: list[WriteResult] = []
        source = iter(operations)
        while True:
            planned, refused = self._planned(source)
            writes = in_order([write for _, plan in planned for write in plan.writes])
            outcomes = self._committer.run(Plan(tuple(writes), _every_outcome)) if writes else []
            for place, (_, plan) in enumerate(planned):
                answer = concluded(plan, [outcomes[place]])
                if isinstance(answer, Plan):  # nothing behind this operation was written
                    results.append(self.commit(answer))
                    behind = [operation for operation, _ in planned[place + 1 :]]
                    behind += [] if refused is None else [refused[0]]
                    source, refused = chain(behind, source), None
                    break
                results.append(answer)
            else:
                if refused is not None:
                    raise refused[1]
                if not planned:
                    return results

    def _planned(
        self, source: Iterator[Operation]
    ) -> tuple[list[tuple[Operation, Plan[WriteResult]]], tuple[Operation, WiderowError] | None]:
        """Plan the next operations that share a sync, bounded in number and bytes.

        The first operation that cannot be planned ends them, and is returned with its error. An
        operation that must be prepared ends them too, because those behind it need the same
        preparation.
        """
        planned: list[tuple[Operation, Plan[WriteResult]]] = []
        size = 0
        for operation in source:
            try:
                plan = self.engine.write(operation.table.form, operation.choice)
            except WiderowError as error:
                return planned, (operation, error)
            planned.append((operation, plan))
            size += plan.size
            if plan.prepares or len(planned) == BATCH_ROWS or size >= GROUP_BYTES_MAX:
                break
        return planned, None

    def execute(self, operations: Sequence[Operation]) -> list[WriteResult]:
        """Run operations on rows of one shard key, in order: all of them happen or none.

        Raises: `OperationFailed` when one that is to abort the sequence does not succeed,
        `InvalidRequest` for a list that cannot be one sequence.
        """
        asked = [(each.table.form, each.choice) for each in operations]
        return self.commit(self.engine.execute(asked))

    def next_plan_id(self) -> int:
        """A number that counts up for as long as the store lives, from 1 on."""
        return self.commit(self.engine.next_plan_id())

    def save_plan(self, plan: TablePlan) -> None:
        """Store an administrator's plan, or its progress."""
        self.commit(Plan((plan_write(plan),), failing))

    def plans(self) -> list[TablePlan]:
        """The latest plans, in the order of their numbers. Raises `StoreDamaged`."""
        return read_plans(self._bytes.snapshot())

    def commit(self, plan: Plan[T]) -> T:
        """Commit a plan of `engine` and return its answer, once it is durable.

        It is planned again where the table changed since it was planned.
        """
        return self._committer.run(plan)

    def form_of(self, table: str | Target) -> TableForm:
        """The form of a table given by name or itself. Raises `NotFound`."""
        return self.engine.tables.find_qualified(table) if isinstance(table, str) else table.form

    # --- housekeeping ------------------------------------------------------------------------

    def housekeep(self) -> bool:
        """One small step of freeing the space of expired rows and dropped tables, or of partitions.

        False when there was nothing to do.
        """
        return any(routine.do(self.commit) for routine in self._routines)

    @property
    def reclaimed(self) -> Reclaimed:
        """Counts of what housekeeping has freed since the store was opened."""
        return self._whole.sweep.reclaimed

    def describe_partitions(self, table: str | Target, *, history: bool = False) -> dict[str, Any]:
        """The partitions of a table's hierarchy: what they hold and carry.

        `history`: also what they carried in the last hours. The fields are those of
        `widerow partitions --json` (docs/operating/partitions.md). Raises `NotFound`.
        """
        found = self.form_of(table).table
        name = f"{found.shown_namespace}:{found.name}"
        with self._balancing.turn:
            self._whole.partitions.absorb()
            return self._whole.describe_partitions(found.shown_namespace, name, history=history)


def _every_outcome(outcomes: Sequence[Outcome[Any]]) -> Sequence[Outcome[Any]]:
    return outcomes
