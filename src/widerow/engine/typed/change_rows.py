"""Changing rows of one shard by a function of each, in one transaction (ddl §3: UPDATE, DELETE)."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from widerow.engine.observer import Observers, RowEvent
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.scan import MultiRowSelection, scan_rows
from widerow.engine.typed.stored import StoredRow
from widerow.engine.typed.write import HOUR_US, Moment
from widerow.errors import InvalidRequest
from widerow.limits import TYPED_ROW_BYTES_MAX
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TimeToLive
from widerow.model.typed.values import TypedValue
from widerow.rows.typed import typed_record, typed_table_and_expiry
from widerow.storage.interface import Transaction

__all__ = ["ChangedTypedRow", "NewValues", "RowChanger", "change_selected", "made_row"]


class NewValues(NamedTuple):
    """What is to become of a row.

    `values`: all its columns in their declared order, with the key as it was; None: it is deleted.
    `ttl`: how long it lives from now on, None: it expires when it did before.
    """

    values: Sequence[TypedValue] | None
    ttl: TimeToLive | None = None


class ChangedTypedRow(NamedTuple):
    """A row that was changed: as it was, and as it is now; None: it was deleted."""

    old: StoredRow
    new: StoredRow | None


RowChanger = Callable[[StoredRow], NewValues | None]


def made_row(
    form: TableForm, key: bytes, values: Sequence[TypedValue], expiry_hour: int, moment: Moment
) -> StoredRow:
    """The row of these values as it is stored. Raises `InvalidRequest` for too long a row."""
    packed = form.values.pack(values)
    if len(packed) > TYPED_ROW_BYTES_MAX:
        raise InvalidRequest(TypedRule.ROW_LENGTH, size=len(packed), limit=TYPED_ROW_BYTES_MAX)
    table = form.table
    record = typed_record(table, expiry_hour, moment.now_us // 1000, moment.version, packed)
    return StoredRow(form, key, record)


def change_selected(
    txn: Transaction,
    shard: bytes,
    selections: Sequence[MultiRowSelection],
    decide: RowChanger,
    moment: Callable[[], Moment],
    observers: Observers[TableForm],
) -> list[ChangedTypedRow]:
    """Change the rows of one shard that `decide` has a decision for; None of it leaves a row alone.

    The selections are of one table. Raises what `decide` raises; nothing is changed then. Cost: one
    read for each row, one write and the work of observers for each changed one; memory: all rows.
    """
    hour = moment().now_us // HOUR_US
    rows = [row for selection in selections for row in scan_rows(txn, selection, hour)]
    changed: list[ChangedTypedRow] = []
    for row in rows:
        decision = decide(row)
        if decision is None:
            continue
        form = selections[0].target
        new = None if decision.values is None else _changed(form, row, decision, moment())
        watch = observers.of(form)
        if watch:
            watch.changed(txn, RowEvent(row.encoded_key, shard, row, new))
        if new is None:
            txn.delete(row.encoded_key)
        else:
            txn.put(row.encoded_key, new.record)
        changed.append(ChangedTypedRow(row, new))
    return changed


def _changed(form: TableForm, row: StoredRow, decision: NewValues, moment: Moment) -> StoredRow:
    assert decision.values is not None
    hour = typed_table_and_expiry(row.record)[1]
    if decision.ttl is not None:
        hour = decision.ttl.expiry_hour(moment.now_us)
    return made_row(form, row.encoded_key, decision.values, hour, moment)
