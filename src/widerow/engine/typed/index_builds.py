"""The indexes of typed tables as builds see them (model §11, `engine/index_builds.py`)."""

from collections.abc import Callable
from typing import final

from widerow.clock import Clock
from widerow.engine.index_builds import BuildStep, Unready
from widerow.engine.plan import Plan
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_build import IndexedTables, build_step, drop_index, finish_index
from widerow.model.typed.table import TypedTable

__all__ = ["TypedBuilds"]


@final
class TypedBuilds:
    """The `BuildSource` of typed tables."""

    def __init__(self, engine: IndexedTables, clock: Clock, settled: Callable[[int], bool]) -> None:
        """The indexes of `engine`'s tables. `settled`: see `Nodes.settled`."""
        self._engine = engine
        self._clock = clock
        self._settled = settled
        self._seen_us: dict[int, int] = {}  # when an index was first seen here that is not ready

    def epoch(self) -> int:
        """The number of the state of the catalogue, raised by each change."""
        return self._engine.tables.catalog.seen().epoch

    def unready(self) -> list[tuple[TableForm, Unready]]:
        """Tables with each index that is not ready."""
        return [
            (form, Unready(index.id, index.name, form.table.qualified))
            for form in self._engine.tables.all()
            for index in form.table.indexes
            if not index.ready
        ]

    def is_due(self, table: TableForm, index: Unready) -> bool:  # noqa: ARG002  # as the protocol has it
        """Whether every writer keeps the index: those that used an older catalogue have ended."""
        return self._settled(self._seen_us.setdefault(index.id, self._clock.now_us()))

    def is_due_now(self, form: TableForm, name: str) -> bool:
        """Whether every writer keeps the index `name`. Raises `NotFound` without the table."""
        current = self.current(form)
        number = self.index_id(current, name)
        return self.is_due(current, Unready(number, name, current.table.qualified))

    def unsettled(
        self, table: TableForm, index: Unready, mark: int, start: bytes
    ) -> None:  # as the protocol has it
        """None, as entries are written in the steps of a build."""

    def index_id(self, table: TableForm, name: str) -> int:
        """The number of an index by its name; 0 where the table has none."""
        index = table.table.index(name)
        return 0 if index is None else index.id

    def current(self, table: TableForm) -> TableForm:
        """The table as it is now. Raises `NotFound`."""
        return self._engine.tables.current(table)

    def build_step(self, table: TableForm, name: str, start: bytes) -> BuildStep:
        """Write the entries of the next rows (`index_build.build_step`). Raises `NotFound`."""
        return build_step(self._engine, table, name, start)

    def finish(self, table: TableForm, name: str) -> Plan[TypedTable]:
        """Mark an index as ready to answer."""
        return finish_index(self._engine, table, name)

    def drop(self, table: TableForm, name: str) -> Plan[TypedTable]:
        """Remove an index from the definition."""
        return drop_index(self._engine, table, name)
