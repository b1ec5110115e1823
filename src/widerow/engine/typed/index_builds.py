"""Builds of indexes as tasks that go on in steps, and by themselves after a crash (model §11).

Whoever creates an index drives its build (`IndexBuild.step` until the answer is true), or leaves it
to housekeeping, which takes up every index that is in a definition, not ready and not driven, also
after the store was opened again. A row that cannot be indexed ends a build: the index goes, and the
reason is kept for as long as the store is open.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

from widerow.engine.plan import Plan
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_build import build_step, drop_index, finish_index
from widerow.errors import InvalidRequest, NotFound
from widerow.model.typed.table import Index
from widerow.storage.interface import Outcome

__all__ = ["IndexBuild", "IndexBuilds"]


@final
class IndexBuild:
    """One build of an index that is in its table's definition. `rows`: how many it has covered."""

    def __init__(self, engine: TypedEngine, form: TableForm, name: str) -> None:
        """From the first row on: entries that are there already are written again."""
        self.rows = 0
        self._engine = engine
        self._form = form
        self._name = name
        self._start: bytes | None = b""

    def step(self) -> Plan[bool]:
        """The next step; its answer is whether the index answers now.

        A step that was not committed may be planned again. Raises, or its plan does: `NotFound`
        when the index or its table was dropped, `InvalidRequest` for a row that cannot be indexed.
        """
        form = self._engine.tables.current(self._form)
        if self._start is None:
            return finish_index(self._engine, form, self._name).answering(lambda _: True)
        made = build_step(self._engine, form, self._name, self._start)

        def finish(outcomes: Sequence[Outcome[Any]]) -> bool:
            made.plan.finish(outcomes)
            self.rows += made.rows
            self._start = made.following
            return False

        return Plan(made.plan.writes, finish, again=lambda _: self.step())


@final
class IndexBuilds:
    """The builds of one engine. `step` is for one caller at a time, the rest for any thread.

    `failures`: why builds were ended that nobody drove, by table and index; the latest of each.
    """

    def __init__(self, engine: TypedEngine) -> None:
        """No build is under way."""
        self.failures: dict[tuple[str, str], InvalidRequest] = {}
        self._engine = engine
        self._driven: list[int] = []  # indexes whose creators wait for them
        self._builds: dict[int, IndexBuild] = {}
        self._ended: set[int] = set()  # indexes that are to be dropped
        self._unready: tuple[int, list[tuple[TableForm, Index]]] = (-1, [])

    @contextmanager
    def driving(self, form: TableForm, name: str) -> Iterator[IndexBuild]:
        """A build that the caller drives; housekeeping leaves it alone meanwhile."""
        current = self._engine.tables.current(form)
        index = current.table.index(name)
        number = 0 if index is None else index.id
        self._driven.append(number)
        try:
            yield IndexBuild(self._engine, current, name)
        finally:
            self._driven.remove(number)

    def step(self) -> Plan[None] | None:
        """The next step of a build that nobody drives; None where there is none."""
        for form, index in self._waiting():
            if index.id in self._driven:
                self._builds.pop(index.id, None)  # whoever drives it begins anew
                continue
            build = self._builds.get(index.id)
            if build is None:
                build = self._builds[index.id] = IndexBuild(self._engine, form, index.name)
            return self._go_on(form, index, build)
        return None

    def _waiting(self) -> list[tuple[TableForm, Index]]:
        """Indexes that are not ready, worked out once for each state of the catalogue."""
        epoch = self._engine.tables.catalog.seen().epoch
        if self._unready[0] != epoch:
            forms = self._engine.tables.all()
            found = [(form, each) for form in forms for each in form.table.indexes]
            self._unready = epoch, [(form, each) for form, each in found if not each.ready]
        return self._unready[1]

    def _go_on(self, form: TableForm, index: Index, build: IndexBuild) -> Plan[None]:
        """A step, whose failure ends the build: then the next step takes the index away."""
        if index.id in self._ended:
            return self._end(form, index)
        plan = build.step()

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            try:
                plan.finish(outcomes)
            except InvalidRequest as error:
                self.failures[form.table.qualified, index.name] = error
                self._ended.add(index.id)
            except NotFound:
                self._builds.pop(index.id, None)  # dropped meanwhile

        return Plan(plan.writes, finish, again=lambda _: self._go_on(form, index, build))

    def _end(self, form: TableForm, index: Index) -> Plan[None]:
        plan = drop_index(self._engine, form, index.name)

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            self._ended.discard(index.id)
            self._builds.pop(index.id, None)
            try:
                plan.finish(outcomes)
            except NotFound:
                return  # somebody else took it away

        return Plan(plan.writes, finish)
