"""An action asked of an engine in bytes, without a server: for the tests of operations."""

from collections.abc import Callable
from typing import Any, TypeVar

from google.protobuf.message import Message

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import WiderowError
from widerow.wire.tablestore.dialect import TABLESTORE_DIALECT
from widerow.wire.tablestore.operations.table import OPERATIONS

__all__ = ["answer_of", "refusal_of"]

M = TypeVar("M")


def answer_of(
    engine: TablestoreEngine, action: str, sent: Message, answer: Callable[[bytes], M]
) -> M:
    """The answer of an action in the instance `i`; raises what the engine raises."""
    operation = OPERATIONS[action]
    result: Any = operation.call(engine, "i", operation.decode(sent.SerializeToString()))
    assert isinstance(result, Plan) or not operation.writes
    if isinstance(result, Plan):
        result = engine.core.run(result)
    return answer(operation.encode(result))


def refusal_of(engine: TablestoreEngine, action: str, sent: Message) -> tuple[int, str]:
    """Status and code with which an action is refused."""
    try:
        answer_of(engine, action, sent, bytes)
    except WiderowError as error:
        refusal = TABLESTORE_DIALECT.refuse(error, action, "")
        return refusal.status, refusal.code
    raise AssertionError(f"{action} is not refused")
