"""Running a DELETE: rows are found by a scan, and deleted where WHERE is still true (ddl §3)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from widerow.engine.between import Between
from widerow.engine.plan import Plan, slowest
from widerow.engine.typed.change_rows import ChangedTypedRow, NewValues
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.scan import MultiRowSelection
from widerow.engine.typed.stored import StoredRow
from widerow.limits import NOSQL_ROWS_CHANGED_MAX
from widerow.storage.interface import Outcome
from widerow.wire.nosql.sql.costs import index_forms, written_kb
from widerow.wire.nosql.sql.items import SentRow
from widerow.wire.nosql.sql.loops import Expr, Looping, TableLoop
from widerow.wire.nosql.sql.resume import QueryResume
from widerow.wire.nosql.sql.select_run import is_true

__all__ = ["DeletePlan", "DeletedPage", "delete_page"]

Frames = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class DeletePlan:
    """A DELETE, ready to run. `row` makes a row of RETURNING; None: rows are counted."""

    loop: TableLoop
    where: Expr | None
    row: Callable[[Any], SentRow] | None


class DeletedPage(NamedTuple):
    """What one step of a DELETE did. `resume`: where the next one begins; None: it is done.

    `rows`: deleted ones for RETURNING. `changed`: how many this step deleted.
    """

    rows: list[SentRow]
    changed: int
    resume: QueryResume | None
    read_kb: int
    write_kb: int


def delete_page(
    plan: DeletePlan, engine: TypedEngine, frames: Frames, resume: QueryResume, between: Between
) -> "DeletedPage | Plan[DeletedPage]":
    """One step: at most `NOSQL_ROWS_CHANGED_MAX` rows, each shard in one transaction.

    Rows that another writer changes meanwhile so that WHERE is no longer true are left.
    """
    frame, form = frames(), plan.loop.path.form
    looping = Looping(engine, frame, (plan.loop,), between)
    found: dict[bytes, list[bytes]] = {}
    count = 0
    following: QueryResume | None = None
    for is_place in looping.places(resume):
        if not is_place:
            continue
        row: StoredRow = frame.rows[plan.loop.slot]
        if plan.where is None or is_true(plan.where, frame):
            found.setdefault(form.key.shard_of(row.encoded_key), []).append(row.encoded_key)
            count += 1
        if count == NOSQL_ROWS_CHANGED_MAX:
            following = QueryResume(position=looping.position, within=looping.within)
            break
    if not found:
        return DeletedPage([], 0, None, looping.counted_kb, 0)
    plans = [
        engine.change_rows(
            shard,
            [_one(form, key) for key in keys],
            partial(_decide, plan, frames()),
        )
        for shard, keys in found.items()
    ]

    def finish(outcomes: Sequence[Outcome[Any]]) -> DeletedPage:
        changed: list[ChangedTypedRow] = []
        for each, outcome in zip(plans, outcomes, strict=True):
            changed += each.finish([outcome])
        indexes = index_forms(form)
        written = sum(written_kb(indexes, old, None) for old, _ in changed)
        rows = [] if plan.row is None else [_returned(plan, frames(), old) for old, _ in changed]
        return DeletedPage(rows, len(changed), following, looping.kb + len(changed), written)

    made = Plan(tuple([write for each in plans for write in each.writes]), finish)
    made.pace = slowest([each.pace for each in plans])
    return made


def _one(form: TableForm, key: bytes) -> MultiRowSelection:
    return MultiRowSelection(form, key, key + b"\x00", form.key.length, {form.id: form})


def _decide(plan: DeletePlan, frame: Any, row: StoredRow) -> NewValues | None:  # noqa: ANN401  # the frame of expressions
    frame.rows[plan.loop.slot] = row
    return NewValues(None) if plan.where is None or is_true(plan.where, frame) else None


def _returned(plan: DeletePlan, frame: Any, row: StoredRow) -> SentRow:  # noqa: ANN401  # the frame of expressions
    assert plan.row is not None
    frame.rows[plan.loop.slot] = row
    return plan.row(frame)
