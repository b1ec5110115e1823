"""WiderowIndexes: the secondary indexes of a table. An action of our own, in JSON.

Signed like every other. The request is `{"table": NAME}`; the answer is what
`widerow indexes --json` prints.
"""

import json
from typing import Any

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, Rule
from widerow.wire.tablestore.operations.bodies import document

__all__ = ["call", "decode", "encode"]


def decode(body: bytes) -> str:
    """The table's name. Raises `InvalidRequest(BODY_UNREADABLE)` for anything else."""
    table = document(body, frozenset({"table"})).get("table")
    if not isinstance(table, str):
        raise InvalidRequest(Rule.BODY_UNREADABLE)
    return table


def call(engine: TablestoreEngine, instance: str, request: str) -> dict[str, Any]:
    """Ask the engine."""
    return engine.indexes.document(instance, request)


def encode(result: dict[str, Any]) -> bytes:
    """One JSON document."""
    return json.dumps(result, separators=(",", ":")).encode()
