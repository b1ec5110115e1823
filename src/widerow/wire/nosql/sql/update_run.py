"""Running an UPDATE: the rows of one shard key, changed in one transaction (ddl §3)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from widerow.engine.plan import Plan
from widerow.engine.typed.change_rows import ChangedTypedRow, NewValues
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.scan import MultiRowSelection
from widerow.engine.typed.stored import StoredRow
from widerow.errors import Conflict, InvalidRequest
from widerow.limits import NOSQL_ROWS_CHANGED_MAX
from widerow.model.typed.table import TimeToLive
from widerow.wire.nosql.sql.access_path import AccessPath
from widerow.wire.nosql.sql.costs import index_forms, written_kb
from widerow.wire.nosql.sql.items import SentRow
from widerow.wire.nosql.sql.loops import Expr
from widerow.wire.nosql.sql.places import copied
from widerow.wire.nosql.sql.scans import row_kilobytes
from widerow.wire.nosql.sql.select_run import is_true
from widerow.wire.nosql.sql.statement_rules import StatementRule

__all__ = ["ChangingRow", "Clause", "Lifetime", "UpdatePlan", "UpdatedRows", "run_update"]

Clause = Callable[[Any, StoredRow], bool]
"""A clause, of a frame and the row that it changes in place; whether it changed anything."""

Lifetime = Callable[[Any], TimeToLive | None]
"""SET TTL, of a frame. Raises `InvalidRequest`."""


@dataclass(frozen=True, slots=True)
class UpdatePlan:
    """An UPDATE, ready to run; the ranges of its path are of one shard.

    `row` makes a row of RETURNING; None: rows are counted.
    """

    slot: int
    path: AccessPath
    where: Expr
    clauses: tuple[Clause, ...]
    lifetime: Lifetime | None
    row: Callable[[Any], SentRow] | None


class UpdatedRows(NamedTuple):
    """What an UPDATE did; `rows` are changed ones for RETURNING."""

    rows: list[SentRow]
    changed: int
    read_kb: int
    write_kb: int


class ChangingRow(StoredRow):
    """A row as clauses change it: a copy of its values, which later clauses see."""

    __slots__ = ()

    def __init__(self, row: StoredRow) -> None:
        super().__init__(row._form, row.encoded_key, row.record)  # noqa: SLF001  # its base's
        self._row = copied(row.values_in_order())


def run_update(
    plan: UpdatePlan, engine: TypedEngine, frames: Callable[[], Any]
) -> UpdatedRows | Plan[UpdatedRows]:
    """Change the rows. Its plan raises `InvalidRequest`, and `Conflict` where the table changed."""
    frame, form = frames(), plan.path.form
    ranges = plan.path.ranges(frame)
    if not ranges:
        return UpdatedRows([], 0, 1, 0)
    selections = [
        MultiRowSelection(form, start, stop, form.key.shard_length, {form.id: form})
        for start, stop in ranges
    ]
    read: dict[bytes, int] = {}  # by key, since a transaction may run again

    def decide(row: StoredRow) -> NewValues | None:
        if row.table.schema != form.table.schema:
            raise Conflict(StatementRule.TABLE_CHANGED, table=form.table.qualified)
        read[row.encoded_key] = row_kilobytes(row)
        if len(read) > NOSQL_ROWS_CHANGED_MAX:
            raise InvalidRequest(StatementRule.ROWS_CHANGED, limit=NOSQL_ROWS_CHANGED_MAX)
        return _changed(plan, frame, row)

    def finish(changed: list[ChangedTypedRow]) -> UpdatedRows:
        indexes = index_forms(form)
        written = sum(written_kb(indexes, old, new) for old, new in changed)
        rows = [] if plan.row is None else _returned(plan, frame, changed)
        return UpdatedRows(rows, len(changed), max(1, sum(read.values())), written)

    shard = form.key.shard_of(ranges[0].start)
    return engine.change_rows(shard, selections, decide).answering(finish)


def _changed(plan: UpdatePlan, frame: Any, row: StoredRow) -> NewValues | None:  # noqa: ANN401  # the frame of expressions
    frame.rows[plan.slot] = row
    if not is_true(plan.where, frame):
        return None
    changing = ChangingRow(row)
    frame.rows[plan.slot] = changing
    done = [clause(frame, changing) for clause in plan.clauses]
    ttl = None if plan.lifetime is None else plan.lifetime(frame)
    if not any(done) and plan.lifetime is None:
        return None
    return NewValues(changing.values_in_order(), ttl)


def _returned(
    plan: UpdatePlan,
    frame: Any,  # noqa: ANN401  # the frame of expressions
    changed: Sequence[ChangedTypedRow],
) -> list[SentRow]:
    assert plan.row is not None
    rows = []
    for _, new in changed:
        frame.rows[plan.slot] = new
        rows.append(plan.row(frame))
    return rows
