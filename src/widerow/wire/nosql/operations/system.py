"""SYSTEM_REQUEST and SYSTEM_STATUS_REQUEST, which a store of one's own has (nosql-wire §5.6).

Namespaces are created and dropped, tables and indexes are defined, and what there is is shown. A
change is durable when it is answered; it is told as one that goes on all the same, as drivers ask
for its end. An index of many rows goes on indeed, until it answers.
"""

import re
from enum import IntEnum
from typing import Any, Final

from widerow.auth.keyring import Permission
from widerow.engine.plan import Plan
from widerow.engine.typed.engine import TypedEngine
from widerow.errors import Exhausted, InvalidRequest
from widerow.wire.nosql.envelope import Frame, read_frame
from widerow.wire.nosql.members import Payload, binary_member, text_member
from widerow.wire.nosql.operations.tables import (
    OPERATION_ID,
    Message,
    done_index,
    leading_word,
    operation_id,
    planned_changes,
)
from widerow.wire.nosql.rules import NosqlRule

__all__ = ["OperationState", "permission_of_system", "request_system", "system_status"]


class OperationState(IntEnum):
    """The states of an operation, as drivers number them."""

    COMPLETE = 0
    WORKING = 1


_SHOWING: Final = frozenset(("SHOW", "DESCRIBE", "DESC"))
_QUERYING: Final = frozenset(("SELECT", "INSERT", "UPSERT", "UPDATE", "DELETE", "DECLARE"))
_NAMESPACE_ID: Final = re.compile(r"n-[A-Za-z][A-Za-z0-9_.\-@]*\Z", re.ASCII)


def permission_of_system(body: bytes) -> Permission:
    """What a statement needs: showing needs reading alone. Raises `InvalidRequest`."""
    showing = leading_word(_statement(read_frame(body).payload)) in _SHOWING
    return Permission.READ if showing else Permission.MANAGE


def _statement(payload: Payload) -> str:
    """The statement of a request, which comes as bytes. Raises `InvalidRequest`."""
    given = binary_member(payload, "st")
    if given is None:
        raise InvalidRequest(NosqlRule.MEMBER_MISSING, name="st")
    try:
        return given.decode()
    except UnicodeDecodeError as error:
        raise InvalidRequest(
            NosqlRule.MEMBER_TYPE, name="st", type="BINARY of UTF-8", found="other bytes"
        ) from error


def request_system(engine: TypedEngine, namespace: str, asked: Frame) -> "Message | Plan[Message]":
    """Run a statement about the store. Names of tables without a namespace are in `namespace`.

    Raises, or its plan does: `InvalidRequest`, `NotFound`, `Conflict`, `Unsupported`.
    """
    from widerow.engine.typed.ddl.parse import parse  # noqa: PLC0415  # the grammar is slow to load
    from widerow.engine.typed.ddl.planned import is_planned, planned  # noqa: PLC0415  # the grammar is slow to load
    from widerow.engine.typed.ddl.planned_namespaces import (  # noqa: PLC0415  # the grammar is slow to load
        is_about_namespace,
        planned_namespace,
    )
    from widerow.engine.typed.ddl.result import Context  # noqa: PLC0415  # the grammar is slow to load
    from widerow.engine.typed.ddl.run import run_read  # noqa: PLC0415  # the grammar is slow to load

    statement = _statement(asked.payload)
    if leading_word(statement) in _QUERYING:
        raise InvalidRequest(NosqlRule.SYSTEM_STATEMENT)
    read = parse(statement)
    context = Context(planned_changes(engine), namespace)
    if is_about_namespace(read):
        return _answering(planned_namespace(engine, read), statement, _namespace_id)
    if is_planned(read):
        return _answering(planned(engine, context, read, None), statement, _table_id)
    shown = run_read(context, read).text
    return {"ta": int(OperationState.COMPLETE), "st": statement, "rs": shown}


def _namespace_id(changed: Any) -> str:  # noqa: ANN401  # a name, "" where nothing was to be done
    return f"n-{changed}" if changed else ""


def _table_id(changed: Any) -> str:  # noqa: ANN401  # a ChangedDefinition, whose module is slow to load
    return operation_id(changed) if changed.executed else ""


def _answering(made: Any, statement: str, identify: Any) -> "Message | Plan[Message]":  # noqa: ANN401  # a name, or a ChangedDefinition
    """The answer to a change, or the plan that gives it."""

    def told(changed: Any) -> Message:  # noqa: ANN401  # a name, or a ChangedDefinition
        operation = identify(changed)
        state = OperationState.WORKING if operation else OperationState.COMPLETE
        message: Message = {"ta": int(state), "st": statement}
        return message | {"od": operation} if operation else message

    return made.answering(told) if isinstance(made, Plan) else told(made)


def system_status(engine: TypedEngine, _: str, asked: Frame) -> Message:
    """How far a change of this id is.

    Raises: `Exhausted` for an unknown id, which is what drivers are told of one;
    `InvalidRequest` for an index that could not be made.
    """
    operation = text_member(asked.payload, "od") or ""
    message: Message = {"ta": int(OperationState.COMPLETE), "od": operation}
    statement = text_member(asked.payload, "st")
    if statement is not None:
        message["st"] = statement
    if _NAMESPACE_ID.match(operation):
        return message
    found = OPERATION_ID.match(operation)
    if found is None:
        raise Exhausted(NosqlRule.SYSTEM_PLAN, id=operation[:60])
    form = engine.tables.by_id(int(found[2]))
    if found[1] == "i" and form is not None and not done_index(engine, form.table, found[3] or ""):
        message["ta"] = int(OperationState.WORKING)
    return message
