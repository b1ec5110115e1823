"""GET, the PUT family and the DELETE family (nosql-wire §4.1 to §4.3)."""

from collections.abc import Mapping
from typing import Any, Final, final

from widerow.engine.plan import Plan
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_form import IndexForm
from widerow.engine.typed.row_units import counted_kilobytes
from widerow.engine.typed.stored import StoredRow
from widerow.engine.typed.write import WriteResult
from widerow.errors import InvalidRequest
from widerow.model.typed.requests import OperationKind, ReturnRow, Version, WriteChoice
from widerow.model.typed.table import TimeToLive
from widerow.wire.nosql.answers import Cost, begun_message, row_value, stored_row
from widerow.wire.nosql.convert import key_columns, row_columns
from widerow.wire.nosql.envelope import Frame, read_frame
from widerow.wire.nosql.members import absolute, binary_member, flag_member, text_member
from widerow.wire.nosql.modes import CLOUD, NosqlMode
from widerow.wire.nosql.nson import Long, encode
from widerow.wire.nosql.operations.tables_found import named_table
from widerow.wire.nosql.rules import NosqlRule
from widerow.wire.nosql.typed_values import encoded_value

__all__ = [
    "WRITE_KINDS",
    "Found",
    "WriteAsked",
    "Written",
    "as_abort",
    "check_key_size",
    "check_size",
    "choice_of",
    "consumed_by_write",
    "decode_row_request",
    "encode_found",
    "encode_written",
    "get_typed",
    "index_kb",
    "required",
    "row_kb",
    "row_size",
    "ttl_of",
    "write_asked",
    "write_members",
    "write_typed",
]

WRITE_KINDS: Final[Mapping[int, OperationKind]] = {
    0: OperationKind.DELETE,
    1: OperationKind.DELETE_IF_VERSION,
    3: OperationKind.PUT,
    4: OperationKind.PUT_IF_ABSENT,
    5: OperationKind.PUT_IF_PRESENT,
    6: OperationKind.PUT_IF_VERSION,
}
"""The writes of a row by their operation codes."""

_DELETES: Final = frozenset((OperationKind.DELETE, OperationKind.DELETE_IF_VERSION))
_BY_VERSION: Final = frozenset((OperationKind.PUT_IF_VERSION, OperationKind.DELETE_IF_VERSION))
_TTL_UNITS: Final = frozenset(("DAYS", "HOURS"))


def decode_row_request(body: bytes, mode: NosqlMode = CLOUD) -> Frame:
    """A request of bounded size. Raises `InvalidRequest`."""
    check_size(body, mode)
    return read_frame(body, mode)


def check_size(body: bytes, mode: NosqlMode) -> None:
    """Raise `InvalidRequest` for a request that is too long for a way of the proxy."""
    if len(body) > mode.request_bytes:
        raise InvalidRequest(NosqlRule.REQUEST_SIZE, size=len(body), limit=mode.request_bytes)


# --- GET -----------------------------------------------------------------------------------------


@final
class Found:
    """A row, if there is one, the key that was asked for, and what it cost to look."""

    __slots__ = ("cost", "key", "row")

    def __init__(self, row: StoredRow | None, key: Mapping[str, Any], cost: Cost) -> None:
        self.row = row
        self.key = key
        self.cost = cost


def get_typed(engine: TypedEngine, namespace: str, asked: Frame) -> Found:
    """The row of a whole key. Raises: `NotFound`, `InvalidRequest`."""
    form = named_table(engine, asked.table, namespace)
    doubled = absolute(asked.payload)
    key = key_columns(form, required(asked.payload, "k"), asked.mode.key_bytes)
    row = engine.get(form, key)
    read = 1 if row is None else row_kb(row)
    return Found(row, key, Cost(read * (2 if doubled else 1), read))


def encode_found(found: Found, *, tells_cost: bool = True) -> bytes:
    """The answer to GET."""
    message = begun_message(found.cost, tells_cost=tells_cost)
    if found.row is not None:
        message["r"] = stored_row(found.row, found.key)
    return encode(message)


def row_kb(row: StoredRow) -> int:
    """The kilobytes that a row counts as."""
    return counted_kilobytes(len(row.encoded_key) + len(row.record))


def required(payload: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401  # a value
    """A member that must be there. Raises `InvalidRequest`."""
    if name not in payload:
        raise InvalidRequest(NosqlRule.MEMBER_MISSING, name=name)
    return payload[name]


# --- PUT, DELETE ---------------------------------------------------------------------------------


@final
class WriteAsked:
    """A write of one row: its table, what is to be written, and whether to tell of the former."""

    __slots__ = ("choice", "form", "returns")

    def __init__(self, form: TableForm, choice: WriteChoice, returns: bool) -> None:  # noqa: FBT001  # two callers
        self.form = form
        self.choice = choice
        self.returns = returns


@final
class Written:
    """A write that ended, with what was asked for, and what it cost."""

    __slots__ = ("asked", "cost", "result")

    def __init__(self, asked: WriteAsked, result: WriteResult) -> None:
        self.asked = asked
        self.result = result
        self.cost = _cost_of_write(asked, result)


def write_asked(
    form: TableForm, code: int, payload: Mapping[str, Any], mode: NosqlMode
) -> WriteAsked:
    """The write of an operation code and its members. Raises `InvalidRequest`."""
    kind = WRITE_KINDS[code]
    version = binary_member(payload, "rv")
    if kind is OperationKind.PUT and version is not None:
        kind = OperationKind.PUT_IF_VERSION
    if kind in _BY_VERSION and version is None:
        raise InvalidRequest(NosqlRule.MATCH_VERSION)
    returning = ReturnRow.ALL if flag_member(payload, "rr") else ReturnRow.NONE
    choice = choice_of(form, kind, payload, version, returning, mode)
    return WriteAsked(form, choice, returning is ReturnRow.ALL)


def choice_of(
    form: TableForm,
    kind: OperationKind,
    payload: Mapping[str, Any],
    version: bytes | None,
    returning: ReturnRow,
    mode: NosqlMode,
) -> WriteChoice:
    """How the row is to be written. Raises `InvalidRequest`."""
    matched = None if version is None else Version.from_bytes(version)
    if kind in _DELETES:
        key = key_columns(form, required(payload, "k"), mode.key_bytes)
        return WriteChoice(kind, key, matched, returning=returning)
    row = row_columns(form.table, required(payload, "l"), exact=flag_member(payload, "ec"))
    check_key_size(form, row, mode.key_bytes)
    ttl = text_member(payload, "tt")
    return WriteChoice(
        kind,
        row,
        matched,
        None if ttl is None else ttl_of(ttl),
        flag_member(payload, "ut"),
        returning,
        False,  # noqa: FBT003  # by position: a name costs a dict for every row
        mode.row_bytes,
    )


def check_key_size(form: TableForm, row: Mapping[str, Any], bytes_max: int) -> None:
    """Refuse a longer primary key (nosql-wire §7): text counts its characters."""
    size = 0
    for name in form.table.primary_key:
        value = row.get(name)
        size += len(value) if isinstance(value, str) else 1
    if size > bytes_max:
        raise InvalidRequest(NosqlRule.KEY_SIZE, size=size, limit=bytes_max)


def ttl_of(given: str) -> TimeToLive:
    """The time to live of `5 DAYS` or `3 HOURS`. Raises `InvalidRequest`."""
    amount, _, unit = given.strip().partition(" ")
    unit = unit.strip().upper()
    if unit not in _TTL_UNITS:
        raise InvalidRequest(NosqlRule.TTL_TEXT, unit=unit[:40])
    digits = amount.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:  # of 64 bits
        raise InvalidRequest(NosqlRule.TTL_NUMBER, text=given[:60])
    value = int(amount)
    return TimeToLive.days(value) if unit == "DAYS" else TimeToLive.hours(value)


def write_typed(engine: TypedEngine, namespace: str, asked: Frame) -> Plan[Written]:
    """Write or delete one row. Raises: `NotFound`, `InvalidRequest`."""
    form = named_table(engine, asked.table, namespace)
    write = write_asked(form, asked.header["o"], asked.payload, asked.mode)
    return engine.write(form, write.choice).answering(lambda result: Written(write, result))


def _cost_of_write(asked: WriteAsked, result: WriteResult) -> Cost:
    """What a write consumed (nosql-wire §4.2, §4.3): kilobytes of rows and index entries."""
    former = row_size(result, result.former)
    reads = 0
    if asked.choice.kind is not OperationKind.PUT or (asked.returns and former):
        reads = counted_kilobytes(former)
    writes = 0
    if result.success:
        writes = (counted_kilobytes(former) if former else 0) + index_kb(asked.form, result)
        if result.record:
            writes += counted_kilobytes(row_size(result, result.record))
    return Cost(2 * reads, reads, writes)


def row_size(result: WriteResult, record: bytes) -> int:
    """Bytes of a row of which this is the record; 0 for none."""
    return len(result.key) + len(record) if record else 0


def index_kb(form: TableForm, result: WriteResult) -> int:
    """A kilobyte for each index entry that a write made or took away."""
    if not form.table.indexes:
        return 0
    changed = 0
    for index in form.table.indexes:
        made = IndexForm(form.table, index)
        before = _entries(form, made, result.key, result.former)
        changed += len(before ^ _entries(form, made, result.key, result.record))
    return changed


def _entries(form: TableForm, index: IndexForm, key: bytes, record: bytes) -> frozenset[bytes]:
    """The entries of a row: none of one that the index cannot hold, which came before it."""
    try:
        return frozenset(index.entries(StoredRow(form, key, record))) if record else frozenset()
    except InvalidRequest:
        return frozenset()


def write_members(written: Written, *, by_name: bool = False) -> dict[str, Any]:
    """The members of an answer that tell what became of a write.

    `by_name`: names inside JSON of the former row are sorted, as the vendor's proxy has them where
    several rows are written at once.
    """
    form, choice, result = written.asked.form, written.asked.choice, written.result
    members: dict[str, Any] = {}
    if choice.kind in _DELETES:
        members["ss"] = result.success
    if result.version is not None and choice.kind not in _DELETES:
        members["rv"] = result.version.to_bytes()
    if result.success and result.generated is not None:
        field = form.table.generated
        assert field is not None
        members["gn"] = encoded_value(result.generated, field.type)
    previous = result.previous
    if previous is not None and not (result.success and choice.kind in _BY_VERSION):
        members["ri"] = {
            "el": row_value(previous, by_name=by_name),
            "ct": Long(0),
            "em": Long(previous.modified_ms),
            "ev": previous.version.to_bytes(),
        }
    return members


def encode_written(written: Written, *, tells_cost: bool = True) -> bytes:
    """The answer to a write of one row."""
    message = begun_message(written.cost, tells_cost=tells_cost)
    message.update(write_members(written))
    return encode(message)


def consumed_by_write(written: Written) -> tuple[int, int]:
    """Read and write units, for the metrics."""
    return written.cost.read_units, written.cost.write_kb


def as_abort(choice: WriteChoice, abort: bool) -> WriteChoice:  # noqa: FBT001  # a member
    """The choice that aborts its sequence, if asked."""
    return choice._replace(abort_if_unsuccessful=True) if abort else choice
