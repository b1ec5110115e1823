"""Records of administrators' plans, the latest ones, as JSON (docs/formats/catalog.md).

The key of a record: 01 "plan/", then the plan's number in eight bytes.
"""

import json
from typing import Any, Final

from widerow.engine.stored_json import decode_json
from widerow.engine.typed.record import decode_typed_table, encode_typed_table
from widerow.errors import StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import PLAN_PREFIX, SPACE_STORE
from widerow.limits import PLANS_KEPT_MAX
from widerow.model.typed.plans import PlanKind, PlanState, TablePlan
from widerow.model.typed.table import Index, IndexField
from widerow.model.typed.types import Kind
from widerow.storage.interface import Snapshot, Transaction, Write

__all__ = ["check_plan", "decode_plan", "encode_plan", "plan_write", "read_plans"]

_FORMAT: Final = 1
_PLAIN: Final = {
    "id": int,
    "table": str,
    "name": str,
    "attempts": int,
    "created_us": int,
    "started_us": int,
    "ended_us": int,
    "error": str,
}


def plan_write(plan: TablePlan) -> Write[None]:
    """The write that stores a plan and deletes the one that is no longer among the latest."""

    def body(txn: Transaction) -> None:
        txn.put(_key(plan.id), encode_plan(plan))
        if plan.id > PLANS_KEPT_MAX:
            txn.delete_range(PLAN_PREFIX, _key(plan.id - PLANS_KEPT_MAX + 1))

    return Write((SPACE_STORE,), body)


def read_plans(snapshot: Snapshot) -> list[TablePlan]:
    """The latest plans, in the order of their numbers. Raises `StoreDamaged`."""
    return [
        decode_plan(record) for _, record in snapshot.scan(PLAN_PREFIX, after_prefix(PLAN_PREFIX))
    ]


def check_plan(key: bytes, record: bytes) -> None:
    """Raise `StoreDamaged` unless the record is of a plan, of the number that its key says."""
    if _key(decode_plan(record).id) != key:
        raise StoreDamaged("the plan has another number than its key")


def _key(number: int) -> bytes:
    return PLAN_PREFIX + number.to_bytes(8, "big")


def encode_plan(plan: TablePlan) -> bytes:
    """The record of a plan."""
    record: dict[str, Any] = {name: getattr(plan, name) for name in _PLAIN}
    record |= {"format": _FORMAT, "kind": plan.kind.name, "state": plan.state.name}
    if plan.definition is not None:
        record["definition"] = encode_typed_table(plan.definition).decode()
    if plan.index is not None:
        record["index"] = {
            "name": plan.index.name,
            "comment": plan.index.comment,
            "fields": [
                [field.path, field.type.value if field.type else None]
                for field in plan.index.fields
            ],
        }
    return json.dumps(record, separators=(",", ":")).encode()


def decode_plan(data: bytes) -> TablePlan:
    """The plan of a record. Raises `StoreDamaged` for anything `encode_plan` never writes."""

    def read(record: dict[str, Any]) -> TablePlan:
        definition, index = record.pop("definition", None), record.pop("index", None)
        return TablePlan(
            **{name: record.pop(name) for name in _PLAIN},
            kind=PlanKind[record.pop("kind")],
            state=PlanState[record.pop("state")],
            definition=None if definition is None else decode_typed_table(definition.encode()),
            index=None if index is None else _read_index(index),
        )

    plan = decode_json(data, "plan record", read, form=_FORMAT, whole=True)
    if not all(isinstance(getattr(plan, name), kind) for name, kind in _PLAIN.items()):
        raise StoreDamaged(f"plan record has strange fields: {data[:200]!r}")
    return plan


def _read_index(record: dict[str, Any]) -> Index:
    fields = [IndexField(path, Kind(kind) if kind else None) for path, kind in record["fields"]]
    return Index(record["name"], tuple(fields), comment=record["comment"])
