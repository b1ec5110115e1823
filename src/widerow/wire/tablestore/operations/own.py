"""Actions of our own, for our own commands: JSON in, JSON out, signed like every other.

`widerow partitions`, `widerow indexes` and `widerow nodes` print the answers with `--json`
(docs/operating/partitions.md, docs/operating/cluster.md). Bounds of partitions are data.
"""

import json
from typing import Any, Final, NamedTuple

from widerow.errors import InvalidRequest
from widerow.limits import OWN_BODY_BYTES_MAX
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore.operations.action import Action

__all__ = ["OWN_ACTIONS", "PartitionsRequest"]


class PartitionsRequest(NamedTuple):
    """The table that is asked about, and whether for its past load too."""

    table: str
    history: bool


def _document(body: bytes, names: frozenset[str]) -> dict[str, Any]:
    """The JSON object that a body is, with members of these names."""
    if len(body) > OWN_BODY_BYTES_MAX:
        raise InvalidRequest(TablestoreRule.BODY_UNREADABLE)
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:  # the latter: brackets, thousands deep
        raise InvalidRequest(TablestoreRule.BODY_UNREADABLE) from error
    if not isinstance(found, dict) or not found.keys() <= names:
        raise InvalidRequest(TablestoreRule.BODY_UNREADABLE)
    return found


def _partitions(body: bytes) -> PartitionsRequest:
    """`{"table": NAME}`; `"history": true` adds the load of the last hours."""
    found = _document(body, frozenset({"table", "history"}))
    table, history = found.get("table"), found.get("history", False)
    if not isinstance(table, str) or not isinstance(history, bool):
        raise InvalidRequest(TablestoreRule.BODY_UNREADABLE)
    return PartitionsRequest(table, history)


def _indexes(body: bytes) -> str:
    """`{"table": NAME}`: the secondary indexes of a table."""
    table = _document(body, frozenset({"table"})).get("table")
    if not isinstance(table, str):
        raise InvalidRequest(TablestoreRule.BODY_UNREADABLE)
    return table


def _encode(result: dict[str, Any]) -> bytes:
    return json.dumps(result, separators=(",", ":")).encode()


OWN_ACTIONS: Final[dict[str, Action]] = {
    "WiderowPartitions": Action(
        _partitions,
        lambda engine, instance, asked: engine.core.describe_partitions(
            instance, asked.table, history=asked.history
        ),
        _encode,
    ),
    "WiderowIndexes": Action(
        _indexes,
        lambda engine, instance, asked: engine.indexes.document(instance, asked),
        _encode,
    ),
    # The servers of a shared store; `{}` asks.
    "WiderowNodes": Action(
        lambda body: _document(body, frozenset()),
        lambda engine, instance, _: engine.core.describe_nodes(instance.__eq__),
        _encode,
    ),
}
