"""Running an INSERT or UPSERT of one row (ddl §3)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from widerow.engine.plan import Plan
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.stored import StoredRow
from widerow.engine.typed.write import WriteResult
from widerow.model.typed.requests import OperationKind, ReturnRow, WriteChoice
from widerow.model.typed.table import TimeToLive
from widerow.wire.nosql.sql.costs import index_forms, written_kb
from widerow.wire.nosql.sql.items import SentRow

__all__ = ["InsertPlan", "InsertedRow", "insert_row"]

_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class InsertPlan:
    """An INSERT, ready to run; `upsert` replaces a row that is there.

    `values` gives the columns of the row, without those at their defaults. `lifetime`: SET TTL, of
    a frame: None is the table's default; a plan without it leaves the expiry of a replaced row.
    `row` makes a row of RETURNING; None: rows are counted.
    """

    form: TableForm
    slot: int
    values: Callable[[Any], Mapping[str, Any]]
    upsert: bool
    lifetime: Callable[[Any], TimeToLive | None] | None
    row: Callable[[Any], SentRow] | None


class InsertedRow(NamedTuple):
    """What an INSERT did. `row`: for RETURNING, the row that is there now."""

    row: SentRow | None
    inserted: bool
    read_kb: int
    write_kb: int


def insert_row(
    plan: InsertPlan,
    engine: TypedEngine,
    frame: Any,  # noqa: ANN401  # the frame of expressions
) -> Plan[InsertedRow]:
    """Write the row. Raises `InvalidRequest` for its values."""
    form = plan.form
    kind = OperationKind.PUT if plan.upsert else OperationKind.PUT_IF_ABSENT
    ttl = None if plan.lifetime is None else plan.lifetime(frame)
    choice = WriteChoice(
        kind,
        plan.values(frame),
        ttl=ttl,
        update_ttl=plan.lifetime is not None,
        returning=ReturnRow.VALUE,
    )

    def finish(result: WriteResult) -> InsertedRow:
        old = result.previous
        new = StoredRow(form, result.key, result.record) if result.success else old
        row = None
        if plan.row is not None and new is not None:
            frame.rows[plan.slot] = new
            row = plan.row(frame)
        written = written_kb(index_forms(form), old, new) if result.success else 0
        inserted = result.success and old is None
        return InsertedRow(row, inserted, 0 if plan.upsert else 1, written)

    return engine.write(form, choice).answering(finish)
