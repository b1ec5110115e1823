"""WiderowPartitions: what is known of a table's partitions. An action of our own, in JSON.

Signed like every other, because bounds of partitions are data. The request is `{"table": NAME}`,
and `"history": true` adds the load of the last hours; the answer is what
`widerow partitions --json` prints (docs/operating/partitions.md).
"""

import json
from typing import Any, NamedTuple

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, Rule
from widerow.wire.tablestore.operations.bodies import document

__all__ = ["PartitionsRequest", "call", "decode", "encode"]


class PartitionsRequest(NamedTuple):
    """The table that is asked about, and whether for its past load too."""

    table: str
    history: bool = False


def decode(body: bytes) -> PartitionsRequest:
    """The request. Raises `InvalidRequest(BODY_UNREADABLE)` for anything else."""
    found = document(body, frozenset({"table", "history"}))
    table, history = found.get("table"), found.get("history", False)
    if not isinstance(table, str) or not isinstance(history, bool):
        raise InvalidRequest(Rule.BODY_UNREADABLE)
    return PartitionsRequest(table, history)


def call(engine: TablestoreEngine, instance: str, request: PartitionsRequest) -> dict[str, Any]:
    """Ask the engine."""
    return engine.core.describe_partitions(instance, request.table, history=request.history)


def encode(result: dict[str, Any]) -> bytes:
    """One JSON document."""
    return json.dumps(result, separators=(",", ":")).encode()
