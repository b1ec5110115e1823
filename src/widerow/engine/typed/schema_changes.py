"""Creating, altering and dropping of tables, indexes and namespaces by a thread that waits.

Each change is one plan of `TypedEngine` or several of them in their order. How a plan is committed
is given by the caller, so that a library, a server and a test change schemas by one code.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from widerow.engine.plan import Plan
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_build import begin_index, drop_index
from widerow.errors import Conflict, InvalidRequest, NotFound
from widerow.model.typed.names import folded
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import Index, TypedTable

__all__ = ["CommitPlan", "SchemaChanges"]

T = TypeVar("T")


class CommitPlan(Protocol):
    """Commits one plan and waits for it."""

    def __call__(self, plan: Plan[T], /) -> T:
        """The plan's answer, once its writes are durable.

        Where the plan's end is another plan (`concluded`), that one is committed as well. Raises:
        the plan's error, `StorageFailure`.
        """
        ...


class SchemaChanges:
    """Changes of the schema of one open store. Durable when a method returns. For any thread."""

    def __init__(
        self, engine: TypedEngine, commit: CommitPlan, pause: Callable[[], object]
    ) -> None:
        """Changes of `engine`'s tables.

        `pause`: waits for a moment, between two questions whether other servers of a shared store
        know of a change.
        """
        self.tables = engine.tables
        self._pause = pause
        self._engine = engine
        self._commit = commit

    # --- namespaces --------------------------------------------------------------------------

    def create_namespace(self, name: str, *, if_not_exists: bool = False) -> bool:
        """Create a namespace. Returns whether it was created. Raises `Conflict` if it exists."""
        try:
            self._commit(self._engine.create_namespace(name))
        except Conflict:
            if not if_not_exists:
                raise
            return False
        return True

    def drop_namespace(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> bool:
        """Drop a namespace. Returns whether there was one. `cascade` drops its tables first.

        Raises: `NotFound`, or `Conflict` while it has tables.
        """
        if folded(name) not in map(folded, self.tables.namespaces()):
            if if_exists:
                return False
            raise NotFound(TypedRule.NAMESPACE_MISSING, namespace=name)
        if cascade:
            for form in reversed(self.tables.in_namespace(name)):
                self._commit(self._engine.drop_table(form))
        self._commit(self._engine.drop_namespace(name))
        return True

    # --- tables ------------------------------------------------------------------------------

    def create_table(self, definition: TypedTable, *, if_not_exists: bool = False) -> TableForm:
        """Create what `TableBuilder.build` made.

        Raises: `Conflict` if a table of that name exists and `if_not_exists` is not set,
        `NotFound` without its parent or its namespace.
        """
        found = self.tables.get_qualified(definition.qualified) if if_not_exists else None
        if found is not None:
            return found
        try:
            self._commit(self._engine.create_table(definition))
        except Conflict as error:
            if not if_not_exists or error.rule is not TypedRule.TABLE_EXISTS:
                raise
        return self.tables.find_qualified(definition.qualified)

    def alter_table(self, changed: TypedTable) -> TableForm:
        """Put what `TableEvolver.build` made.

        Raises: `NotFound`, and `Conflict` if the table was changed since the evolver took it.
        """
        form = self.tables.find_qualified(changed.qualified)
        self._commit(self._engine.alter_table(form, changed))
        return self.tables.find_qualified(changed.qualified)

    def drop_table(self, name: str, *, if_exists: bool = False) -> bool:
        """Drop a table. Returns whether there was one. Housekeeping frees the space of its rows.

        Raises: `NotFound`, and `InvalidRequest` while it has child tables.
        """
        if if_exists and self.tables.get_qualified(name) is None:
            return False
        self._commit(self._engine.drop_table(self.tables.find_qualified(name)))
        return True

    # --- indexes -----------------------------------------------------------------------------

    def create_index(
        self,
        form: TableForm,
        index: Index,
        *,
        if_not_exists: bool = False,
        progress: Callable[[int], None] = lambda _: None,
    ) -> bool:
        """Create a secondary index and fill it. Returns whether there was none before.

        Other threads go on reading and writing meanwhile; the index answers once it is complete.
        After a crash in between housekeeping goes on building it; create it again to wait for it.
        `progress` is told after each step how many rows are done.

        Raises: `Conflict` if it exists, `NotFound` without the table, `InvalidRequest` for fields
        or rows that cannot be indexed (nothing is left of the index then).
        """
        if if_not_exists:
            found = form.table.index(index.name)
            if found is not None and found.ready:
                return False
        self._commit(begin_index(self._engine, form, index))
        try:
            with self._engine.builds.driving(form, index.name) as build:
                while not self._engine.build_source.is_due_now(form, index.name):
                    self._pause()
                while not self._commit(build.step()):
                    progress(build.rows)
        except InvalidRequest:
            self.drop_index(self.tables.current(form), index.name, if_exists=True)
            raise
        return True

    def drop_index(self, form: TableForm, name: str, *, if_exists: bool = False) -> bool:
        """Drop a secondary index. Returns whether there was one. Housekeeping frees its space.

        Raises: `NotFound`.
        """
        if if_exists and form.table.index(name) is None:
            return False
        self._commit(drop_index(self._engine, form, name))
        return True
