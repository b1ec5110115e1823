"""A sequence of writes on one shard key: all of them, in order, or none (model §7)."""

from collections.abc import Sequence

from widerow.engine.observer import Observers
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.stored import Key
from widerow.engine.typed.write import Moment, TypedRowWrite, WriteResult, write_typed_row
from widerow.errors import Conflict, InvalidRequest
from widerow.model.typed.json_rows import dumps, value_to_json
from widerow.model.typed.requests import OperationKind
from widerow.model.typed.rules import TypedRule
from widerow.storage.interface import Transaction

__all__ = ["OperationFailed", "check_one_sequence", "run_sequence"]


class OperationFailed(Conflict):
    """A write of a sequence did not succeed and was to abort it; nothing was written.

    `index`: its place in the sequence, from 0. `kind`: its kind. `result`: what it would have
    returned. `before`: what the writes before it would have returned.
    """

    def __init__(
        self,
        index: int,
        kind: OperationKind,
        result: WriteResult,
        before: Sequence[WriteResult] = (),
    ) -> None:
        super().__init__(TypedRule.EXECUTE_FAILED, kind=kind.value, index=index)
        self.index = index
        self.kind = kind
        self.result = result
        self.before = before


def check_one_sequence(writes: Sequence[TypedRowWrite]) -> None:
    """Raise `InvalidRequest` unless the writes may be one sequence."""
    if not writes:
        raise InvalidRequest(TypedRule.EXECUTE_EMPTY)
    first = writes[0]
    seen: set[bytes] = set()
    for write in writes:
        table = write.form.table
        if table.top != first.form.table.top:
            raise InvalidRequest(
                TypedRule.EXECUTE_UNRELATED,
                table=table.qualified,
                first=first.form.table.qualified,
            )
        if write.shard != first.shard:
            raise InvalidRequest(
                TypedRule.EXECUTE_SHARD, key=_shard_text(write), first=_shard_text(first)
            )
        if write.key in seen:
            key = Key(write.form, write.key).to_json()
            raise InvalidRequest(TypedRule.EXECUTE_SAME_KEY, key=key)
        seen.add(write.key)


def run_sequence(
    txn: Transaction,
    writes: Sequence[tuple[TypedRowWrite, TableForm]],
    moments: Sequence[Moment],
    observers: Observers[TableForm],
) -> list[WriteResult]:
    """Run the writes in order, each with the newest form of its table. Raises `OperationFailed`."""
    results: list[WriteResult] = []
    for index, ((write, form), moment) in enumerate(zip(writes, moments, strict=True)):
        result = write_typed_row(txn, write, form, moment, observers.of(form))
        if write.choice.abort_if_unsuccessful and not result.success:
            raise OperationFailed(index, write.choice.kind, result, tuple(results))
        results.append(result)
    return results


def _shard_text(write: TypedRowWrite) -> str:
    """A row's shard key as the message quotes it."""
    form = write.form
    values = Key(form, write.key).values_in_order()[: form.key.shard_length]
    columns = zip(form.table.shard_key, values, form.table.key_types, strict=False)
    return dumps({name: value_to_json(value, kind) for name, value, kind in columns})
