"""MULTI_DELETE and WRITE_MULTIPLE: rows of one shard key at once (nosql-wire §4.4, §4.5)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from widerow.engine.plan import Plan
from widerow.engine.typed.engine import MultiRow, TypedEngine
from widerow.engine.typed.execute import OperationFailed
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.multi_delete import DeletedRows
from widerow.engine.typed.write import WriteResult
from widerow.errors import InvalidRequest
from widerow.limits import NOSQL_BATCH_BYTES_MAX, NOSQL_KB_MAX
from widerow.model.typed.requests import FieldRange, OperationKind
from widerow.storage.interface import Outcome
from widerow.wire.nosql.answers import Cost, begun_message
from widerow.wire.nosql.convert import column_value, key_columns
from widerow.wire.nosql.envelope import Frame, read_frame
from widerow.wire.nosql.members import binary_member, flag_member, number_member, text_member
from widerow.wire.nosql.modes import CLOUD, NosqlMode
from widerow.wire.nosql.nson import encode
from widerow.wire.nosql.operations.names import NAMES
from widerow.wire.nosql.operations.rows import (
    WRITE_KINDS,
    WriteAsked,
    Written,
    as_abort,
    required,
    write_asked,
    write_members,
)
from widerow.wire.nosql.operations.tables_found import named_table
from widerow.wire.nosql.rules import NosqlRule

__all__ = [
    "SequenceEnd",
    "consumed_by_delete",
    "consumed_by_sequence",
    "decode_sequence",
    "delete_range",
    "encode_deleted",
    "encode_sequence",
    "range_of",
    "write_sequence",
]


# --- MULTI_DELETE --------------------------------------------------------------------------------


def delete_range(engine: TypedEngine, namespace: str, asked: Frame) -> Plan[DeletedRows]:
    """Delete the rows of a partial key. Raises: `NotFound`, `InvalidRequest`."""
    form, payload = named_table(engine, asked.table, namespace), asked.payload
    most = number_member(payload, "mw")
    if not 0 <= most <= asked.mode.kilobytes:
        raise InvalidRequest(NosqlRule.MAX_WRITE_KB, limit=asked.mode.kilobytes, value=most)
    given = required(payload, "k")
    key = key_columns(form, given, asked.mode.key_bytes) if given else {}
    rows = MultiRow(key, range_of(form, payload.get("rg")))
    part = min(most or NOSQL_KB_MAX, NOSQL_KB_MAX)
    return engine.delete_part(form, rows, part, binary_member(payload, "ck") or b"")


def range_of(form: TableForm, given: Any) -> FieldRange | None:  # noqa: ANN401  # a value
    """The range of a key column. Raises `InvalidRequest`."""
    if given is None:
        return None
    if not isinstance(given, dict):
        raise InvalidRequest(NosqlRule.MEMBER_TYPE, name="rg", type="MAP", found="another type")
    name = text_member(given, "rp") or ""
    if name not in form.table.primary_key:  # in this case alone, as the vendor's proxy has it
        raise InvalidRequest(NosqlRule.RANGE_PATH, field=name[:100])
    bounds = [_bound(form, name, given.get(side)) for side in ("sr", "en")]
    (start, first), (stop, last) = bounds
    made = FieldRange(name, start, stop, first, last)
    if start is not None and start == stop and not (first and last):
        raise InvalidRequest(NosqlRule.RANGE_ORDER)
    return made


def _bound(form: TableForm, name: str, given: Any) -> tuple[Any, bool]:  # noqa: ANN401  # a value
    if not isinstance(given, dict):
        return None, True
    field = form.table.field(name)
    assert field is not None
    return column_value(given.get("l"), field.type), flag_member(given, "in")


def _cost_of_delete(gone: DeletedRows) -> Cost:
    read = max(1, gone.kilobytes)
    return Cost(2 * read, read, gone.kilobytes)


def encode_deleted(gone: DeletedRows, *, tells_cost: bool = True) -> bytes:
    """The answer to MULTI_DELETE."""
    message = begun_message(_cost_of_delete(gone), tells_cost=tells_cost) | {"nd": gone.rows}
    if gone.last:
        message["ck"] = gone.last
    return encode(message)


def consumed_by_delete(gone: DeletedRows) -> tuple[int, int]:
    """Read and write units, for the metrics."""
    cost = _cost_of_delete(gone)
    return cost.read_units, cost.write_kb


# --- WRITE_MULTIPLE ------------------------------------------------------------------------------


class SequenceEnd(NamedTuple):
    """How a sequence ended: its writes, up to the one that aborted it, if one did; its place."""

    written: Sequence[Written]
    aborted_at: int | None = None


def decode_sequence(body: bytes, mode: NosqlMode = CLOUD) -> Frame:
    """A request of bounded size. Raises `InvalidRequest`."""
    if len(body) > NOSQL_BATCH_BYTES_MAX:
        raise InvalidRequest(NosqlRule.REQUEST_SIZE, size=len(body), limit=NOSQL_BATCH_BYTES_MAX)
    return read_frame(body, mode)


def write_sequence(engine: TypedEngine, namespace: str, asked: Frame) -> Plan[SequenceEnd]:
    """Write rows of one shard key in order, all or none. Raises: `NotFound`, `InvalidRequest`."""
    given = required(asked.payload, "os")
    if not isinstance(given, list):
        raise InvalidRequest(NosqlRule.MEMBER_TYPE, name="os", type="ARRAY", found="another type")
    expected = number_member(asked.payload, "no", len(given))
    if expected != len(given):
        raise InvalidRequest(NosqlRule.BATCH_NUMBER, found=len(given), expected=expected)
    if not given:
        raise InvalidRequest(NosqlRule.BATCH_EMPTY)
    if len(given) > asked.mode.operations:
        raise InvalidRequest(NosqlRule.BATCH_COUNT, limit=asked.mode.operations, count=len(given))
    writes = [_write_of(engine, namespace, asked, each) for each in given]
    _check_related(writes)
    return _ending(writes, engine.execute([(write.form, write.choice) for write in writes]))


def _ending(writes: Sequence[WriteAsked], plan: Plan[list[WriteResult]]) -> Plan[SequenceEnd]:
    """A plan whose answer also tells of a sequence that a write aborted."""
    finish, again = plan.finish, plan.again

    def ended(outcomes: Sequence[Outcome[Any]]) -> SequenceEnd:
        try:
            return SequenceEnd(_together(writes, finish(outcomes)))
        except OperationFailed as error:
            results = (*error.before, error.result)
            return SequenceEnd(_together(writes, results), error.index)

    rest = None if again is None else lambda outcomes: _ending(writes, again(outcomes))
    made = Plan(plan.writes, ended, plan.size, rest, prepares=plan.prepares)
    made.pace = plan.pace
    return made


def _together(writes: Sequence[WriteAsked], results: Sequence[WriteResult]) -> tuple[Written, ...]:
    """Writes with their results; those behind one that aborted them have none."""
    return tuple([Written(writes[place], result) for place, result in enumerate(results)])


def _write_of(
    engine: TypedEngine,
    namespace: str,
    asked: Frame,
    given: Any,  # noqa: ANN401  # a value
) -> WriteAsked:
    if not isinstance(given, dict):
        raise InvalidRequest(NosqlRule.MEMBER_TYPE, name="os", type="MAP", found="another type")
    first = next(iter(given), "")
    if first not in {"n", "o"}:
        raise InvalidRequest(NosqlRule.BATCH_FIRST, name=first[:40])
    code = number_member(given, "o", -1)
    if code not in WRITE_KINDS:
        name = NAMES[code] if 0 <= code < len(NAMES) else str(code)
        raise InvalidRequest(NosqlRule.BATCH_KIND, name=name)
    form = named_table(engine, text_member(given, "n") or asked.table, namespace)
    write = write_asked(form, code, given, asked.mode)
    choice = as_abort(write.choice, flag_member(given, "a"))
    return WriteAsked(form, choice, write.returns)


def _check_related(writes: Sequence[WriteAsked]) -> None:
    """Refuse tables of several hierarchies."""
    first = writes[0].form.table
    for write in writes:
        table = write.form.table
        if table.top != first.top:
            raise InvalidRequest(
                NosqlRule.BATCH_UNRELATED, table=table.qualified, first=first.qualified
            )


def _cost_of_sequence(end: SequenceEnd) -> Cost:
    """The cost of all writes; where one aborted them, that of what was read.

    What a replacing put aborts was written all the same, and counts (nosql-wire §4.5).
    """
    read = sum(written.cost.read_kb for written in end.written)
    write = sum(written.cost.write_kb for written in end.written)
    last = end.written[-1].asked.choice.kind
    if end.aborted_at is not None and last not in _REPLACING:
        write = 0
    return Cost(2 * read, read, write)


def encode_sequence(end: SequenceEnd, *, tells_cost: bool = True) -> bytes:
    """The answer to WRITE_MULTIPLE."""
    message = begun_message(_cost_of_sequence(end), tells_cost=tells_cost)
    told: list[Mapping[str, Any]] = [
        {"ss": written.result.success, **write_members(written, by_name=True)}
        for written in end.written
    ]
    if end.aborted_at is None:
        message["ws"] = told
    else:
        message["wf"] = {"wi": end.aborted_at, "wr": told[-1]}
    return encode(message)


_REPLACING: Final = frozenset((OperationKind.PUT_IF_PRESENT, OperationKind.PUT_IF_VERSION))


def consumed_by_sequence(end: SequenceEnd) -> tuple[int, int]:
    """Read and write units, for the metrics."""
    cost = _cost_of_sequence(end)
    return cost.read_units, cost.write_kb
