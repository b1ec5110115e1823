"""An action of the protocol, as the module of its family has it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from widerow.engine.budget import Budget
from widerow.engine.tablestore.engine import TablestoreEngine

__all__ = ["Action"]


def _nothing(_answer: object) -> bytes:
    return b""


class Action(NamedTuple):
    """Functions, of which each takes what the one before returns.

    `decode(body)` makes a question of the bytes of a request and raises `InvalidRequest`,
    `call(engine, instance, question)` asks the engine, and `encode(answer)` makes the bytes of the
    answer; without it the answer has no fields. `call_within` is `call` with a budget, beyond which
    it raises `TooLong`.
    """

    decode: Callable[[bytes], Any]
    call: Callable[[TablestoreEngine, str, Any], Any]
    encode: Callable[[Any], bytes] = _nothing
    call_within: Callable[[TablestoreEngine, str, Any, Budget], Any] | None = None
