"""An index of a small table is built by the plan that creates it (model §11).

Housekeeping builds the index of a large one: whoever created it asks when it answers.
"""

from collections.abc import Sequence
from typing import Any, Final, Protocol

from widerow.engine.index_builds import IndexBuild
from widerow.engine.plan import Plan
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_build import IndexedTables, drop_index
from widerow.engine.typed.index_builds import TypedBuilds
from widerow.errors import InvalidRequest, NotFound, Replan
from widerow.model.typed.table import TypedTable
from widerow.storage.interface import Outcome

__all__ = ["BuildingTables", "with_first_build"]


class BuildingTables(IndexedTables, Protocol):
    """The part of `TypedEngine` that a first build uses."""

    build_source: TypedBuilds


_STEPS_MAX: Final = 6  # some hundred rows each, and one that lets the index answer


def with_first_build(
    engine: BuildingTables, begin: Plan[TypedTable], form: TableForm, name: str
) -> Plan[None]:
    """`begin`, which defines the index `name`, and as much of its build as a moment allows.

    Its plan raises what `begin` raises, and `InvalidRequest` for a row that cannot be indexed:
    the index is dropped then.
    """

    def finish(outcomes: Sequence[Outcome[Any]]) -> None:
        begin.finish(outcomes)
        if engine.build_source.is_due_now(form, name):  # else housekeeping builds it when it is
            raise Replan

    def again(_: Sequence[Outcome[Any]]) -> Plan[None]:
        current = engine.tables.current(form)
        return _step(engine, IndexBuild(engine.build_source, current, name), form, name, _STEPS_MAX)

    return Plan(begin.writes, finish, begin.size, again, prepares=True)


def _step(
    engine: BuildingTables, build: IndexBuild[TableForm], form: TableForm, name: str, left: int
) -> Plan[None]:
    """The next step of a build, of which `left` may follow."""
    plan = build.step()
    refused: list[InvalidRequest] = []

    def finish(outcomes: Sequence[Outcome[Any]]) -> None:
        try:
            answers = plan.finish(outcomes)
        except InvalidRequest as error:
            refused.append(error)
            raise Replan from error
        if not answers and left:
            raise Replan

    def again(_: Sequence[Outcome[Any]]) -> Plan[None]:
        if refused:
            return _dropped(engine, form, name, refused[0])
        return _step(engine, build, form, name, left - 1)

    return Plan(plan.writes, finish, plan.size, again, prepares=left > 0)


def _dropped(
    engine: BuildingTables, form: TableForm, name: str, reason: InvalidRequest
) -> Plan[None]:
    """Drop an index that cannot be built, and raise why."""
    plan = drop_index(engine, engine.tables.current(form), name)

    def finish(outcomes: Sequence[Outcome[Any]]) -> None:
        try:
            plan.finish(outcomes)
        except NotFound:
            raise reason from None  # housekeeping met the same row, and has dropped it
        raise reason

    return Plan(plan.writes, finish)
