"""TABLE_REQUEST, GET_TABLE, LIST_TABLES, GET_INDEXES, GET_TABLE_USAGE (nosql-wire §5).

A definition is changed by one commit and answered with the state in between, as drivers expect; the
operation id tells what GET_TABLE is to look for. Building an index takes longer: its table is
UPDATING until the index answers.
"""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import IntEnum
from typing import Any, Final

from widerow.engine.plan import Plan
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.schema_changes import SchemaChanges
from widerow.errors import Conflict, InvalidRequest, NotFound, Unsupported
from widerow.limits import NOSQL_USAGE_RECORDS_MAX
from widerow.model.typed.coerce import coerce
from widerow.model.typed.index_paths import IndexPath, index_paths
from widerow.model.typed.names import in_namespace, same_name
from widerow.model.typed.table import IndexField, TableLimits, TypedTable
from widerow.model.typed.types import Kind, timestamp
from widerow.model.typed.values import Timestamp
from widerow.wire.nosql.envelope import Frame
from widerow.wire.nosql.members import number_member, text_member
from widerow.wire.nosql.moments import timestamp_of
from widerow.wire.nosql.nson import Long, encode
from widerow.wire.nosql.operations.tables_found import named_table
from widerow.wire.nosql.rules import NosqlRule
from widerow.wire.nosql.schema_text import cloud_schema_json, told_units

__all__ = [
    "OPERATION_ID",
    "Message",
    "State",
    "change_limits",
    "check_statement",
    "done_index",
    "encode_message",
    "etag",
    "get_indexes",
    "get_table",
    "get_table_usage",
    "leading_word",
    "limits_members",
    "list_typed",
    "operation_id",
    "planned_changes",
    "read_limits",
    "replica_stats",
    "request_table",
    "table_message",
]

Message = dict[str, Any]


class State(IntEnum):
    """The states of a table, as drivers number them."""

    ACTIVE = 0
    CREATING = 1
    DROPPED = 2
    DROPPING = 3
    UPDATING = 4


_MILLISECONDS: Final = timestamp(3)
_MODES: Final = {1: False, 2: True}  # PROVISIONED, ON_DEMAND
_WORD: Final = re.compile(r"(?:\s|/\*.*?\*/|//[^\n]*|#[^\n]*)*([A-Za-z]+)", re.DOTALL)
OPERATION_ID: Final = re.compile(r"([cadix])-(\d{1,18})(?:-([A-Za-z][A-Za-z0-9_]*))?\Z", re.ASCII)


def encode_message(message: Message) -> bytes:
    """The answer to an operation of tables."""
    return encode(message)


# --- GET_TABLE -----------------------------------------------------------------------------------


def get_table(engine: TypedEngine, namespace: str, asked: Frame) -> Message:
    """A table, or the state that an operation of this id has brought it to.

    Raises: `NotFound`, `InvalidRequest` for an unknown id, and for an index that could not be made.
    """
    name = in_namespace(asked.table, namespace) if asked.table else ""
    operation = text_member(asked.payload, "od")
    if operation is None:
        return table_message(engine, named_table(engine, name, ""), name, State.ACTIVE)
    found = OPERATION_ID.match(operation)
    if found is None:
        raise InvalidRequest(NosqlRule.OPERATION_ID, id=operation[:60])
    kind, index = found[1], found[3] or ""
    if kind == "d":
        form = engine.tables.get_qualified(name)
        if form is None or form.table.id != int(found[2]):
            return {"n": name, "as": int(State.DROPPED)}
        return table_message(engine, form, name, State.DROPPING, operation)
    form = named_table(engine, name, "")
    if kind != "i":
        return table_message(engine, form, name, State.ACTIVE)
    state = State.ACTIVE if done_index(engine, form.table, index) else State.UPDATING
    return table_message(engine, form, name, state, operation if state else "")


def done_index(engine: TypedEngine, table: TypedTable, name: str) -> bool:
    """Whether an index that was begun answers. Raises `InvalidRequest` where it is gone."""
    made = table.index(name)
    if made is None:
        raise _index_failed(engine, table, name)
    return made.ready


def _index_failed(engine: TypedEngine, table: TypedTable, name: str) -> InvalidRequest:
    reason = "the index was dropped"
    for (_, index), error in engine.builds.failures.items():
        if same_name(index, name):
            reason = str(error)
    return InvalidRequest(NosqlRule.INDEX_FAILED, index=name, table=table.qualified, text=reason)


def table_message(
    engine: TypedEngine, form: TableForm, name: str, state: State, operation: str = ""
) -> Message:
    """A table under the name that was asked for, with its definition."""
    table = form.table
    limits = _limits_of(engine, table)
    message: Message = {
        "to": str(table.id),
        "ns": table.shown_namespace,
        "n": name,
        "as": int(state),
    }
    if limits is not None and table.parent is None:
        message["lm"] = limits_members(limits)
    children = [child.table.short_name for child in engine.tables.children(table.id)]
    message["ac"] = cloud_schema_json(table, limits, sorted(children))
    from widerow.engine.typed.ddl.text import definition_text  # noqa: PLC0415  # the grammar is slow to load

    message["td"] = definition_text(table)
    message["et"] = etag(table)
    if operation:
        message["od"] = operation
    return message


def etag(table: TypedTable) -> str:
    """A text that is another one after each change of the definition."""
    return b64encode(table.revision.to_bytes(8, "big")).decode()


def _limits_of(engine: TypedEngine, table: TypedTable) -> TableLimits | None:
    top = engine.tables.by_id(table.top)
    return None if top is None else top.table.limits


def limits_members(limits: TableLimits) -> Message:
    """Limits as they are told."""
    read, write = told_units(limits)
    return {"ru": read, "wu": write, "sg": limits.storage_gb, "mo": 2 if limits.on_demand else 1}


# --- TABLE_REQUEST -------------------------------------------------------------------------------


def request_table(engine: TypedEngine, namespace: str, asked: Frame) -> "Message | Plan[Message]":
    """Change definitions: by a statement, or the limits of a table by themselves (nosql-wire §5.1).

    Raises, or its plan does: `InvalidRequest`, `NotFound`, `Conflict`, `Unsupported`.
    """
    payload = asked.payload
    onprem = asked.mode.onprem
    statement, limits = text_member(payload, "st"), None if onprem else read_limits(payload)
    if payload.get("ff") is not None or payload.get("dt") is not None:
        if limits is not None:
            raise InvalidRequest(NosqlRule.LIMITS_AND_TAGS)
        raise Unsupported(NosqlRule.TAGS)
    if statement is not None:
        return _run_statement(engine, namespace, statement, limits, asked)
    if onprem and payload.get("lm") is not None:
        raise Unsupported(NosqlRule.LIMITS_ONPREM)
    if limits is None or not asked.table:
        raise InvalidRequest(NosqlRule.TABLE_REQUEST)
    return change_limits(engine, asked.table, limits)


def read_limits(payload: Mapping[str, Any]) -> TableLimits | None:
    """The limits of a request, None for none. Raises `InvalidRequest`."""
    given = payload.get("lm")
    if given is None:
        return None
    if not isinstance(given, dict) or number_member(given, "mo", 1) not in _MODES:
        raise InvalidRequest(NosqlRule.LIMITS_MODE)
    on_demand = _MODES[number_member(given, "mo", 1)]
    read, write, storage = (number_member(given, name) for name in ("ru", "wu", "sg"))
    if not on_demand and read <= 0:
        raise InvalidRequest(NosqlRule.LIMITS_READ)
    if not on_demand and write <= 0:
        raise InvalidRequest(NosqlRule.LIMITS_WRITE)
    if storage <= 0:
        raise InvalidRequest(NosqlRule.LIMITS_STORAGE)
    return TableLimits(-1 if on_demand else read, -1 if on_demand else write, storage, on_demand)


def change_limits(engine: TypedEngine, name: str, limits: TableLimits) -> Plan[Message]:
    """Give a table other limits. Raises, or its plan does: `NotFound`, `InvalidRequest`."""
    form = engine.tables.get_qualified(name)
    if form is None:
        raise NotFound(NosqlRule.LIMITS_TABLE, table=name[:300])
    if form.table.parent is not None:
        raise InvalidRequest(NosqlRule.LIMITS_CHILD, table=name[:300])
    before = table_message(engine, form, name, State.UPDATING, _operation("a", form.table))
    plan = engine.change_table(form, lambda newest: replace(newest, limits=limits))
    return plan.answering(lambda _: before)


def _operation(kind: str, table: TypedTable, index: str = "") -> str:
    return f"{kind}-{table.id}-{index}" if index else f"{kind}-{table.id}"


def _run_statement(
    engine: TypedEngine, namespace: str, statement: str, limits: TableLimits | None, asked: Frame
) -> "Message | Plan[Message]":
    """Run a definition statement; in the cloud's way a table without a parent has limits."""
    from widerow.engine.typed.ddl.parse import parse  # noqa: PLC0415  # the grammar is slow to load
    from widerow.engine.typed.ddl.planned import planned  # noqa: PLC0415  # the grammar is slow to load
    from widerow.engine.typed.ddl.result import Context  # noqa: PLC0415  # the grammar is slow to load

    _check_word(statement)
    read = parse(statement)
    check_statement(read, limits, onprem=asked.mode.onprem)
    context = Context(planned_changes(engine), namespace)
    name, etag_asked = context.qualified(_named(read)), text_member(asked.payload, "et")
    if etag_asked is not None:
        _check_etag(engine, name, etag_asked)
    before = engine.tables.get_qualified(name)
    told = None if before is None else table_message(engine, before, name, State.UPDATING)
    made = planned(engine, context, read, limits)
    if isinstance(made, Plan):
        return made.answering(lambda changed: _answer(engine, changed, limits, told))
    return _answer(engine, made, limits, told)


def planned_changes(engine: TypedEngine) -> SchemaChanges:
    """Changes for statements that are planned: nothing is committed here, and nobody waits."""
    return SchemaChanges(engine, _waits, _pauses)


def _waits(_: Plan[Any]) -> Any:  # noqa: ANN401  # never
    raise AssertionError("statements of requests are plans")


def _pauses() -> None:
    raise AssertionError("statements of requests are plans")


def _named(statement: Any) -> str:  # noqa: ANN401  # one of the statements
    """The table that a statement is about."""
    name = getattr(statement, "table", None) or statement.name
    return str(name)


def _check_word(statement: str) -> None:
    """Refuse what is not a definition of a table or an index by its first words."""
    word = leading_word(statement)
    if word in _QUERYING:
        raise InvalidRequest(NosqlRule.QUERY_STATEMENT, word=_QUERYING[word])
    found = _SECURITY.match(statement)
    if found is not None:
        raise InvalidRequest(NosqlRule.QUERY_STATEMENT, word="_".join(found[0].upper().split()))


def leading_word(statement: str) -> str:
    """The first word of a statement behind blanks and comments, in capitals; "" for none."""
    found = _WORD.match(statement)
    return "" if found is None else found[1].upper()


_QUERYING: Final = {
    **{word: word for word in ("SELECT", "INSERT", "UPSERT", "UPDATE", "DELETE", "DECLARE")},
    "SHOW": "SHOW",
    "DESCRIBE": "DESCRIBE",
    "DESC": "DESCRIBE",
}
_SECURITY: Final = re.compile(
    r"(?:GRANT|REVOKE|(?:CREATE|ALTER|DROP)\s+(?:USER|ROLE|REGION))\b", re.IGNORECASE
)


def check_statement(
    statement: Any,  # noqa: ANN401  # a statement
    limits: TableLimits | None,
    *,
    onprem: bool,
) -> None:
    """Refuse namespaces; in the cloud limits where none are, and their lack (nosql-wire §5.1)."""
    kind = type(statement).__name__
    if "Namespace" in kind:
        raise InvalidRequest(NosqlRule.NAMESPACE_REQUEST if onprem else NosqlRule.NAMESPACE)
    if onprem:
        return
    if kind == "CreateTableStatement":
        if ":" in statement.name:
            raise InvalidRequest(NosqlRule.NAMESPACE)
        is_child = "." in statement.name
        if is_child and limits is not None:
            raise InvalidRequest(NosqlRule.LIMITS_CHILD, table=statement.name[:300])
        if not is_child and limits is None:
            raise InvalidRequest(NosqlRule.CREATE_LIMITS)
    elif kind == "AlterTableStatement" and limits is not None:
        raise InvalidRequest(NosqlRule.ALTER_LIMITS)


def _check_etag(engine: TypedEngine, name: str, asked: str) -> None:
    form = engine.tables.get_qualified(name)
    if form is not None and etag(form.table) != asked:
        raise Conflict(NosqlRule.ETAG)


_KINDS: Final = {
    "create": ("c", State.CREATING),
    "alter": ("a", State.UPDATING),
    "drop": ("d", State.DROPPING),
    "add index": ("i", State.UPDATING),
    "drop index": ("x", State.UPDATING),
}


def operation_id(changed: Any) -> str:  # noqa: ANN401  # a ChangedDefinition, as below
    """The id that tells of a statement that changed a table."""
    kind, _ = _KINDS[changed.change.value]
    return _operation(kind, changed.form.table, changed.index_name)


def _answer(
    engine: TypedEngine,
    changed: Any,  # noqa: ANN401  # a ChangedDefinition, whose module is slow to load
    limits: TableLimits | None,
    told: Message | None,
) -> Message:
    """The answer to a statement: the state in between, and the id to ask with."""
    _, state = _KINDS[changed.change.value]
    form = changed.form
    if form is None:
        return {"n": changed.name, "as": int(State.DROPPED)}
    if not changed.executed:
        return table_message(engine, form, changed.name, State.ACTIVE)
    operation = operation_id(changed)
    message: Message = {"n": changed.name, "as": int(state)}
    if state is State.UPDATING and told is not None:
        return {**told, "as": int(state), "od": operation}
    if state is State.CREATING and limits is not None:
        message["lm"] = {
            "ru": limits.read_units,
            "wu": limits.write_units,
            "sg": limits.storage_gb,
            "mo": 2 if limits.on_demand else 1,
        }
    message["to"], message["ns"] = str(form.table.id), form.table.shown_namespace
    message["od"] = operation
    return message


# --- lists ---------------------------------------------------------------------------------------


def list_typed(engine: TypedEngine, _: str, asked: Frame) -> Message:
    """Names of tables, children before their parents (nosql-wire §5.3). Raises `InvalidRequest`."""
    start, most = number_member(asked.payload, "ls"), number_member(asked.payload, "lx")
    if start < 0:
        raise InvalidRequest(NosqlRule.LIST_START)
    if most < 0:
        raise InvalidRequest(NosqlRule.LIST_LIMIT)
    namespace = text_member(asked.payload, "ns")
    tables = engine.tables
    forms = tables.all() if namespace is None else tables.in_namespace(namespace)
    names = list(_children_first(forms))
    shown = names[start : start + most] if most else names[start:]
    return {"tb": shown, "li": start + len(shown)} if shown else {}


def _children_first(forms: list[TableForm]) -> Iterator[str]:
    """Names in order, each behind those of its child tables."""
    below: dict[tuple[int, ...], list[TableForm]] = {}
    for form in forms:
        below.setdefault(form.table.path[:-1], []).append(form)

    def walk(path: tuple[int, ...]) -> Iterator[str]:
        for form in sorted(below.get(path, ()), key=lambda each: each.table.qualified.lower()):
            yield from walk(form.table.path)
            yield form.table.qualified

    return walk(())


def get_indexes(engine: TypedEngine, namespace: str, asked: Frame) -> Message:
    """The indexes of a table, or one (nosql-wire §5.4). Raises `NotFound`, `InvalidRequest`."""
    table = named_table(engine, asked.table, namespace).table
    name = text_member(asked.payload, "i")
    indexes = list(table.indexes)
    if name is not None:
        found = table.index(name)
        if found is None:
            raise NotFound(NosqlRule.INDEX_NOT_FOUND, index=name[:100], table=table.qualified)
        indexes = [found]
    if not indexes:
        return {}
    return {
        "ix": [
            {
                "m": index.name,
                "f": [
                    {"pt": (field.written or field.path).partition(",")[0]}
                    | _told_type(path, field)
                    for path, field in zip(index_paths(table, index), index.fields, strict=True)
                ],
            }
            for index in sorted(indexes, key=lambda each: each.name.lower())
        ]
    }


def _told_type(path: IndexPath, field: IndexField) -> Message:
    """The type of a path inside JSON, which every such path has."""
    if field.type is not None:
        return {"y": field.type.name}
    return {"y": Kind.STRING.name} if path.json_from >= 0 and path.function is None else {}


# --- usage ---------------------------------------------------------------------------------------


def get_table_usage(engine: TypedEngine, namespace: str, asked: Frame) -> Message:
    """The use of a table: no records are kept, so there is one without any use (nosql-wire §5.5).

    Raises: `InvalidRequest`, `NotFound`; `Unsupported` for a store of one's own.
    """
    if asked.mode.onprem:
        raise Unsupported(NosqlRule.USAGE_ONPREM)
    payload = asked.payload
    most = number_member(payload, "lx")
    if most > NOSQL_USAGE_RECORDS_MAX:
        raise InvalidRequest(NosqlRule.USAGE_LIMIT, limit=NOSQL_USAGE_RECORDS_MAX, value=most)
    times = [_instant(payload.get(name)) for name in ("sr", "en")]
    start, stop = times
    if start is not None and stop is not None and stop < start:
        raise InvalidRequest(NosqlRule.USAGE_TIMES)
    form = named_table(engine, asked.table, namespace)
    begun = start or Timestamp(form.table.created_us // 1_000_000)
    record = dict.fromkeys(("ru", "wu", "sg", "rt", "wt", "sl", "ms"), 0)
    return {"n": asked.table, "u": [{"sr": begun.text(3), "pd": 60, **record}], "li": 1}


def _instant(given: Any) -> Timestamp | None:  # noqa: ANN401  # a member
    if given is None:
        return None
    if isinstance(given, int) and not isinstance(given, bool):
        made = Timestamp(given // 1000, given % 1000 * 1_000_000)
    else:
        made = timestamp_of(str(getattr(given, "text", given)), 3)
    found: Timestamp = coerce(made, _MILLISECONDS, "time")
    return found


def replica_stats(engine: TypedEngine, namespace: str, asked: Frame) -> Message:
    """The lag of replicas: there are none, so one record without a time (nosql-wire §3.1).

    Raises: `NotFound`; `Unsupported` for a store of one's own.
    """
    if asked.mode.onprem:
        raise Unsupported(NosqlRule.REPLICA_STATS)
    form = named_table(engine, asked.table, namespace)
    return {
        "n": form.table.qualified,
        "ni": Long(1),
        "ra": {"replica": [{"tm": Long(0), "rl": 1000}]},
    }
