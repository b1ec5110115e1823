"""PREPARE and QUERY (nosql-wire §6): statements are run whole on the server, page by page.

A prepared query is the text of its statement: what drivers send back is read again, so it may come
from anybody, and any server can go on. Plans are kept by their texts.
"""

from collections.abc import Mapping
from dataclasses import replace
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    ROUND_UP,
    Context,
)
from functools import lru_cache
from typing import Any, Final, NamedTuple

from librt.strings import BytesWriter

from widerow.auth.keyring import Permission
from widerow.engine.between import Between, never_ends
from widerow.engine.budget import Budget
from widerow.engine.plan import Plan
from widerow.engine.typed.engine import TypedEngine
from widerow.errors import InvalidRequest, TooLong
from widerow.limits import NUMBER_DIGITS_MAX
from widerow.wire.nosql.answers import Cost, begun_message
from widerow.wire.nosql.envelope import Frame, payload_members
from widerow.wire.nosql.members import (
    absolute,
    binary_member,
    flag_member,
    number_member,
    text_member,
)
from widerow.wire.nosql.modes import CLOUD, NosqlMode
from widerow.wire.nosql.nson import encode, put_int
from widerow.wire.nosql.operations.rows import check_size
from widerow.wire.nosql.rules import NosqlRule
from widerow.wire.nosql.sql.parse import writes_rows
from widerow.wire.nosql.sql.run import (
    Prepared,
    QueryPage,
    QueryRun,
    prepare_statement,
    run_prepared,
)

__all__ = [
    "Answered",
    "AskedStatement",
    "KeptStatements",
    "consumed_by_query",
    "encode_answered",
    "permission_of_query",
    "prepare_query",
    "run_query",
    "run_query_short",
]

_MAGIC: Final = b"WIDEROW01"
_MAGIC_ONPREM: Final = b"WIDEROW02"
_VERSIONS: Final = frozenset(range(6))
_PREPARING_KB: Final = 2  # that reading a statement costs (nosql-wire §6)
_KEPT_MAX: Final = 256
_CONTEXTS_KEPT: Final = 64
_NO_PLAN: Final = b"\xff"

_CUSTOM_CONTEXT: Final = 5
_DIGITS: Final = {1: 7, 2: 16, 3: 34, 4: NUMBER_DIGITS_MAX}  # of the contexts with names
_ROUNDINGS: Final = (
    *(ROUND_UP, ROUND_DOWN, ROUND_CEILING, ROUND_FLOOR),
    *(ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN),
)


class Answered(NamedTuple):
    """A prepared statement or a page of one; `members` are those of the answer beside its cost."""

    members: Mapping[str, Any]
    cost: Cost


# --- statements ----------------------------------------------------------------------------------


class AskedStatement(NamedTuple):
    """A text, and the namespace of the tables that it names without one; None: there are none."""

    text: str
    namespace: str | None


class KeptStatements:
    """The statements that were prepared last. Any thread may call."""

    def __init__(self) -> None:
        self._kept: dict[AskedStatement, Prepared] = {}

    def writes(self, statement: AskedStatement) -> bool:
        """Whether a statement writes; its first word is read if it was not prepared lately."""
        kept = self._kept.get(statement)
        return writes_rows(statement.text) if kept is None else kept.writes

    def find(self, engine: TypedEngine, statement: AskedStatement) -> Prepared | None:
        """A statement that was prepared lately, for the tables as they are now; else None."""
        kept = self._kept.get(statement)
        if kept is not None and all(engine.tables.by_id(form.id) is form for form in kept.forms):
            return kept
        return None

    def note_long(self, statement: AskedStatement, prepared: Prepared) -> None:
        """Note that a statement read more than others should wait for, if the next may as well."""
        if not prepared.bound.paths[0].one_row:  # another row may be small
            self._kept[statement] = replace(prepared, loop_steps=0)

    def of(self, engine: TypedEngine, statement: AskedStatement) -> Prepared:
        """A statement, prepared for the tables as they are now. Raises as `prepare_statement`."""
        kept = self.find(engine, statement)
        if kept is not None:
            return kept
        made = prepare_statement(statement.text, engine.tables, statement.namespace)
        if len(self._kept) >= _KEPT_MAX:
            self._kept = {}
        self._kept[statement] = made
        return made


_STATEMENTS: Final = KeptStatements()


def permission_of_query(body: bytes, mode: NosqlMode = CLOUD) -> Permission:
    """What a statement needs: reading or writing. Raises `InvalidRequest`."""
    check_size(body, mode)
    statement, _ = _statement_of(payload_members(body, (b"pq", b"st")), mode, "")
    return Permission.WRITE if _STATEMENTS.writes(statement) else Permission.READ


def _statement_of(
    payload: Mapping[str, Any], mode: NosqlMode, namespace: str
) -> tuple[AskedStatement, bool]:
    """The statement of a query, and whether it came prepared. Raises `InvalidRequest`.

    What was prepared in a namespace stays there, whatever the request's is.
    """
    onprem = mode.onprem
    kept = binary_member(payload, "pq")
    if kept is None:
        statement = text_member(payload, "st")
        if statement is None:
            raise InvalidRequest(NosqlRule.QUERY_MISSING)
        return AskedStatement(statement, namespace if onprem else None), False
    magic = _MAGIC_ONPREM if onprem else _MAGIC
    if not kept.startswith(magic):
        raise InvalidRequest(NosqlRule.QUERY_PREPARED)
    try:
        text = kept[len(magic) :].decode()
    except UnicodeDecodeError as error:
        raise InvalidRequest(NosqlRule.QUERY_PREPARED) from error
    if not onprem:
        return AskedStatement(text, None), True
    kept_namespace, _, text = text.partition("\0")
    return AskedStatement(text, kept_namespace), True


def _prepared_bytes(statement: AskedStatement) -> bytes:
    """What drivers keep of a statement, and send instead of its text."""
    if statement.namespace is None:
        return _MAGIC + statement.text.encode()
    return _MAGIC_ONPREM + f"{statement.namespace}\0{statement.text}".encode()


def _check_version(payload: Mapping[str, Any]) -> None:
    version = number_member(payload, "qv", 4)
    if version not in _VERSIONS:
        raise InvalidRequest(NosqlRule.QUERY_VERSION, version=version)


# --- PREPARE -------------------------------------------------------------------------------------


def prepare_query(engine: TypedEngine, namespace: str, asked: Frame) -> Answered:
    """Prepare a statement. Raises: `InvalidRequest`, `NotFound`."""
    payload = asked.payload
    _check_version(payload)
    text = text_member(payload, "st")
    if text is None:
        raise InvalidRequest(NosqlRule.QUERY_MISSING)
    statement = AskedStatement(text, namespace if asked.mode.onprem else None)
    prepared = _STATEMENTS.of(engine, statement)
    members = _told(prepared, statement)
    if prepared.variables and prepared.advanced:
        members["dq"] = _passing_plan(prepared)
    if flag_member(payload, "gq"):
        members["qs"] = prepared.plan()
    if flag_member(payload, "gs"):
        members["qc"] = prepared.schema()
    return Answered(members, Cost(_PREPARING_KB, _PREPARING_KB))


def _told(prepared: Prepared, statement: AskedStatement) -> dict[str, Any]:
    """What a driver keeps of a prepared statement."""
    namespace = {} if statement.namespace is None else {"ns": statement.namespace}
    return {
        "pq": _prepared_bytes(statement),
        "dq": _NO_PLAN,
        "n": prepared.table,
        "qo": prepared.operation,
        "mp": 0,
        **namespace,
    }


def _passing_plan(prepared: Prepared) -> bytes:
    """A plan of a driver that only hands rows on, so that the driver knows the variables."""
    out = BytesWriter()
    out.write(b"\x11")
    for value in (0, 0, 1, 0, 1, 0):
        out.write(value.to_bytes(4, "big"))
    out.write(b"\0\0~~~")
    names = [name.encode() for name, _ in prepared.variables]
    for value in (1, 1, len(names)):
        out.write(value.to_bytes(4, "big"))
    for place, name in enumerate(names):
        put_int(out, len(name))
        out.write(name + place.to_bytes(4, "big"))
    return out.getvalue()


# --- QUERY ---------------------------------------------------------------------------------------


def run_query(
    engine: TypedEngine, namespace: str, asked: Frame, between: Between = never_ends
) -> Answered | Plan[Answered]:
    """A page of a statement's rows. Raises, or its plan does: `InvalidRequest`, `NotFound`."""
    _check_version(asked.payload)
    statement, is_prepared = _statement_of(asked.payload, asked.mode, namespace)
    prepared = _STATEMENTS.of(engine, statement)
    page = run_prepared(
        prepared, engine, _bound(asked.payload), _asked(engine, asked, between, None)
    )
    return _answered(page, prepared, asked.payload, None if is_prepared else statement)


def run_query_short(
    engine: TypedEngine, namespace: str, asked: Frame, budget: Budget
) -> Answered | Plan[Answered]:
    """`run_query` of a statement that was prepared lately and has little work for few rows.

    Raises `TooLong` for any other one, and where its rows are more than the budget.
    """
    _check_version(asked.payload)
    statement, is_prepared = _statement_of(asked.payload, asked.mode, namespace)
    prepared = _STATEMENTS.find(engine, statement)
    if prepared is None or not prepared.loop_steps:
        raise TooLong("a statement that is not known to have little work")
    variables = _bound(asked.payload)
    if any(isinstance(value, (list, dict)) for value in variables.values()):
        raise TooLong("a long value may be compared with each row")
    rows = Budget(budget.bytes, budget.steps // prepared.loop_steps)
    run = _asked(engine, asked, never_ends, rows)
    try:
        page = run_prepared(prepared, engine, variables, run)
    except TooLong:
        _STATEMENTS.note_long(statement, prepared)
        raise
    return _answered(page, prepared, asked.payload, None if is_prepared else statement)


def _answered(
    page: QueryPage | Plan[QueryPage],
    prepared: Prepared,
    payload: Mapping[str, Any],
    statement: AskedStatement | None,
) -> Answered | Plan[Answered]:
    """The answer to QUERY; `statement`: which its client did not prepare before, else None."""
    passing = statement is None and payload.get("iq") is False

    def told(page: QueryPage) -> Answered:
        members: dict[str, Any] = {} if statement is None else _told(prepared, statement)
        members["qr"] = page.rows
        if page.continuation:
            members["ck"] = page.continuation
        if passing:
            members["re"] = bool(page.continuation)
        more = 0 if statement is None else _PREPARING_KB
        cost = Cost(page.read_units + more, page.read_kb + more, page.write_kb)
        return Answered(members, cost)

    return page.answering(told) if isinstance(page, Plan) else told(page)


def _bound(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The values of variables by the names that a driver gave. Raises `InvalidRequest`."""
    given = payload.get("bv")
    if given is None:
        return {}
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise InvalidRequest(
            NosqlRule.MEMBER_TYPE, name="bv", type="ARRAY of MAP", found="another type"
        )
    return {text_member(each, "m") or "": each.get("l") for each in given}


def _asked(engine: TypedEngine, asked: Frame, between: Between, budget: Budget | None) -> QueryRun:
    payload, most = asked.payload, asked.mode.kilobytes
    read_kb = number_member(payload, "mr")
    if not 0 <= read_kb <= most:
        raise InvalidRequest(NosqlRule.MAX_READ_KB, limit=most, value=read_kb)
    return QueryRun(
        engine.core.clock.now_us(),
        binary_member(payload, "ck") or b"",
        max(0, number_member(payload, "nl")),
        read_kb,
        absolute(payload),
        _context(payload),
        engine.core.entropy.token_bytes,
        between,
        budget,
    )


def _context(payload: Mapping[str, Any]) -> Context:
    """Digits and rounding of NUMBER. Raises `InvalidRequest`."""
    code = number_member(payload, "mc", _CUSTOM_CONTEXT)
    digits = _DIGITS.get(code)
    if digits is not None:
        return _with_digits(digits, ROUND_HALF_EVEN)
    precision, rounding = number_member(payload, "cp", 7), number_member(payload, "rm", 6)
    if code != _CUSTOM_CONTEXT or not 0 <= rounding < len(_ROUNDINGS) or precision < 0:
        raise InvalidRequest(NosqlRule.QUERY_CONTEXT)
    precision = min(precision or NUMBER_DIGITS_MAX, NUMBER_DIGITS_MAX)
    return _with_digits(precision, _ROUNDINGS[rounding])


@lru_cache(_CONTEXTS_KEPT)
def _with_digits(precision: int, rounding: str) -> Context:
    """A context whose exponents are those that NUMBER literals can have. Nobody changes it."""
    return Context(prec=precision, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN)


def encode_answered(answered: Answered, *, tells_cost: bool = True) -> bytes:
    """The answer to PREPARE and QUERY."""
    members = dict(answered.members)
    message: dict[str, Any] = {"e": 0}
    if "qr" in members:  # in the order of the vendor's proxy
        message["qr"] = members.pop("qr")
    return encode({**message, **begun_message(answered.cost, tells_cost=tells_cost), **members})


def consumed_by_query(answered: Answered) -> tuple[int, int]:
    """Read and write units, for the metrics."""
    return answered.cost.read_units, answered.cost.write_kb
