"""WiderowNodes: the servers of a shared store. An action of our own, in JSON.

Signed like every other. The request is `{}`; the answer is what `widerow nodes --json` prints
(docs/operating/cluster.md).
"""

import json
from typing import Any

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.wire.tablestore.operations.bodies import document

__all__ = ["call", "decode", "encode"]


def decode(body: bytes) -> None:
    """Nothing is asked. Raises `InvalidRequest(BODY_UNREADABLE)` for anything but `{}`."""
    document(body, frozenset())


def call(engine: TablestoreEngine, instance: str, request: None) -> dict[str, Any]:  # noqa: ARG001  # as every action
    """Ask the engine."""
    return engine.core.describe_nodes()


def encode(result: dict[str, Any]) -> bytes:
    """One JSON document."""
    return json.dumps(result, separators=(",", ":")).encode()
